"""Rows of codes by packed weights: what `accumulate` and `accumulate_conv` have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.gemm.gemm import product
from qops._kernels.gemm.packed import pack_b
from qops.checks import dtype_among, native
from qops.rules.sum_rules import ACCUMULATE, SumRule

__all__ = ["PackedRows", "sum_type", "weights_of"]

_AT_ONCE = 2**15
"""Rows of weights that are multiplied together: a sum of so many products of bytes fits int32."""


class PackedRows:
    """Products of rows of codes by weights (K, N), packed in blocks whose sums int32 holds.

    Parameters
    ----------
    w : ndarray of int8 or uint8, (K, N)
    starts : tuple of int or None
        Where saturating pairs begin along K; None if all sums are exact.
    once : bool
        Whether there is only one product, for which nothing is packed.
    """

    __slots__ = ("_blocks", "_pairs", "_shape")

    def __init__(self, w: NDArray[Any], starts: tuple[int, ...] | None, once: bool) -> None:
        parts = [w[i : i + _AT_ONCE] for i in range(0, len(w), _AT_ONCE)]
        self._shape, self._pairs = w.shape, starts if once else None
        self._blocks: list[Any] = parts if once else [pack_b(part, pairs=starts) for part in parts]

    def __call__(self, rows: NDArray[Any], threads: int) -> NDArray[np.int64]:
        """Give the sums of rows (M, K): (M, N)."""
        total = np.zeros((len(rows), self._shape[1]), np.int64)
        for i, block in enumerate(self._blocks):
            total += self._products(rows[:, i * _AT_ONCE : (i + 1) * _AT_ONCE], block, threads)
        return total

    def _products(self, x: NDArray[Any], w: Any, threads: int) -> NDArray[Any]:
        """Sums of a block: codes of 16 bits are 256 times their signed high bytes, and their low bytes."""
        if x.dtype != np.int16:
            return product(np.ascontiguousarray(x), w, pairs=self._pairs, num_threads=threads)
        high, low = (x >> 8).astype(np.int8), (x & 255).astype(np.uint8)
        return product(high, w, num_threads=threads).astype(np.int64) * 256 + product(low, w, num_threads=threads)


def sum_type(dtype: DTypeLike) -> str:
    """Give the name of the type of sums, int32 or int64, checked."""
    return dtype_among(dtype, "dtype", ("int32", "int64")).name


def weights_of(w: ArrayLike, row: SumRule) -> NDArray[Any]:
    """Give the weights, checked: libraries take int8, and the rule "exact" uint8 as well.

    Parameters
    ----------
    w : ndarray of int8 or uint8
    row : SumRule

    Returns
    -------
    ndarray
    """
    return native(w, "w", ("int8", "uint8") if row is ACCUMULATE["exact"] else ("int8",))
