"""What sums can be for every input, from numbers alone: lanes, accumulators, and inputs that leave them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops import codes
from qops.models.lanes.route import Route
from qops.models.lanes.sums import Sums

__all__ = ["Accumulator", "SaturatingInput", "WorstCase", "accumulator", "bits_of", "worst"]


class SaturatingInput(NamedTuple):
    """An input that saturates, as the machine multiplies it: `machine.dot` gives `there`, and the sum is `exact`.

    Attributes
    ----------
    channel : int
        The output channel.
    x, w : ndarray
        Codes along k, data and weights, of the types of the machine.
    exact, there : int
        The sum of products, and what the machine makes of it.
    """

    channel: int
    x: NDArray[Any]
    w: NDArray[Any]
    exact: int
    there: int


class WorstCase(NamedTuple):
    """What the lanes of a layer can meet.

    Attributes
    ----------
    unsafe : ndarray of bool, (outputs, lanes)
        Which groups of products can leave their lane.
    loss : ndarray of int64, (outputs,)
        The most that one sum can lose.
    witness : SaturatingInput or None
        An input that saturates, of the group that leaves its lane the farthest.
    """

    unsafe: NDArray[np.bool_]
    loss: NDArray[np.int64]
    witness: SaturatingInput | None


class Accumulator(NamedTuple):
    """What the accumulator of a layer has to hold: ``(x - x_zero) * (w - w_zero)`` added up, and the bias.

    Attributes
    ----------
    lowest, highest : int
        The ends of the sums for all inputs.
    bits : int
        The bits that they need, with a sign.
    has : int
        The bits that the machine has.
    bias_bits : int or None
        The bits that the bias needs; 0 without a bias, None if it is real values and the scale of the data is not
        known.
    channels : ndarray of int64
        The output channels whose sums can leave the accumulator.
    bias_channels : ndarray of int64
        The output channels whose bias alone does not fit: it is stored in the type of the accumulator.
    """

    lowest: int
    highest: int
    bits: int
    has: int
    bias_bits: int | None
    channels: NDArray[np.int64]
    bias_channels: NDArray[np.int64]


def bits_of(lowest: int, highest: int) -> int:
    """Give the bits of the narrowest signed integer that holds both ends.

    Examples
    --------
    >>> from qops.models.lanes.worst import bits_of
    >>> bits_of(-128, 127), bits_of(0, 128), bits_of(0, 0)
    (8, 9, 1)
    """
    return 1 + max((n if n >= 0 else ~n).bit_length() for n in (int(lowest), int(highest)))


def _products(w: NDArray[np.int64], ends: tuple[int, int], how: Route) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the lowest and the highest product of each weight."""
    machine = how.machine
    if machine.magnitudes:  # the product with -128 is not monotone, its ends may lie around 0
        each = [machine.products(np.array(code), w) for code in _candidates(ends)]
        return np.min(each, axis=0), np.max(each, axis=0)
    one, other = (w * code for code in ends)
    return np.minimum(one, other), np.maximum(one, other)


def _candidates(ends: tuple[int, int]) -> list[int]:
    return [*ends, *(min(max(code, ends[0]), ends[1]) for code in (-1, 0, 1))]


def _codes(row: NDArray[np.int64], ends: tuple[int, int], how: Route, highest: bool) -> NDArray[np.int64]:
    """Give the codes of the data that make the highest products, or the lowest, with one row of weights."""
    each = _candidates(ends)
    made = np.stack([how.machine.products(np.array(code), row) for code in each])
    return np.array(each)[made.argmax(axis=0) if highest else made.argmin(axis=0)]


def _lanes(sums: NDArray[np.int64], how: Route) -> NDArray[np.int64]:
    """Add the products of each lane; where the lane is the accumulator, all of them are in one."""
    return how.machine.groups(sums).sum(axis=-1)


def worst(sums: Sums, how: Route) -> WorstCase:
    """Tell which groups of products can leave their lane; this is necessary and sufficient.

    Parameters
    ----------
    sums : Sums
        The layer.
    how : Route
        How it runs.

    Returns
    -------
    WorstCase
    """
    w = how.laid(sums.weights, sums, how.w_shift).reshape(sums.outputs, -1)
    pad = 0 if how.is_padding_outside else sums.x_zero + how.x_shift
    channels, found = sums.weights.shape[2], None
    for inside in sums.inside(0 if how.is_padding_outside else sums.x_zero):
        taps = np.broadcast_to(inside, (channels, inside.size))
        fixed = None if inside.all() else (how.laid(taps, sums, 0) == 0, pad)
        found = _both(found, _at_one_place(w, sums, how, fixed))
    assert found is not None
    return found


_Fixed: TypeAlias = tuple[NDArray[np.bool_], int] | None
"""Where along k padding stands, and its code; None if there is none."""


