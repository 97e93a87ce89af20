"""Instructions of 64-bit ARM, and the sequence that computes dot products on cores without SDOT."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from qops.isa.lanes import S16, S32, fit, lanes, pair_sums

__all__ = ["dot16_smlal", "sadalp", "sdot", "smlal", "smull", "udot"]


def smull(a: ArrayLike, b: ArrayLike) -> S16:
    """Multiply s8 by s8 codes to s16: ``r = a*b``. Every product fits.

    Parameters
    ----------
    a, b : ndarray of int8

    Returns
    -------
    ndarray of int16

    Examples
    --------
    >>> qops.isa.smull(np.array([-128, 100], np.int8), np.array([-128, -3], np.int8))
    array([16384,  -300], dtype=int16)
    """
    left, right = fit(lanes(a, "a", np.int8, np.int16), lanes(b, "b", np.int8, np.int16))
    return np.asarray(left * right)


def smlal(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S16:
    """Add a product of s8 codes to s16: ``r = c + a*b``.

    Parameters
    ----------
    c : ndarray of int16
    a, b : ndarray of int8

    Returns
    -------
    ndarray of int16

    Notes
    -----
    **Hazards.** It wraps, modulo 2**16. Of two products only -128 * -128 twice does so: 32768 becomes -32768, and the
    sum is 65536 too small.

    >>> lowest = np.array([-128], np.int8)
    >>> qops.isa.smlal(qops.isa.smull(lowest, lowest), lowest, lowest)
    array([-32768], dtype=int16)
    """
    acc, products = fit(lanes(c, "c", np.int16, np.int32), smull(a, b).astype(np.int32), "c, a, b")
    return np.asarray(acc + products).astype(np.int16)


def sadalp(c: ArrayLike, x: ArrayLike) -> S32:
    """Add neighbours of s16 to s32: ``r[i] = c[i] + x[2i] + x[2i+1]``.

    Parameters
    ----------
    c : ndarray of int32, (..., n)
    x : ndarray of int16, (..., 2n)

    Returns
    -------
    ndarray of int32, (..., n)

    Notes
    -----
    **Hazards.** It wraps, modulo 2**32.

    >>> qops.isa.sadalp(np.array([1, 2147483647], np.int32), np.array([30000, 30000, 1, 0], np.int16))
    array([      60001, -2147483648], dtype=int32)
    """
    sums = pair_sums(lanes(x, "x", np.int16, np.int64, 2))
    acc, added = fit(lanes(c, "c", np.int32, np.int64), sums, "c, x")
    return np.asarray(acc + added).astype(np.int32)


def sdot(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products of s8 codes to s32: ``c[i] + sum of a[4i+j]*b[4i+j], j = 0..3``.

    Cores have it from ARMv8.2 with dot products on, as the Cortex-A55 and A76 and the Neoverse N1; the Cortex-A53 and
    A72 do not.

    Parameters
    ----------
    c : ndarray of int32, (..., n)
    a, b : ndarray of int8, (..., 4n)

    Returns
    -------
    ndarray of int32, (..., n)

    Notes
    -----
    **Hazards.** No step saturates; the sum wraps, modulo 2**32.

    >>> lowest = np.array([-128, -128, -128, -128], np.int8)
    >>> qops.isa.sdot(np.array([0], np.int32), lowest, lowest)
    array([65536], dtype=int32)
    """
    left, right = fit(lanes(a, "a", np.int8, np.int64, 4), lanes(b, "b", np.int8, np.int64, 4))
    acc, sums = fit(lanes(c, "c", np.int32, np.int64), pair_sums(pair_sums(left * right)), "c, a, b")
    return np.asarray(acc + sums).astype(np.int32)


def udot(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add four products of u8 codes to 32 bits: ``c[i] + sum of a[4i+j]*b[4i+j], j = 0..3``.

    The lanes are the same for signed and unsigned sums, modulo 2**32; they are given as int32.

    Parameters
    ----------
    c : ndarray of int32, (..., n)
    a, b : ndarray of uint8, (..., 4n)

    Returns
    -------
    ndarray of int32, (..., n)

    Notes
    -----
    **Hazards.** No step saturates; the sum wraps, modulo 2**32.

    >>> highest = np.array([255, 255, 255, 255], np.uint8)
    >>> qops.isa.udot(np.array([0], np.int32), highest, highest)
    array([260100], dtype=int32)
    """
    left, right = fit(lanes(a, "a", np.uint8, np.int64, 4), lanes(b, "b", np.uint8, np.int64, 4))
    acc, sums = fit(lanes(c, "c", np.int32, np.int64), pair_sums(pair_sums(left * right)), "c, a, b")
    return np.asarray(acc + sums).astype(np.int32)


def dot16_smlal(c: ArrayLike, a: ArrayLike, b: ArrayLike) -> S32:
    """Add sixteen products of s8 codes as cores without SDOT do: smull, smlal, sadalp.

    The codes k and k + 8 of a block of 16 share a lane of s16, and the lanes 2i and 2i + 1 are added to ``c[i]``::

        c[i] + wrap16(p[2i] + p[2i+8]) + wrap16(p[2i+1] + p[2i+9]),   p[k] = a[k]*b[k], i = 0..3

    Parameters
    ----------
    c : ndarray of int32, (..., 4n)
    a, b : ndarray of int8, (..., 16n)

    Returns
    -------
    ndarray of int32, (..., 4n)

    Notes
    -----
    Source: the order of ruy, XNNPACK and onnxruntime's MLAS on a Cortex-A72, found by experiment.

    **Hazards.** Where both codes of both products are -128, the sum is 65536 too small. Weights in [-127, 127] never
    do this.

    >>> a = np.array([-128, 0, 0, 0, 0, 0, 0, 0, -128, 0, 0, 0, 0, 0, 0, 0], np.int8)
    >>> zero = np.array([0, 0, 0, 0], np.int32)
    >>> qops.isa.dot16_smlal(zero, a, a), int(a.astype(int) @ a)
    (array([-32768,      0,      0,      0], dtype=int32), 32768)
    """
    left, right = (lanes(x, name, np.int8, np.int8, 16) for x, name in ((a, "a"), (b, "b")))
    products = smull(left, right)
    blocks = products.reshape(math.prod(products.shape[:-1]), products.shape[-1] // 16, 2, 8).astype(np.int32)
    pairs = blocks.sum(axis=2).astype(np.int16)  # smlal: wraps
    lanes_16 = pairs.reshape(*products.shape[:-1], products.shape[-1] // 2)
    acc, _ = fit(lanes(c, "c", np.int32, np.int32), pair_sums(lanes_16), "c, a, b")
    return sadalp(acc, lanes_16)
