"""What a rule of two tensors of codes is prepared from, and what a row of such rules is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from qops._kernels.stage import prepared as stages
from qops._kernels.stage.pair_stage import PairStage
from qops.checks import shown
from qops.codes import CodeType
from qops.fixedpoint import Multiplier
from qops.rules.numbers import Numbers, given_integers, rule_of

__all__ = ["AddIntegers", "Integers", "Operands", "PairRule", "of_add", "of_mul"]


class AddIntegers(NamedTuple):
    """The integers of a sum: what each operand is multiplied by, and what their sum is.

    Attributes
    ----------
    a, b, y : Multiplier
        Each is ``multiplier / 2**right_shift``. TFLite's operands are shifted to the left before, by 20 bits, or by 15
        if they have 16 themselves; and where its code has a shift with a sign, the right shift is 31 less that. XNNPACK
        and QNNPACK do not shift the operands, so a and b have right shifts of 0, and y is ``(1, shift)``.
    """

    a: Multiplier
    b: Multiplier
    y: Multiplier


Integers = AddIntegers | Multiplier


def of_add(integers: Any) -> AddIntegers:
    """The integers of a sum, checked."""
    if not isinstance(integers, tuple | list) or len(integers) != 3:
        raise TypeError(f"integers: expected three pairs (multiplier, right_shift), got {shown(integers)}")
    return AddIntegers(*map(of_mul, integers))


def of_mul(integers: Any) -> Multiplier:
    """The integers of a product, checked."""
    multiplier, right_shift = given_integers(integers)
    if not isinstance(multiplier, int):
        raise ValueError(f"integers: expected one multiplier and one right shift, got {shown(integers)}")
    return Multiplier(multiplier, right_shift)


class Operands(NamedTuple):
    """Scales and zero points of two tensors and of the result, and the rest that their rule is told."""

    a_scale: float
    a_zero_point: int
    b_scale: float
    b_zero_point: int
    y_scale: float
    y_zero_point: int
    codes: CodeType
    qmin: int
    qmax: int
    beyond: str = "saturates"
    """`PairRule.beyond`"""
    integers: Any = None
    """The `Integers` of the rule; None if it has none."""

    @property
    def left_shift(self) -> int:
        """By how much TFLite's add shifts codes to the left: 15 bits those of 16 bits, 20 those of 8."""
        return 15 if self.codes.highest > 255 else 20

    def last(self, rule: str, steps: Any) -> Any:
        """The stage that makes codes of values, by a rule of `TABLE` and its scale or integers."""
        return Numbers(rule_of(rule), steps, self.y_zero_point, self.qmin, self.qmax).stage()

    def last_float(self, scale: Any, zero_point: str) -> Any:
        """The stage ``rint(value * scale)`` in float32, with the zero point "outside" or "inside" of the rounding."""
        where: dict[str, Any] = {"shift" if zero_point == "outside" else "plus": self.y_zero_point}
        return stages.FloatStage(float(scale), "half_even", self.qmin, self.qmax, beyond=self.beyond, **where)


class PairRule(NamedTuple):
    """One row of `ADD` or `MUL`.

    Attributes
    ----------
    formula : str
        What is computed. a and b stand for codes less their zero points, unless the formula says otherwise; z is the
        zero point of the result; sa, sb and sy are the scales; ra = sa / sy, rb = sb / sy. MBQM is TFLite's
        MultiplyByQuantizedMultiplier. SRDHM is gemmlowp's SaturatingRoundingDoublingHighMul. ma, mb and my are their
        multipliers, ea and eb their shifts, positive to the left.
    systems : str
        Who computes it.
    made : callable
        operands -> what makes the codes.
    derived : callable or None
        operands -> the integers that the rule makes of the scales; None for rules that multiply by floats.
    width : int
        How many elements are computed together; 0 if each is computed by itself. The last elements, which do not fill
        a width, are computed by the rule `tail`.
    tail : str
        Name of that rule.
    beyond : str
        What a rounded result that int32 does not hold becomes. "saturates": the end of its sign. "lowest": -2**31, the
        lowest code. "lowest, wraps": -2**31, and its sum with the zero point wraps. "cut, wraps": the same, but
        positive ones are cut to 2**31 - 128.
    takes_int16 : bool
        Whether the rule is also one of int16 codes.
    """

    formula: str
    systems: str
    made: Callable[[Operands], PairStage]
    derived: Callable[[Operands], Integers] | None = None
    width: int = 0
    tail: str = ""
    beyond: str = "saturates"
    takes_int16: bool = False
