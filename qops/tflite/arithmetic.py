"""TFLite's integer arithmetic on arrays of int64, each step as the original rounds, saturates or wraps it."""

from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.multipliers import one_multiplier
from qops.rules.scales import fma

__all__ = [
    "F32",
    "Codes",
    "Multiplier",
    "cast",
    "double_high",
    "half_away",
    "leading_zeros",
    "multiply_add",
    "named",
    "power_of_two",
    "quantized",
    "rounded_shift",
    "scaled",
    "scaled_once",
    "scaled_up",
    "scaled_wide",
    "shifted_up",
    "wrap",
]

F32 = np.float32
Codes = NDArray[np.int64]
Multiplier = tuple[int, int]
"""A factor as TFLite has it: 31 bits, and a shift that is positive to the left."""


def quantized(scale: float) -> Multiplier:
    """Give TFLite's multiplier of a real scale, which may be negative; QuantizeMultiplier.

    Examples
    --------
    >>> from qops.tflite.arithmetic import quantized
    >>> quantized(0.0033), quantized(-0.75)
    ((1814194186, -8), (-1610612736, 0))
    """
    if not abs(scale) < 2.0**60:
        raise bad_value("scale", f"a factor of {scale} has no multiplier")
    multiplier, right_shift = one_multiplier(abs(float(scale)), "31 bits")
    return (-multiplier if scale < 0 else multiplier), 31 - right_shift


def named(by: Multiplier, of: str = "") -> dict[str, int]:
    """Give a multiplier and its shift by their names; `of`: the name of what they belong to."""
    return dict(zip((f"{of}_multiplier", f"{of}_shift") if of else ("multiplier", "shift"), by, strict=True))


def power_of_two(scale: float) -> int | None:
    """Give the exponent of a scale that is a power of two, or whose logarithm is within 0.001 of one; CheckedLog2."""
    exponent = log2(scale)
    return round(exponent) if abs(exponent - round(exponent)) < 1e-3 else None


def wrap(x: Any, bits: int = 32) -> Codes:
    """Give the low bits as a signed integer."""
    return np.asarray(np.asarray(x, np.int64) << (64 - bits) >> (64 - bits))


def cast(x: NDArray[Any], beyond: str) -> Codes:
    """Give whole floats as integers of 32 bits; those beyond become the "lowest", as on x86, or it "saturates"."""
    fits = (x >= -(2.0**31)) & (x < 2.0**31)
    ends = np.where(x > 0, 2**31 - 1, -(2**31)) if beyond == "saturates" else -(2**31)
    return np.where(fits, np.where(fits, x, 0).astype(np.int64), ends)


def double_high(a: Any, b: Any, bits: int = 31) -> Codes:
    """Give ``half_up(a * b / 2**bits)``, saturated: gemmlowp's SaturatingRoundingDoublingHighMul of bits + 1 bits."""
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    product += 1 << (bits - 1)
    product >>= bits
    return np.minimum(product, 2**bits - 1)


def rounded_shift(x: Any, right_shift: Any) -> Codes:
    """Give ``half_away(x / 2**right_shift)``: gemmlowp's RoundingDivideByPOT."""
    x, n = np.asarray(x, np.int64), np.asarray(right_shift, np.int64)
    half = (np.int64(1) << n) >> 1
    return np.asarray((x + half - ((x < 0) & (n > 0))) >> n)


def shifted_up(x: Any, right_shift: Any) -> Codes:
    """Give ``half_up(x / 2**right_shift)``."""
    n = np.asarray(right_shift, np.int64)
    return np.asarray((np.asarray(x, np.int64) + ((np.int64(1) << n) >> 1)) >> n)


def scaled(x: Any, by: tuple[Any, Any]) -> Codes:
    """Give x times a multiplier, rounded twice, half up and half away: MultiplyByQuantizedMultiplier."""
    m, e = (np.asarray(part, np.int64) for part in by)
    return rounded_shift(double_high(wrap(np.asarray(x, np.int64) << np.maximum(e, 0)), m), np.maximum(-e, 0))


def scaled_once(x: Any, by: tuple[Any, Any]) -> Codes:
    """Give the same rounded once, half up: MultiplyByQuantizedMultiplier as TFLITE_SINGLE_ROUNDING builds it."""
    m, e = (np.asarray(part, np.int64) for part in by)
    m, e = np.where(e > 30, 2**31 - 1, m), np.minimum(e, 30)
    return wrap((wrap(x) * m + (np.int64(1) << (30 - e))) >> (31 - e))


def scaled_up(x: Any, by: tuple[Any, Any]) -> Codes:
    """Give the same with both steps rounded half up, as vector instructions of ARM do."""
    m, e = (np.asarray(part, np.int64) for part in by)
    return shifted_up(double_high(wrap(np.asarray(x, np.int64) << np.maximum(e, 0)), m), np.maximum(-e, 0))


def scaled_wide(x: Any, by: tuple[Any, Any]) -> Codes:
    """Give x, of 48 bits, times a multiplier reduced to 15 bits, rounded once, half up."""
    m, e = (np.asarray(part, np.int64) for part in by)
    reduced, n = np.where(m < 0x7FFF0000, (m + 2**15) >> 16, 0x7FFF), 15 - e
    return wrap((np.asarray(x, np.int64) * reduced + (np.int64(1) << (n - 1))) >> n)


def multiply_add(a: Any, b: Any, c: Any, fuses: bool) -> NDArray[Any]:
    """Give ``a * b + c`` in the type of floats that they have; if it `fuses`, float32 rounded once."""
    return fma(a, b, c) if fuses else np.asarray(a * b + c)


def half_away(x: Any) -> NDArray[Any]:
    """Round floats half away from 0, exactly."""
    x = np.asarray(x)
    with np.errstate(invalid="ignore"):  # infinities stay what they are
        whole = np.trunc(x)
        return np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole)


def leading_zeros(x: Any) -> Codes:
    """Count the leading zeros of integers of 32 bits, not negative."""
    return 32 - np.frexp(np.asarray(x, np.float64))[1].astype(np.int64)
