"""Makes one QDQ pair of two that follow each other, as onnxruntime does.

A QDQ pair, here also called a pair, is a QuantizeLinear and the DequantizeLinear nodes that read its codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from qops.models.onnx.file import Node
from qops.models.onnx.kinds import kind_of
from qops.models.onnx.net import Net
from qops.models.tensor import Tensor

__all__ = ["merged", "refuse_around_moves"]

F32 = np.float32


class _ScaleAndZero(NamedTuple):
    """Scale and zero point of a pair."""

    scale: Any
    zero: Any


def merged(
    nodes: Sequence[Node], tensors: dict[str, Tensor], outputs: Sequence[str], *, is_first: bool = True
) -> tuple[list[Node], list[str]]:
    """Make one pair of two that follow each other, if each node is read by the next alone.

    Four pairs in a row become two, and in another round one.

    For the other arguments and results see `fused`. After the first round (`is_first`), onnxruntime repeats pairs on
    the other side of moves.

    Raises
    ------
    ValueError
        Pairs whose ranges have only 0 in common; in a later round, pairs beside moves.
    """
    net, words = Net(nodes, tensors, outputs), []
    now, done = {node.name: node for node in nodes}, set()
    for name in list(now):
        found = None if name in done else _two_qdq(net, now, name)
        if found is None:
            continue
        first, second, last = found
        a, each = _numbers(net, first, now[name]), [_numbers(net, second, node) for node in last]
        if a is None or any(b is None or b.zero.dtype != a.zero.dtype for b in each):
            continue
        inputs, (b, *_) = first.inputs[1:], each
        if b is not None and a != b:
            where = f"QuantizeLinear ({second.name})"
            if not is_first and _is_beside_moves(net, first, last):
                raise ValueError(
                    f"{where}: onnxruntime makes one of two pairs that it repeats beside a move, which is not modelled"
                )
            made = _common(a, b, where)
            inputs = tuple(net.added(f"{first.outputs[0]}:{word}", np.asarray(x)) for word, x in made._asdict().items())
            what = f"QuantizeLinear ({first.name}) and QuantizeLinear ({second.name}) with their DequantizeLinear"
            words.append(f"{what} became one pair of scale {made.scale!s} and zero point {made.zero!s}.")
        now[first.name] = replace(first, inputs=(first.inputs[0], *inputs))
        for node in last:
            now[node.name] = replace(node, inputs=(first.outputs[0], *inputs))
            done.add(node.name)
        net.readers[first.outputs[0]] = last
        del now[name], now[second.name]
    return list(now.values()), words


def _two_qdq(net: Net, now: dict[str, Node], name: str) -> tuple[Node, Node, list[Node]] | None:
    """Give the nodes around a DequantizeLinear between two QuantizeLinear: both, and what dequantizes the second."""
    node = now.get(name)
    if node is None or node.kind != "DequantizeLinear":
        return None
    writer = net.writer.get(node.inputs[0])
    first = None if writer is None else now.get(writer.name)
    second = _only_reader(net, now, node)
    if first is None or second is None or _only_reader(net, now, first) is not node:
        return None
    if {first.kind, second.kind} != {"QuantizeLinear"} or second.outputs[0] in net.outputs:
        return None
    last = [now[reader.name] for reader in net.readers[second.outputs[0]] if reader.name in now]
    is_qdq = all(reader.kind == "DequantizeLinear" and reader.inputs[0] == second.outputs[0] for reader in last)
    return (first, second, last) if last and is_qdq else None


def _is_beside_moves(net: Net, first: Node, last: list[Node]) -> bool:
    """Whether what is quantized was moved before, or what is dequantized is moved after."""
    writer = net.writer.get(first.inputs[0])
    after = (reader for node in last for reader in net.readers[node.outputs[0]])
    return any(node is not None and kind_of(node).crosses_pairs for node in (writer, *after))


def _only_reader(net: Net, now: dict[str, Node], node: Node) -> Node | None:
    """Give the node that alone reads a result, as its data; None if there are others, or the graph gives it."""
    name = node.outputs[0]
    if name in net.outputs or len(net.readers[name]) != 1:
        return None
    reader = now.get(net.readers[name][0].name)
    return reader if reader is not None and reader.inputs[0] == name else None


def _numbers(net: Net, quantize: Node, dequantize: Node) -> _ScaleAndZero | None:
    """Give the numbers of a pair, if both nodes have the same constants, of 8 or 16 bits, and leave out none."""
    constants = [net.constant(node, place) for node in (quantize, dequantize) for place in (1, 2)]
    found = [x.reshape(-1)[0] for x in constants if x is not None and x.size == 1]
    if len(found) < 4:
        return None
    scale, zero, other, other_zero = found
    is_same = scale == other and zero == other_zero and zero.dtype == other_zero.dtype
    is_known = scale.dtype == other.dtype == F32 and zero.dtype in (np.uint8, np.int8, np.uint16, np.int16)
    return _ScaleAndZero(scale, zero) if is_same and is_known else None


@np.errstate(all="ignore")
def _common(a: _ScaleAndZero, b: _ScaleAndZero, where: str) -> _ScaleAndZero:
    """Give the numbers of the range that both ranges have in common, each step in float32."""
    info = np.iinfo(a.zero.dtype)
    lows, highs = ([F32(int(end) - int(n.zero)) * n.scale for n in (a, b)] for end in (info.min, info.max))
    low, high = max(lows), min(highs)
    scale = (high - low) / F32(info.max - info.min)
    if not scale > 0:
        raise ValueError(f"{where}: onnxruntime makes one of two pairs, whose ranges have only 0 in common")
    place = F32(info.min) - low / scale
    zero = np.copysign(np.floor(abs(place) + F32(0.5)), place)  # half away from 0
    return _ScaleAndZero(scale, a.zero.dtype.type(zero))


def refuse_around_moves(net: Net, node: Node) -> None:
    """Refuse a QuantizeLinear whose pair has other numbers than one before it, with moves that may vanish between them.

    Where two transposes undo each other, pairs come to follow each other, and onnxruntime makes one of them. The other
    transpose may stand anywhere, as onnxruntime takes it past other nodes.

    Parameters
    ----------
    net : Net
    node : Node
        A QuantizeLinear.

    Raises
    ------
    ValueError
        There are such pairs.
    """
    before, moves = _quantize_before(net, node)
    kinds, transposes = {move.kind for move in moves}, sum(n.kind == "Transpose" for n in net.writer.values())
    if before is None or "Transpose" not in kinds or transposes < 2:
        return
    for place in (1, 2):
        numbers = [x for x in (net.constant(n, place) for n in (node, before)) if x is not None]
        if any(not np.array_equal(x, numbers[0]) for x in numbers[1:]):
            what = "two pairs of QuantizeLinear and DequantizeLinear with other numbers, as moves between them vanish"
            raise ValueError(f"QuantizeLinear ({node.name}): onnxruntime may make one of {what}, which is not modelled")


def _quantize_before(net: Net, node: Node) -> tuple[Node | None, list[Node]]:
    """Give the QuantizeLinear whose codes, dequantized and moved, a node reads; and the moves."""
    moves: list[Node] = []
    while (found := net.writer.get(node.inputs[0])) is not None and kind_of(found).crosses_pairs:
        moves, node = [found, *moves], found
    source = None if found is None or found.kind != "DequantizeLinear" else net.writer.get(found.inputs[0])
    return (source, moves) if source is not None and source.kind == "QuantizeLinear" else (None, [])
