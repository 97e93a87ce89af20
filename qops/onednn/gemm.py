"""gemm_u8s8s32 and gemm_s8s8s32: C = alpha*(op(A) - ao)*(op(B) - bo) + beta*C + co, row-major."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onednn import _checks as check
from qops.onednn.dot import S32
from qops.onednn.gemm_driver import Gemm
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.weights import Product
from qops.prepared import direct

__all__ = ["GemmS8S8S32", "GemmU8S8S32", "gemm_s8s8s32", "gemm_u8s8s32"]


class PreparedGemm(Product):
    """Both prepared ops, but for the type of A."""

    __slots__ = ("_kernel",)
    _a_signed: ClassVar[bool]

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
        m = machine(version, isa)
        self._kernel = Gemm(self._a_signed, b, m, transb, transa, alpha, ao, bo, beta, offsetc, co)
        self._kernel.pack()
        self._keep(locals())

    @property
    def b(self) -> NDArray[np.int8]:
        """The codes of op(B), (K, N), read-only."""
        return self._kernel.codes.view()

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return self._kernel.shape_of(shape)

    @direct
    def __call__(self, a: ArrayLike, out: S32 | None = None, num_threads: int = 1, c: ArrayLike | None = None) -> S32:
        """Give C; `c` is the matrix that beta multiplies. See `gemm_u8s8s32`."""
        return self._kernel(a, out, num_threads, c)


class GemmU8S8S32(PreparedGemm):
    """Prepared form of `gemm_u8s8s32`: B is packed once, for products with many A.

    The constructor takes and refuses what `gemm_u8s8s32` does, and copies arrays. The op is called as
    ``op(a, out=None, num_threads=1, c=None)``, where `c` is the matrix that `beta` multiplies. Its attribute `b` gives
    the codes of op(B), (K, N), read-only.

    Examples
    --------
    >>> op = qops.onednn.GemmU8S8S32(np.array([[1, -1], [0, 2]], np.int8), ao=1)
    >>> op
    GemmU8S8S32(np.int8([[1, -1], [0, 2]]), ao=1)
    >>> op(np.array([[1, 2], [3, 4]], np.uint8))
    array([[0, 2],
           [2, 4]], dtype=int32)
    """

    __slots__ = ()
    _a_signed = False


class GemmS8S8S32(PreparedGemm):
    """Prepared form of `gemm_s8s8s32`; `GemmU8S8S32` tells how it is used.

    Examples
    --------
    >>> qops.onednn.GemmS8S8S32(np.array([[1, -1], [0, 2]], np.int8))(np.array([[1, -2], [3, 4]], np.int8))
    array([[ 1, -5],
           [ 3,  5]], dtype=int32)
    """

    __slots__ = ()
    _a_signed = True


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
    num_threads: int = 1,
    out: S32 | None = None,
) -> S32:
    """Multiply a u8 by an s8 matrix into s32 (C API dnnl_gemm_u8s8s32).

    ``C = alpha*(op(A) - ao)*(op(B) - bo) + beta*C + co``, computed as ::

        acc = dot(A, B) - ao*colsum(B) - bo*rowsum(A) + K*ao*bo,  then alpha, beta, co

    Saturation happens only inside dot, on the raw bytes: offsets never change it.

    Parameters
    ----------
    a : ndarray of uint8, (M, K), or (K, M) if `transa` is "T"
    b : ndarray of int8, (K, N), or (N, K) if `transb` is "T"
        For many products with one B, `GemmU8S8S32` packs it once.
    transa, transb : {"N", "T"}, optional
        op(X) is X for "N", the transpose of X for "T".
    alpha : float, optional
        Used as float32. Anything but alpha 1 with beta 0 or 1 is computed in float64 and rounded half away from zero,
        once for each k block.
    ao, bo : int, optional
        Offsets, in the ranges of the matrices' codes.
    beta : float, optional
        Used as float32.
    c : ndarray of int32, (M, N), optional
        Needed if `beta` is not 0; if it is 0, `c` is not read.
    offsetc : {"F", "R", "C"}, optional
        What `co` is: one number, a row (N,), or a column (M,).
    co : int or ndarray of int32, optional
        Added last.
    isa : {"vnni", "avx512", "avx2"}, optional
        What oneDNN calls AVX512_CORE_VNNI, AVX512_CORE (without VNNI) and AVX2.
    version : {"2.6", "3.2", "3.13"}, optional
        Checked against 2.6.3, 3.2.0 and 3.13.2.
    num_threads : int, optional
        Threads of qops, which only change the speed: the result has the same bits for every number.
    out : ndarray of int32, (M, N), optional
        Where the result is written. Each row must be contiguous. It may be `c`; it must not share memory with `a` or
        `b`.

    Returns
    -------
    ndarray of int32, (M, N)

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes that do not fit, an offset out of range, `alpha` or `beta` that is not finite, a missing
        `c`, an unknown `isa` or `version`, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/x64/gemm/gemm_driver.cpp. Not modelled: k split over threads.

    **Hazards.** Without VNNI pairs of products saturate:

    >>> a, b = np.array([[255, 255, 0, 0]], np.uint8), np.array([[127], [127], [0], [0]], np.int8)
    >>> qops.onednn.gemm_u8s8s32(a, b), qops.onednn.gemm_u8s8s32(a, b, isa="avx2")
    (array([[64770]], dtype=int32), array([[32767]], dtype=int32))

    Where a k block starts, pairing starts anew. AVX2 cuts K = 257 at 129, so that 129 and 130 are a pair there
    and not on AVX-512:

    >>> a, b = np.zeros((1, 257), np.uint8), np.full((257, 1), 127, np.int8)
    >>> a[0, [129, 130]] = 255
    >>> [int(qops.onednn.gemm_u8s8s32(a, b, isa=isa)[0, 0]) for isa in ("vnni", "avx512", "avx2")]
    [64770, 64770, 32767]

    The accumulator wraps modulo 2**32: with the largest codes, from K = 65794 on. With an alpha other than 1, each k
    block saturates instead:

    >>> a, b, c = np.array([[1]], np.uint8), np.array([[1]], np.int8), np.array([[2**31 - 1]], np.int32)
    >>> qops.onednn.gemm_u8s8s32(a, b, beta=1.0, c=c), qops.onednn.gemm_u8s8s32(a, b, alpha=2.0, beta=1.0, c=c)
    (array([[-2147483648]], dtype=int32), array([[2147483647]], dtype=int32))

    Examples
    --------
    >>> a, b = np.array([[1, 2], [3, 4]], np.uint8), np.array([[1, -1], [0, 2]], np.int8)
    >>> qops.onednn.gemm_u8s8s32(a, b)
    array([[1, 3],
           [3, 5]], dtype=int32)
    >>> qops.onednn.gemm_u8s8s32(a, b, ao=1)  # codes that stand for themselves less 1
    array([[0, 2],
           [2, 4]], dtype=int32)
    """
    op = Gemm(False, b, machine(version, isa), transb, transa, alpha, ao, bo, beta, offsetc, co)
    return op(a, out, num_threads, c)


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
    num_threads: int = 1,
    out: S32 | None = None,
) -> S32:
    """Multiply an s8 by an s8 matrix into s32 (C API dnnl_gemm_s8s8s32).

    ``C = alpha*(op(A) - ao)*(op(B) - bo) + beta*C + co``, computed as `gemm_u8s8s32` of A + 128, with ao + 128 in place
    of ao: that takes off 128*colsum(B) again.

    Parameters
    ----------
    a : ndarray of int8, (M, K), or (K, M) if `transa` is "T"
    b : ndarray of int8, (K, N), or (N, K) if `transb` is "T"
    transa, transb, alpha, ao, bo, beta, c, offsetc, co, isa, version, num_threads, out : optional
        As `gemm_u8s8s32` takes them.

    Returns
    -------
    ndarray of int32, (M, N)

    Raises
    ------
    TypeError, ValueError
        What `gemm_u8s8s32` refuses.

    Notes
    -----
    Source: src/cpu/x64/gemm/gemm_driver.cpp, src/cpu/gemm/gemm.cpp. On AVX2, -128*colsum(B) is added in a step of its
    own, and is rounded there if alpha is not 1. With ao or bo, AVX2 takes the product from a reference in float64. That
    is exact, but C passes through float32: above 2**24 it loses its low bits, and what is too large becomes INT_MIN.

    **Hazards.** The error of saturation stays in the result:

    >>> a, b = np.array([[127, 127, 0, 0]], np.int8), np.array([[127], [127], [0], [0]], np.int8)
    >>> qops.onednn.gemm_s8s8s32(a, b), qops.onednn.gemm_s8s8s32(a, b, isa="avx2")
    (array([[32258]], dtype=int32), array([[255]], dtype=int32))

    The accumulator wraps: with the largest codes, from K = 131072 on. A single offset makes AVX2 exact, but not
    AVX-512:

    >>> [int(qops.onednn.gemm_s8s8s32(a, b, ao=1, isa=isa)[0, 0]) for isa in ("vnni", "avx2", "avx512")]
    [32004, 32004, 1]

    Examples
    --------
    >>> qops.onednn.gemm_s8s8s32(np.array([[1, -2], [3, 4]], np.int8), np.array([[1, -1], [0, 2]], np.int8))
    array([[ 1, -5],
           [ 3,  5]], dtype=int32)
    """
    op = Gemm(True, b, machine(version, isa), transb, transa, alpha, ao, bo, beta, offsetc, co)
    return op(a, out, num_threads, c)
