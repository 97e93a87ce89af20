"""Hexagon HVX instructions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops.checks import integer
from qops.isa.lanes import S16, S32, fit, integer_type, lanes, saturate

__all__ = [
    "hvx_vasr_rnd_sat",
    "hvx_vavg",
    "hvx_vmpa",
    "hvx_vmpy_h_s1_rnd_sat",
    "hvx_vmpye_vmpyo_s1_rnd_sat",
    "hvx_vsat_ub",
]

S8_ENDS = codes.TABLE["s8"].lowest, codes.TABLE["s8"].highest


def hvx_vmpy_h_s1_rnd_sat(u: ArrayLike, v: ArrayLike) -> S16:
    """Vd.h = vmpy(Vu.h, Vv.h):<<1:rnd:sat: ``sat16((2*u*v + 2**15) >> 16)``.

    This is `vpmulhrsw`, except for -1.0 * -1.0, which saturates here.

    Parameters
    ----------
    u, v : ndarray of int16

    Returns
    -------
    ndarray of int16

    Examples
    --------
    >>> qops.isa.hvx_vmpy_h_s1_rnd_sat(np.array([-32768, 3], np.int16), np.array([-32768, 16384], np.int16))
    array([32767,     2], dtype=int16)
    """
    left, right = fit(lanes(u, "u", np.int16, np.int64), lanes(v, "v", np.int16, np.int64), "u, v")
    return saturate((2 * left * right + (1 << 15)) >> 16, np.int16)


def hvx_vmpye_vmpyo_s1_rnd_sat(u: ArrayLike, v: ArrayLike) -> S32:
    """Multiply fractions of 32 bits: vmpye(Vu.w, Vv.uh), then vmpyo(Vu.w, Vv.h):<<1:rnd:sat:shift.

    ``sat32((((((u*lo16(v)) >> 16) + u*hi16(v)) >> 14) + 1) >> 1)``, lo16 unsigned, hi16 signed. This is
    ``floor(u*v / 2**31 + 1/2)``, but -1.0 * -1.0 saturates.

    Parameters
    ----------
    u, v : ndarray of int32

    Returns
    -------
    ndarray of int32

    Notes
    -----
    **Hazards.** Ties go up. In gemmlowp's rounding_doubling_high_mul they go away from zero.

    >>> qops.isa.hvx_vmpye_vmpyo_s1_rnd_sat(
    ...     np.array([-(1 << 30), -(1 << 31)], np.int32), np.array([1, -(1 << 31)], np.int32)
    ... )
    array([         0, 2147483647], dtype=int32)
    """
    left, right = fit(lanes(u, "u", np.int32, np.int64), lanes(v, "v", np.int32, np.int64), "u, v")
    even = (left * (right & 0xFFFF)) >> 16
    return saturate((((even + left * (right >> 16)) >> 14) + 1) >> 1, np.int32)


def hvx_vmpa(a: ArrayLike, b: ArrayLike, scale_a: int, scale_b: int) -> S16:
    """Vdd.h = vmpa(Vuu.ub, Rt.b): ``a*scale_a + b*scale_b``.

    Parameters
    ----------
    a, b : ndarray of uint8
    scale_a, scale_b : int
        In [-128, 127].

    Returns
    -------
    ndarray of int16

    Notes
    -----
    **Hazards.** It wraps, modulo 2**16.

    >>> qops.isa.hvx_vmpa(np.array([255], np.uint8), np.array([255], np.uint8), 127, 127)
    array([-766], dtype=int16)
    """
    scale_a, scale_b = (integer(v, name, *S8_ENDS) for v, name in ((scale_a, "scale_a"), (scale_b, "scale_b")))
    left, right = fit(lanes(a, "a", np.uint8, np.int32), lanes(b, "b", np.uint8, np.int32))
    return np.asarray(left * scale_a + right * scale_b).astype(np.int16)


def hvx_vasr_rnd_sat(x: ArrayLike, shift: int, dtype: DTypeLike) -> NDArray[Any]:
    """Vd.ub or .h = vasr(..., Rt):rnd:sat: ``sat((x + 2**(shift-1)) >> shift)``.

    Parameters
    ----------
    x : ndarray of int16 or int32
        int16 becomes uint8, int32 becomes int16.
    shift : int
        Only its low 3 bits count if the result is uint8, and its low 4 bits if it is int16.
    dtype : dtype
        uint8 or int16.

    Returns
    -------
    ndarray of `dtype`

    Notes
    -----
    **Hazards.** A shift of 8 is a shift of 0 if the result is uint8. A shift of 0 does not round.

    >>> x = np.array([-5, 1000, 31], np.int16)
    >>> qops.isa.hvx_vasr_rnd_sat(x, 1, np.uint8), qops.isa.hvx_vasr_rnd_sat(x, 8, np.uint8)
    (array([  0, 255,  16], dtype=uint8), array([  0, 255,  31], dtype=uint8))
    """
    if integer_type(dtype) not in (np.uint8, np.int16):
        raise bad_value("dtype", f"expected uint8 or int16, got {dtype}")
    source, low_bits = (np.int16, 7) if integer_type(dtype) == np.uint8 else (np.int32, 15)
    count = integer(shift, "shift") & low_bits
    values = lanes(x, "x", source, np.int64)
    return saturate((values + ((1 << count) >> 1)) >> count, dtype)


def hvx_vavg(a: ArrayLike, b: ArrayLike) -> S16:
    """Vd.h = vavg(Vu.h, Vv.h): ``(a + b) >> 1``, rounded down.

    Parameters
    ----------
    a, b : ndarray of int16

    Returns
    -------
    ndarray of int16

    Examples
    --------
    >>> qops.isa.hvx_vavg(np.array([-1, 32767], np.int16), np.array([0, 32767], np.int16))
    array([   -1, 32767], dtype=int16)
    """
    left, right = fit(lanes(a, "a", np.int16, np.int32), lanes(b, "b", np.int16, np.int32))
    return np.asarray((left + right) >> 1).astype(np.int16)


def hvx_vsat_ub(x: ArrayLike) -> NDArray[np.uint8]:
    """Vd.ub = vsat(Vu.h, Vv.h): *signed* halfwords clamped to 0..255.

    Parameters
    ----------
    x : ndarray of int16

    Returns
    -------
    ndarray of uint8

    Examples
    --------
    >>> qops.isa.hvx_vsat_ub(np.array([-1, 300, 7], np.int16))
    array([  0, 255,   7], dtype=uint8)
    """
    return saturate(lanes(x, "x", np.int16, np.int16), np.uint8)
