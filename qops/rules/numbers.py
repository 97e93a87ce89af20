"""What accumulators are requantized by: a rule with its numbers, for one scale or one a channel, and its kernels."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.stage import rows
from qops._kernels.stage.multipliers import multipliers, one_multiplier
from qops.fixedpoint import Multiplier
from qops.qtensor import choice
from qops.rules.table import TABLE, Rule

__all__ = ["FLOATS", "SINGLES", "Numbers", "multiplier_of", "rule_of"]

Array: TypeAlias = NDArray[Any]
F32 = np.float32
SINGLES = {"float32", "31 bits as a float32"}  # rules that compute in float32
FLOATS = {*SINGLES, "float64", "float64 of a float32"}
_LARGEST_SHIFT = 62


def rule_of(rule: object) -> Rule:
    """The row of a name; ValueError if there is none."""
    return TABLE[choice(rule, "rule", TABLE)]


def multiplier_of(rule: Rule, scale: Any) -> tuple[Any, Any]:
    """Multiplier and right shift that a rule makes of a real scale, or arrays of them; ValueError where it cannot."""
    kind = "31 bits" if rule.multiplier in FLOATS else rule.multiplier
    if kind == "given":
        raise ValueError(f"scale: {rule.name} makes no integers of a scale, give it integers")
    if isinstance(scale, float):
        found = one_multiplier(scale, kind)
        if not (0 <= found[0] < 2**31 and 0 <= found[1] <= _LARGEST_SHIFT):
            raise ValueError(f"scale: {scale} is out of the range of {rule.name}, its integers are {found}")
        return found
    multiplier, right_shift, fit = multipliers(scale, kind)
    if not fit:
        for one in scale.tolist():  # refuses the first that is out of range
            multiplier_of(rule, one)
    return multiplier, right_shift


def _row_of(numbers: Any, dtype: Any) -> Array:
    """A number, or the numbers of channels, as an array."""
    return np.asarray(numbers if isinstance(numbers, np.ndarray) and numbers.ndim else [numbers], dtype)


def _in_float32(scale: Any) -> Array:
    """Real scales as float32; ValueError for one that float32 does not hold."""
    scales = _row_of(scale, np.float64)
    with np.errstate(over="ignore"):
        near = scales.astype(F32)
    if not np.isfinite(near).all():
        raise ValueError(f"scale: {scales[~np.isfinite(near)][0]} is beyond float32")
    return near


class Numbers:
    """A rule and its real scale or integers, or arrays of them; the zero point, the ends of the codes."""

    def __init__(self, rule: Rule, scale: Any, zero_point: int, lo: int, hi: int):
        self.rule, self.zero_point, self.lo, self.hi = rule, zero_point, lo, hi
        self.scale, self._given = scale, None
        self._last: tuple[int, rows.Codes] | None = None
        if isinstance(scale, tuple):
            self._given = scale
            self.scale = np.ldexp(np.float64(scale[0]), -np.asarray(scale[1]))

    @property
    def integers(self) -> tuple[Any, Any]:
        """Multiplier and total right shift, or int64 arrays of them."""
        return self._given or multiplier_of(self.rule, self.scale)

    @property
    def multiplier(self) -> Multiplier:
        """Multiplier and total right shift of one scale."""
        multiplier, right_shift = self.integers
        return Multiplier(int(multiplier), int(right_shift))

    def run(self, inner: int = 1) -> rows.Codes:
        """What requantizes accumulators, `inner` of each channel in turn; ValueError for a scale it cannot take."""
        known = self._last
        if known is None or known[0] != inner:
            known = self._last = inner, self._made(inner)
        return known[1]

    def _made(self, inner: int) -> rows.Codes:
        if self.rule.multiplier in SINGLES:
            return self._single_run(inner)
        if self.rule.multiplier in FLOATS:
            return self._double_run(inner)
        return self._short_run(inner) if self.rule.split == "16 bits" else self._integer_run(inner)

    def _integer_run(self, inner: int) -> rows.Codes:
        rule, (multiplier, right_shift) = self.rule, self.integers
        if rule.split == "last bit" and not np.all(right_shift):
            raise ValueError(f"integers: {rule.name} shifts by 1 at least, got 0")
        return self._rounded(multiplier, right_shift, inner, rule.first, rule.second, rule.split)

    def _rounded(
        self, multiplier: Any, right_shift: Any, inner: int, first: str, second: str = "", split: str = "once"
    ) -> rows.Codes:
        """The codes of accumulators times multiplier / 2**right_shift, rounded so."""
        factors, shifts = _row_of(multiplier, np.int64), _row_of(right_shift, np.int64)
        # If accumulators are int32, only a scale above 1/2 makes a sum that needs more than 32 bits.
        small = self.rule.wraps == "sum with the zero point" and abs(self.zero_point) < 2**29
        small = small and bool(np.all(np.abs(self.scale) <= 0.5))
        rounds, ends = (first, second, split), (self.zero_point, self.lo, self.hi)
        return rows.IntegerCodes(factors, shifts, inner, rounds=rounds, ends=ends, wraps=self.rule.wraps, small=small)

    def _short_run(self, inner: int) -> rows.Codes:
        """Shifted into 16 bits, saturating, then multiplied."""
        multiplier, right_shift = self.integers
        into = Numbers(self.rule, 0.0, 0, -(2**15), 2**15 - 1)
        left, right = np.maximum(15 - right_shift, 0), np.maximum(right_shift - 15, 0)
        near = into._rounded(np.left_shift(np.int64(1), left), right, inner, self.rule.first)
        last = self._rounded(multiplier, np.full_like(multiplier, 15), inner, self.rule.second)

        return rows.InTwo(near, last)

    def _ends(self) -> dict[str, Any]:
        """The ends of the codes, and the zero point where the rule adds it: before the rounding, or after."""
        where = "plus" if self.rule.zero_point == "inside" else "shift"
        return {"rounding": self.rule.first, "lowest": self.lo, "highest": self.hi, where: self.zero_point}

    def _double_run(self, inner: int) -> rows.Codes:
        kept = self.rule.multiplier == "float64"
        scales = _row_of(self.scale, np.float64) if kept else _in_float32(self.scale).astype(np.float64)
        return rows.DoubleCodes(scales, inner, **self._ends())

    def _single_run(self, inner: int) -> rows.Codes:
        scales = _in_float32(self.scale)
        if self.rule.multiplier == "31 bits as a float32":
            multiplier, right_shift = (_row_of(x, np.int64) for x in self.integers)
            scales = multiplier.astype(F32) * np.ldexp(F32(1), -right_shift)
        return rows.FloatCodes(rows.floats(1.0, **self._ends()), scales, inner)
