"""Tensors of a device by the names of a graph: from an .npz file, a folder, or a dict; and how they lie in memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from os.path import isdir
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import is_zipfile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.numbers import shown
from qops.checks import as_array
from qops.models import Graph, Tensor

__all__ = ["Dumped", "Wrong", "as_nhwc", "named", "noise", "tensors_of"]

_RAW = (".bin", ".raw")
_TO_LAST, _TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)  # NCHW read as NHWC, and the way back
_IMAGE = 4  # axes of images


class Dumped(dict[str, NDArray[Any]]):
    """Arrays by the names that the dump has for them; `source` says where they are from."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], source: str) -> None:
        super().__init__(arrays)
        self.source = source


def tensors_of(given: str | Path | Mapping[str, ArrayLike], name: str) -> Dumped:
    """Read arrays by their names.

    Parameters
    ----------
    given : str, Path or dict
        An ``.npz`` file; a folder of ``.npy`` files, or of ``.bin`` or ``.raw`` files that hold plain bytes; or the
        arrays themselves. A file is named as its tensor is, with ``_`` for what a file name cannot hold.
    name : str
        What the caller calls it.

    Returns
    -------
    Dumped

    Raises
    ------
    TypeError, ValueError, OSError
        No such file or folder, one without arrays, or a damaged one.
    """
    if isinstance(given, Mapping):
        return Dumped({str(key): as_array(value, f"{name}[{key!r}]") for key, value in given.items()}, name)
    if not isinstance(given, str | Path):
        raise TypeError(f"{name}: expected a file, a folder or a dict, got {shown(given)}")
    path = Path(given)
    if isdir(path):  # unlike Path.is_dir, it takes names that no file can have
        files = sorted(file for file in path.iterdir() if file.suffix in (".npy", *_RAW))
        if not files:
            raise ValueError(f"{name}: no .npy, .bin or .raw files in {path}")
        return Dumped({file.stem: _array(file) for file in files}, str(path))
    if path.suffix != ".npz":
        raise ValueError(f"{name}: expected an .npz file or a folder, got {shown(str(given))}")
    try:
        with path.open("rb") as file:
            if not is_zipfile(file):
                raise ValueError("not a zip archive, which every .npz file is")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return Dumped(dict(arrays), str(path))
    except OSError:
        raise
    except Exception as why:  # of many kinds: zipfile, zlib and numpy each have their own for a damaged file
        raise ValueError(f"{name}: {path.name}: {why or repr(why)}") from None


def _array(path: Path) -> NDArray[Any]:
    if path.suffix in _RAW:
        return np.frombuffer(path.read_bytes(), np.uint8)
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError) as why:
        raise ValueError(f"{path.name}: {why}") from None


def named(graph: Graph, dumped: Dumped) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Match the names of a dump with those of a graph.

    Parameters
    ----------
    graph : Graph
        The model.
    dumped : Dumped
        Arrays of a device.

    Returns
    -------
    dict of str to ndarray
        Arrays by the names of tensors, in the types that the graph has for them, as flat as the dump has them.
    list of str
        Names that no tensor has.

    Raises
    ------
    ValueError
        Not one name of a tensor; a name that two arrays stand for.
    """
    by_file = {_plain(name): name for name in graph.tensors}
    found: dict[str, NDArray[Any]] = {}
    unknown = []
    for key, array in dumped.items():
        name = key if key in graph.tensors else by_file.get(_plain(key))
        if name is None:
            unknown.append(key)
        elif name in found:
            raise ValueError(f"device: two arrays of {dumped.source} stand for {name!r}")
        else:
            found[name] = _typed(array, graph.tensors[name], key)
    if not found and dumped:
        few = ", ".join(repr(name) for name in list(dumped)[:3])
        raise ValueError(f"device: {dumped.source} has no tensor of {graph.name}; it has {few}")
    return found, unknown


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


def _typed(array: NDArray[Any], tensor: Tensor, key: str) -> NDArray[Any]:
    """Give codes in the type of the tensor. Bytes are read as it; wider integers must be codes of it."""
    dtype = np.dtype("int8" if tensor.dtype == "int4" else tensor.dtype)
    if array.dtype == dtype:
        return array
    if array.dtype == np.uint8 and array.ndim == 1 and tensor.data is None and array.size == _bytes(tensor, dtype):
        return array.view(dtype)
    if array.dtype.kind in "iu" and dtype.kind in "iu":
        info = np.iinfo(dtype)
        if array.size == 0 or info.min <= array.min() <= array.max() <= info.max:
            return array.astype(dtype)
        raise ValueError(f"device: {key!r} has codes from {array.min()} to {array.max()}; the model has {dtype}")
    if array.dtype.kind == "f" and tensor.scale is not None:  # values where codes were meant
        return tensor.codes(array)
    if array.dtype.kind == "f" and dtype.kind == "f":
        return array.astype(dtype)
    raise ValueError(f"device: {key!r} is of {array.dtype}; the model has {dtype}")


def _bytes(tensor: Tensor, dtype: np.dtype[Any]) -> int:
    return int(np.prod([n or 1 for n in tensor.shape])) * dtype.itemsize


class Wrong(NamedTuple):
    """What is wrong with how a tensor was dumped, and how many codes differ as it stands."""

    words: str
    differ: int


def as_nhwc(array: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[Any], Wrong | None]:
    """Bring a tensor of a device into the order of axes that the graph has.

    Parameters
    ----------
    array : ndarray
        The tensor of the device.
    wanted : ndarray
        What the graph gives for it.

    Returns
    -------
    ndarray
        The tensor, in the shape of `wanted`.
    Wrong or None
        What is wrong with it; None if nothing is.
    """
    if array.size != wanted.size:
        sizes = f"{array.size:,} elements, shape {array.shape}; the model {wanted.size:,}, {wanted.shape}"
        return wanted, Wrong(f"the dump has {sizes}", wanted.size)
    best, wrong = array.reshape(wanted.shape), None
    if wanted.ndim != _IMAGE or array.ndim not in (1, _IMAGE):
        return best, None
    orders = (("NCHW", "NHWC", _TO_FIRST, _TO_LAST), ("NHWC", "NCHW", _TO_LAST, _TO_FIRST))
    plain = fewest = int(np.count_nonzero(best != wanted))
    for there, here, order, back in orders:
        shape = tuple(wanted.shape[i] for i in order)
        if array.ndim == _IMAGE and array.shape not in (shape, wanted.shape):
            continue
        read = np.ascontiguousarray(array.reshape(shape).transpose(back))
        differ = int(np.count_nonzero(read != wanted))
        if differ < fewest / 2:
            best, wrong, fewest = read, Wrong(f"the dump is {there}, the model {here}", plain), differ
    return best, wrong


def noise(graph: Graph, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Give seeded codes of every input, each code as likely as the next.

    Parameters
    ----------
    graph : Graph
        The model.
    seed : int
        Where the sequence starts.

    Returns
    -------
    dict of str to ndarray
    """
    draw = np.random.default_rng(seed)
    found: dict[str, NDArray[Any]] = {}
    for name in graph.inputs:
        tensor = graph.tensors[name]
        shape, dtype = tuple(n or 1 for n in tensor.shape), np.dtype(tensor.dtype)
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            found[name] = draw.integers(info.min, info.max, shape, dtype, endpoint=True)
        else:
            found[name] = draw.uniform(-1, 1, shape).astype(dtype)
    return found
