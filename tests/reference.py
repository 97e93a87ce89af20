"""The slow twin of every front-door op: the formulas of the docstrings, in Python integers, fractions and numpy float32.

No code of the ops is used here. `twin(name)` finds a twin by the name of its op, "fixedpoint.multiply_shift" being
`fixedpoint_multiply_shift`. Codes come as flat integer arrays, real values as fractions.
"""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np

F32 = np.float32


def twin(name):
    return globals()[name.replace(".", "_")]


def exact32(value):
    """The float32 next to a number, as a fraction: what every end of a range is."""
    return Fraction(float(F32(value)))


def values(codes, lo, hi):
    """Exact real values: min + q * (max - min) / 255 of uint8 codes, q * (max - min) / 2**32 of int32 codes."""
    lo, hi = exact32(lo), exact32(hi)
    steps, base = (255, lo) if codes.dtype == np.uint8 else (2**32, 0)
    return [base + int(q) * (hi - lo) / steps for q in codes.flat]


def outward(lo, hi):
    """The narrowest float32 range that holds lo..hi."""
    with np.errstate(over="ignore"):
        low, high = F32(lo), F32(hi)
        low = np.nextafter(low, F32(-np.inf)) if float(low) > lo else low
        high = np.nextafter(high, F32(np.inf)) if float(high) < hi else high
    return float(low), float(high)


def rounded(value, rounding):
    """An exact fraction rounded to an integer by a named rule."""
    floor = math.floor(value)
    if rounding == "truncate":
        return floor
    rest = value - floor
    if rest != Fraction(1, 2):
        return floor + (rest > Fraction(1, 2))
    up = {"half_up": True, "half_away": value > 0, "half_even": floor % 2 == 1}[rounding]
    return floor + up


def clamp(value, lowest, highest):
    return max(lowest, min(highest, value))


# --- affine ----------------------------------------------------------------------------------------------------------


def affine_holding_zero(lo, hi):
    """(scale, zero_point): of all zero points the one that needs the smallest scale, the lowest of equals."""
    lo, hi = min(Fraction(0), exact32(lo)), max(Fraction(0), exact32(hi))
    if lo == hi:
        return 0.0, 0
    narrowest = Fraction(255, 2**125)
    if hi - lo < narrowest:
        lo, hi = (lo, lo + narrowest) if hi > -lo else (hi - narrowest, hi)

    def scale(zero):
        below = -lo / zero if zero else (math.inf if lo < 0 else 0)
        above = hi / (255 - zero) if zero < 255 else (math.inf if hi > 0 else 0)
        return max(below, above)

    zero_point = min(range(256), key=scale)
    return float(scale(zero_point)), zero_point


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
    codes = [0 if math.isnan(v) else clamp(round(clamp(v, -999.0, 999.0)) + zero_point, 0, 255) for v in scaled.tolist()]
    return np.uint8(codes), float(F32(-zero_point * scale)), float(F32((255 - zero_point) * scale))


def dequantize(codes, lo, hi):
    """Exact values; the op is within `dequantize_bound` of them."""
    return values(codes, lo, hi)


def dequantize_bound(lo, hi):
    return max(abs(Fraction(lo)), abs(Fraction(hi))) / 2**21 + Fraction(1, 2**141)


# --- add -------------------------------------------------------------------------------------------------------------


def zero_code(lo, hi):
    """Code of 0, cut at 0 and at the highest float32 below 2**31, as nnlib's quantize_uint: round half away, in float32."""
    with np.errstate(over="ignore"):
        scaled = float((F32(0) - lo) * (F32(255) / max(F32(1e-18), hi - lo)))
    return 0 if scaled < 0 else math.floor(Fraction(min(scaled, 2.0**31 - 128)) + Fraction(1, 2))


def quantized_add_8p8to32(a, b):
    """(codes, max), float32 arithmetic step by step."""
    (qa, a_min, a_max), (qb, b_min, b_max) = ((np.ravel(q), F32(lo), F32(hi)) for q, lo, hi in (a, b))
    top = max(abs(a_min), a_max, abs(b_min), b_max) * F32(2**17)
    if top == 0:
        return np.zeros(qa.shape, np.int32), 0.0
    level = (top + top) / F32(2**32)
    za, zb = min(255, zero_code(a_min, a_max)), zero_code(b_min, b_max)
    ma, mb = ((hi - lo) / F32(255) / level if level > 0 else F32(0) for lo, hi in ((a_min, a_max), (b_min, b_max)))
    x = (qa.astype(np.int64) - za).astype(F32) * ma
    y = (qb.astype(np.int64) - zb).astype(F32) * mb
    return np.trunc((F32(0.5) + x) + y).astype(np.int32), float(top)


