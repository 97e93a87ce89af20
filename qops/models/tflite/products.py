"""FULLY_CONNECTED and BATCH_MATMUL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from qops import tflite
from qops.models.code.sums import c_of_sums
from qops.models.code.tables import with_ends
from qops.models.cut import Index, needed, sized
from qops.models.graph import Graph
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target, call, ending, factors, function
from qops.models.tensor import Tensor, Values, zero_of
from qops.models.tflite.cut import CutOperator, arrays_of, of_channel, with_data
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import HybridLayer, Kind, always
from qops.models.tflite.layers import real_layer, sums_made
from qops.models.tflite.site import OperatorRunner, PlacedOperator
from qops.tflite.hybrid import fully_connected_steps
from qops.tflite.kernels import KERNELS

__all__ = ["KINDS"]


Given = Sequence[Any]


def _make_connected(site: PlacedOperator) -> OperatorRunner:
    how = {**site.x(), **site.weights(1, 0), **site.y, **site.activation}
    if site.options.get("WeightsFormat"):
        raise Missing("its weights are shuffled")
    keeps = bool(site.options.get("KeepNumDims", False))
    op = tflite.FullyConnected(site.constant(1), site.bias(2), **how, **site.own(), keep_num_dims=keeps)
    return sums_made(site, op, _connected_sums, checks_bias_scale=True)


def _connected_sums(op: Operator, x: Values, w: Values) -> Values:
    keeps = op.options.get("KeepNumDims", False)
    rows = x if keeps and x.shape[-1] == w.shape[1] else x.reshape(-1, w.shape[1])
    return rows @ w.T


def _cut_connected(operator: Operator, given: Sequence[Any], index: Index) -> CutOperator:
    """One row of weights on one row of data."""
    x, w, o = given[0], given[1], index[-1]
    keeps = operator.options.get("KeepNumDims", False)
    row = x[index[:-1]] if keeps else x.reshape(-1, w.shape[1])[index[0]]
    (kept,) = needed(row, zero_of(operator.inputs[0]), w[o], zero_of(operator.inputs[1]))
    made = replace(operator, inputs=of_channel(operator, w[o, kept][None], given[2:], o))
    how = sized("output of one row", row.shape, kept.shape)
    return CutOperator(made, arrays_of(made, row[kept][None]), [(1, 1)], (0, 0), how)


def _make_matmul(site: PlacedOperator) -> OperatorRunner:
    b = site.tensor(1)
    if b.scale is not None and b.scale.ndim:
        return _make_matmul_of_channels(site)
    how = {**site.numbers("a", site.tensor(0)), **site.numbers("b", b), **site.y, "kernel": site.kernel}
    how |= {"adj_x": bool(site.options.get("AdjX")), "adj_y": bool(site.options.get("AdjY"))}
    if site.tensor(1).data is None:
        return OperatorRunner((0, 1), partial(tflite.batch_matmul, **how))
    return OperatorRunner((0,), tflite.BatchMatmul(site.constant(1), **how, dtype=site.tensor(0).dtype))


def _make_matmul_of_channels(site: PlacedOperator) -> OperatorRunner:
    """A scale for each channel of b: TFLM takes the first for all, LiteRT takes 0, so that all codes are those of 0."""
    b, y = site.tensor(1), site.outputs[0]
    assert b.scale is not None
    assert b.zero_point is not None
    if b.zero_point.any() or b.data is None or site.tensor(0).dtype != "int8":
        raise Missing(f"{b.name!r} has a scale for each channel, and is no constant of int8 without zero points")
    first = replace(b, scale=b.scale.reshape(-1)[0], zero_point=np.zeros((), np.int64), axis=None)
    inputs = [site.tensor(0), first, *site.operator.inputs[2:]]
    made = _make_matmul(PlacedOperator(replace(site.operator, inputs=inputs), site.kernel))
    if KERNELS[site.kernel].ratio is np.float64:
        return made
    run, zero = made.run, zero_of(y)
    return OperatorRunner((0,), lambda a: np.full_like(run(a), zero))


def _real_matmul(op: Operator, given: Given) -> Values:
    a, b = given
    a = a.swapaxes(-1, -2) if op.options.get("AdjX") else a
    return a @ (b.swapaxes(-1, -2) if op.options.get("AdjY") else b)


def _cut_matrices(operator: Operator, given: Sequence[Any], index: Index) -> CutOperator | None:
    """One row on one column."""
    a, b = given
    transposes = [bool(operator.options.get(name)) for name in ("AdjX", "AdjY")]
    rows, columns = (x.swapaxes(-1, -2) if transposed else x for x, transposed in zip(given, transposes, strict=True))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    row = np.broadcast_to(rows, (*batch, *rows.shape[-2:]))[index[:-1]]
    column = np.broadcast_to(columns, (*batch, *columns.shape[-2:]))[index[:-2]][:, index[-1]]
    (kept,) = needed(row, zero_of(operator.inputs[0]), column, zero_of(operator.inputs[1]))
    few = [row[kept][None], column[kept][:, None]]
    few = [x.T.copy() if transposed else x for x, transposed in zip(few, transposes, strict=True)]
    tensors = [t if t is None or t.data is None else with_data(t, x) for t, x in zip(operator.inputs, few, strict=True)]
    how = sized("output of one row", row.shape, kept.shape)
    return CutOperator(replace(operator, inputs=tensors), list(few), [(1, 1)], (0, 0), how)


def _scale_of(tensor: Tensor) -> float:
    return 1.0 if tensor.scale is None else float(tensor.scale)


def _c_of_matmul(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """BATCH_MATMUL: the sums of products of codes less their zero points, by one factor."""
    a, b, y = (graph.tensors[name] for name in (*op.inputs[:2], op.outputs[0]))
    if a.dtype not in ("int8", "int16") or any(t.scale is None or t.scale.ndim for t in (a, b, y)):
        return None
    given: dict[str, Any] = {"dtype": a.dtype, "kernel": target.runtime}
    for x, t in (("a", a), ("b", b), ("y", y)):
        given |= {f"{x}_scale": _scale_of(t), f"{x}_zero_point": zero_of(t)}
    stage = tflite.BatchMatmul(np.zeros((1, 1), a.dtype), **given).requantize  # whatever is multiplied
    rule = target.wide if a.dtype == "int16" else stage.rule
    constants = {f"input{i}_{ending(target)}": target.sign * zero_of(t) for i, t in ((1, a), (2, b))}
    constants |= {**with_ends(y, target), **factors(stage, rule)}
    sum_of = "(int64_t)sum" if a.dtype == "int16" else "(int32_t)sum"
    line = f"    return {call(made.name, rule, sum_of, '', (target.offsets[2], *target.ends))};"
    code = function(made.name, "int64_t sum, int channel", ["    (void)channel;", line])
    return made._replace(rules=[rule], constants=constants, code=code, arguments=("sum", "channel"))


KINDS = {
    "FULLY_CONNECTED": Kind(
        make=_make_connected,
        real=real_layer(_connected_sums),
        hybrid=HybridLayer(_connected_sums, fully_connected_steps, is_matrix=True),
        cut=_cut_connected,
        code=c_of_sums,
        sums_for=("cmsis-nn",),
        schema="FullyConnectedOptions",
        version=4,
        sums=(0, 1),
        by_image=always,
    ),
    "BATCH_MATMUL": Kind(
        make=_make_matmul, real=_real_matmul, cut=_cut_matrices, code=_c_of_matmul, schema="BatchMatMulOptions"
    ),
}
