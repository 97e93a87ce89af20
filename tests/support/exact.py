"""Exact numbers, for the twins: values, ranges and roundings in fractions."""

import math
from fractions import Fraction

import numpy as np

F32 = np.float32


def exact32(value):
    """The float32 next to a number, as a fraction: what every end of a range is."""
    return Fraction(float(F32(value)))


def over_one_unit(*numbers):
    """Integers, and what to divide them by: quicker than fractions where there are many. Python divides exactly."""
    unit = math.lcm(*(x.denominator for x in numbers))
    return [x.numerator * (unit // x.denominator) for x in numbers], unit


def values(codes, lo, hi):
    """Exact real values: min + q * (max - min) / 255 of uint8 codes, q * (max - min) / 2**32 of int32 codes."""
    lo, hi = exact32(lo), exact32(hi)
    steps, base = (255, lo) if codes.dtype == np.uint8 else (2**32, 0)
    return [base + int(q) * (hi - lo) / steps for q in codes.flat]


def fma(a, b, c):
    """A * b + c of finite float32 numbers, exact, then rounded once to float32.

    The product is exact in double. The sum is rounded to odd there, so that float32 rounds as if it saw all its bits.
    """
    product, c = np.broadcast_arrays(np.multiply(a, b, dtype=np.float64), np.float64(c))
    total = product + c
    back = total - product
    error = (product - (total - back)) + (c - back)
    bits = np.asarray(total).view(np.int64)
    odd = np.where((error > 0) == (total > 0), bits + 1, bits - 1)
    return np.where((error != 0) & (bits % 2 == 0), odd, bits).view(np.float64).astype(F32)


def outward(lo, hi):
    """The narrowest float32 range that holds lo..hi."""
    with np.errstate(over="ignore"):
        low, high = F32(lo), F32(hi)
        low = np.nextafter(low, F32(-np.inf)) if float(low) > lo else low
        high = np.nextafter(high, F32(np.inf)) if float(high) < hi else high
    return float(low), float(high)


def rounded(value, rounding):
    """An exact number rounded to an integer by a named rule."""
    return divided(*value.as_integer_ratio(), rounding)


def divided(top, bottom, rounding):
    """The quotient of two integers rounded so, `bottom` above 0: quicker than to make a fraction of them."""
    floor, rest = divmod(top, bottom)
    if rounding == "floor":
        return floor
    if rounding == "truncate":
        return floor + (top < 0 < rest)
    if 2 * rest != bottom:
        return floor + (2 * rest > bottom)
    up = {"half_up": True, "half_away": top > 0, "half_even": floor % 2 == 1}[rounding]
    return floor + up


def clamp(value, lowest, highest):
    return lowest if value < lowest else highest if value > highest else value


UNIT = math.lcm(255, *(zero * (255 - zero) for zero in range(1, 255)))
SHARES = [UNIT // (zero * (255 - zero) or 255) for zero in range(256)]
"""What to multiply by instead of dividing by zero * (255 - zero): integers are compared quicker than fractions."""


def holding_zero(lo, hi):
    """(scale, zero_point): of all zero points the one that needs the smallest scale, the lowest of equals."""
    lo, hi = min(Fraction(0), exact32(lo)), max(Fraction(0), exact32(hi))
    if lo == hi:
        return 0.0, 0
    narrowest = Fraction(255, 2**125)
    if hi - lo < narrowest:
        lo, hi = (lo, lo + narrowest) if hi > -lo else (hi - narrowest, hi)

    (below, above), unit = over_one_unit(-lo, hi)

    scales = [max(below * (255 - zero), above * zero) * SHARES[zero] for zero in range(256)]
    scales[0] = math.inf if below else above * SHARES[0]
    scales[255] = math.inf if above else below * SHARES[255]
    least = min(scales)
    return float(Fraction(least, UNIT * unit)), scales.index(least)
