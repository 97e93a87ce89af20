"""Weights that no input can saturate: other types, other pairs, wider scales; and a model file with other types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice
from qops.tools.saturation.route import Route, route
from qops.tools.saturation.sums import Sums
from qops.tools.saturation.worst import worst

__all__ = ["REPAIRS", "Repair", "repaired"]

_STEP = 1.002
"""By how much a scale is widened until no pair is unsafe: a quarter of a code of 127."""


class Repair(NamedTuple):
    """Weights that are safe for every input, and what they cost.

    Attributes
    ----------
    how : str
        The change.
    weights : ndarray, (groups, outputs of a group, channels of a group, taps)
        The new codes.
    zero_point : int or ndarray
        Their zero point.
    scale : ndarray of float64, (outputs,)
        What the scale of the weights of each output channel is multiplied by.
    channels : ndarray of int64 or None
        "pairs": which channel of the data stands at each place, -1 for one that is added, where data have their zero
        point.
    rows : int
        How many output channels are changed.
    error : float
        The largest change of a weight, in steps of its old scale; 0 for exact repairs.
    """

    how: str
    weights: NDArray[Any]
    zero_point: Any
    scale: NDArray[np.float64]
    channels: NDArray[np.int64] | None
    rows: int
    error: float


def repaired(
    sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_], name: str, runtime: str
) -> Repair:
    """Give weights that no input can saturate.

    Parameters
    ----------
    sums : Sums
        The layer.
    how : Route
        How it runs.
    unsafe : ndarray of bool, (outputs, lanes)
        Which groups can leave their lane.
    rows : ndarray of bool, (outputs,)
        The output channels that "widen" may change.
    name : str
        A name of `REPAIRS`.
    runtime : str
        Whose kernels run the new weights.

    Returns
    -------
    Repair

    Raises
    ------
    ValueError
        Another name; a repair that this layer cannot have.
    """
    make = REPAIRS[choice(name, "how", REPAIRS)]
    if not unsafe.any():
        raise bad_value("layer", f"no lane of {sums.name!r} can be left, there is nothing to repair")
    if how.machine.bits == how.machine.acc_bits or how.machine.magnitudes:
        raise bad_value("how", f"{name!r} repairs narrow lanes of plain products, not those of {how.machine.name}")
    made = make(sums, how, unsafe, rows)
    new = replace(sums, weights=made.weights, w_zero=made.zero_point)
    left = worst(new, route(new, how.machine, runtime)).unsafe.any(axis=1) & rows
    if left.any():
        raise bad_value(
            "how", f"{name!r} leaves {np.count_nonzero(left)} channels of {sums.name!r} unsafe on {runtime!r}"
        )
    return made


def _types(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """The same real values as codes of the other type, which differ by 128."""
    other = np.dtype(np.int8 if sums.w_type == "u8" else np.uint8)
    shift = 128 if other == np.uint8 else -128
    codes = (sums.weights.astype(np.int64) + shift).astype(other)
    return Repair("types", codes, np.asarray(sums.w_zero) + shift, np.ones(sums.outputs), None, sums.outputs, 0.0)


def _narrowed(sums: Sums, scale: NDArray[np.float64], how: str) -> Repair:
    w, zero = sums.weights.reshape(sums.outputs, -1), np.reshape(sums.w_zero, (-1, 1))
    made = _at(w, zero, scale)
    real = (made.astype(np.float64) - zero) * scale[:, None]
    off = np.abs(real - (w.astype(np.float64) - zero)).max(initial=0.0)
    rows = int(np.count_nonzero(scale != 1))
    return Repair(how, made.reshape(sums.weights.shape), sums.w_zero, scale, None, rows, float(off))


def _at(w: NDArray[Any], zero: NDArray[Any], scale: NDArray[np.float64]) -> NDArray[Any]:
    return np.rint((w.astype(np.float64) - zero) / scale[:, None] + zero).astype(w.dtype)


def _halved(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """7 bits in all weights."""
    return _narrowed(sums, np.full(sums.outputs, 2.0), "reduce_range")


def _widened(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """The scale of each row that is to change, as much wider as it takes."""
    scale, wrong = np.ones(sums.outputs), unsafe.any(axis=1) & rows
    while wrong.any():
        scale[wrong] *= _STEP
        if scale.max() > sums.length * 256:
            raise bad_value("how", "no scale makes these weights safe, as their zero points are not 0")
        w = _at(sums.weights.reshape(sums.outputs, -1), np.reshape(sums.w_zero, (-1, 1)), scale)
        wrong = worst(replace(sums, weights=w.reshape(sums.weights.shape)), how).unsafe.any(axis=1) & rows
    return _narrowed(sums, scale, "widen")


def _paired(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """Channels of the data in an order in which no two neighbours can leave the lane, 0 beside those left over."""
    if len(sums.weights) > 1 or (how.machine.group, how.machine.distance) != (2, 1) or how.order == "channels, taps":
        raise bad_value("how", "'pairs' needs lanes of two neighbours, and a layer of one group")
    w = sums.weights[0].astype(np.int64) + how.w_shift  # (outputs, channels, taps)
    low, high = (reach(w * (end + how.x_shift) for end in sums.x_ends) for reach in (_least, _most))
    left, order = [int(c) for c in np.argsort(-np.abs(w).max(axis=(0, 2)), kind="stable")], []
    while left:
        first, *left = left
        place = next((i for i in range(len(left) - 1, -1, -1) if _fits(low, high, first, left[i], how)), None)
        order += [first, -1 if place is None else left.pop(place)]
    channels = np.array(order, np.int64)
    made = sums.weights[:, :, channels]
    made[:, :, channels < 0] = -how.w_shift
    return Repair("pairs", made, sums.w_zero, np.ones(sums.outputs), channels, sums.outputs, 0.0)


def _least(parts: Any) -> NDArray[np.int64]:
    return np.minimum(*parts)


def _most(parts: Any) -> NDArray[np.int64]:
    return np.maximum(*parts)


def _fits(low: NDArray[np.int64], high: NDArray[np.int64], a: int, b: int, how: Route) -> bool:
    """Whether the products of two channels fit one lane, for all outputs and taps."""
    machine = how.machine
    fits = (high[:, a] + high[:, b] <= machine.highest) & (low[:, a] + low[:, b] >= machine.lowest)
    return bool(fits.all())


REPAIRS: dict[str, Callable[[Sums, Route, NDArray[np.bool_], NDArray[np.bool_]], Repair]] = {
    "types": _types,
    "pairs": _paired,
    "widen": _widened,
    "reduce_range": _halved,
}
"""The changes, by what they cost: the first two are exact, the third changes some rows, the last all."""
