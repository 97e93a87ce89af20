"""The sweep over ranges: how the errors of every system are spread, and how fast they were found."""

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import reasons, style
from analysis.ranges import both_kinds, hold_zero
from analysis.report import Table
from analysis.summary import Line
from analysis.sweeps import Pool
from analysis.systems import ALL, CHAIN, FORMS, FUSED, PRODUCTS, System
from qops import Sweep, SweepRow, sweep

PAIRS = 256 * 256  # of codes, in every row


class Measured(NamedTuple):
    """Every row of the sweep, and how fast it was: pairs of codes a second of the pool."""

    rows: Sweep
    where: str
    speed: float

    def of(self, system: System, guess: str = "") -> list[SweepRow]:
        """Give the rows of one system that it did not refuse, with every guess or with one."""
        names = {n for n, f in FORMS.items() if ALL[f.number] is system and guess in ("", f.guess)}
        return [r for r in self.rows if r.op in names and not r.refused]


def measure(where: Pool, count: int) -> Measured:
    """Sweep over so many pairs of ranges, and each widened to hold 0."""
    start, found = perf_counter(), Sweep()
    for exact in dict.fromkeys(s.exact for s in ALL):
        ops = {name: form for name, form in FORMS.items() if ALL[form.number].exact is exact}
        found += sweep(ops, exact, both_kinds(count), executor=where.open)
    return Measured(found, where.name, len(found) * PAIRS / (perf_counter() - start))


def worst(rows: Sequence[SweepRow]) -> SweepRow:
    """The row with the largest error."""
    return max(rows, key=lambda r: r.max_lsb)


def told(row: SweepRow) -> str:
    """Ranges and codes of the largest error."""
    form = FORMS[row.op]
    guess = "" if form.guess == "none" else f", guess {form.guess}"
    codes = " and ".join(map(str, row.codes))
    ranges = ALL[form.number].over(row.ranges, ".4g")
    return f"{ranges}{guess}, codes {codes}: {row.value:.4g} for {row.exact:.4g}"


def summary(found: Measured) -> list[Line]:
    """A line a system: over ranges that hold 0, and the largest error of all ranges."""
    lines = []
    for s in ALL:
        rows = found.of(s)
        held = [r for r in rows if hold_zero(*r.ranges)]
        top, anywhere, bias = worst(held), worst(rows), max((r.bias_lsb for r in held), key=abs)
        whys = "; ".join(reasons.why(s.op, s.name, *r.ranges) for r in (top, anywhere)).split("; ")
        why = "; ".join(dict.fromkeys(filter(None, whys)))
        errors = (top.max_lsb, float(np.mean([r.mean_lsb for r in held])), bias, min(r.sqnr_db for r in held))
        lines.append(Line(s.op, s.name, *errors, s.bound, told(top), anywhere.max_lsb, why))
    return lines


def draw(found: Measured) -> Drawing:
    """Largest error of every pair of ranges, lowest first: a panel an op."""
    figure, axes = style.lines(1, 3, height=3.9)
    panels = {"add, fused": FUSED, "add, chain": CHAIN, "multiply": PRODUCTS}
    for ax, (title, systems) in zip(axes[0], panels.items(), strict=True):
        for i, s in enumerate(systems):
            errors = np.sort([r.max_lsb for r in found.of(s, "none")])
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
    largest, count = worst(found.of(FUSED[0])).max_lsb, len(found.of(FUSED[0], "none"))
    finding = f"Over {count} pairs of ranges qops 8p8to8 stays within {largest:.2f} LSB (bound {FUSED[0].bound})"
    style.headline(figure, finding, "each line: the largest errors, in order; logarithmic above 1.5 LSB; no guess")
    return figure


def tables(found: Measured) -> list[Table]:
    """Every system by kind of ranges, and the speed."""
    head = ("op", "system", "pairs of ranges", "refused", "both hold 0: median of max LSB", "max LSB")
    rows = []
    for s in ALL:
        of, taken = [r for r in found.rows if ALL[FORMS[r.op].number] is s], found.of(s)
        kinds = ([r.max_lsb for r in taken if hold_zero(*r.ranges) is held] for held in (True, False))
        numbers = [f(errors) if errors else np.nan for errors in kinds for f in (np.median, max)]
        rows.append([s.op, s.name, str(len(of)), str(len(of) - len(taken)), *(f"{n:.4g}" for n in numbers)])
    head = (*head, "one excludes 0: median of max LSB", "max LSB")
    notes = reasons.notes({f"{x.op}, {x.system}": (max(x.max, x.anywhere), x.why) for x in summary(found)})
    title = "Every system over all pairs of codes of many pairs of ranges, with all guesses"
    speed = [[found.where, f"{found.speed / 1e6:.1f}"]]
    return [
        Table(title, head, rows, words=2, notes=notes),
        Table("Speed of the sweep", ("where", "million pairs of codes a second"), speed),
    ]


FIGURES = {"sweep": draw}
