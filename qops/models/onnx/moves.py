"""Operators that move elements, join tensors, or tell shapes: most are the same for codes and for values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import onnx
from qops.models.code.places import c_of_joined, c_of_moves, c_of_shapes, c_of_told
from qops.models.graph import Graph
from qops.models.onnx.code import c_of_expression, has_numbers, numbers_of_input
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import QuantizedInput, Spec
from qops.models.onnx.kind import Kind
from qops.models.onnx.shapes import bounded, whole
from qops.models.onnx.site import NodeRunner, PlacedNode
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import zero_of
from qops.onnx.tables import table_between

__all__ = ["KINDS"]


Array = NDArray[Any]
Given = Sequence[Any]


def _axes(node: Node, given: Given, place: int = 1) -> list[int]:
    """Axes are an input, or in older versions an attribute."""
    if len(given) > place and given[place] is not None:
        return whole(given[place])
    return whole(node.get("axes"))


def _reshape(node: Node, given: Given) -> Array:
    """0 keeps a size, -1 takes the rest."""
    x, wanted = given[0], whole(given[1]) if len(given) > 1 else whole(node.get("shape"))
    if not node.get("allowzero", 0):
        wanted = [x.shape[i] if n == 0 and i < x.ndim else n for i, n in enumerate(wanted)]
    return x.reshape(wanted)


def _transpose(node: Node, given: Given) -> Array:
    return np.ascontiguousarray(np.transpose(given[0], node.get("perm")))


def _flatten(node: Node, given: Given) -> Array:
    x, axis = given[0], node.get("axis", 1)
    axis += x.ndim if axis < 0 else 0
    return x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))


def _squeeze(node: Node, given: Given) -> Array:
    return np.squeeze(given[0], tuple(_axes(node, given)) or None)


def _unsqueeze(node: Node, given: Given) -> Array:
    return np.expand_dims(given[0], tuple(_axes(node, given)))


def _slice(node: Node, given: Given) -> Array:
    """Starts, ends, axes and steps are inputs, or in older versions attributes."""
    x = given[0]
    if node.opset < 10:
        starts, ends, axes, steps = (whole(node.get(name)) for name in ("starts", "ends", "axes", "steps"))
    else:
        starts, ends, axes, steps = (whole(part) for part in (*given[1:], None, None)[:4])
    axes, steps = axes or list(range(len(starts))), steps or [1] * len(starts)
    where = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        last = None if step < 0 and end < -x.shape[axis] else end
        where[axis] = slice(start, last, step)
    return np.ascontiguousarray(x[tuple(where)])


def _gather(node: Node, given: Given) -> Array:
    x, axis = given[0], node.get("axis", 0)
    indices = np.asarray(given[1]).astype(np.int64)
    bounded((*x.shape[:axis], *indices.shape, *x.shape[axis:][1:]))
    return np.take(x, indices, axis)


def _concat(node: Node, given: Given) -> Array:
    bounded([sum(x.size for x in given)])
    return np.concatenate(list(given), node.get("axis", 1))


def _split(node: Node, given: Given) -> tuple[Array, ...]:
    x, axis, count = given[0], node.get("axis", 0), len(node.outputs)
    sizes = whole(given[1]) if len(given) > 1 and given[1] is not None else whole(node.get("split"))
    if not sizes:
        each = -(-x.shape[axis] // count)
        sizes = [each] * (count - 1) + [x.shape[axis] - each * (count - 1)]
    if len(sizes) != count or sum(sizes) != x.shape[axis] or min(sizes) < 0:
        raise ValueError(f"parts of {sizes} do not make {x.shape[axis]}")
    return tuple(np.ascontiguousarray(part) for part in np.split(x, np.cumsum(sizes)[:-1], axis))


def _expand(node: Node, given: Given) -> Array:
    shape = bounded(np.broadcast_shapes(given[0].shape, tuple(whole(given[1]))))
    return np.ascontiguousarray(np.broadcast_to(given[0], shape))


def _tile(node: Node, given: Given) -> Array:
    repeats = whole(given[1])
    bounded([n * m for n, m in zip(given[0].shape, repeats, strict=True)])
    return np.tile(given[0], repeats)


def _pad(node: Node, given: Given) -> Array:
    """Pads in front of all axes, then behind them; negative ones cut."""
    x, *more = given
    if node.opset < 11:
        pads, fill, axes = whole(node.get("pads")), node.get("value", 0.0), list(range(x.ndim))
    else:
        pads, fill, axes = (*more, None, None, None)[:3]
        pads, axes = whole(pads), whole(axes) or list(range(x.ndim))
    both = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        both[axis] = pads[i], pads[len(axes) + i]
    bounded([max(0, n + sum(part)) for n, part in zip(x.shape, both, strict=True)])
    cut = x[tuple(slice(max(0, -a), n - max(0, -b)) for n, (a, b) in zip(x.shape, both, strict=True))]
    each = [(max(0, a), max(0, b)) for a, b in both]
    mode = node.get("mode", "constant")
    if mode == "constant":
        return np.pad(cut, each, constant_values=0 if fill is None else np.ravel(fill)[0])
    modes: dict[str, Any] = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}
    return np.pad(cut, each, mode=modes[mode])


def _depth_to_space(node: Node, given: Given) -> Array:
    x, b = given[0], node.get("blocksize")
    n, c, h, w = x.shape
    if node.get("mode", "DCR") == "DCR":
        parts = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return np.ascontiguousarray(parts.reshape(n, c // (b * b), h * b, w * b))


def _space_to_depth(node: Node, given: Given) -> Array:
    x, b = given[0], node.get("blocksize")
    n, c, h, w = x.shape
    order = (0, 3, 5, 1, 2, 4) if node.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    parts = x.reshape(n, c, h // b, b, w // b, b).transpose(order)
    return np.ascontiguousarray(parts.reshape(n, c * b * b, h // b, w // b))


def _shape(node: Node, given: Given) -> Array:
    start, end = node.get("start", 0), node.get("end")
    return np.array(given[0].shape[start:end], np.int64)


def _size(node: Node, given: Given) -> Array:
    return np.array(given[0].size, np.int64)


def _filled(node: Node, given: Given) -> Array:
    value = np.ravel(node.get("value", np.zeros(1, np.float32)))
    return np.full(bounded(whole(given[0])), value[0], value.dtype)


def _range(node: Node, given: Given) -> Array:
    start, limit, step = (np.ravel(part)[0] for part in given)
    bounded([max(0, int(np.ceil((float(limit) - float(start)) / float(step))))])
    return np.arange(start, limit, step, dtype=given[0].dtype)


def _where(node: Node, given: Given) -> Array:
    bounded(np.broadcast_shapes(*(np.shape(x) for x in given)))
    return np.asarray(np.where(given[0].astype(bool), given[1], given[2]))


def _first(node: Node, given: Given) -> Array:
    return given[0]


def _check_dropout(site: PlacedNode) -> None:
    """What drops nothing is read: without a mode of training, which draws numbers."""
    if site.is_given(2) and (not site.is_fixed(2) or np.any(site.constant(2))):
        raise Missing("it may train, and then drops values at random")


def _dropout(node: Node, given: Given) -> tuple[Array, Array]:
    return given[0], np.ones(np.shape(given[0]), bool)


def _types_of_dropout(node: Node, type_of: Callable[[int, str], str]) -> list[str]:
    return [type_of(0, "float32"), "bool"]


def _kind(moves: Callable[..., Any], code: Callable[..., Any] = c_of_moves, **more: Any) -> Kind:
    return Kind(moves=moves, rule="moves codes", code=code, **more)


F32 = np.float32


def _make_concat(site: PlacedNode) -> NodeRunner:
    node = site.node
    if len(node.inputs) < 5 or (len(node.inputs) - 2) % 3:
        raise Missing(f"it has {len(node.inputs)} inputs")
    axis = node.get("axis")
    if axis is None:
        raise Missing("it has no axis")
    if all(site.is_fixed(i) for i in range(len(node.inputs)) if i % 3 != 2):
        fixed: list[Any] = [site.constant(i) for i in range(len(node.inputs)) if i % 3 != 2]
        op = onnx.QLinearConcat(fixed[0], fixed[1], fixed[2::2], fixed[3::2], axis=axis)
        return NodeRunner(lambda given: op(list(given[2::3])), op)
    return NodeRunner(lambda given: onnx.qlinear_concat(*given[:2], *(list(given[i::3]) for i in (2, 3, 4)), axis=axis))


def _c_of_qlinear_concat(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """A table for each input that has other numbers than the result."""
    y = graph.tensors[op.outputs[0]]
    each = (
        [numbers_of_input(op, graph, place) for place in range(2, len(op.inputs), 3)]
        if len(op.inputs) % 3 == 2
        else [None]
    )
    if not has_numbers(op, graph, ()) or None in each:
        return None
    n, lines, constants = made.name, ["    (void)input;"], {}
    lowest = int(np.iinfo(y.dtype).min)
    other = F32(y.scale), zero_of(y)
    for i, own in enumerate(each):
        if own is not None and own != other:
            constants[f"table{i}"] = np.roll(table_between(own, other, np.dtype(y.dtype)), -lowest)
            lines.append(f"    if (input == {i})\n        return {n}_table{i}[x - ({lowest})];")
    code = function(n, "int32_t x, int input", [*lines, "    return x;"])
    return made._replace(constants=constants, code=code, arguments=("x", "input"))


def _types_filled(node: Node, type_of: Callable[[int, str], str]) -> list[str]:
    return [np.asarray(node.get("value", np.zeros(1, np.float32))).dtype.name]


def _types_chosen(node: Node, type_of: Callable[[int, str], str]) -> list[str]:
    return [type_of(1, type_of(0, "float32"))]


def _inputs_of_concat(node: Node) -> Spec:
    """Behind the numbers of the result, each input has its own."""
    each = range((len(node.inputs) - 2) // 3)
    return Spec(tuple(QuantizedInput(2 + 3 * i, 3 + 3 * i, 4 + 3 * i) for i in each), (0, 1), "Concat")


KINDS = {
    "Reshape": _kind(_reshape, folds=True, least=1, crosses_pairs=True),
    "Transpose": _kind(_transpose, folds=True, least=1, crosses_pairs=True),
    "Flatten": _kind(_flatten, folds=True),
    "Squeeze": _kind(_squeeze, folds=True, least=1, crosses_pairs=True),
    "Unsqueeze": _kind(_unsqueeze, folds=True, least=1, crosses_pairs=True),
    "Slice": _kind(_slice, folds=True, least=1, crosses_pairs=True),
    "Gather": _kind(_gather),
    "Concat": _kind(_concat, c_of_joined, folds=True, operands=(None,)),
    "Split": _kind(_split, results=0),
    "Expand": _kind(_expand),
    "Tile": _kind(_tile),
    "Pad": _kind(_pad),
    "DepthToSpace": _kind(_depth_to_space),
    "SpaceToDepth": _kind(_space_to_depth),
    "Identity": _kind(_first, folds=True, least=1),
    "Dropout": _kind(_dropout, results=2, check=_check_dropout, result=_types_of_dropout),
    "Where": _kind(
        _where,
        c_of_expression("condition ? a : b", ("condition", "a", "b")),
        operands=(1, 3),
        result=_types_chosen,
    ),
    "Shape": _kind(_shape, c_of_shapes, result="int64"),
    "Size": _kind(_size, c_of_shapes, result="int64"),
    "ConstantOfShape": _kind(_filled, c_of_told, result=_types_filled),
    "Range": _kind(_range, c_of_told),
    "QLinearConcat": Kind(
        make=_make_concat, is_own=True, rule="ort", inputs_of=_inputs_of_concat, code=_c_of_qlinear_concat
    ),
}
