"""x86 instructions on vectors of codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.isa.lanes import S16, S32, fit, lanes, pair_sums, saturate

__all__ = [
    "vpabsb",
    "vpaddd",
    "vpdpbusd",
    "vpdpbusds",
    "vpmaddubsw",
    "vpmaddwd",
    "vpmovsxbw",
    "vpmovzxbw",
    "vpmulhrsw",
    "vpsignb",
]


def vpmaddubsw(a: ArrayLike, b: ArrayLike) -> S16:
    """Multiply u8 by s8 codes and add neighbours, **saturating** to s16.

    ``r[i] = sat16(a[2i]*b[2i] + a[2i+1]*b[2i+1])``

    Parameters
    ----------
    a : ndarray of uint8, (..., 2n)
    b : ndarray of int8, (..., 2n)

    Returns
    -------
    ndarray of int16, (..., n)

    Notes
    -----
    **Hazards.** The sum of two products of u8 and s8 codes can need 17 bits. No other instruction of the dot product
    saturates, so this one is why machines with and without VNNI may disagree.

    >>> a, b = np.array([255, 255], np.uint8), np.array([127, 127], np.int8)
    >>> qops.isa.vpmaddubsw(a, b), 2 * 255 * 127
    (array([32767], dtype=int16), 64770)
    """
    left, right = fit(lanes(a, "a", np.uint8, np.int32, 2), lanes(b, "b", np.int8, np.int32, 2))
    return saturate(pair_sums(left * right), np.int16)


def vpmaddwd(a: ArrayLike, b: ArrayLike) -> S32:
    """Multiply s16 by s16 values and add neighbours to s32: ``r[i] = a[2i]*b[2i] + a[2i+1]*b[2i+1]``.

    Parameters
    ----------
    a, b : ndarray of int16, (..., 2n)

    Returns
    -------
    ndarray of int32, (..., n)

    Notes
    -----
    **Hazards.** It is exact for all inputs but one: four times -32768 wraps.

    >>> qops.isa.vpmaddwd(np.array([32767, -1], np.int16), np.array([1, 1], np.int16))
    array([32766], dtype=int32)
    >>> qops.isa.vpmaddwd(np.array([-32768, -32768], np.int16), np.array([-32768, -32768], np.int16))
    array([-2147483648], dtype=int32)
    """
    left, right = fit(lanes(a, "a", np.int16, np.int64, 2), lanes(b, "b", np.int16, np.int64, 2))
    return pair_sums(left * right).astype(np.int32)


def vpaddd(a: ArrayLike, b: ArrayLike) -> S32:
    """Add s32 to s32 values.

    Parameters
    ----------
    a, b : ndarray of int32

    Returns
    -------
    ndarray of int32

    Notes
    -----
    **Hazards.** It wraps, modulo 2**32.

    >>> qops.isa.vpaddd(np.array([2147483647], np.int32), np.array([1], np.int32))
    array([-2147483648], dtype=int32)
    """
    left, right = fit(lanes(a, "a", np.int32, np.int64), lanes(b, "b", np.int32, np.int64))
    return np.asarray(left + right).astype(np.int32)


def vpdpbusd(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products of u8 and s8 codes to s32: ``c[i] + sum of a[4i+j]*b[4i+j], j = 0..3``. VNNI has it.

    No step saturates.

    Parameters
    ----------
    c : ndarray of int32, (..., n)
    a : ndarray of uint8, (..., 4n)
    b : ndarray of int8, (..., 4n)

    Returns
    -------
    ndarray of int32, (..., n)

    Notes
    -----
    **Hazards.** The sum wraps, modulo 2**32.

    >>> a, b = np.array([255, 255, 0, 0], np.uint8), np.array([127, 127, 0, 0], np.int8)
    >>> qops.isa.vpdpbusd(np.array([0], np.int32), a, b), qops.isa.vpdpbusd(np.array([2147483647], np.int32), a, b)
    (array([64770], dtype=int32), array([-2147418879], dtype=int32))
    """
    left, right = fit(lanes(a, "a", np.uint8, np.int64, 4), lanes(b, "b", np.int8, np.int64, 4))
    acc, sums = fit(lanes(c, "c", np.int32, np.int64), pair_sums(pair_sums(left * right)), "c, a, b")
    return np.asarray(acc + sums).astype(np.int32)


