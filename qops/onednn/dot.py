"""Dot products of u8 by s8 codes into s32. They are exact with VNNI, and saturate in pairs without it.

The product reads the left matrix as u8 codes. An s8 matrix is `shifted` to u8 before the product, and the
`compensation` is added after it; `compensated` does all of this at once.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.gemm import gemm as kernels
from qops.codes import TABLE

__all__ = ["SHIFT", "compensated", "compensation", "leaves_s16", "paired", "shifted", "wrap_s32"]

U8: TypeAlias = NDArray[np.uint8]
S8: TypeAlias = NDArray[np.int8]
S32: TypeAlias = NDArray[np.int32]
S64: TypeAlias = NDArray[np.int64]

SHIFT = -TABLE["s8"].lowest
"""Added to s8 codes, it makes u8 codes of them; -128 * (sum of the weights) takes that back."""

S16_MIN, S16_MAX = TABLE["s16"].lowest, TABLE["s16"].highest


def wrap_s32(x: NDArray[Any]) -> S32:
    """Keep the low 32 bits of integers, as an s32 register does.

    Examples
    --------
    >>> from qops.onednn.dot import wrap_s32
    >>> wrap_s32(np.array([2**31, -2**31 - 1]))
    array([-2147483648,  2147483647], dtype=int32)
    """
    return x.astype(np.int64).astype(np.int32)


def shifted(a: NDArray[Any]) -> U8:
    """Make u8 codes of s8 codes by adding 128. u8 codes stay as they are.

    Examples
    --------
    >>> from qops.onednn.dot import shifted
    >>> shifted(np.array([-128, 0, 127], np.int8))
    array([  0, 128, 255], dtype=uint8)
    """
    return a if a.dtype == np.uint8 else a.view(np.uint8) ^ np.uint8(SHIFT)


def compensation(b: S8) -> S64:
    """Give -128 * (sum of the weights) for each output, which takes back what the shift of the source has added."""
    return np.asarray(-SHIFT * b.sum(axis=0, dtype=np.int64))


def paired(rows: NDArray[Any], k_starts: Sequence[int]) -> S32:
    """Split rows (M, K) into pairs (M, P, 2); the partner of a code that is left over is 0.

    Examples
    --------
    >>> from qops.onednn.dot import paired
    >>> paired(np.array([[1, 2, 3]], np.uint8), (0,)).tolist(), paired(np.array([[1, 2, 3]], np.uint8), (0, 1)).tolist()
    ([[[1, 2], [3, 0]]], [[[1, 0], [2, 3]]])
    """
    odd = [end for start, end in pairwise([*k_starts, rows.shape[1]]) if (end - start) % 2]
    even = rows.astype(np.int32)
    even = np.insert(even, odd, 0, axis=1) if odd else even
    return even.reshape(len(rows), even.shape[1] // 2, 2)


def leaves_s16(pairs: S32, top: ArrayLike, low: ArrayLike = 0) -> NDArray[np.bool_]:
    """Tell which pairs of weights (..., 2) can leave s16 when multiplied by codes in [low, top].

    `top` and `low` are one number each, or one for each weight; `low` is 0 or less, `top` 0 or more.

    Examples
    --------
    >>> from qops.onednn.dot import leaves_s16
    >>> leaves_s16(np.array([[127, 127], [127, -127]], np.int32), 255)
    array([ True, False])
    """
    positive, negative = np.maximum(pairs, 0), np.minimum(pairs, 0)
    highest = (positive * top + negative * low).sum(axis=-1)
    lowest = (negative * top + positive * low).sum(axis=-1)
    return np.asarray((highest > S16_MAX) | (lowest < S16_MIN))


def compensated(
    a: NDArray[Any],
    b: S8,
    saturates: bool,
    k_starts: Sequence[int] = (0,),
    *,
    offsets: tuple[int, int] = (0, 0),
    num_threads: int = 1,
) -> S32:
    """Multiply a u8 or s8 matrix by an s8 matrix, modulo 2**32. The kernel shifts and compensates an s8 one itself.

    Without saturation it is the sum over k of ``a[m, k]*b[k, n]``. Else it is the sum over pairs (k, k+1) of
    ``sat16(a[m, k]*b[k, n] + a[m, k+1]*b[k+1, n])``, where a are the u8 codes.

    `k_starts` are the starts of blocks, ascending, the first 0. No pair reaches from one block into the next: the last
    code of a block of odd length is paired with 0. `offsets` are subtracted from the codes of `a` and of `b`, after the
    product, and saturate nothing. The result has the same bits for every `num_threads`.

    Notes
    -----
    Source: the instructions VPDPBUSD; or VPMADDUBSW, VPMADDWD by ones, VPADDD.

    **Hazards.** A sum of 64770 becomes 32767, and other pairs of the same data give another result:

    >>> from qops.onednn.dot import compensated, compensation, shifted
    >>> compensated(np.array([[255, 255]], np.uint8), np.array([[127], [127]], np.int8), saturates=True)
    array([[32767]], dtype=int32)
    >>> a, b = np.array([[255, 255, 255, 255]], np.uint8), np.array([[-1], [127], [127], [-1]], np.int8)
    >>> [compensated(a, b, True, starts).item() for starts in ((0,), (0, 1))]
    [64260, 32257]

    Examples
    --------
    The steps for an s8 source, one by one:

    >>> a, b = np.array([[127, 127]], np.int8), np.array([[127], [127]], np.int8)
    >>> compensated(shifted(a), b, saturates=True) + compensation(b), compensated(a, b, saturates=True)
    (array([[255]]), array([[255]], dtype=int32))
    """
    return kernels.product(a, b, offsets=offsets, pairs=k_starts if saturates else None, num_threads=num_threads)
