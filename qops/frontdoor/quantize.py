"""quantize and dequantize: float32 arrays <-> codes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.frontdoor import calls as frontdoor
from qops.qtensor import QTensor, TensorLike

BOUND_QUANTIZE = 0.5 + 2**-13
"""Largest error of `quantize` in LSB, for values within the range: one rounding, and float32 products up to 255."""


def quantize(
    x: ArrayLike, min: float | None = None, max: float | None = None, *, out: NDArray[np.uint8] | None = None
) -> QTensor:
    """Quantize real numbers into uint8 codes; 0 is always exactly on a code.

    ``c = sat_u8(round_half_even(x / scale) + zero_point)``, with the smallest range that holds ``min``, ``max`` and, on
    a code, 0 (`qops.affine.holding_zero`). **Error: at most 0.5 + 2**-13 LSB** (`BOUND_QUANTIZE`) within that range.

    Parameters
    ----------
    x : array_like of float
        Real values. float64 and integers are rounded to float32 first.
    min, max : float, optional
        Ends of the range; what is not given comes from the data and 0. Values beyond saturate. The range is widened to
        hold 0; one narrower than 6e-36 is widened to that.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        uint8 codes and the range used, which may be wider than the one given. No data, or only zeros, without a
        range: (0.0, 0.0).

    Raises
    ------
    TypeError, ValueError
        Data that are not numbers, a range that is not finite, beyond float32 when widened or with min > max, an ``out``
        that does not fit or overlaps `x`; NaN or infinite data when an end of the range has to come from them. With
        both ends given infinities saturate and NaN gives code 0.

    Examples
    --------
    >>> quantize([-1.0, 0.0, 0.5, 1.0])
    QTensor(data=array([  0, 127, 191, 254], dtype=uint8), min=-1.0, max=1.0078740119934082)
    """
    return frontdoor.quantize(x, min, max, out, QTensor)


def dequantize(t: TensorLike, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Real values of a uint8 or int32 tensor.

    uint8: ``min + q * (max - min) / 255``, computed as ``(q - zero_point) * scale + base`` in float32 so that a 0 on a
    code is exactly 0.0. int32: ``q / 2**31 * max``. **Error: a few float32 roundings**, at most
    ``2**-21 * max(|min|, |max|) + 2**-141``.

    Parameters
    ----------
    t : (data, min, max)
        uint8 codes, or int32 codes of a symmetric range.
    out : ndarray of float32, optional
        Where the values are written; of the shape of the data.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite, with min > max (int32: min != -max) or within
        half a step of float32's end, an ``out`` that does not fit or overlaps the data.

    Examples
    --------
    >>> dequantize(quantize([-1.0, 0.0, 0.5, 1.0]))
    array([-1.      ,  0.      ,  0.503937,  1.      ], dtype=float32)
    """
    return frontdoor.dequantize(t, out)
