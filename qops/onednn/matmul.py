"""Matrix product: src (..., M, K) times weights (..., K, N), with zero points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.gemm.gemm import take_off_offsets
from qops.checks import broadcast_shape
from qops.onednn import _checks as check
from qops.onednn import output
from qops.onednn.attr import NO_ATTR, Attr
from qops.onednn.dot import S32
from qops.onednn.gemm_driver import Update, updated
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.weights import Product, Weights

__all__ = ["MatMul", "matmul"]


class MatMul(Product):
    """Prepared form of `matmul`: the weights are packed once, for many sources.

    The constructor takes and refuses what `matmul` does, and copies arrays. The op is called as
    ``op(src, out=None, num_threads=1, dst_in=None)``. Its attribute `weights` gives the codes, (..., K, N), read-only.

    Examples
    --------
    >>> op = qops.onednn.MatMul(
    ...     np.array([[100, 10], [-50, 20]], np.int8), np.array([1, -1], np.int32), attr=qops.onednn.Attr(src_zp=128)
    ... )
    >>> op
    MatMul(np.int8([[100, 10], [-50, 20]]), bias=np.int32([1, -1]), attr=Attr(src_zp=128))
    >>> op(np.array([[128, 129]], np.uint8)), op.shape_of((1, 2))
    (array([[-49,  19]], dtype=int32), (1, 2))
    """

    _matrices: list[Weights]
    __slots__ = ("_codes", "_end", "_epilogue", "_is_ref", "_matrices")

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        dst_dt: str = "s32",
        attr: Attr = NO_ATTR,
        isa: str = "vnni",
        version: str = DEFAULT_VERSION,
    ) -> None:
        weights, bias = check.own(weights, "weights"), check.own(bias, "bias")
        self._keep(locals())
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        given = self._arguments
        m, attr = machine(given["version"], given["isa"]), given["attr"]
        self._codes = check.array(given["weights"], "weights", ["int8"])
        if self._codes.ndim < 2:
            raise bad_value("weights", f"expected shape (..., K, N), got {self._codes.shape}")
        check.instance(attr, "attr", Attr)
        self._is_ref = m.matmul == "gemm" and attr.has_late_sum
        saturates = m.saturates and not self._is_ref
        batches = self._codes.reshape(-1, *self._codes.shape[-2:]) if self._codes.size else ()
        self._matrices = [Weights(matrix, m, saturates) for matrix in batches]
        axis, channels = self._codes.ndim - 1, self._codes.shape[-1]
        self._end = output.prepare(attr, m, given["dst_dt"], given["bias"], channels, axis=axis, wei_mask=1 << axis)
        self._epilogue = self._end.epilogue(reference=m.ref_matmul if self._is_ref else None)
        if not once:
            self._matrices = [matrix.packed() for matrix in self._matrices]

    @property
    def weights(self) -> NDArray[np.int8]:
        """The codes, (..., K, N), read-only."""
        return self._codes.view()

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        w = self._codes.shape
        if len(shape) != len(w) or shape[-1] != w[-2]:
            raise bad_value("src, weights", f"expected shapes (..., M, K) and (..., K, N), got {shape} and {w}")
        try:
            batch = broadcast_shape(shape[:-2], w[:-2])
        except ValueError:
            raise bad_value("src, weights", f"expected equal batches or 1, got {shape} and {w}") from None
        return (*batch, shape[-2], w[-1])

    def __call__(
        self, src: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1, dst_in: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Give the destination; see `matmul`."""
        threads = check.int32(num_threads, "num_threads", 1)
        left = check.array(src, "src", check.CODES_8)
        dims, attr, m = self._shape(left.shape), self._end.attr, self._end.machine
        dst = self._end.destination(dims, out, (left, self._codes), dst_in)
        is_compensated = left.dtype == np.int8 or attr.src_zp is not None or attr.wei_zp is not None
        via_f32 = is_compensated if m.matmul == "brgemm" else m.matmul_f32
        return self._epilogue.finish(self._sums(left, dims, threads), dst, via_f32)

    def _sums(self, src: NDArray[Any], dims: tuple[int, ...], num_threads: int) -> S32:
        """Give the sums of all batches."""
        if len(dims) == 2 and self._matrices:
            return self._product(src, self._matrices[0], num_threads)
        acc = np.zeros(dims, np.int32)
        if not acc.size or not self._matrices:
            return acc
        left = np.broadcast_to(src, dims[:-2] + src.shape[-2:])
        which = np.broadcast_to(np.arange(len(self._matrices)).reshape(self._codes.shape[:-2]), dims[:-2])
        for batch in np.ndindex(dims[:-2]):
            acc[batch] = self._product(left[batch], self._matrices[which[batch]], num_threads)
        return acc

    def _product(self, a: NDArray[Any], b: Weights, num_threads: int) -> S32:
        """Give X x W - zs*colsum(W) - zw*rowsum(X) + K*zs*zw, where zs and zw are the zero points."""
        zeros = self._end.attr.src_zp or 0, self._end.attr.wei_zp or 0
        if self._is_ref or b.machine.matmul == "brgemm":
            return b.product(a, offsets=zeros, num_threads=num_threads)
        if any(zeros) and all(
            row.lowest <= zero <= row.highest for zero, row in zip(zeros, (codes.of(a), codes.TABLE["s8"]), strict=True)
        ):
            return updated(a, b, Update(*zeros), num_threads)
        sums = b.gemm(a, "b" if b.codes.shape[1] == 1 else None, num_threads)
        if any(zeros):
            take_off_offsets(sums, a.view(np.int8) if b.machine.zp_rowsum_s8 else a, b.codes, *zeros)
        return sums


