"""A histogram of real numbers with a fixed number of bins, and the ranges that it gives."""

from __future__ import annotations

from math import frexp, inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.frontdoor.targets import Range

PARTS = 128  # the ends that `least_squares` tries on each side of 0
STRIDE = 8  # bins between the ends that `entropy` tries
_FINEST = -149  # exponent of the smallest float32


class ValueCounts:
    """Counts of values in `2 * half` bins around 0, of one width: the least power of two with which they hold all.

    Bin `k` holds k * width <= x < (k + 1) * width, for k from -half on. A value beyond the bins doubles the width, as
    often as it takes, and two bins become one. So the counts do not depend on the order of the values. Values that are
    exactly 0, which every range has on a code, are counted apart.
    """

    def __init__(self, half: int) -> None:
        """Make an empty one; `half` is a power of two."""
        self.half = half
        self.exponent = _FINEST  # all |x| < 2**exponent
        self.counts: NDArray[Any] = np.zeros(2 * half, np.int64)
        self.zeros = 0
        self.lowest = self.highest = 0.0  # of the values and 0

    @property
    def width(self) -> float:
        """Width of a bin."""
        return 2.0**self.exponent / self.half

    def add(self, x: NDArray[Any]) -> None:
        """Count finite values."""
        self.lowest = min(self.lowest, float(x.min(initial=0)))
        self.highest = max(self.highest, float(x.max(initial=0)))
        self._widen(max(self.exponent, frexp(max(-self.lowest, self.highest))[1]))
        places = np.floor(x * np.float64(1 / self.width)).astype(np.intp) + self.half
        self.counts += np.bincount(places, minlength=2 * self.half)
        zeros = x.size - int(np.count_nonzero(x))
        self.counts[self.half] -= zeros
        self.zeros += zeros

    def merge(self, other: ValueCounts) -> None:
        """Count the values of another one, which has as many bins."""
        self.lowest, self.highest = min(self.lowest, other.lowest), max(self.highest, other.highest)
        exponent = max(self.exponent, other.exponent)
        self._widen(exponent)
        self.counts += other._folded(exponent)
        self.zeros += other.zeros

    def _widen(self, exponent: int) -> None:
        self.counts, self.exponent = self._folded(exponent), exponent

    def _folded(self, exponent: int) -> NDArray[Any]:
        """Give the counts in bins that are wider by a power of two."""
        if exponent == self.exponent:
            return self.counts
        counts = np.zeros_like(self.counts)
        places = np.arange(-self.half, self.half) >> min(exponent - self.exponent, 62)
        np.add.at(counts, places + self.half, self.counts)
        return counts

    def magnitudes(self) -> NDArray[Any]:
        """Counts of |x| > 0, in `half` bins."""
        return self.counts[self.half :] + self.counts[self.half - 1 :: -1]

    def middles(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The middles of bins that hold something, and their counts."""
        (places,) = np.nonzero(self.counts)
        return (places - self.half + 0.5) * self.width, self.counts[places]


def quantile(counts: NDArray[Any], share: float) -> float:
    """The first place below which a share of the counts lies, in bins; counts are evenly spread within a bin."""
    up_to = np.cumsum(counts)
    wanted = share * up_to[-1]
    place = int(np.searchsorted(up_to, wanted))
    return place + 1 - float(up_to[place] - wanted) / max(int(counts[place]), 1)


def percentile(h: ValueCounts, percent: float, symmetric: bool) -> Range:
    """Leave out the largest |x|, or as much at both ends."""
    if symmetric:
        counts = h.magnitudes()
        counts[0] += h.zeros
        top = min(quantile(counts, percent / 100) * h.width, max(-h.lowest, h.highest))
        return -top, top
    counts = h.counts.copy()
    counts[h.half] += h.zeros
    out = (1 - percent / 100) / 2
    low, high = (max(h.lowest, min(h.highest, (quantile(counts, p) - h.half) * h.width)) for p in (out, 1 - out))
    return min(0.0, low), max(0.0, high)


def squares(h: ValueCounts, lo: NDArray[Any], hi: NDArray[Any], steps: int) -> NDArray[Any]:
    """Sum of squared errors of codes in each range (lo, hi), with 0 on a code, of the middles of all bins."""
    x, counts = h.middles()
    step = ((hi - lo) / steps)[:, np.newaxis]
    zero = np.rint(-lo[:, np.newaxis] / step)
    codes = np.clip(np.rint(x / step), -zero, steps - zero)
    found: NDArray[Any] = ((codes * step - x) ** 2) @ counts
    return found


def least_squares(h: ValueCounts, steps: int, symmetric: bool) -> Range:
    """Of parts of the range of all values, find the one with the least squared error; the wider one of equals."""
    parts = np.arange(PARTS, 0, -1) / PARTS
    if symmetric:
        tops = max(-h.lowest, h.highest) * parts
        half = (steps - 1) / 2
        best = float(tops[np.argmin(squares(h, -tops * (half + 1) / half, tops, steps))])
        return -best, best
    lows, highs = h.lowest * parts, h.highest * parts
    low, high = h.lowest, h.highest
    for _ in range(PARTS):  # one end after the other, until neither moves
        before = low, high
        if h.highest > 0:
            high = float(highs[np.argmin(squares(h, np.full(PARTS, low), highs, steps))])
        if h.lowest < 0:
            low = float(lows[np.argmin(squares(h, lows, np.full(PARTS, high), steps))])
        if before == (low, high):
            break
    return low, high


def divergence(counts: NDArray[Any], kept: int, levels: int) -> float:
    """KL divergence from the first `kept` bins, what is beyond counted in the last of them, to what `levels` leave."""
    p = counts[:kept].astype(np.float64)
    level = np.arange(kept) * levels // kept
    sums = np.bincount(level, p, levels)
    p[-1] += counts[kept:].sum()
    there = p > 0
    q = (sums / np.maximum(np.bincount(level, there, levels), 1))[level]  # spread over the bins that hold something
    if (q[there] == 0).any():
        return inf
    p, q = p[there], q[there]
    total = float(q.sum())
    return float((p * np.log(p / q)).sum() / p.sum() + log(total / p.sum()))


def entropy(h: ValueCounts, levels: int) -> float:
    """The largest |x| to keep, so that the divergence is least; the wider one of equals."""
    counts = h.magnitudes()
    used = int(np.flatnonzero(counts)[-1]) + 1
    tries = range(used, min(levels, used) - 1, -STRIDE)
    best = min(tries, key=lambda kept: divergence(counts, kept, min(levels, kept)))
    return min(best * h.width, max(-h.lowest, h.highest))
