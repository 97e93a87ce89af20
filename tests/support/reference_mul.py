"""The slow twins of the products; see `reference`. Positions are long doubles of exact values: good to 2**-20 LSB."""

from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
from exact import outward, over_one_unit
from reference_add import in_passes, into_8_bits


@cache
def exact_values(ends):
    """The values of codes 0 to 255, each a long double of an exact fraction."""
    (lo, hi), unit = over_one_unit(*map(Fraction, ends))
    values, unit = [255 * lo + q * (hi - lo) for q in range(256)], 255 * unit
    heads = [value / unit for value in values]
    pairs = [(value, *head.as_integer_ratio()) for value, head in zip(values, heads, strict=True)]
    rests = [(value * bottom - top * unit) / (unit * bottom) for value, top, bottom in pairs]
    return np.longdouble(heads) + np.longdouble(rests)


def product_positions(a, b, lowest, step):
    """256 x 256 exact products of two ranges, in steps above `lowest`."""
    return (np.multiply.outer(exact_values(a), exact_values(b)) - lowest) / np.longdouble(step)


def integers(a, b, lowest, step, fraction):
    """(k, ka, kb, kab) in 2**-fraction steps."""
    unit, a_step, b_step = step / 2**fraction, (a[1] - a[0]) / 255, (b[1] - b[0]) / 255
    if unit == 0:
        return 2 ** (fraction - 1), 0, 0, 0
    terms = (a[0] * b[0] - lowest) / unit, a_step * b[0] / unit, a[0] * b_step / unit, a_step * b_step / unit
    k, *others = map(round, terms)
    return k + 2 ** (fraction - 1), *others


def parts(a, b, lowest, step, fraction):
    """The sums before the shift, of operands (codes, min, max)."""
    k, ka, kb, kab = integers(a[1:], b[1:], lowest, step, fraction)
    x, y = (np.ravel(q).astype(np.int64, copy=False) for q in (a[0], b[0]))
    return k + x * ka + y * kb + x * y * kab


def quantized_mul_8x8to32(a, b):
    """(codes, max) of two tensors."""
    top = outward(0.0, max(map(abs, a[1:])) * max(map(abs, b[1:])) * 2.0**11)[1]
    return parts(a, b, 0.0, top / 2**31, 23) >> 23, top


def full_range(a, b):
    corners = [x * y for x in a[1:] for y in b[1:]]
    return outward(min(corners), max(corners))


def mul_pass(a, b, c):
    """One pass: codes, whether all fitted, the range found, whether 32 bits held the sums."""
    step = (c[1] - c[0]) / 255
    x = parts(a, b, c[0], step, 20)
    found = outward(*(c[0] + (int(end) + side) * (step / 2**20) for end, side in ((x.min(), LOW), (x.max(), HIGH))))
    codes = x >> 20
    lo, hi = full_range(a, b)
    narrow = hi - c[0] < 2040 * step and c[0] - lo < 2040 * step
    fits = codes.min() >= 0 and codes.max() <= 255
    return SimpleNamespace(codes=np.clip(codes, 0, 255).astype(np.uint8), fits=fits, found=found, narrow=narrow)


LOW, HIGH = -(2**19) - 2**16, -(2**19) + 2**16


def quantized_mul_8x8to8(a, b, guess=None):
    """Codes, range, passes, range found, and whether 32 bits held the sums of each pass."""
    return in_passes(full_range, mul_pass, a, b, guess)


def mul(a, b, dtype="uint8", guess=None, kept=None):
    """Codes of 8 bits, range, passes, range found."""
    return into_8_bits(full_range, mul_pass, a, b, dtype, guess, kept)
