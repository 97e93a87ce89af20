"""Add: the error when one range is much wider than the other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import reasons, style
from analysis.report import Table
from analysis.systems import CHAIN, FUSED, Sum, System, all_pairs, apply

RATIOS = tuple(float(np.float32(r)) for r in np.geomspace(1, 4096, 61))
KINDS = {"one-sided: [0, r] + [0, 1]": (0.0, 1.0), "two-sided: [-r, 1.55 r] + [-1, 1.55]": (-1.0, 1.55)}
SYSTEMS = (*FUSED, *CHAIN)
TOPS = (16, 127, 1024, 4096)


class Curve(NamedTuple):
    """One system over all ratios."""

    kind: str
    system: System
    sums: Sequence[Sum]

    def largest(self) -> list[float]:
        """Largest error at each ratio, in LSB."""
        return [s.report.max for s in self.sums]


def measure() -> list[Curve]:
    """Every system at every ratio of both kinds of ranges."""
    curves = []
    for kind, (lo, hi) in KINDS.items():
        sums = [apply(SYSTEMS, *all_pairs((lo * r, hi * r), (lo, hi))) for r in RATIOS]
        curves += [Curve(kind, s, of) for s, of in zip(SYSTEMS, zip(*sums, strict=True), strict=True)]
    return curves


def row(c: Curve) -> list[str]:
    """One row of the table: the largest error over parts of the sweep."""
    errors = np.array(c.largest())
    parts = (errors[np.array(RATIOS) <= top] for top in TOPS)
    cells = [f"{p.max():.3f}" for p in parts]
    at = RATIOS[int(errors.argmax())]
    return [c.system.name, c.kind, *cells, f"{at:.1f}"]


def draw(curves: list[Curve]) -> Drawing:
    """Largest error against the ratio, a panel a kind of ranges."""
    figure, axes = style.lines(1, 2, height=4.2)
    for ax, kind in zip(axes[0], KINDS, strict=True):
        for c in (c for c in curves if c.kind == kind):
            front = c.system.name.startswith("qops")
            ax.semilogx(
                RATIOS, c.largest(), color=c.system.colour, ls=c.system.dashes, label=c.system.name, zorder=2 + front
            )
        style.bound_line(ax, FUSED[0].bound, f"bound of qops 8p8to8: {FUSED[0].bound} LSB")
        ax.set(
            title=kind, xlabel="ratio of the ranges, r", xlim=(1, RATIOS[-1]), xticks=[1, 4, 16, 64, 256, 1024, 4096]
        )
        ax.xaxis.set_major_formatter("{x:g}")
        style.lsb_scale(ax, 400)
    axes[0, 0].set_ylabel("largest error over all pairs, in LSB (logarithmic above 1.5)")
    axes[0, 0].legend(loc="upper left", bbox_to_anchor=(0, 0.99), fontsize=8.5)
    style.headline(
        figure, "However far the ranges are apart, qops stays within its bound", "all 65,536 pairs of codes, no guess"
    )
    return figure


def tables(curves: list[Curve]) -> list[Table]:
    """Largest errors by part of the sweep."""
    head = ("system", "ranges", *(f"{'max LSB, ' * (top == TOPS[0])}r <= {top}" for top in TOPS), "worst r")
    title = "Add: largest error in LSB over all pairs of codes, by the ratio of the ranges"
    far = {f"{c.system.name}, {c.kind}": reasons.of(max(c.sums, key=lambda s: s.report.max)) for c in curves}
    return [Table(title, head, [row(c) for c in curves], words=2, notes=reasons.notes(far))]


FIGURES = {"add_ratio": draw}
