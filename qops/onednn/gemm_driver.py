"""What a GEMM does beside the product, C = alpha*(A - ao)*(B - bo) + beta*C + co, in the order of each machine."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.onednn.gemm import Update
from qops.onednn import dot
from qops.onednn.cast import cvtps2dq, ieee, round_half_away_s32, store, to_f32
from qops.onednn.dot import S8, S32
from qops.onednn.machine import Machine
from qops.onednn.packed import Weights, codes_of

__all__ = ["updated"]


@ieee
def updated(a: NDArray[Any], b: Weights, update: Update, m: Machine, num_threads: int) -> S32:
    """Give C of checked matrices a (M, K), u8 or s8, and b (K, N)."""
    if a.dtype == np.uint8 or m.s8_gemm == "inside":
        return _driver(a, b, update, m, num_threads)
    if update.ao or update.bo:
        return _reference(a, codes_of(b), update)
    compensation: NDArray[Any] = dot.compensation(codes_of(b))
    if update.alpha != 1:
        compensation = store(to_f32(update.alpha * compensation), "s32")
    return dot.wrap_s32(_driver(dot.shifted(a), b, update, m, num_threads) + compensation.astype(np.int64))


def _driver(a: NDArray[Any], b: Weights, update: Update, m: Machine, num_threads: int) -> S32:
    starts = m.k_starts(a.shape[1])
    c: NDArray[Any] = np.zeros((1, 1), np.int32) if update.old is None else update.old
    if update.alpha == 1 and update.beta in (0, 1):
        product = dot.compensated(a, b, m.saturates, starts, offsets=(update.ao, update.bo), num_threads=num_threads)
        c = product + c
    else:
        beta = update.beta
        for lo, hi in pairwise((*starts, a.shape[1])):
            left, right = a[:, lo:hi], codes_of(b)[lo:hi]
            acc = dot.compensated(left, right, m.saturates, offsets=(update.ao, update.bo), num_threads=num_threads)
            c = round_half_away_s32(update.alpha * acc.astype(np.float64) + beta * c.astype(np.float64))
            beta = 1.0
    return c if update.co is None else c + update.co


def _reference(a: S8, b: S8, update: Update) -> S32:
    acc = update.alpha * ((a.astype(np.float64) - update.ao) @ (b.astype(np.float64) - update.bo))
    for term, factor in ((update.old, update.beta), (update.co, 1.0)):
        acc = acc if term is None else acc + factor * term
    return cvtps2dq(to_f32(acc))
