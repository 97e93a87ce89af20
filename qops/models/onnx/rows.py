"""QLinearSoftmax, Softmax and LogSoftmax."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from qops import onnx
from qops.models.cut import Index
from qops.models.graph import Graph
from qops.models.onnx.code import c_of_codes, constant_ends, has_numbers
from qops.models.onnx.cut import CutNode
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import QuantizedInput, Spec
from qops.models.onnx.kind import Kind
from qops.models.onnx.shapes import shape_of_data
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Values
from qops.onnx.qlinear_softmax import ONE_AXIS

__all__ = ["KINDS"]


Given = Sequence[Any]
F32 = np.float32


def _real_log_softmax(node: Node, given: Given) -> Values:
    """Up to version 12 over all axes from one on, then over one axis."""
    x = given[0]
    if node.opset < 13:
        axis = node.get("axis", 1) % max(x.ndim, 1)
        flat = x.reshape(*x.shape[:axis], prod(x.shape[axis:]))
        return _log_softmax_over(flat, -1).reshape(x.shape)
    return _log_softmax_over(x, node.get("axis", -1))


def _log_softmax_over(x: Values, axis: int) -> Values:
    far = x - x.max(axis, keepdims=True)
    return np.asarray(far - np.log(np.exp(far).sum(axis, keepdims=True)))


def _real_softmax(node: Node, given: Given) -> Values:
    return np.exp(_real_log_softmax(node, given))


def _cut_row(node: Node, data: Sequence[Any], index: Index) -> CutNode | None:
    """Cut out what shares the sum of a softmax: one axis; before version 13, that axis and all behind it."""
    x, is_of_one = data[0], node.get("opset", ONE_AXIS) >= ONE_AXIS
    axis = node.get("axis", -1 if is_of_one else 1) % x.ndim
    if is_of_one:
        row, at = np.moveaxis(x, axis, -1)[(*index[:axis], *index[axis + 1 :])], index[axis]
    else:
        row, at = x[index[:axis]].reshape(-1), int(np.ravel_multi_index(index[axis:], x.shape[axis:]))
    how = f"one row of {row.size} codes"
    return CutNode({**node.attributes, "axis": 1}, {0: row[None]}, (1, row.size), how, (0, at))


def _c_of_softmax(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Exponentials of differences from -255 to 0, for the length that the file tells."""
    x, y = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if op.prepared is None or not has_numbers(op, graph, (0,)):
        return None
    count, n = op.prepared.length_of(tuple(size or 1 for size in x.shape)), made.name
    table, parts = op.prepared.table_of(count)
    constants = {"count": count, "table": table, "parts": int(parts), **constant_ends(y)}
    lines = [
        "    int32_t most = x[0];",
        "    float sum = 0;",
        "    for (int i = 1; i < count; i++)",
        "        most = x[i] > most ? x[i] : most;",
        "    for (int i = 0; i < count; i++)",
        f"        sum += {n}_table[255 + x[i] - most];",
        "    for (int i = 0; i < count; i++) {",
        f"        const double code = rint((double){n}_table[255 + x[i] - most] * {n}_parts / (double)sum)",
        f"            + {n}_output_zero_point;",
        f"        y[i] = code > {n}_output_max ? {n}_output_max : (int32_t)code;",
        "    }",
    ]
    code = function(n, "const int32_t *x, int32_t *y, int count", lines, "void", "row")
    return made._replace(constants=constants, code=code, arguments=("row",))


KINDS = {
    "QLinearSoftmax": Kind(
        function=onnx.qlinear_softmax,
        prepared=onnx.QLinearSoftmax,
        is_own=True,
        rule="ort",
        inputs=Spec((QuantizedInput(0, 1, 2),), (3, 4), "Softmax"),
        cut=_cut_row,
        code=_c_of_softmax,
        rounds_zero_point=True,
    ),
    "Softmax": Kind(real=_real_softmax, code=c_of_codes, least=1, shape=shape_of_data),
    "LogSoftmax": Kind(real=_real_log_softmax, code=c_of_codes),
}
