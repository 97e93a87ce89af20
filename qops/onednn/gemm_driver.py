"""C = alpha*(A - ao)*(B - bo) + beta*C + co on checked matrices, as each machine goes about it."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops.onednn import dot
from qops.onednn.cast import cvtps2dq, round_half_away_s32, store, to_f32
from qops.onednn.dot import S8, S32, S64
from qops.onednn.machine import Machine
from qops.onednn.packed import PackedWeights, codes_of

__all__ = ["Update", "Weights", "gemm"]

Weights: TypeAlias = S8 | PackedWeights


@dataclass(frozen=True)
class Update:
    """What happens to the product: C = alpha*product + beta*C + co."""

    alpha: float = 1.0
    beta: float = 0.0
    c: S32 | None = None
    offsetc: str = "F"
    co: S64 = field(default_factory=lambda: np.zeros((1, 1), np.int64))

    @property
    def is_exact(self) -> bool:
        """True if nothing is rounded: alpha 1, beta 0 or 1."""
        return self.alpha == 1 and self.beta in (0, 1)

    @property
    def has_co(self) -> bool:
        """True if something may be added at the end: a row, a column, or a number that is not 0."""
        return self.offsetc != "F" or bool(self.co.any())

    @property
    def old(self) -> S64:
        """C as it was before the call; 0 where beta is 0."""
        return np.zeros((1, 1), np.int64) if self.c is None else self.c.astype(np.int64)


def gemm(
    a: NDArray[Any],
    b: Weights,
    ao: int,
    bo: int,
    update: Update,
    m: Machine,
    vector: str = "",
    num_threads: int = 1,
    out: S32 | None = None,
) -> S32:
    """Multiply checked matrices a (M, K), u8 or s8, and b (K, N); `vector` names the one a GEMV kernel takes."""
    if update.is_exact and not update.has_co and ao == bo == 0:
        return _bare(a, b, update.c, m, vector, num_threads, out)
    c = _updated(a, b, ao, bo, update, m, num_threads)
    if out is None:
        return c
    np.copyto(out, c)
    return out


def _bare(
    a: NDArray[Any], b: Weights, c: S32 | None, m: Machine, vector: str, num_threads: int, out: S32 | None
) -> S32:
    """Give the product, or C plus it."""
    if out is None:
        out = None if c is None else c.copy()
    elif c is not None and out is not c:
        np.copyto(out, c)
    if vector == "b" and m.gemv and m.saturates and a.dtype == np.int8:
        return _gemv(a, codes_of(b), out, c is not None)
    starts = (0,) if vector and m.gemv else m.k_starts(a.shape[1])
    return dot.compensated(a, b, m.saturates, starts, num_threads=num_threads, out=out, accumulate=c is not None)


def _gemv(a: S8, b: S8, out: S32 | None, accumulate: bool) -> S32:
    """Multiply a matrix by a vector where pairs saturate: of two s8 operands the vector is the shifted one."""
    product = np.ascontiguousarray(dot.compensated(b.T, a.T, saturates=True).T)
    if out is None:
        return product
    np.copyto(out, dot.wrap_s32(out.astype(np.int64) + product) if accumulate else product)
    return out


def _updated(a: NDArray[Any], b: Weights, ao: int, bo: int, update: Update, m: Machine, num_threads: int) -> S32:
    """Give alpha*product + beta*C + co."""
    if a.dtype == np.uint8 or m.s8_gemm == "inside":
        return _driver(a, b, ao, bo, update, m, num_threads)
    if ao or bo:
        return _reference(a, codes_of(b), ao, bo, update)
    compensation: NDArray[Any] = dot.compensation(codes_of(b))
    if update.alpha != 1:
        compensation = store(to_f32(update.alpha * compensation), "s32")
    return dot.wrap_s32(_driver(dot.shifted(a), b, 0, 0, update, m, num_threads).astype(np.int64) + compensation)


def _driver(a: NDArray[Any], b: Weights, ao: int, bo: int, update: Update, m: Machine, num_threads: int) -> S32:
    starts = m.k_starts(a.shape[1])
    if update.is_exact:
        product = dot.compensated(a, b, m.saturates, starts, num_threads=num_threads)
        return dot.wrap_s32(_without_offsets(product, a, codes_of(b), ao, bo) + update.old + update.co)
    c: NDArray[Any] = update.old
    beta = update.beta
    for lo, hi in pairwise((*starts, a.shape[1])):
        left, right = a[:, lo:hi], codes_of(b)[lo:hi]
        product = dot.compensated(left, right, m.saturates, num_threads=num_threads)
        acc = dot.wrap_s32(_without_offsets(product, left, right, ao, bo))
        c = round_half_away_s32(update.alpha * acc.astype(np.float64) + beta * c.astype(np.float64))
        beta = 1.0
    return dot.wrap_s32(c + update.co)


def _without_offsets(product: S32, a: NDArray[Any], b: S8, ao: int, bo: int) -> S64:
    """Give product - ao*colsum(B) - bo*rowsum(A) + K*ao*bo."""
    columns = b.sum(axis=0, dtype=np.int64)
    rows = a.sum(axis=1, dtype=np.int64)[:, None]
    return np.asarray(product - ao * columns - bo * rows + a.shape[1] * ao * bo)


def _reference(a: S8, b: S8, ao: int, bo: int, update: Update) -> S32:
    acc = (a.astype(np.float64) - ao) @ (b.astype(np.float64) - bo)
    return cvtps2dq(to_f32(update.alpha * acc + update.beta * update.old + update.co))
