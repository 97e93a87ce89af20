"""What one channel is requantized by: a rule with its numbers, and the kernels that run it."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core import rows
from qops.fixedpoint import Multiplier
from qops.rules.scales import MULTIPLIERS
from qops.rules.table import TABLE, Rule

__all__ = ["FLOATS", "SINGLES", "Numbers", "multiplier_of", "rule_of"]

Codes: TypeAlias = NDArray[Any]
Run: TypeAlias = Callable[[NDArray[Any], Codes], None]
F32 = np.float32
SINGLES = {"float32", "31 bits as a float32"}  # rules that compute in float32
FLOATS = {*SINGLES, "float64", "float64 of a float32"}
_LARGEST_SHIFT = 62


def rule_of(rule: object) -> Rule:
    """The row of a name; ValueError if there is none."""
    if not isinstance(rule, str) or rule not in TABLE:
        raise ValueError(f"rule: {rule!r:.80} is none of {', '.join(TABLE)}")
    return TABLE[rule]


def multiplier_of(rule: Rule, scale: float) -> Multiplier:
    """The integers that a rule makes of a real scale; ValueError where it cannot."""
    kind = "31 bits" if rule.multiplier in FLOATS else rule.multiplier
    if kind == "given":
        raise ValueError(f"scale: {rule.name} has no rule for it, give its integers")
    found = MULTIPLIERS[kind](scale)
    if not (0 <= found.right_shift <= _LARGEST_SHIFT and found.multiplier < 2**31):
        raise ValueError(f"scale: {scale} is out of the range of {rule.name}, its integers are {tuple(found)}")
    return found


class Numbers:
    """A rule and its real scale or integers, the zero point, the ends of the codes."""

    def __init__(self, rule: Rule, scale: float | Multiplier, zero_point: int, lo: int, hi: int):
        self.rule, self.zero_point, self.lo, self.hi = rule, zero_point, lo, hi
        self._given = scale if isinstance(scale, Multiplier) else None
        self.scale = scale[0] * 2.0 ** -scale[1] if isinstance(scale, Multiplier) else scale

    @property
    def multiplier(self) -> Multiplier:
        """Multiplier and total right shift."""
        return self._given or multiplier_of(self.rule, self.scale)

    def row(self) -> dict[str, Any]:
        """The row of the integer stage."""
        rule, (multiplier, right_shift) = self.rule, self.multiplier
        build = partial(rows.integers, multiplier, lowest=self.lo, highest=self.hi, zero_point=self.zero_point)
        if rule.name == "cmsis-s64":
            if right_shift == 0:
                raise ValueError("integers: cmsis-s64 shifts by 1 at least, got 0")
            return build(right_shift - 1, rule.first, second_shift=1, second=rule.second)
        if not rule.second or (rule.name == "tosa-double" and right_shift <= 31):
            return build(right_shift, rule.first)
        left, rest = max(0, 31 - right_shift), max(0, right_shift - 31)
        return build(31, rule.first, left_shift=left, second_shift=rest, second=rule.second)

    @property
    def may_wrap(self) -> bool:
        """Whether something that the rule wraps can leave 32 bits, of int32 accumulators."""
        wraps = self.rule.wraps
        return wraps == "every step" or (wraps not in ("", "left shift") and not abs(self.scale) <= 0.5)

    def run(self) -> Run:
        """What requantizes accumulators; ValueError for a scale that the rule does not take."""
        rule = self.rule
        if rule.multiplier in FLOATS:
            return self._single_run() if rule.multiplier in SINGLES else self._double_run()
        if rule.name == "rndnu16":
            return self._short_run()
        return partial(self._integer_run, self.row())

    def _integer_run(self, row: dict[str, Any], x: NDArray[Any], out: Codes) -> None:
        if x.dtype == np.int32 and out.dtype.itemsize != 2 and not self.may_wrap:
            rows.integer_codes(x, row, out)
            return
        wraps = self.rule.wraps
        rows.wide_integer_codes(
            x.astype(np.int64),
            row,
            out,
            product_wraps=wraps == "every step",
            high_wraps=wraps == "result",
            code_wraps=wraps == "sum with the zero point",
        )

    def _short_run(self) -> Run:
        """rndnu16: shifted into 16 bits, saturating, then multiplied."""
        rule, (multiplier, right_shift) = self.rule, self.multiplier
        left, right = max(0, 15 - right_shift), max(0, right_shift - 15)
        near = rows.integers(1 << left, right, rule.first, -(2**15), 2**15 - 1)
        last = rows.integers(multiplier, 15, rule.second, self.lo, self.hi, zero_point=self.zero_point)

        def run(x: NDArray[Any], out: Codes) -> None:
            short = np.empty(x.shape, np.int32)
            rows.integer_codes(x, near, short)
            self._integer_run(last, short, out)

        return run

    @property
    def _zero_points(self) -> dict[str, int]:
        """The zero point where the rule adds it: before the rounding, or after."""
        is_inside = self.rule.zero_point == "inside"
        return {"plus": self.zero_point * is_inside, "shift": self.zero_point * (not is_inside)}

    def _double_run(self) -> Run:
        scale = self.scale if self.rule.multiplier == "float64" else float(F32(self.scale))
        ends = {"lowest": self.lo, "highest": self.hi}
        return lambda x, out: rows.double_codes(x, scale, self.rule.first, out=out, **ends, **self._zero_points)

    def _single_run(self) -> Run:
        with np.errstate(over="ignore"):
            scale = F32(self.scale)
            if self.rule.name == "tosa-inexact":
                multiplier, right_shift = self.multiplier
                scale = F32(multiplier) * F32(2.0**-right_shift)
        if not np.isfinite(scale):
            raise ValueError(f"scale: {self.scale} is beyond float32")
        row = rows.floats(float(scale), self.rule.first, self.lo, self.hi, **self._zero_points)
        return lambda x, out: rows.float_codes(x, row, out)
