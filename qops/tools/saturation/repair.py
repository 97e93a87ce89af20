"""Weights and data that no input can saturate: other types, other pairs, wider scales, 7 bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice
from qops.models.lanes.route import Route, route
from qops.models.lanes.sums import Sums
from qops.models.lanes.worst import worst
from qops.tools.saturation.matching import pairs_of

__all__ = ["EXACT", "REPAIRS", "Repair", "narrowed", "repaired"]

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
        "pairs": which channel of the data stands at each place, those of one group after those of another; -1 for
        one that is added, where data have their zero point.
    rows : int
        How many output channels are changed.
    error : float
        The largest change of a weight, in steps of its old scale; 0 for exact repairs and for data of 7 bits.
    data_shift : int
        "data": what is added to codes of the data and to their zero point.
    data_scale : float
        "data_7_bits": what the scale of the data is multiplied by. Their codes are 0 to 127 then, the zero point half.
    """

    how: str
    weights: NDArray[Any]
    zero_point: Any
    scale: NDArray[np.float64]
    channels: NDArray[np.int64] | None
    rows: int
    error: float
    data_shift: int = 0
    data_scale: float = 1.0


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
        The output channels that "widen" and "reduce_range" may change.
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
        why = f": {how.why}" if how.why else ""
        raise bad_value("layer", f"no lane of {sums.name!r} can be left, there is nothing to repair{why}")
    if how.machine.bits == how.machine.acc_bits or how.machine.magnitudes:
        raise bad_value("how", f"{name!r} repairs narrow lanes of plain products, not those of {how.machine.name}")
    made = make(sums, how, unsafe, rows)
    left = _left(sums, made, how, runtime) & rows
    if left.any():
        raise bad_value(
            "how", f"{name!r} leaves {np.count_nonzero(left)} channels of {sums.name!r} unsafe on {runtime!r}"
        )
    return made


def _left(sums: Sums, made: Repair, how: Route, runtime: str) -> NDArray[np.bool_]:
    """Tell which channels a repair leaves unsafe."""
    new = replace(sums, weights=made.weights, w_zero=made.zero_point)
    if made.data_shift:
        ends = sums.x_ends[0] + made.data_shift, sums.x_ends[1] + made.data_shift
        new = replace(new, x_type="s8", x_ends=ends, x_zero=sums.x_zero + made.data_shift)
    if made.data_scale != 1:
        new = replace(new, x_ends=(0, 127), x_zero=round(sums.x_zero / 2))
    return np.asarray(worst(new, route(new, how.machine, runtime)).unsafe.any(axis=1))


