"""Add: the error when one range is much wider than the other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import style
from analysis.report import Figure, Section, Table
from analysis.systems import CHAIN, FUSED, Sum, System, add, all_pairs
from qops.add import BOUND_8P8TO8

RATIOS = tuple(float(np.float32(r)) for r in np.geomspace(1, 4096, 61))
KINDS = {"one-sided: [0, r] + [0, 1]": (0.0, 1.0), "two-sided: [-r, 1.55 r] + [-1, 1.55]": (-1.0, 1.55)}


class Curve(NamedTuple):
    """One system over all ratios; None where it refuses."""

    kind: str
    system: System
    sums: Sequence[Sum | None]

    def largest(self) -> list[float]:
        """Largest error at each ratio, in LSB; NaN where the system refuses."""
        return [s.report.max if s else np.nan for s in self.sums]


def measure() -> list[Curve]:
    """Every system at every ratio of both kinds of ranges."""
    curves = []
    for kind, (lo, hi) in KINDS.items():
        pairs = [all_pairs((lo * r, hi * r), (lo, hi)) for r in RATIOS]
        curves += [Curve(kind, s, [add(s, a, b) for a, b in pairs]) for s in (*FUSED, *CHAIN)]
    return curves


def row(c: Curve) -> list[str]:
    """One row of the table: the largest error over parts of the sweep."""
    errors = np.array(c.largest())
    parts = (errors[np.array(RATIOS) <= top] for top in (16, 127, 1024, 4096))
    refused = np.count_nonzero(np.isnan(errors))
    cells = [f"{np.nanmax(p):.3f}" for p in parts]
    at = RATIOS[int(np.nanargmax(errors))]
    return [c.system.name, c.kind, *cells, f"{at:.1f}", str(refused)]


def draw(curves: list[Curve]) -> Drawing:
    """Largest error against the ratio, a panel a kind of ranges."""
    figure, axes = style.lines(1, 2, height=4.2)
    for ax, kind in zip(axes[0], KINDS, strict=True):
        for c in (c for c in curves if c.kind == kind):
            front = c.system.name.startswith("qops")
            ax.semilogx(RATIOS, c.largest(), color=c.system.colour, ls=c.system.dashes, label=c.system.name, zorder=2 + front)
        style.bound_line(ax, BOUND_8P8TO8, f"bound of qops 8p8to8: {BOUND_8P8TO8} LSB")
        ax.set(title=kind, xlabel="ratio of the ranges, r", xlim=(1, RATIOS[-1]), xticks=[1, 4, 16, 64, 256, 1024, 4096])
        ax.xaxis.set_major_formatter("{x:g}")
        style.lsb_scale(ax, 400)
    axes[0, 0].set_ylabel("largest error over all pairs, in LSB (logarithmic above 1.5)")
    axes[0, 0].legend(loc="upper left", bbox_to_anchor=(0, 0.99), fontsize=8.5)
    style.headline(figure, "However far the ranges are apart, qops stays within its bound", "all 65,536 pairs of codes, no guess")
    return figure


TEXT = (
    "One range is fixed, the other up to 4,096 times as wide. The wider it is, the less the narrow operand matters to the "
    "result, and the more it costs an arithmetic that counts in steps of the narrow one."
)
CAPTION = (
    "The spec form counts in steps of the finer operand, in int16: with one-sided ranges it wraps from 127.5 on, and from 256 "
    "on it copies the codes of the wide operand, but labels them with 1.2 times its range. Before that, a ratio of 7 bits (left) "
    "and a truncated reciprocal (toward 128) cost up to an LSB. TensorFlow rounds the step of the narrow operand to a whole "
    "number of codes; beyond 1,028 to 1 or so that number is 0, and the narrow operand vanishes."
)


def section(curves: list[Curve]) -> Section:
    """What the page shows."""
    head = "system|ranges|max LSB, r <= 16|r <= 127|r <= 1024|r <= 4096|worst r|refused".split("|")
    table = Table("Add: largest error in LSB over all pairs of codes, by the ratio of the ranges", head, list(map(row, curves)), 2)
    return Section("add_ratio_error", "Add: ranges far apart", TEXT, [table], [Figure("add_ratio", CAPTION, lambda: draw(curves))])
