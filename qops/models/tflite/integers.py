"""ARG_MAX, ARG_MIN, CAST, SHAPE, RANGE, REDUCE_PROD and FLOOR_DIV give integers; GATHER_ND and TILE move elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.code.places import c_of_moves, c_of_place
from qops.models.graph import Graph
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import MOST, Maker, OperatorRunner, PlacedOperator

__all__ = ["KINDS", "no_c"]

Array = NDArray[Any]


def _make_place(find: Callable[..., Any]) -> Maker:
    """ARG_MAX or ARG_MIN: the first place of the largest or smallest along one axis."""

    def make(site: PlacedOperator) -> OperatorRunner:
        axis, dtype = int(site.constant(1).reshape(-1)[0]), _integer(site)

        def run(x: Array) -> Array:
            if x.dtype.kind == "f" and np.isnan(x).any():
                raise ValueError("its data hold a NaN, which has no place in an order")
            return np.asarray(find(x, axis), dtype)

        return OperatorRunner((0,), run)

    return make


def _integer(site: PlacedOperator) -> str:
    """Give the type of the result, which has places or sizes."""
    dtype = site.outputs[0].dtype
    if dtype not in ("int32", "int64"):
        raise Missing(f"its result {site.outputs[0].name!r} is {dtype}, where places are int32 or int64")
    return dtype


def _make_shape(site: PlacedOperator) -> OperatorRunner:
    dtype = _integer(site)
    return OperatorRunner((0,), lambda x: np.array(x.shape, dtype))


def _make_range(site: PlacedOperator) -> OperatorRunner:
    """RANGE of int32 or int64: from the first number on, in steps of the third, to before the second."""
    dtype = _integer(site)
    for i in range(3):
        if site.tensor(i).dtype != dtype:
            raise Missing(f"{site.tensor(i).name!r} is {site.tensor(i).dtype}, where {dtype} is expected")

    def run(*given: Array) -> Array:
        start, limit, step = (int(x.reshape(-1)[0]) for x in given)
        if step == 0 or (limit - start) * step < 0:
            raise ValueError(f"RANGE goes from {start} to {limit} in steps of {step}")
        if (limit - start) // step > MOST:
            raise ValueError(f"RANGE from {start} to {limit} in steps of {step} has more than {MOST} numbers")
        return np.arange(start, limit, step).astype(dtype)

    return OperatorRunner((0, 1, 2), run)


_CASTS = ("float32", "int8", "uint8", "int16", "int32", "int64", "bool")


def _make_cast(site: PlacedOperator) -> OperatorRunner:
    """Integers wrap; floats are cut off at the point, and refused where the integer type does not hold them.

    Codes are cast as the numbers that they are: LiteRT does not look at scales.
    """
    x, y = site.tensor(0), site.outputs[0]
    for tensor in (x, y):
        if tensor.dtype not in _CASTS:
            raise Missing(f"{tensor.name!r} is {tensor.dtype}, which qops does not cast")

    def run(data: Array) -> Array:
        if data.dtype.kind == "f" and y.dtype not in ("float32", "bool"):
            info, whole = np.iinfo(y.dtype), np.trunc(data.astype(np.float64))
            if not np.all((whole >= info.min) & (whole < float(info.max) + 1)):
                raise ValueError(f"its data hold what {y.dtype} does not")
            return whole.astype(y.dtype)
        return data.astype(y.dtype)

    return OperatorRunner((0,), run)


def _make_floor_div(site: PlacedOperator) -> OperatorRunner:
    """Floats are divided in float32; FLOOR of the quotient, which is rounded before. Codes are divided as they are."""
    a, b = site.tensor(0), site.tensor(1)
    for tensor in (a, b, site.outputs[0]):
        if tensor.dtype != a.dtype or tensor.dtype not in ("int8", "int16", "int32", "float32"):
            raise Missing(f"{tensor.name!r} is {tensor.dtype}, where int8, int16, int32 or float32 is expected")

    def run(x: Array, y: Array) -> Array:
        if not np.all(y):
            raise ValueError("it divides by 0")
        if x.dtype.kind == "f":
            return np.asarray(np.floor(x / y))
        if x.dtype == np.int32 and ((x == np.iinfo(np.int32).min) & (y == -1)).any():
            raise ValueError("it divides -2**31 by -1, which int32 does not hold")
        return np.floor_divide(x.astype(np.int64), y).astype(x.dtype)  # narrower types wrap

    return OperatorRunner((0, 1), run)


def _make_product(site: PlacedOperator) -> OperatorRunner:
    """REDUCE_PROD of int32, as networks multiply sizes; it wraps."""
    x, y = site.tensor(0), site.outputs[0]
    if x.dtype != "int32" or y.dtype != "int32":
        raise Missing(f"{x.name!r} is {x.dtype}, where int32 is expected")
    axes, keep = tuple(site.constant(1).reshape(-1).tolist()), bool(site.options.get("KeepDims", False))

    def run(data: Array) -> Array:
        return np.asarray(np.prod(data, axis=axes, dtype=np.int32, keepdims=keep))

    return OperatorRunner((0,), run)


def _gather_nd(op: Operator, given: Sequence[Any]) -> tuple[Array]:
    """The last axis of the indices counts along the first axes of the data."""
    x, places = given[0], np.asarray(given[1]).astype(np.int64)
    depth = places.shape[-1] if places.ndim else 0
    if not 0 < depth <= x.ndim or np.any(places < 0) or np.any(places >= np.array(x.shape[:depth])):
        raise ValueError(f"GATHER_ND has indices outside of data of shape {x.shape}")
    return (np.ascontiguousarray(x[tuple(np.moveaxis(places, -1, 0))]),)


def _tile(op: Operator, given: Sequence[Any]) -> tuple[Array]:
    x, times = given[0], [int(n) for n in np.ravel(given[1])]
    if len(times) != x.ndim or any(n < 0 for n in times) or prod(times) * x.size > MOST:
        raise ValueError(f"TILE of data of shape {x.shape} has multiples {times!s:.80}")
    return (np.tile(x, times),)


def _c_of_place(sign: str) -> Callable[..., PortedLayer]:
    def code(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
        return c_of_place(made, sign)

    return code


def no_c(made: PortedLayer, op: Op, graph: Graph, target: Target) -> None:
    """Sizes, casts, quotients and comparisons are the compiler's own."""


KINDS = {
    "ARG_MAX": Kind(make=_make_place(np.argmax), code=_c_of_place(">"), schema="ArgMaxOptions"),
    "ARG_MIN": Kind(make=_make_place(np.argmin), code=_c_of_place("<"), schema="ArgMinOptions"),
    "CAST": Kind(make=_make_cast, code=no_c, schema="CastOptions", version=1),
    "SHAPE": Kind(make=_make_shape, code=no_c, schema="ShapeOptions", version=1),
    "RANGE": Kind(make=_make_range, code=no_c, schema="RangeOptions", version=1),
    "FLOOR_DIV": Kind(make=_make_floor_div, code=no_c, schema="FloorDivOptions", version=1),
    "REDUCE_PROD": Kind(make=_make_product, code=no_c, schema="ReducerOptions", version=1),
    "GATHER_ND": Kind(moves=_gather_nd, code=c_of_moves, schema="GatherNdOptions"),
    "TILE": Kind(moves=_tile, code=c_of_moves, schema="TileOptions"),
}
