"""GEMM as a prepared op, C = alpha*(A - ao)*(B - bo) + beta*C + co, in the order in which each machine computes it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.codes import TABLE, CodeType
from qops.onednn import _checks as check
from qops.onednn import dot
from qops.onednn.cast import cvtps2dq, ieee, round_half_away_s32, store, to_f32
from qops.onednn.dot import S8, S32
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.weights import Product, Weights, unequal_k
from qops.qtensor import check_out, put

__all__ = ["Gemm", "Update", "updated"]

INT32 = np.dtype(np.int32).num


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

    @property
    def is_product(self) -> bool:
        """Whether C is A x B, or A x B added to the old C."""
        return self.alpha == 1 and self.beta in (0, 1) and self.ao == 0 and self.bo == 0 and self.co is None


class Gemm(Product):
    """What both products of matrices share: everything but the codes of A."""

    __slots__ = ("_is_product", "_offsetc", "_transa", "_transb", "_update", "_weights")
    _a: ClassVar[CodeType]
    _weights: Weights

    def __init__(
        self,
        b: ArrayLike,
        *,
        transb: str = "N",
        transa: str = "N",
        alpha: float = 1.0,
        ao: int = 0,
        bo: int = 0,
        beta: float = 0.0,
        offsetc: str = "F",
        co: ArrayLike = 0,
        isa: str = "vnni",
        version: str = DEFAULT_VERSION,
    ) -> None:
        b, co = check.own(b, "b"), check.own(co, "co")
        arguments = b, transb, transa, alpha, ao, bo, beta, offsetc, co, isa, version
        self._set(*arguments)
        self._weights = self._weights.packed()
        self._keep(*arguments)

    def _set(
        self,
        b: Any,
        transb: str,
        transa: str,
        alpha: float,
        ao: int,
        bo: int,
        beta: float,
        offsetc: str,
        co: Any,
        isa: str,
        version: str,
    ) -> None:
        # Numbers are checked before arrays: their conversion may run code of the caller, which may change an array.
        m, of_b = machine(version, isa), TABLE["s8"]
        self._transb = check.choice(transb, "transb", ("N", "T")) == "T"
        self._transa = check.choice(transa, "transa", ("N", "T")) == "T"
        ao = check.int32(ao, "ao", self._a.lowest, self._a.highest)
        bo = check.int32(bo, "bo", of_b.lowest, of_b.highest)
        update = Update(ao, bo, check.real(alpha, "alpha"), check.real(beta, "beta"))
        codes = check.array(b, "b", [np.int8], 2)
        self._weights = Weights(codes.T if self._transb else codes, m, m.saturates)
        self._offsetc = check.choice(offsetc, "offsetc", ("F", "R", "C"))
        self._update = update._replace(co=self._addend(co))
        self._is_product = self._update.is_product

    @property
    def b(self) -> NDArray[np.int8]:
        """The codes of op(B), (K, N), read-only."""
        return self._weights.codes

    def shape_of(self, shape: tuple[int, int]) -> tuple[int, int]:
        """Give the shape of C for an A of this shape.

        Parameters
        ----------
        shape : tuple of int

        Returns
        -------
        tuple of int
        """
        return shape[1 if self._transa else 0], self.b.shape[1]

    def __call__(self, a: ArrayLike, out: S32 | None = None, num_threads: int = 1, c: ArrayLike | None = None) -> S32:
        """Give C; `c` is the matrix that beta multiplies. See `gemm_u8s8s32`."""
        threads = check.int32(num_threads, "num_threads", 1)
        left = check.array(a, "a", [self._a.dtype.type], 2)
        left = left.T if self._transa else left
        update, b, vector = self._update, self._weights, self._vector(left)
        is_product = self._is_product and not b.shifts_vector(left, vector)
        if is_product and not update.beta:
            return b.product(left, out, in_blocks=vector is None, num_threads=threads)
        if left.shape[1] != len(b.codes):
            raise unequal_k(left, b.codes)
        old = self._old(c, (left.shape[0], b.codes.shape[1]))
        self._check(left, out)
        if is_product:
            total = np.array(old, order="C") if out is None else put(old, out)
            return b.product(left, total, in_blocks=vector is None, accumulate=True, num_threads=threads)
        if self._is_product:
            return put(b.gemm(left, vector) + (0 if old is None else old), out)
        return put(updated(left, b, update._replace(old=old), threads), out)

    def _vector(self, a: NDArray[Any]) -> str | None:
        """Name the matrix that oneDNN takes for a vector; how the other one is stored decides too."""
        if not self._weights.machine.gemv:
            return None
        if a.shape[0] == 1 and self._transb:
            return "a"
        return "b" if self.b.shape[1] == 1 and not self._transa else None

    def _old(self, c: ArrayLike | None, shape: tuple[int, int]) -> S32 | None:
        """Give the C that beta multiplies; None if beta is 0."""
        beta = self._update.beta
        if beta == 0:
            return None
        if c is None:
            raise ValueError(f"c: expected the matrix that beta = {beta} multiplies, got None")
        return check.shape(check.array(c, "c", [np.int32]), "c", shape)

    def _addend(self, co: Any) -> S32 | None:
        """Give co in a shape that broadcasts against C; None if it is a single 0."""
        if type(co) is int and co == 0 and self._offsetc == "F":
            return None
        given = np.asarray(check.int32(co, "co"), np.int32) if isinstance(co, int) else co
        values: S32 = check.array(given, "co", [np.int32])
        if self._offsetc != "C":
            self._fit(values, self.b.shape[1] if self._offsetc == "R" else 1)
        if self._offsetc == "F" and not values.any():
            return None
        return values.reshape((-1, 1) if self._offsetc == "C" else (1, -1))

    def _fit(self, co: S32, size: int) -> None:
        if co.size != size:
            raise ValueError(f"co: expected {size} values, as offsetc is {self._offsetc!r}, got {co.size}")

    def _check(self, a: NDArray[Any], out: Any) -> None:
        """Check `out`, and a column that is added, against the shape of C."""
        shape, co = (a.shape[0], self.b.shape[1]), self._update.co
        if co is not None and self._offsetc == "C":
            self._fit(co, shape[0])
        if out is None:
            return
        check_out(out, INT32, shape, (a, self.b))
        if not out.flags.aligned or (out.strides[1] != 4 and shape[1] > 1 and shape[0]):
            raise ValueError(f"out: expected aligned rows, contiguous each, got strides {out.strides}")


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
