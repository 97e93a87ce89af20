"""Add, over all 65,536 pairs of codes: a map for some ranges, the largest error for many."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import style
from analysis.report import Figure, Section, Table
from analysis.systems import CHAIN, FUSED, Range, Sum, System, add, all_pairs
from qops import quantize
from qops.add import BOUND_8P8TO8

SHOWN: tuple[tuple[Range, Range, str], ...] = (
    ((-8.0, 12.4), (-1.0, 1.55), "0 on a code"),
    ((-8.0, 8.0), (-1.0, 1.0), "0 between two codes"),
    ((8.0, 16.0), (0.0, 1.0), "a range without 0"),
    ((0.0, 200.0), (0.0, 1.0), "ranges 200 to 1"),
)
MANY = 100


class Map(NamedTuple):
    """One system on one pair of ranges; no sum where it refuses them."""

    a: Range
    b: Range
    system: System
    sum: Sum | None


class Measured(NamedTuple):
    """The maps, and of `MANY` pairs of ranges with three guesses each the largest errors and the most passes of qops."""

    maps: Sequence[Map]
    largest: float
    passes: int
    chain: float  # largest error of the chain, the ranges moved so that 0 is on a code


def many_ranges() -> list[tuple[Range, Range]]:
    """Pairs of ranges of all kinds: equal, 1 to a million, tiny, huge, far from 0, and drawn at random."""
    rng = np.random.default_rng(8)
    ends = [(-1, 1), (0, 1), (-1, 0), (1, 2), (-1e6, 1e6), (0, 1e-6), (1000, 1001), (-1e30, 1e30), (-3, 1e-3), (5, 5.001)]
    pairs = [(a, b) for i, a in enumerate(ends) for b in ends[i:]]
    while len(pairs) < MANY:
        (p, q), (r, s) = np.sort(rng.normal(0, 1, (2, 2)) * 10 ** rng.uniform(-3, 3, (2, 1)))
        pairs.append(((p, q), (r, s)))
    return [tuple((float(np.float32(lo)), float(np.float32(hi))) for lo, hi in pair) for pair in pairs]


def measure() -> Measured:
    """Maps of all systems; the largest errors of the front door over many ranges and guesses."""
    maps = [Map(a, b, s, add(s, *all_pairs(a, b))) for a, b, _ in SHOWN for s in (*FUSED, *CHAIN)]
    largest, passes, chain = 0.0, 0, 0.0
    for a, b in many_ranges():
        x, y = all_pairs(a, b)
        lo, hi = a[0] + b[0], a[1] + b[1]
        for guess in (None, (lo, hi), (lo / 4, max(lo / 4, hi / 4))):
            total = add(FUSED[0], x, y, guess)
            largest, passes = max(largest, total.report.max), max(passes, total.passes)
        chain = max(chain, add(CHAIN[0], *all_pairs(holding_zero(a), holding_zero(b))).report.max)
    return Measured(maps, largest, passes, chain)


def holding_zero(ends: Range) -> Range:
    """The range that quantize makes of this one."""
    t = quantize(np.float32(ends))
    return t.min, t.max


def row(m: Map) -> list[str]:
    """One row of the table."""
    ranges = " + ".join(f"[{lo:g}, {hi:g}]" for lo, hi in (m.a, m.b))
    if m.sum is None:
        return [m.system.name, ranges, "refused", *"-----"]
    e, t = m.sum.report, m.sum.tensor
    worst = f"{e.worst.index}: {e.worst.value:.4g} for {e.worst.reference:.4g}"
    numbers = f"{e.max:.3f} {e.mean:.3f} {e.bias:+.3f} {e.sqnr:.1f} {m.sum.passes}".split()
    return [m.system.name, ranges, f"[{t.min:.4g}, {t.max:.4g}]", *numbers, worst]


def draw_maps(found: Measured, systems: Sequence[System], finding: str) -> Drawing:
    """A row a pair of ranges, a column a system."""
    figure, axes = style.panels(len(SHOWN), len(systems), gap=0.62, left=0.45)
    for line, (a, b, what) in zip(axes, SHOWN, strict=True):
        for ax, system in zip(line, systems, strict=True):
            total = next(m.sum for m in found.maps if (m.a, m.b, m.system) == (a, b, system))
            shown = style.show_error(ax, total.off)
            ax.set_title(f"{system.name}\nmax {style.short(total.report.max)} LSB, mean {style.short(total.report.mean)}")
        line[0].set_ylabel(f"[{a[0]:g}, {a[1]:g}] + [{b[0]:g}, {b[1]:g}]: {what}\ncode of a, 0 to 255 downward")
    for ax in axes[-1]:
        ax.set_xlabel("code of b, 0 to 255")
    style.colour_bar(figure, shown, BOUND_8P8TO8)
    style.headline(figure, finding, "error of every pair of codes, no guess; the worst pair ringed")
    return figure


def draw_histograms(found: Measured) -> Drawing:
    """Spread of the errors of the first two pairs of ranges."""
    columns = {}
    for a, b, what in SHOWN[:2]:
        sums = [m for m in found.maps if (m.a, m.b) == (a, b)]
        columns[f"[{a[0]:g}, {a[1]:g}] + [{b[0]:g}, {b[1]:g}]: {what}"] = {
            m.system.name: (m.system.colour, m.sum.off) for m in sums
        }
    figure = style.histograms(columns, BOUND_8P8TO8)
    finding = "Where 0 is not on a code, all but qops 8p8to8 read their inputs shifted"
    style.headline(figure, finding, "all 65,536 pairs of codes, no guess; dashed: the bound of qops 8p8to8")
    return figure


TEXT = (
    "Every pair of codes is an exact sum of two reals, so all there is to know about an 8-bit add of two ranges fits into one "
    "picture of 256 x 256. qops 8p8to8 is within 0.6 LSB for every pair of finite ranges; the others are near that only "
    "while both ranges hold 0 on a code and are not too far apart."
)
CAPTIONS = (
    "Stripes are the rounding to the output code, along equal sums. Second row: flat rounds the code of 0, 127.5, to 128 and "
    "reads both inputs half a step off; spec truncates. Third row: flat clamps the code of 0 into 0..255 and so loses the 8 "
    "that the range of a starts at. Last row: spec counts in steps of b, and 200 * 255 of them wrap in int16.",
    "The chain's first half, to int32, rounds each zero point to a code: nothing is lost where 0 is on a code (first and last "
    "row), half an input step each where it is not, and the whole offset where the range has no 0. That is nnlib's formula; "
    "TensorFlow moves the range by half a step at most, but turns the step of each operand into a whole number of codes.",
    "Left: no zero point to lose. Right: a shift of half an input step, which shows as bias. Ranges such as [-8, 8] always "
    "bring it, unless quantize has put 0 on a code first, as qops.quantize does. Dashed: 0.6 LSB.",
)


def section(found: Measured) -> Section:
    """What the page shows."""
    head = "system|ranges|output range|max LSB|mean LSB|bias LSB|SQNR dB|passes|worst pair".split("|")
    table = Table("Add, all 65,536 pairs of codes, no guess", head, [row(m) for m in found.maps], words=3)
    fused = "qops stays within 0.6 LSB; nnlib loses zero points, and wraps"
    chain = "A chain is as good as its zero points"
    figures = [
        Figure("add_maps_fused", CAPTIONS[0], lambda: draw_maps(found, FUSED, fused)),
        Figure("add_maps_chain", CAPTIONS[1], lambda: draw_maps(found, CHAIN, chain)),
        Figure("add_histograms", CAPTIONS[2], lambda: draw_histograms(found)),
    ]
    return Section("add_error", "Add: every pair of codes", TEXT, [table], figures)
