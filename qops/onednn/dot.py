"""Dot products of u8 by s8 into s32: the only place where oneDNN's int8 machines differ.

Every product of this package is `exact` or `saturating`. Both take the left matrix as u8 codes; s8 codes are `shifted`
first, and the `compensation` is added after: `compensated` does all three at once.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.product import gemm as kernels
from qops.onednn.packed import Packed, Weights

__all__ = [
    "SHIFT",
    "compensated",
    "compensation",
    "exact",
    "leaves_s16",
    "paired",
    "saturating",
    "shifted",
    "wrap_s32",
]

U8: TypeAlias = NDArray[np.uint8]
S8: TypeAlias = NDArray[np.int8]
S32: TypeAlias = NDArray[np.int32]
S64: TypeAlias = NDArray[np.int64]

SHIFT = 128
"""What makes s8 codes u8 codes; 128 * (sum of the weights) takes it back."""

S16_MIN, S16_MAX = -32768, 32767


def wrap_s32(x: NDArray[Any]) -> S32:
    """Keep the low 32 bits, as an s32 register does.

    Examples
    --------
    >>> wrap_s32(np.array([2**31, -2**31 - 1]))
    array([-2147483648,  2147483647], dtype=int32)
    """
    return x.astype(np.int64).astype(np.int32)


def shifted(a: NDArray[Any]) -> U8:
    """Move s8 codes to u8 by adding 128; u8 codes stay as they are.

    Examples
    --------
    >>> shifted(np.int8([-128, 0, 127]))
    array([  0, 128, 255], dtype=uint8)
    """
    return a if a.dtype == np.uint8 else a.view(np.uint8) ^ np.uint8(SHIFT)


def compensation(b: S8, axis: int | tuple[int, ...] = 0) -> S64:
    """Give -128 * (sum of the weights) for each output: it takes away what a shifted source has added."""
    return np.asarray(-SHIFT * b.sum(axis=axis, dtype=np.int64))


def exact(a: U8, b: S8) -> S32:
    """Multiply as VNNI does: the sum over k of ``a[m, k] * b[k, n]``, modulo 2**32.

    Parameters
    ----------
    a : ndarray of uint8, (M, K)
    b : ndarray of int8, (K, N)

    Returns
    -------
    ndarray of int32, (M, N)

    Notes
    -----
    Source: the instruction VPDPBUSD.

    **Hazards.** The accumulator wraps, at full range from K = 65794 on (2**31 / (255*128)):

    >>> [exact(np.full((1, k), 255, np.uint8), np.full((k, 1), -128, np.int8)).item() for k in (65793, 65794)]
    [-2147483520, 2147451136]

    Examples
    --------
    >>> exact(np.uint8([[255, 255]]), np.int8([[127], [127]]))
    array([[64770]], dtype=int32)
    """
    return kernels.product(a, b)


def saturating(a: U8, b: S8, k_starts: Sequence[int] = (0,)) -> S32:
    """Multiply as VPMADDUBSW does: pairs along k saturate to s16 before they are added up.

    The sum over pairs (k, k+1) of ``sat16(a[m, k]*b[k, n] + a[m, k+1]*b[k+1, n])``, modulo 2**32.

    Parameters
    ----------
    a : ndarray of uint8, (M, K)
    b : ndarray of int8, (K, N)
    k_starts : sequence of int, optional
        Where pairing starts anew, ascending, the first 0: a block of odd length ends in a pair with 0.

    Returns
    -------
    ndarray of int32, (M, N)

    Notes
    -----
    Source: the instructions VPMADDUBSW, VPMADDWD by ones, VPADDD.

    **Hazards.** 32767 comes out where 64770 is due, and the same data, paired otherwise, give another result:

    >>> saturating(np.uint8([[255, 255]]), np.int8([[127], [127]]))
    array([[32767]], dtype=int32)
    >>> a, b = np.uint8([[255, 255, 255, 255]]), np.int8([[-1], [127], [127], [-1]])
    >>> saturating(a, b), saturating(a, b, (0, 1))
    (array([[64260]], dtype=int32), array([[32257]], dtype=int32))
    """
    return kernels.product(a, b, saturating=True, block_starts=k_starts)


def paired(rows: NDArray[Any], k_starts: Sequence[int]) -> S32:
    """Split rows (M, K) into pairs (M, P, 2), a missing partner 0.

    Examples
    --------
    >>> paired(np.uint8([[1, 2, 3]]), (0,)).tolist(), paired(np.uint8([[1, 2, 3]]), (0, 1)).tolist()
    ([[[1, 2], [3, 0]]], [[[1, 0], [2, 3]]])
    """
    blocks = np.split(rows.astype(np.int32), list(k_starts[1:]), axis=1)
    even = np.concatenate([np.pad(block, ((0, 0), (0, block.shape[1] % 2))) for block in blocks], axis=1)
    return even.reshape(len(rows), even.shape[1] // 2, 2)


def leaves_s16(pairs: S32, top: ArrayLike) -> NDArray[np.bool_]:
    """Tell which pairs of weights (..., 2) codes in [0, top] can take out of s16; `top` is one, or one a member.

    Examples
    --------
    >>> leaves_s16(np.int32([[127, 127], [127, -127]]), 255)
    array([ True, False])
    """
    high = (np.maximum(pairs, 0) * top).sum(axis=-1)
    low = (np.minimum(pairs, 0) * top).sum(axis=-1)
    return np.asarray((high > S16_MAX) | (low < S16_MIN))


def compensated(
    a: NDArray[Any],
    b: Weights,
    saturates: bool,
    k_starts: Sequence[int] = (0,),
    *,
    offsets: tuple[int, int] = (0, 0),
    num_threads: int = 1,
) -> S32:
    """Multiply a u8 source; or an s8 source: shifted, multiplied, compensated, in one kernel.

    Parameters
    ----------
    a : ndarray of uint8 or int8, (M, K)
    b : ndarray of int8, (K, N), or PackedWeights of a machine that `saturates` or not
    saturates : bool
    k_starts : sequence of int, optional
        See `saturating`.
    offsets : pair of int, optional
        What is taken off each code of `a` and of `b`; after the product, so that it changes nothing of what saturates.
    num_threads : int, optional
        The result has the same bits for every number.

    Returns
    -------
    ndarray of int32, (M, N)

    Examples
    --------
    >>> a, b = np.int8([[127, 127]]), np.int8([[127], [127]])
    >>> compensated(a, b, saturates=False), compensated(a, b, saturates=True)
    (array([[32258]], dtype=int32), array([[255]], dtype=int32))

    Step by step:

    >>> shifted(a), saturating(shifted(a), b), compensation(b)
    (array([[255, 255]], dtype=uint8), array([[32767]], dtype=int32), array([-32512]))
    """
    ao, bo = offsets
    if isinstance(b, Packed):
        return kernels.product(a, b.panels(k_starts), a_offset=ao, b_offset=bo, num_threads=num_threads)
    blocks = k_starts if saturates else ()
    return kernels.product(
        a, b, a_offset=ao, b_offset=bo, saturating=saturates, block_starts=blocks, num_threads=num_threads
    )
