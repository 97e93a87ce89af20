"""What accumulators are requantized by: the integers that a rule makes of a real scale, and its stage."""

from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.stage import prepared as stages
from qops._kernels.stage.multipliers import multipliers, one_multiplier
from qops.checks import as_array, shown
from qops.fixedpoint import Multiplier
from qops.rules.names import rule_named
from qops.rules.table import TABLE, Rule

__all__ = [
    "BELOW_INFINITY",
    "FLOATS",
    "SINGLES",
    "Numbers",
    "Steps",
    "given_integers",
    "given_scales",
    "multiplier_of",
    "rule_of",
]

Steps: TypeAlias = Any
"""A real scale, or a multiplier and a right shift: one, or an array with one a channel."""
F32 = np.float32
SINGLES = {"float32", "31 bits as a float32"}
"""Multipliers of rules that compute in float32."""
FLOATS = {*SINGLES, "float64", "float64 of a float32"}
"""Multipliers of rules that compute in floats."""
_LARGEST_SHIFT = 62
_REDUCES = "31 bits, 16 of them"
"""A multiplier that is rounded to 16 bits where it is used."""
BELOW_INFINITY = 2.0**128 - 2.0**103
"""Where float32 begins to round to infinity."""


def rule_of(rule: object) -> Rule:
    """The row of a name; ValueError if there is none."""
    return TABLE[rule_named(rule, TABLE)]


def _fits(multiplier: Any, right_shift: Any) -> Any:
    return (multiplier >= -(2**31)) & (multiplier < 2**31) & (right_shift >= 0) & (right_shift <= 62)


def given_integers(integers: Any) -> Steps:
    """The multiplier and right shift, checked: numbers, or int64 arrays with one a channel."""
    if isinstance(integers, tuple) and [type(x) for x in integers] == [int, int] and _fits(*integers):
        return integers
    try:
        multiplier, right_shift = (np.asarray(x) for x in integers)
        if multiplier.shape != right_shift.shape:
            multiplier, right_shift = np.broadcast_arrays(multiplier, right_shift)
    except (TypeError, ValueError):
        raise TypeError(f"integers: expected (multiplier, right_shift), got {shown(integers)}") from None
    if multiplier.dtype.kind not in "iu" or right_shift.dtype.kind not in "iu" or multiplier.ndim > 1:
        raise TypeError(f"integers: expected integers, one pair or one a channel, got {shown(integers)}")
    fits = _fits(multiplier, right_shift)
    if not fits.all():
        m, n = (x[~fits].flat[0] for x in (multiplier, right_shift))
        raise ValueError(f"integers: expected a multiplier of 32 bits and a right shift in 0..62, got ({m}, {n})")
    if multiplier.size == 1:
        return int(multiplier.reshape(())), int(right_shift.reshape(()))
    return _own(multiplier, np.int64), _own(right_shift, np.int64)


def given_scales(scale: Any) -> Steps:
    """The scales, checked: a number, or an array with one a channel."""
    if type(scale) is float and 0 <= scale < inf:
        return scale + 0.0  # of -0.0 rules would make other integers
    values = as_array(scale, "scale")
    if values.dtype.kind not in "fiu":
        raise TypeError(f"scale: expected numbers, got {values.dtype}")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"scale: expected finite numbers, not negative, got {shown(scale)}")
    if values.ndim > 1:
        raise ValueError(f"scale: expected one number or one a channel, got shape {values.shape}")
    return _own(values, np.float64, 0.0) if values.size != 1 else float(values.reshape(())) + 0.0


def _own(values: NDArray[Any], dtype: Any, plus: float = 0) -> NDArray[Any]:
    """A copy that nobody else can write to."""
    copy = values.astype(dtype) + dtype(plus)
    copy.flags.writeable = False
    return copy


def multiplier_of(rule: Rule, steps: Any) -> tuple[Any, Any]:
    """Multiplier and right shift that a rule makes of a real scale, or arrays of them; ValueError where it cannot."""
    kind = "31 bits" if rule.multiplier in (*FLOATS, _REDUCES) else rule.multiplier
    if kind == "given":
        raise ValueError(f"scale: {rule.name} makes no integers of a scale, give it integers")
    if isinstance(steps, float):
        found = one_multiplier(steps, kind)
        if not (0 <= found[0] < 2**31 and 0 <= found[1] <= _LARGEST_SHIFT):
            raise ValueError(f"scale: {steps} is out of the range of {rule.name}, its integers are {found}")
        return found
    multiplier, right_shift, fit = multipliers(steps, kind)
    if not fit:
        for one in steps.tolist():  # refuses the first that is out of range
            multiplier_of(rule, one)
    return multiplier, right_shift


