"""What a row of the rules of two tensors of codes is, and the integers that they take."""

from __future__ import annotations

from typing import Any, NamedTuple

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._readable import shows_fields
from qops.checks import shown
from qops.fixedpoint import Multiplier
from qops.rules.numbers import given_integers

__all__ = ["AddIntegers", "BinaryRule", "of_add", "of_mul"]


@shows_fields
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


def of_add(integers: Any) -> AddIntegers:
    """The integers of a sum, checked."""
    if not isinstance(integers, (tuple, list)) or len(integers) != 3:
        raise bad_type("integers", f"expected three pairs (multiplier, right_shift), got {shown(integers)}")
    return AddIntegers(*map(of_mul, integers))


def of_mul(integers: Any) -> Multiplier:
    """The integers of a product, checked."""
    multiplier, right_shift = given_integers(integers)
    if not isinstance(multiplier, int):
        raise bad_value("integers", f"expected one multiplier and one right shift, got {shown(integers)}")
    return Multiplier(multiplier, right_shift)


@shows_fields
class BinaryRule(NamedTuple):
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
    made : str
        What makes the codes: a word of `qops._kernels.stage.binary_rules`, or of `qops.rules.binary_arrays.FORMS`.
    rule : str
        Name of the rule of `TABLE` by which values are requantized; "" for sums in floats.
    scale : str
        How the systems form the real scale of a product, a word of `real_scale`; "" for sums.
    derived : str
        What the integers are made of: "twice the larger scale", "ratios of 21 bits" or "ratios of 22 bits" of a sum
        (with "shift in C", shifts of 32 bits and more are refused),
        "real scale" of a product; "" for rules that multiply by floats.
    width : int
        How many elements are computed together; 0 if each is computed by itself. The last elements, which do not fill
        a width, are computed by the rule `tail`.
    tail : str
        Name of that rule.
    beyond : str
        What a rounded result that int32 does not hold becomes. "saturates": the end of its sign. "lowest": -2**31, the
        lowest code. "lowest, wraps": -2**31, and its sum with the zero point wraps. "cut, wraps": the same, but
        positive ones are cut to 2**31 - 128. "low bits": the low 32 bits of an int64.
    takes_int16 : bool
        Whether the rule is also one of int16 codes.
    """

    formula: str
    systems: str
    made: str
    rule: str = ""
    scale: str = ""
    derived: str = ""
    width: int = 0
    tail: str = ""
    beyond: str = "saturates"
    takes_int16: bool = False