def vpdpbusds(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products of u8 and s8 codes to s32, **saturating**: `vpdpbusd` whose sum is cut to s32.

    ``sat32(c[i] + sum of a[4i+j]*b[4i+j], j = 0..3)``

    Parameters
    ----------
    c : ndarray of int32, (..., n)
    a : ndarray of uint8, (..., 4n)
    b : ndarray of int8, (..., 4n)

    Returns
    -------
    ndarray of int32, (..., n)

    Notes
    -----
    **Hazards.** The five terms are added exactly, and only the sum is cut. A bias that is added before the products
    can therefore saturate where one that is added after them wraps.

    >>> a, b = np.array([255, 255, 0, 0], np.uint8), np.array([127, 127, 0, 0], np.int8)
    >>> top = np.array([2147483647], np.int32)
    >>> qops.isa.vpdpbusds(top, a, b), qops.isa.vpdpbusd(top, a, b)
    (array([2147483647], dtype=int32), array([-2147418879], dtype=int32))
    """
    left, right = fit(lanes(a, "a", np.uint8, np.int64, 4), lanes(b, "b", np.int8, np.int64, 4))
    acc, sums = fit(lanes(c, "c", np.int32, np.int64), pair_sums(pair_sums(left * right)), "c, a, b")
    return saturate(acc + sums, np.int32)


def vpabsb(a: ArrayLike) -> NDArray[np.uint8]:
    """Give the magnitudes of s8 codes, as u8 codes.

    Parameters
    ----------
    a : ndarray of int8

    Returns
    -------
    ndarray of uint8

    Notes
    -----
    **Hazards.** The magnitude of -128 is 128, which an s8 lane does not hold: read as s8 it is -128 again.

    >>> qops.isa.vpabsb(np.array([-128, -127, 5], np.int8))
    array([128, 127,   5], dtype=uint8)
    """
    return np.asarray(np.abs(lanes(a, "a", np.int8, np.int16))).astype(np.uint8)


def vpsignb(a: ArrayLike, b: ArrayLike) -> NDArray[np.int8]:
    """Give the codes `a` the signs of the codes `b`: ``-a`` where b < 0, 0 where b is 0, else ``a``.

    Parameters
    ----------
    a, b : ndarray of int8

    Returns
    -------
    ndarray of int8

    Notes
    -----
    **Hazards.** -128 negated wraps to -128.

    >>> qops.isa.vpsignb(np.array([5, 5, -128], np.int8), np.array([-3, 0, -1], np.int8))
    array([  -5,    0, -128], dtype=int8)
    """
    left, right = fit(lanes(a, "a", np.int8, np.int16), lanes(b, "b", np.int8, np.int16))
    return np.asarray(left * np.sign(right)).astype(np.int8)


def vpmovzxbw(a: ArrayLike) -> S16:
    """Widen u8 codes to s16 with zeros; the values stay the same.

    Parameters
    ----------
    a : ndarray of uint8

    Returns
    -------
    ndarray of int16

    Examples
    --------
    >>> qops.isa.vpmovzxbw(np.array([200], np.uint8))
    array([200], dtype=int16)
    """
    return lanes(a, "a", np.uint8, np.int16)


def vpmovsxbw(a: ArrayLike) -> S16:
    """Widen s8 codes to s16 with copies of the sign bit; the values stay the same.

    Parameters
    ----------
    a : ndarray of int8

    Returns
    -------
    ndarray of int16

    Examples
    --------
    >>> qops.isa.vpmovsxbw(np.array([-56], np.int8))
    array([-56], dtype=int16)
    """
    return lanes(a, "a", np.int8, np.int16)


def vpmulhrsw(a: ArrayLike, b: ArrayLike) -> S16:
    """Multiply s16 by s16 values and keep the high part, rounded half up.

    ``r = ((a*b >> 14) + 1) >> 1``, which is ``(a*b + 2**14) >> 15``

    Parameters
    ----------
    a, b : ndarray of int16

    Returns
    -------
    ndarray of int16

    Notes
    -----
    **Hazards.** -1.0 * -1.0 wraps to -1.0. HVX's vmpy saturates there.

    >>> qops.isa.vpmulhrsw(np.array([-32768, 3], np.int16), np.array([-32768, 16384], np.int16))
    array([-32768,      2], dtype=int16)
    """
    left, right = fit(lanes(a, "a", np.int16, np.int32), lanes(b, "b", np.int16, np.int32))
    return np.asarray(((left * right >> 14) + 1) >> 1).astype(np.int16)