def _at_one_place(w: NDArray[np.int64], sums: Sums, how: Route, fixed: _Fixed) -> WorstCase:
    """Tell what the lanes can meet where the window lies so."""
    machine = how.machine
    ends = sums.x_ends[0] + how.x_shift, sums.x_ends[1] + how.x_shift
    low, high = _products(w, ends, how)
    if fixed is not None:
        low, high = (np.where(fixed[0], machine.products(np.array(fixed[1]), w), made) for made in (low, high))
    low, high = _lanes(low, how), _lanes(high, how)
    if machine.bits == machine.acc_bits:
        low, high = _running(low, high, machine.overflow == "saturates")
    unsafe = (high > machine.highest) | (low < machine.lowest)
    loss = np.maximum((high - machine.kept(high)).sum(-1), (machine.kept(low) - low).sum(-1))
    if machine.magnitudes and ends[0] < 0:
        lowest = codes.TABLE[machine.right].lowest
        wrong = machine.groups((w == lowest) & (True if fixed is None else ~fixed[0] | (fixed[1] < 0)))
        unsafe |= wrong.any(axis=-1)
        loss = loss + wrong.sum(axis=(-1, -2)) * (2 * -ends[0] * -lowest)
    if not unsafe.any():
        return WorstCase(unsafe, loss, None)
    return WorstCase(unsafe, loss, _witness(w, ends, (low, high), how, how.places(sums) >= 0, fixed))


def _both(one: WorstCase | None, other: WorstCase) -> WorstCase:
    if one is None:
        return other
    return WorstCase(one.unsafe | other.unsafe, np.maximum(one.loss, other.loss), one.witness or other.witness)


def _running(low: NDArray[np.int64], high: NDArray[np.int64], saturates: bool) -> tuple[Any, Any]:
    """Give the ends of an accumulator that is its own lane: of each sum on the way if it saturates, or the last."""
    if not saturates:
        return low.sum(-1, keepdims=True), high.sum(-1, keepdims=True)
    return np.cumsum(low, -1), np.cumsum(high, -1)


def _witness(
    w: NDArray[np.int64],
    ends: tuple[int, int],
    reach: tuple[NDArray[np.int64], NDArray[np.int64]],
    how: Route,
    is_product: NDArray[np.bool_],
    fixed: _Fixed,
) -> SaturatingInput:
    """Give an input that saturates: the ends of codes in the lane that goes the farthest, and 0 elsewhere."""
    machine = how.machine
    excess = np.stack([machine.lowest - reach[0], reach[1] - machine.highest])
    end, o, lane = (int(i) for i in np.unravel_index(int(np.argmax(excess)), excess.shape))
    row = w[o]
    if excess[end, o, lane] <= 0:  # only a sign is lost
        o, k = np.argwhere(w == codes.TABLE[machine.right].lowest)[0]
        row = w[o]
        x = np.full(row.shape, min(max(0, ends[0]), ends[1]), np.int64)
        x[k] = ends[0]
    else:
        x = _codes(row, ends, how, bool(end))
        if machine.bits < machine.acc_bits and ends[0] <= 0 <= ends[1]:
            place = machine.groups(np.arange(row.size) + 1)[lane] - 1  # -1 is a place that was filled up
            keeps = np.zeros(row.size, np.bool_)
            keeps[place[place >= 0]] = True
            x = np.where(keeps, x, 0)
    if fixed is not None:
        x = np.where(fixed[0], fixed[1], x)
    return _checked(int(o), np.where(is_product, x, 0), row, how)


def _checked(channel: int, x: NDArray[np.int64], w: NDArray[np.int64], how: Route) -> SaturatingInput:
    machine = how.machine
    left, right = (w, x) if how.swapped else (x, w)
    a, b = left.astype(codes.TABLE[machine.left].dtype), right.astype(codes.TABLE[machine.right].dtype)
    there = int(machine.dot(a, b))
    return SaturatingInput(channel, b if how.swapped else a, a if how.swapped else b, int(x @ w), there)


def accumulator(sums: Sums, how: Route) -> Accumulator:
    """Give what the accumulator of a layer has to hold for every input.

    Parameters
    ----------
    sums : Sums
        The layer.
    how : Route
        How it runs.

    Returns
    -------
    Accumulator
    """
    w = sums.weights.reshape(sums.outputs, -1).astype(np.int64) - np.reshape(sums.w_zero, (-1, 1))
    zeros = sums.x_ends if sums.any_zero else (sums.x_zero,)
    both = [(lo - zero, hi - zero) for zero in zeros for lo, hi in [sums.x_ends]]
    bias = np.zeros(1, np.int64) if sums.bias is None else np.asarray(sums.bias).reshape(-1).astype(np.int64)
    low = np.min([np.minimum(w * lo, w * hi).sum(-1) for lo, hi in both], axis=0) + bias
    high = np.max([np.maximum(w * lo, w * hi).sum(-1) for lo, hi in both], axis=0) + bias
    has = how.machine.acc_bits
    half = 1 << has - 1
    lowest, highest = (int(low.min()), int(high.max())) if low.size else (0, 0)
    needs = bits_of(int(bias.min(initial=0)), int(bias.max(initial=0))) if sums.bias is not None and bias.size else 0
    return Accumulator(
        *(lowest, highest, bits_of(lowest, highest), has, None if sums.is_real_bias else needs),
        *(np.flatnonzero((low < -half) | (high >= half)), np.flatnonzero((bias < -half) | (bias >= half))),
    )
