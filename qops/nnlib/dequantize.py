"""nnlib's two Dequantize, of uint8 and of int32 codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import quantize as kernels
from qops.checks import F32, S32, U8, operand, output
from qops.qtensor import TensorLike

__all__ = ["dequantize", "dequantize_qint32_f"]


def dequantize(t: TensorLike, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Dequantize: ``(q - zero) * step``, rounded once to float32, ties away from zero.

    ``step = max(1e-18, max - min) / 255``, ``zero = sat_u8(plus_half(-min / step))``.

    Parameters
    ----------
    t : uint8 tensor
    out : float32 array, optional

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a range wider than 2**121 * 255, nearly all that float32 holds.

    Notes
    -----
    Source: ``hvx_do_dequantize``, ``op_quantize.c``.

    **Hazards.** It is not ``min + q * step``: if 0 is not on a code, code 0 does not give min back, and a range that
    excludes 0 loses its offset.

    >>> qops.nnlib.dequantize((np.array([0, 255], np.uint8), -1.0, 1.0))
    array([-0.9960785,  1.0039216], dtype=float32)
    >>> qops.nnlib.dequantize((np.array([0, 255], np.uint8), 1.0, 2.0))
    array([0., 1.], dtype=float32)

    Examples
    --------
    >>> qops.nnlib.dequantize((np.array([0, 1, 255], np.uint8), -1.0, 254.0))
    array([ -1.,   0., 254.], dtype=float32)
    """
    codes, lo, hi = operand(t, "t", U8)
    out = output(out, F32, codes)
    if not kernels.dequantize(codes, lo, hi, out):
        raise bad_value("t", f"the range ({lo}, {hi}) is wider than float32")
    return out


def dequantize_qint32_f(t: TensorLike, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Dequantize_qint32_f: ``float32(q) * (max(1e-18, max - min) / 2**32)``.

    Parameters
    ----------
    t : int32 tensor
    out : float32 array, optional

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a range wider than float32.

    Notes
    -----
    Source: ``dequantize_i32_execute``, ``op_quantize.c``.

    **Hazards.** A range 0 wide is read as one 1e-18 wide:

    >>> qops.nnlib.dequantize_qint32_f((np.array([2**31 - 1], np.int32), 0.0, 0.0))
    array([5.e-19], dtype=float32)

    Examples
    --------
    >>> qops.nnlib.dequantize_qint32_f((np.array([2**30, -1], np.int32), -8.0, 8.0))
    array([ 4.0000000e+00, -3.7252903e-09], dtype=float32)
    """
    codes, lo, hi = operand(t, "t", S32)
    out = output(out, F32, codes)
    if not kernels.dequantize_s32(codes, lo, hi, out):
        raise bad_value("t", f"the range ({lo}, {hi}) is wider than float32")
    return out
