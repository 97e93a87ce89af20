"""Pairs of QuantizeLinear and DequantizeLinear that onnxruntime repeats on the other side of nodes that move values.

It first repeats the pair of a QuantizeLinear in front of the moves before it, then that of a DequantizeLinear behind
the moves after it, where none stands already. That changes no values, but in the cases of this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from qops.models.onnx.file import Node
from qops.models.onnx.kinds import kind_of
from qops.models.onnx.net import Net
from qops.models.tensor import Tensor

__all__ = ["quantized_outputs", "repeated"]

_REFUSES = "onnxruntime 1.32 itself refuses the file from opset 21 on; these are the codes that the nodes say."
_TYPED = 21
"""The opset from which QuantizeLinear says the type of its codes where it has no zero point."""


def repeated(nodes: Sequence[Node], tensors: dict[str, Tensor], outputs: Sequence[str]) -> tuple[list[Node], list[str]]:
    """Repeat a DequantizeLinear without a zero point behind each node that only moves its values.

    The QuantizeLinear that onnxruntime adds has no zero point, and before opset 21 no type either, so it makes uint8,
    and what is below 0 becomes 0.

    For the arguments and results see `fused`.
    """
    net, words = Net(nodes, tensors, outputs), list[str]()
    now: dict[str, list[Node]] = {node.name: [node] for node in nodes}
    for node in nodes:
        if node.kind != "DequantizeLinear" or not _has_one_scale(net, node):
            continue
        dtype, has_zero = net.type_of(node.inputs[0]), len(node.inputs) > 2 and bool(node.inputs[2])
        for move in _moves_behind(net, node.outputs[0]):
            where = f"{move.kind} ({move.name}): onnxruntime repeats DequantizeLinear ({node.name}) behind it"
            if node.opset < _TYPED and not has_zero and dtype != "uint8":
                now[move.name] = _with_pair(net, move, node)
                words.append(f"{where}, and as it has no zero point, what is below 0 becomes 0.")
            if node.opset >= _TYPED and has_zero and dtype == "int8" and net.uses(move.outputs[0]) == 1:
                words.append(f"{where}, with codes of two types, so {_REFUSES}")
    return [made for each in now.values() for made in each], words


def _has_one_scale(net: Net, node: Node) -> bool:
    """Whether a node has one constant scale, and a constant zero point or none."""
    scale, has_zero = net.constant(node, 1), len(node.inputs) > 2 and bool(node.inputs[2])
    return scale is not None and scale.size == 1 and not (has_zero and net.constant(node, 2) is None)


def _moves_behind(net: Net, name: str) -> Iterator[Node]:
    """Give the moves that read a tensor, and those after these, but for those that a QuantizeLinear reads, too."""
    for move in net.readers[name]:
        if not kind_of(move).crosses_pairs or move.inputs[0] != name:
            continue
        result = move.outputs[0]
        if not any(_is_quantized(net, result, reader) for reader in net.readers[result]):
            yield move
            yield from _moves_behind(net, result)


def _is_quantized(net: Net, name: str, reader: Node) -> bool:
    """Whether a QuantizeLinear reads a tensor, or repeats its pair there, in front of moves that it alone reads."""
    if reader.kind == "QuantizeLinear":
        return reader.inputs[0] == name
    is_alone = name not in net.outputs and len(net.readers[name]) == 1
    while is_alone and kind_of(reader).crosses_pairs and reader.inputs[0] == name:
        after = net.only_reader(reader)
        if after is None:
            return False
        name, reader = reader.outputs[0], after
    return is_alone and reader.kind == "QuantizeLinear" and reader.inputs[0] == name and _has_one_scale(net, reader)


def _with_pair(net: Net, move: Node, dequantize: Node) -> list[Node]:
    """Give a node that moves values, and behind it a pair without a zero point."""
    (name, *others), scale = move.outputs, dequantize.inputs[1]
    moved, codes = net.free(f"{name}:moved"), net.free(f"{name}:uint8")
    words = "QuantizeLinear", "DequantizeLinear"
    ends = ((moved, codes), (codes, name))
    pair = [
        Node(kind, "", f"{move.name}:{kind}", (x, scale), (y,), {}, dequantize.opset)
        for kind, (x, y) in zip(words, ends, strict=True)
    ]
    return [replace(move, outputs=(moved, *others)), *pair]


def quantized_outputs(nodes: Sequence[Node], net: Net) -> list[Node]:
    """Let outputs of the graph be quantized and dequantized, where a Transpose and a QuantizeLinear read them.

    onnxruntime gives each Transpose before a QuantizeLinear a pair in front of it, if no DequantizeLinear stands there.

    For the arguments and results see `fused`.
    """
    made = []
    for node in nodes:
        name = node.outputs[0] if node.outputs else ""
        move = net.data_reader(node) if name in net.outputs and not _is_dequantized(net, node) else None
        last = None if move is None or move.kind != "Transpose" else net.only_reader(move)
        if last is None or last.kind != "QuantizeLinear" or len(node.outputs) != 1:
            made.append(node)
            continue
        values, codes = net.free(f"{name}:values"), net.free(f"{name}:codes")
        quantize = replace(last, name=f"{name}:QuantizeLinear", inputs=(values, *last.inputs[1:]), outputs=(codes,))
        again = Node("DequantizeLinear", "", f"{name}:DequantizeLinear", (codes, *last.inputs[1:]), (name,), {}, 13)
        made += [replace(node, outputs=(values,)), quantize, again]
    return made


def _is_dequantized(net: Net, node: Node) -> bool:
    """Whether a DequantizeLinear stands before an output, or onnxruntime repeats one there, behind moves."""
    found: Node | None = node
    while found is not None and kind_of(found).crosses_pairs:
        found = net.writer.get(found.inputs[0])
    return found is not None and found.kind == "DequantizeLinear"
