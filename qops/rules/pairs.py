"""The rules of the sum and the product of two tensors of codes: `ADD` and `MUL`, and how they run."""

from __future__ import annotations

from collections.abc import Callable
from math import frexp, inf, isfinite
from typing import Any

import numpy as np

from qops._kernels.stage import prepared as stages
from qops._kernels.stage.multipliers import one_multiplier
from qops._kernels.stage.pair_stage import PairStage
from qops.fixedpoint import Multiplier
from qops.rules.numbers import BELOW_INFINITY, multiplier_of, rule_of
from qops.rules.operands import AddIntegers, Operands, PairRule
from qops.rules.scales import DERIVATIONS, Derivation, fma

__all__ = ["ADD", "MUL"]

F32 = np.float32
_LARGEST_SHIFT = 62
_HALF = 2**30, 31  # 1/2 as a multiplier and a right shift


def _side(zero_point: int = 0, multiplier: int = 0, scale: Any = 0.0, plus: Any = 0.0) -> dict[str, Any]:
    """The numbers of an operand."""
    return {"zero": zero_point, "multiplier": multiplier, "scale": float(scale), "plus": float(plus)}


# ---------------------------------------------------------------- add


def _of_scales(rule: str) -> Callable[[Operands], AddIntegers]:
    """TFLite's integers: of both operands, relative to twice the larger scale, and of the result."""
    kind = rule_of(rule).multiplier

    def derived(p: Operands) -> AddIntegers:
        twice = 2 * max(p.a_scale, p.b_scale)
        scales = p.a_scale / twice, p.b_scale / twice, twice / (2**p.left_shift * p.y_scale)
        steps = AddIntegers(*(Multiplier(*one_multiplier(scale, kind)) for scale in scales))
        if not all(0 <= right_shift <= _LARGEST_SHIFT for _, right_shift in steps):
            raise ValueError(f"too far apart, so that a right shift is not in 0..{_LARGEST_SHIFT}: {steps}")
        return steps

    return derived


def _staged(p: Operands, steps: list[Multiplier], lefts: list[int], second: str, last: Any) -> PairStage:
    """Shift each operand to the left, multiply and round it once or twice, first half up; the last stage takes the sum.

    TFLite multiplies the operand with the larger scale by exactly 1/2. That is a left shift of one bit less, and needs
    no rounding. If both scales are equal, this holds for both operands, and the form is "sum".
    """
    zeros, typenum = (p.a_zero_point, p.b_zero_point), p.codes.dtype.num
    halves = [step == _HALF and left > 0 for step, left in zip(steps, lefts, strict=True)]
    if all(halves):
        a, b = (_side(z, 2 ** (left - 1)) for z, left in zip(zeros, lefts, strict=True))
        return PairStage("sum", a, b, last, typenum)
    a, of_a = _rounded(p, zeros[0], steps[0], lefts[0], second)
    b, of_b = _rounded(p, zeros[1], steps[1], lefts[1], second)
    if halves[0]:
        return PairStage("staged", _side(zeros[0], lefts[0] - 1), b, last, typenum, of_b=of_b)
    if halves[1]:
        return PairStage("staged", _side(zeros[1], lefts[1] - 1), a, last, typenum, of_b=of_a, exchanged=True)
    return PairStage("staged", a, b, last, typenum, of_a=of_a, of_b=of_b)


def _rounded(p: Operands, zero: int, step: Multiplier, left: int, second: str) -> tuple[dict[str, Any], Any]:
    """The numbers of an operand that is multiplied and rounded, and the stage that does it."""
    m, n = step
    # int32 has two bits left, with which lanes need no low words of the products; but a shift to the left may wrap
    more = 0 if p.codes.highest > 255 or n > _LARGEST_SHIFT - 2 or n < 31 else 2
    rounds, ends = ("half_up", second, "at 31" if second else "once"), (0, -(2**31), 2**31 - 1)
    wraps = "" if second else "result"
    return _side(zero, left + more), stages.IntegerStage(m, n, rounds, ends, wraps, shifted=more)


