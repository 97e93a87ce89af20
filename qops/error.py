"""How far quantized data are from the truth, in LSB."""

from dataclasses import dataclass
from math import inf, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.frontdoor.quantize import zero_and_base
from qops.qtensor import S32, U8, TensorLike, as_array, operand

_BINS_PER_LSB = 8
_MOST_BINS = 4096
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class Worst:
    """The element that is farthest off.

    Attributes
    ----------
    index : tuple of int
        Where it is.
    value, reference : float
        What the code stands for, and what it should be.
    """

    index: tuple[int, ...]
    value: float
    reference: float


class Histogram(NamedTuple):
    """Counts of the signed error.

    Attributes
    ----------
    counts : ndarray of int64
        Elements a bin.
    edges : ndarray of float64
        Ends of the bins in LSB, one more than there are bins.
    """

    counts: NDArray[np.int64]
    edges: NDArray[np.float64]


class ErrorReport(NamedTuple):
    """Error of quantized data in LSB, one output code step; positive where the data are too high.

    Attributes
    ----------
    max, mean, rms : float
        Largest, mean and root mean square of the absolute error, in LSB.
    bias : float
        Mean of the signed error, in LSB.
    sqnr : float
        Signal to quantization noise ratio in dB; inf if there is no error.
    lsb : float
        Real size of an LSB.
    worst : Worst
        The element with the largest error.
    histogram : Histogram
        Counts of the signed error.
    """

    max: float
    mean: float
    rms: float
    bias: float
    sqnr: float
    lsb: float
    worst: Worst
    histogram: Histogram


def values(t: TensorLike) -> tuple[NDArray[np.float64], float]:
    """Exact real values of a tensor, in float64, and the size of its LSB.

    uint8: ``min + q * (max - min) / 255``, exactly 0 for a code that 0 is on, as `dequantize` has it; int32:
    ``q * (max - min) / 2**32``.

    Parameters
    ----------
    t : (data, min, max)
        uint8 or int32 tensor.

    Returns
    -------
    (ndarray of float64, float)
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
    codes, lo, hi = operand(t, "t", U8, S32)
    if codes.itemsize == 1:
        lsb = (hi - lo) / 255
        zero, base = zero_and_base(lo, hi)
        return (lo + codes * lsb if base else (codes.astype(np.float64) - zero) * lsb), lsb
    lsb = (hi - lo) / 2**32
    return codes * lsb, lsb


def error(t: TensorLike, reference: ArrayLike) -> ErrorReport:
    """Compare quantized data with what they should be.

    Parameters
    ----------
    t : (data, min, max)
        uint8 or int32 tensor, at least one element.
    reference : array_like of float
        True values, of a shape that broadcasts to the data's.

    Returns
    -------
    ErrorReport
        All in units of the tensor's own LSB, ``(max - min) / 255`` or ``(max - min) / 2**32``.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, no data, a reference of no real numbers, with values that are NaN, infinite
        or beyond float32, or of another shape, a range of zero width (it has no LSB) around data that are not exact.

    Examples
    --------
    >>> import qops
    >>> report = error(qops.quantize([0.0, 0.3, 1.0]), [0.0, 0.3, 1.0])
    >>> round(report.max, 3), report.worst.index
    (0.5, (1,))
    """
    got, lsb = values(t)
    want = as_array(reference, "reference")
    if want.dtype.kind not in "fiu":
        raise TypeError(f"reference: expected real numbers, got {want.dtype}")
    want = want.astype(np.float64)
    if got.size == 0:
        raise ValueError(f"t: has no elements, shape {got.shape}")
    if not (np.abs(want) <= _LARGEST).all():
        raise ValueError("reference: has values that are NaN, infinite or beyond float32")
    try:
        want = np.broadcast_to(want, got.shape)
    except ValueError:
        raise ValueError(f"reference: shape {want.shape} does not fit the data's {got.shape}") from None
    off = got - want
    if lsb > 0:
        off = off / lsb
    elif off.any():
        raise ValueError("t: its range is zero wide, so an error has no LSB to be measured in")
    worst = np.unravel_index(int(np.abs(off).argmax()), got.shape)
    return ErrorReport(
        max=float(np.abs(off).max()),
        mean=float(np.abs(off).mean()),
        rms=float(np.sqrt((off**2).mean())),
        bias=float(off.mean()),
        sqnr=_decibels(want, (got - want)),
        lsb=lsb,
        worst=Worst(tuple(map(int, worst)), float(got[worst]), float(want[worst])),
        histogram=_histogram(off),
    )


def _decibels(signal: NDArray[Any], noise: NDArray[Any]) -> float:
    signal_power, noise_power = float((signal**2).mean()), float((noise**2).mean())
    if noise_power == 0:
        return inf
    return 10 * log10(signal_power / noise_power) if signal_power else -inf


def _histogram(off: NDArray[np.float64]) -> Histogram:
    """Bins of 1/8 LSB from -limit to limit, coarser where that would be more than 4096."""
    limit = max(1.0, float(np.ceil(np.abs(off).max())))
    counts, edges = np.histogram(off, bins=int(min(2 * limit * _BINS_PER_LSB, _MOST_BINS)), range=(-limit, limit))
    return Histogram(counts, edges)
