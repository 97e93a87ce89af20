"""MEAN, SUM, REDUCE_MAX and REDUCE_MIN: operators along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import floor, log2, prod
from typing import Any

import numpy as np

from qops import tflite
from qops.models.code.tables import with_ends
from qops.models.cut import Index
from qops.models.graph import Graph
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, call, function
from qops.models.tensor import Values, zero_of
from qops.models.tflite.cut import CutOperator
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import Maker, OperatorRunner, PlacedOperator

__all__ = ["KINDS"]


Given = Sequence[Any]
F32 = np.float32


def _make_reduced(maker: Callable[..., Any]) -> Maker:
    def make(site: PlacedOperator) -> OperatorRunner:
        keeps = bool(site.options.get("KeepDims", False))
        return OperatorRunner((0,), maker(site.constant(1), keep_dims=keeps, **site.x(), **site.y, **site.own()))

    return make


def _real_reduced(reduce: Callable[..., Any]) -> Callable[[Operator, Given], Values]:
    def run(op: Operator, given: Given) -> Values:
        x, axes = given
        axis = tuple({int(a) % x.ndim for a in np.ravel(axes)})
        return np.asarray(reduce(x, axis=axis, keepdims=bool(op.options.get("KeepDims", False))))

    return run


def _cut_along_axes(operator: Operator, given: Sequence[Any], index: Index) -> CutOperator:
    """MEAN, SUM and their like: the codes that make one element."""
    x, axes = given[0], given[1]
    taken = {int(axis) % x.ndim for axis in np.ravel(axes)}
    left = [axis for axis in range(x.ndim) if axis not in taken]
    keeps = operator.options.get("KeepDims", False)
    at = dict(zip(left, [index[axis] for axis in left] if keeps else index, strict=True))
    few = x[tuple(slice(at[axis], at[axis] + 1) if axis in at else slice(None) for axis in range(x.ndim))]
    shape = (1,) * len(index)
    return CutOperator(operator, [few, axes], [shape], (0,) * len(index), f"one element of {few.size} codes")


def _c_of_most(which: str) -> Callable[..., PortedLayer]:
    def make(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
        code = function(made.name, f"int32_t {which}", [f"    return {which};"])
        return made._replace(code=code, arguments=(which,))

    return make


def _count(op: Op, graph: Graph) -> int:
    """How many codes make one, of the shapes of the file; the first axis is 1 where it is not told."""
    x, axes = graph.tensors[op.reads[0]], graph.tensors[op.inputs[1]].data
    shape = [size or 1 for size in x.shape]
    taken = {int(axis) % max(len(shape), 1) for axis in np.ravel([] if axes is None else axes)}
    return prod(shape[axis] for axis in taken)


def _c_of_reduced(made: PortedLayer, op: Op, graph: Graph, target: Target, is_mean: bool) -> PortedLayer | None:
    """MEAN and SUM: the sum of stored codes, less as many zero points, by one factor; XNNPACK scales both apart."""
    n, count, integers = made.name, _count(op, graph), op.prepared.integers
    x, y = graph.tensors[op.reads[0]], graph.tensors[op.outputs[0]]
    x_scale, y_scale = (F32(1 if t.scale is None else t.scale) for t in (x, y))
    constants = {"count": count, target.offsets[0]: target.sign * zero_of(x), **with_ends(y, target)}
    centred = f"sum {'+' if target.sign < 0 else '-'} {n}_count * {n}_{target.offsets[0]}"
    if integers:
        m, e = integers["multiplier"], integers["shift"]
        k = min(floor(log2(count)), 32, 31 + e) if is_mean else 0
        numbers = {"multiplier": (m << k) // (count if is_mean else 1), "shift": e - k}
        rule = "tflite-double"
    elif target.runtime == "xnnpack" and x.dtype != "int16":
        scale = x_scale / y_scale * (F32(1) / F32(count) if is_mean else F32(1))
        constants |= {"scale": scale, "bias": F32(zero_of(y)) - F32(count * zero_of(x)) * scale}
        lo, hi = (f"{n}_{end}" for end in target.ends)
        lines = [
            f"    const volatile float product = (float)sum * {n}_scale; /* volatile: never one fma with the sum */",
            f"    const float code = rintf(product + {n}_bias);",
            f"    return code < {lo} ? {lo} : code > {hi} ? {hi} : (int32_t)code;",
        ]
        code = function(n, "int32_t sum", lines)
        return made._replace(constants=constants, code=code, arguments=("sum",))
    else:
        return None
    line = f"    return {call(n, rule, centred, '', (target.offsets[2], *target.ends))};"
    code = function(n, "int32_t sum", [line])
    return made._replace(rules=[rule], constants={**constants, **numbers}, code=code, arguments=("sum",))


def _kind(maker: Callable[..., Any], reduce: Callable[..., Any], code: Callable[..., Any], adds: bool = False) -> Kind:
    make, real = _make_reduced(maker), _real_reduced(reduce)
    return Kind(make=make, real=real, cut=_cut_along_axes, code=code, schema="ReducerOptions", adds=adds)


KINDS = {
    "MEAN": _kind(tflite.Mean, np.mean, partial(_c_of_reduced, is_mean=True), adds=True),
    "SUM": _kind(tflite.Sum, np.sum, partial(_c_of_reduced, is_mean=False), adds=True),
    "REDUCE_MAX": _kind(tflite.ReduceMax, np.max, _c_of_most("largest")),
    "REDUCE_MIN": _kind(tflite.ReduceMin, np.min, _c_of_most("smallest")),
}
