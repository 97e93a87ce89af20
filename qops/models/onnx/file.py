"""Reads an .onnx file into plain tensors and nodes. Nothing is run, and no more is read than the file holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.subgraphs import read_inside
from qops.models.tensor import Tensor

__all__ = ["Node", "OnnxFile", "name_of_type", "read_onnx"]

_MOST_BYTES = 2**31  # of a file; protobuf holds no more
_MOST_AXES = 32
_KEPT = {"int4": "int8", "uint4": "uint8"}
"""In what codes of 4 bits are kept."""
_PLAIN = (
    *(
        "float32",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "bool",
        "float16",
        "float64",
        "uint32",
        "uint64",
    ),
    *_KEPT,
)
"""The types of tensors that are read."""


@dataclass(frozen=True)
class Node:
    """One node as the file has it.

    Attributes
    ----------
    kind, domain : str
        For example ``Conv`` of the domain "", or ``QLinearAdd`` of ``com.microsoft``.
    name : str
        Unique in its graph; made of the kind where the file has none.
    inputs : tuple of str
        Names of tensors; "" for an optional input that is left out. Behind them, what its subgraphs read.
    outputs : tuple of str
        Names of tensors; "" for one that is not asked for.
    attributes : dict
        Numbers, words, lists of them, arrays; a subgraph is None.
    opset : int
        The version of the domain.
    """

    kind: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    opset: int = 21

    def get(self, name: str, default: Any = None) -> Any:
        """Give an attribute, or what it is when it is left out."""
        return self.attributes.get(name, default)


@dataclass(frozen=True)
class OnnxFile:
    """The graph of a file.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Names of tensors.
    tensors : dict of str to Tensor
        Inputs, constants, and what the file says of other tensors.
    nodes : list of Node
        In an order in which each comes after those whose results it reads.
    size : int
        Bytes of the file.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: dict[str, Tensor]
    nodes: list[Node]
    size: int


def read_onnx(path: Path) -> OnnxFile:
    """Read an .onnx file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    OnnxFile

    Raises
    ------
    ModuleNotFoundError
        The package ``onnx`` is not installed.
    ValueError
        A file that is no such model, is cut or damaged, or holds what is not read: sparse constants, constants in other
        files, types that are not known.
    OSError
        A file that cannot be opened.
    """
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ModuleNotFoundError as why:
        raise ModuleNotFoundError(
            "onnx: reading .onnx files needs this package; python -m pip install 'qops[onnx]'"
        ) from why
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path.name}: larger than 2 GiB, which no protobuf is")
    data = path.read_bytes()
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError as why:
        raise ValueError(f"{path.name}: damaged protobuf ({why})") from None
    try:
        return _ModelReader(model, len(data)).file()
    except (ValueError, TypeError, KeyError, OverflowError, UnicodeDecodeError, MemoryError) as why:
        raise ValueError(f"{path.name}: {why}") from None


class _ModelReader:
    """Reads one model, whose tensors and nodes may say anything."""

    def __init__(self, model: Any, size: int) -> None:
        self._model, self._graph, self._size = model, model.graph, size
        self._opsets = {one.domain or "": one.version for one in model.opset_import}

    def file(self) -> OnnxFile:
        graph = self._graph
        if not graph.node and not graph.output:
            raise ValueError("not an ONNX model: it has no nodes and no outputs")
        if graph.sparse_initializer:
            raise ValueError("it has sparse constants, which qops does not read")
        tensors: dict[str, Tensor] = {}
        for info in graph.value_info:
            tensors[info.name] = self._announced(info)
        constants = {proto.name for proto in graph.initializer}
        inputs = [info for info in graph.input if info.name not in constants]
        for info in inputs:
            tensors[info.name] = self._input(info)
        for proto in graph.initializer:
            data, dtype = array_of(proto)
            tensors[proto.name] = Tensor(proto.name, data.shape, dtype, data=data)
        names = tuple(info.name for info in inputs)
        if "" in names or "" in constants:
            raise ValueError("a tensor without a name")
        if len(constants) != len(graph.initializer) or len({*names}) != len(names):
            raise ValueError("two inputs or two constants have one name")
        nodes = list(self._nodes({*names, *constants}))
        return OnnxFile(names, tuple(info.name for info in graph.output), tensors, nodes, self._size)

    def _announced(self, info: Any) -> Tensor:
        """Give what the file says of a tensor between nodes: its type, and its shape if that is there."""
        kind = info.type.tensor_type
        shape = tuple(_size(dim, info.name) for dim in kind.shape.dim) if kind.HasField("shape") else ()
        return Tensor(info.name, shape, _type(kind.elem_type) or "float32")

    def _input(self, info: Any) -> Tensor:
        if not info.type.HasField("tensor_type"):
            raise ValueError(f"the input {info.name!r} is no tensor")
        kind = info.type.tensor_type
        dtype = _type(kind.elem_type)
        if dtype is None or dtype in _KEPT:
            raise ValueError(
                f"the input {info.name!r} is of type {name_of_type(kind.elem_type)}, which qops does not read"
            )
        if not kind.HasField("shape") or len(kind.shape.dim) > _MOST_AXES:
            raise ValueError(f"the input {info.name!r} says no shape of at most {_MOST_AXES} axes")
        return Tensor(info.name, tuple(_size(dim, info.name) for dim in kind.shape.dim), dtype)

    def _nodes(self, known: set[str]) -> Iterator[Node]:
        names: set[str] = set()
        for i, proto in enumerate(self._graph.node):
            kind = proto.op_type
            name = proto.name or f"{kind}_{i}"
            if name in names:
                name = f"{name}:{i}"
            where = f"node {i}, {kind} ({name})"
            reads = (*proto.input, *read_inside(proto))
            for read in reads:
                if read and read not in known:
                    raise ValueError(f"{where} reads {read!r}, which nothing before it writes")
            for written in proto.output:
                if written and written in known:
                    raise ValueError(f"{where} writes {written!r}, which stands already")
                known.add(written)
            names.add(name)
            domain = "" if proto.domain == "ai.onnx" else proto.domain
            attributes = {one.name: _value(one, where) for one in proto.attribute}
            yield Node(kind, domain, name, reads, tuple(proto.output), attributes, self._opset(domain))

    def _opset(self, domain: str) -> int:
        return int(self._opsets.get(domain, 1))