def _tflite_add(rule: str) -> Callable[[Operands], PairStage]:
    def made(p: Operands) -> PairStage:
        *both, last = p.integers
        return _staged(p, both, [p.left_shift] * 2, rule_of(rule).second, p.last(rule, last))

    return made


def _tflite_optimised(is_signed: bool) -> Callable[[Operands], PairStage]:
    """The part of a right shift beyond 31: for s8 the left shift of 20 is less by it; for u8 it floors at the end."""

    def made(p: Operands) -> PairStage:
        *both, last = p.integers
        less = [right_shift - 31 for _, right_shift in both]
        if max(less) > 20 or min(less) < 0:
            raise ValueError("a and b are more than 2**20 apart, or multiplied by 1 or more")
        if _is_far(p):
            end = _in_16_bits(p, last, (-(2**31), 2**31 - 1), "sum with the zero point")
        else:
            end = p.last("tflite-double", last)
        if is_signed:
            return _staged(p, [Multiplier(m, 31) for m, _ in both], [20 - n for n in less], "", end)
        return _staged(p, both, [20, 20], "floor", end)

    return made


def _is_far(p: Operands) -> bool:
    """Whether a sum may be one that 16 bits do not hold."""
    width, (a, b, y) = p.codes.highest - p.codes.lowest, (m / 2**n for m, n in p.integers)
    return bool(width * 2**20 * (abs(a) + abs(b)) * abs(y) > 2**15 - 512)


def _in_16_bits(p: Operands, step: Multiplier, ends: tuple[int, int], wraps: str = "") -> Any:
    """TFLite's optimised last stage: rounded twice and cut to ends, with the zero point wrapped in 16 bits, clamped."""
    zero, (lo, hi) = p.y_zero_point, ends
    rounds = "half_up", "half_away", "at 31"
    near = stages.IntegerStage(*step, rounds, (zero, lo, hi), wraps)
    wrapped = stages.IntegerStage(2**15, 15, ("half_up", "", "at 31"), (0, p.qmin, p.qmax))  # 16 bits up, and back
    return stages.TwoStages(near, wrapped)


def _of_ratios(bits: int) -> Callable[[Operands], AddIntegers]:
    """Multipliers of `bits` + 1 bits for a_scale / y_scale and b_scale / y_scale, with one right shift for both."""

    def derived(p: Operands) -> AddIntegers:
        with np.errstate(all="ignore"):  # what is beyond float32 is refused
            ratios = [F32(s) / F32(p.y_scale) for s in (p.a_scale, p.b_scale)]
        if not 2.0**-40 < max(ratios) < 2**8:
            raise ValueError("the larger of a_scale / y_scale and b_scale / y_scale is not between 2**-40 and 2**8")
        right_shift = bits - frexp(float(max(ratios)))[1] + 1
        a, b = (Multiplier(int(np.rint(r * F32(2.0**right_shift))), 0) for r in ratios)
        return AddIntegers(a, b, Multiplier(1, right_shift))

    return derived


def _by_ratios(rule: str) -> Callable[[Operands], PairStage]:
    def made(p: Operands) -> PairStage:
        (m, a_shift), (n, b_shift), (one, right_shift) = p.integers
        if (a_shift, b_shift, one) != (0, 0, 1) or max(abs(m), abs(n)) >= 2**22:
            raise ValueError("a and b have multipliers of at most 22 bits and right shifts of 0, and y is (1, shift)")
        wider = max(0, 34 - right_shift)  # the same factor, so that lanes need only the upper 32 bits of the product
        last = p.last(rule, (1 << wider, right_shift + wider))
        return PairStage("sum", _side(p.a_zero_point, m), _side(p.b_zero_point, n), last, p.codes.dtype.num)

    return made


