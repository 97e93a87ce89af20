"""Ops of nnlib that networks run: the largest error, and what 0 between two codes adds to it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import style
from analysis.nnlib_ops import OPS, Op
from analysis.reasons import FAR
from analysis.report import Table
from analysis.summary import Line, errors
from analysis.systems import Range
from qops import ErrorReport, error

SCALES = (0.5, 2.0, 8.0)
KINDS: Mapping[str, Range] = {
    "0 is code 128": (-128 / 127, 1.0),
    "0 is code 0": (0.0, 1.0),
    "0 is between two codes": (-1.0, 1.0),
}
ON_A_CODE = ("0 is code 128", "0 is code 0")
BETWEEN = "0 is between two codes"
ROUNDED = "takes the nearest code for 0, up to half a step off, where 0 is between two codes"
COLOURS = dict(zip(KINDS, ("#0072b2", "#009e73", "#d55e00"), strict=True))


class Measured(NamedTuple):
    """The errors of one op by the kind of its ranges; ranges below 0 are left out where it refuses them."""

    op: Op
    errors: Mapping[str, Sequence[ErrorReport]]

    def largest(self, *kinds: str) -> float:
        """The largest error of some kinds of ranges; NaN if there are none."""
        return max((e.max for kind in kinds for e in self.errors.get(kind, ())), default=float("nan"))

    @property
    def on_a_code(self) -> list[ErrorReport]:
        """The errors of ranges whose 0 is on a code."""
        return [e for kind in ON_A_CODE for e in self.errors.get(kind, ())]


def measure() -> list[Measured]:
    """Try every op on ranges of each kind and scale."""
    found = []
    for op in OPS:
        rng = np.random.default_rng(5)
        kinds = {kind: ends for kind, ends in KINDS.items() if op.signed or ends[0] >= 0}
        found.append(Measured(op, {kind: [_of(op, rng, ends, s) for s in SCALES] for kind, ends in kinds.items()}))
    return found


def _of(op: Op, rng: np.random.Generator, ends: Range, scale: float) -> ErrorReport:
    lo, hi = (float(np.float32(end * scale)) for end in ends)
    return error(*op.run(rng, (lo, hi)))


def summary(found: Sequence[Measured]) -> list[Line]:
    """A line an op: where 0 is on a code, and the largest error of all."""
    lines = []
    for m in found:
        numbers, anywhere = errors(m.on_a_code), m.largest(*KINDS)
        why = "" if max(numbers[0], anywhere) <= FAR else ROUNDED if numbers[0] <= FAR else m.op.why
        lines.append(Line("nnlib in a network", f"nnlib {m.op.name}", *numbers, anywhere=anywhere, why=why))
    return lines


def draw(found: Sequence[Measured]) -> Drawing:
    """A row an op: its largest error for each kind of ranges."""
    figure, axes = style.lines(1, 1, height=0.3 * len(found) + 0.8)
    ax = axes[0, 0]
    for kind, colour in COLOURS.items():
        points = [(m.largest(kind), y) for y, m in enumerate(found) if kind in m.errors]
        ax.semilogx(*np.transpose(points), "o", color=colour, ms=6, label=kind)
    ax.axvline(0.5, color=style.BOUND, lw=1.2)
    ax.set(ylim=(len(found) - 0.5, -0.5), xlabel="largest error in LSB")
    ax.set_yticks(range(len(found)), labels=[m.op.name for m in found])
    ax.grid(axis="y")
    ax.legend(loc="upper right")
    finding = "nnlib rounds once where 0 is on a code of the input; between two codes, half a step of it is lost"
    style.headline(figure, finding, "each point: the largest error on three ranges; the line: half an LSB")
    return figure


def tables(found: Sequence[Measured]) -> list[Table]:
    """Every op, and its largest error for each kind of ranges."""
    head = ("op of nnlib", *(f"{kind}: max LSB" for kind in KINDS), "0 on a code: mean LSB")
    rows = []
    for m in found:
        cells = [f"{m.largest(kind):.3f}" if kind in m.errors else "-" for kind in KINDS]
        rows.append([m.op.name, *cells, f"{np.mean([e.mean for e in m.on_a_code]):.3f}"])
    return [Table("nnlib in a network, beside exact arithmetic", head, rows)]


FIGURES = {"nnlib_between": draw}
