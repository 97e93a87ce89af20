"""Inner product: src (N, IC) times the transpose of weights (OC, IC)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.onednn.gemm import bare
from qops.onednn import _checks as check
from qops.onednn import dot, output
from qops.onednn.attr import NO_ATTR, Attr
from qops.onednn.destination import destination
from qops.onednn.machine import DEFAULT_VERSION, Machine, machine
from qops.onednn.packed import PackedWeights, Weights, codes_of, packed_for

__all__ = ["inner_product"]


def inner_product(
    src: ArrayLike,
    weights: ArrayLike | PackedWeights,
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
    weights : ndarray of int8, (OC, IC); or PackedWeights of its transpose, (IC, OC)
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
        unknown name, weights packed for another machine, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/gemm_x8s8s32x_inner_product.cpp, src/cpu/x64/jit_brgemm_inner_product.cpp; on 3.13 that of `matmul`.

    **Hazards.** Without VNNI, pairs saturate:

    >>> src, weights = np.int8([[127, 127, 0, 0]]), np.int8([[127, 127, 0, 0]])
    >>> inner_product(src, weights), inner_product(src, weights, isa="avx2")
    (array([[32258]], dtype=int32), array([[255]], dtype=int32))

    The accumulator wraps at 2**31: with the largest codes, from IC = 65794 on:

    >>> k = 65794
    >>> inner_product(np.full((1, k), 255, np.uint8), np.full((1, k), -128, np.int8)).item()
    2147451136

    Examples
    --------
    Codes of the source and the weights are hundredths. The result in float32, then its relu in codes of 0.02:

    >>> from qops.onednn import Eltwise
    >>> x, w, bias = np.uint8([[50, 100, 200]]), np.int8([[100, -50, 25], [10, 20, -40]]), np.float32([0.1, -0.2])
    >>> inner_product(x, w, bias, dst_dt="f32", attr=Attr(src_scale=0.01, wei_scale=0.01))
    array([[ 0.6 , -0.75]], dtype=float32)
    >>> attr = Attr(src_scale=0.01, wei_scale=0.01, dst_scale=0.02, post_ops=[Eltwise()])
    >>> inner_product(x, w, bias, dst_dt="u8", attr=attr)
    array([[30,  0]], dtype=uint8)
    """
    m = machine(version, isa)
    left = check.array(src, "src", [np.uint8, np.int8], 2)
    right = _transposed(weights, left.shape[1], m)
    check.choice(weights_format, "weights_format", ("oi", "any"))
    check.dst_dt(dst_dt)
    check.instance(attr, "attr", Attr)
    attr.only("oscale", "src_scale", "wei_scale", "dst_scale", "post_ops")
    threads = check.int32(num_threads, "num_threads", 1)
    shape = left.shape[0], right.shape[1]
    dst = destination(shape, dst_dt, out, (left, codes_of(right), bias), dst_in, has_sum=attr.has_sum)
    end = output.prepare(attr, m, dst, bias)
    if (m.ip_oi if weights_format == "oi" else m.ip_any) == "brgemm":
        acc = dot.compensated(left, right, m.saturates, num_threads=threads)
        return end.finish(acc, s32_via_f32=left.dtype == np.int8)
    if attr.has_late_sum:
        acc = dot.compensated(left, codes_of(right), saturates=False, num_threads=threads)
        return end.finish(acc, reference=m.ref_scaling)
    vector = "a" if shape[0] == 1 else "b" if shape[1] == 1 else None
    return end.finish(bare(left, right, m, vector, threads), m.s32_via_f32)


def _transposed(weights: ArrayLike | PackedWeights, inputs: int, m: Machine) -> Weights:
    """Give the weights as (IC, OC)."""
    if isinstance(weights, PackedWeights):
        if weights.shape[0] != inputs:
            raise ValueError(f"weights: expected ({inputs}, OC) packed, got {weights!r}")
        return packed_for(weights, "weights", m)
    codes = check.array(weights, "weights", [np.int8], 2)
    return check.shape(codes, "weights", (codes.shape[0], inputs)).T
