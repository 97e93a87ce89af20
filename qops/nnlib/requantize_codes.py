"""What nnlib's requantizers do to the codes alone, once the ranges are a level, a gain or zeros."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.nnlib import requantize as kernels
from qops.qtensor import S32, U8, array, integer, output, real, span


def requantize_i32(
    x: ArrayLike, level: float, min: float, max: float, *, out: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """int32 codes of step `level` into uint8 codes of the range (min, max), as the vector unit does it.

    With ``gain = level * (255 / (max - min))``, ``bias = 0.5 - min * (255 / (max - min))``, ``G = round(gain * 2**31)``
    and ``frac`` the DSP's product of 32-bit fractions (`mul_by_quantized_multiplier`)::

        gain >= 1:   c = sat_u8(trunc(float32(x) * gain + bias))
        n >= 128:    c = sat_u8(frac(sat_s32(x - round(min / level)), G))      if G >= 1024
        else         c = sat_u8(sat_s16(frac(x, G)) + sat_s16(trunc(bias)))

    Parameters
    ----------
    x : array_like of int32
        Codes.
    level : float
        Real size of one of their steps, not negative.
    min, max : float
        Output range.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError, ValueError
        Data that are not int32, a number that is not finite, a negative level, min > max, an ``out`` that does not fit
        or overlaps `x`.

    Notes
    -----
    Source: ``nn_requantize_i32_to_qu8_hvx``, ``quantize.c``. The original falls back to `requantize_i32_scalar` for
    data that are not on a 128-byte address, which its tensors are.

    **Hazards.** Two rules, by the number of elements (`requantize_32to8`).

    >>> [int(requantize_i32(np.full(n, -258, np.int32), 0.25, -64.5, 190.5)[0]) for n in (127, 128)]
    [1, 0]

    Examples
    --------
    >>> requantize_i32(np.int32([-100, 0, 100]), 0.5, -64.0, 191.0)
    array([ 14,  64, 114], dtype=uint8)
    """
    return _requantize_i32(x, level, min, max, False, out)


def requantize_i32_scalar(
    x: ArrayLike, level: float, min: float, max: float, *, out: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """`requantize_i32` without the vector unit: ``c = sat_u8(((x * G >> 30) + 1 >> 1) + trunc(bias))``.

    The 64-bit product is rounded once, half up. With gain >= 1 it is the same as `requantize_i32`.

    Parameters
    ----------
    x : array_like of int32
        Codes.
    level : float
        Real size of one of their steps, not negative.
    min, max : float
        Output range.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError, ValueError
        Data that are not int32, a number that is not finite, a negative level, min > max, an ``out`` that does not fit
        or overlaps `x`.

    Notes
    -----
    Source: ``nn_requantize_i32_to_qu8``, ``quantize.c``.

    **Hazards.** A third rule beside the two of `requantize_i32`.

    >>> x = np.full(128, -258, np.int32)
    >>> [int(f(x, 0.25, -64.5, 190.5)[0]) for f in (requantize_i32, requantize_i32_scalar)]
    [0, 1]
    """
    return _requantize_i32(x, level, min, max, True, out)


def _requantize_i32(
    x: ArrayLike, level: float, lo: float, hi: float, scalar: bool, out: NDArray[np.uint8] | None
) -> NDArray[np.uint8]:
    level = real(level, "level")
    if level < 0:
        raise ValueError(f"level: {level} is negative")
    lo, hi = span(lo, hi, "output range")
    codes = array(x, "x", S32)
    out = output(out, U8, codes)
    kernels.requantize_32to8(codes, level, lo, hi, scalar, out)
    return out


def requantize_u8(
    x: ArrayLike, gain: float, in_zero: int, out_zero: int, *, out: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """uint8 codes of ``gain`` output steps an input step into uint8 codes.

    ::

        c = sat_u8(sat_s16((x - in_zero) * multiplier >> right_shift, half up) + out_zero)

    with ``multiplier = sat_s16(round_half_away(gain * 2**15))`` and a right shift of 15, less the exponent of a gain
    above 1; a gain within 2**-14 of 1 only moves the codes.

    Parameters
    ----------
    x : array_like of uint8
        Codes.
    gain : float
        0 <= gain < 2**15.
    in_zero, out_zero : int
        Codes of 0; they saturate to 16 bits.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError, ValueError
        Data that are not uint8, a gain out of range, a zero that is no int32, an ``out`` that does not fit or overlaps
        `x`.

    Notes
    -----
    Source: ``nn_requantize_qu8_to_qu8_hvx``, ``quantize.c``.

    Examples
    --------
    >>> requantize_u8(np.uint8([126, 128, 131]), 0.5, 128, 100)
    array([ 99, 100, 102], dtype=uint8)
    """
    gain = real(gain, "gain")
    if not 0 <= gain < 2**15:
        raise ValueError(f"gain: {gain} is not in 0..2**15")
    in_zero = integer(in_zero, "in_zero", -(2**31), 2**31 - 1)
    out_zero = integer(out_zero, "out_zero", -(2**31), 2**31 - 1)
    codes = array(x, "x", U8)
    out = output(out, U8, codes)
    kernels.requantize_8to8(codes, gain, in_zero, out_zero, out)
    return out
