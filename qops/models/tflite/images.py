"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from qops import tflite
from qops.models.code.places import placed, size_of
from qops.models.graph import Graph
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Values
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import Maker, OperatorRunner, PlacedOperator

__all__ = ["KINDS"]


Given = Sequence[Any]


def _make_resized(maker: Callable[..., Any]) -> Maker:
    def make(site: PlacedOperator) -> OperatorRunner:
        flags = {"align_corners": "AlignCorners", "half_pixel_centers": "HalfPixelCenters"}
        given = {name: bool(site.options.get(field, False)) for name, field in flags.items()}
        return OperatorRunner((0,), maker(site.size(1), **given, **site.own()))

    return make


def _real_resized(op: Operator, given: Given, nearest: bool) -> Values:
    """Read the images at the positions of the new pixels, between pixels or at the nearest."""
    x, size = given
    for axis, count in zip((1, 2), (int(n) for n in np.ravel(size)), strict=True):
        at = _positions(op, x.shape[axis], count, nearest)
        if nearest:
            x = x.take(np.clip(at, 0, x.shape[axis] - 1).astype(int), axis)
            continue
        low = np.clip(np.floor(at), 0, x.shape[axis] - 1).astype(int)
        high = np.minimum(low + 1, x.shape[axis] - 1)
        part = np.clip(at - low, 0, 1).reshape([-1 if i == axis else 1 for i in range(4)])
        x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
    return np.asarray(x)


def _positions(op: Operator, n: int, count: int, nearest: bool) -> Values:
    corners, half = op.options.get("AlignCorners", False), op.options.get("HalfPixelCenters", False)
    scale = (n - 1) / (count - 1) if corners and count > 1 else n / count
    at = (np.arange(count) + (0.5 if half else 0.0)) * scale
    if nearest:
        return np.asarray(np.floor(at + 0.5) if corners else np.floor(at))
    return np.asarray(np.maximum(at - 0.5, 0) if half else at)


def _c_of_nearest(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    shape = size_of(graph, op.reads[0])
    rows, columns = op.prepared.places(shape)
    return placed(made, (np.arange(prod(shape)).reshape(shape)[:, rows][:, :, columns],))


def _c_of_bilinear(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """Four pixels by two weights, at a row, a column and a channel of the result."""
    n, (_, _, width, channels) = made.name, size_of(graph, op.reads[0])
    constants: dict[str, Any] = {"input_w": width, "input_c": channels}
    for axis, places in zip(("rows", "columns"), op.prepared.places(size_of(graph, op.reads[0])), strict=True):
        lower, upper = (part.astype(np.int32) for part in places[:2])
        weights = places.fraction if op.prepared.arithmetic == "floats" else places.fraction.astype(np.int32)
        constants |= {f"{axis}_lower": lower, f"{axis}_upper": upper, f"{axis}_weight": weights}
    kind = "float" if op.prepared.arithmetic == "floats" else "int64_t"
    lines = [
        f"    const int32_t *above = x + {n}_rows_lower[row] * {n}_input_w * {n}_input_c + channel;",
        f"    const int32_t *below = x + {n}_rows_upper[row] * {n}_input_w * {n}_input_c + channel;",
        f"    const int32_t left = {n}_columns_lower[column] * {n}_input_c;",
        f"    const int32_t right = {n}_columns_upper[column] * {n}_input_c;",
        f"    const {kind} v = {n}_rows_weight[row], h = {n}_columns_weight[column];",
        *_BETWEEN[op.prepared.arithmetic],
    ]
    arguments = "const int32_t *x, int32_t row, int32_t column, int32_t channel"
    return made._replace(constants=constants, code=function(n, arguments, lines), arguments=("pixel",))


_BETWEEN = {
    "10 bits": [
        "    const int64_t total = above[left] * (1024 - v) * (1024 - h) + below[left] * v * (1024 - h)",
        "        + above[right] * (1024 - v) * h + below[right] * v * h;",
        "    return (int32_t)(total < 0 ? -((-total + (1 << 19)) >> 20) : (total + (1 << 19)) >> 20);",
    ],
    "11 bits": [
        "    const int64_t upper = above[left] * 2048 + (above[right] - above[left]) * h;",
        "    const int64_t lower = below[left] * 2048 + (below[right] - below[left]) * h;",
        "    const int64_t total = upper * 2048 + (lower - upper) * v + (1 << 21);",
        "    return (int32_t)((total + (256 << 22)) >> 22) - 256; /* no shift of a negative number */",
    ],
    "floats": [
        "    const volatile float a = (float)above[left] * (1 - v) * (1 - h); /* volatile: no fma */",
        "    const volatile float b = (float)below[left] * v * (1 - h);",
        "    const volatile float c = (float)above[right] * (1 - v) * h;",
        "    const volatile float d = (float)below[right] * v * h;",
        "    return (int32_t)(a + b + c + d + 0.5f);",
    ],
}
"""The last lines of RESIZE_BILINEAR, by its arithmetic."""


KINDS = {
    "RESIZE_BILINEAR": Kind(
        make=_make_resized(tflite.ResizeBilinear),
        real=partial(_real_resized, nearest=False),
        code=_c_of_bilinear,
        schema="ResizeBilinearOptions",
    ),
    "RESIZE_NEAREST_NEIGHBOR": Kind(
        make=_make_resized(tflite.ResizeNearestNeighbor),
        real=partial(_real_resized, nearest=True),
        code=_c_of_nearest,
        schema="ResizeNearestNeighborOptions",
    ),
}
