"""The slow twin of every front-door op: the formulas of the docstrings, in integers, fractions and numpy float32.

No code of the ops is used here. `twin(name)` finds a twin by the name of its op, "fixedpoint.apply_multiplier" being
`fixedpoint_apply_multiplier`. Codes come as flat integer arrays, real values as fractions.
"""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from exact import F32, clamp, divided, exact32, outward, rounded, values
from exact import holding_zero as affine_holding_zero
from reference_add import (
    add,
    add_full_range,
    add_pass,
    positions,
    quantized_add_8p8to8,
    quantized_add_8p8to32,
    quantized_sub_8p8to8,
    quantized_sub_8p8to32,
    sub,
)
from reference_mul import mul, quantized_mul_8x8to8, quantized_mul_8x8to32
from reference_network import concat, farthest, line, lookup, pad, softmax
from reference_pool import avg_pool, max_pool
from reference_pool import same as same_pads
from reference_products import conv2d, matmul
from reference_range import range_of
from reference_relu import relu, values_of

__all__ = [
    "add",
    "add_full_range",
    "add_pass",
    "avg_pool",
    "concat",
    "conv2d",
    "farthest",
    "line",
    "lookup",
    "matmul",
    "max_pool",
    "mul",
    "pad",
    "positions",
    "quantized_add_8p8to8",
    "quantized_add_8p8to32",
    "quantized_mul_8x8to8",
    "quantized_mul_8x8to32",
    "quantized_sub_8p8to8",
    "quantized_sub_8p8to32",
    "range_of",
    "relu",
    "same_pads",
    "softmax",
    "sub",
    "twin",
    "values",
    "values_of",
]


def twin(name):
    return globals()[name.replace(".", "_")]


# --- affine ----------------------------------------------------------------------------------------------------------


def affine_exact(lo, hi):
    """(scale, zero_point), or None where no zero point within 2**-15 means the same."""
    lo, hi = exact32(lo), exact32(hi)
    if lo == hi:
        return (0.0, 0) if lo == 0 else None
    code = -lo * 255 / (hi - lo)
    zero_point = rounded(code, "half_even")
    fits = abs(code - zero_point) <= Fraction(1, 2**15) and 0 <= zero_point <= 255
    return (float((hi - lo) / 255), zero_point) if fits else None


def affine_max_abs(limit):
    return float(exact32(limit) / 255), 0


def affine_symmetric(limit):
    return float(exact32(limit) / 127), 128


def range_of_all(lo, hi):
    """(min, max) of a result: that of all values if 0 is on a code of it, within 2**-15 of a step, else with one."""
    lo, hi = min(0.0, float(F32(lo))), max(0.0, float(F32(hi)))
    if affine_exact(lo, hi) is not None:
        return lo, hi
    scale, zero_point = affine_holding_zero(lo, hi)
    return float(F32(-zero_point * scale)), float(F32((255 - zero_point) * scale))


# --- quantize --------------------------------------------------------------------------------------------------------


def quantize(x, lo=None, hi=None):
    """(codes, min, max) of float32 values."""
    x = np.asarray(x, F32).ravel()
    lo = float(min(x, default=0)) if lo is None else lo
    hi = float(max(x, default=0)) if hi is None else hi
    scale, zero_point = affine_holding_zero(lo, hi)
    inverse = F32(1 / scale) if scale else F32(0)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = x * inverse  # one float32 rounding; what overflows saturates
    codes = [
        0 if math.isnan(v) else clamp(round(clamp(v, -999.0, 999.0)) + zero_point, 0, 255) for v in scaled.tolist()
    ]
    return np.uint8(codes), float(F32(-zero_point * scale)), float(F32((255 - zero_point) * scale))


def dequantize(codes, lo, hi):
    """Exact values; the op is within `dequantize_bound` of them."""
    return values(codes, lo, hi)


def dequantize_bound(lo, hi):
    return max(abs(Fraction(lo)), abs(Fraction(hi))) / 2**21 + Fraction(1, 2**141)


# --- requantize ------------------------------------------------------------------------------------------------------


def requantization_range(codes, top):
    if codes.size == 0:
        return 0.0, 0.0
    scale = 2 * float(F32(top)) / 2**32
    return outward(int(min(codes.flat)) * scale, int(max(codes.flat)) * scale)


def requantize(codes, in_range, lo, hi):
    """(k rounded half up once, exact positions times `unit`, `unit`): big integers, one output step is `unit`.

    The code is k, from int8 on k - 128.
    """
    a, b, lo, hi = (Fraction(float(F32(end))) for end in (*in_range, lo, hi))
    base, steps = (Fraction(0), 2**32) if codes.dtype == np.int32 else (a, 255)
    first = 128 if codes.dtype == np.int8 else 0
    step = (b - a) / steps
    unit = math.lcm(step.denominator, base.denominator, lo.denominator, hi.denominator)
    step, base, lo, hi = int(step * unit), int(base * unit), int(lo * unit), int(hi * unit)
    position = (base + (codes.ravel().astype(object) + first) * step - lo) * 255  # over hi - lo
    nearest = (2 * position + (hi - lo)) // (2 * (hi - lo))
    return np.clip(nearest, 0, 255).astype(int), position, hi - lo


requantize_32to8 = requantize


def with_term(x, p):
    """The sum x + term in 64 bits, which wrap: what is shifted."""
    shift = p["right_shift"]
    term = p["add"] + (p["if_negative"] if x < 0 else 0) + ((x >> shift) & p["if_odd"])
    return (x + term + 2**63) % 2**64 - 2**63


