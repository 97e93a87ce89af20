"""nnlib's requantizers to 16 bits, whose range is symmetric and has 32768 steps on each side of 0."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.codes import tensor
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import requantize_16 as kernels
from qops._kernels.nnlib.ranges import f32, step_32
from qops._kernels.stage.range import range_32
from qops.checks import S32, operand, output, span
from qops.codes import TABLE
from qops.qtensor import QTensor, TensorLike

__all__ = ["quantize_down_and_shrink_range_32to16", "requantize_32to16"]

HALF = TABLE["s16_balanced"].steps // 2  # on each side of 0
S16 = np.dtype(np.int16).num


def requantize_32to16(t: TensorLike, min: float, max: float, *, out: NDArray[np.int16] | None = None) -> QTensor:
    """Requantize_32to16: int32 codes into int16 codes, of ``limit / 32768`` each.

    The range is ``limit = max(-min, max, 1/2048)`` on both sides of 0. With ``level = (in_max - in_min) * 2**-32``, the
    step of the input, ``gain = level / (limit / 32768)`` and ``2**(e - 1) <= gain < 2**e``, the code is one of::

        e <= 0:  sat_s16(shift(shift(x * G, 31), n))       n = min(-e, 15)    G = half_away(gain * 2**(31 + n))
        e > 0:   sat_s16(shift(shift(near * G, 31), 4))    near = clamp(x, -2**k, 2**k - 1) * 2**(4 + e)
                                                           k = 27 - e         G = half_away(gain * 2**(31 - e))

    where ``shift(v, n) = (v + 2**(n - 1)) >> n`` is half up, and v for n = 0.

    Parameters
    ----------
    t : int32 tensor
    min, max : float
        The requested range.
    out : int16 array, optional

    Returns
    -------
    QTensor
        int16 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); a range wider than float32; as in the original, a gain below 2**-29
        or from 2**24 on.

    Notes
    -----
    Source: ``do_requantize_16_execute``, ``scale_32_to_16``, ``op_requantize.c``.

    **Hazards.** The range becomes symmetric, and never less than 1/2048 on each side:

    >>> qops.nnlib.requantize_32to16((np.array([1], np.int32), -1.0, 1.0), 0.0, 1e-6).max
    0.00048828125

    Examples
    --------
    >>> t = qops.nnlib.requantize_32to16((np.array([-(2**30), 0, 2**29], np.int32), -8.0, 8.0), -4.0, 3.0)
    >>> t.data, t.max
    (array([-32768,      0,  16384], dtype=int16), 4.0)
    """
    lo, hi = span(min, max)
    codes, in_min, in_max = operand(t, "t", S32)
    limit = f32(sorted((2.0**-11, -lo, hi))[-1])
    gain = f32(step_32(in_min, in_max) / f32(limit / HALF))
    if not (isfinite(gain) and 2.0**-29 <= gain < 2.0**24):
        raise bad_value("t, min, max", f"from ({in_min}, {in_max}) to ({-limit}, {limit}) is a gain of {gain}, refused")
    return _requantized(codes, gain, limit, False, out)


def quantize_down_and_shrink_range_32to16(t: TensorLike, *, out: NDArray[np.int16] | None = None) -> QTensor:
    """QuantizeDownAndShrinkRange_32to16: `requantize_32to16` into the range of the data.

    Here ``limit = level * max(2, highest code, -lowest code)``, with ``level = (max - min) * 2**-32``. If that makes a
    gain of 1 or more, ``limit = level * 32768`` instead, and the codes are ``half_up(x * (2**31 - 1) / 2**31)``.

    Parameters
    ----------
    t : int32 tensor
        Without the code -2**31, whose negative wraps in the original.
    out : int16 array, optional

    Returns
    -------
    QTensor
        int16 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a range 0 wide, or wider than float32.

    Notes
    -----
    Source: ``do_autorequantize_16_execute``, ``op_requantize.c``.

    **Hazards.** The value at the upper end of the range would be code 32768, which 16 bits do not hold, and saturates:

    >>> t = qops.nnlib.quantize_down_and_shrink_range_32to16((np.array([2**30, -(2**30)], np.int32), -8.0, 8.0))
    >>> t.data, t.max
    (array([ 32767, -32768], dtype=int16), 4.0)

    Examples
    --------
    >>> qops.nnlib.quantize_down_and_shrink_range_32to16((np.array([5, -7], np.int32), -8.0, 8.0)).data
    array([ 5, -7], dtype=int16)
    """
    codes, lo, hi = operand(t, "t", S32)
    level = step_32(lo, hi)
    if not (isfinite(level) and level > 0):
        raise bad_value("t", f"the range ({lo}, {hi}) is 0 wide, or wider than float32")
    lowest, highest = range_32(codes)
    if codes.size and lowest == TABLE["s32"].lowest:
        raise bad_value("t", "holds -2**31, whose negative wraps in the original")
    limit = f32(level * f32(max(2, highest, -min(lowest, 0))))
    gain = f32(level / f32(limit / HALF))
    return _requantized(codes, gain, f32(level * HALF) if gain >= 1 else limit, True, out)


def _requantized(
    codes: NDArray[Any], gain: float, limit: float, shrinks: bool, out: NDArray[np.int16] | None
) -> QTensor:
    result = output(out, S16, codes)
    kernels.requantize_32to16(codes, gain, shrinks, result)
    made: QTensor = tensor(QTensor, result, -limit, limit, TABLE["s16_balanced"])
    return made
