"""The rules of the sum and the product of two tensors of 8-bit codes: `ADD` and `MUL`, and how they run."""

from __future__ import annotations

from collections.abc import Callable
from math import frexp, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.stage import prepared as stages
from qops._kernels.stage.multipliers import one_multiplier
from qops._kernels.stage.pair_stage import PairStage
from qops.rules.numbers import BELOW_INFINITY, Numbers, rule_of
from qops.rules.scales import Derivation, fma, real_scale

__all__ = ["ADD", "MUL", "Operands", "PairRule"]

F32 = np.float32
Array = NDArray[Any]
_LARGEST_SHIFT = 62
_HALF = 2**30, 31  # 1/2 as a multiplier and a right shift


class Operands(NamedTuple):
    """Scales and zero points, the ends of the codes, numpy's number of their dtype, and `beyond` of the rule."""

    a_scale: float
    a_zero_point: int
    b_scale: float
    b_zero_point: int
    y_scale: float
    y_zero_point: int
    lo: int
    hi: int
    typenum: int
    beyond: str

    @property
    def left_shift(self) -> int:
        """By how much TFLite's add shifts codes to the left: 15 bits those of 16 bits, 20 those of 8."""
        return 15 if self.hi > 255 else 20

    def last(self, rule: str, steps: Any) -> Any:
        """The stage that makes codes of values, by a rule of `TABLE` and its scale or integers."""
        return Numbers(rule_of(rule), steps, self.y_zero_point, self.lo, self.hi).stage()

    def last_float(self, scale: Any, zero_point: str) -> Any:
        """The stage ``rint(value * scale)`` in float32, with the zero point "outside" or "inside" of the rounding."""
        where: dict[str, Any] = {"shift" if zero_point == "outside" else "plus": self.y_zero_point}
        return stages.FloatStage(float(scale), "half_even", self.lo, self.hi, beyond=self.beyond, **where)


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
    width: int = 0
    tail: str = ""
    beyond: str = "saturates"
    takes_int16: bool = False


def _side(zero_point: int = 0, multiplier: int = 0, scale: Any = 0.0, plus: Any = 0.0) -> dict[str, Any]:
    """The numbers of an operand."""
    return {"zero": zero_point, "multiplier": multiplier, "scale": float(scale), "plus": float(plus)}


# ---------------------------------------------------------------- add


def _steps(p: Operands, rule: str) -> list[tuple[int, int]]:
    """The multipliers of TFLite's add: of both inputs, relative to twice the larger scale, and of the result."""
    twice = 2 * max(p.a_scale, p.b_scale)
    scales = p.a_scale / twice, p.b_scale / twice, twice / (2**p.left_shift * p.y_scale)
    steps = [one_multiplier(scale, rule_of(rule).multiplier) for scale in scales]
    if not all(0 <= right_shift <= _LARGEST_SHIFT for _, right_shift in steps):
        raise ValueError(f"too far apart, so that a right shift is not in 0..{_LARGEST_SHIFT}: {steps}")
    return steps


def _staged(p: Operands, steps: list[tuple[int, int]], lefts: list[int], second: str, last: Any) -> PairStage:
    """Shift each operand to the left, multiply and round it once or twice, first half up; the last stage takes the sum.

    The operand with the larger scale is multiplied by exactly 1/2. That is a left shift of one bit less, and needs no
    rounding. If both scales are equal, this holds for both operands, and the form is "sum".
    """
    zeros = p.a_zero_point, p.b_zero_point
    exact = [(step == _HALF and left > 0, z, left - 1) for step, z, left in zip(steps, zeros, lefts, strict=True)]
    if all(is_half for is_half, _, _ in exact):
        a, b = (_side(z, 2**left) for _, z, left in exact)
        return PairStage("sum", a, b, last, p.typenum)
    i = [is_half for is_half, _, _ in exact].index(True)
    (_, zero, left), (_, other_zero, other_left), (m, n) = exact[i], exact[1 - i], steps[1 - i]
    more = 0 if p.hi > 255 or n > _LARGEST_SHIFT - 2 else 2  # bits that int32 has left
    rounds, ends = ("half_up", second, "at 31" if second else "once"), (0, -(2**31), 2**31 - 1)
    stage = stages.IntegerStage(m, n, rounds, ends, shifted=more)
    half, other = _side(zero, left), _side(other_zero, other_left + 1 + more)
    return PairStage("staged", half, other, last, p.typenum, of_b=stage, exchanged=i == 1)