def integer_stage(codes, p):
    """The steps of a row of numbers, one code after the other."""
    found = []
    for x in codes.ravel().tolist():
        near = (clamp(x, p["lowest"], p["highest"]) - p["centre"]) << p["left_shift"]
        near = (near + 2**31) % 2**32 - 2**31
        high = with_term(near * p["multiplier"], p["first"]) >> p["first"]["right_shift"]
        total = clamp(with_term(high, p["second"]), p["least"], p["most"]) >> p["second"]["right_shift"]
        found.append(clamp(total + p["zero_point"], p["lowest_code"], p["highest_code"]))
    return found


# --- multiply_shift --------------------------------------------------------------------------------------------------


def fixedpoint_quantize_multiplier(factor):
    """(multiplier, right_shift): 31 bits, half away from zero; 0 for what needs a shift of more than 62."""
    exact = abs(Fraction(factor))
    if rounded(exact * 2**63, "half_up") < 2**31:
        return 0, 31
    right_shift = 62
    while right_shift > 0 and rounded(exact * 2**right_shift, "half_up") >= 2**31:
        right_shift -= 1
    return int(math.copysign(rounded(exact * 2**right_shift, "half_up"), factor)), right_shift


def rounding_doubling_high_mul(a, b):
    """Gemmlowp's SaturatingRoundingDoublingHighMul: nudge by sign, then a division that truncates toward zero."""
    if a == b == -(2**31):
        return 2**31 - 1
    nudged = a * b + (2**30 if a * b >= 0 else 1 - 2**30)
    return abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)


def rounding_divide_by_pot(x, exponent):
    """Gemmlowp's RoundingDivideByPOT: the remainder against a threshold, one higher below 0."""
    remainder, threshold = x % 2**exponent, (2**exponent - 1) // 2 + (x < 0)
    return x // 2**exponent + (remainder > threshold)


def fixedpoint_apply_multiplier(x, multiplier, right_shift, rounding):
    x = int(x)
    if rounding == "gemmlowp":
        shifted = (x * 2 ** max(0, 31 - right_shift) + 2**31) % 2**32 - 2**31
        return rounding_divide_by_pot(rounding_doubling_high_mul(shifted, multiplier), max(0, right_shift - 31))
    if rounding == "hvx":  # vmpy(.h,.h):<<1:rnd:sat: the high half of the doubled product in 32 bits
        return clamp(clamp(2 * x * multiplier + 2**15, -(2**31), 2**31 - 1) // 2**16, -(2**15), 2**15 - 1)
    return clamp(divided(x * multiplier, 2**right_shift, rounding), -(2**31), 2**31 - 1)


def fixedpoint_convert(x, fraction_bits, width, integer_bits, signed=True, rounding="floor", overflow="wrap"):
    real = Fraction(int(x)) * Fraction(2) ** (width - integer_bits - fraction_bits)
    low = math.floor(real)
    tie = real - low == Fraction(1, 2)
    nearest = low + (real - low > Fraction(1, 2))
    towards = {
        "half_up": low + 1,
        "half_down": low,
        "half_away": low + (real > 0),
        "half_toward_zero": low + (real < 0),
    }
    towards |= {"half_even": low + low % 2, "half_odd": low + 1 - low % 2}
    raw = {"floor": low, "truncate": math.trunc(real)}.get(rounding, towards.get(rounding, 0) if tie else nearest)
    lowest, count = (-(2 ** (width - 1)) if signed else 0), 2**width
    if overflow == "wrap":
        return (raw - lowest) % count + lowest
    highest = lowest + count - 1
    lowest += 1 if overflow == "symmetric" and signed else 0
    if overflow == "zero":
        return raw if lowest <= raw <= highest else 0
    return clamp(raw, lowest, highest)


def multiply_shift(x, factor, bits=7, rounding="floor"):
    multiplier = rounded(Fraction(factor) * 2**bits, "half_even")
    return fixedpoint_apply_multiplier(x, multiplier, bits, rounding)


# --- error -----------------------------------------------------------------------------------------------------------


def signed_error(codes, lo, hi, reference):
    """Differences of values and reference as fractions, and an LSB; a 0 that is next to a code is on it."""
    want = [Fraction(float(r)) for r in np.ravel(reference)]
    got = values(codes, lo, hi)
    lsb = (exact32(hi) - exact32(lo)) / (255 if codes.dtype == np.uint8 else 2**32)
    if codes.dtype == np.uint8 and lsb:
        base = exact32(lo) + clamp(rounded(-exact32(lo) / lsb, "half_even"), 0, 255) * lsb  # of the code nearest to 0
        got = [g - base for g in got] if abs(base) * 2**15 <= lsb else got
    return [g - w for g, w in zip(got, want, strict=True)], lsb


def log10(x):
    """Of a fraction that may be beyond the range of a float."""
    return math.log10(x.numerator) - math.log10(x.denominator)


def error(codes, lo, hi, reference):
    """The report, every sum exact."""
    differences, lsb = signed_error(codes, lo, hi, reference)
    off = [d / (lsb or 1) for d in differences]
    count, noise = len(off), sum(d**2 for d in differences)
    signal = sum(Fraction(float(r)) ** 2 for r in np.ravel(reference))
    return SimpleNamespace(
        max=float(max(map(abs, off))),
        mean=float(sum(map(abs, off)) / count),
        rms=math.sqrt(sum(o * o for o in off) / count),
        bias=float(sum(off) / count),
        sqnr=math.inf if noise == 0 else -math.inf if signal == 0 else 10 * (log10(signal) - log10(noise)),
        lsb=float(lsb),
        worst=max(range(count), key=lambda i: abs(off[i])),
    )