@np.errstate(all="ignore")  # what is beyond float32 is refused
def _in_float32(p: Operands, form: str, a: dict[str, Any], b: dict[str, Any], last: Any) -> PairStage:
    """Give what computes a form in float32; ValueError if the lowest or highest codes lead beyond float32."""
    step = float(F32(p.y_scale))
    ends = [[(q - s["zero"]) * s["scale"] + s["plus"] for q in (p.codes.lowest, p.codes.highest)] for s in (a, b)]
    values = [step, 1 / step if step else inf, *ends[0], *ends[1], *(x + y for x in ends[0] for y in ends[1])]
    if not all(abs(value) < BELOW_INFINITY for value in values):
        raise ValueError("float32 does not hold what is computed of the lowest or highest codes")
    return PairStage(form, a, b, last, p.codes.dtype.num)


@np.errstate(all="ignore")  # as above
def _ort_add(p: Operands) -> PairStage:
    ra, rb = F32(p.a_scale) / F32(p.y_scale), F32(p.b_scale) / F32(p.y_scale)
    constant = F32(p.y_zero_point) - fma(ra, F32(p.a_zero_point), rb * F32(p.b_zero_point))
    a, b = _side(scale=ra), _side(scale=rb, plus=constant)
    last = stages.FloatStage(1.0, "half_even", p.qmin, p.qmax, beyond=p.beyond)
    return _in_float32(p, "chain", a, b, last)


@np.errstate(all="ignore")  # as above
def _torch_vectors(p: Operands) -> PairStage:
    both = (p.a_scale, p.a_zero_point), (p.b_scale, p.b_zero_point)
    a, b = (_side(scale=F32(s), plus=-F32(z) * F32(s)) for s, z in both)
    return _in_float32(p, "float sum", a, b, p.last_float(F32(1) / F32(p.y_scale), "outside"))


@np.errstate(all="ignore")  # as above
def _torch_tail(p: Operands) -> PairStage:
    a, b = _side(p.a_zero_point, scale=F32(p.a_scale)), _side(p.b_zero_point, scale=F32(p.b_scale))
    return _in_float32(p, "float sum", a, b, p.last_float(F32(1) / F32(p.y_scale), "inside"))


ADD = {
    "tflite-double": PairRule(
        "MBQM((a << 20), ma) + MBQM((b << 20), mb), then MBQM(sum, my) + z; int16: << 15; MBQM by tflite-double",
        "TFLite reference, CMSIS-NN, TFLM",
        _tflite_add("tflite-double"),
        _of_scales("tflite-double"),
        takes_int16=True,
    ),
    "tflite-single": PairRule(
        "the same, MBQM by tflite-single",
        "CMSIS-NN, TFLM, single rounding",
        _tflite_add("tflite-single"),
        _of_scales("tflite-single"),
        takes_int16=True,
    ),
    "tflite-opt-s8": PairRule(
        "SRDHM(a << (20 + ea), ma) + SRDHM(b << (20 + eb), mb), then as tflite-double; with z it wraps in 16 bits",
        "TFLite optimised, s8",
        _tflite_optimised(True),
        _of_scales("tflite-double"),
        16,
        "tflite-double",
    ),
    "tflite-opt-u8": PairRule(
        "(SRDHM(a << 20, ma) >> -ea) + (SRDHM(b << 20, mb) >> -eb), then as tflite-double; with z it wraps in 16 bits",
        "TFLite optimised, u8",
        _tflite_optimised(False),
        _of_scales("tflite-double"),
        8,
        "tflite-double",
    ),
    "xnnpack": PairRule(
        "(a * ma + b * mb + 2**(n-1)) >> n, 21 bits", "XNNPACK, so TFLite", _by_ratios("rndnu"), _of_ratios(20)
    ),
    "qnnpack": PairRule("the same with 22 bits, half away", "QNNPACK", _by_ratios("rndna"), _of_ratios(21)),
    "torch-qnnpack": PairRule("the same as qnnpack", "torch, engine qnnpack", _by_ratios("rndna"), _of_ratios(21)),
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
        width=64,
        tail="torch-tail",
        beyond="cut, wraps",
    ),
    "torch-tail": PairRule(
        "rint((a * sa + b * sb) * (1 / sy) + z) in float32", "torch, the last n % 64 elements", _torch_tail
    ),
}
"""Rules of the sum of two tensors, by name."""


