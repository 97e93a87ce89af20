"""Adds to 8 bits: what a good guess of the output range saves, and what a bad one costs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import reasons, style
from analysis.report import Table
from analysis.systems import FUSED, HEADS, Range, Sum, System, all_pairs, apply, cells

A: Range = (-1.0, 1.55)
B: Range = (-0.5, 0.775)
WIDTHS = np.geomspace(1 / 32, 32, 101)
NESTED = (6.5, 4.0, 1.5)  # widths of lines, so that those that coincide are seen one inside the other


class Curve(NamedTuple):
    """One system over all widths of the guess, and without one."""

    system: System
    sums: Sequence[Sum]
    free: Sum


def measure() -> list[Curve]:
    """Run every fused form with guesses from 1/32 to 32 times as wide as the sum."""
    a, b = all_pairs(A, B)
    lo, hi = A[0] + B[0], A[1] + B[1]
    guesses = [None, *((w * lo, w * hi) for w in WIDTHS)]
    found = (apply([s], a, b, guesses) for s in FUSED)
    return [Curve(s, sums, free) for s, (free, *sums) in zip(FUSED, found, strict=True)]


def rows(curve: Curve) -> list[list[str]]:
    """Without a guess, and with one a quarter, once and four times as wide as the sum."""
    chosen = {f"{w:g} x": curve.sums[int(np.abs(WIDTHS - w).argmin())] for w in (0.25, 1, 4)}
    return [
        [curve.system.name, guess, f"[{s.tensor.min:.4g}, {s.tensor.max:.4g}]", *cells(s.report), str(s.passes)]
        for guess, s in {"none": curve.free, **chosen}.items()
    ]


def draw(curves: list[Curve]) -> Drawing:
    """SQNR and passes against the width of the guess."""
    figure, axes = style.lines(2, 1, height=2.6)
    upper, lower = axes[:, 0]
    for c, width in zip(curves, NESTED, strict=True):
        look = {"color": c.system.colour, "lw": width, "label": c.system.name}
        upper.semilogx(WIDTHS, [s.report.sqnr for s in c.sums], **look)
        upper.plot(1, c.free.report.sqnr, "D", color=c.system.colour, mec="white", ms=7, zorder=5)
        lower.semilogx(WIDTHS, [s.passes for s in c.sums], drawstyle="steps-mid", **look)
        lower.plot(1, c.free.passes, "D", color=c.system.colour, mec="white", ms=7, zorder=5)
    upper.set(ylabel="SQNR in dB", ylim=(0, None))
    upper.annotate("6 dB a doubling:\nthe codes are spread too wide", (5, 33), (7, 42), fontsize=9, color=style.FAINT)
    upper.annotate("nnlib clips", (0.12, 4), (0.1, 12), fontsize=9, color=style.FAINT)
    upper.legend(loc="center left", bbox_to_anchor=(0.0, 0.62), title="diamond: no guess", alignment="left")
    lower.set(
        ylabel="passes",
        ylim=(0.6, 3.4),
        yticks=[1, 2, 3],
        xlabel="width of the guess, as a multiple of the range of the sum",
    )
    for ax in (upper, lower):
        ax.axvline(1, color=style.FAINT, lw=0.8)
        ax.set(xlim=(WIDTHS[0], WIDTHS[-1]), xticks=[1 / 32, 1 / 8, 1 / 2, 1, 2, 8, 32])
        ax.set_xticklabels(["1/32", "1/8", "1/2", "1", "2", "8", "32"])
        ax.minorticks_off()
    style.headline(
        figure, "A guess too narrow costs qops one pass, never accuracy", f"all pairs of codes of {list(A)} + {list(B)}"
    )
    return figure


def tables(curves: list[Curve]) -> list[Table]:
    """Every form with the guesses of `rows`."""
    head = ("system", "guess", "output range", *HEADS, "passes")
    title = f"Add 8p8to8 of {list(A)} + {list(B)}, all pairs of codes, by width of the guess"
    far = {f"{c.system.name}, guess {WIDTHS[0]:.3g} x": reasons.of(c.sums[0], narrow=True) for c in curves}
    return [Table(title, head, [r for c in curves for r in rows(c)], words=3, notes=reasons.notes(far))]


FIGURES = {"add_guess": draw}
