"""Tensors of a device by the names of a graph, in the types that the graph has for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models import Graph, Tensor
from qops.tools.debug.case import apart
from qops.tools.debug.device_tensors import Bytes

__all__ = ["batch_shape", "named", "never_written", "typed"]

_NUMBER = re.compile(r"(?:tensor|t)?[_-]?(\d+)")
_FLOAT = 4  # bytes of a value


def named(graph: Graph, dumped: Mapping[str, NDArray[Any]]) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Match the names of a dump with those of a graph.

    A name may have ``_`` for what a file name cannot hold, or ``:0`` behind it. If none fits, numbers, as in
    ``tensor_12``, are places in the list of tensors of the file, as runtimes count them.

    Parameters
    ----------
    graph : Graph
        The model.
    dumped : dict of str to ndarray
        Arrays of a device.

    Returns
    -------
    dict of str to ndarray
        Arrays by the names of tensors that are no constants, in the types that the graph has for them, as flat as
        the dump has them.
    list of str
        Names that no tensor has.

    Raises
    ------
    ValueError
        Not one name of a tensor; a tensor that two arrays stand for; an array that cannot be of its tensor.
    """
    dumped = {key: array for key, array in dumped.items() if key not in graph.tensors or _is_compared(graph, key)}
    found: dict[str, str] = {}
    for key, name in (_by_name(graph, dumped) or _by_number(graph, dumped)).items():
        if name in found:
            raise bad_value("device", f"{found[name]!r} and {key!r} both stand for {name!r}")
        found[name] = key
    if dumped and not found:
        few = ", ".join(repr(name) for name in list(dumped)[:3])
        raise bad_value("device", f"it has no tensor of {graph.name}; it has {few}")
    unknown = [key for key in dumped if key not in found.values()]
    return {name: typed(dumped[key], graph.tensors[name], f"device[{key!r}]") for name, key in found.items()}, unknown


def batch_shape(array: NDArray[Any], sizes: tuple[int | None, ...], name: str) -> tuple[int, ...]:
    """Give the shape in which a device's input lies in the graph.

    Parameters
    ----------
    array : ndarray
        The input, which may be flat, or of another order of axes.
    sizes : tuple of int or None
        What the graph announces; of a size that is not known, the dump's is taken, if it has as many axes.
    name : str
        What the caller calls it.

    Returns
    -------
    tuple of int
        Of as many images as the dump has.

    Raises
    ------
    ValueError
        A number of elements that makes no whole images.
    """
    if len(sizes) == array.ndim and all(n in (None, m) for n, m in zip(sizes, array.shape, strict=True)):
        return array.shape
    image = [1 if n is None else n for n in sizes[1:]]
    each = prod(image) or 1
    if array.size % each:
        raise bad_value(name, f"{array.size:,} elements, the model has {each:,} an item")
    return (array.size // each, *image) if sizes else ()


def _is_compared(graph: Graph, name: str) -> bool:
    tensor = graph.tensors[name]
    return tensor.data is None and (tensor.dtype == "int4" or tensor.dtype in np.sctypeDict)


def never_written(graph: Graph, dumped: Mapping[str, NDArray[Any]]) -> list[str]:
    """Name the tensors that are made of constants alone, and that the device never wrote.

    A runtime may compute such an operator once, when it is prepared, and leave in its tensor what the memory held:
    XNNPACK's delegate does so with the DEQUANTIZE of constant weights. A tensor counts as never written if most of its
    numbers are off by more than an eighth; zeros that are zero in both are not counted.

    Parameters
    ----------
    graph : Graph
        The model.
    dumped : dict of str to ndarray
        What `named` gives.

    Returns
    -------
    list of str
    """
    made: dict[str, NDArray[Any]] = {}
    for op in graph.ops:
        if not (op.gap or op.states) and made.keys() >= {*op.reads}:
            made.update(zip(op.outputs, op.call(*(made[name] for name in op.reads)), strict=True))
    return [name for name, array in made.items() if name in dumped and _is_unlike(dumped[name], array)]


def _is_unlike(array: NDArray[Any], wanted: NDArray[Any]) -> bool:
    if array.size != wanted.size:
        return False
    got, right = array.reshape(-1), wanted.reshape(-1)
    telling = (got != 0) | (right != 0)
    far = apart(got, right)[telling] > np.abs(right[telling] * 1.0) / 8
    return bool(2 * np.count_nonzero(far) > far.size)


def _by_name(graph: Graph, dumped: Mapping[str, Any]) -> dict[str, str]:
    free = [name for name in graph.tensors if _is_compared(graph, name)]
    counts = Counter(map(_plain, free))
    plain = {_plain(name): name for name in free if counts[_plain(name)] == 1}
    found: dict[str, str] = {}
    for key in dumped:
        forms = (_plain(key), _plain(key.removesuffix(":0")), _plain(key).removesuffix("_0"))
        name = key if key in graph.tensors else next((plain[form] for form in forms if form in plain), None)
        if name is not None:
            found[key] = name
    return found


def _by_number(graph: Graph, dumped: Mapping[str, Any]) -> dict[str, str]:
    names = {i: name for i, name in enumerate(graph.tensors) if _is_compared(graph, name)}
    places = {key: int(match[1]) for key in dumped if (match := _NUMBER.fullmatch(key)) and len(match[1]) < 10}
    return {key: names[place] for key, place in places.items() if place in names}


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def typed(array: NDArray[Any], tensor: Tensor, name: str) -> NDArray[Any]:
    """Give an array in the type that a tensor has.

    Bytes are codes, or float32 values if there are as many. Wider integers must be codes of the type; those of the same
    width are read as it, sign or not. Real numbers become the nearest codes.

    Parameters
    ----------
    array : ndarray
        Codes, values or `Bytes`.
    tensor : Tensor
        What they are of.
    name : str
        What the caller calls it.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Numbers that cannot be of this tensor.
    """
    dtype = np.dtype("int8" if tensor.dtype == "int4" else tensor.dtype)
    if isinstance(array, Bytes):
        array = _values(array, tensor, dtype, name)
    if array.dtype == dtype:
        return array
    kinds = array.dtype.kind + dtype.kind
    if kinds in ("iu", "ui") and array.dtype.itemsize == dtype.itemsize:
        return array.view(dtype)
    if array.dtype.kind in "iu" and dtype.kind in "iu":
        info = np.iinfo(dtype)
        if array.size == 0 or info.min <= array.min() <= array.max() <= info.max:
            return array.astype(dtype)
        raise bad_value(name, f"it has numbers from {array.min()} to {array.max()}, the model {dtype}")
    if array.dtype.kind == "f" and tensor.scale is not None and np.isfinite(array).all():
        return tensor.codes(array)
    if array.dtype.kind in "iuf" and dtype.kind == "f":
        return array.astype(dtype)
    raise bad_value(name, f"it is of {array.dtype}, the model of {dtype}")


def _values(array: NDArray[Any], tensor: Tensor, dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    """Give bytes as codes, or as float32 values, by how many there are."""
    count = int(np.prod([1 if n is None else n for n in tensor.shape], dtype=np.int64))
    raw = array.tobytes()
    if tensor.scale is not None and len(raw) == _FLOAT * count != dtype.itemsize * count:
        return np.frombuffer(raw, "<f4")
    if len(raw) % (count * dtype.itemsize or 1):
        raise bad_value(name, f"{len(raw):,} bytes, but {count:,} elements of {dtype} have {count * dtype.itemsize:,}")
    return np.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype)
