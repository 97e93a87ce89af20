"""What codes stand for, and how far each of them is from the truth, in LSB."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._keywords import refusing_unknown as _refusing_unknown
from qops._keywords import unknown_keyword as _unknown_keyword
from qops.frontdoor.error import check_values as _check_values
from qops.frontdoor.error import line_of as _line_of
from qops.frontdoor.error import reference_of as _reference_of
from qops.qtensor import TensorLike

__all__ = ["signed_error", "values"]


@_refusing_unknown
def values(t: TensorLike, **unknown: Never) -> NDArray[np.float64]:
    """Give the exact real values of a tensor.

    If 0 is on a code, the value is ``(q - zero_point) * step``, so that code is exactly 0, as in `dequantize`.
    Otherwise it is ``min + (q - lowest) * step``. `dequantize` rounds to float32; this does not.

    Parameters
    ----------
    t : (data, min, max)
        Tensor of any code type; min and max may be arrays, per channel.

    Returns
    -------
    ndarray of float64
        Of the shape of the codes.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor.

    Examples
    --------
    >>> qops.values((np.array([0, 51, 255], np.uint8), 1.0, 2.0))
    array([1. , 1.2, 2. ])
    """
    if unknown:
        raise _unknown_keyword(values, unknown)
    return _values_and_step(t)[0]


@_refusing_unknown
def signed_error(t: TensorLike, reference: ArrayLike, **unknown: Never) -> NDArray[np.float64]:
    """Give the error of each element in LSB, positive where the code is too high: what `error` sums up.

    ``(values(t) - reference) / step`` with ``step = (max - min) / steps``, of each channel if there are several.

    Parameters
    ----------
    t : (data, min, max)
        Tensor of any code type; min and max may be arrays, per channel.
    reference : array_like of float
        True values, of a shape that broadcasts to the data's.

    Returns
    -------
    ndarray of float64
        Of the shape of the codes.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a reference that is not real numbers, has values that are NaN, infinite or
        beyond float32, or another shape, a range of zero width, which has no LSB.

    See Also
    --------
    error : largest, mean, root mean square, bias, SQNR and a histogram of these.
    qops.plot : pictures of these.

    Examples
    --------
    >>> qops.signed_error((np.array([0, 100, 255], np.uint8), 0.0, 255.0), [0.0, 100.25, 254.0])
    array([ 0.  , -0.25,  1.  ])
    """
    if unknown:
        raise _unknown_keyword(signed_error, unknown)
    got, step = _values_and_step(t)
    want = _reference_of(reference, got.shape)
    _check_values(want)
    if not np.all(step):
        raise bad_value("t", "its range is zero wide, so an error has no LSB to be measured in")
    got -= want
    got /= step
    return got


def _values_and_step(t: TensorLike) -> tuple[NDArray[np.float64], Any]:
    data, step, zero, base = _line_of(t)
    real = data.astype(np.float64)
    real -= zero
    real *= step
    real += base
    return real, step
