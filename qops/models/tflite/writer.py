"""Writes a .tflite file of plain tensors and operators: what `qops.models.tflite.file` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from qops._keywords import refusing_unknown, unknown_keyword
from qops.models.tensor import Tensor
from qops.models.tflite.file import TYPES, Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.kinds import KINDS
from qops.models.tflite.variables import PLACES

__all__ = ["packed_int4", "tflite_bytes"]

_DEPRECATED_END = 127  # builtin codes up to here stand in the old field too


@refusing_unknown
def tflite_bytes(
    tensors: Sequence[Tensor],
    operators: Sequence[Operator],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    once: Sequence[Sequence[Operator]] = (),
    **unknown: Never,
) -> bytes:
    """Give the bytes of a model.

    Parameters
    ----------
    tensors : sequence of Tensor
        All tensors; each name stands once.
    operators : sequence of Operator
        In the order in which they run.
    inputs, outputs : sequence of Tensor
        The inputs and outputs of the model.
    once : sequence of sequence of Operator
        The operators of more subgraphs without inputs and outputs, which CALL_ONCE names by the numbers 1, 2 and on.

    Returns
    -------
    bytes
        The flatbuffer.

    Raises
    ------
    ModuleNotFoundError
        The package ``tflite`` is not installed.
    """
    if unknown:
        raise unknown_keyword(tflite_bytes, unknown)
    more: list[Any] = [
        (list({t.name: t for op in ops for t in (*op.inputs, *op.outputs) if t is not None}.values()), ops, (), ())
        for ops in once
    ]
    return _Writer().model([(tensors, operators, inputs, outputs), *more])


def _row(kind: str) -> Kind:
    return KINDS.get(kind) or PLACES.get(kind) or Kind()


class _Writer:
    def __init__(self) -> None:
        import flatbuffers
        import tflite

        self._b, self._schema = flatbuffers.Builder(1024), tflite

    def model(self, graphs: Sequence[Any]) -> bytes:
        kinds = sorted({op.kind for _, operators, _, _ in graphs for op in operators})
        constants = [t for tensors, *_ in graphs for t in tensors if t.data is not None]
        parts = {
            "OperatorCodes": [self._code(kind) for kind in kinds],
            "Buffers": [self._table("Buffer"), *map(self._buffer, constants)],
        }
        place = iter(range(1, len(constants) + 1))
        parts["Subgraphs"] = [self._graph(graph, kinds, place) for graph in graphs]
        vectors = {name: self._tables(part) for name, part in parts.items()}
        self._b.Finish(self._table("Model", Version=3, **vectors), b"TFL3")
        return bytes(self._b.Output())

    def _graph(self, graph: Any, kinds: list[str], place: Iterator[int]) -> int:
        tensors, operators, inputs, outputs = graph
        where = {t.name: i for i, t in enumerate(tensors)}
        written = {t.name for op in operators for t in op.outputs} | {t.name for t in inputs}
        made = [
            self._tensor(t, next(place) if t.data is not None else 0, state=t.data is None and t.name not in written)
            for t in tensors
        ]
        ops = [self._operator(op, kinds.index(op.kind), where) for op in operators]
        return self._table(
            "SubGraph",
            Tensors=self._tables(made),
            Inputs=self._numbers([where[t.name] for t in inputs]),
            Outputs=self._numbers([where[t.name] for t in outputs]),
            Operators=self._tables(ops),
        )

    def _table(self, kind: str, **fields: Any) -> int:
        """Write a table of the schema; `fields` are numbers, or places of what stands before it."""
        schema = self._schema
        getattr(schema, f"{kind}Start")(self._b)
        for name, value in fields.items():
            getattr(schema, f"{kind}Add{name}")(self._b, value)
        place: int = getattr(schema, f"{kind}End")(self._b)
        return place

    def _tables(self, places: Sequence[int]) -> int:
        self._b.StartVector(4, len(places), 4)
        for place in reversed(places):
            self._b.PrependUOffsetTRelative(place)
        end: int = self._b.EndVector()
        return end

    def _numbers(self, values: Any, dtype: str = "int32") -> int:
        place: int = self._b.CreateNumpyVector(np.asarray(values, dtype))
        return place

    def _buffer(self, tensor: Tensor) -> int:
        assert tensor.data is not None
        raw = packed_int4(tensor.data) if tensor.dtype == "int4" else np.frombuffer(tensor.data.tobytes(), np.uint8)
        self._b.StartVector(1, raw.size, 16)  # the kernels read aligned words
        self._b.head -= raw.size
        self._b.Bytes[self._b.Head() : self._b.Head() + raw.size] = raw.tobytes()
        return self._table("Buffer", Data=self._b.EndVector())

    def _tensor(self, tensor: Tensor, buffer: int, *, state: bool) -> int:
        more: dict[str, Any] = {"IsVariable": True} if state else {}
        if tensor.scale is not None and tensor.zero_point is not None:
            more["Quantization"] = self._table(
                "QuantizationParameters",
                Scale=self._numbers(np.atleast_1d(tensor.scale), "float32"),
                ZeroPoint=self._numbers(np.atleast_1d(tensor.zero_point), "int64"),
                QuantizedDimension=tensor.axis or 0,
            )
        name, shape = self._b.CreateString(tensor.name), self._numbers([1 if n is None else n for n in tensor.shape])
        number = next(number for number, word in TYPES.items() if word == tensor.dtype)
        return self._table("Tensor", Shape=shape, Type=number, Buffer=buffer, Name=name, **more)

    def _code(self, kind: str) -> int:
        is_custom = _row(kind).is_custom
        number = getattr(self._schema.BuiltinOperator, "CUSTOM" if is_custom else kind)
        more = {"CustomCode": self._b.CreateString(kind)} if is_custom else {}
        fields = {"DeprecatedBuiltinCode": min(number, _DEPRECATED_END), "Version": _row(kind).version}
        return self._table("OperatorCode", BuiltinCode=number, **fields, **more)

    def _operator(self, op: Operator, code: int, where: dict[str, int]) -> int:
        fields: dict[str, Any] = {
            "Inputs": self._numbers([-1 if t is None else where[t.name] for t in op.inputs]),
            "Outputs": self._numbers([where[t.name] for t in op.outputs]),
        }
        if op.intermediates:
            fields["Intermediates"] = self._numbers([where[t.name] for t in op.intermediates])
        if "CustomOptions" in op.options:
            fields["CustomOptions"] = self._b.CreateByteVector(op.options["CustomOptions"])
        table = _row(op.kind).schema
        if table:
            given = {name: self._field(value) for name, value in op.options.items()}
            fields["BuiltinOptions"] = self._table(table, **given)
            fields["BuiltinOptionsType"] = getattr(self._schema.BuiltinOptions, table)
        return self._table("Operator", OpcodeIndex=code, **fields)

    def _field(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return self._b.CreateString(value.decode())
        return self._numbers(value) if isinstance(value, np.ndarray | list | tuple) else value


def packed_int4(codes: NDArray[Any]) -> NDArray[np.uint8]:
    """Give two codes of 4 bits a byte, the first in the low half.

    Parameters
    ----------
    codes : ndarray of int8
        From -8 to 7.

    Returns
    -------
    ndarray of uint8
    """
    flat = codes.reshape(-1)
    nibbles = np.append(flat, np.zeros(flat.size % 2, flat.dtype)).astype(np.uint8).reshape(-1, 2) & 15
    return np.asarray(nibbles[:, 0] | nibbles[:, 1] << 4, np.uint8)
