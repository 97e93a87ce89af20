"""multiply_shift: a real factor applied with one integer multiplication and one shift."""

from __future__ import annotations

from typing import Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.frontdoor import multiply_shift as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import integer
from qops.fixedpoint import SINGLE_ROUNDINGS, SingleRounding

__all__ = ["error_bound", "multiply_shift"]


@refusing_unknown
def multiply_shift(
    x: ArrayLike,
    factor: float,
    bits: int = 7,
    *,
    rounding: SingleRounding = "floor",
    out: NDArray[np.int32] | None = None,
    **unknown: Never,
) -> NDArray[np.int32]:
    """Multiply integers by a real factor in fixed point: ``y = (x * round(factor * 2**bits)) >> bits``.

    **Error: at most** ``error_bound(max|x|, bits, rounding)`` against ``x * factor``: for uint8 codes, 7 bits and a
    rounding to nearest, ``255 * 0.5 / 128 + 0.5``.

    Parameters
    ----------
    x : array_like of int
        Integers that fit int32, such as uint8 codes.
    factor : float
        Real factor; ``|factor| * 2**bits`` below 2**31.
    bits : int
        Fractional bits of the multiplier, 0..30.
    rounding : str
        Rule of the shift, one of `qops.fixedpoint.SINGLE_ROUNDINGS`; also "half-up". The default is the bare shift.
    out : ndarray of int32, optional
        Where the result is written; of the shape of `x`.

    Returns
    -------
    ndarray of int32
        Saturated to int32.

    Raises
    ------
    TypeError, ValueError
        `x` not of integers or beyond int32, a factor that is not finite or too large, bits or rounding out of those
        sets, an ``out`` that does not fit or overlaps `x`.

    See Also
    --------
    qops.fixedpoint.apply_multiplier : the integers given, and half up by default.
    qops.fixedpoint.quantize_multiplier : 31 bits for any factor.

    Examples
    --------
    >>> qops.multiply_shift(np.array([0, 100, 255], np.uint8), 0.3)  # 0.3 = 38 / 128 and a little
    array([ 0, 29, 75], dtype=int32)
    """
    if unknown:
        raise unknown_keyword(multiply_shift, unknown)
    return _kernels.multiply_shift(x, factor, bits, rounding, out)


def error_bound(largest: int, bits: int = 7, rounding: SingleRounding = "floor") -> float:
    """Largest error of `multiply_shift` for ``|x| <= largest``, while the result fits int32.

    ``largest * 0.5 / 2**bits`` for the rounded factor, and for the shift less than 1 (floor, truncate) or 0.5. Import
    it by ``from qops.frontdoor.multiply_shift import error_bound``.

    Parameters
    ----------
    largest : int
        Largest absolute value of x, up to 2**31.
    bits : int
        Fraction bits of the multiplier, 0 to 30.
    rounding : {"floor", "truncate", "half_up", "half_away", "half_even"}
        How the shift rounds.

    Returns
    -------
    float
        In units of the result.

    Raises
    ------
    TypeError, ValueError
        A number that is no integer or out of its range, another rounding.

    Examples
    --------
    >>> # 255 * 0.5 / 128 < 1, and the rounding of the shift
    >>> qops.frontdoor.multiply_shift.error_bound(255, rounding="half_up")
    1.49609375
    """
    largest, bits = integer(largest, "largest", 0, 2**31), integer(bits, "bits", 0, 30)
    nearest = _kernels.known(rounding, SINGLE_ROUNDINGS) not in ("floor", "truncate")
    return largest * 0.5 / (1 << bits) + (0.5 if nearest else 1.0)
