"""Reads a .tflite file into plain tensors and operators. Nothing is run, and no more is read than the file holds."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._readable import shows_fields
from qops.models.tensor import Tensor

__all__ = ["TYPES", "Operator", "TfliteFile", "has_arrays", "read_tflite"]

_DAMAGE = (struct.error, ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, MemoryError)
"""What reading a damaged file raises, in flatbuffers, in numpy and here."""
TYPES = {
    **{0: "float32", 1: "float16", 2: "int32", 3: "uint8", 4: "int64", 5: "string", 6: "bool", 7: "int16"},
    **{8: "complex64", 9: "int8", 10: "float64", 12: "uint64", 15: "uint32", 16: "uint16", 17: "int4"},
    **{11: "complex128", 13: "resource", 14: "variant", 18: "bfloat16"},
}
"""The types of tensors, by their numbers in the schema."""
_USES = {"INT2": " (weights of 2 bits)", "UINT4": " (weights of 4 bits without a sign)"}
"""What types are for that are not read."""
_NO_ARRAYS = ("string", "resource", "variant", "bfloat16")
"""Types of which there are no arrays."""
_MOST_BYTES = 2**31  # of a file and of a tensor; flatbuffers hold no more
_BUILTIN_CODE = 10  # where the offset of this field of OperatorCode stands in its vtable
_KEPT = {"int4": "int8"}  # in what codes of 4 bits are kept
_ABSENT = -1  # the index of an optional input that is left out


@shows_fields
@dataclass(frozen=True)
class Operator:
    """One operator as the file has it.

    Attributes
    ----------
    kind : str
        For example ``CONV_2D``; the name of a custom operator.
    inputs, outputs : list of Tensor
        An optional input that is left out is None.
    options : dict
        The fields of its options, by their names in the schema; of a custom operator "CustomOptions", its bytes.
    intermediates : list of Tensor
        Of an LSTM: tensors that carry its inner scales.
    """

    kind: str
    inputs: list[Tensor | None]
    outputs: list[Tensor]
    options: dict[str, Any]
    intermediates: list[Tensor]


@dataclass(frozen=True)
class TfliteFile:
    """The main subgraph of a file.

    Attributes
    ----------
    inputs, outputs : list of Tensor
    tensors : list of Tensor
    operators : list of Operator
    once : dict of int to list of Operator
        The subgraphs that CALL_ONCE runs, by their numbers: their operators.
    """

    inputs: list[Tensor]
    outputs: list[Tensor]
    tensors: list[Tensor]
    operators: list[Operator]
    once: dict[int, list[Operator]] = field(default_factory=dict)


def has_arrays(dtype: str) -> bool:
    """Whether codes or values of this type are read. Else the word says in which form a tensor stands in the file."""
    return dtype in TYPES.values() and dtype not in _NO_ARRAYS


def schema() -> Any:
    """Give the package ``tflite``, the schema of the files, which is an extra; ModuleNotFoundError without it."""
    try:
        import tflite
    except ModuleNotFoundError as why:
        raise ModuleNotFoundError(f".tflite files need the package {why.name}: pip install 'qops[tflite]'") from why
    return tflite


def read_tflite(path: Path) -> TfliteFile:
    """Read a .tflite file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    TfliteFile

    Raises
    ------
    ModuleNotFoundError
        The package ``tflite``, the schema, is not installed.
    ValueError
        A file that is no such flatbuffer, is cut or damaged.
    OSError
        A file that cannot be opened.

    Notes
    -----
    The type of a tensor that is not read says why: sparse weights, weights outside of the file, types that are not
    known. Operators that have such a tensor cannot be run.
    """
    known = schema()
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path.name}: larger than 2 GiB, which no flatbuffer is")
    data = path.read_bytes()
    if data[4:8] != b"TFL3":
        raise ValueError(f"{path.name}: not a TFLite flatbuffer, which has TFL3 at its bytes 4 to 7")
    try:
        return _FlatbufferReader(data, known).file()
    except _DAMAGE as why:
        raise ValueError(f"{path.name}: damaged flatbuffer ({why})") from None


class _FlatbufferReader:
    """Follows the offsets of one file.

    A damaged file may let many vectors lie on each other, so that little data describe a graph that is huge. So the
    reader counts the elements that it reads, and gives up when they are more than the file can hold.
    """

    def __init__(self, data: bytes, known: Any) -> None:
        self._data, self._schema = data, known
        self._left = 64 + len(data)

    def file(self) -> TfliteFile:
        model = self._schema.Model.GetRootAs(self._data)
        count = model.SubgraphsLength()
        if count < 1:
            raise ValueError("no subgraph")
        graph = model.Subgraphs(0)
        tensors, operators = self._graph(model, graph)
        inputs, outputs = (
            [tensors[i] for i in self._indices(end, len(tensors))] for end in (graph.Inputs, graph.Outputs)
        )
        once: dict[int, list[Operator]] = {}
        for number in {op.options.get("InitSubgraphIndex", 0) for op in operators if op.kind == "CALL_ONCE"}:
            if not 0 < number < count:
                raise ValueError(f"CALL_ONCE of subgraph {number}, which is not there")
            once[number] = self._graph(model, model.Subgraphs(number))[1]
        return TfliteFile(inputs, outputs, tensors, operators, once)

    def _graph(self, model: Any, graph: Any) -> tuple[list[Tensor], list[Operator]]:
        self._spend(graph.TensorsLength() + graph.OperatorsLength())
        written = {int(i) for n in range(graph.OperatorsLength()) for i in self._vector(graph.Operators(n).Outputs)}
        tensors: list[Tensor] = []
        names: set[str] = set()
        for i in range(graph.TensorsLength()):
            tensor = self._tensor(model, graph.Tensors(i), i, names, i in written)
            names.add(tensor.name)
            tensors.append(tensor)
        return tensors, [self._operator(model, graph.Operators(i), tensors) for i in range(graph.OperatorsLength())]

    def _spend(self, count: int) -> None:
        self._left -= max(count, 1)
        if self._left < 0:
            raise ValueError("vectors lie on each other")

    def _vector(self, get: Any) -> NDArray[Any]:
        """Give a vector of numbers; `get` is the method of the schema that gives one of them."""
        values = getattr(get.__self__, f"{get.__name__}AsNumpy")()  # a view of the file
        values = values if isinstance(values, np.ndarray) else np.empty(0, np.int64)
        self._spend(values.size)
        return values

    def _indices(self, get: Any, count: int) -> list[int]:
        found = [int(i) for i in self._vector(get)]
        if any(not 0 <= i < count for i in found):
            raise ValueError("an index of a tensor that is not there")
        return found

    def _tensor(self, model: Any, given: Any, i: int, names: set[str], is_written: bool) -> Tensor:
        name = (given.Name() or b"").decode("utf-8", "replace") or f"tensor_{i}"
        name = name if name not in names else f"{name}:{i}"
        dtype = TYPES.get(given.Type()) or _type_name(self._schema, given.Type())
        shape = tuple(int(n) for n in self._vector(given.Shape))
        if any(n < 0 for n in shape) or prod(shape) * _itemsize(dtype) > _MOST_BYTES:
            raise ValueError(f"tensor {name!r} announces shape {shape}")
        signed = self._vector(given.ShapeSignature)
        known = tuple(None if s == -1 else n for s, n in zip(signed, shape, strict=True)) if signed.size else shape
        form = self._unread(model, given)
        if form or not has_arrays(dtype):
            return Tensor(name, known, form.format(dtype) or dtype)
        scale, zero, axis = self._quantization(given.Quantization(), name, shape)
        data = self._constant(model, given, name, shape, dtype)
        data = None if is_written and data is not None and not data.size else data  # a result may be empty
        return Tensor(name, known if data is None else shape, dtype, scale, zero, axis, data)

    def _buffer(self, model: Any, given: Any) -> Any:
        index = given.Buffer()
        if not 0 <= index < model.BuffersLength():
            raise ValueError(f"a tensor is in buffer {index}, which is not there")
        return model.Buffers(index)

    def _bytes_of(self, buffer: Any) -> NDArray[np.uint8]:
        """Give the bytes of a constant: in the flatbuffer, or behind it, where tensors may share them."""
        if buffer.Offset() > 1:
            return np.frombuffer(self._data, np.uint8, buffer.Size(), buffer.Offset())
        return buffer.DataAsNumpy() if buffer.DataLength() else np.empty(0, np.uint8)

    def _unread(self, model: Any, given: Any) -> str:
        """Say in which form a tensor stands in the file, around its type, if that is not read; else nothing."""
        buffer, quantization = self._buffer(model, given), given.Quantization()
        if given.Sparsity() is not None:
            return "sparse {}"
        if buffer.Offset() > 1 and not 0 < buffer.Offset() + buffer.Size() <= len(self._data):
            return "{} outside of the file"
        if quantization is not None and quantization.DetailsType():
            return "{} with a quantization of its own kind, such as a scale for each block"
        return ""

    def _quantization(
        self, given: Any, name: str, shape: tuple[int, ...]
    ) -> tuple[NDArray[np.float32] | None, NDArray[np.int64] | None, int | None]:
        if given is None or given.ScaleLength() == 0:
            return None, None, None
        scale, zero = self._vector(given.Scale).astype(np.float32), self._vector(given.ZeroPoint).astype(np.int64)
        if zero.size == 0:
            zero = np.zeros(scale.size, np.int64)
        if scale.size == 1:
            return scale.reshape(()), zero[:1].reshape(()), None
        axis = given.QuantizedDimension()
        axis = 0 if shape == (scale.size,) else axis  # converters leave that of the weights on a bias
        if not (0 <= axis < len(shape) and shape[axis] == scale.size) or zero.size not in (1, scale.size):
            raise ValueError(f"tensor {name!r} of shape {shape} has {scale.size} scales along axis {axis}")
        return scale, np.broadcast_to(zero, scale.shape).copy(), axis

    def _constant(self, model: Any, given: Any, name: str, shape: tuple[int, ...], dtype: str) -> NDArray[Any] | None:
        data = self._bytes_of(self._buffer(model, given))
        if data.size == 0:
            is_empty = given.Buffer() > 0 and prod(shape) == 0  # buffer 0 is that of no constant
            return np.zeros(shape, _KEPT.get(dtype, dtype)) if is_empty else None
        if dtype == "int4":
            low_first = np.stack([data << 4, data & 0xF0], -1).reshape(-1).view(np.int8) >> 4
            if low_first.size - prod(shape) not in (0, 1):
                raise ValueError(f"tensor {name!r} of shape {shape} has {data.size} bytes")
            return np.ascontiguousarray(low_first[: prod(shape)].reshape(shape))
        if data.size != prod(shape) * _itemsize(dtype):
            raise ValueError(f"tensor {name!r} of shape {shape}, {dtype}, has {data.size} bytes")
        return np.frombuffer(data.tobytes(), np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)

    def _operator(self, model: Any, given: Any, tensors: list[Tensor]) -> Operator:
        code = model.OperatorCodes(given.OpcodeIndex())
        number = max(_builtin_code(code), code.DeprecatedBuiltinCode())
        kind = _named(self._schema.BuiltinOperator, number)
        if kind == "CUSTOM":
            kind = (code.CustomCode() or b"").decode("utf-8", "replace") or kind
        inputs: list[Tensor | None] = []
        for i in self._vector(given.Inputs):
            if not (i == _ABSENT or 0 <= i < len(tensors)):
                raise ValueError("an index of a tensor that is not there")
            inputs.append(None if i == _ABSENT else tensors[i])
        outputs = [tensors[i] for i in self._indices(given.Outputs, len(tensors))]
        inner = [tensors[i] for i in self._indices(given.Intermediates, len(tensors))]
        return Operator(kind, inputs, outputs, self._options(given), inner)

    def _options(self, given: Any) -> dict[str, Any]:
        """Give all fields of the options. Which table they are is a number in the file, whose name is the class."""
        if given.CustomOptionsLength():
            return {"CustomOptions": self._vector(given.CustomOptions).tobytes()}
        table = given.BuiltinOptions()
        if table is None or not given.BuiltinOptionsType():
            return {}
        kind = getattr(self._schema, _named(self._schema.BuiltinOptions, given.BuiltinOptionsType()), None)
        if kind is None:
            return {}
        options = kind()
        options.Init(table.Bytes, table.Pos)
        found: dict[str, Any] = {}
        for name, method in vars(kind).items():
            if name.endswith("AsNumpy"):
                found[name.removesuffix("AsNumpy")] = self._vector(getattr(options, name.removesuffix("AsNumpy")))
            elif name[0].isupper() and not name.endswith(("Length", "IsNone")) and _is_number(method):
                found[name] = getattr(options, name)()
        return found


def _type_name(known: Any, number: int) -> str:
    """Give the name of a type of tensors and what it is for, or its number if the schema does not know it either."""
    names = {value: name for name, value in vars(known.TensorType).items() if not name.startswith("_")}
    name = names.get(number, f"number {number}")
    return name + _USES.get(name, "")


def _builtin_code(code: Any) -> int:
    """Give the field ``builtin_code`` itself: below 127 the package's own method gives the deprecated one instead."""
    table = code._tab
    place = table.Offset(_BUILTIN_CODE)
    return struct.unpack_from("<i", table.Bytes, table.Pos + place)[0] if place else 0


def _is_number(method: Any) -> bool:
    """Whether a method of the schema gives the one value of a field; those of vectors take an index."""
    return callable(method) and method.__code__.co_argcount == 1


def _itemsize(dtype: str) -> int:
    return np.dtype(_KEPT.get(dtype, dtype)).itemsize if has_arrays(dtype) else 1


def _named(enumeration: Any, number: int) -> str:
    """Give the name of a number of the schema, or that number if the installed schema does not know it."""
    for name, value in vars(enumeration).items():
        if value == number and not name.startswith("_"):
            return name
    return f"{enumeration.__name__} {number}"
