"""Slow twins of the resizes and reciprocals of `qops.nnlib`: Python integers and numpy float32, from the formulas."""

import math

import numpy as np
from reference_nnlib import F, quantize_scalar, sat8
from reference_nnlib_activations import half_up, q15


def places(size, wanted, align, bits):
    """The pixel and the weight of the next one, of each sample."""
    if align and wanted > 1:
        scale = (((size - 1) << 32) + (wanted - 1) // 2) // (wanted - 1)
    else:
        scale = ((size << 32) + wanted // 2) // wanted
    found = [divmod((1 << (31 - bits)) + i * scale, 2**32) for i in range(wanted)]
    return [(i, rest >> (32 - bits)) if i < size - 1 else (size - 1, 0) for i, rest in found]


def float_places(size, wanted, align):
    scale = F(size - 1) / F(wanted - 1) if align else F(size) / F(wanted)
    return [(int(np.floor(F(i) * scale)), F(i) * scale - np.floor(F(i) * scale)) for i in range(wanted)]


def weighted(a, b, c, d, u, v):
    left, right = (128 - u) * a + u * c, (128 - u) * b + u * d
    return sat8(half_up(left + q15(right - left, v), 7))


def in_float(a, b, c, d, u, v):
    upper, lower = (F(p) + (F(q) - F(p)) * v for p, q in ((a, b), (c, d)))
    return int(upper + (lower - upper) * u + F(0.5))


def resize_bilinear(x, size, align):
    """One image (H, W, C)."""
    height, width, channels = x.shape
    if size == (height, width):
        return x.copy()
    times = next((k for k in (2, 4) if size == (k * height, k * width) and not align), 0)
    made = np.empty((*size, channels), np.uint8)
    blocked = channels > 2 or bin(size[1]).count("1") > 1
    seam = 8 * ((width - 1) // 4)
    if times and not (blocked and times == 4):
        rows, columns = ([divmod(i, times) for i in range(n)] for n in size)
    elif blocked:
        rows, columns = places(height, size[0], align, 7), places(width, size[1], align, 15)
    else:
        rows, columns = float_places(height, size[0], align), float_places(width, size[1], align)
    for i, (row, u) in enumerate(rows):
        for j, (column, v) in enumerate(columns):
            down, right = min(row + 1, height - 1), min(column + 1, width - 1)
            near = [(row, column), (row, right), (down, column), (down, right)]
            for channel in range(channels):
                a, b, c, d = (int(x[place][channel]) for place in near)
                if blocked and times == 2:
                    upper, lower = (p if not v else (p + q) >> 1 for p, q in ((a, b), (c, d)))
                    code = upper if not u else (upper + lower + (j >= seam)) >> 1
                elif blocked:
                    code = weighted(a, b, c, d, u, v)
                elif times:
                    total = (times - u) * ((times - v) * a + v * b) + u * ((times - v) * c + v * d)
                    code = math.floor(total / times**2 + 0.5)
                else:
                    code = in_float(a, b, c, d, u, v)
                made[i, j, channel] = code
    return made


def half_away(v):
    return int(math.copysign(math.floor(abs(float(v)) + 0.5), v))


def value(q, lo, hi):
    return F(lo) + F(q) * ((F(hi) - F(lo)) / F(255))


def recip(codes, lo, hi):
    """The codes and the range, of a list of codes; None if that depends on the memory of the original."""
    used = set(codes)
    if len(codes) < 256:
        among = used
    elif lo < 0 < hi:
        zero = half_away(-F(lo) / ((F(hi) - F(lo)) / F(255)))
        if zero in used:
            return None
        last = max((q for q in used if q < zero), default=0)
        first = min((q for q in used if q > zero), default=255)
        among = {q for q in range(256) if q <= last or q >= first}
    elif lo == 0 < hi:
        among = set(range(min(used), 256))
    elif lo < 0 == hi:
        among = set(range(max(used) + 1))
    else:
        return None
    if any(value(q, lo, hi) == 0 for q in used):
        return None
    inverses = {q: F(1) / value(q, lo, hi) for q in among if value(q, lo, hi) != 0}
    low, high = min(F(0), *inverses.values()), max(F(0), *inverses.values())
    low, high = (min(inverses.values()), max(inverses.values())) if low < 0 < high else (low, high)
    return [half_away((inverses[q] - low) / ((high - low) / F(255))) for q in codes], low, high


def div(codes, lo, hi, by, b_lo, b_hi, ends=None):
    """The codes of rows and the range."""
    divisors = [value(q, b_lo, b_hi) or F(1e-6) for q in by]
    if len(by) == 1 and ends is None:
        low, high = sorted((F(lo) / divisors[0], F(hi) / divisors[0]))
        return codes if divisors[0] > 0 else 255 - codes, low, high
    every = [F(end) / d for end in (lo, hi) for d in divisors]
    low, high = ends or (min(F(0), *every), max(F(0), *every))
    made = np.empty_like(codes)
    for place, q in np.ndenumerate(codes):
        quotient = value(q, lo, hi) / divisors[place[-1] % len(divisors)]
        made[place] = quantize_scalar(quotient, low, high)["u8"]
    return made, low, high
