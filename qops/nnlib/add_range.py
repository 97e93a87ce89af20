"""How nnlib's adds into 8 bits find and move their output range, from pass to pass and from call to call.

The rules are float32: each operation is done on Python floats, exactly or nearly so, and rounded by `f32`.
"""

from __future__ import annotations

from typing import TypeAlias

from qops._kernels.nnlib.ranges import f32, moved

__all__ = ["Ends", "Guess", "chosen", "retried", "widened"]

Ends: TypeAlias = tuple[float, float]

MORE, SPARE, NARROWEST = f32(1.2), f32(0.15), f32(1e-4)


class Guess:
    """The given ends of the output range; a free end is None."""

    def __init__(self, lo: float | None, hi: float | None) -> None:
        self.min, self.max = lo, hi
        self.fixed = (lo is not None) + 2 * (hi is not None)  # as `adjust_minmax_fixed` takes it

    def start(self) -> Ends:
        """Give the range of a node that has not run: (0, 0.5), with given ends in place; two of them are adjusted."""
        ends = 0.0 if self.min is None else self.min, 0.5 if self.max is None else self.max
        return self.adjusted(ends) if self.fixed == 3 else ends

    def adjusted(self, ends: Ends) -> Ends:
        """Move the range until 0 is on a code."""
        _, lo, hi = moved(*ends, self.fixed, 0.0)
        return lo, hi


def retried(ends: Ends, found: Ends, coarse: float, guess: Guess) -> Ends | None:
    """``spec``: give the range of the next pass by the first rule that holds, None if none does.

    `found` is the range of the sums, `coarse` the width of the range of the coarse operand.
    """
    lo, hi = ends
    if guess.max is None and found[1] > hi:
        return lo, f32(found[1] * MORE)
    if guess.min is None and found[0] < lo:
        return f32(found[0] * MORE), hi
    if guess.max is None and f32(hi - lo) < coarse:
        return lo, f32(coarse + lo)
    return None


def chosen(ends: Ends | None, guess: Guess, lowest: float, highest: float) -> Ends:
    """``flat``: give the range of a run whose sums may be `lowest` to `highest`; `ends` is that of the last run."""
    highest = max(highest, f32(lowest + f32(0.001)))
    return first(guess, lowest, highest) if ends is None else grown(ends, guess, lowest, highest)


def first(guess: Guess, lowest: float, highest: float) -> Ends:
    """Give an eighth of lowest..highest. If an end is given, the range is as wide, or reaches 0."""
    lo, hi = f32(lowest * 0.125), f32(highest * 0.125)
    width = f32(hi - lo)
    if guess.min is not None:
        lo, hi = guess.min, max(0.0, f32(guess.min + width))
    elif guess.max is not None:
        lo, hi = min(0.0, f32(guess.max - width)), guess.max
    return guess.adjusted((lo, hi))


def grown(ends: Ends, guess: Guess, lowest: float, highest: float) -> Ends:
    """Give a range at least a 32nd as wide as lowest..highest; it never becomes narrower."""
    lo, hi = ends
    full, now = f32(highest - lowest), f32(hi - lo)
    excess = f32(full - f32(now * 32))
    if not excess > 0:
        return ends
    share = f32(excess / f32(f32(full - now) * 32))
    down, up = f32(f32(lowest - lo) * share), f32(f32(highest - hi) * share)
    if guess.min is not None:
        lo = guess.min
    elif down < 0:
        lo = f32(lo + down)
    if guess.max is not None:
        hi = guess.max
    elif up > 0:
        hi = f32(hi + up)
    return guess.adjusted((lo, hi))


def widened(ends: Ends, found: Ends, guess: Guess) -> Ends | None:
    """``flat``: move the free ends that the sums, `found`, exceed, 15 % beyond the sums; None if there are none."""
    (lo, hi), (lowest, highest) = ends, found
    lower, higher = guess.min is None and lowest < lo, guess.max is None and highest > hi
    if not (lower or higher):
        return None
    width = f32(highest - lowest)
    width = f32(width + max(f32(width * SPARE), NARROWEST))
    if guess.min is not None:
        lo = guess.min
    elif lower:
        lo = min(0.0, f32(highest - width))
    if guess.max is not None:
        hi = guess.max
    elif higher:
        hi = max(0.0, f32(lowest + width))
    return guess.adjusted((lo, hi)) if lo < 0 else (lo, hi)
