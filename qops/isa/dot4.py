"""Sequences of x86 instructions that add four products of codes without VNNI."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qops.isa.lanes import S32, fit, lanes, pair_sums
from qops.isa.x86 import vpabsb, vpaddd, vpmaddubsw, vpmaddwd, vpsignb

__all__ = ["dot4_maddubs", "dot4_psign", "dot4_widened"]


def dot4_maddubs(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products as AVX2 and AVX-512 without VNNI do: vpmaddubsw, vpmaddwd by ones, vpaddd.

    ``c[i] + sat16(a[4i]*b[4i] + a[4i+1]*b[4i+1]) + sat16(a[4i+2]*b[4i+2] + a[4i+3]*b[4i+3])``

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
    **Hazards.** A sum of 64770 becomes 32767. If s8 codes are moved to u8 by adding 128, the compensation is added to
    the saturated sum: 32258 becomes 255.

    >>> zero, b = np.array([0], np.int32), np.array([127, 127, 0, 0], np.int8)
    >>> qops.isa.dot4_maddubs(zero, np.array([255, 255, 0, 0], np.uint8), b)
    array([32767], dtype=int32)
    >>> a_s8 = np.array([127, 127, 0, 0])
    >>> compensation = -128 * b.sum(dtype=np.int32)
    >>> qops.isa.dot4_maddubs(zero, (a_s8 + 128).astype(np.uint8), b) + compensation, int(a_s8 @ b)
    (array([255], dtype=int32), 32258)
    """
    acc, pairs = lanes(c, "c", np.int32, np.int32), vpmaddubsw(lanes(a, "a", np.uint8, np.uint8, 4), b)
    return vpaddd(*fit(acc, vpmaddwd(pairs, np.ones_like(pairs)), "c, a, b"))


def dot4_psign(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products of s8 codes by the trick of kernels for AVX2: the magnitudes of a, times b with the signs of a.

    vpabsb, vpsignb, vpmaddubsw, vpmaddwd by ones, vpaddd: `dot4_maddubs` of ``vpabsb(a)`` and ``vpsignb(b, a)``

    Parameters
    ----------
    c : ndarray of int32, (..., n)
    a, b : ndarray of int8, (..., 4n)

    Returns
    -------
    ndarray of int32, (..., n)

    Notes
    -----
    Source: the kernels of block formats of language models, as ggml has them.

    **Hazards.** It is exact where no b is -128: magnitudes are at most 128, and 2 * 128 * 127 is within s16. Where b is
    -128 and a is negative, the sign is lost:

    >>> a, b = np.array([-128, -1, 0, 0], np.int8), np.array([-128, -128, 0, 0], np.int8)
    >>> qops.isa.dot4_psign(np.array([0], np.int32), a, b), int(a.astype(int) @ b)
    (array([-16512], dtype=int32), 16512)
    """
    left, right = fit(lanes(a, "a", np.int8, np.int8, 4), lanes(b, "b", np.int8, np.int8, 4))
    return dot4_maddubs(c, vpabsb(left), vpsignb(right, left))


def dot4_widened(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products exactly without VNNI: vpmovzxbw and vpmovsxbw, vpmaddwd, vpaddd. It is half as fast.

    Parameters
    ----------
    c : ndarray of int32, (..., n)
    a : ndarray of uint8, (..., 4n)
    b : ndarray of int8, (..., 4n)

    Returns
    -------
    ndarray of int32, (..., n)

    Examples
    --------
    >>> qops.isa.dot4_widened(
    ...     np.array([0], np.int32), np.array([255, 255, 0, 0], np.uint8), np.array([127, 127, 0, 0], np.int8)
    ... )
    array([64770], dtype=int32)
    """
    acc, left = lanes(c, "c", np.int32, np.int32), lanes(a, "a", np.uint8, np.int16, 4)
    sums = pair_sums(vpmaddwd(left, lanes(b, "b", np.int8, np.int16, 4)))
    return vpaddd(*fit(acc, sums, "c, a, b"))
