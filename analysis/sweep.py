"""A sweep over every pair of codes, many ranges and every system: its pieces, and the table that they make."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from analysis.ranges import holding_zero, many_ranges
from analysis.systems import ALL, Range, System, all_pairs, apply
from qops import QTensor, values

PAIRS = 256 * 256  # of codes, in every row
Piece = tuple[Range, Range]


@dataclass(frozen=True, slots=True)
class Row:
    """One system on one pair of ranges with one guess; errors in LSB. NaN where the system refuses the ranges."""

    op: str
    system: str
    guess: str
    a_min: float
    a_max: float
    b_min: float
    b_max: float
    refused: str = ""
    out_min: float = np.nan
    out_max: float = np.nan
    passes: int = 0
    max_lsb: float = np.nan
    mean_lsb: float = np.nan
    bias_lsb: float = np.nan
    sqnr_db: float = np.nan
    a_code: int = -1
    b_code: int = -1
    value: float = np.nan
    exact: float = np.nan

    @property
    def holds_zero(self) -> bool:
        """Whether both ranges hold 0, as those of `qops.quantize` do."""
        return self.a_min <= 0 <= self.a_max and self.b_min <= 0 <= self.b_max

    @property
    def worst(self) -> str:
        """Ranges and codes of the largest error."""
        sign = {"add": "+", "sub": "-", "mul": "*"}[self.op[:3]]
        ranges = f"[{self.a_min:.4g}, {self.a_max:.4g}] {sign} [{self.b_min:.4g}, {self.b_max:.4g}]"
        guess = "" if self.guess == "none" else f", guess {self.guess}"
        return f"{ranges}{guess}, codes {self.a_code} and {self.b_code}: {self.value:.4g} for {self.exact:.4g}"


def pieces(count: int) -> list[Piece]:
    """Give `count` pairs of ranges of all kinds, and each widened to hold 0; none twice."""
    drawn = many_ranges(count)
    return list(dict.fromkeys([*drawn, *((holding_zero(a), holding_zero(b)) for a, b in drawn)]))


def measure_piece(a: Range, b: Range) -> list[Row]:
    """Run every system on all pairs of codes of two ranges."""
    x, y = all_pairs(a, b)
    return [_row(s, x, y, name, guess) for s in ALL for name, guess in _guesses(s, x, y)]


def _guesses(system: System, x: QTensor, y: QTensor) -> Iterator[tuple[str, Range | None]]:
    """Give no guess, and for systems that are swept with guesses the range of the results and a quarter of it."""
    yield "none", None
    if system.guessed:
        exact = system.exact(values(x), values(y))
        lo, hi = float(exact.min()), float(exact.max())
        yield "exact", (lo, hi)
        yield "quarter", (lo / 4, max(lo / 4, hi / 4))


def _row(system: System, x: QTensor, y: QTensor, name: str, guess: Range | None) -> Row:
    key = (system.op, system.name, name, x.min, x.max, y.min, y.max)
    try:
        result = apply(system, x, y, guess)
    except ValueError as refusal:  # such as products beyond float32
        return Row(*key, refused=str(refusal))
    e = result.report
    errors = (e.max, e.mean, e.bias, e.sqnr)
    a, b = map(int, e.worst.index)
    ends = (result.tensor.min, result.tensor.max)
    return Row(*key, "", *ends, result.passes, *errors, a, b, e.worst.value, e.worst.reference)


def of(rows: Iterable[Row], system: System) -> list[Row]:
    """The rows of one system that it did not refuse."""
    return [r for r in rows if (r.op, r.system) == (system.op, system.name) and not r.refused]


def columns(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """The rows as one tidy table: a column a field."""
    dicts = [asdict(r) for r in rows]
    return {name: [d[name] for d in dicts] for name in Row.__dataclass_fields__}


def batches(parts: list[Piece], count: int) -> list[list[Piece]]:
    """Cut the pieces into so many runs of nearly one length."""
    each = iter(parts)
    return [list(islice(each, -(-len(parts) // count))) for _ in range(count)]
