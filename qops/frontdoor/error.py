"""How far quantized data are from the truth, in LSB."""

from __future__ import annotations

from functools import reduce
from math import ceil, floor, log2, sqrt
from operator import add
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays import channels as _channels
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.frontdoor import error as _kernels
from qops._keywords import refusing_unknown as _refusing_unknown
from qops._keywords import unknown_keyword as _unknown_keyword
from qops.checks import as_array as _as_array
from qops.frontdoor.bound import bound as _bound
from qops.frontdoor.report import FINEST_BIN, MOST_BINS, ErrorReport, Histogram, Worst, edges_of
from qops.qtensor import QTensor, TensorLike

__all__ = ["check_values", "error", "line_of", "reference_of", "report_on"]

_AT_ONCE = 1 << 15  # elements; the arrays that are computed of so many stay in the cache
_LARGEST = float(np.finfo(np.float32).max)


def line_of(t: TensorLike) -> tuple[NDArray[Any], Any, Any, Any]:
    """Give the codes of `t` and (step, zero, base) of their values."""
    data, lo, hi = _channels.read(t, "t")
    row = t.code_type if isinstance(t, QTensor) else _codes.of(data)
    step, zero, base = row.line(lo, hi)
    if not np.any(base):
        return data, step, zero, base
    between = np.asarray(base) != 0  # 0 is between two codes: then count from the lowest code, so both ends are exact
    return data, step, np.where(between, row.lowest, zero), np.where(between, lo, base)


def reference_of(reference: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Give true values of data of this shape as an array that broadcasts to it."""
    want = _as_array(reference, "reference")
    if want.dtype.kind not in "fiu":
        raise bad_type("reference", f"expected real numbers, got {want.dtype}")
    try:
        np.broadcast_to(want, shape)
    except ValueError:
        raise bad_value("reference", f"shape {want.shape} does not fit the data's {shape}") from None
    return want


def check_values(reference: NDArray[Any]) -> None:
    """Raise ValueError if true values are NaN, infinite or beyond float32."""
    if reference.size and not max(float(reference.max()), -float(reference.min())) <= _LARGEST:
        raise bad_value("reference", "has values that are NaN, infinite or beyond float32")


@_refusing_unknown
def error(t: TensorLike, reference: ArrayLike, op: str | None = None, **unknown: Never) -> ErrorReport:
    """Compare quantized data with what they should be.

    Parameters
    ----------
    t : (data, min, max)
        Tensor of any code type, at least one element; min and max may be arrays, per channel.
    reference : array_like of float
        True values, of a shape that broadcasts to the data's.
    op : str, optional
        The op that made the tensor; the report then has its `bound` (`qops.bound`), which is against the exact result
        for the codes that the op got. A reference that was computed from floats before they were quantized adds what
        that rounding did, so the largest error may be above the bound.

    Returns
    -------
    ErrorReport
        In units of the tensor's own LSB, ``(max - min) / steps``, of each channel if it has several.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, no data, a reference that is not real numbers, has values that are NaN,
        infinite or beyond float32, or another shape, a range of zero width (it has no LSB) with inexact data, an `op`
        that has no bound for such codes.

    Examples
    --------
    >>> report = qops.error(qops.quantize([0.0, 0.3, 1.0]), [0.0, 0.3, 1.0])
    >>> round(report.max, 3), report.worst.index
    (0.5, (1,))
    >>> (report + report).count
    6
    >>> print(qops.error(qops.quantize([0.0, 0.3, 1.0]), [0.0, 0.3, 1.0], "quantize"))
    elements      3
    LSB           0.00392157
    max error     0.5000 LSB; the op itself adds at most 0.5001
    mean |error|  0.1667 LSB
    rms error     0.2887 LSB
    bias          -0.1667 LSB
    SQNR          54.5 dB
    worst         0.298039 for 0.3, at (1,)
    """
    if unknown:
        raise _unknown_keyword(error, unknown)
    return report_on(t, reference, op)


def report_on(t: TensorLike, reference: ArrayLike, op: str | None = None, counts: bool = True) -> ErrorReport:
    """Do what `error` does; without `counts` the histogram, which takes a third of the time, has no bins."""
    data, step, zero, base = line_of(t)
    if data.size == 0:
        raise bad_value("t", f"has no elements, shape {data.shape}")
    want = reference_of(reference, data.shape)
    largest = None if op is None else _bound(op, data.dtype)
    line = [np.asarray(part, np.float64) for part in (step, zero, base)]
    arrays = (data, want, *line) if line[0].ndim else (data, want)
    reports = (
        _block(got, true, own or line, step, data.shape, start, largest, counts)
        for start, (got, true, *own) in _kernels.stretches(arrays, _AT_ONCE)
    )
    return reduce(add, reports)


def _block(
    got: NDArray[Any],
    want: NDArray[Any],
    line: list[NDArray[Any]],
    lsb: Any,
    shape: tuple[int, ...],
    start: int,
    bound: float | None,
    counts: bool,
) -> ErrorReport:
    """Report on a block of elements; the first one has the flat index `start`."""
    off = np.empty(got.shape)
    n, s = off.size, _kernels.sums(got, want, line, off)
    if not s["signal"] <= _LARGEST**2:  # one true value that is too large, or NaN, makes the sum of squares so
        check_values(want)
    if s["noise"] and not line[0].all() and off[line[0] == 0].any():
        raise bad_value("t", "its range is zero wide, so an error has no LSB to be measured in")
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
        histogram=_histogram(off, s["largest"]) if counts else Histogram(np.zeros(0, np.int64), np.zeros(1)),
        bound=bound,
    )


def _histogram(off: NDArray[Any], largest: float) -> Histogram:
    """Count the errors in bins that are symmetric around 0 and reach beyond the `largest`."""
    limit = floor(largest) + 1
    width = max(FINEST_BIN, 2.0 ** ceil(log2(2 * limit / MOST_BINS)))
    half = ceil(limit / width)
    return Histogram(_kernels.count(off, width, half), edges_of(half, width))
