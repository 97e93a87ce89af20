"""What onnxruntime computes once before it fuses nodes, and products with a bias, which become one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from qops.models.onnx.file import Node
from qops.models.onnx.kinds import kind_of
from qops.models.onnx.net import Net
from qops.models.onnx.ops import op_of
from qops.models.onnx.sizes import shapes_of
from qops.models.onnx.types import results_of
from qops.models.op import Missing
from qops.models.tensor import Tensor

__all__ = ["folded", "with_gemms", "with_transposes_taken"]


def folded(nodes: Sequence[Node], tensors: dict[str, Tensor], has: Callable[[int], bool]) -> list[Node]:
    """Compute what depends on constants alone, but for DequantizeLinear.

    For the arguments and results see `fused`.
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
        try:
            op = op_of(node, {**tensors, **results}, "ort")
        except Missing:  # it stays, and is refused by its name with all others that cannot be read
            left.append(node)
            continue
        for (name, tensor), x in zip(results.items(), op.call(), strict=True):
            tensors[name] = replace(tensor, data=x, shape=x.shape)
    return left


def with_transposes_taken(nodes: Sequence[Node], net: Net) -> list[Node]:
    """Let each Gemm of the file take over transposes of matrices before it, and, without a bias, the one behind it.

    One behind it exchanges both matrices: ``(a @ b).T == b.T @ a.T``. A Gemm that onnxruntime makes of a MatMul comes
    too late for that.

    For the arguments and results see `fused`.
    """
    now, dropped = {node.name: node for node in nodes}, set[str]()
    for node in nodes:
        if node.kind != "Gemm" or node.domain or len(net.readers[node.outputs[0]]) > 1:
            continue
        both, turned = list(node.inputs[:2]), [bool(node.get(name, 0)) for name in ("transA", "transB")]
        for i, name in enumerate(both):
            writer = net.writer.get(name)
            if writer is not None and _is_transpose(writer) and net.only_reader(writer) is node:
                both[i], turned[i] = writer.inputs[0], not turned[i]
                dropped.add(writer.name)
        last, has_bias = net.only_reader(node), len(node.inputs) > 2 and bool(node.inputs[2])
        result = node.outputs[0]
        if last is not None and _is_transpose(last) and not has_bias:
            both, turned, result = both[::-1], [not one for one in turned[::-1]], last.outputs[0]
            dropped.add(last.name)
        attributes = {**node.attributes, "transA": int(turned[0]), "transB": int(turned[1])}
        own = replace(node, inputs=(*both, *node.inputs[2:]), outputs=(result,), attributes=attributes)
        now[node.name] = own if own.inputs != node.inputs or result != node.outputs[0] else node
    return [node for node in now.values() if node.name not in dropped]


def _is_transpose(node: Node) -> bool:
    return node.kind == "Transpose" and not node.domain and list(node.get("perm", [1, 0])) == [1, 0]


def with_gemms(nodes: Sequence[Node], net: Net) -> list[Node]:
    """Replace each MatMul, and the Add of one number per column behind it, by a Gemm.

    For the arguments and results see `fused`.
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
