"""CONCATENATION, PAD and PADV2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from qops import tflite
from qops.models.code.places import placed, size_of
from qops.models.graph import Graph
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Tensor, Values, zero_of
from qops.models.tflite.cut import Cut, Index, with_data
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import MOST, Made, Site, activated

__all__ = ["KINDS"]


Given = Sequence[Any]


def _make_concatenated(site: Site) -> Made:
    parts = range(len(site.operator.inputs))
    each = [site.x(i) for i in parts]
    scales, zeros = ([numbers[f"x_{word}"] for numbers in each] for word in ("scale", "zero_point"))
    how = {**site.y, **site.activation, "axis": site.options["Axis"]}
    for i in parts:
        how |= site.own(i)  # each has the type of the result
    op = tflite.Concatenation(**how, x_scale=scales, x_zero_point=zeros)
    op.shape_of([(0,) * len(site.tensor(i).shape) for i in parts])  # refuses before it runs
    return Made(tuple(parts), lambda *arrays: op(arrays), prepared=op)


def _make_padded(site: Site) -> Made:
    x, pads = site.tensor(0), site.constant(1)
    if prod(n or 1 for n in site.outputs[0].shape) > MOST or np.abs(pads.astype(np.float64)).max(initial=0) > MOST:
        raise Missing("its result is too large")
    if site.kind == "PADV2":
        tensors = (x, site.tensor(2), site.outputs[0])
        if len({site.numbers("t", tensor)["t_zero_point"] for tensor in tensors}) > 1:
            raise Missing("its data, its value and its result have several zero points")
        return Made((0,), tflite.PadV2(pads, int(site.constant(2).reshape(-1)[0]), **site.own()))
    zeros = {"x_zero_point": site.x()["x_zero_point"], "y_zero_point": site.y["y_zero_point"]}
    return Made((0,), tflite.Pad(pads, **zeros, dtype=x.dtype, kernel=site.kernel))


def _real_padded(op: Operator, given: Given) -> Values:
    x, pads, fill = (*given, 0.0)[:3]
    return np.pad(x, [tuple(map(int, row)) for row in pads], constant_values=float(np.ravel(fill)[0]))


def _real_concatenated(op: Operator, given: Given) -> Values:
    return activated(op, np.concatenate(list(given), op.options["Axis"]))


def _cut_concatenated(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    """CONCATENATION: one element of the input that it stands in."""
    axis, at = operator.options.get("Axis", 0) % given[0].ndim, list(index)
    ends = np.cumsum([x.shape[axis] for x in given])
    which = int(np.searchsorted(ends, at[axis], "right"))
    tensor, x = operator.inputs[which], given[which]
    at[axis] -= int(ends[which]) - x.shape[axis]
    one = x[tuple(slice(n, n + 1) for n in at)]
    held = tensor if tensor is None or tensor.data is None else with_data(tensor, one)
    return Cut(replace(operator, inputs=[held]), [one], [one.shape], (0,) * one.ndim, "one element of one input")


def _scale_of(tensor: Tensor) -> float:
    return 1.0 if tensor.scale is None else float(tensor.scale)


def _c_of_concatenation(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """A copy, or of uint8 of other scales a table for each input."""
    tensors, y = [graph.tensors[name] for name in op.inputs], graph.tensors[op.outputs[0]]
    n, lines = made.name, ["    (void)input;"]
    constants: dict[str, Any] = {}
    for i, x in enumerate(tensors):
        if y.dtype == "uint8" and (x.scale, x.zero_point) != (y.scale, y.zero_point):
            every = np.arange(256, dtype=np.uint8)
            numbers: dict[str, Any] = {"x_scale": _scale_of(x), "x_zero_point": zero_of(x)}
            numbers |= {"y_scale": _scale_of(y), "y_zero_point": zero_of(y), "kernel": target.runtime}
            constants[f"table{i}"] = tflite.concatenation([every], axis=0, **numbers)
            lines.append(f"    if (input == {i})\n        return {n}_table{i}[x];")
    code = function(n, "int32_t x, int input", [*lines, "    return x;"])
    return made._replace(constants=constants, code=code, arguments=("x", "input"))


def _c_of_pad(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """Make PAD or PADV2: the padding is the code of real 0, or the given one."""
    integers, shape = op.prepared.integers, size_of(graph, op.reads[0])
    places = np.pad(np.arange(prod(shape)).reshape(shape), integers["paddings"], constant_values=-1)
    return placed(made._replace(constants=integers), (places,))


KINDS = {
    "CONCATENATION": Kind(
        make=_make_concatenated,
        real=_real_concatenated,
        cut=_cut_concatenated,
        code=_c_of_concatenation,
        schema="ConcatenationOptions",
    ),
    "PAD": Kind(make=_make_padded, real=_real_padded, code=_c_of_pad),
    "PADV2": Kind(make=_make_padded, real=_real_padded, code=_c_of_pad),
}
