"""Which nodes write and read each tensor, as onnxruntime's fusions ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.codes import CASTS
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import constant
from qops.models.onnx.kinds import kind_of
from qops.models.tensor import Tensor

__all__ = ["Net", "Sink", "Source"]


class Source(NamedTuple):
    """The codes that a float tensor is made of.

    Attributes
    ----------
    codes : str
        The name of the tensor of codes.
    scale, zero_point : str
        The names of the tensors that hold scale and zero point; "" if there is no zero point.
    dtype : str
        The type of the codes.
    as_uint8 : bool
        Whether onnxruntime has made uint8 of these codes of int8.
    moves : tuple of Node
        The nodes between DequantizeLinear and the reader; they move values.
    """

    codes: str
    scale: str
    zero_point: str
    dtype: str
    as_uint8: bool
    moves: tuple[Node, ...]

    @property
    def effective(self) -> str:
        """The type that onnxruntime sees."""
        return "uint8" if self.as_uint8 else self.dtype


class Sink(NamedTuple):
    """The codes that a float tensor becomes; the names are as those of `Source`.

    Attributes
    ----------
    quantize : Node
    dtype : str
    as_uint8 : bool
    moves : tuple of Node
        The nodes between the writer and QuantizeLinear; they move values.
    clamps : tuple of Node
        Relu and Clip on the way that change no code.
    """

    quantize: Node
    dtype: str
    as_uint8: bool
    moves: tuple[Node, ...]
    clamps: tuple[Node, ...]

    @property
    def effective(self) -> str:
        """The type that onnxruntime sees."""
        return "uint8" if self.as_uint8 else self.dtype


class Net:
    """Nodes with the tensors that they read and write."""

    def __init__(
        self, nodes: Sequence[Node], tensors: dict[str, Tensor], outputs: Sequence[str], allows_int8: bool = False
    ) -> None:
        self.tensors, self.outputs, self.allows_int8 = tensors, {*outputs}, allows_int8
        self.writer = {name: node for node in nodes for name in node.outputs if name}
        self.readers: dict[str, list[Node]] = defaultdict(list)
        self._taken: set[str] = set()
        for node in nodes:
            for name in node.inputs:
                if name:
                    self.readers[name].append(node)

    def free(self, name: str) -> str:
        """Give a name like this one that no tensor has, and note that it is taken."""
        while name in self.tensors or name in self.writer or name in self._taken:
            name += "'"
        self._taken.add(name)
        return name

    def added(self, name: str, data: NDArray[Any]) -> str:
        """Add a constant, and give the name under which it stands."""
        name = self.free(name)
        self.tensors[name] = Tensor(name, data.shape, data.dtype.name, data=data)
        return name

    def constant(self, node: Node, place: int) -> NDArray[Any] | None:
        """Give the constant that an input is; None if it is none."""
        return constant(self.tensors, node, place)

    def only_reader(self, node: Node) -> Node | None:
        """Give the node that alone reads what a node gives; None if there are others, or it is an output."""
        name = node.outputs[0]
        return self.readers[name][0] if name not in self.outputs and len(self.readers[name]) == 1 else None

    def data_reader(self, node: Node) -> Node | None:
        """Give the node that alone reads what a node gives, as its data; an output of the graph may be read as well."""
        name = node.outputs[0]
        readers = self.readers[name]
        return readers[0] if len(readers) == 1 and readers[0].inputs[0] == name else None

    def type_of(self, codes: str) -> str | None:
        """The type of a tensor of codes: that of a constant or an input, or what QuantizeLinear makes."""
        while (writer := self.writer.get(codes)) is not None and kind_of(writer).crosses_pairs:
            codes = writer.inputs[0]
        if writer is None:
            return self.tensors[codes].dtype if codes in self.tensors else None
        if writer.kind != "QuantizeLinear":
            return None
        if len(writer.inputs) > 2 and writer.inputs[2]:
            zero = self.tensors.get(writer.inputs[2])
            return None if zero is None else zero.dtype
        number = writer.get("output_dtype", 0)
        return CASTS.get(number) if number else "uint8"

    def zero_of(self, node: Node) -> int | None:
        """The zero point of a QuantizeLinear or a DequantizeLinear: 0 if it is left out, None if it is no constant."""
        if len(node.inputs) < 3 or not node.inputs[2]:
            return 0
        zero = self.constant(node, 2)
        return None if zero is None or zero.size != 1 else int(zero.item())

    def source(self, name: str) -> Source | None:
        """Find the codes that a float tensor is made of; None if it is made of no codes of 8 bits."""
        moves: list[Node] = []
        while (node := self.writer.get(name)) is not None and kind_of(node).crosses_pairs:
            moves.insert(0, node)
            name = node.inputs[0]
        if node is None or node.kind != "DequantizeLinear" or node.get("block_size", 0):
            return None
        scale, dtype = self.constant(node, 1), self._type_of(node, 2)
        if scale is None or dtype is None or scale.dtype != np.float32 or (moves and scale.size != 1):
            return None
        numbers = _numbers(node)
        is_repeated = not moves or bool(numbers[2])  # pairs behind moves are made uint8 if they have a zero point
        as_uint8 = is_repeated and self._is_uint8(node.inputs[0], dtype, moves)
        return Source(*numbers, dtype, as_uint8, tuple(moves))

    def sink(self, node: Node) -> Sink | None:
        """Find the codes that the result of a node becomes; None if it is read in another way, too."""
        name, moves, clamps = node.outputs[0], [], []
        while True:
            if name in self.outputs or len(self.readers[name]) != 1:
                return None
            (reader,) = self.readers[name]
            if reader.inputs[0] != name:
                return None
            if reader.kind == "QuantizeLinear":
                break
            if kind_of(reader).clamps:
                clamps.append(reader)
            elif kind_of(reader).crosses_pairs:
                moves.append(reader)
            else:
                return None
            name = reader.outputs[0]
        scale, dtype = self.constant(reader, 1), self._type_of(reader, 2)
        if scale is None or scale.size != 1 or scale.dtype != np.float32 or dtype is None:
            return None
        if any(not self._changes_nothing(clamp, reader, dtype) for clamp in clamps):
            return None
        as_uint8 = (
            dtype == "int8" and not self.allows_int8 and (bool(moves) or self._is_uint8(reader.outputs[0], dtype, []))
        )
        return Sink(reader, dtype, as_uint8, tuple(moves), tuple(clamps))

    def _type_of(self, node: Node, place: int) -> str | None:
        """The type of codes, which their zero point has; None if it is not of 8 bits or no constant."""
        if place >= len(node.inputs) or not node.inputs[place]:
            if node.kind == "QuantizeLinear":
                own = self.type_of(node.outputs[0])
                return own if own in ("uint8", "int8") else None
            own = self.type_of(node.inputs[0])
            return own if own in ("uint8", "int8") else None
        zero = self.constant(node, place)
        return zero.dtype.name if zero is not None and zero.dtype in (np.uint8, np.int8) else None

    def _is_uint8(self, codes: str, dtype: str, moves: list[Node]) -> bool:
        """Whether onnxruntime makes uint8 of codes of int8: where one QuantizeLinear feeds one DequantizeLinear."""
        if dtype != "int8" or self.allows_int8:
            return False
        if moves:
            return self.uses(moves[-1].outputs[0]) == 1
        writer = self.writer.get(codes)
        if writer is None or writer.kind != "QuantizeLinear" or codes in self.outputs:
            return False
        readers = self.readers[codes]
        if any(reader.kind != "DequantizeLinear" for reader in readers):
            return False
        return sum(max(1, self.uses(reader.outputs[0])) for reader in readers) == 1

    def uses(self, name: str) -> int:
        """How many nodes read a tensor; one more if it is an output of the graph."""
        return len(self.readers[name]) + (name in self.outputs)

    def _changes_nothing(self, clamp: Node, quantize: Node, dtype: str) -> bool:
        """Whether the codes of both ends of a Relu or a Clip are the ends of their type."""
        info, scale, zero = np.iinfo(dtype), self.constant(quantize, 1), self.constant(quantize, 2)
        assert scale is not None
        offset = 0 if zero is None else int(np.ravel(zero)[0])
        ends = (
            [0.0, None] if clamp.kind == "Relu" else [self._end(clamp, i, name) for i, name in ((1, "min"), (2, "max"))]
        )
        for end, code in zip(ends, (info.min, info.max), strict=True):
            if (
                end is not None
                and np.clip(np.rint(np.float32(end) / scale).item() + offset, info.min, info.max) != code
            ):
                return False
        return True

    def _end(self, clamp: Node, place: int, name: str) -> float | None:
        """One end of a Clip; NaN, which is no code, if it is no constant."""
        if name in clamp.attributes:
            return float(clamp.get(name))
        if place >= len(clamp.inputs) or not clamp.inputs[place]:
            return None
        found = self.constant(clamp, place)
        return float("nan") if found is None or found.size != 1 else float(np.ravel(found)[0])


def _numbers(node: Node) -> tuple[str, str, str]:
    return node.inputs[0], node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else ""
