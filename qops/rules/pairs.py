"""The rules of the sum and the product of two tensors of 8-bit codes: `ADD` and `MUL`, and how they run."""

from collections.abc import Callable
from math import frexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.multipliers import one_multiplier
from qops.fixedpoint import Multiplier
from qops.fixedpoint import multiply_shift as shifted
from qops.rules.accumulators import requantize
from qops.rules.scales import Derivation, fma, real_scale

__all__ = ["ADD", "MUL", "PairRule"]

F32 = np.float32
Array = NDArray[Any]
_ALL_PAIRS = 1 << 16


class Operands(NamedTuple):
    """Scales and zero points of a, b and the result, and the ends of its codes."""

    a_scale: float
    a_zero_point: int
    b_scale: float
    b_zero_point: int
    y_scale: float
    y_zero_point: int
    lo: int
    hi: int

    @property
    def left_shift(self) -> int:
        """By how much TFLite's add shifts codes to the left: 15 bits those of 16 bits, 20 those of 8."""
        return 15 if self.hi > 255 else 20

    def without_zero(self, a: Array, b: Array) -> tuple[Array, Array]:
        """The codes less their zero points, as int32."""
        return a.astype(np.int32) - np.int32(self.a_zero_point), b.astype(np.int32) - np.int32(self.b_zero_point)

    def cut(self, values: Array) -> Array:
        """Whole numbers, the zero point in them, clamped to the codes."""
        return np.clip(values, self.lo, self.hi)


class PairRule(NamedTuple):
    """One row of `ADD` or `MUL`.

    Attributes
    ----------
    formula : str
        What is computed, with a and b less their zero points unless it says otherwise.
    systems : str
        Who computes it.
    codes : callable
        (a, b, operands) -> codes.
    width : int
        Elements that are computed together, 0 if each is by itself: those that do not fill it go by the rule `tail`.
    tail : str
        Name of that rule.
    takes_int16 : bool
        Whether it is a rule of int16 codes, too.
    """

    formula: str
    systems: str
    codes: Callable[[Array, Array, Operands], Array]
    width: int = 0
    tail: str = ""
    takes_int16: bool = False


# ---------------------------------------------------------------- add


def _steps(p: Operands, rule: str) -> tuple[Multiplier, Multiplier, Multiplier]:
    """The multipliers of TFLite's add: of both inputs, relative to twice the larger scale, and of the result."""
    twice = 2 * max(p.a_scale, p.b_scale)
    kind = "31 bits, below 2**30" if rule == "tflite-single" else "31 bits"
    scales = p.a_scale / twice, p.b_scale / twice, twice / (2**p.left_shift * p.y_scale)
    first, second, last = (Multiplier(*one_multiplier(scale, kind)) for scale in scales)
    return first, second, last


def _tflite_add(rule: str) -> Callable[[Array, Array, Operands], Array]:
    def codes(a: Array, b: Array, p: Operands) -> Array:
        first, second, last = _steps(p, rule)
        x, y = p.without_zero(a, b)
        left, right = (
            requantize(v << p.left_shift, rule, integers=m, dtype=np.int32) for v, m in ((x, first), (y, second))
        )
        return p.cut(requantize(left + right, rule, integers=last, dtype=np.int32).astype(np.int64) + p.y_zero_point)

    return codes


def _tflite_optimised(is_signed: bool) -> Callable[[Array, Array, Operands], Array]:
    """s8: the left shift takes in the multiplier's own; u8: shifted right without rounding."""

    def scaled(x: Array, m: Multiplier) -> Array:
        less = m.right_shift - 31
        if less > 20:
            raise ValueError("a_scale, b_scale: more than 2**20 apart")
        high = shifted(x << (20 - less if is_signed else 20), m.multiplier, 31)
        return high if is_signed else high >> less

    def codes(a: Array, b: Array, p: Operands) -> Array:
        first, second, last = _steps(p, "tflite-double")
        x, y = p.without_zero(a, b)
        total = scaled(x, first) + scaled(y, second)
        return p.cut(
            requantize(total, "tflite-double", integers=last, dtype=np.int32).astype(np.int64) + p.y_zero_point
        )

    return codes


def _of_ratios(bits: int, rule: str) -> Callable[[Array, Array, Operands], Array]:
    """Multipliers of so many bits for the ratios of the scales, one shift."""

    def codes(a: Array, b: Array, p: Operands) -> Array:
        ratios = [F32(s) / F32(p.y_scale) for s in (p.a_scale, p.b_scale)]
        if not 2.0**-40 < max(ratios) < 2**8:
            raise ValueError(f"y_scale: {p.y_scale} is not above the other scales / 256, and below them * 2**40")
        right_shift = bits - frexp(float(max(ratios)))[1] + 1
        m, n = (int(np.rint(r * F32(2.0**right_shift))) for r in ratios)
        x, y = p.without_zero(a, b)
        total = x.astype(np.int64) * m + y.astype(np.int64) * n
        return requantize(
            total, rule, integers=(1, right_shift), dtype=np.int32, zero_point=p.y_zero_point, qmin=p.lo, qmax=p.hi
        )

    return codes