def positions(a, b, c):
    """256 x 256 exact sums of the ranges a and b, in steps of the range c above c's min (float64, good to 1e-12)."""
    (a_min, a_max), (b_min, b_max), (c_min, c_max) = ((Fraction(lo), Fraction(hi)) for lo, hi in (a, b, c))
    step = (c_max - c_min) / 255
    x = [float((a_min + b_min - c_min + q * (a_max - a_min) / 255) / step) for q in range(256)]
    y = [float(q * (b_max - b_min) / 255 / step) for q in range(256)]
    return np.add.outer(x, y)


def add_narrow(a, b, c):
    """One pass of the 16-bit loop: (values before the shift, code of each, lowest and highest sum in output steps)."""
    (qa, a_step, a_min), (qb, b_step, b_min), (c_step, c_min) = a, b, c
    ka, kb = round(8192 * a_step / c_step), round(8192 * b_step / c_step)
    offset = round((a_min + b_min - c_min) / c_step * 32) + 17
    x = ((qa << 8) * ka >> 16) + ((qb << 8) * kb >> 16) + offset
    assert 0 <= ka < 2**16
    assert 0 <= kb < 2**16
    assert -(2**15) <= x.min()
    assert x.max() < 2**15
    return x >> 5, (int(x.min()) - 16 - 3, int(x.max()) - 16 + 3), c_step / 32


def add_wide(a, b, c):
    """One pass with every term in 1/65536 output steps."""
    (qa, a_step, a_min), (qb, b_step, b_min), (c_step, c_min) = a, b, c
    unit = c_step / 65536
    ta = np.array([round(q * (a_step / unit)) for q in range(256)])
    tb = np.array([round(q * (b_step / unit) + (a_min + b_min - c_min) / unit) + 32768 for q in range(256)])
    x = ta[qa] + tb[qb]
    return x >> 16, (int(x.min()) - 32768 - 2, int(x.max()) - 32768 + 2), unit


def add_is_narrow(a, b, c):
    """Whether the 16-bit loop can hold it: multipliers of 16 bits, sums of 15 bits and a sign."""
    (a_min, a_max), (b_min, b_max), (c_min, c_max) = a, b, c
    step = (c_max - c_min) / 255
    ends = [(a_min + b_min - c_min) / step * 32, (a_max + b_max - c_min) / step * 32]
    slopes = [(a_max - a_min) / 255, (b_max - b_min) / 255]
    return ends[0] > -32700 and ends[1] < 32700 and all(slope < 7.99 * step for slope in slopes)


def add_pass(a, b, c):
    """One pass: codes, whether all fitted, the range found, which loop."""
    narrow = add_is_narrow(a[1:], b[1:], c)
    operands = [(np.ravel(q).astype(np.int64), (hi - lo) / 255, lo) for q, lo, hi in (a, b)]
    step = (c[1] - c[0]) / 255
    codes, extremes, unit = (add_narrow if narrow else add_wide)(*operands, (step, c[0]))
    found = outward(c[0] + extremes[0] * unit, c[0] + extremes[1] * unit)
    fits = codes.min() >= 0 and codes.max() <= 255
    return SimpleNamespace(codes=np.clip(codes, 0, 255).astype(np.uint8), fits=fits, found=found, narrow=narrow)


def add_full_range(a, b):
    lo, hi = a[1] + b[1], a[2] + b[2]
    exact = [Fraction(x) + Fraction(y) for x, y in zip(a[1:], b[1:], strict=True)]
    if lo == hi and (lo, hi) != tuple(exact):
        lo, hi = math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf)
    return outward(lo, hi)


def quantized_add_8p8to8(a, b, guess=None):
    """Codes, range, passes, range found, and which loop each pass took."""
    a, b = ((q, float(F32(lo)), float(F32(hi))) for q, lo, hi in (a, b))
    full = add_full_range(a, b)
    ends = [None if end is None else float(F32(end)) for end in guess or (None, None)]
    lo, hi = (limit if end is None else end for end, limit in zip(ends, full, strict=True))
    if hi - lo <= (max(hi, full[1]) - min(lo, full[0])) / 2**32:
        (lo, hi), ends = full, (None, None)
    if lo == hi:
        return SimpleNamespace(codes=np.zeros(a[0].size, np.uint8), range=full, passes=1, found=full, narrow=[])
    first = add_pass(a, b, (lo, hi))
    found = max(first.found[0], full[0]), min(first.found[1], full[1])
    better_lo = ends[0] if ends[0] is not None and ends[0] <= found[0] else found[0]
    better_hi = ends[1] if ends[1] is not None and ends[1] >= found[1] else found[1]
    least = (full[1] - full[0]) / 2**31
    if better_hi - better_lo < least:
        better_lo, better_hi = outward(better_lo, better_lo + least)
    if first.fits and better_hi - better_lo > (hi - lo) * 15 / 16:
        return SimpleNamespace(codes=first.codes, range=(lo, hi), passes=1, found=found, narrow=[first.narrow])
    second = add_pass(a, b, (better_lo, better_hi))
    return SimpleNamespace(
        codes=second.codes, range=(better_lo, better_hi), passes=2, found=found, narrow=[first.narrow, second.narrow]
    )


