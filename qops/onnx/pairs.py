"""Sums of products whose neighbours share a word of 16 bits, as onnxruntime's kernels make them on some CPUs.

saturate    VPMADDUBSW of x86: sum over k = 0, 2, 4 ... of ``sat16(a[k]*b[k] + a[k+1]*b[k+1])``, a of uint8, b of int8.
lowest      64-bit ARM without dot products: SMULL, SMLAL of int8 and SADALP of int16. In each block of 16 along k, the
            products at k and k + 8 share a word. It holds all sums but ``(-128)*(-128) + (-128)*(-128)``, which wraps.
            Codes of uint8 are 128 less there, so that their code 0 is -128.

Zero points and biases are no part of a pair: they are exact, as the rest of the sum is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.gemm import gemm
from qops.onnx.runtimes import Pairs

__all__ = ["STARTS", "lowest_pairs", "sums_of"]

STARTS: dict[Pairs, tuple[int, ...] | None] = {"": None, "saturate": (0,)}
"""Where along k the kernels begin to count pairs; those of "lowest" are subtracted afterwards."""
_BLOCK = 16
_LOST = 2**16
"""What a word of 16 bits loses when it wraps."""


def sums_of(
    a: NDArray[Any],
    b: NDArray[Any],
    pairs: Pairs,
    offsets: tuple[Any, Any],
    num_threads: int,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Multiply codes (M, K) by codes (K, N), less their zero points, in int32.

    Parameters
    ----------
    a, b : ndarray of uint8 or int8
    pairs : {"", "saturate", "lowest"}
    offsets : tuple
        The zero points of `a`, one or (M, 1), and of `b`, one or (N,).
    num_threads : int
    out : ndarray of int32, optional

    Returns
    -------
    ndarray of int32, (M, N)

    Examples
    --------
    >>> from qops.onnx.pairs import sums_of
    >>> a, b = np.array([[255, 255, 255]], np.uint8), np.array([[127], [127], [1]], np.int8)
    >>> sums_of(a, b, "", (0, 0), 1), sums_of(a, b, "saturate", (0, 0), 1)
    (array([[65025]], dtype=int32), array([[33022]], dtype=int32))
    """
    made: NDArray[np.int32] = gemm.product(a, b, out, offsets, None, STARTS.get(pairs), False, num_threads)
    if pairs == "lowest":
        made -= lowest_pairs(a, b) * np.int32(_LOST)
    return made


def lowest_pairs(a: NDArray[Any], b: NDArray[np.int8]) -> NDArray[np.int32]:
    """Count the pairs (k, k + 8) of each row and column in which all four codes are the lowest of their types.

    Examples
    --------
    Of 12 codes, 4 have a partner:

    >>> from qops.onnx.pairs import lowest_pairs
    >>> lowest_pairs(np.zeros((1, 12), np.uint8), np.full((12, 2), -128, np.int8))
    array([[4, 4]], dtype=int32)
    """
    counts: NDArray[np.int32] = gemm.product(_both_lowest(a), _both_lowest(b.T).view(np.int8).T)
    return counts


def _both_lowest(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """Tell of each pair of each row whether both of its codes are the lowest: 1 or 0."""
    is_lowest = rows == np.iinfo(rows.dtype).min
    whole = np.pad(is_lowest, ((0, 0), (0, -rows.shape[1] % _BLOCK)))
    halves = whole.reshape(len(rows), -1, 2, _BLOCK // 2)
    return (halves[:, :, 0] & halves[:, :, 1]).reshape(len(rows), -1).astype(np.uint8)
