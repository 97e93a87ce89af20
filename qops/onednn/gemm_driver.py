"""What a GEMM does beside the product, C = alpha*(A - ao)*(B - bo) + beta*C + co, in the order of each machine."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.onednn import gemm as kernels
from qops.onednn import dot
from qops.onednn.cast import cvtps2dq, ieee, round_half_away_s32, store, to_f32
from qops.onednn.dot import S8, S32
from qops.onednn.weights import Weights

__all__ = ["Gemm", "Update", "updated"]


class Update(NamedTuple):
    """What a GEMM does beside the product."""

    ao: int = 0
    bo: int = 0
    alpha: float = 1.0
    beta: float = 0.0
    old: S32 | None = None
    """C before the call; None if beta is 0."""
    co: S32 | None = None
    """In a shape that broadcasts against C; None if it is 0."""


class Gemm(kernels.Gemm):
    """A GEMM whose arguments are checked; `pack` packs B, else each product packs it on the way."""

    def updated(self, a: NDArray[Any], old: S32 | None, num_threads: int) -> S32:
        """Give C of a checked matrix a (M, K), and of the C that beta multiplies, if there is one."""
        b = Weights(self.codes, self.machine, self.machine.saturates, self.whole, self.in_blocks)
        update = Update(self.ao, self.bo, self.alpha, self.beta, old, self.co)
        return updated(a, b, update, num_threads)


@ieee
def updated(a: NDArray[Any], b: Weights, update: Update, num_threads: int) -> S32:
    """Give C of checked matrices a (M, K), u8 or s8, and b (K, N)."""
    if not len(a) or not b.codes.shape[1]:
        return np.zeros((len(a), b.codes.shape[1]), np.int32)
    if a.dtype == np.uint8 or b.machine.s8_gemm == "inside":
        return _driver(a, b, update, num_threads)
    if update.ao or update.bo:
        return _reference(a, b.codes, update)
    compensation: NDArray[Any] = dot.compensation(b.codes)
    if update.alpha != 1:
        compensation = store(to_f32(update.alpha * compensation), "s32")
    return dot.wrap_s32(_driver(dot.shifted(a), b, update, num_threads) + compensation.astype(np.int64))


def _driver(a: NDArray[Any], b: Weights, update: Update, num_threads: int) -> S32:
    offsets = update.ao, update.bo
    c: NDArray[Any] = np.zeros((1, 1), np.int32) if update.old is None else update.old
    if update.alpha == 1 and update.beta in (0, 1):
        c = b.product(a, in_blocks=True, offsets=offsets, num_threads=num_threads) + c
    else:
        beta = update.beta
        for lo, hi in pairwise((*b.machine.k_starts(a.shape[1]), a.shape[1])):
            left, right = a[:, lo:hi], b.codes[lo:hi]
            acc = dot.compensated(left, right, b.saturates, offsets=offsets, num_threads=num_threads)
            c = round_half_away_s32(update.alpha * acc.astype(np.float64) + beta * c.astype(np.float64))
            beta = 1.0
    return c if update.co is None else c + update.co


def _reference(a: S8, b: S8, update: Update) -> S32:
    acc = update.alpha * ((a.astype(np.float64) - update.ao) @ (b.astype(np.float64) - update.bo))
    for term, factor in ((update.old, update.beta), (update.co, 1.0)):
        acc = acc if term is None else acc + factor * term
    return cvtps2dq(to_f32(acc))
