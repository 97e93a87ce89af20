"""Inner product: src (N, IC) times the transpose of weights (OC, IC)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onednn import _checks as check
from qops.onednn import output
from qops.onednn.attr import NO_ATTR, Attr, only
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.weights import Product, Weights

__all__ = ["InnerProduct", "inner_product"]


class InnerProduct(Product):
    """Prepared form of `inner_product`: the weights are packed once, for many sources.

    The constructor takes and refuses what `inner_product` does, and copies arrays. The op is called as
    ``op(src, out=None, num_threads=1, dst_in=None)``. Its attribute `weights` gives the codes, (OC, IC), read-only.

    Examples
    --------
    >>> op = qops.onednn.InnerProduct(
    ...     np.array([[100, -50, 25], [10, 20, -40]], np.int8), dst_dt="u8", attr=qops.onednn.Attr(src_scale=0.01)
    ... )
    >>> op
    InnerProduct(
        np.int8([[100, -50, 25], [10, 20, -40]]), dst_dt='u8', attr=Attr(src_scale=Scales(0.01))
    )
    >>> op(np.array([[50, 100, 200]], np.uint8)), op.shape_of((1, 3))
    (array([[50,  0]], dtype=uint8), (1, 2))
    """

    _weights: Weights
    __slots__ = ("_end", "_epilogue", "_kernel", "_weights")

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        dst_dt: str = "s32",
        attr: Attr = NO_ATTR,
        weights_format: str = "any",
        isa: str = "vnni",
        version: str = DEFAULT_VERSION,
    ) -> None:
        weights, bias = check.own(weights, "weights"), check.own(bias, "bias")
        self._keep(locals())
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        m, attr = machine(self.version, self.isa), self.attr
        codes = check.array(self._arguments["weights"], "weights", ["int8"], 2)
        weights_format = check.choice(self.weights_format, "weights_format", ("oi", "any"))
        only(attr, "oscale", "src_scale", "wei_scale", "dst_scale", "post_ops")
        self._kernel = m.ip_oi if weights_format == "oi" else m.ip_any
        if self._kernel == "gemm" and attr.has_late_sum:
            self._kernel = "ref"
        is_ref = self._kernel == "ref"
        self._weights = Weights(codes.T, m, m.saturates and not is_ref)
        self._end = output.prepare(attr, m, self.dst_dt, self.bias, len(codes))
        self._epilogue = self._end.epilogue(reference=m.ref_scaling if is_ref else None)
        if not once:
            self._weights = self._weights.packed()

    @property
    def weights(self) -> NDArray[np.int8]:
        """The codes, (OC, IC), read-only."""
        return self._weights.codes.T

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[0], self._weights.codes.shape[1]

    def __call__(
        self, src: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1, dst_in: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Give the destination; see `inner_product`."""
        threads = check.int32(num_threads, "num_threads", 1)
        left = check.array(src, "src", check.CODES_8, 2)
        b, m = self._weights, self._weights.machine
        check.shape(b.codes.T, "weights", (b.codes.shape[1], left.shape[1]))
        shape = left.shape[0], b.codes.shape[1]
        dst = self._end.destination(shape, out, (left, b.codes), dst_in)
        if self._kernel == "gemm":
            vector = "a" if shape[0] == 1 else "b" if shape[1] == 1 else None
            return self._epilogue.finish(b.gemm(left, vector, threads), dst, m.s32_via_f32)
        return self._epilogue.finish(b.product(left, num_threads=threads), dst, left.dtype == np.int8)


def inner_product(
    src: ArrayLike,
    weights: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    dst_dt: str = "s32",
    attr: Attr = NO_ATTR,
    dst_in: ArrayLike | None = None,
    weights_format: str = "any",
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply rows of u8 or s8 codes by s8 weights, as a fully connected layer does.

    ``acc = sum over ic of x[n, ic]*w[oc, ic]``, by GEMM, which cuts the sum into blocks, or by BRGEMM, which does not.
    The machine and `weights_format` decide which. Then, each operation rounded to float32::

        2.6:  f = (f32(acc) + bias)*oscale
        3.x:  f = f32(acc)*(src_scale*wei_scale) + bias, on 3.13 with AVX-512 (f32(acc)*src_scale)*wei_scale + bias
        all:  post-ops, a Sum as one fma; 3.x: f * f32(1/dst_scale); saturate, round half to even

    GEMM cannot add a Sum after another post-op: the reference kernel takes over, which is exact. On 3.13 that
    multiplies by the two scales one after the other, and divides by dst_scale instead of multiplying by its reciprocal.

    s32 without scale, bias and post-op is stored as it is. But by GEMM on 3.13, and by BRGEMM if the source is s8, it
    becomes float32 first and loses bits above 2**24.

    Parameters
    ----------
    src : ndarray of uint8 or int8, (N, IC)
    weights : ndarray of int8, (OC, IC)
        For many sources, `InnerProduct` packs them once.
    bias : ndarray of float32, int32, int8 or uint8, OC values, optional
    dst_dt : {"s32", "f32", "u8", "s8"}, optional
        Type of the result.
    attr : Attr, optional
        2.6: oscale, mask 0 or 2; 3.x: src_scale, dst_scale, mask 0, wei_scale, mask 0 or 1; post_ops. oneDNN takes
        no zero points here.
    dst_in : ndarray of the dtype and shape of the destination, optional
        Needed by a Sum.
    weights_format : {"any", "oi"}, optional
        "any": in the layout that oneDNN prefers; "oi": as they are given.
    isa, version, num_threads : optional
        See `gemm_u8s8s32`.
    out : ndarray of `dst_dt`, (N, OC), optional
        Where the result is written. It may be `dst_in`; it must not share memory with another input.

    Returns
    -------
    ndarray of `dst_dt`, (N, OC)

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes or masks that do not fit, scales of another version, zero points, a missing `dst_in`, an
        unknown name, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/gemm_x8s8s32x_inner_product.cpp, src/cpu/x64/jit_brgemm_inner_product.cpp; on 3.13 that of `matmul`.

    **Hazards.** Without VNNI, pairs saturate:

    >>> src, weights = np.array([[127, 127, 0, 0]], np.int8), np.array([[127, 127, 0, 0]], np.int8)
    >>> qops.onednn.inner_product(src, weights), qops.onednn.inner_product(src, weights, isa="avx2")
    (array([[32258]], dtype=int32), array([[255]], dtype=int32))

    The accumulator wraps at 2**31: with the largest codes, from IC = 65794 on:

    >>> k = 65794
    >>> qops.onednn.inner_product(np.full((1, k), 255, np.uint8), np.full((1, k), -128, np.int8)).item()
    2147451136

    Examples
    --------
    Codes of the source and the weights are hundredths. The result in float32, then its relu in codes of 0.02:

    >>> x, w = np.array([[50, 100, 200]], np.uint8), np.array([[100, -50, 25], [10, 20, -40]], np.int8)
    >>> bias = np.array([0.1, -0.2], np.float32)
    >>> qops.onednn.inner_product(x, w, bias, dst_dt="f32", attr=qops.onednn.Attr(src_scale=0.01, wei_scale=0.01))
    array([[ 0.6 , -0.75]], dtype=float32)
    >>> attr = qops.onednn.Attr(src_scale=0.01, wei_scale=0.01, dst_scale=0.02, post_ops=[qops.onednn.Eltwise()])
    >>> qops.onednn.inner_product(x, w, bias, dst_dt="u8", attr=attr)
    array([[30,  0]], dtype=uint8)
    """
    return InnerProduct._once(locals())(src, out, num_threads, dst_in)
