"""The sweep over ranges: how the errors of every system are spread, and how fast they were found."""

import os
import sys
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import pool, reasons, style, sweep
from analysis.ranges import MANY
from analysis.report import Figures, Table
from analysis.summary import Line
from analysis.systems import ALL, CHAIN, FUSED, PRODUCTS, System
from qops.frontdoor.add import BOUND_8P8TO8

TENTHS = 10


class Measured(NamedTuple):
    """Every row of the sweep, and the pairs of codes a second of each pool that took a share of it."""

    rows: Sequence[sweep.Row]
    speeds: dict[str, float]


def measure(pools: Sequence[pool.Pool] = (), count: int = MANY) -> Measured:
    """Sweep over so many pairs of ranges; each pool takes its share, by default of one, two and all processes."""
    pools = pools or [pool.processes(n) for n in sorted({1, 2, os.cpu_count() or 1})]
    rows, speeds = [], {}
    for where, share in zip(pools, sweep.batches(sweep.pieces(count), len(pools)), strict=True):
        done = pool.run(where, sweep.measure_piece, share, Progress(where.name))
        found = [row for piece in done.results for row in piece]
        rows += found
        speeds[where.name] = done.rate * sweep.PAIRS * len(found) / max(len(share), 1)
    return Measured(rows, speeds)


class Progress:
    """Tells on stderr how far a sweep is: on a terminal in one line that is written anew, elsewhere every tenth."""

    def __init__(self, name: str) -> None:
        self.name, self.start, self.tenths = name, perf_counter(), 0
        print(file=sys.stderr)

    def __call__(self, done: int, of: int) -> None:
        """Tell that so many pieces are done."""
        tenths, terminal = TENTHS * done // of, sys.stderr.isatty()
        if terminal or tenths > self.tenths:
            left = (perf_counter() - self.start) * (of - done) / done
            text = f"  {self.name}: {done} of {of} pairs of ranges, {left:.0f} s left "
            print(end=("\r" if terminal else "") + text + ("" if terminal else "\n"), file=sys.stderr, flush=True)
        self.tenths = tenths


def worst(rows: Iterable[sweep.Row]) -> sweep.Row:
    """The row with the largest error."""
    return max(rows, key=lambda r: r.max_lsb)


def summary(found: Measured) -> list[Line]:
    """A line a system: over ranges that hold 0, and the largest error of all ranges."""
    return [line(s, sweep.of(found.rows, s)) for s in ALL]


def line(system: System, rows: Sequence[sweep.Row]) -> Line:
    """Largest, mean and largest mean signed error, lowest SQNR."""
    held = [r for r in rows if r.holds_zero]
    top, bias = worst(held), max((r.bias_lsb for r in held), key=abs)
    mean, sqnr = float(np.mean([r.mean_lsb for r in held])), min(r.sqnr_db for r in held)
    anywhere = worst(rows)
    whys = [reasons.why(r.op, r.system, (r.a_min, r.a_max), (r.b_min, r.b_max)) for r in (top, anywhere)]
    why = "; ".join(dict.fromkeys(reason for text in whys if text for reason in text.split("; ")))
    errors = (top.max_lsb, mean, bias, sqnr)
    return Line(system.op, system.name, *errors, system.bound, top.worst, anywhere.max_lsb, why)


def draw(found: Measured) -> Drawing:
    """Largest error of every pair of ranges, lowest first: a panel an op."""
    figure, axes = style.lines(1, 3, height=3.9)
    panels = {"add, fused": FUSED, "add, chain": CHAIN, "multiply": PRODUCTS}
    for ax, (title, systems) in zip(axes[0], panels.items(), strict=True):
        for i, s in enumerate(systems):
            errors = np.sort([r.max_lsb for r in sweep.of(found.rows, s) if r.guess == "none"])
            share = 100 * np.arange(1, errors.size + 1) / errors.size
            ax.plot(share, errors, color=s.colour, lw=1.7, label=s.name, zorder=5 - i)
        bound = systems[0].bound
        if bound:
            style.bound_line(ax, bound, f"bound of qops: {bound:g} LSB")
        ax.set(title=title, xlabel="percent of the pairs of ranges", xlim=(0, 100))
        style.lsb_scale(ax, 1e11)
        ax.set_yticks([0, 0.5, 1, 1.5, 1e2, 1e4, 1e6, 1e8, 1e10])
        ax.set_yticklabels(["0", "0.5", "1", "1.5", "100", "10⁴", "10⁶", "10⁸", "10¹⁰"])
        ax.legend(loc="upper left", fontsize=8.5)
    axes[0, 0].set_ylabel("largest error over all pairs of codes, in LSB")
    largest = worst(r for r in sweep.of(found.rows, FUSED[0])).max_lsb
    count = len(sweep.of(found.rows, FUSED[0])) // 3
    finding = f"Over {count} pairs of ranges qops 8p8to8 stays within {largest:.2f} LSB (bound {BOUND_8P8TO8})"
    style.headline(figure, finding, "each line: the largest errors, in order; logarithmic above 1.5 LSB; no guess")
    return figure


def tables(found: Measured) -> list[Table]:
    """Every system by kind of ranges, and the speed."""
    head = ("op", "system", "pairs of ranges", "refused", "both hold 0: median of max LSB", "max LSB")
    rows = []
    for s in ALL:
        of = [r for r in found.rows if (r.op, r.system) == (s.op, s.name)]
        taken = [r for r in of if not r.refused]
        held = [r.max_lsb for r in taken if r.holds_zero]
        others = [r.max_lsb for r in taken if not r.holds_zero]
        numbers = [f(errors) if errors else np.nan for errors in (held, others) for f in (np.median, max)]
        refused = len(of) - len(taken)
        rows.append([s.op, s.name, str(len(of)), str(refused), *(f"{n:.4g}" for n in numbers)])
    head = (*head, "one excludes 0: median of max LSB", "max LSB")
    notes = reasons.notes({f"{x.op}, {x.system}": (max(x.max, x.anywhere), x.why) for x in summary(found)})
    speeds = [[name, f"{rate / 1e6:.1f}"] for name, rate in found.speeds.items()]
    return [
        Table(
            "Every system over all pairs of codes of many pairs of ranges, with all guesses",
            head,
            rows,
            words=2,
            notes=notes,
        ),
        Table("Speed of the sweep", ("pool", "million pairs of codes a second"), speeds),
    ]


def figures(found: Measured) -> Figures:
    """How to draw the figure."""
    return {"sweep": lambda: draw(found)}
