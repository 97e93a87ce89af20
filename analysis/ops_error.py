"""Layers, pools, joins and functions of the front door over many ranges: the largest error beside the bound."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import style
from analysis.ops import OPS, Op, Tried
from analysis.ranges import both_kinds, hold_zero
from analysis.report import Figures, Table
from analysis.summary import Line
from analysis.systems import Range
from qops import QTensor, values

COUNT = 40  # pairs of ranges, and as many widened to hold 0


class Errors(NamedTuple):
    """Errors of one op on one pair of ranges, in LSB; `part`: the largest one as a part of the widest end."""

    holds_zero: bool
    max: float
    mean: float
    bias: float
    sqnr: float
    part: float
    worst: str


class Measured(NamedTuple):
    """What was found of an op; it refused `refused` pairs, whose results are beyond float32."""

    op: Op
    errors: Sequence[Errors]
    refused: int

    @property
    def largest(self) -> float:
        """The largest error of all ranges."""
        return max(e.max for e in self.errors)


def measure() -> list[Measured]:
    """Try every op on ranges of all kinds."""
    return [of(op) for op in OPS]


def of(op: Op) -> Measured:
    """Try one op on ranges of all kinds."""
    rng, found, refused = np.random.default_rng(3), [], 0
    for a, b in both_kinds(COUNT):
        try:
            found.append(errors(op.run(rng, *(a, b)[: op.operands]), (a, b)[: op.operands]))
        except ValueError as refusal:
            if "beyond float32" not in str(refusal):
                raise
            refused += 1
    return Measured(op, found, refused)


def errors(t: Tried, operands: Sequence[Range]) -> Errors:
    """Compare a result with what it should be."""
    got = values(t.result) if isinstance(t.result, QTensor) else t.result.astype(np.float64)
    step = np.broadcast_to(t.step, got.shape)
    real = got - t.exact
    off = np.divide(real, step, out=np.zeros(got.shape), where=real != 0)
    at = np.unravel_index(np.abs(off).argmax(), off.shape)
    scale = np.abs(t.exact).max() or 1.0  # squares of 1e30 and more are beyond what sums of them hold
    noise, signal = np.mean((real / scale) ** 2), np.mean((t.exact / scale) ** 2)
    sqnr = 10 * np.log10(signal / noise) if noise else np.inf
    ranges = " and ".join(f"[{lo:.4g}, {hi:.4g}]" for lo, hi in operands)
    worst = f"{ranges}, element {tuple(map(int, at))}: {got[at]:.4g} for {t.exact[at]:.4g}"
    part = float(np.abs(real).max() / max(map(abs, operands[0])))
    numbers = (float(abs(off[at])), float(np.abs(off).mean()), float(off.mean()), float(sqnr))
    return Errors(hold_zero(*operands), *numbers, part, worst)


def summary(found: Sequence[Measured]) -> list[Line]:
    """A line an op."""
    return [line(m) for m in found]


def line(m: Measured) -> Line:
    """One op over ranges that hold 0, and its largest error of all."""
    held = [e for e in m.errors if e.holds_zero]
    top, bias = max(held, key=lambda e: e.max), max((e.bias for e in held), key=abs)
    numbers = (top.max, float(np.mean([e.mean for e in held])), bias, min(e.sqnr for e in held))
    return Line(m.op.group, f"qops {m.op.name}", *numbers, m.op.bound, top.worst, m.largest)


def draw(found: Sequence[Measured]) -> Drawing:
    """A row an op: its largest error on each pair of ranges, and its bound."""
    figure, axes = style.lines(1, 1, height=0.3 * len(found) + 0.6)
    ax = axes[0, 0]
    for y, m in enumerate(found):
        largest = [e.max for e in m.errors]
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
        tops, sqnr = [e.max for e in m.errors], [e.sqnr for e in m.errors if np.isfinite(e.sqnr)]
        numbers = [f"{np.median(tops):.4f}", f"{m.largest:.4f}", "-" if m.op.bound is None else f"{m.op.bound:.4f}"]
        rows.append([m.op.name, str(len(tops)), str(m.refused), *numbers, f"{np.mean(sqnr):.1f}" if sqnr else "exact"])
    return [Table("Layers, pools, joins and functions over many ranges", head, rows)]


def figures(found: Sequence[Measured]) -> Figures:
    """How to draw the figure."""
    return {"ops": lambda: draw(found)}
