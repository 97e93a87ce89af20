"""The error of adds over all 65,536 pairs of codes, as maps for some pairs of ranges."""

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure as Drawing

from analysis import error_plots, reasons, style
from analysis.report import Figures, Table
from analysis.systems import CHAIN, FUSED, HEADS, Range, Sum, System, all_pairs, apply, cells
from qops.frontdoor.add import BOUND_8P8TO8

SHOWN: tuple[tuple[Range, Range, str], ...] = (
    ((-8.0, 12.4), (-1.0, 1.55), "0 on a code"),
    ((-8.0, 8.0), (-1.0, 1.0), "0 between two codes"),
    ((8.0, 16.0), (0.0, 1.0), "a range without 0"),
    ((0.0, 200.0), (0.0, 1.0), "ranges 200 to 1"),
)


class Map(NamedTuple):
    """One system on one pair of ranges."""

    a: Range
    b: Range
    system: System
    sum: Sum


def measure() -> list[Map]:
    """Draw up the maps of all systems."""
    return [Map(a, b, s, apply(s, *all_pairs(a, b))) for a, b, _ in SHOWN for s in (*FUSED, *CHAIN)]


def row(m: Map) -> list[str]:
    """One row of the table."""
    ranges = " + ".join(f"[{lo:g}, {hi:g}]" for lo, hi in (m.a, m.b))
    e, t = m.sum.report, m.sum.tensor
    worst = f"{e.worst.index}: {e.worst.value:.4g} for {e.worst.reference:.4g}"
    return [m.system.name, ranges, f"[{t.min:.4g}, {t.max:.4g}]", *cells(e), str(m.sum.passes), worst]


def draw_maps(found: Sequence[Map], systems: Sequence[System], finding: str) -> Drawing:
    """Draw a row of maps a pair of ranges, a column a system."""
    figure, axes = style.panels(len(SHOWN), len(systems), gap=0.66, left=0.45)
    for line, (a, b, what) in zip(axes, SHOWN, strict=True):
        for ax, system in zip(line, systems, strict=True):
            total = next(m.sum for m in found if (m.a, m.b, m.system) == (a, b, system))
            error_plots.panel(total.off, ax)
            ax.set_title(
                f"{system.name}\nmax {style.short(total.report.max)} LSB, mean {style.short(total.report.mean)}"
            )
        line[0].set_ylabel(f"[{a[0]:g}, {a[1]:g}] + [{b[0]:g}, {b[1]:g}]: {what}\ncode of a, 0 to 255 downward")
    for ax in axes[-1]:
        ax.set_xlabel("code of b, 0 to 255", labelpad=8)
    error_plots.colour_bar(figure, BOUND_8P8TO8)
    style.headline(figure, finding, "error of every pair of codes, no guess; the worst pair ringed")
    return figure


def draw_histograms(found: Sequence[Map]) -> Drawing:
    """Spread of the errors of the first two pairs of ranges."""
    columns = {}
    for a, b, what in SHOWN[:2]:
        sums = [m for m in found if (m.a, m.b) == (a, b)]
        columns[f"[{a[0]:g}, {a[1]:g}] + [{b[0]:g}, {b[1]:g}]: {what}"] = {
            m.system.name: (m.system.colour, m.sum.off) for m in sums
        }
    figure = error_plots.histograms(columns, BOUND_8P8TO8)
    finding = "Where 0 is not on a code, all but qops lose up to half a step"
    style.headline(figure, finding, "all 65,536 pairs of codes, no guess; dashed: the bound of qops 8p8to8")
    return figure


def tables(found: Sequence[Map]) -> list[Table]:
    """All maps as numbers."""
    head = ("system", "ranges", "output range", *HEADS, "passes", "worst pair")
    far = {" ".join(row(m)[:2]): (m.sum.report.max, reasons.why(m.system.op, m.system.name, m.a, m.b)) for m in found}
    title = "Add, all 65,536 pairs of codes, no guess"
    return [Table(title, head, [row(m) for m in found], words=3, notes=reasons.notes(far))]


def figures(found: Sequence[Map]) -> Figures:
    """How to draw each figure."""
    fused = "qops stays within 0.6 LSB; nnlib loses zero points, and wraps"
    chain = "A chain is as good as its zero points; qops rounds none"
    return {
        "add_maps_fused": lambda: draw_maps(found, FUSED, fused),
        "add_maps_chain": lambda: draw_maps(found, CHAIN, chain),
        "add_histograms": lambda: draw_histograms(found),
    }
