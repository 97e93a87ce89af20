"""The slow twin of `range_of`: bins in fractions, Python's own loops."""

import math
from fractions import Fraction

import numpy as np
from exact import F32

STEPS = {"uint8": 255, "int8": 255, "uint16": 65535, "int16": 65535}


def counted(values, half):
    """(width, {bin: count}, zeros) of fractions: the least power of two whose bins hold all."""
    limit = max(map(abs, values))
    width = Fraction(2) ** 200
    while width / 2 * half > limit:
        width /= 2
    bins = {}
    for v in values:
        if v:
            place = math.floor(v / width)
            bins[place] = bins.get(place, 0) + 1
    return width, bins, sum(not v for v in values)


def at_share(bins, share):
    """Where a share of the counts lies below, in widths from 0; evenly spread within a bin."""
    wanted = share * sum(bins.values())
    below = 0
    for place in sorted(bins):
        if below + bins[place] >= wanted:
            return place + (wanted - below) / bins[place]
        below += bins[place]
    raise AssertionError("a share of more than all")


def squared(bins, width, lo, hi, steps):
    """The squared error of the middles of the bins."""
    step = (hi - lo) / steps
    zero = round(-lo / step)
    total = 0.0
    for place, count in sorted(bins.items()):
        x = (place + 0.5) * width
        code = round(x / step)
        code = -zero if code < -zero else steps - zero if code > steps - zero else code
        total += count * (code * step - x) ** 2
    return total


def divergence(counts, kept, levels):
    """KL divergence of the first bins, with the rest in the last of them, from their sums in levels."""
    p = [*counts[: kept - 1], sum(counts[kept - 1 :])]
    groups = [[] for _ in range(levels)]
    for i in range(kept):
        groups[i * levels // kept].append(i)
    q = [0.0] * kept
    for group in groups:
        there = [i for i in group if p[i]]
        for i in there:
            q[i] = sum(counts[j] for j in group) / len(there)
    if any(b == 0 < a for a, b in zip(p, q, strict=True)):
        return math.inf
    all_p, all_q = sum(p), sum(q)
    return sum(a / all_p * math.log(a / all_p / (b / all_q)) for a, b in zip(p, q, strict=True) if a)


def range_of(x, method="all", dtype="uint8", symmetric=False, percentile=99.99, bins=4096):
    """(min, max), float32 values."""
    values = [Fraction(float(v)) for v in np.asarray(x, F32).ravel()]
    lo, hi, steps = min([0, *values]), max([0, *values]), STEPS[dtype]
    if lo == hi:
        return 0.0, 0.0
    width, counts, zeros = counted(values, bins // 2)
    sizes = {}
    for place, count in counts.items():
        sizes[max(place, -1 - place)] = sizes.get(max(place, -1 - place), 0) + count
    top = max(-lo, hi)
    if method == "percentile":
        cut = (100 - Fraction(percentile)) / 100
        if symmetric:
            top = min(top, at_share(sizes | {0: sizes.get(0, 0) + zeros}, 1 - cut) * width)
        else:
            everything = counts | {0: counts.get(0, 0) + zeros}
            everything = {place: count for place, count in everything.items() if count}
            lo = min(0, max(lo, at_share(everything, cut / 2) * width))
            hi = max(0, min(hi, at_share(everything, 1 - cut / 2) * width))
    elif method == "mse":
        lo, hi, top, width = map(float, (lo, hi, top, width))
        parts = [k / 128 for k in range(128, 0, -1)]
        if symmetric:
            edge = (steps + 1) / (steps - 1)
            top *= min(parts, key=lambda k: squared(counts, width, -top * k * edge, top * k, steps))
        else:
            first, last, before = lo, hi, None
            while before != (lo, hi):
                before = lo, hi
                if last:
                    hi = min((last * k for k in parts), key=lambda end: squared(counts, width, lo, end, steps))
                if first:
                    lo = min((first * k for k in parts), key=lambda end: squared(counts, width, end, hi, steps))
    elif method == "entropy":
        levels = 256 if not symmetric and not lo < 0 < hi else 128
        used = max(sizes) + 1
        row = [sizes.get(i, 0) for i in range(bins // 2)]
        tries = range(used, min(levels, used) - 1, -8)
        top = min(top, min(tries, key=lambda kept: divergence(row, kept, min(levels, kept))) * width)
        lo, hi = max(lo, -top), min(hi, top)
    if symmetric:
        return float(F32(float(-top) * (steps + 1) / (steps - 1))), float(F32(float(top)))
    return float(F32(float(lo))), float(F32(float(hi)))
