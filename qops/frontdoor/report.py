"""`ErrorReport`: what `qops.error` found."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log10, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._pages.html import in_notebook, table
from qops._pages.svg import bars
from qops._readable import fitted, shows_fields

__all__ = ["ErrorReport", "Histogram", "Worst"]

FINEST_BIN = 1 / 8
MOST_BINS = 4096
_MOST_BARS = 40


@shows_fields
@dataclass(frozen=True, slots=True)
class Worst:
    """The element with the largest error.

    Attributes
    ----------
    index : tuple of int
        Where it is in its chunk.
    value, reference : float
        The value of the code, and the true value.
    """

    index: tuple[int, ...]
    value: float
    reference: float


@shows_fields
class Histogram(NamedTuple):
    """Counts of the signed error in bins of equal width: 1/8 LSB, or a power of two times that, for 4096 bins at most.

    Attributes
    ----------
    counts : ndarray of int64
        Elements per bin.
    edges : ndarray of float64
        Edges of the bins in LSB, one more than bins; a bin includes its lower edge, the last one both of its edges.
    """

    counts: NDArray[Any]
    edges: NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorReport:
    """Error of quantized data in LSB, one code step; positive where the data are too high.

    Reports of chunks of data add up, by ``r1 + r2`` or ``sum(reports)``, to the report of all data, except for float64
    rounding. ``print(report)`` shows a table.

    Attributes
    ----------
    max, mean, rms : float
        Largest, mean and root mean square of the absolute error, in LSB.
    bias : float
        Mean of the signed error, in LSB.
    lsb : float or ndarray
        Real size of an LSB; an array with ranges per channel; NaN for a sum of reports whose LSBs differ.
    count : int
        How many elements.
    signal, noise : float
        Mean square of the true values, and of the error in real units.
    worst : Worst
        The element with the largest error, the first of equals.
    histogram : Histogram
        Counts of the signed error.
    bound : float, optional
        The largest error, in LSB, that the op itself may have made, if `error` got its name; the larger one of a sum of
        two reports. It does not count what rounding the op's inputs did.
    """

    max: float
    mean: float
    rms: float
    bias: float
    lsb: Any
    count: int
    signal: float
    noise: float
    worst: Worst
    histogram: Histogram
    bound: float | None = None

    @property
    def sqnr(self) -> float:
        """Signal to quantization noise ratio in dB; inf if there is no error."""
        if self.noise == 0:
            return inf
        return 10 * log10(self.signal / self.noise) if self.signal else -inf

    def __add__(self, other: object) -> ErrorReport:
        """Give the report of the data of both reports."""
        if not isinstance(other, ErrorReport):
            return NotImplemented
        count = self.count + other.count
        a, b = self.count / count, other.count / count
        further = self if self.max >= other.max else other
        return ErrorReport(
            max=further.max,
            mean=a * self.mean + b * other.mean,
            rms=sqrt(a * self.rms**2 + b * other.rms**2),
            bias=a * self.bias + b * other.bias,
            lsb=self.lsb if np.array_equal(self.lsb, other.lsb) else nan,
            count=count,
            signal=a * self.signal + b * other.signal,
            noise=a * self.noise + b * other.noise,
            worst=further.worst,
            histogram=_merged(self.histogram, other.histogram),
            bound=None if self.bound is None or other.bound is None else max(self.bound, other.bound),
        )

    def __radd__(self, other: object) -> ErrorReport:
        """Let `sum` add reports: it starts with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self) -> str:
        """Show the worst element in one line, then the table."""
        w = self.worst
        first = f"<ErrorReport: at most {self.max:.4g} LSB off, at {w.index}: {w.value:.6g} for {w.reference:.6g}>"
        return fitted(f"{first}\n{self}")

    def _repr_html_(self) -> str:
        """Show the table and the histogram in a notebook."""
        figures = table(["", "error"], [*self._figures().items()])
        h, counted = self.histogram, np.flatnonzero(self.histogram.counts)
        if not len(counted):  # such a report was made without a histogram
            return in_notebook(figures)
        share, edges = h.counts[counted[0] : counted[-1] + 1] / self.count, h.edges[counted[0] :]
        every = -(-len(share) // _MOST_BARS)
        values = [(f"{edges[i]:+.4g}", float(share[i : i + every].sum())) for i in range(0, len(share), every)]
        return in_notebook(figures, bars("error in LSB", values, "{:.1%}", max(2, len(values) // 4)))

    def __str__(self) -> str:
        """Show a table: a line for each figure."""
        return "\n".join(f"{name:13} {text}" for name, text in self._figures().items())

    def _figures(self) -> dict[str, str]:
        sizes = np.unique(self.lsb).tolist()
        return {
            "elements": f"{self.count}",
            "LSB": " to ".join(f"{size:.6g}" for size in sizes[:: max(1, len(sizes) - 1)]),
            "max error": f"{self.max:.4f} LSB"
            + (f"; the op itself adds at most {self.bound:.4f}" if self.bound else ""),
            "mean |error|": f"{self.mean:.4f} LSB",
            "rms error": f"{self.rms:.4f} LSB",
            "bias": f"{self.bias:+.4f} LSB",
            "SQNR": f"{self.sqnr:.1f} dB",
            "worst": f"{self.worst.value:.6g} for {self.worst.reference:.6g}, at {self.worst.index}",
        }


def edges_of(half: int, width: float) -> NDArray[Any]:
    """Give the edges of `half` bins of this width on each side of 0."""
    return np.arange(-half, half + 1) * width


def _merged(one: Histogram, other: Histogram) -> Histogram:
    """Add the counts in the coarser bins of the two. Each finer bin lies in one coarser bin."""
    if len(one.counts) == len(other.counts) and one.edges[-1] == other.edges[-1]:
        return Histogram(one.counts + other.counts, one.edges)
    widths = [float(h.edges[-1]) / (len(h.counts) // 2) for h in (one, other)]
    width = max(widths)
    half = ceil(max(one.edges[-1], other.edges[-1]) / width)
    counts = np.zeros(2 * half, np.int64)
    for h, own in zip((one, other), widths, strict=True):
        middle = len(h.counts) // 2
        fold = int(min(width / own, MOST_BINS))
        np.add.at(counts, (np.arange(-middle, middle) // fold) + half, h.counts)
    return Histogram(counts, edges_of(half, width))
