"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qops import tflite
from qops.models.code.tables import c_of_table
from qops.models.cut import Index, inside_window
from qops.models.graph import Graph
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Values
from qops.models.tflite.cut import CutOperator
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind, always
from qops.models.tflite.site import Maker, OperatorRunner, PlacedOperator, activated
from qops.models.tflite.windows import axes_of, windows_of

__all__ = ["KINDS"]


def _make_pool(maker: Callable[..., Any]) -> Maker:
    def make(site: PlacedOperator) -> OperatorRunner:
        window = site.options["FilterHeight"], site.options["FilterWidth"]
        how = {**site.x(), **site.y, **site.moves, **site.activation, **site.own()}
        return OperatorRunner((0,), maker(window=window, **how))

    return make


def _real_pool(op: Operator, x: Values, reduce: Callable[..., Values], fill: float) -> Values:
    taps = op.options["FilterHeight"], op.options["FilterWidth"]
    return activated(op, reduce(windows_of(op, x, taps, fill), axis=(-1, -2)))


def _cut_pooled(operator: Operator, given: Sequence[Any], index: Index) -> CutOperator:
    """The pixels of a window that are inside of the image."""
    (x,), o = given, operator.options
    axes = axes_of(operator, x.shape, (o["FilterHeight"], o["FilterWidth"]))
    image = inside_window(x[index[0], ..., index[3]], axes, index[1:3])[None, ..., None]
    fits = {"FilterHeight": image.shape[1], "FilterWidth": image.shape[2], "StrideH": 1, "StrideW": 1, "Padding": 1}
    how = f"one channel of one window, {image.shape[1]} x {image.shape[2]} codes"
    return CutOperator(replace(operator, options={**o, **fits}), [image], [(1, 1, 1, 1)], (0, 0, 0, 0), how)


def _c_of_average(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """An average is rounded half away from code 0."""
    constants = _clamp(op, target)
    if not constants:
        return None
    lo, hi = (f"{made.name}_{end}" for end in constants)
    lines = [f"    return average_pool_away_stored(sum, count, {lo}, {hi});"]
    code = function(made.name, "int32_t sum, int32_t count", lines)
    rules = ["average_pool away-stored"]
    return made._replace(rules=rules, constants=constants, code=code, arguments=("sum", "count"))


def _c_of_maximum(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """The largest code, clamped; a window of one tap that takes codes to another scale is a table."""
    constants = _clamp(op, target)
    if not constants:
        return c_of_table(made, op, graph, target)
    lo, hi = (f"{made.name}_{end}" for end in constants)
    lines = [f"    return largest < {lo} ? {lo} : largest > {hi} ? {hi} : largest;"]
    code = function(made.name, "int32_t largest", lines)
    return made._replace(constants=constants, code=code, arguments=("largest",))


def _clamp(op: Op, target: Target) -> dict[str, Any]:
    """Give the lowest and the highest code of a pool; nothing where it does not clamp."""
    integers = getattr(op.prepared, "integers", None) or {}
    return {name: integers[end] for name, end in zip(target.ends, ("qmin", "qmax"), strict=True) if end in integers}


KINDS = {
    "AVERAGE_POOL_2D": Kind(
        make=_make_pool(tflite.AveragePool2D),
        real=lambda operator, given: _real_pool(operator, given[0], np.nanmean, np.nan),
        cut=_cut_pooled,
        code=_c_of_average,
        schema="Pool2DOptions",
        by_image=always,
    ),
    "MAX_POOL_2D": Kind(
        make=_make_pool(tflite.MaxPool2D),
        real=lambda operator, given: _real_pool(operator, given[0], np.max, -np.inf),
        cut=_cut_pooled,
        code=_c_of_maximum,
        schema="Pool2DOptions",
        by_image=always,
    ),
}
