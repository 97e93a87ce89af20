"""The inner functions of nnlib's requantizers. They take codes with steps, gains and zeros instead of ranges."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import recode
from qops._kernels.nnlib import requantize as kernels
from qops.checks import S32, U8, array, int32, output, real, span

__all__ = ["requantize_i32", "requantize_i32_scalar", "requantize_u8"]


def requantize_i32(
    x: ArrayLike, level: float, min: float, max: float, *, out: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """Requantize int32 codes of the step `level` to uint8 codes in the range (min, max), as the vector unit does.

    With ``per_unit = 255 / (max - min)``, ``gain = level * per_unit``, ``bias = 0.5 - min * per_unit``, ``G =
    plus_half(gain * 2**31)`` and ``frac(x, G) = half_up(x * G / 2**31)``, the first of these that applies::

        gain >= 1:                 c = sat_u8(trunc(float32(x) * gain + bias))
        n >= 128 and G >= 1024:    c = sat_u8(frac(sat_s32(x - plus_half(min / level)), G))
        else:                      c = sat_u8(sat_s16(frac(x, G)) + sat_s16(trunc(bias)))

    n is the number of elements: the original chooses by it, and so does this function.

    Parameters
    ----------
    x : int32 array
        Codes.
    level : float
        Real size of one code step, not negative.
    min, max : float
        The output range.
    out : uint8 array, optional

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``nn_requantize_i32_to_qu8_hvx``, ``quantize.c``. The original takes `requantize_i32_scalar` for data that
    do not begin at a multiple of 128 bytes; its tensors do.

    **Hazards.** The same code gives another result in a tensor of 127 elements than in one of 128.

    >>> [int(qops.nnlib.requantize_i32(np.full(n, -258, np.int32), 0.25, -64.5, 190.5)[0]) for n in (127, 128)]
    [1, 0]

    The multiplier is the ``plus_half`` of a number. If that is odd and above 2**23, the multiplier is one too large, so
    a value of 0.49999997 becomes 1.

    >>> qops.nnlib.requantize_i32(np.array([64], np.int32), (2**24 - 1) * 2.0**-31, 0.0, 255.0)
    array([1], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.requantize_i32(np.array([-100, 0, 100], np.int32), 0.5, -64.0, 191.0)
    array([ 14,  64, 114], dtype=uint8)
    """
    return _requantize_i32(x, level, min, max, False, out)


def requantize_i32_scalar(
    x: ArrayLike, level: float, min: float, max: float, *, out: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """Requantize int32 codes to uint8 codes, as the plain C of the original does.

    For ``gain < 1``, ``c = sat_u8(half_up(x * G / 2**31) + trunc(bias))``, whatever the number of elements.

    Parameters
    ----------
    x, level, min, max, out
        As `requantize_i32` takes them.

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError, ValueError
        As `requantize_i32`.

    Notes
    -----
    Source: ``nn_requantize_i32_to_qu8``, ``quantize.c``.

    **Hazards.** It is a third formula beside the two that `requantize_i32` has for a gain below 1:

    >>> x = np.full(128, -258, np.int32)
    >>> [int(f(x, 0.25, -64.5, 190.5)[0]) for f in (qops.nnlib.requantize_i32, qops.nnlib.requantize_i32_scalar)]
    [0, 1]
    """
    return _requantize_i32(x, level, min, max, True, out)


def _requantize_i32(
    x: ArrayLike, level: float, lo: float, hi: float, scalar: bool, out: NDArray[np.uint8] | None
) -> NDArray[np.uint8]:
    level = real(level, "level")
    if level < 0:
        raise bad_value("level", f"{level} is negative")
    lo, hi = span(lo, hi)
    codes = array(x, "x", S32)
    out = output(out, U8, codes)
    kernels.requantize_32to8(codes, level, lo, hi, scalar, out)
    return out


def requantize_u8(
    x: ArrayLike, gain: float, in_zero: int, out_zero: int, *, out: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """Requantize uint8 codes to uint8 codes of another step and zero; `gain` is the old step / the new step.

    ::

        c = sat_u8(sat_s16(half_up((x - in_zero) * multiplier / 2**right_shift)) + out_zero)
        multiplier = sat_s16(plus_half(gain * 2**right_shift))

    The right_shift is 15 for ``gain <= 1``, else ``15 - e`` with ``2**(e - 1) <= gain < 2**e``. If the gain is less
    than 2**-14 away from 1, ``c = sat_u8(x + out_zero - in_zero)``.

    Parameters
    ----------
    x : uint8 array
        Codes.
    gain : float
        0 <= gain < 2**15.
    in_zero, out_zero : int
        Codes of 0, an int32 each, saturated to 16 bits.
    out : uint8 array, optional

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``nn_requantize_qu8_to_qu8_hvx``, ``quantize.c``.

    Examples
    --------
    >>> qops.nnlib.requantize_u8(np.array([126, 128, 131], np.uint8), 0.5, 128, 100)
    array([ 99, 100, 102], dtype=uint8)
    """
    gain = real(gain, "gain")
    if not 0 <= gain < 2**15:
        raise bad_value("gain", f"{gain} is not in 0..2**15")
    in_zero = int32(in_zero, "in_zero")
    out_zero = int32(out_zero, "out_zero")
    codes = array(x, "x", U8)
    out = output(out, U8, codes)
    recode.requantize_8to8(codes, gain, in_zero, out_zero, out)
    return out
