"""The slow twins of the ops that make up the rest of a network; see `reference`. Real values are exact fractions."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
from exact import clamp, exact32, over_one_unit

LOWEST = {"uint8": 0, "int8": -128}


@cache
def exact_line(lo, hi):
    """The values of the 256 codes from lo to hi."""
    (lo, hi), unit = over_one_unit(exact32(lo), exact32(hi))
    return tuple(Fraction(255 * lo + k * (hi - lo), 255 * unit) for k in range(256))


@cache
def line(lo, hi):
    """The values of `exact_line`; where 0 is within 2**-15 of a step from a code, it is on that code."""
    values = exact_line(lo, hi)
    base = min(values, key=abs)
    return tuple(v - base for v in values) if 0 < abs(base) * 2**15 <= values[1] - values[0] else values


def positions(values, lo, hi):
    """Where values lie above the lowest code, in steps of the range (lo, hi), cut to 0..255."""
    lo, hi = exact32(lo), exact32(hi)
    if lo == hi:
        return [Fraction(0)] * len(values)
    (lo, hi), unit = over_one_unit(lo, hi)
    found = []
    for v in values:
        top, bottom = v.as_integer_ratio()
        steps, width = (top * unit - lo * bottom) * 255, (hi - lo) * bottom
        found.append(Fraction(clamp(steps, 0, 255 * width), width))
    return found


def lookup(codes, results, lo, hi):
    """The exact positions of codes, of which `results` has what the function gives for each byte."""
    where = positions(results, lo, hi)
    return [where[q % 256] for q in codes.ravel().tolist()]


def concat(tensors, axis, lo, hi):
    """The exact positions of the codes of all tensors."""
    parts = []
    for codes, *ends in tensors:
        where = np.array(positions(exact_line(*ends), lo, hi))
        parts.append(where[codes.astype(int) - LOWEST[codes.dtype.name]])
    return np.concatenate(parts, axis)


def pad(codes, pairs, value, lo, hi):
    """The exact positions of all codes: those of `codes`, and around them, pair by pair, that of the value."""
    shape = [before + n + after for (before, after), n in zip(pairs, codes.shape, strict=True)]
    found = np.full(shape, positions([value], lo, hi)[0], object)
    for index in np.ndindex(codes.shape):
        place = tuple(before + i for (before, _), i in zip(pairs, index, strict=True))
        found[place] = int(codes[index]) - LOWEST[codes.dtype.name]
    return found


def softmax(codes, lo, hi):
    """The positions of the codes of one row, to 40 digits."""
    codes, step = codes.tolist(), (exact32(hi) - exact32(lo)) / 255
    counts, top = Counter(codes), max(codes)
    with localcontext(prec=40):  # and further down than 1000 no code but the highest is seen
        down = {q: Fraction(min((top - q) * step, 1000)) for q in counts}
        powers = {q: (Decimal(-x.numerator) / x.denominator).exp() for q, x in down.items()}
        total = sum(count * powers[q] for q, count in counts.items())
        found = {q: Fraction(255 * power / total) for q, power in powers.items()}
    return [found[q] for q in codes]


def farthest(codes, exact):
    """The largest distance of 8-bit codes from exact positions."""
    steps = (codes.ravel().astype(int) - LOWEST[codes.dtype.name]).tolist()
    exact = [position.as_integer_ratio() for position in np.ravel(exact).tolist()]
    off = {(abs(q * bottom - top), bottom) for q, (top, bottom) in zip(steps, exact, strict=True)}
    most = max((top / bottom for top, bottom in off), default=0)  # rounded, as those that are equal to it are
    return max((Fraction(top, bottom) for top, bottom in off if top / bottom == most), default=0)