def _ort_add(a: Array, b: Array, p: Operands) -> Array:
    ra, rb = F32(p.a_scale) / F32(p.y_scale), F32(p.b_scale) / F32(p.y_scale)
    constant = F32(p.y_zero_point) - fma(ra, F32(p.a_zero_point), rb * F32(p.b_zero_point))
    return p.cut(np.rint(fma(a.astype(F32), ra, fma(b.astype(F32), rb, constant))))


def _torch_vectors(a: Array, b: Array, p: Operands) -> Array:
    x, y = (
        fma(q.astype(F32), F32(s), -F32(z) * F32(s))
        for q, s, z in ((a, p.a_scale, p.a_zero_point), (b, p.b_scale, p.b_zero_point))
    )
    return p.cut(np.rint((x + y) * (F32(1) / F32(p.y_scale))) + p.y_zero_point)


def _torch_tail(a: Array, b: Array, p: Operands) -> Array:
    x, y = (q.astype(F32) * F32(s) for q, s in zip(p.without_zero(a, b), (p.a_scale, p.b_scale), strict=True))
    return p.cut(np.rint((x + y) * (F32(1) / F32(p.y_scale)) + F32(p.y_zero_point)))


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
        "onnxruntime QLinearAdd, AVX2 and AVX-512",
        _ort_add,
    ),
    "torch": PairRule(
        "rint((a * sa + b * sb) * (1 / sy)) + z in float32",
        "torch, fbgemm, x86, onednn",
        _torch_vectors,
        64,
        "torch-tail",
    ),
    "torch-tail": PairRule(
        "rint((a * sa + b * sb) * (1 / sy) + z) in float32", "torch, the last n % 64 elements", _torch_tail
    ),
}
"""Rules of the sum of two tensors, by name."""


# ---------------------------------------------------------------- mul


def _mul(rule: str, derive: Derivation) -> Callable[[Array, Array, Operands], Array]:
    def codes(a: Array, b: Array, p: Operands) -> Array:
        x, y = p.without_zero(a, b)
        scale = real_scale(p.a_scale, p.b_scale, p.y_scale, derive)
        return requantize(x * y, rule, scale=scale, zero_point=p.y_zero_point, dtype=np.int32, qmin=p.lo, qmax=p.hi)

    return codes


MUL = {
    "tflite-double": PairRule(
        "tflite-double of a * b",
        "TFLite reference and optimised, CMSIS-NN",
        _mul("tflite-double", "double"),
        takes_int16=True,
    ),
    "tflite-single": PairRule(
        "tflite-single of a * b",
        "CMSIS-NN, TFLM, single rounding",
        _mul("tflite-single", "double"),
        takes_int16=True,
    ),
    "fp32-even": PairRule("fp32-even of a * b, scale f32", "XNNPACK on x86, so TFLite", _mul("fp32-even", "f32")),
    "ort-x86": PairRule(
        "fp32-even-zp-inside of a * b, scale f32", "onnxruntime QLinearMul", _mul("fp32-even-zp-inside", "f32")
    ),
    "torch": PairRule(
        "fp32-even of a * b, scale f32-reciprocal", "torch, every engine", _mul("fp32-even", "f32-reciprocal")
    ),
}
"""Rules of the product of two tensors, by name."""


# ---------------------------------------------------------------- both


def _by_pairs(rule: PairRule, a: Array, b: Array, p: Operands) -> Array:
    """The codes of each element by itself; of many, from a table of all pairs of codes."""
    if a.size < _ALL_PAIRS or a.dtype.itemsize > 1:
        return rule.codes(a, b, p)
    every = np.arange(256, dtype=np.uint8).view(a.dtype)
    table = rule.codes(np.repeat(every, 256), np.tile(every, 256), p)
    return np.take(table, (a.view(np.uint8).astype(np.uint16) << 8) | b.view(np.uint8))


def codes_of(table: dict[str, PairRule], rule: PairRule, a: Array, b: Array, p: Operands) -> Array:
    """The codes of two flat arrays, vectors first and then the tail."""
    whole = a.size // rule.width * rule.width if rule.width else a.size
    head = _by_pairs(rule, a[:whole], b[:whole], p)
    if whole == a.size:
        return head
    return np.concatenate([head, table[rule.tail].codes(a[whole:], b[whole:], p)])
