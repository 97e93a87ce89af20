"""nnlib's multiply by a quantized multiplier, in the roundings of its DSP."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.nnlib import requantize as kernels
from qops.qtensor import S32, array, integer, output, real


class MultiplierBelowOne(NamedTuple):
    """``factor = multiplier / 2**(31 + right_shift)``.

    Attributes
    ----------
    code : int
        0, or -1 if the factor has no such multiplier.
    multiplier, right_shift : int
        Of 31 bits; 0 or more.
    """

    code: int
    multiplier: int
    right_shift: int


def multiplier_below_one(x: float) -> MultiplierBelowOne:
    """Give a float32 factor in (0, 1) as a 31-bit multiplier, exactly, and a right shift.

    Parameters
    ----------
    x : float
        The factor.

    Returns
    -------
    MultiplierBelowOne

    Raises
    ------
    TypeError, ValueError
        `x` is no finite number.

    Notes
    -----
    Source: ``QuantizeMultiplierSmallerThanOne``, ``quantize.h``. Any other factor gives code -1, as there.

    **Hazards.** A subnormal factor is read as if it were normal:

    >>> multiplier_below_one(2.0**-149).right_shift
    126

    Examples
    --------
    >>> multiplier_below_one(0.375)
    MultiplierBelowOne(code=0, multiplier=1610612736, right_shift=1)
    >>> multiplier_below_one(1.0)
    MultiplierBelowOne(code=-1, multiplier=0, right_shift=0)
    """
    return MultiplierBelowOne(*kernels.below_one(real(x, "x")))


def mul_by_quantized_multiplier(
    x: ArrayLike, multiplier: int, shift: int, *, out: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """``x * multiplier / 2**31 * 2**shift`` on int32 codes.

    ``y = x << max(0, shift)``, wrapping; ``h = (((y * lo16 >> 16) + y * hi16 >> 14) + 1) >> 1``, saturating, with the
    unsigned low and the signed high half of the multiplier, which is ``floor(y * multiplier / 2**31 + 1/2)``: ties go
    up; then `rounding_divide_by_pot` by ``max(0, -shift)``. Of `multiplier_below_one` it takes the multiplier and, as
    the shift, minus its right_shift.

    Parameters
    ----------
    x : array_like of int32
        Codes.
    multiplier : int
        An int32.
    shift : int
        -62..31: to the left if positive.
    out : ndarray of int32, optional
        Where the result is written; of the shape of `x`.

    Returns
    -------
    ndarray of int32

    Raises
    ------
    TypeError, ValueError
        Data that are not int32, a multiplier or shift out of range, an ``out`` that does not fit or overlaps `x`.

    Notes
    -----
    Source: ``MultiplyByQuantizedMultiplier``, ``quantize.h``.

    **Hazards.** The left shift wraps, where gemmlowp's name for it says SaturatingRounding:

    >>> int(mul_by_quantized_multiplier(np.int32(2**30), 2**30, 1))
    -1073741824

    Examples
    --------
    >>> mul_by_quantized_multiplier(np.int32([-3, 100]), 2**30, -1)  # -3 / 2 to -1, and that half to 0
    array([ 0, 25], dtype=int32)
    """
    multiplier = integer(multiplier, "multiplier", -(2**31), 2**31 - 1)
    shift = integer(shift, "shift", -62, 31)
    codes = array(x, "x", S32)
    out = output(out, S32, codes)
    kernels.multiply(codes, multiplier, max(shift, 0), max(-shift, 0), out)
    return out


def rounding_divide_by_pot(x: ArrayLike, exponent: int, *, out: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """``(x + 2**(exponent - 1)) >> exponent`` on int32 codes, the sum saturating: half up.

    Parameters
    ----------
    x : array_like of int32
        Codes.
    exponent : int
        0..62.
    out : ndarray of int32, optional
        Where the result is written; of the shape of `x`.

    Returns
    -------
    ndarray of int32

    Raises
    ------
    TypeError, ValueError
        Data that are not int32, an exponent out of range, an ``out`` that does not fit or overlaps `x`.

    Notes
    -----
    Source: ``RoundingDivideByPOT``, ``quantize.h``.

    **Hazards.** Ties go up, those of gemmlowp's function of the same name go away from zero:

    >>> rounding_divide_by_pot(np.int32([-6, -2, 2, 6]), 2)
    array([-1,  0,  1,  2], dtype=int32)
    """
    exponent = integer(exponent, "exponent", 0, 62)
    codes = array(x, "x", S32)
    out = output(out, S32, codes)
    kernels.divide(codes, exponent, out)
    return out
