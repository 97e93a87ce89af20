"""Layers, pools, joins and functions of the front door over many ranges: the largest error beside the bound."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import style
from analysis.ops import OPS, Op
from analysis.ranges import both_kinds, hold_zero
from analysis.report import Table
from analysis.summary import Line, errors
from analysis.systems import Range
from qops import ErrorReport, error

COUNT = 40  # pairs of ranges, and as many widened to hold 0


class Errors(NamedTuple):
    """Errors of one op on one choice of ranges."""

    operands: Sequence[Range]
    found: ErrorReport

    @property
    def worst(self) -> str:
        """The ranges and the element with the largest error."""
        ranges, at = " and ".join(f"[{lo:.4g}, {hi:.4g}]" for lo, hi in self.operands), self.found.worst
        return f"{ranges}, element {at.index}: {at.value:.4g} for {at.reference:.4g}"


class Measured(NamedTuple):
    """What was found of an op; it refused `refused` pairs, whose results are beyond float32."""

    op: Op
    errors: Sequence[Errors]
    refused: int

    @property
    def largest(self) -> float:
        """The largest error of all ranges."""
        return max(e.found.max for e in self.errors)


def measure() -> list[Measured]:
    """Try every op on ranges of all kinds."""
    return [of(op) for op in OPS]


def of(op: Op) -> Measured:
    """Try one op on ranges of all kinds."""
    rng, found, refused = np.random.default_rng(3), [], 0
    for a, b in both_kinds(COUNT):
        try:
            operands = (a, b)[: op.operands]
            found.append(Errors(operands, error(*op.run(rng, *operands))))
        except ValueError as refusal:
            if "beyond float32" not in str(refusal):
                raise
            refused += 1
    return Measured(op, found, refused)


def summary(found: Sequence[Measured]) -> list[Line]:
    """A line an op: over ranges that hold 0, and its largest error of all."""
    lines = []
    for m in found:
        held = [e for e in m.errors if hold_zero(*e.operands)]
        worst = max(held, key=lambda e: e.found.max).worst
        numbers = errors([e.found for e in held])
        lines.append(Line(m.op.group, f"qops {m.op.name}", *numbers, m.op.bound, worst, m.largest))
    return lines


def draw(found: Sequence[Measured]) -> Drawing:
    """A row an op: its largest error on each pair of ranges, and its bound."""
    figure, axes = style.lines(1, 1, height=0.3 * len(found) + 0.6)
    ax = axes[0, 0]
    for y, m in enumerate(found):
        largest = [e.found.max for e in m.errors]
        ax.plot(largest, np.full(len(largest), y), "|", color="#0072b2", ms=11, mew=1.2)
        if m.op.bound is not None:
            ax.plot(m.op.bound, y, "|", color=style.BOUND, ms=19, mew=2.4, label="bound" if y == 0 else None)
    ax.set(xlim=(-0.01, 0.6), ylim=(len(found) - 0.5, -0.5), xlabel="largest error in LSB")
    ax.set_yticks(range(len(found)), labels=[m.op.name for m in found])
    ax.grid(axis="y")
    ax.legend(loc="lower right")
    over = [m.op.name for m in found if m.op.bound is not None and m.largest > m.op.bound]
    finding = f"Beyond its bound: {', '.join(over)}" if over else "Each op rounds once, and none is beyond its bound"
    style.headline(figure, finding, "each stroke: the largest error on one pair of ranges")
    return figure


def tables(found: Sequence[Measured]) -> list[Table]:
    """Every op, over how many ranges, and its errors."""
    head = ("op", "pairs of ranges", "refused", "median of max LSB", "max LSB", "bound LSB", "mean SQNR dB")
    rows = []
    for m in found:
        tops = [e.found.max for e in m.errors]
        sqnr = [e.found.sqnr for e in m.errors if np.isfinite(e.found.sqnr)]
        numbers = [f"{np.median(tops):.4f}", f"{m.largest:.4f}", "-" if m.op.bound is None else f"{m.op.bound:.4f}"]
        rows.append([m.op.name, str(len(tops)), str(m.refused), *numbers, f"{np.mean(sqnr):.1f}" if sqnr else "exact"])
    return [Table("Layers, pools, joins and functions over many ranges", head, rows)]


FIGURES = {"ops": draw}