def _tflite_add(rule: str) -> Callable[[Operands], PairStage]:
    def made(p: Operands) -> PairStage:
        *both, last = _steps(p, rule)
        return _staged(p, both, [p.left_shift] * 2, rule_of(rule).second, p.last(rule, last))

    return made


def _tflite_optimised(is_signed: bool) -> Callable[[Operands], PairStage]:
    """The part of a right shift beyond 31: for s8 the left shift of 20 is less by it; for u8 it floors at the end."""

    def made(p: Operands) -> PairStage:
        *both, last = _steps(p, "tflite-double")
        less = [right_shift - 31 for _, right_shift in both]
        if max(less) > 20:
            raise ValueError("a_scale and b_scale are more than 2**20 apart")
        end = p.last("tflite-double", last)
        if is_signed:
            return _staged(p, [(m, 31) for m, _ in both], [20 - n for n in less], "", end)
        return _staged(p, both, [20, 20], "floor", end)

    return made


def _of_ratios(bits: int, rule: str) -> Callable[[Operands], PairStage]:
    """Multipliers of `bits` + 1 bits for a_scale / y_scale and b_scale / y_scale, with one right shift for both."""

    def made(p: Operands) -> PairStage:
        ratios = [F32(s) / F32(p.y_scale) for s in (p.a_scale, p.b_scale)]
        if not 2.0**-40 < max(ratios) < 2**8:
            raise ValueError("the larger of a_scale / y_scale and b_scale / y_scale is not between 2**-40 and 2**8")
        right_shift = bits - frexp(float(max(ratios)))[1] + 1
        m, n = (int(np.rint(r * F32(2.0**right_shift))) for r in ratios)
        wider = max(0, 34 - right_shift)  # the same factor, so that lanes need only the upper 32 bits of the product
        last = p.last(rule, (1 << wider, right_shift + wider))
        return PairStage("sum", _side(p.a_zero_point, m), _side(p.b_zero_point, n), last, p.typenum)

    return made


def _in_float32(p: Operands, form: str, a: dict[str, Any], b: dict[str, Any], last: Any) -> PairStage:
    """Give what computes a form in float32; ValueError if the lowest or highest codes lead beyond float32."""
    step = float(F32(p.y_scale))
    ends = [[(q - s["zero"]) * s["scale"] + s["plus"] for q in (p.lo, p.hi)] for s in (a, b)]
    values = [step, 1 / step if step else inf, *ends[0], *ends[1], *(x + y for x in ends[0] for y in ends[1])]
    if not all(abs(value) < BELOW_INFINITY for value in values):
        raise ValueError("float32 does not hold what is computed of the lowest or highest codes")
    return PairStage(form, a, b, last, p.typenum)


def _ort_add(p: Operands) -> PairStage:
    ra, rb = F32(p.a_scale) / F32(p.y_scale), F32(p.b_scale) / F32(p.y_scale)
    constant = F32(p.y_zero_point) - fma(ra, F32(p.a_zero_point), rb * F32(p.b_zero_point))
    a, b = _side(scale=ra), _side(scale=rb, plus=constant)
    last = stages.FloatStage(1.0, "half_even", p.lo, p.hi, beyond=p.beyond)
    return _in_float32(p, "chain", a, b, last)


def _torch_vectors(p: Operands) -> PairStage:
    both = (p.a_scale, p.a_zero_point), (p.b_scale, p.b_zero_point)
    a, b = (_side(scale=F32(s), plus=-F32(z) * F32(s)) for s, z in both)
    return _in_float32(p, "float sum", a, b, p.last_float(F32(1) / F32(p.y_scale), "outside"))


def _torch_tail(p: Operands) -> PairStage:
    a, b = _side(p.a_zero_point, scale=F32(p.a_scale)), _side(p.b_zero_point, scale=F32(p.b_scale))
    return _in_float32(p, "float sum", a, b, p.last_float(F32(1) / F32(p.y_scale), "inside"))


