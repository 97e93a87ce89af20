"""Slow twins of TensorFlow's Uniform* ops and of those with a range per channel: element by element."""

import math
from fractions import Fraction

import numpy as np

f32 = np.float32


def half_even(value):
    """Of a float that is no integer, the nearest one; Python's own rounding is half to even."""
    return round(float(value))


def requantize_per_channel(q, lows, highs, out_min, out_max, out_type):
    steps, lowest, highest = {"quint8": (255, 0, 255), "qint8": (127, -128, 127)}[out_type]
    wider = f32(max(abs(out_min), abs(out_max)))
    codes = np.empty(q.shape, np.uint8 if lowest == 0 else np.int8)
    for at in np.ndindex(q.shape):
        widest = f32(max(abs(lows[at[-1]]), abs(highs[at[-1]])))
        scale = f32(f32(steps) * f32(f32(widest / wider) / f32(2**31)))
        codes[at] = max(lowest, min(highest, half_even(f32(f32(q[at]) * scale))))
    return codes


def range_per_channel(q, lows, highs, clip):
    top = f32(2.0**-126)
    for channel, (low, high) in enumerate(zip(lows, highs, strict=True)):
        largest = max(abs(int(code)) for code in q[..., channel].ravel())
        top = max(top, f32(f32(f32(max(abs(low), abs(high))) * f32(largest)) / f32(2**31)))
    top = min(top, f32(clip))
    return (float(-top) if (q < 0).any() else 0.0), float(top)


# --- scales and zero points ------------------------------------------------------------------------------------------


def wrap(value):
    """The low 32 bits of an integer."""
    return (int(value) + 2**31) % 2**32 - 2**31


def clamp(value, lowest, highest):
    return max(lowest, min(highest, value))


def int32_of(value):
    """A float as x86 converts it, toward zero."""
    return int(value) if math.isfinite(value) and -(2**31) <= int(value) < 2**31 else -(2**31)


def read(code):
    """A code; one of int32 by way of float32."""
    return int32_of(float(f32(code))) if code.dtype == np.int32 else int(code)


def quantize(x, scale, zero_point, lowest, highest):
    with np.errstate(all="ignore"):
        inverse = f32(1) / f32(scale)
        inverse = f32(0) if abs(inverse) < 2.0**-126 else inverse
        steps = f32(f32(f32(x) * inverse) + f32(0.5))
    whole = math.floor(steps) if math.isfinite(steps) else math.nan
    return clamp(wrap(int32_of(whole) + zero_point), lowest, highest)


def dequantize(code, scale, zero_point):
    return f32(f32(wrap(read(code) - zero_point)) * f32(scale))


def scaled(acc, factor):
    """Accumulator * factor, which is a multiplier of 31 bits and a power of 2; half up once, saturated to int32."""
    mantissa, exponent = math.frexp(factor)
    multiplier = math.floor(Fraction(mantissa) * 2**31 + Fraction(1, 2))
    if multiplier == 2**31:
        multiplier, exponent = 2**30, exponent + 1
    if exponent < -31:
        multiplier, exponent = 0, 0
    if exponent > 30:
        multiplier, exponent = 2**31 - 1, 30
    product = Fraction(acc * multiplier) / 2 ** (31 - exponent)
    return clamp(math.floor(product + Fraction(1, 2)), -(2**31), 2**31 - 1)


def near(code, zero_point, is_slice):
    return read(code) - zero_point if is_slice else wrap(read(code) - zero_point)


def requantize(code, factor, in_zero, out_zero, lowest, highest, is_slice=False):
    return clamp(wrap(scaled(near(code, in_zero, is_slice), factor) + out_zero), lowest, highest)


def add(left, right, factors, zeros, out_zero, lowest, highest, is_slice=False):
    terms = [scaled(near(q, z, is_slice), f) for q, f, z in zip((left, right), factors, zeros, strict=True)]
    return clamp(wrap(sum(read(np.int32(term)) for term in terms) + out_zero), lowest, highest)


def in_float32(terms):
    """Their sum, each product wrapped and each sum on the way a float32, and cut as x86 converts it."""
    total = 0
    for term in terms:
        total = int32_of(float(f32(f32(total) + f32(wrap(term)))))
    return total


def of_sum(terms, factor, out_zero, lowest, highest):
    """The code of a sum of products, which wraps."""
    return clamp(wrap(scaled(wrap(sum(terms)), factor) + out_zero), lowest, highest)


def dot(lhs, rhs, zero, zeros, factors, out_zeros, ends, by_column):
    """All but `zero` one for each column; `by_column`: so the scales of rhs are given."""
    columns = enumerate(zip(rhs.T.tolist(), zeros, factors, out_zeros, strict=True))
    codes = np.empty((len(lhs), rhs.shape[1]), np.int32)
    for j, (column, own, factor, out_zero) in columns:
        for i, row in enumerate(lhs.tolist()):
            terms = [wrap(left - zero) * wrap(right - own) for left, right in zip(row, column, strict=True)]
            terms = terms if by_column else [in_float32(terms)]
            codes[i, j] = of_sum(terms, factor, out_zero, *ends)
    return codes


def convolution(lhs, rhs, zero, zeros, factors, out_zeros, ends, moves, pads, groups):
    """Of (N, C, ..) and (OC, IC, ..): moves are strides, dilations of both; groups those of the batch, the features."""
    strides, apart, dilations = moves
    batches, features = groups
    byte = (zero + 128) % 256 - 128
    wide = [(n - 1) * step + 1 + sum(pad) for n, step, pad in zip(lhs.shape[2:], apart, pads, strict=True)]
    data = np.full((*lhs.shape[:2], *wide), byte, np.int64)
    for at in np.ndindex(lhs.shape):
        place = [p * step + before for p, step, (before, _) in zip(at[2:], apart, pads, strict=True)]
        data[(*at[:2], *place)] = lhs[at]
    reach = [(n - 1) * d + 1 for n, d in zip(rhs.shape[2:], dilations, strict=True)]
    out = [max(0, -(-(n - r + 1) // s)) for n, r, s in zip(wide, reach, strides, strict=True)]
    codes = np.empty((len(lhs) // batches, len(rhs), *out), np.int32)
    for n, oc, *at in np.ndindex(codes.shape):
        image = data[oc // (len(rhs) // batches) * len(codes) + n]
        first = oc // (len(rhs) // features) * rhs.shape[1]
        terms = []
        for ic, *tap in np.ndindex(rhs.shape[1:]):
            place = [p * s + t * d for p, s, t, d in zip(at, strides, tap, dilations, strict=True)]
            terms.append((int(image[(first + ic, *place)]) - zero) * (int(rhs[(oc, ic, *tap)]) - zeros[oc]))
        codes[(n, oc, *at)] = of_sum(terms, factors[oc], out_zeros[oc], *ends)
    return codes
