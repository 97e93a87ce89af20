"""Slow twins of `qops.rules`: Python integers and numpy floats, one formula a rule, no table."""

from math import floor, frexp

import numpy as np

F32 = np.float32


def each(function, *arrays):
    """`function` of Python numbers, on broadcast arrays."""
    parts = np.broadcast_arrays(*arrays)
    found = [function(*xs) for xs in zip(*(np.ravel(part).tolist() for part in parts), strict=True)]
    return np.array(found, object).reshape(parts[0].shape)


def wrapped(v, bits=32):
    return (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def half_up(v, n):
    return v if n <= 0 else (v + 2 ** (n - 1)) >> n


def away(v, n):
    return v if n <= 0 else (abs(v) + 2 ** (n - 1) >> n) * (1 if v >= 0 else -1)


def high_mul(a, b):
    return 2**31 - 1 if a == b == -(2**31) else (a * b + 2**30) >> 31


def quantized_multiplier(scale, largest=31):
    """(multiplier, left shift) of TFLite's QuantizeMultiplier."""
    if scale == 0:
        return 0, 0
    mantissa, e = frexp(scale)
    m = floor(mantissa * 2**31 + 0.5)
    if m == 2**31:
        m, e = m // 2, e + 1
    if e > largest:
        return 2**31 - 1, largest
    return (m, e) if e >= -31 else (0, 0)


def bits_of(scale):
    """(mantissa of 24 bits, right shift) of a float32."""
    b = int(F32(scale).view(np.int32))
    return (b & 0x7FFFFF) | 0x800000, 150 - (b >> 23)


def tflite_double(x, m, e):
    return away(high_mul(wrapped(x << max(e, 0)), m), -e)


def half_up_double(x, m, e):
    return half_up(high_mul(wrapped(x << max(e, 0)), m), -e)


def tflite_single(x, m, e):
    return wrapped(half_up(x * m, 31 - e))


def beyond_int32(value, zero_point, beyond):
    """An integral float, or an infinity, as an integer, plus the zero point: what int32 does not hold is cut first."""
    if beyond == "saturates":
        return int(min(max(value, -(2.0**80)), 2.0**80)) + zero_point
    if beyond == "cut, wraps":
        value = min(value, 2**31 - 128)
    whole = int(value) if -(2**31) <= value < 2**31 else -(2**31)
    return wrapped(whole + zero_point, 32) if beyond.endswith("wraps") else whole + zero_point


def nnlib_fraction(x, scale, zero):
    """One step at 31 bits; the multiplier is not normalised, so small scales have few bits."""
    x = wrapped(x + round(float(F32(zero) / F32(scale))))
    near = F32(scale)
    e = frexp(float(near))[1] if near > 1 else 0
    m = min(floor(F32(near * F32(2.0 ** (31 - e)) + F32(0.5))), 2**31 - 1)
    return (wrapped(x << e) * m + 2**30) >> 31


def rndnu16(x, scale):
    mantissa, n = bits_of(scale)
    short, e = half_up(mantissa, 9), 23 - n
    if short == 2**15:
        short, e = short // 2, e + 1
    near = x << (e + 1) if e >= -1 else half_up(x, -e - 1)
    return half_up(min(max(near, -(2**15)), 2**15 - 1) * short, 15)


def integer_rule(rule, scale):
    """A function that scales an accumulator, of the rules that are integers all the way; the zero point comes later."""
    mantissa, n = bits_of(scale)
    seven, double, single = round(scale * 128), quantized_multiplier(scale), quantized_multiplier(scale, 30)
    return {
        "tflite-double": lambda x: tflite_double(x, *double),
        "half-up-double": lambda x: half_up_double(x, *double),
        "tflite-single": lambda x: tflite_single(x, *single),
        "rndnu": lambda x: wrapped(half_up(x * mantissa, n)),
        "rndna": lambda x: away(x * mantissa, n),
        "q31": lambda x: away(high_mul(x, mantissa << 7), n - 24),
        "q31-wrap": lambda x: away(high_mul(x, mantissa << 7), n - 24),
        "rndnu16": lambda x: rndnu16(x, scale),
        "textbook7-floor": lambda x: x * seven >> 7,
        "textbook7-half-up": lambda x: half_up(x * seven, 7),
    }[rule]


def requantize(acc, rule, scale, zero_point, lo, hi):
    x = np.asarray(acc, np.int64)
    if rule == "double-away":
        t = x.astype(float) * scale
        return np.clip(np.trunc(t + np.copysign(0.5, t)) + zero_point, lo, hi).astype(int)
    if rule == "double-even-zp-inside":
        return np.clip(np.rint(x.astype(float) * float(F32(scale)) + zero_point), lo, hi).astype(int)
    t = x.astype(F32) * F32(scale)
    if rule == "fp32-even":
        return np.rint(np.clip(t, F32(lo - zero_point), F32(hi - zero_point))).astype(int) + zero_point
    if rule == "fp32-even-zp-inside":
        return np.clip(np.rint(t + F32(zero_point)), lo, hi).astype(int)
    if rule == "fp32-away":
        t = np.clip(t.astype(float), -(2.0**40), 2.0**40)
        return np.clip(np.trunc(t + np.copysign(0.5, t)) + zero_point, lo, hi).astype(int)

    if rule == "nnlib-supernode":
        return np.clip(each(lambda v: nnlib_fraction(v, scale, zero_point), x), lo, hi).astype(int)
    scaled = integer_rule(rule, scale)

    def code(v):
        q = scaled(v) + zero_point
        if rule == "q31-wrap":
            q = wrapped(q)
        if rule == "rndnu16":
            q = min(max(q, -(2**15)), 2**15 - 1)
        return min(max(q, lo), hi)

    return each(code, x).astype(int)
