"""gemm_u8s8s32 and gemm_s8s8s32: C = alpha*(op(A) - ao)*(op(B) - bo) + beta*C + co, row-major."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.onednn import _checks as check
from qops.onednn import dot
from qops.onednn.cast import round_half_away_s32, store, to_f32
from qops.onednn.dot import S8, S32, S64, U8
from qops.onednn.machine import DEFAULT_VERSION, Machine, machine

__all__ = ["Update", "gemm", "gemm_s8s8s32", "gemm_u8s8s32"]


def gemm_u8s8s32(
    a: ArrayLike,
    b: ArrayLike,
    *,
    transa: str = "N",
    transb: str = "N",
    alpha: float = 1.0,
    ao: int = 0,
    bo: int = 0,
    beta: float = 0.0,
    c: ArrayLike | None = None,
    offsetc: str = "F",
    co: ArrayLike = 0,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
) -> S32:
    """Multiply a u8 by an s8 matrix into s32 (C API dnnl_gemm_u8s8s32).

    ``C = alpha*(op(A) - ao)*(op(B) - bo) + beta*C + co``, computed as ::

        acc = dot(A, B) - ao*colsum(B) - bo*rowsum(A) + K*ao*bo,  then alpha, beta, co

    Saturation happens only inside dot, on the raw bytes: offsets never change it.

    Parameters
    ----------
    a : ndarray of uint8, (M, K), or (K, M) if `transa` is "T"
    b : ndarray of int8, (K, N), or (N, K) if `transb` is "T"
    transa, transb : {"N", "T"}, optional
    alpha, beta : float, optional
        Used as float32. Anything but alpha 1 with beta 0 or 1 is computed in float64 and rounded half away from zero,
        once a k block.
    ao, bo : int, optional
        Offsets, in the ranges of the matrices' codes.
    c : ndarray of int32, (M, N), optional
        Needed if `beta` is not 0.
    offsetc : {"F", "R", "C"}, optional
        `co` is one number, a row (N,), or a column (M,).
    co : int or ndarray of int32, optional
    isa : {"vnni", "avx512", "avx2"}, optional
    version : {"2.6", "3.2", "3.13"}, optional

    Returns
    -------
    ndarray of int32, (M, N)

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes that do not fit, an offset out of range, `alpha` or `beta` that is not finite, a missing
        `c`, an unknown `isa` or `version`.

    Notes
    -----
    Source: src/cpu/x64/gemm/gemm_driver.cpp. Not modelled: packed matrices, and k split over threads.

    **Hazards.** Without VNNI pairs of products saturate:

    >>> a, b = np.uint8([[255, 255, 0, 0]]), np.int8([[127], [127], [0], [0]])
    >>> gemm_u8s8s32(a, b), gemm_u8s8s32(a, b, isa="avx2")
    (array([[64770]], dtype=int32), array([[32767]], dtype=int32))

    Where a k block starts, pairing starts anew. AVX2 cuts K = 257 at 129, so that 129 and 130 are a pair there
    and not on AVX-512:

    >>> a, b = np.zeros((1, 257), np.uint8), np.full((257, 1), 127, np.int8)
    >>> a[0, [129, 130]] = 255
    >>> [int(gemm_u8s8s32(a, b, isa=isa)[0, 0]) for isa in ("vnni", "avx512", "avx2")]
    [64770, 64770, 32767]

    The accumulator wraps modulo 2**32, from K = 65794 on at full range; with alpha other than 1 each k block saturates:

    >>> a, b, c = np.uint8([[1]]), np.int8([[1]]), np.int32([[2**31 - 1]])
    >>> gemm_u8s8s32(a, b, beta=1.0, c=c), gemm_u8s8s32(a, b, alpha=2.0, beta=1.0, c=c)
    (array([[-2147483648]], dtype=int32), array([[2147483647]], dtype=int32))
    """
    update = _update(alpha, beta, c, offsetc, co)
    return _checked(np.uint8, a, b, transa, transb, ao, bo, update, machine(version, isa))


def gemm_s8s8s32(
    a: ArrayLike,
    b: ArrayLike,
    *,
    transa: str = "N",
    transb: str = "N",
    alpha: float = 1.0,
    ao: int = 0,
    bo: int = 0,
    beta: float = 0.0,
    c: ArrayLike | None = None,
    offsetc: str = "F",
    co: ArrayLike = 0,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
) -> S32:
    """Multiply an s8 by an s8 matrix into s32 (C API dnnl_gemm_s8s8s32).

    As `gemm_u8s8s32` on A + 128, with the compensation -128*colsum(B) (that is, ao + 128 for ao). Parameters, returns
    and errors are the same, but for `a`: int8.

    Notes
    -----
    Source: src/cpu/x64/gemm/gemm_driver.cpp, src/cpu/gemm/gemm.cpp. On AVX2 the compensation is added apart, and
    rounded apart if alpha is not 1; and with ao or bo the product comes from the float64 reference: it is exact, but
    passes through float32 (the low bits of ``|C| > 2**24`` are lost).

    **Hazards.** The saturation error survives the compensation:

    >>> a, b = np.int8([[127, 127, 0, 0]]), np.int8([[127], [127], [0], [0]])
    >>> gemm_s8s8s32(a, b), gemm_s8s8s32(a, b, isa="avx2")
    (array([[32258]], dtype=int32), array([[255]], dtype=int32))

    An offset, even one, makes AVX2 exact, and not AVX-512:

    >>> [int(gemm_s8s8s32(a, b, ao=1, isa=isa)[0, 0]) for isa in ("vnni", "avx2", "avx512")]
    [32004, 32004, 1]
    """
    update = _update(alpha, beta, c, offsetc, co)
    return _checked(np.int8, a, b, transa, transb, ao, bo, update, machine(version, isa))


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


def gemm(a: NDArray[Any], b: S8, ao: int, bo: int, update: Update, m: Machine, vector: str = "") -> S32:
    """Multiply checked matrices a (M, K), u8 or s8, and b (K, N); `vector` names the one a GEMV kernel takes."""
    if m.gemv and vector and update.is_exact and not update.has_co and ao == bo == 0:
        return dot.wrap_s32(_gemv(a, b, vector, m) + update.old)
    if a.dtype == np.uint8 or m.s8_gemm == "inside":
        shift = 0 if a.dtype == np.uint8 else dot.SHIFT
        return _driver(dot.shifted(a), b, ao + shift, bo, update, m)
    if ao or bo:
        return _reference(a, b, ao, bo, update)
    compensation: NDArray[Any] = dot.compensation(b)
    if update.alpha != 1:
        compensation = store(to_f32(update.alpha * compensation), "s32")
    return dot.wrap_s32(_driver(dot.shifted(a), b, 0, 0, update, m).astype(np.int64) + compensation)


def _driver(a: U8, b: S8, ao: int, bo: int, update: Update, m: Machine) -> S32:
    starts = m.k_starts(a.shape[1])
    if update.is_exact:
        return dot.wrap_s32(_offset_product(a, b, ao, bo, m, starts) + update.old + update.co)
    c: NDArray[Any] = update.old
    beta = update.beta
    for lo, hi in pairwise((*starts, a.shape[1])):
        acc = dot.wrap_s32(_offset_product(a[:, lo:hi], b[lo:hi], ao, bo, m))
        c = round_half_away_s32(update.alpha * acc.astype(np.float64) + beta * c.astype(np.float64))
        beta = 1.0
    return dot.wrap_s32(c + update.co)


def _offset_product(a: U8, b: S8, ao: int, bo: int, m: Machine, starts: tuple[int, ...] = (0,)) -> S64:
    """dot(A, B) - ao*colsum(B) - bo*rowsum(A) + K*ao*bo."""
    columns = b.sum(axis=0, dtype=np.int64)
    rows = a.sum(axis=1, dtype=np.int64)[:, None]
    product = dot.multiply(a, b, m.saturates, starts).astype(np.int64)
    return np.asarray(product - ao * columns - bo * rows + a.shape[1] * ao * bo)


def _gemv(a: NDArray[Any], b: S8, vector: str, m: Machine) -> S64:
    """Matrix times vector: k is one block, and of two s8 operands the vector is the shifted one."""
    if a.dtype == np.int8 and vector == "b":
        product = dot.multiply(dot.shifted(b).T, a.T, m.saturates)
        return (product + dot.compensation(a, axis=1)).T
    return dot.compensated(a, b, m.saturates).astype(np.int64)


def _reference(a: S8, b: S8, ao: int, bo: int, update: Update) -> S32:
    acc = (a.astype(np.float64) - ao) @ (b.astype(np.float64) - bo)
    return store(to_f32(update.alpha * acc + update.beta * update.old + update.co), "s32")


def _checked(
    a_dtype: DTypeLike,
    a: ArrayLike,
    b: ArrayLike,
    transa: str,
    transb: str,
    ao: int,
    bo: int,
    update: Update,
    m: Machine,
) -> S32:
    left, right = _operand(a, "a", a_dtype, transa), _operand(b, "b", np.int8, transb)
    (rows, k), cols = left.shape, right.shape[1]
    if right.shape[0] != k:
        raise ValueError(f"a, b: expected op(a) and op(b) to agree in k, got shapes {left.shape} and {right.shape}")
    if update.c is not None:
        check.shape(update.c, "c", (rows, cols))
    size = {"F": 1, "R": cols, "C": rows}[update.offsetc]
    if update.co.size != size:
        raise ValueError(f"co: expected {size} values, as offsetc is {update.offsetc!r}, got {update.co.size}")
    info = np.iinfo(np.dtype(a_dtype))
    check.integer(ao, "ao", info.min, info.max)
    check.integer(bo, "bo", -128, 127)
    vector = "b" if cols == 1 and transa == "N" else "a" if rows == 1 and transb == "T" else ""
    return gemm(left, right, int(ao), int(bo), update, m, vector)


def _operand(x: ArrayLike, name: str, dtype: DTypeLike, trans: str) -> NDArray[Any]:
    check.choice(trans, f"trans{name}", ["N", "T"])
    matrix = check.array(x, name, [dtype], 2)
    return matrix if trans == "N" else matrix.T


def _update(alpha: float, beta: float, c: ArrayLike | None, offsetc: str, co: ArrayLike) -> Update:
    alpha, beta = check.real(alpha, "alpha"), check.real(beta, "beta")
    old = None
    if beta != 0:
        if c is None:
            raise ValueError(f"c: expected the matrix that beta = {beta} multiplies, got None")
        old = check.array(c, "c", [np.int32], 2)
    check.choice(offsetc, "offsetc", ["F", "R", "C"])
    added = np.int32(check.integer(co, "co")) if isinstance(co, int) else check.array(co, "co", [np.int32])
    shape = (-1, 1) if offsetc == "C" else (1, -1)
    return Update(alpha, beta, old, offsetc, np.asarray(added, np.int64).reshape(shape))
