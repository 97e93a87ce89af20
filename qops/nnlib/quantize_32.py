"""nnlib's Quantize_int32."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.nnlib.ranges import f32
from qops.qtensor import F32, S32, QTensor, array, output, span, tensor


def quantize_int32(x: ArrayLike, min: float, max: float, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Quantize_int32: ``c = half_away(x * (2**24 / (2 * limit)))``, ``limit = max(-min, max)``.

    In float32, one rounding an operation; the half is added before the cut, which saturates. The range returned is
    ``256 * limit`` on both sides: 8 of the 32 bits are head room.

    Parameters
    ----------
    x : array_like of float32
        Real values.
    min, max : float
        Range asked for.
    out : ndarray of int32, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        Data that are not float32, a range that is not finite, with min > max, 0 wide or beyond float32, an ``out`` that
        does not fit or overlaps `x`.

    Notes
    -----
    Source: ``quantize32_execute``, ``op_quantize.c``.

    **Hazards.** Values 128 times out of the range saturate, and NaN is -1:

    >>> quantize_int32(np.float32([300, -300, np.nan]), -1.0, 1.0).data
    array([ 2147483647, -2147483648,          -1], dtype=int32)

    Examples
    --------
    >>> t = quantize_int32(np.float32([-1, 0, 0.5]), -1.0, 1.0)
    >>> t.data * t.scale, t.max
    (array([-1. ,  0. ,  0.5]), 256.0)
    """
    values = array(x, "x", F32)
    lo, hi = span(min, max, "range")
    limit = -lo if -lo > hi else hi
    result = output(out, S32, values)
    factor = f32(2.0**24 / f32(2 * limit)) if limit > 0 else np.inf
    if not (isfinite(factor) and factor > 0 and isfinite(f32(limit * 256))):
        raise ValueError(f"range: ({lo}, {hi}) is 0 wide, does not hold 0 or is beyond float32")
    with np.errstate(over="ignore", invalid="ignore"):
        steps = values.astype(np.float32) * np.float32(factor)
        steps += np.copysign(np.float32(0.5), steps)
    codes = np.clip(np.where(np.isnan(steps), -1, np.trunc(steps)).astype(np.float64), -(2.0**31), 2.0**31 - 1)
    result[...] = codes.astype(np.int32)
    return tensor(result, f32(-256 * limit), f32(256 * limit))
