"""The error of adds over all 65,536 pairs of codes, as maps for some pairs of ranges."""

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure as Drawing

from analysis import pair_maps, style
from analysis.report import Table
from analysis.systems import CHAIN, FUSED, Sum


def measure() -> list[Sum]:
    """Add all pairs of codes by every system."""
    return pair_maps.measure((*FUSED, *CHAIN))


def tables(found: Sequence[Sum]) -> list[Table]:
    """All maps as numbers."""
    rows = []
    for m in found:
        worst = m.report.worst
        told = f"{worst.index}: {worst.value:.4g} for {worst.reference:.4g}"
        rows.append([*pair_maps.row(m), str(m.passes), told])
    return [pair_maps.table("Add", found, rows, ("passes", "worst pair"))]


def draw_histograms(found: Sequence[Sum]) -> Drawing:
    """Spread of the errors of the first two pairs of ranges."""
    count, columns = len((*FUSED, *CHAIN)), {}
    for maps, what in zip((found[:count], found[count : 2 * count]), pair_maps.SHOWN.values(), strict=False):
        columns[f"{maps[0].system.over(maps[0].ranges)}: {what}"] = maps
    figure = style.histograms(columns, FUSED[0].bound)
    finding = "Where 0 is not on a code, all but qops lose up to half a step"
    style.headline(figure, finding, "all 65,536 pairs of codes, no guess; dashed: the bound of qops 8p8to8")
    return figure


_FUSED = "qops stays within 0.6 LSB; nnlib loses zero points, and wraps"
_CHAIN = "A chain is as good as its zero points; qops rounds none"
FIGURES = {
    "add_maps_fused": partial(pair_maps.draw, systems=FUSED, bound=FUSED[0].bound, finding=_FUSED),
    "add_maps_chain": partial(pair_maps.draw, systems=CHAIN, bound=FUSED[0].bound, finding=_CHAIN),
    "add_histograms": draw_histograms,
}