ADD = {
    "tflite-double": PairRule(
        "MBQM((a << 20), ma) + MBQM((b << 20), mb), then MBQM(sum, my) + z; int16: << 15; MBQM by tflite-double",
        "TFLite reference, CMSIS-NN, TFLM",
        _tflite_add("tflite-double"),
        takes_int16=True,
    ),
    "tflite-single": PairRule(
        "the same, MBQM by tflite-single",
        "CMSIS-NN, TFLM, single rounding",
        _tflite_add("tflite-single"),
        takes_int16=True,
    ),
    "tflite-opt-s8": PairRule(
        "SRDHM(a << (20 + ea), ma) + SRDHM(b << (20 + eb), mb), then as tflite-double",
        "TFLite optimised, s8",
        _tflite_optimised(True),
        16,
        "tflite-double",
    ),
    "tflite-opt-u8": PairRule(
        "(SRDHM(a << 20, ma) >> -ea) + (SRDHM(b << 20, mb) >> -eb), then as tflite-double",
        "TFLite optimised, u8",
        _tflite_optimised(False),
        8,
        "tflite-double",
    ),
    "xnnpack": PairRule("(a * ma + b * mb + 2**(n-1)) >> n, 21 bits", "XNNPACK, so TFLite", _of_ratios(20, "rndnu")),
    "qnnpack": PairRule("the same with 22 bits, half away", "QNNPACK", _of_ratios(21, "rndna")),
    "torch-qnnpack": PairRule("the same as qnnpack", "torch, engine qnnpack", _of_ratios(21, "rndna")),
    "ort-x86": PairRule(
        "rint(fma(a, ra, fma(b, rb, z - (ra * za + rb * zb)))), a and b with their zero points",
        "onnxruntime 1.31 and 1.32 QLinearAdd, AVX2 and AVX-512",
        _ort_add,
        beyond="lowest",
    ),
    "torch": PairRule(
        "rint((a * sa + b * sb) * (1 / sy)) + z in float32",
        "torch 2.13 on AVX-512, fbgemm, x86, onednn",
        _torch_vectors,
        64,
        "torch-tail",
        beyond="cut, wraps",
    ),
    "torch-tail": PairRule(
        "rint((a * sa + b * sb) * (1 / sy) + z) in float32", "torch, the last n % 64 elements", _torch_tail
    ),
}
"""Rules of the sum of two tensors, by name."""


# ---------------------------------------------------------------- mul


def _mul(rule: str, derive: Derivation) -> Callable[[Operands], PairStage]:
    def made(p: Operands) -> PairStage:
        scale, row = real_scale(p.a_scale, p.b_scale, p.y_scale, derive), rule_of(rule)
        last = p.last_float(scale, row.zero_point) if row.multiplier == "float32" else p.last(rule, scale)
        return PairStage("product", _side(p.a_zero_point), _side(p.b_zero_point), last, p.typenum)

    return made


MUL = {
    "tflite-double": PairRule(
        "tflite-double of a * b, scale f32",
        "LiteRT 2.3 reference, optimised",
        _mul("tflite-double", "f32"),
        takes_int16=True,
    ),
    "tflm-double": PairRule(
        "tflite-double of a * b, scale double", "TFLM, CMSIS-NN", _mul("tflite-double", "double"), takes_int16=True
    ),
    "tflite-single": PairRule(
        "tflite-single of a * b, scale double",
        "CMSIS-NN, TFLM, single rounding",
        _mul("tflite-single", "double"),
        takes_int16=True,
    ),
    "fp32-even": PairRule("fp32-even of a * b, scale f32", "XNNPACK on x86, so TFLite", _mul("fp32-even", "f32")),
    "ort-x86": PairRule(
        "fp32-even-zp-inside of a * b, scale f32",
        "onnxruntime 1.31 and 1.32 QLinearMul",
        _mul("fp32-even-zp-inside", "f32"),
        beyond="lowest",
    ),
    "torch": PairRule(
        "fp32-even of a * b, scale f32-reciprocal",
        "torch 2.13 on AVX-512, every engine",
        _mul("fp32-even", "f32-reciprocal"),
        64,
        "torch-tail",
        beyond="lowest, wraps",
    ),
    "torch-tail": PairRule(
        "as torch; only results beyond int32 differ",
        "torch, the last n % 64 elements",
        _mul("fp32-even", "f32-reciprocal"),
    ),
}
"""Rules of the product of two tensors, by name."""
