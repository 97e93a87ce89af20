"""nnlib's multiply by a quantized multiplier, with the roundings of its DSP."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.nnlib import requantize as kernels
from qops._readable import shows_fields
from qops.checks import S32, array, int32, integer, output, real

__all__ = ["MultiplierBelowOne", "mul_by_quantized_multiplier", "multiplier_below_one", "rounding_divide_by_pot"]


@shows_fields
class MultiplierBelowOne(NamedTuple):
    """A factor in (0, 1) as ``multiplier / 2**(31 + right_shift)``.

    Attributes
    ----------
    code : int
        0, or -1 if the factor is not in (0, 1); then the other two are 0.
    multiplier : int
        At least 2**30, below 2**31.
    right_shift : int
        0 or more.
    """

    code: int
    multiplier: int
    right_shift: int


def multiplier_below_one(x: float) -> MultiplierBelowOne:
    """Give a float32 factor in (0, 1) as a 31-bit multiplier and a right shift, exactly.

    Parameters
    ----------
    x : float
        The factor. For one that is not in (0, 1) the code is -1.

    Returns
    -------
    MultiplierBelowOne

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``QuantizeMultiplierSmallerThanOne``, ``quantize.h``.

    **Hazards.** A subnormal factor is read as if it were normal:

    >>> qops.nnlib.multiplier_below_one(2.0**-149).right_shift
    126

    Examples
    --------
    >>> qops.nnlib.multiplier_below_one(0.375)
    MultiplierBelowOne(code=0, multiplier=1610612736, right_shift=1)
    >>> qops.nnlib.multiplier_below_one(1.0)
    MultiplierBelowOne(code=-1, multiplier=0, right_shift=0)
    """
    return MultiplierBelowOne(*kernels.below_one(real(x, "x")))


def mul_by_quantized_multiplier(
    x: ArrayLike, multiplier: int, shift: int, *, out: NDArray[np.int32] | None = None
) -> NDArray[np.int32]:
    """Multiply int32 codes by ``multiplier / 2**31 * 2**shift``.

    Three steps; the second is the DSP's product of 32-bit fractions::

        y = wrap_s32(x << max(0, shift))
        h = sat_s32((((y * low >> 16) + y * high >> 14) + 1) >> 1)      # half_up(y * multiplier / 2**31)
        result = rounding_divide_by_pot(h, max(0, -shift))

    with low the unsigned lower and high the signed upper 16 bits of the multiplier. For a `multiplier_below_one`, the
    shift is minus its right_shift.

    Parameters
    ----------
    x : int32 array
        Codes.
    multiplier : int
        An int32.
    shift : int
        -62..31, to the left if positive.
    out : int32 array, optional

    Returns
    -------
    ndarray of int32

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``MultiplyByQuantizedMultiplier``, ``quantize.h``.

    **Hazards.** The left shift wraps, although the product after it saturates:

    >>> int(qops.nnlib.mul_by_quantized_multiplier(np.int32(2**30), 2**30, 1))
    -1073741824

    Examples
    --------
    >>> # half of them is -1 and 50, half of that 0 and 25
    >>> qops.nnlib.mul_by_quantized_multiplier(np.array([-3, 100], np.int32), 2**30, -1)
    array([ 0, 25], dtype=int32)
    """
    multiplier = int32(multiplier, "multiplier")
    shift = integer(shift, "shift", -62, 31)
    codes = array(x, "x", S32)
    out = output(out, S32, codes)
    kernels.multiply(codes, multiplier, max(shift, 0), max(-shift, 0), out)
    return out


def rounding_divide_by_pot(x: ArrayLike, exponent: int, *, out: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """Divide int32 codes by a power of two, half up: ``sat_s32(x + 2**(exponent - 1)) >> exponent``.

    For exponent 0 the codes stay; from exponent 32 on, only their sign is left, ``x >> 31``.

    Parameters
    ----------
    x : int32 array
        Codes.
    exponent : int
        0..62.
    out : int32 array, optional

    Returns
    -------
    ndarray of int32

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``RoundingDivideByPOT``, ``quantize.h``.

    **Hazards.** Ties go up, while gemmlowp's function of the same name sends them away from zero:

    >>> qops.nnlib.rounding_divide_by_pot(np.array([-6, -2, 2, 6], np.int32), 2)
    array([-1,  0,  1,  2], dtype=int32)
    """
    exponent = integer(exponent, "exponent", 0, 62)
    codes = array(x, "x", S32)
    out = output(out, S32, codes)
    kernels.divide(codes, exponent, out)
    return out