def _signed(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """Data of int8, whose codes are 128 less; their real values stay."""
    if sums.x_type != "u8":
        raise bad_value("how", f"'data' makes int8 of uint8, and the data of {sums.name!r} are {sums.x_type}")
    return _other_data(sums, "data", data_shift=-128)


def _of_7_bits(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """Data whose codes are 0 to 127."""
    if sums.x_type != "u8" or sums.as_uint8:
        raise bad_value("how", f"'data_7_bits' halves codes of uint8, and the data of {sums.name!r} are others")
    return _other_data(sums, "data_7_bits", data_scale=2.0)


def _other_data(sums: Sums, how: str, **more: Any) -> Repair:
    """Give the weights as they are, with other data."""
    return Repair(how, sums.weights, sums.w_zero, np.ones(sums.outputs), None, 0, 0.0, **more)


def _types(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """Weights of the other type, whose codes differ by 128; their real values stay."""
    other = np.dtype(np.int8 if sums.w_type == "u8" else np.uint8)
    shift = 128 if other == np.uint8 else -128
    codes = (sums.weights.astype(np.int64) + shift).astype(other)
    return Repair("types", codes, np.asarray(sums.w_zero) + shift, np.ones(sums.outputs), None, sums.outputs, 0.0)


def narrowed(sums: Sums, scale: NDArray[np.float64], how: str) -> Repair:
    """Give weights with wider scales.

    Parameters
    ----------
    sums : Sums
        The layer.
    scale : ndarray of float64, (outputs,)
        What the scale of each output channel is multiplied by.
    how : str
        The name of the repair.

    Returns
    -------
    Repair
    """
    w, zero = sums.weights.reshape(sums.outputs, -1), np.reshape(sums.w_zero, (-1, 1))
    made = _at(w, zero, scale)
    real = (made.astype(np.float64) - zero) * scale[:, None]
    off = np.abs(real - (w.astype(np.float64) - zero)).max(initial=0.0)
    rows = int(np.count_nonzero(scale != 1))
    return Repair(how, made.reshape(sums.weights.shape), sums.w_zero, scale, None, rows, float(off))


def _at(w: NDArray[Any], zero: NDArray[Any], scale: NDArray[np.float64]) -> NDArray[Any]:
    return np.rint((w.astype(np.float64) - zero) / scale[:, None] + zero).astype(w.dtype)


def _halved(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """7 bits in all weights, or in those of some output channels."""
    return narrowed(sums, np.where(rows, 2.0, 1.0), "reduce_range")


def _widened(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """The scale of each row that is to change, as much wider as it takes: bisection over steps of a scale."""
    wrong = unsafe.any(axis=1) & rows
    low, high = np.zeros(sums.outputs), np.where(wrong, np.ceil(np.log(sums.length * 256) / np.log(_STEP)), 0)
    if _is_unsafe_at(sums, how, high)[wrong].any():
        raise bad_value("how", "no scale makes these weights safe, as their zero points are not 0")
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, high)
        is_unsafe = _is_unsafe_at(sums, how, middle) & (high - low > 1)
        low, high = np.where(is_unsafe, middle, low), np.where(is_unsafe, high, middle)
    return narrowed(sums, _STEP**high, "widen")


def _is_unsafe_at(sums: Sums, how: Route, steps: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which channels are unsafe with scales that are so many steps wider."""
    w = _at(sums.weights.reshape(sums.outputs, -1), np.reshape(sums.w_zero, (-1, 1)), _STEP**steps)
    return np.asarray(worst(replace(sums, weights=w.reshape(sums.weights.shape)), how).unsafe.any(axis=1))


def _paired(sums: Sums, how: Route, unsafe: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Repair:
    """Channels of the data in an order in which no two neighbours can leave the lane, 0 beside those left over."""
    if (how.machine.group, how.machine.distance) != (2, 1) or how.order in ("channels, taps", "taps by columns"):
        raise bad_value("how", "'pairs' needs lanes of two neighbours, and channels that stand together")
    ends = [end + how.x_shift for end in sums.x_ends]
    if sums.window is not None and not how.is_padding_outside:
        ends.append(sums.x_zero + how.x_shift)
    orders = [_order_of(w.astype(np.int64) + how.w_shift, ends, how) for w in sums.weights]
    places = max(map(len, orders))
    orders = [[*order, *[-1] * (places - len(order))] for order in orders]
    made = np.stack([w[:, order] for w, order in zip(sums.weights, orders, strict=True)])
    for w, order in zip(made, orders, strict=True):
        w[:, np.array(order) < 0] = -how.w_shift
    each = sums.weights.shape[2]
    channels = [[-1 if c < 0 else g * each + c for c in order] for g, order in enumerate(orders)]
    return Repair("pairs", made, sums.w_zero, np.ones(sums.outputs), np.ravel(channels), sums.outputs, 0.0)


def _order_of(w: NDArray[np.int64], ends: list[int], how: Route) -> list[int]:
    """Give the channels of (outputs, channels, taps) in pairs, -1 beside those that fit beside no other."""
    low, high = (reach([w * end for end in ends], axis=0) for reach in (np.min, np.max))
    machine, count = how.machine, w.shape[1]
    fits = np.zeros((count, count), np.bool_)
    for i in range(count):
        top, bottom = high[:, i, None] + high[:, i:], low[:, i, None] + low[:, i:]
        fits[i, i:] = ((top <= machine.highest) & (bottom >= machine.lowest)).all(axis=(0, 2))
    by_size = np.argsort(-np.abs(w).max(axis=(0, 2)), kind="stable")
    return pairs_of(fits | fits.T, by_size)


REPAIRS: dict[str, Callable[[Sums, Route, NDArray[np.bool_], NDArray[np.bool_]], Repair]] = {
    "types": _types,
    "data": _signed,
    "pairs": _paired,
    "widen": _widened,
    "reduce_range": _halved,
    "data_7_bits": _of_7_bits,
}
"""The changes, by what they cost: the first three are exact, the fourth changes some rows, the others all."""
EXACT = ("types", "data", "pairs")