def matmul(
    src: ArrayLike,
    weights: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    dst_dt: str = "s32",
    attr: Attr = NO_ATTR,
    dst_in: ArrayLike | None = None,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply matrices of u8 or s8 codes by s8 matrices.

    ``acc = dot(X, W) - zs*colsum(W) - zw*rowsum(X) + K*zs*zw``, where zs is src_zp and zw is wei_zp, by GEMM, which
    cuts the sum into blocks, or by BRGEMM, which does not. The machine decides which. Then, each operation rounded to
    float32::

        2.6:  f = (f32(acc) + bias)*oscale
        3.x:  f = f32(acc)*(src_scale*wei_scale) + bias, on 3.13 with AVX-512 (f32(acc)*src_scale)*wei_scale + bias
        all:  post-ops, a Sum as one fma; 3.x: f * f32(1/dst_scale); f + dst_zp; saturate, round half to even

    GEMM cannot add a Sum after another post-op: the reference kernel takes over, which is exact. On 3.x that multiplies
    by the two scales one after the other; on 3.13 it divides by dst_scale instead of multiplying by its reciprocal.

    s32 without scale, bias, post-op and dst_zp is stored as it is. But by GEMM on 3.x, and by BRGEMM if the source is
    s8 or a src_zp or wei_zp is given, even 0, it becomes float32 first and loses bits above 2**24.

    Parameters
    ----------
    src : ndarray of uint8 or int8, (..., M, K)
    weights : ndarray of int8, (..., K, N)
        The leading dimensions of both are equal, or 1 where one repeats. For many sources, `MatMul` packs them once.
    bias : ndarray of float32, int32, int8 or uint8, N values, optional
    dst_dt : {"s32", "f32", "u8", "s8"}, optional
        Type of the result.
    attr : Attr, optional
        2.6: oscale; 3.x: wei_scale, both with mask 0 or 1 << (ndims - 1); src_scale, dst_scale, mask 0; src_zp,
        wei_zp, dst_zp; post_ops.
    dst_in : ndarray of the dtype and shape of the destination, optional
        Needed by a Sum.
    isa, version, num_threads : optional
        See `gemm_u8s8s32`.
    out : ndarray of `dst_dt`, (..., M, N), optional
        Where the result is written. It may be `dst_in`; it must not share memory with another input.

    Returns
    -------
    ndarray of `dst_dt`, (..., M, N)

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes or masks that do not fit, scales of another version, a missing `dst_in`, an
        unknown name, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/matmul/gemm_x8s8s32x_matmul.cpp, src/cpu/x64/matmul/brgemm_matmul.cpp.

    **Hazards.** The accumulator wraps at 2**31: with the largest codes, from K = 65794 on, or 131072 for an s8 source.

    Zero points that fit the codes become offsets of GEMM. On AVX2, GEMM with offsets is exact for an s8 source, and
    without them it saturates:

    >>> src, weights = np.array([[127, 127]], np.int8), np.array([[127], [127]], np.int8)
    >>> [int(qops.onednn.matmul(src, weights, attr=qops.onednn.Attr(src_zp=zp), isa="avx2").item()) for zp in (0, 1)]
    [255, 32004]

    Other zero points are taken off after the product. There 2.6 sums the rows of a u8 source as if its codes were s8,
    and is off by 256*zw for each source code above 127:

    >>> src, weights = np.array([[200]], np.uint8), np.array([[5]], np.int8)
    >>> attr = qops.onednn.Attr(src_zp=-1, wei_zp=2)
    >>> [int(qops.onednn.matmul(src, weights, attr=attr, isa="avx2", version=v).item()) for v in ("3.2", "2.6")]
    [603, 1115]

    Examples
    --------
    Codes of both matrices are hundredths. The source, with the zero point 128, is (-1, 0, 1):

    >>> src, weights = np.array([[28, 128, 228]], np.uint8), np.array([[100, 10], [-50, 20], [25, -40]], np.int8)
    >>> qops.onednn.matmul(
    ...     src, weights, dst_dt="f32", attr=qops.onednn.Attr(src_scale=0.01, wei_scale=0.01, src_zp=128)
    ... )
    array([[-0.75, -0.5 ]], dtype=float32)
    """
    return MatMul._once(locals())(src, out, num_threads, dst_in)
