"""The summary: a line an op and system, the same for all views, and the claims about it."""

from collections.abc import Sequence
from math import isfinite, nan
from typing import NamedTuple

import numpy as np

from analysis.reasons import FAR
from analysis.report import Table
from qops import ErrorReport

HEAD = (
    "op",
    "system",
    "max LSB",
    "mean LSB",
    "bias LSB",
    "SQNR dB",
    "bound LSB",
    "anywhere: max LSB",
    "claims held",
    "worst case, and why it is far off",
)


class Claim(NamedTuple):
    """A sentence; it holds while the value measured is at most (`at_least`: at least) the limit."""

    text: str
    measured: float
    limit: float
    at_least: bool = False
    op: str = ""
    system: str = ""

    @property
    def holds(self) -> bool:
        """Whether the sentence is true of the measured numbers; NaN makes it false."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


class Line(NamedTuple):
    """What is known of one system: errors in LSB where ranges hold 0; `anywhere`: of all that was measured."""

    op: str
    system: str
    max: float
    mean: float
    bias: float = nan
    sqnr: float = nan
    bound: float | None = None
    worst: str = ""
    anywhere: float = nan
    why: str = ""  # it is far off


def errors(reports: Sequence[ErrorReport]) -> tuple[float, float, float, float]:
    """Give the four numbers of several reports: largest error, mean, bias furthest from 0, lowest SQNR."""
    mean = float(np.mean([e.mean for e in reports]))
    return max(e.max for e in reports), mean, max((e.bias for e in reports), key=abs), min(e.sqnr for e in reports)


def number(x: float | None, form: str) -> str:
    """A number, or a dash where there is none."""
    if x is None or x != x:
        return "-"
    text = format(x, form) if isfinite(x) else "exact"
    return text.lstrip("+-") if x and isfinite(x) and float(text) == 0 else text


def held(line: Line, claims: Sequence[Claim]) -> str:
    """How many of the claims about a line hold."""
    own = [c.holds for c in claims if (c.op, c.system) == (line.op, line.system)]
    return f"{sum(own)} of {len(own)}" if own else "-"


def table(title: str, lines: Sequence[Line], claims: Sequence[Claim]) -> Table:
    """All lines; a claim that is broken shows in its count, and a row that is far off says why."""
    rows = [
        [
            x.op,
            x.system,
            size(x.max),
            number(x.mean, ".3f"),
            number(x.bias, "+.3f"),
            number(x.sqnr, ".1f"),
            number(x.bound, ".4g"),
            size(x.anywhere),
            held(x, claims),
            f"{x.worst}. {size(max(x.max, x.anywhere))} LSB: {x.why}" if far_off(x) else x.worst,
        ]
        for x in lines
    ]
    return Table(title, HEAD, rows, words=2)


def far_off(x: Line) -> bool:
    """Whether a row needs its reason."""
    return max(x.max, x.anywhere) > FAR and bool(x.why)


def size(error: float) -> str:
    """An error in few letters, whether a third of an LSB or a billion of them."""
    return number(error, ".1e" if error >= 1000 or 0 < error < 5e-4 else ".3f" if error < 10 else ".1f")