# --- requantize ------------------------------------------------------------------------------------------------------


def requantization_range(codes, top):
    if codes.size == 0:
        return 0.0, 0.0
    scale = 2 * float(F32(top)) / 2**32
    return outward(int(min(codes.flat)) * scale, int(max(codes.flat)) * scale)


def requantize_32to8(codes, top, lo, hi):
    """(codes rounded half up once, exact positions in output steps times `denominator`, denominator) in big integers."""
    step = 2 * Fraction(top) / 2**32
    lo, hi = Fraction(lo), Fraction(hi)
    unit = math.lcm(step.denominator, lo.denominator, hi.denominator)
    step, lo, hi = int(step * unit), int(lo * unit), int(hi * unit)
    position = (codes.ravel().astype(object) * step - lo) * 255  # over hi - lo
    nearest = (2 * position + (hi - lo)) // (2 * (hi - lo))
    return np.clip(nearest, 0, 255).astype(np.uint8), position, hi - lo


def requantize_loop(codes, p):
    """The loop with the integers `p` of prepare: sat_u8((((clamp(x) - centre) << left_shift) * multiplier + ...) >> 51)."""
    near = np.clip(codes.ravel().astype(object), p["lowest"], p["highest"])
    acc = ((near - p["centre"]) * 2 ** p["left_shift"]) * p["multiplier"] + p["offset"] * 2**32
    return np.clip(acc // 2**51, 0, 255).astype(np.uint8)


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
    """gemmlowp's SaturatingRoundingDoublingHighMul: nudge by sign, then a division that truncates toward zero."""
    if a == b == -(2**31):
        return 2**31 - 1
    nudged = a * b + (2**30 if a * b >= 0 else 1 - 2**30)
    return abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)


def rounding_divide_by_pot(x, exponent):
    """gemmlowp's RoundingDivideByPOT: the remainder against a threshold, one higher below 0."""
    remainder, threshold = x % 2**exponent, (2**exponent - 1) // 2 + (x < 0)
    return x // 2**exponent + (remainder > threshold)


def fixedpoint_multiply_shift(x, multiplier, right_shift, rounding):
    x = int(x)
    if rounding == "gemmlowp":
        shifted = (x * 2 ** max(0, 31 - right_shift) + 2**31) % 2**32 - 2**31
        return rounding_divide_by_pot(rounding_doubling_high_mul(shifted, multiplier), max(0, right_shift - 31))
    if rounding == "hvx":  # vmpy(.h,.h):<<1:rnd:sat: the high half of the doubled product in 32 bits
        return clamp(clamp(2 * x * multiplier + 2**15, -(2**31), 2**31 - 1) // 2**16, -(2**15), 2**15 - 1)
    return clamp(rounded(Fraction(x * multiplier, 2**right_shift), rounding), -(2**31), 2**31 - 1)


def multiply_shift(x, factor, bits=7, rounding="truncate"):
    multiplier = rounded(Fraction(factor) * 2**bits, "half_even")
    return fixedpoint_multiply_shift(x, multiplier, bits, rounding)


# --- error -----------------------------------------------------------------------------------------------------------


def error(codes, lo, hi, reference):
    """The report, every sum exact."""
    want = [Fraction(float(r)) for r in np.ravel(reference)]
    got = values(codes, lo, hi)
    lsb = (exact32(hi) - exact32(lo)) / (255 if codes.dtype == np.uint8 else 2**32)
    off = [(g - w) / (lsb or 1) for g, w in zip(got, want, strict=True)]
    count, noise, signal = len(off), sum((g - w) ** 2 for g, w in zip(got, want, strict=True)), sum(w**2 for w in want)
    return SimpleNamespace(
        max=float(max(map(abs, off))),
        mean=float(sum(map(abs, off)) / count),
        rms=math.sqrt(sum(o * o for o in off) / count),
        bias=float(sum(off) / count),
        sqnr=math.inf if noise == 0 else -math.inf if signal == 0 else 10 * math.log10(signal / noise),
        lsb=float(lsb),
        worst=max(range(count), key=lambda i: abs(off[i])),
    )
