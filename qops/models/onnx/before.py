"""What onnxruntime does to nodes before it fuses them: constants, pairs behind moves, products with a bias."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from qops.models.onnx.file import Node
from qops.models.onnx.kinds import kind_of
from qops.models.onnx.net import MOVED, Net
from qops.models.onnx.ops import op_of
from qops.models.onnx.types import results_of
from qops.models.tensor import Tensor

__all__ = ["folded", "repeated", "with_gemms"]

_TYPED = 21
"""The opset from which QuantizeLinear says the type of its codes where it has no zero point."""


def folded(nodes: Sequence[Node], tensors: dict[str, Tensor], has: Callable[[int], bool]) -> list[Node]:
    """Compute what depends on constants alone, but for DequantizeLinear.

    Parameters
    ----------
    nodes : sequence of Node
        In the order in which they run.
    tensors : dict of str to Tensor
        The results are added to it as constants.
    has : callable
        Whether so many bytes may be kept.

    Returns
    -------
    list of Node
        Those that are left.
    """
    left = []
    for node in nodes:
        row, given = kind_of(node), [tensors.get(name) for name in node.inputs if name]
        data = [t.data for t in given if t is not None and t.data is not None]
        is_constant = len(data) == len(given) > 0 and row.folds and node.kind != "DequantizeLinear"
        if not is_constant or not has(sum(x.nbytes for x in data)):
            left.append(node)
            continue
        results = {t.name: t for t in results_of(node, tensors)}
        made = op_of(node, {**tensors, **results}, "ort").call()
        for (name, tensor), x in zip(results.items(), made, strict=True):
            tensors[name] = replace(tensor, data=x, shape=x.shape)
    return left


def repeated(nodes: Sequence[Node], tensors: dict[str, Tensor], outputs: Sequence[str]) -> tuple[list[Node], list[str]]:
    """Repeat a DequantizeLinear without a zero point behind each node that only moves its values.

    onnxruntime repeats all pairs so, which changes no codes, but for these: the QuantizeLinear that it adds has no zero
    point, and before opset 21 no type either, so it makes uint8, and what is below 0 becomes 0.

    Parameters
    ----------
    nodes : sequence of Node
    tensors : dict of str to Tensor
    outputs : sequence of str
        Names of the graph's outputs.

    Returns
    -------
    nodes : list of Node
    words : list of str
        A sentence for each pair that is added.
    """
    net, words = Net(nodes, tensors, outputs), list[str]()
    now: dict[str, list[Node]] = {node.name: [node] for node in nodes}
    for node in nodes:
        if node.kind == "DequantizeLinear" and node.opset < _TYPED and _makes_uint8(net, node):
            for move in _moves_behind(net, node):
                now[move.name] = _with_pair(net, move, node)
                words.append(
                    f"{move.kind} ({move.name}): onnxruntime makes codes of uint8 of its result, as DequantizeLinear"
                    f" ({node.name}) has no zero point."
                )
    return [made for each in now.values() for made in each], words


def _makes_uint8(net: Net, dequantize: Node) -> bool:
    """Whether a DequantizeLinear has one scale, no zero point, and codes that uint8 does not hold."""
    scale = net.constant(dequantize, 1)
    has_zero = len(dequantize.inputs) > 2 and bool(dequantize.inputs[2])
    return not has_zero and scale is not None and scale.size == 1 and net.type_of(dequantize.inputs[0]) != "uint8"


def _moves_behind(net: Net, node: Node) -> list[Node]:
    """Give the nodes that move what a node gives, one after the other, up to one that QuantizeLinear reads."""
    found = []
    while (reader := net.only_reader(node)) is not None and reader.kind in MOVED:
        node = reader
        last = net.only_reader(node)
        if reader.kind != "Identity" and (last is None or last.kind != "QuantizeLinear"):
            found.append(reader)
    return found


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


def with_gemms(nodes: Sequence[Node], net: Net) -> list[Node]:
    """Replace each MatMul, and the Add of one number per column behind it, by a Gemm.

    Parameters
    ----------
    nodes : sequence of Node
    net : Net
        Of the same nodes.

    Returns
    -------
    list of Node
    """
    made, dropped = [], set()
    for node in nodes:
        if node.name in dropped:
            continue
        add = net.only_reader(node) if node.kind == "MatMul" else None
        if add is None or add.kind != "Add":
            made.append(node)
            continue
        name = node.outputs[0]
        other = add.inputs[0] if add.inputs[1] == name else add.inputs[1]
        weights = net.source(node.inputs[1])
        b = net.tensors.get(node.inputs[1] if weights is None else "" if weights.moves else weights.codes)
        if b is None or b.data is None or b.data.ndim != 2 or _length(net, other) != b.data.shape[1]:
            made.append(node)
            continue
        dropped.add(add.name)
        inputs = (*node.inputs, other)
        made.append(Node("Gemm", "", node.name, inputs, add.outputs, {}, 13))
    return made


def _length(net: Net, name: str) -> int | None:
    """How many values a constant of one axis has, or codes of any type that are dequantized."""
    writer = net.writer.get(name)
    is_codes = writer is not None and writer.kind == "DequantizeLinear"
    tensor = net.tensors.get(writer.inputs[0] if is_codes and writer is not None else name)
    return len(tensor.data) if tensor is not None and tensor.data is not None and tensor.data.ndim == 1 else None
