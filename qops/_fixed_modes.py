"""Fixed-point numbers of one width into another, by the modes of ap_fixed and ac_fixed; public in `qops.fixedpoint`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.machine.host import check as check_rounding
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array, check_out, choice, flag, integer, put

__all__ = ["HLS_OVERFLOWS", "HLS_ROUNDINGS", "convert"]

HLS_ROUNDINGS = {
    **{"AP_TRN": "floor", "AP_TRN_ZERO": "truncate", "AP_RND": "half_up", "AP_RND_MIN_INF": "half_down"},
    **{"AP_RND_INF": "half_away", "AP_RND_ZERO": "half_toward_zero", "AP_RND_CONV": "half_even"},
    **{"AC_TRN": "floor", "AC_TRN_ZERO": "truncate", "AC_RND": "half_up", "AC_RND_MIN_INF": "half_down"},
    **{"AC_RND_INF": "half_away", "AC_RND_ZERO": "half_toward_zero", "AC_RND_CONV": "half_even"},
    "AC_RND_CONV_ODD": "half_odd",
}
"""The quantization modes of ap_fixed and ac_fixed, as `convert` names them."""
HLS_OVERFLOWS = {
    **{"AP_WRAP": "wrap", "AP_SAT": "saturate", "AP_SAT_ZERO": "zero", "AP_SAT_SYM": "symmetric"},
    **{"AC_WRAP": "wrap", "AC_SAT": "saturate", "AC_SAT_ZERO": "zero", "AC_SAT_SYM": "symmetric"},
}
"""The overflow modes of ap_fixed and ac_fixed, as `convert` names them."""

I64 = NDArray[np.int64]
_UP: dict[str, Callable[[I64, I64, int], NDArray[np.bool_]]] = {  # whether floor + 1 is taken, of (floor, rest, half)
    "floor": lambda low, rest, half: np.zeros(low.shape, bool),
    "truncate": lambda low, rest, half: (low < 0) & (rest > 0),
    "half_up": lambda low, rest, half: rest >= half,
    "half_down": lambda low, rest, half: rest > half,
    "half_away": lambda low, rest, half: (rest > half) | (rest == half) & (low >= 0),
    "half_toward_zero": lambda low, rest, half: (rest > half) | (rest == half) & (low < 0),
    "half_even": lambda low, rest, half: (rest > half) | (rest == half) & (low % 2 == 1),
    "half_odd": lambda low, rest, half: (rest > half) | (rest == half) & (low % 2 == 0),
}
_OVERFLOWS = tuple(dict.fromkeys(HLS_OVERFLOWS.values()))


@refusing_unknown
def convert(
    x: ArrayLike,
    fraction_bits: int,
    *,
    width: int,
    integer_bits: int,
    signed: bool = True,
    rounding: str = "AP_TRN",
    overflow: str = "AP_WRAP",
    out: NDArray[np.int64] | None = None,
    **unknown: Never,
) -> NDArray[np.int64]:
    """Convert fixed-point numbers to another width, as the types ap_fixed and ac_fixed of hardware synthesis do.

    A number is ``raw / 2**fraction_bits``. The result has ``width - integer_bits`` bits of fraction: it is rounded to
    them first, and what the width does not hold overflows then.

    ================  ==============================  =============================================================
    rounding          modes                           goes to
    ================  ==============================  =============================================================
    floor             AP_TRN, AC_TRN                  the lower one
    truncate          AP_TRN_ZERO, AC_TRN_ZERO        the one nearer to 0
    half_up           AP_RND, AC_RND                  the nearest, ties to plus infinity
    half_down         AP_RND_MIN_INF, AC_RND_MIN_INF  the nearest, ties to minus infinity
    half_away         AP_RND_INF, AC_RND_INF          the nearest, ties away from 0
    half_toward_zero  AP_RND_ZERO, AC_RND_ZERO        the nearest, ties to 0
    half_even         AP_RND_CONV, AC_RND_CONV        the nearest, ties to the even one
    half_odd          AC_RND_CONV_ODD                 the nearest, ties to the odd one
    ================  ==============================  =============================================================

    ==========  ==========================  ======================================================================
    overflow    modes                       what the width does not hold becomes
    ==========  ==========================  ======================================================================
    wrap        AP_WRAP, AC_WRAP            its low bits
    saturate    AP_SAT, AC_SAT              the end on its side
    zero        AP_SAT_ZERO, AC_SAT_ZERO    0
    symmetric   AP_SAT_SYM, AC_SAT_SYM      the end on its side; the lowest signed number is left out, too
    ==========  ==========================  ======================================================================

    Parameters
    ----------
    x : array_like of int
        Raw integers, of at most 48 bits.
    fraction_bits : int
        How many of their bits are fraction, 0 to 62; negative where the last bit stands for more than 1.
    width : int
        Bits of the result, 1 to 62; with its sign, if it has one.
    integer_bits : int
        How many of these are no fraction.
    signed : bool
        Whether the result has a sign.
    rounding, overflow : str
        A word or a mode of the tables; the defaults are those of ap_fixed: it floors and wraps.
    out : ndarray of int64, optional
        Where the raw integers are written; of the shape of `x`.

    Returns
    -------
    ndarray of int64

    Raises
    ------
    TypeError, ValueError
        `x` not of integers or beyond 48 bits, a width or another word out of those sets, an ``out`` that does not fit.

    Notes
    -----
    Sources: ap_types and ac_types 4.8, as hls4ml 1.3.0 ships them, compiled with g++ 12 and run.

    Examples
    --------
    >>> x = [-24, -8, 8, 24]  # -1.5, -0.5, 0.5, 1.5 with 4 bits of fraction
    >>> for mode in ("AP_TRN", "AP_RND", "AC_RND_CONV_ODD"):
    ...     print(mode, qops.fixedpoint.convert(x, 4, width=8, integer_bits=8, rounding=mode))
    AP_TRN [-2 -1  0  1]
    AP_RND [-1  0  1  2]
    AC_RND_CONV_ODD [-1 -1  1  1]

    **Hazard.** Without a mode, what does not fit wraps:

    >>> qops.fixedpoint.convert([130, -130], 0, width=8, integer_bits=8)
    array([-126,  126])
    """
    if unknown:
        raise unknown_keyword(convert, unknown)
    check_rounding()
    values = as_array(x, "x")
    if values.dtype.kind not in "iu":
        raise bad_type("x", f"expected integers, got {values.dtype}")
    if values.size and not -(2**47) <= values.min() <= values.max() < 2**47:
        raise bad_value("x", f"48 bits do not hold its values, {values.min()} to {values.max()}")
    bits, of_integer = integer(width, "width", 1, 62), integer(integer_bits, "integer_bits", -62, 124)
    shift = integer(fraction_bits, "fraction_bits", -62, 62) - (bits - of_integer)
    has_sign = flag(signed, "signed")
    near = _UP[HLS_ROUNDINGS.get(choice(rounding, "rounding", [*_UP, *HLS_ROUNDINGS]), rounding)]
    over = HLS_OVERFLOWS.get(choice(overflow, "overflow", [*_OVERFLOWS, *HLS_OVERFLOWS]), overflow)
    if out is not None:
        check_out(out, np.dtype(np.int64).num, values.shape, [values])
    raw = _shifted(values.astype(np.int64), shift, near)
    return put(_held(raw, bits, has_sign, over), out)


def _shifted(raw: I64, shift: int, near: Callable[[I64, I64, int], NDArray[np.bool_]]) -> I64:
    if shift <= 0:
        if -shift > 14 and raw.size and np.abs(raw).max() >> max(0, 62 + shift):
            raise bad_value("fraction_bits, width, integer_bits", f"a left shift by {-shift} leaves 64 bits")
        return np.asarray(raw << min(-shift, 62))
    some = min(shift, 62)  # 48 bits are all fraction from a shift of 49 on
    low = np.asarray(raw >> some)
    rest = np.asarray(raw - (low << some))
    return np.asarray(low + near(low, rest, 1 << (some - 1)))


def _held(raw: I64, width: int, signed: bool, overflow: str) -> I64:
    lowest, highest = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    if overflow == "wrap":
        return np.asarray(((raw - lowest) & ((1 << width) - 1)) + lowest)
    lowest += signed and overflow == "symmetric"
    if overflow == "zero":
        return np.where((raw < lowest) | (raw > highest), 0, raw)
    return np.asarray(np.clip(raw, lowest, highest))
