"""nnlib's Quantize_int32."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import quantize as kernels
from qops._kernels.nnlib.ranges import f32
from qops.checks import S32, float32s, output, span
from qops.qtensor import QTensor, tensor

__all__ = ["quantize_int32"]


def quantize_int32(x: ArrayLike, min: float, max: float, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Quantize_int32: ``c = sat_s32(trunc(v + copysign(0.5, v)))``, ``v = x * (2**24 / (2 * limit))``.

    Here ``limit = max(-min, max)``. The output range is ``256 * limit`` on both sides of 0, so 8 of the 32 bits are
    head room.

    Parameters
    ----------
    x : array_like of real numbers, read as float32
        Real values.
    min, max : float
        The requested range.
    out : int32 array, optional

    Returns
    -------
    QTensor
        int32 codes of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a limit that is not above 0 or takes the numbers beyond float32.

    Notes
    -----
    Source: ``quantize32_execute``, ``op_quantize.c``.

    **Hazards.** Values beyond 256 times the range saturate, and NaN becomes -1:

    >>> qops.nnlib.quantize_int32(np.array([300, -300, np.nan], np.float32), -1.0, 1.0).data
    array([ 2147483647, -2147483648,          -1], dtype=int32)

    Examples
    --------
    >>> t = qops.nnlib.quantize_int32(np.array([-1, 0, 0.5], np.float32), -1.0, 1.0)
    >>> t.data * t.scale, t.max
    (array([-1. ,  0. ,  0.5]), 256.0)
    """
    lo, hi = span(min, max)
    values = float32s(x, "x")
    limit = -lo if -lo > hi else hi
    result = output(out, S32, values)
    factor = f32(2.0**24 / f32(2 * limit)) if limit > 0 else 0.0
    if not (isfinite(factor) and factor > 0 and isfinite(f32(limit * 256))):
        raise bad_value("min, max", f"({lo}, {hi}) is 0 wide, does not hold 0 or is beyond float32")
    kernels.quantize_32(values, factor, result)
    return tensor(result, f32(-256 * limit), f32(256 * limit))
