"""How nnlib's supernodes find their output range: a first guess, its numbers, and the range of the next pass.

The rules are float32: each operation is done on Python floats, exactly or nearly so, and rounded by `f32`.
"""

from __future__ import annotations

from math import frexp, inf, ldexp
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib.ranges import f32, level, moved
from qops.checks import real

__all__ = ["Ends", "Gain", "Given", "NodeRange", "given_ends", "quarter_octave"]

Ends: TypeAlias = tuple[float, float]
Given: TypeAlias = tuple[float | None, float | None]

QUARTER_OCTAVE = f32(1.18920708)  # 2**(1/4)
QUARTERS = tuple(f32(q) for q in (0.594603539, 0.7071067691, 0.8408964276))  # 2**(-3/4), 2**(-1/2), 2**(-1/4)
STEEPEST = 1.75  # output steps in a step of the sums, in a first guess
HIGHEST = 255
LEAST_MAX, LEAST_MIN = 1 / 16, -1 / 256  # the narrowest ends that a retry picks
BITS, MOST = 31, 2**31 - 1


class Gain(NamedTuple):
    """The numbers of the fraction multiply in one output range."""

    step: float
    multipliers: NDArray[np.int32]
    left_shift: int


def given_ends(
    lowest: float | None, highest: float | None, names: tuple[str, str] = ("guess_min", "guess_max")
) -> Given:
    """Check the ends that a node is given: 0 is between them, or one of them."""
    lo, hi = (None if end is None else real(end, name) for end, name in zip((lowest, highest), names, strict=True))
    if lo is not None and lo > 0:
        raise bad_value(names[0], f"expected at most 0, got {lo}")
    if hi is not None and hi < 0:
        raise bad_value(names[1], f"expected at least 0, got {hi}")
    if lo == hi == 0:
        raise bad_value(", ".join(names), f"expected a range, got {lo} and {hi}")
    return lo, hi


class NodeRange:
    """The output range of a node, which changes from pass to pass and is remembered from call to call.

    ends: the range of the next pass. fixed: the given ends, as `adjust_minmax_fixed` takes them.
    """

    __slots__ = ("_guess", "ends", "fixed", "given", "is_guess")

    def __init__(self, given: Given, free: Ends) -> None:
        """Begin with the given ends, and for free ends with those of the range `free`; 0 comes on a code."""
        self.given, self.fixed = given, (given[0] is not None) + 2 * (given[1] is not None)
        self.is_guess = self.fixed < 3
        self._guess: tuple[Any, Gain] | None = None  # the numbers of the first guess, and what they hold for
        lo, hi = (start if end is None else end for end, start in zip(given, free, strict=True))
        self.ends = self._adjusted(lo, hi)

    def copy(self) -> Self:
        """Give another object with the same range."""
        made = type(self).__new__(type(self))
        made.given, made.fixed, made.is_guess = self.given, self.fixed, self.is_guess
        made.ends, made._guess = self.ends, self._guess
        return made

    def _adjusted(self, lo: float, hi: float) -> Ends:
        """Put 0 on a code, which it is on if it is the lower end."""
        return moved(lo, hi, self.fixed, 0.0)[1:] if lo < 0 else (lo, hi)

    def gain(
        self, product: float, scales: NDArray[np.float32] | None, images: Any = None, first_guess: bool = True
    ) -> Gain:
        """Give the numbers of a pass; the first pass of a node widens a guess that would make them too steep.

        product: the step of the sums. scales: the factors of the channels. images: what the numbers hold for; they are
        made anew for other images.
        """
        if self._guess is not None and self._guess[0] == images:
            return self._guess[1]
        steep, self._guess = f32((1.0 if scales is None else max(1.0, float(scales.max()))) * product), None
        step, gain = self._step_and_gain(steep)
        widens = self.is_guess and first_guess and gain > STEEPEST
        self.is_guess = False
        if widens:
            step, gain = self._widen(f32(steep / STEEPEST), steep)
        made = _gain(step, gain, product, scales)
        if made is None:
            raise bad_value("guess_min, guess_max", f"{self.ends} has steps too fine for sums of step {product}")
        if widens:
            self._guess = images, made
        return made

    def _step_and_gain(self, steep: float) -> tuple[float, float]:
        step = level(*self.ends)[1]
        return step, f32(steep / step) if step > 0 else inf

    def _widen(self, step: float, steep: float) -> tuple[float, float]:
        """Give the first guess this step: 63 steps below 0 and 192 above it, if both ends are free."""
        lo, hi = self.ends
        width = f32(HIGHEST * step)
        if self.fixed == 0:
            self.ends = f32(-63 * step), f32(192 * step)
        elif self.fixed == 1:
            self.ends = self._adjusted(lo, f32(lo + width))
        else:
            self.ends = self._adjusted(f32(hi - width), hi)
        adjusts = self.fixed == 2 or (self.fixed == 1 and lo < 0)
        return self._step_and_gain(steep) if adjusts else (step, STEEPEST)

    def move(self, ends: Ends) -> None:
        """Take the range of the next pass."""
        self.ends, self._guess = ends, None

    def retried(self, step: float, lowest: int, highest: int, keeps_given: bool = False) -> Ends | None:
        """Give the range of another pass, None if all results are in this one.

        lowest, highest: the extremes of the results in output steps, before they saturate. A free end that they are
        beyond moves to `quarter_octave` of the extreme, and a given end is where it was given again. keeps_given: with
        a given end, neither is it reset nor 0 put on a code.
        """
        (lo, hi), (least, most) = self.ends, self.given
        above, below = most is None and highest > HIGHEST, least is None and lowest < 0
        if not (above or below):
            return None
        if above:
            hi = quarter_octave(max(f32(f32(step * f32(highest + 0.5)) + self.ends[0]), LEAST_MAX))
        if below:
            lo = quarter_octave(min(f32(f32(step * f32(lowest - 0.5)) + self.ends[0]), LEAST_MIN))
        if keeps_given and self.fixed:
            return lo, hi
        return self._adjusted(lo if least is None else least, hi if most is None else most)


def _gain(step: float, gain: float, product: float, scales: NDArray[np.float32] | None) -> Gain | None:
    """Give the numbers for sums of which one step is `gain` output steps; None if 32 bits do not hold them."""
    shift = frexp(gain)[1] if gain > 1 else 0
    if not gain < 2.0**BITS:
        return None
    if scales is None:
        return Gain(step, np.array([min(int(f32(ldexp(gain, BITS - shift) + 0.5)), MOST)], np.int32), shift)
    common = np.float32(ldexp(f32(product / step), BITS - shift))
    found = np.minimum((common * scales + np.float32(0.5)).astype(np.int64), MOST)
    return Gain(step, found.astype(np.int32), shift)


def quarter_octave(x: float) -> float:
    """Give the first of the numbers 2**(n/4) that is farther from 0 than `x` times 2**(1/4)."""
    mantissa, exponent = frexp(f32(x * QUARTER_OCTAVE))
    above = next((q for q in QUARTERS if abs(mantissa) < q), 1.0)
    return f32(ldexp(above if x > 0 else -above, exponent))
