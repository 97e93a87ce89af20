"""QLinearConcat: tensors of codes, joined in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from qops import onnx
from qops.models.graph import Graph
from qops.models.onnx.code import (
    has_numbers,
    numbers_of_input,
)
from qops.models.onnx.kind import Kind
from qops.models.onnx.site import Made, Site
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import zero_of
from qops.onnx.tables import table_between

__all__ = ["KINDS"]


F32 = np.float32


def _make_concat(site: Site) -> Made:
    node = site.node
    if len(node.inputs) < 5 or (len(node.inputs) - 2) % 3:
        raise Missing(f"it has {len(node.inputs)} inputs")
    axis = node.get("axis")
    if axis is None:
        raise Missing("it has no axis")
    if all(site.is_fixed(i) for i in range(len(node.inputs)) if i % 3 != 2):
        fixed: list[Any] = [site.constant(i) for i in range(len(node.inputs)) if i % 3 != 2]
        op = onnx.QLinearConcat(fixed[0], fixed[1], fixed[2::2], fixed[3::2], axis=axis)
        return Made(lambda given: op(list(given[2::3])), op)
    return Made(lambda given: onnx.qlinear_concat(*given[:2], *(list(given[i::3]) for i in (2, 3, 4)), axis=axis))


def _c_of_concat(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
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


KINDS = {"QLinearConcat": Kind(make=_make_concat, is_own=True, rule="ort", code=_c_of_concat)}
