"""The sums that a supernode watches to find its output range, which are not only those of its results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib.supernode import channel_extremes, fraction_extremes
from qops.nnlib.node_range import Ends, Gain, NodeRange

__all__ = ["Extremes", "Watched", "extremes", "next_range", "watched"]

Extremes: TypeAlias = tuple[int, int]
Integers: TypeAlias = NDArray[np.int64]


class Watched(NamedTuple):
    """Sums of some channels, the extremes of each channel among them, and how they count.

    `spread` is None where the sums are known. Where pixels that memory happens to hold are among them, it is what these
    may take from a sum and add to it, and the sums are without them.
    """

    sums: NDArray[np.int32]
    lowest: Integers
    highest: Integers
    channels: slice | Integers = slice(None)
    """Whose multipliers are used."""
    words: slice | Integers = slice(None)
    """Whose words are added."""
    spread: tuple[Integers, Integers] | None = None
    is_shifted_twice: bool = False
    needs_shift: bool = False
    """Whether the highest sums are only seen if the left shift is not 0."""


def watched(sums: NDArray[np.int32], channels: slice | Integers = slice(None), **how: Any) -> Watched:
    """Give the sums (..., n) with the extremes of each channel."""
    rows = np.ascontiguousarray(sums.reshape(-1, sums.shape[-1]))
    lowest, highest = channel_extremes(rows)
    return Watched(sums, lowest, highest, channels, **how)


def wrap(x: Integers) -> Integers:
    """Give the low 32 bits, as integers with a sign."""
    return x.astype(np.int32).astype(np.int64)


def extremes(seen: Iterable[Watched], words: Integers, gain: Gain, possible: bool = False) -> Extremes:
    """Give the extremes of the results, in output steps; 0 is among them, as channels that fill up a vector are.

    Of sums that are not known, `possible` gives the farthest that they may be; else they are left out.
    """
    lowest = highest = 0
    for part in seen:
        if part.spread is not None and not possible:
            continue
        low, high, own = part.lowest, part.highest, words[part.words]
        if part.spread is not None:
            low, high = low + part.spread[0], high + part.spread[1]
        by = gain.multipliers if len(gain.multipliers) == 1 else gain.multipliers[part.channels]
        found = fraction_extremes(low, high, own, by, gain.left_shift, part.is_shifted_twice)
        if found is None:  # some sums wrap, which need not be the extremes
            rows = wrap(part.sums.reshape(-1, part.sums.shape[-1]) + own)
            of_rows = rows.min(0), rows.max(0), np.zeros_like(own)
            found = fraction_extremes(*of_rows, by, gain.left_shift, part.is_shifted_twice)
        least, most = found
        lowest = min(lowest, least)
        if gain.left_shift or not part.needs_shift:
            highest = max(highest, most)
    return lowest, highest


def next_range(
    ends: NodeRange, seen: list[Watched], words: Integers, gain: Gain, keeps_given: bool = False
) -> Ends | None:
    """Give the range of the next pass, None if there is none; ValueError if it depends on what memory holds."""
    known = extremes(seen, words, gain)
    found = ends.retried(gain.step, *known, keeps_given)
    if any(part.spread for part in seen):
        may_be = extremes(seen, words, gain, possible=True)
        low, high = min(known[0], may_be[0]), max(known[1], may_be[1])
        if {
            ends.retried(gain.step, *pair, keeps_given) for pair in ((low, high), (low, known[1]), (known[0], high))
        } != {found}:
            raise bad_value(
                "guess_min, guess_max",
                "the range depends on bytes beside the image that the original does not set, as "
                "it also watches columns beyond the last one; give both ends",
            )
    return found
