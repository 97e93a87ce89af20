"""How far quantized data are from the truth, in LSB."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import ceil, floor, inf, log2, log10, nan, sqrt
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays import channels as _channels
from qops._kernels.frontdoor import error as _kernels
from qops.qtensor import QTensor, TensorLike
from qops.qtensor import as_array as _as_array

__all__ = ["ErrorReport", "Histogram", "Worst", "error", "values"]

_FINEST_BIN = 1 / 8
_MOST_BINS = 4096
_BLOCK = 1 << 15  # elements; the arrays computed for a block stay in the cache
_LARGEST = float(np.finfo(np.float32).max)


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


@dataclass(frozen=True, slots=True, eq=False)
class ErrorReport:
    """Error of quantized data in LSB, one code step; positive where the data are too high.

    Reports of chunks of data add up, by ``r1 + r2`` or ``sum(reports)``, to the report of all data, except for float64
    rounding.

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
        )

    def __radd__(self, other: object) -> ErrorReport:
        """Let `sum` add reports: it starts with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented


def _line(t: TensorLike) -> tuple[NDArray[Any], Any, Any, Any]:
    """Give the codes of `t` and (step, zero, base) of their values."""
    data, lo, hi = _channels.read(t, "t")
    row = t.code_type if isinstance(t, QTensor) else _codes.of(data)
    step, zero, base = row.line(lo, hi)
    if not np.any(base):
        return data, step, zero, base
    between = np.asarray(base) != 0  # 0 is between two codes: then count from the lowest code, so both ends are exact
    return data, step, np.where(between, row.lowest, zero), np.where(between, lo, base)


def values(t: TensorLike) -> tuple[NDArray[Any], Any]:
    """Exact real values of a tensor, in float64, and the size of its LSB.

    If 0 is on a code, the value is ``(q - zero) * step``, so that code is exactly 0, as in `dequantize`. Otherwise it
    is ``min + (q - lowest) * step``.

    Parameters
    ----------
    t : (data, min, max)
        Tensor of any code type; min and max may be arrays, per channel.

    Returns
    -------
    (ndarray of float64, float or ndarray)
        The values, of the data's shape, and the size of an LSB.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor.

    Examples
    --------
    >>> values((np.uint8([0, 255]), 1.0, 2.0))
    (array([1., 2.]), 0.00392156862745098)
    """
    data, step, zero, base = _line(t)
    return (data.astype(np.float64) - zero) * step + base, step


def error(t: TensorLike, reference: ArrayLike) -> ErrorReport:
    """Compare quantized data with what they should be.

    Parameters
    ----------
    t : (data, min, max)
        Tensor of any code type, at least one element; min and max may be arrays, per channel.
    reference : array_like of float
        True values, of a shape that broadcasts to the data's.

    Returns
    -------
    ErrorReport
        In units of the tensor's own LSB, ``(max - min) / steps``, of each channel if it has several.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, no data, a reference that is not real numbers, has values that are NaN,
        infinite or beyond float32, or another shape, a range of zero width (it has no LSB) with inexact data.

    Examples
    --------
    >>> import qops
    >>> report = error(qops.quantize([0.0, 0.3, 1.0]), [0.0, 0.3, 1.0])
    >>> round(report.max, 3), report.worst.index
    (0.5, (1,))
    >>> (report + report).count
    6
    """
    data, step, zero, base = _line(t)
    want = _as_array(reference, "reference")
    if want.dtype.kind not in "fiu":
        raise TypeError(f"reference: expected real numbers, got {want.dtype}")
    if data.size == 0:
        raise ValueError(f"t: has no elements, shape {data.shape}")
    try:
        np.broadcast_to(want, data.shape)
    except ValueError:
        raise ValueError(f"reference: shape {want.shape} does not fit the data's {data.shape}") from None
    line = [np.asarray(part, np.float64) for part in (step, zero, base)]
    arrays = (data, want, *line) if line[0].ndim else (data, want)
    reports = (
        _block(got, true, own or line, step, data.shape, start)
        for start, (got, true, *own) in _kernels.stretches(arrays, _BLOCK)
    )
    return reduce(add, reports)


def _block(
    got: NDArray[Any], want: NDArray[Any], line: list[NDArray[Any]], lsb: Any, shape: tuple[int, ...], start: int
) -> ErrorReport:
    """Report on a block of elements; the first one has the flat index `start`."""
    if not max(want.max(), -want.min()) <= _LARGEST:
        raise ValueError("reference: has values that are NaN, infinite or beyond float32")
    off = np.empty(got.shape)
    n, s = off.size, _kernels.sums(got, want, line, off)
    if s["noise"] and not line[0].all() and off[line[0] == 0].any():
        raise ValueError("t: its range is zero wide, so an error has no LSB to be measured in")
    at = s["worst"]
    step, zero, base = (float(part.flat[at % part.size]) for part in line)
    return ErrorReport(
        max=s["largest"],
        mean=s["absolute"] / n,
        rms=sqrt(s["squares"] / n),
        bias=s["signed"] / n,
        lsb=lsb,
        count=n,
        signal=s["signal"] / n,
        noise=s["noise"] / n,
        worst=Worst(
            tuple(map(int, np.unravel_index(start + at, shape))),
            (float(got[at]) - zero) * step + base,
            float(want[at]),
        ),
        histogram=_histogram(off, s["largest"]),
    )


def _histogram(off: NDArray[Any], largest: float) -> Histogram:
    """Count the errors in bins that are symmetric around 0 and reach beyond the `largest`."""
    limit = floor(largest) + 1
    width = max(_FINEST_BIN, 2.0 ** ceil(log2(2 * limit / _MOST_BINS)))
    half = ceil(limit / width)
    return Histogram(_kernels.count(off, width, half), _edges(half, width))


def _edges(half: int, width: float) -> NDArray[Any]:
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
        fold = int(min(width / own, _MOST_BINS))
        np.add.at(counts, (np.arange(-middle, middle) // fold) + half, h.counts)
    return Histogram(counts, _edges(half, width))