class Numbers(NamedTuple):
    """A rule with all that it needs to make codes of accumulators."""

    rule: Rule
    steps: Steps
    """The real scale or scales, or the multiplier and the right shift, or arrays of them."""
    zero_point: int
    lo: int
    hi: int
    """The ends of the codes."""
    factors: tuple[float, float] = (1.0, 1.0)
    """What is multiplied by before the scale, and after it: each product is a float32."""

    @property
    def scale(self) -> Any:
        """The real scale, or an array of them."""
        if not self.has_integers:
            return self.steps
        scale = np.ldexp(np.float64(self.steps[0]), -np.asarray(self.steps[1]))
        return scale if isinstance(scale, np.ndarray) else float(scale)

    @property
    def has_integers(self) -> bool:
        """Whether integers were given, and no scale."""
        return isinstance(self.steps, tuple)

    @property
    def integers(self) -> tuple[Any, Any]:
        """Multiplier and total right shift, or int64 arrays of them; ValueError where the rule has none."""
        return self.steps if self.has_integers else multiplier_of(self.rule, self.steps)

    @property
    def factors_of_loop(self) -> tuple[Any, Any]:
        """What the loop multiplies by and shifts by: `integers`, which some rules round to 16 bits first."""
        multiplier, right_shift = self.integers
        if self.rule.multiplier != _REDUCES:
            return multiplier, right_shift
        if np.any(np.less(right_shift, 16)):
            name = "integers" if self.has_integers else "scale"
            raise ValueError(
                f"{name}: {self.rule.name} shifts by 16 at least, got a right shift of {np.min(right_shift)}"
            )
        reduced = np.where(np.less(multiplier, 0x7FFF0000), np.add(multiplier, 1 << 15) >> 16, 0x7FFF)
        return (reduced, right_shift - 16) if reduced.ndim else (int(reduced), right_shift - 16)

    @property
    def multiplier(self) -> Multiplier:
        """Multiplier and total right shift of one scale."""
        multiplier, right_shift = self.integers
        return Multiplier(int(multiplier), int(right_shift))

    @property
    def can_wrap(self) -> bool:
        """Whether sums of int64 accumulators with the zero point wrap, where those of int32 cannot."""
        if self.rule.wraps != "sum with the zero point" or abs(self.zero_point) >= 2**29:
            return False
        return bool(np.all(np.abs(self.scale) <= 0.5))

    def stage(self, *, is_wide: bool = False) -> Any:
        """The stage from accumulators to codes; ValueError for a scale that the rule cannot take.

        `is_wide`: for int64 accumulators; the stage differs from that for int32 only if the numbers `can_wrap`.
        """
        rule, (_, _, zero, lo, hi, (before, after)) = self.rule, self
        if rule.multiplier in FLOATS:
            # the zero point is added before the rounding, or after it
            plus, shift = (zero, 0) if rule.zero_point == "inside" else (0, zero)
            if rule.multiplier in SINGLES:
                scale = self._as_float32() if rule.multiplier == "31 bits as a float32" else _in_float32(self.scale)
                return stages.FloatStage(
                    scale, rule.first, lo, hi, plus, shift, beyond=rule.beyond, before=before, after=after
                )
            scale = self.scale if rule.multiplier == "float64" else _in_float32(self.scale)
            return stages.DoubleStage(scale, rule.first, lo, hi, plus, shift)
        multiplier, right_shift = self.factors_of_loop
        if rule.split == "16 bits":
            return self._short_stage(multiplier, right_shift)
        if rule.split == "last bit" and not np.all(right_shift):
            raise ValueError(f"integers: {rule.name} shifts by 1 at least, got 0")
        wraps = "" if not is_wide and self.can_wrap else rule.wraps
        return stages.IntegerStage(
            multiplier, right_shift, (rule.first, rule.second, rule.split), (zero, lo, hi), wraps
        )

    def _short_stage(self, multiplier: Any, right_shift: Any) -> Any:
        """Shifted into 16 bits, saturating, then multiplied."""
        rule, ends = self.rule, (self.zero_point, self.lo, self.hi)
        left, right = np.maximum(15 - right_shift, 0), np.maximum(right_shift - 15, 0)
        factor = np.left_shift(np.int64(1), left)
        first = stages.IntegerStage(factor, right, (rule.first, "", "once"), (0, -(2**15), 2**15 - 1))
        by_15 = np.full_like(multiplier, 15) if isinstance(multiplier, np.ndarray) else 15
        return stages.TwoStages(first, stages.IntegerStage(multiplier, by_15, (rule.second, "", "once"), ends))

    def _as_float32(self) -> Any:
        """The multiplier, rounded to float32, over 2**right_shift."""
        multiplier, right_shift = (np.asarray(x) for x in self.integers)
        scale = multiplier.astype(F32) * np.ldexp(F32(1), -right_shift)
        return float(scale) if scale.ndim == 0 else scale


def _in_float32(scale: Any) -> Any:
    """A real scale, or an array of them, as float32; ValueError for one that float32 does not hold."""
    if isinstance(scale, float) and abs(scale) < BELOW_INFINITY:
        return float(F32(scale))
    exact = np.atleast_1d(np.asarray(scale, np.float64))
    with np.errstate(over="ignore"):
        near = exact.astype(F32)
    if not np.isfinite(near).all():
        raise ValueError(f"scale: {exact[~np.isfinite(near)][0]} is beyond float32")
    return near if isinstance(scale, np.ndarray) and scale.ndim else float(near[0])
