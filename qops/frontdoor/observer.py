"""Ranges from data: all of them, or the part that loses least when it is quantized."""

from __future__ import annotations

from typing import Any, Literal, Never, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from qops._kernels.arrays.checks import float32s as _float32s
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown as _refusing_unknown
from qops._keywords import unknown_keyword as _unknown_keyword
from qops.checks import as_array as _as_array
from qops.checks import choice as _choice
from qops.checks import dtype_among as _dtype_among
from qops.checks import flag as _flag
from qops.checks import integer as _integer
from qops.checks import number as _number
from qops.codes import CodeType as _CodeType
from qops.codes import of_dtype as _of_dtype
from qops.frontdoor import _histogram as _h

__all__ = ["Observer", "range_of"]

Method: TypeAlias = Literal["all", "percentile", "mse", "entropy"]
_LARGEST = float(np.finfo(np.float32).max)
_METHODS = ("all", "percentile", "mse", "entropy")


class Observer:
    """Gathers batches of data, and gives the range that their codes should have.

    It keeps the least and the largest value, and a histogram around 0 of a fixed number of bins, for each channel. The
    bins are as wide as a power of two; when a value lies beyond them, the width doubles and two bins become one. So
    batches give what all data at once give, in any order, and the memory does not grow.

    ============  =====================================================================================================
    method        range
    ============  =====================================================================================================
    "all"         ``(min(x, 0), max(x, 0))``; symmetric: ``T = max|x|``
    "percentile"  without ``(100 - percentile) / 2`` percent of the data at each end; symmetric: without the
                  ``100 - percentile`` percent with the largest ``|x|``
    "mse"         the least sum of ``(step * clamp(round(x / step)) - x)**2``, of the ends ``k / 128`` times that of
                  the data, k = 1 to 128; one end is searched after the other until neither moves
    "entropy"     -T to T within the data, with the least Kullback-Leibler divergence between the histogram up to T,
                  what is beyond counted at T, and the same with as few bins as there are codes up to T
    ============  =====================================================================================================

    "percentile", "mse" and "entropy" see data in bins: their ends are within a bin of those of all values, and a bin is
    ``4 / bins`` of ``max|x|`` wide at most. The range holds 0, and is what `quantize` takes, which puts 0 on a code.

    Parameters
    ----------
    method : {"all", "percentile", "mse", "entropy"}
        What the range should be.
    axis : int, optional
        Each index along this axis gets a range of its own.
    dtype : {uint8, int8, uint16, int16}, optional
        Type of the codes that the range is for; "entropy" is for those of 8 bits.
    symmetric : bool
        Whether the code of 0 is the middle one, 128 or 0: T then is on the highest code, and the range is
        ``(-T * 128 / 127, T)`` (32768 / 32767 with 16 bits).
    percentile : float
        The share of data in range, in percent, above 0 and at most 100.
    bins : int
        Bins of a histogram: a power of two from 1024 to 2**20. It takes 8 bytes for each.

    Raises
    ------
    TypeError, ValueError
        Arguments that are not as said above.

    Notes
    -----
    Sources: "percentile", the calibrators of onnxruntime (``quantization/calibrate.py``), which cut half of the rest at
    each end, or by ``|x|`` where the range is symmetric. "mse", Banner, Nahshan, Soudry, *Post training 4-bit
    quantization*, 2019, who derive the same clip for normal and Laplace data: 3.92 standard deviations and 9.89 b for 8
    bits. "entropy", Migacz, *8-bit inference with TensorRT*, 2017: 128 levels of ``|x|``, or 256 where the data are on
    one side of 0 and the range is not symmetric. Here the divergence is infinite where a bin that holds data has no
    share in the coarse histogram; MXNet and onnxruntime add a small share to every bin instead. Values that are 0 are
    left out, as every range has 0 on a code. Every eighth bin is tried as T.

    Examples
    --------
    >>> observer = qops.Observer("percentile", percentile=99.0)
    >>> for batch in np.split(np.linspace(-2, 6, 4000), 4):
    ...     observer.update(batch)
    >>> lo, hi = observer.range()
    >>> round(lo, 2), round(hi, 2)
    (-1.96, 5.96)
    """

    def __init__(
        self,
        method: Method = "all",
        *,
        axis: int | None = None,
        dtype: DTypeLike = "uint8",
        symmetric: bool = False,
        percentile: float = 99.99,
        bins: int = 4096,
    ) -> None:
        self.method = _choice(method, "method", _METHODS)
        self.axis = None if axis is None else _integer(axis, "axis")
        self.dtype = _codes_of(dtype).dtype.name
        self.symmetric = _flag(symmetric, "symmetric")
        self.percentile = _number(percentile, "percentile")
        self.bins = _integer(bins, "bins", 1024, 2**20)
        if not 0 < self.percentile <= 100:
            raise bad_value("percentile", f"expected a number above 0 and at most 100, got {percentile}")
        if self.bins & (self.bins - 1):
            raise bad_value("bins", f"expected a power of two, got {bins}")
        if self.method == "entropy" and np.dtype(self.dtype).itemsize > 1:
            raise bad_value("dtype", f"'entropy' is for codes of 8 bits, got {self.dtype}")
        self._shape: tuple[int, ...] = ()
        self._found: list[_h.ValueCounts] = []

    def update(self, x: ArrayLike) -> None:
        """Take a batch of data into account.

        Parameters
        ----------
        x : array_like of float
            Finite values, which are rounded to float32. With an axis, all batches have as many axes, and as many
            channels along that one.

        Raises
        ------
        TypeError, ValueError
            Data that are not numbers, or not finite in float32, or of another shape. Nothing has changed then.
        """
        values: Any = _float32s(_as_array(x, "x"), "x")
        if not np.isfinite(values).all():
            raise bad_value("x", "has NaN, infinite values or some beyond float32")
        shape: tuple[int, ...] = ()
        rows = values.reshape(1, -1)
        if self.axis is not None:
            if not -values.ndim <= self.axis < values.ndim:
                raise bad_value("x", f"expected an array that has axis {self.axis}, got shape {values.shape}")
            axis = self.axis % values.ndim
            shape = tuple(n if i == axis else 1 for i, n in enumerate(values.shape))
            rows = np.moveaxis(values, axis, 0).reshape(shape[axis], values.size // max(shape[axis], 1))
        if not self._found:
            self._shape = shape
            self._found = [_h.ValueCounts(self.bins // 2) for _ in range(len(rows))]
        elif shape != self._shape:
            raise bad_value("x", f"expected channels as in a shape of {self._shape}, got a shape of {values.shape}")
        for histogram, row in zip(self._found, rows, strict=True):
            histogram.add(row)

    __call__ = update

    def merge(self, other: Observer) -> None:
        """Take all data into account that another observer with the same settings has seen.

        Parameters
        ----------
        other : Observer
            It does not change.

        Raises
        ------
        TypeError, ValueError
            What is no observer, has other settings, or has seen other channels.
        """
        if not isinstance(other, Observer):
            raise bad_type("other", f"expected an Observer, got {type(other).__name__}")
        if repr(self) != repr(other) or (self._found and other._found and self._shape != other._shape):
            raise bad_value("other", f"expected one like {self!r} with the same channels, got {other!r}")
        if other._found and not self._found:
            self._shape = other._shape
            self._found = [_h.ValueCounts(self.bins // 2) for _ in other._found]
        for mine, its in zip(self._found, other._found, strict=False):  # no histograms where nothing was seen
            mine.merge(its)

    @property
    def count(self) -> int:
        """How many values were seen."""
        return sum(int(histogram.counts.sum()) + histogram.zeros for histogram in self._found)

    def range(self) -> tuple[Any, Any]:
        """Give the range of the values seen.

        Returns
        -------
        (float, float) or (ndarray of float32, ndarray of float32)
            The ends; with an axis, of the shape that broadcasts against the data. Batches without a value give
            (0.0, 0.0).

        Raises
        ------
        ValueError
            No batch was seen; a symmetric range that float32 does not hold.
        """
        if not (self._found or self._shape):
            raise bad_value("range", f"{self!r} has seen no batch, call update first")
        if self.axis is None:
            return self._ends(self._found[0])
        ends = np.array([self._ends(histogram) for histogram in self._found], np.float32).reshape(-1, 2)
        return ends[:, 0].reshape(self._shape), ends[:, 1].reshape(self._shape)

    def _ends(self, h: _h.ValueCounts) -> tuple[float, float]:
        """Give the ends of the range of a channel, rounded to float32."""
        steps = _of_dtype(self.dtype).steps
        if h.lowest == h.highest:
            return 0.0, 0.0
        if self.method == "percentile":
            low, high = _h.percentile(h, self.percentile, self.symmetric)
        elif self.method == "mse":
            low, high = _h.least_squares(h, steps, self.symmetric)
        elif self.method == "entropy":
            one_sided = not self.symmetric and not h.lowest < 0 < h.highest
            top = _h.entropy(h, steps + 1 if one_sided else (steps + 1) // 2)
            low, high = max(-top, h.lowest), min(top, h.highest)
        else:
            low, high = h.lowest, h.highest
        if self.symmetric:
            high = max(-low, high)
            low = -high * (steps + 1) / (steps - 1)
            if low < -_LARGEST:
                raise bad_value(
                    "x", f"reaches to {high:.6g}, and with 0 on the middle code its range is beyond float32"
                )
        return float(np.float32(low)), float(np.float32(high))

    def __repr__(self) -> str:
        return (
            f"Observer({self.method!r}, axis={self.axis}, dtype={self.dtype!r}, symmetric={self.symmetric}, "
            f"percentile={self.percentile}, bins={self.bins})"
        )


def _codes_of(dtype: DTypeLike) -> _CodeType:
    return _of_dtype(_dtype_among(dtype, "dtype", ("uint8", "int8", "uint16", "int16")))


@_refusing_unknown
def range_of(
    x: ArrayLike,
    method: Method = "all",
    *,
    axis: int | None = None,
    dtype: DTypeLike = "uint8",
    symmetric: bool = False,
    percentile: float = 99.99,
    bins: int = 4096,
    **unknown: Never,
) -> tuple[Any, Any]:
    """Give the range that codes of the data should have: what an `Observer` gives that has seen them.

    Parameters
    ----------
    x : array_like of float
        Finite values, which are rounded to float32.
    method : {"all", "percentile", "mse", "entropy"}
        What the range should be; `Observer` has the formulas.
    axis : int, optional
        Each index along this axis gets a range of its own.
    dtype : {uint8, int8, uint16, int16}, optional
        Type of the codes that the range is for; "entropy" is for those of 8 bits.
    symmetric : bool
        Whether the code of 0 is the middle one.
    percentile : float
        The share of data in range, in percent.
    bins : int
        Bins of a histogram: a power of two from 1024 to 2**20.

    Returns
    -------
    (float, float) or (ndarray of float32, ndarray of float32)
        The ends, which hold 0 between them; with an axis, of the shape that broadcasts against the data. They are
        (0.0, 0.0) of no data.

    Raises
    ------
    TypeError, ValueError
        Data that are not numbers, or not finite in float32; arguments that are not as said above.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=10_000)
    >>> x[0] = 40.0
    >>> [round(end, 1) for end in qops.range_of(x)]
    [-3.9, 40.0]
    >>> [round(end, 1) for end in qops.range_of(x, "percentile", percentile=99.9)]
    [-3.3, 3.1]
    >>> weights = x.reshape(10, 1000)
    >>> qops.quantize(weights, *qops.range_of(weights, axis=0), axis=0).scale.shape
    (10, 1)
    """
    if unknown:
        raise _unknown_keyword(range_of, unknown)
    observer = Observer(method, axis=axis, dtype=dtype, symmetric=symmetric, percentile=percentile, bins=bins)
    values = _as_array(x, "x")
    if axis is not None:
        _integer(axis, "axis", -values.ndim, values.ndim - 1)
    observer.update(values)
    return observer.range()
