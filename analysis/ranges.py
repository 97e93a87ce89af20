"""Pairs of ranges to add: of all kinds, and widened to hold 0."""

import numpy as np

from analysis.systems import Range

MANY = 100


def many_ranges(count: int = MANY) -> list[tuple[Range, Range]]:
    """Pairs of ranges of all kinds: equal, 1 to a million, tiny, huge, far from 0, and drawn at random."""
    rng = np.random.default_rng(8)
    ends = [
        (-1, 1),
        (0, 1),
        (-1, 0),
        (1, 2),
        (-1e6, 1e6),
        (0, 1e-6),
        (1000, 1001),
        (-1e30, 1e30),
        (-3, 1e-3),
        (5, 5.001),
    ]
    pairs = [(a, b) for i, a in enumerate(ends) for b in ends[i:]]
    while len(pairs) < count:
        (p, q), (r, s) = np.sort(rng.normal(0, 1, (2, 2)) * 10 ** rng.uniform(-3, 3, (2, 1)))
        pairs.append(((p, q), (r, s)))
    return [tuple((float(np.float32(lo)), float(np.float32(hi))) for lo, hi in pair) for pair in pairs[:count]]


def both_kinds(count: int = MANY) -> list[tuple[Range, Range]]:
    """Give `count` pairs of ranges of all kinds, and each widened to hold 0; none twice."""
    drawn = many_ranges(count)
    return list(dict.fromkeys([*drawn, *((holding_zero(a), holding_zero(b)) for a, b in drawn)]))


def holding_zero(ends: Range) -> Range:
    """The range, widened to hold 0."""
    return min(ends[0], 0.0), max(ends[1], 0.0)


def hold_zero(*ranges: Range) -> bool:
    """Whether all ranges hold 0. Every range that `qops.quantize` gives does."""
    return all(lo <= 0 <= hi for lo, hi in ranges)
