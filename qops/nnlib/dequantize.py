"""nnlib's two Dequantize, of uint8 and of int32 codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import quantize as kernels
from qops.qtensor import F32, S32, U8, TensorLike, operand, output


def dequantize(t: TensorLike, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Dequantize: ``(q - zero) * step``, the product rounded once to float32, half away from zero.

    ``step = max(1e-18, max - min) / 255``, ``zero = sat_u8(round_half_away(-min / step))``.

    Parameters
    ----------
    t : (data, min, max)
        uint8 tensor.
    out : ndarray of float32, optional
        Where the values are written; of the shape of the data.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite, with min > max or wider than float32, an ``out``
        that does not fit or overlaps the data.

    Notes
    -----
    Source: ``hvx_do_dequantize``, ``op_quantize.c``.

    **Hazards.** It is not ``min + q * step``: where 0 is not on a code, code 0 does not give min back, and a range that
    excludes 0 loses its offset.

    >>> dequantize((np.uint8([0, 255]), -1.0, 1.0))
    array([-0.9960785,  1.0039216], dtype=float32)
    >>> dequantize((np.uint8([0, 255]), 1.0, 2.0))
    array([0., 1.], dtype=float32)

    Examples
    --------
    >>> dequantize((np.uint8([0, 1, 255]), -1.0, 254.0))
    array([ -1.,   0., 254.], dtype=float32)
    """
    codes, lo, hi = operand(t, "t", U8)
    out = output(out, F32, codes)
    if not kernels.dequantize(codes, lo, hi, out):
        raise ValueError(f"t: the range ({lo}, {hi}) is wider than float32")
    return out


def dequantize_qint32_f(t: TensorLike, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Dequantize_qint32_f: ``float32(q) * (max(1e-18, max - min) / 2**32)``.

    Parameters
    ----------
    t : (data, min, max)
        int32 tensor.
    out : ndarray of float32, optional
        Where the values are written; of the shape of the data.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite, not symmetric or wider than float32, an ``out``
        that does not fit or overlaps the data.

    Notes
    -----
    Source: ``dequantize_i32_execute``, ``op_quantize.c``.

    **Hazards.** A range 0 wide is taken as one 1e-18 wide:

    >>> dequantize_qint32_f((np.int32([2**31 - 1]), 0.0, 0.0))
    array([5.e-19], dtype=float32)

    Examples
    --------
    >>> dequantize_qint32_f((np.int32([2**30, -1]), -8.0, 8.0))
    array([ 4.0000000e+00, -3.7252903e-09], dtype=float32)
    """
    codes, lo, hi = operand(t, "t", S32)
    out = output(out, F32, codes)
    if not kernels.dequantize_32(codes, lo, hi, out):
        raise ValueError(f"t: the range ({lo}, {hi}) is wider than float32")
    return out