# ---------------------------------------------------------------- mul


def _real(p: Operands, derive: Derivation) -> float:
    """The real scale of a product as its system forms it."""
    with np.errstate(all="ignore"):  # what is beyond floats is refused
        scale = float(DERIVATIONS[derive](p.a_scale, p.b_scale, p.y_scale))
    if not isfinite(scale):
        raise ValueError(f"{derive} gives {scale}")
    return scale


def _of_product(rule: str, derive: Derivation) -> Callable[[Operands], Multiplier]:
    return lambda p: Multiplier(*multiplier_of(rule_of(rule), _real(p, derive)))


def _in_integers(rule: str) -> Callable[[Operands], PairStage]:
    def made(p: Operands) -> PairStage:
        last = p.last(rule, p.integers)
        return PairStage("product", _side(p.a_zero_point), _side(p.b_zero_point), last, p.codes.dtype.num)

    return made


def _of_optimised(p: Operands) -> PairStage:
    """Products are cut to 16 bits, and then wrap where the zero point is added."""
    (m, n), width = p.integers, p.codes.highest - p.codes.lowest
    last = p.last("tflite-double", p.integers)
    if width**2 * abs(m) / 2**n > 2**15 - 512:
        last = _in_16_bits(p, p.integers, (p.y_zero_point - 2**15, p.y_zero_point + 2**15 - 1))
    return PairStage("product", _side(p.a_zero_point), _side(p.b_zero_point), last, p.codes.dtype.num)


def _in_floats(rule: str, derive: Derivation) -> Callable[[Operands], PairStage]:
    def made(p: Operands) -> PairStage:
        last = p.last_float(_real(p, derive), rule_of(rule).zero_point)
        return PairStage("product", _side(p.a_zero_point), _side(p.b_zero_point), last, p.codes.dtype.num)

    return made


MUL = {
    "tflite-double": PairRule(
        "tflite-double of a * b, scale f32",
        "LiteRT 2.3 reference",
        _in_integers("tflite-double"),
        _of_product("tflite-double", "f32"),
        takes_int16=True,
    ),
    "tflite-opt-s8": PairRule(
        "as tflite-double, cut to 16 bits, in which it wraps where z is added",
        "LiteRT 2.3 optimised, s8",
        _of_optimised,
        _of_product("tflite-double", "f32"),
        16,
        "tflite-double",
    ),
    "tflite-opt-u8": PairRule(
        "the same",
        "LiteRT 2.3 optimised, u8",
        _of_optimised,
        _of_product("tflite-double", "f32"),
        8,
        "tflite-double",
    ),
    "tflm-double": PairRule(
        "tflite-double of a * b, scale double",
        "TFLM, CMSIS-NN",
        _in_integers("tflite-double"),
        _of_product("tflite-double", "double"),
        takes_int16=True,
    ),
    "tflite-single": PairRule(
        "tflite-single of a * b, scale double",
        "CMSIS-NN, TFLM, single rounding",
        _in_integers("tflite-single"),
        _of_product("tflite-single", "double"),
        takes_int16=True,
    ),
    "fp32-even": PairRule("fp32-even of a * b, scale f32", "XNNPACK on x86, so TFLite", _in_floats("fp32-even", "f32")),
    "ort-x86": PairRule(
        "fp32-even-zp-inside of a * b, scale f32",
        "onnxruntime 1.31 and 1.32 QLinearMul",
        _in_floats("fp32-even-zp-inside", "f32"),
        beyond="lowest",
    ),
    "torch": PairRule(
        "fp32-even of a * b, scale f32-reciprocal",
        "torch 2.13 on AVX-512, every engine",
        _in_floats("fp32-even", "f32-reciprocal"),
        width=64,
        tail="torch-tail",
        beyond="lowest, wraps",
    ),
    "torch-tail": PairRule(
        "as torch; only results beyond int32 differ",
        "torch, the last n % 64 elements",
        _in_floats("fp32-even", "f32-reciprocal"),
    ),
}
"""Rules of the product of two tensors, by name."""
