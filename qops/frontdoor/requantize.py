"""Requantize: codes of 8 or 32 bits to 8-bit codes of another range."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.frontdoor import requantize as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.frontdoor.targets import OpenRanges
from qops.qtensor import QTensor, TensorLike

__all__ = ["BOUND_REQUANTIZE", "requantization_range", "requantize", "requantize_32to8"]

BOUND_REQUANTIZE = 0.5 + 2**-17
"""Largest error of `requantize` and `requantize_32to8` in LSB, for values within the output range.

From int32: 0.5 for the rounding of the code; at most 2**-19 for the floored product, 2**-20 for the offset and 2**-20
for the multiplier. From 8 bits: 0.5, and about 2**-43 for positions in float64.
"""


@refusing_unknown
def requantization_range(t: TensorLike, **unknown: Never) -> tuple[float, float]:
    """Give the real range of the codes present: the narrowest range in which `requantize` saturates nothing.

    Its ends are the values of the lowest and the highest code, of all channels, rounded outward to float32.

    Parameters
    ----------
    t : (data, min, max)
        uint8, int8 or int32 tensor; min and max may be arrays, per channel.

    Returns
    -------
    (float, float)
        (min, max); (0.0, 0.0) if there are no codes.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or (int32) not symmetric.

    Examples
    --------
    >>> qops.requantization_range((np.array([-(2**30), 0, 2**29], np.int32), -8.0, 8.0))
    (-4.0, 2.0)
    """
    if unknown:
        raise unknown_keyword(requantization_range, unknown)
    return _kernels.requantization_range(t)


@refusing_unknown
def requantize(
    t: TensorLike,
    min: float | ArrayLike | None = None,
    max: float | ArrayLike | None = None,
    *,
    range: OpenRanges | None = None,
    dtype: DTypeLike = "uint8",
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> QTensor:
    """Requantize codes into 8-bit codes of the range (min, max), rounding once, half up.

    ``c = saturate(floor((value - min) / step + 0.5) + lowest)`` with ``step = (max - min) / 255`` and the lowest code
    of `dtype`. 8-bit codes are looked up in a table of all 256. For int32 codes, with a multiplier of 31 bits and
    ``input step / step = multiplier * 2**-right_shift``::

        c = saturate(((x * multiplier + term) >> right_shift) + lowest)

    If the sum could overflow 64 bits, codes that saturate anyway are clamped first, so nothing wraps for any ranges.
    With ranges per channel, of `t` or of the output, each channel has a table, two numbers, or a multiplier and a
    term of its own.
    **Error: at most** ``0.5 + 2**-17`` LSB (`BOUND_REQUANTIZE`) for values within (min, max); others saturate.

    Parameters
    ----------
    t : (data, min, max)
        uint8, int8 or int32 tensor; min and max may be arrays, per channel.
    min, max : float or array_like of float, optional
        Output range, which is kept as it is given. An end that is not given comes from `requantization_range` and 0,
        and lies a little further out if that puts 0 on a code. 0 then is on one, unless the end that is given is
        nearer to 0 than a code step, or float32 does not hold such an end. ``requantize(t, 0.0)`` is a relu as well.
        Two arrays that broadcast against the codes give ranges per channel. ``requantize(t, (-1.0, 1.0))`` takes the
        pair as `range`.
    range : (min, max), optional
        Both ends at once, in place of `min` and `max`; each may be None.
    dtype : dtype
        Type of the codes: uint8 or int8.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        The codes and the range: two floats, or two float32 arrays if `min` and `max` are. Where min == max, every code
        is the lowest, which stands for that value.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor or type, a range that is not finite, with min > max or (int32) not symmetric,
        one end per channel without the other, `range` beside `min` or `max`, an ``out`` that does not
        fit or overlaps the data.

    See Also
    --------
    qops.nnlib.requantize_8to8, qops.tensorflow.requantize : what those systems compute.

    Examples
    --------
    >>> t = np.array([0, 100, 200], np.uint8), -1.0, 1.55
    >>> qops.requantize(t, 0.0)
    QTensor(np.uint8([0, 0, 255]), 0.0, 1.0)
    >>> qops.requantize(t, -1.0, 1.55, dtype=np.int8)
    QTensor(np.int8([-128, -28, 72]), -1.0, 1.5499999523162842)
    >>> acc, tops = np.array([[2**30, 2**29], [-(2**29), 2**30]], np.int32), np.array([8.0, 0.5], np.float32)
    >>> qops.requantize((acc, -tops, tops), -8.0, 7.9375).dequantize()
    array([[ 4.   ,  0.125],
           [-2.   ,  0.25 ]], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(requantize, unknown)
    return _kernels.requantize(QTensor, t, min, max, range, dtype, False, out)


@refusing_unknown
def requantize_32to8(
    t: TensorLike,
    min: float | ArrayLike | None = None,
    max: float | ArrayLike | None = None,
    *,
    range: OpenRanges | None = None,
    out: NDArray[np.uint8] | None = None,
    **unknown: Never,
) -> QTensor:
    """Requantize int32 codes to uint8 codes, as `requantize` does.

    Parameters
    ----------
    t, min, max, range, out
        As `requantize` takes them; `t` is an int32 tensor.

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        What `requantize` refuses, and codes of 8 bits.

    See Also
    --------
    qops.nnlib.requantize_32to8, qops.tensorflow.requantize : what those systems compute.

    Examples
    --------
    >>> qops.requantize_32to8((np.array([-(2**30), 0, 2**29], np.int32), -8.0, 8.0), -4.0, 4.0)
    QTensor(np.uint8([0, 128, 191]), -4.0, 4.0)
    """
    if unknown:
        raise unknown_keyword(requantize_32to8, unknown)
    return _kernels.requantize(QTensor, t, min, max, range, "uint8", True, out)
