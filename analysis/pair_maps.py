"""What the maps of adds and of products share: the error over all 65,536 pairs of codes, for some pairs of ranges."""

from collections.abc import Sequence

from matplotlib.figure import Figure as Drawing

from analysis import reasons, style
from analysis.report import Table
from analysis.systems import HEADS, Range, Sum, System, all_pairs, apply, cells

SHOWN: dict[tuple[Range, Range], str] = {
    ((-8.0, 12.4), (-1.0, 1.55)): "0 on a code",
    ((-8.0, 8.0), (-1.0, 1.0)): "0 between two codes",
    ((8.0, 16.0), (0.0, 1.0)): "a range without 0",
    ((0.0, 200.0), (0.0, 1.0)): "ranges 200 to 1",
}


def measure(systems: Sequence[System], count: int = len(SHOWN)) -> list[Sum]:
    """Run every system on all pairs of codes of the first pairs of ranges."""
    return [found for ranges in list(SHOWN)[:count] for found in apply(systems, *all_pairs(*ranges))]


def row(m: Sum) -> list[str]:
    """One row of the table, but for what adds have alone."""
    return [m.system.name, m.system.over(m.ranges), f"[{m.tensor.min:.4g}, {m.tensor.max:.4g}]", *cells(m.report)]


def table(title: str, found: Sequence[Sum], rows: Sequence[Sequence[str]], more: Sequence[str] = ()) -> Table:
    """All maps as numbers."""
    notes = reasons.notes({" ".join(row(m)[:2]): reasons.of(m) for m in found})
    head = ("system", "ranges", "output range", *HEADS, *more)
    return Table(f"{title}, all 65,536 pairs of codes, no guess", head, rows, words=3, notes=notes)


def draw(found: Sequence[Sum], systems: Sequence[System], bound: float | None, finding: str) -> Drawing:
    """Draw a row of maps a pair of ranges, a column a system."""
    maps = [m for m in found if m.system in systems]
    figure, axes = style.panels(len(maps) // len(systems), len(systems), gap=0.66, left=0.45)
    for ax, m in zip(axes.flat, maps, strict=True):
        title = f"{m.system.name}\nmax {style.short(m.report.max)} LSB, mean {style.short(m.report.mean)}"
        style.error_panel(ax, m.off, title)
    for ax, m, what in zip(axes[:, 0], maps[:: len(systems)], SHOWN.values(), strict=False):
        ax.set_ylabel(f"{m.system.over(m.ranges)}: {what}\ncode of a, 0 to 255 downward")
    for ax in axes[-1]:
        ax.set_xlabel("code of b, 0 to 255", labelpad=8)
    style.colour_bar(figure, bound)
    style.headline(figure, finding, "error of every pair of codes, no guess; the worst pair ringed")
    return figure