def name_of_type(number: int) -> str:
    """Give the name of a type as the format has it."""
    import onnx

    return {v: k for k, v in onnx.TensorProto.DataType.items()}.get(number, f"number {number}")


def _type(number: int) -> str | None:
    """Give the name of a type by its number; None if it is not read."""
    import onnx

    name = {v: k for k, v in onnx.TensorProto.DataType.items()}.get(number, "").lower()
    name = {"float": "float32", "double": "float64"}.get(name, name)
    return name if name in _PLAIN else None


_UNKNOWN = -1
"""What exporters of PaddlePaddle write as a size that is known at run time alone."""


def _size(dim: Any, name: str) -> int | None:
    if not dim.HasField("dim_value"):
        return None
    if dim.dim_value < _UNKNOWN:
        raise ValueError(f"tensor {name!r} announces a size of {dim.dim_value}")
    return None if dim.dim_value == _UNKNOWN else int(dim.dim_value) or None


def array_of(proto: Any) -> tuple[NDArray[Any], str]:
    """Give the array of a constant, and the name of its type; ValueError where it is not what it says."""
    from onnx import numpy_helper

    name, dims, dtype = proto.name, tuple(proto.dims), _type(proto.data_type)
    if dtype is None:
        raise ValueError(f"constant {name!r} is of type {name_of_type(proto.data_type)}, which qops does not read")
    if proto.data_location or proto.external_data:
        raise ValueError(f"constant {name!r} is stored in another file, which qops does not read")
    if proto.HasField("segment"):
        raise ValueError(f"constant {name!r} is stored in segments, which qops does not read")
    if any(n < 0 for n in dims) or len(dims) > _MOST_AXES:
        raise ValueError(f"constant {name!r} announces shape {dims!s:.80}")
    count, held = prod(dims), _elements(proto, dtype)
    if count != held and not (dtype in _KEPT and count + 1 == held):
        raise ValueError(f"constant {name!r} of shape {dims!s:.80}, {dtype}, has {held} elements")
    data = np.asarray(numpy_helper.to_array(proto))
    return np.array(data, _KEPT.get(dtype, dtype)), dtype


def _elements(proto: Any, dtype: str) -> int:
    """How many elements a constant holds; codes of 4 bits lie two a byte."""
    if proto.HasField("raw_data"):
        size = len(proto.raw_data)
        if dtype in _KEPT:
            return 2 * size
        each = np.dtype(dtype).itemsize
        return size // each if size % each == 0 else -1
    fields = {"float32": "float_data", "float64": "double_data", "int64": "int64_data"}
    fields |= dict.fromkeys(("uint32", "uint64"), "uint64_data")
    held = len(getattr(proto, fields.get(dtype, "int32_data")))
    return 2 * held if dtype in _KEPT else held


def _value(attribute: Any, where: str) -> Any:
    """Give an attribute of a node as Python has it; of a subgraph None."""
    kinds = attribute.AttributeType
    if attribute.ref_attr_name:
        raise ValueError(f"{where}: its attribute {attribute.name!r} belongs to a function, which qops does not read")
    match attribute.type:
        case kinds.FLOAT:
            return float(attribute.f)
        case kinds.INT:
            return int(attribute.i)
        case kinds.STRING:
            return attribute.s.decode("utf-8", "replace")
        case kinds.FLOATS:
            return [float(one) for one in attribute.floats]
        case kinds.INTS:
            return [int(one) for one in attribute.ints]
        case kinds.STRINGS:
            return [one.decode("utf-8", "replace") for one in attribute.strings]
        case kinds.TENSOR:
            return array_of(attribute.t)[0]
    return None
