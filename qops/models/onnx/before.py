"""What onnxruntime does to nodes before it fuses them: constants, pairs behind moves, products with a bias."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from qops.models.onnx.file import Node
from qops.models.onnx.kinds import kind_of
from qops.models.onnx.net import MOVED, Net
from qops.models.onnx.ops import op_of
from qops.models.onnx.sizes import shapes_of
from qops.models.onnx.types import results_of
from qops.models.tensor import Tensor

__all__ = ["folded", "quantized_outputs", "repeated", "with_gemms", "without_identities"]

_REFUSES = "onnxruntime 1.32 itself refuses the file from opset 21 on; these are the codes that the nodes say."
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


def without_identities(nodes: Sequence[Node], outputs: Sequence[str]) -> list[Node]:
    """Leave out each Identity, but for those that give an output of the graph.

    Parameters
    ----------
    nodes : sequence of Node
        In the order in which they run.
    outputs : sequence of str
        Names of the graph's outputs.

    Returns
    -------
    list of Node
    """
    same: dict[str, str] = {}
    left = []
    for node in nodes:
        own = replace(node, inputs=tuple(same.get(name, name) for name in node.inputs))
        if node.kind == "Identity" and not node.domain and node.outputs[0] not in outputs:
            same[node.outputs[0]] = own.inputs[0]
        else:
            left.append(own)
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
        if node.kind != "DequantizeLinear" or not _has_one_scale(net, node):
            continue
        dtype, has_zero = net.type_of(node.inputs[0]), len(node.inputs) > 2 and bool(node.inputs[2])
        for move, is_quantized in _moves_behind(net, node):
            where = f"{move.kind} ({move.name}): onnxruntime repeats DequantizeLinear ({node.name}) behind it"
            if node.opset < _TYPED and not has_zero and dtype != "uint8":
                now[move.name] = _with_pair(net, move, node)
                words.append(f"{where}, and as it has no zero point, what is below 0 becomes 0.")
            if node.opset >= _TYPED and has_zero and dtype == "int8" and not is_quantized and _is_read_once(net, move):
                words.append(f"{where}, with codes of two types, so {_REFUSES}")
    return [made for each in now.values() for made in each], words


def _has_one_scale(net: Net, dequantize: Node) -> bool:
    """Whether a DequantizeLinear has one constant scale, and a constant zero point or none."""
    scale, has_zero = net.constant(dequantize, 1), len(dequantize.inputs) > 2 and bool(dequantize.inputs[2])
    return scale is not None and scale.size == 1 and not (has_zero and net.constant(dequantize, 2) is None)


def _is_read_once(net: Net, node: Node) -> bool:
    """Whether what a node gives has one reader, or is an output that nothing reads."""
    name = node.outputs[0]
    return len(net.readers[name]) + (name in net.outputs) == 1


def _moves_behind(net: Net, node: Node) -> Iterator[tuple[Node, bool]]:
    """Give the nodes that move what a DequantizeLinear gives to its readers, and whether it becomes codes again.

    The one that a QuantizeLinear reads is not among them, nor a Transpose that a Gemm takes over.
    """
    for reader in net.readers[node.outputs[0]]:
        moves: list[Node] = []
        move: Node | None = reader
        while move is not None and move.kind in MOVED:
            moves.append(move)
            move = net.data_reader(move)
        is_quantized = move is not None and move.kind == "QuantizeLinear"
        becomes_gemm = moves[-1:] and moves[-1].kind == "Transpose" and move is not None and move.kind == "Gemm"
        for one in moves[: -1 if is_quantized or becomes_gemm else None]:
            if one.kind != "Identity":
                yield one, is_quantized


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

    onnxruntime takes the Transpose past the QuantizeLinear, and leaves a pair in front of both.

    Parameters
    ----------
    nodes : sequence of Node
    net : Net
        Of the same nodes.

    Returns
    -------
    list of Node
    """
    made = []
    for node in nodes:
        name = node.outputs[0] if node.outputs else ""
        move = net.data_reader(node) if name in net.outputs and node.kind not in MOVED else None
        last = None if move is None or move.kind != "Transpose" else net.only_reader(move)
        if last is None or last.kind != "QuantizeLinear" or len(node.outputs) != 1:
            made.append(node)
            continue
        values, codes = net.free(f"{name}:values"), net.free(f"{name}:codes")
        quantize = replace(last, name=f"{name}:QuantizeLinear", inputs=(values, *last.inputs[1:]), outputs=(codes,))
        again = Node("DequantizeLinear", "", f"{name}:DequantizeLinear", (codes, *last.inputs[1:]), (name,), {}, 13)
        made += [replace(node, outputs=(values,)), quantize, again]
    return made


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
    shapes, made = shapes_of(nodes, net.tensors), list[Node]()
    products: dict[str, Node] = {}  # by the names of their results
    for node in nodes:
        add = net.only_reader(node) if node.kind == "MatMul" and not node.domain else None
        if add is not None and add.kind == "Add" and len({*add.inputs}) == len(add.inputs) == 2:
            (other,) = (name for name in add.inputs if name != node.outputs[0])
            if _is_gemm(shapes, node, other):
                products[node.outputs[0]] = node
                continue
        product = next((products[name] for name in node.inputs if name in products), None)
        made += [node] if product is None else _gemm(net, shapes, product, node)
    return made


def _is_gemm(shapes: dict[str, tuple[int | None, ...]], product: Node, other: str) -> bool:
    """Whether onnxruntime makes a Gemm of a product and what is added to it.

    Data of other than two axes are reshaped, if all their sizes are known; then one number for each column is added.
    """
    a, b, c = (shapes.get(name) for name in (*product.inputs, other))
    if a is None or b is None or c is None or len(b) != 2 or None in b:
        return False
    columns = b[1]
    if len(a) != 2:
        return None not in a and c == (columns,)
    return c in ((columns,), (1, columns)) or (len(c) == 2 and c == (a[0], columns))


def _gemm(net: Net, shapes: dict[str, tuple[int | None, ...]], product: Node, add: Node) -> list[Node]:
    """Give the Gemm of a product and a sum; data of other than two axes become a matrix before it."""
    (other,) = (name for name in add.inputs if name != product.outputs[0])
    a, b, y = *product.inputs, add.outputs[0]
    shape, name = shapes[a], product.name
    if len(shape) == 2:
        return [Node("Gemm", "", name, (a, b, other), (y,), {}, 13)]
    rows, sums = net.free(f"{a}:rows"), net.free(f"{y}:rows")
    wide, back = (
        net.added(f"{x}:shape", np.array(sizes, np.int64))
        for x, sizes in ((rows, (-1, shape[-1])), (y, (-1, *shape[1:-1], shapes[b][1]) if len(shape) > 1 else (-1,)))
    )
    return [
        Node("Reshape", "", f"{name}:rows", (a, wide), (rows,), {}, product.opset),
        Node("Gemm", "", name, (rows, b, other), (sums,), {}, 13),
        Node("Reshape", "", f"{name}:back", (sums, back), (y,), {}, product.opset),
    ]
