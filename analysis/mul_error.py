"""The error of products over all 65,536 pairs of codes, as maps for some pairs of ranges."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure as Drawing

from analysis import error_plots, reasons, style
from analysis.report import Figures, Table
from analysis.systems import HEADS, PRODUCTS, Range, Sum, System, all_pairs, apply, cells
from qops.frontdoor.mul import BOUND_8X8TO8

SHOWN: tuple[tuple[Range, Range, str], ...] = (
    ((-8.0, 12.4), (-1.0, 1.55), "0 on a code"),
    ((-8.0, 8.0), (-1.0, 1.0), "0 between two codes"),
    ((8.0, 16.0), (0.0, 1.0), "a range without 0"),
)


class Map(NamedTuple):
    """One system on one pair of ranges."""

    a: Range
    b: Range
    system: System
    product: Sum


def measure() -> list[Map]:
    """Draw up the maps of all systems."""
    return [Map(a, b, s, apply(s, *all_pairs(a, b))) for a, b, _ in SHOWN for s in PRODUCTS]


def row(m: Map) -> list[str]:
    """One row of the table."""
    ranges = " * ".join(f"[{lo:g}, {hi:g}]" for lo, hi in (m.a, m.b))
    e, t = m.product.report, m.product.tensor
    return [m.system.name, ranges, f"[{t.min:.4g}, {t.max:.4g}]", *cells(e)]


def tables(found: Sequence[Map]) -> list[Table]:
    """All maps as numbers."""
    head = ("system", "ranges", "output range", *HEADS)
    far = {
        " ".join(row(m)[:2]): (m.product.report.max, reasons.why(m.system.op, m.system.name, m.a, m.b)) for m in found
    }
    title = "Multiply, all 65,536 pairs of codes, no guess"
    return [Table(title, head, [row(m) for m in found], words=3, notes=reasons.notes(far))]


def draw(found: Sequence[Map]) -> Drawing:
    """Draw a row of maps a pair of ranges, a column a system."""
    figure, axes = style.panels(len(SHOWN), len(PRODUCTS), gap=0.66, left=0.45)
    for line, (a, b, what) in zip(axes, SHOWN, strict=True):
        for ax, m in zip(line, (m for m in found if (m.a, m.b) == (a, b)), strict=True):
            e = m.product.report
            error_plots.panel(m.product.off, ax)
            ax.set_title(f"{m.system.name}\nmax {style.short(e.max)} LSB, mean {style.short(e.mean)}")
        line[0].set_ylabel(f"[{a[0]:g}, {a[1]:g}] * [{b[0]:g}, {b[1]:g}]: {what}\ncode of a, 0 to 255 downward")
    for ax in axes[-1]:
        ax.set_xlabel("code of b, 0 to 255", labelpad=8)
    error_plots.colour_bar(figure, BOUND_8X8TO8)
    finding = "qops keeps the offsets of both ranges; the others round each 0 to a code"
    style.headline(figure, finding, "error of every pair of codes, no guess; the worst pair ringed")
    return figure


def figures(found: Sequence[Map]) -> Figures:
    """How to draw each figure."""
    return {"mul_maps": lambda: draw(found)}
