"""Matrix product: src (..., M, K) times weights (..., K, N), with zero points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes
from qops._kernels.gemm.gemm import take_off_offsets
from qops._kernels.onednn import gemm
from qops.onednn import _checks as check
from qops.onednn import dot, output
from qops.onednn.attr import NO_ATTR, Attr
from qops.onednn.destination import destination
from qops.onednn.dot import S8, S32
from qops.onednn.gemm_driver import updated
from qops.onednn.machine import DEFAULT_VERSION, Machine, machine
from qops.onednn.packed import PackedWeights, Weights, codes_of, packed_for
from qops.qtensor import broadcast_shape

__all__ = ["matmul"]


def matmul(
    src: ArrayLike,
    weights: ArrayLike | PackedWeights,
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
    weights : ndarray of int8, (..., K, N); or PackedWeights, (K, N)
        The leading dimensions of both are equal, or 1 where one repeats.
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
        Other dtypes, shapes or masks that do not fit, scales of another version, a missing `dst_in`, an unknown name,
        weights packed for another machine, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/matmul/gemm_x8s8s32x_matmul.cpp, src/cpu/x64/matmul/brgemm_matmul.cpp.

    **Hazards.** The accumulator wraps at 2**31: with the largest codes, from K = 65794 on, or 131072 for an s8 source.

    Zero points that fit the codes become offsets of GEMM. On AVX2, GEMM with offsets is exact for an s8 source, and
    without them it saturates:

    >>> src, weights = np.int8([[127, 127]]), np.int8([[127], [127]])
    >>> [int(matmul(src, weights, attr=Attr(src_zp=zp), isa="avx2").item()) for zp in (0, 1)]
    [255, 32004]

    Other zero points are taken off after the product. There 2.6 sums the rows of a u8 source as if its codes were s8,
    and is off by 256*zw for each source code above 127:

    >>> src, weights, attr = np.uint8([[200]]), np.int8([[5]]), Attr(src_zp=-1, wei_zp=2)
    >>> [int(matmul(src, weights, attr=attr, isa="avx2", version=v).item()) for v in ("3.2", "2.6")]
    [603, 1115]

    Examples
    --------
    Codes of both matrices are hundredths. The source, with the zero point 128, is (-1, 0, 1):

    >>> src, weights = np.uint8([[28, 128, 228]]), np.int8([[100, 10], [-50, 20], [25, -40]])
    >>> matmul(src, weights, dst_dt="f32", attr=Attr(src_scale=0.01, wei_scale=0.01, src_zp=128))
    array([[-0.75, -0.5 ]], dtype=float32)
    """
    m = machine(version, isa)
    packed = packed_for(weights, "weights", m) if isinstance(weights, PackedWeights) else None
    left = check.array(src, "src", [np.uint8, np.int8])
    right = weights.codes if isinstance(weights, PackedWeights) else check.array(weights, "weights", [np.int8])
    check.instance(attr, "attr", Attr)
    threads = check.int32(num_threads, "num_threads", 1)
    dims, axis = _dst_dims(left, right), left.ndim - 1
    check.dst_dt(dst_dt)
    dst = destination(dims, dst_dt, out, (left, right, bias), dst_in, has_sum=attr.has_sum)
    end = output.prepare(attr, m, dst, bias, axis=axis, wei_mask=1 << axis)
    is_ref = m.matmul == "gemm" and attr.has_late_sum
    acc = np.empty(dims, np.int32)
    if len(dims) > 2:
        left, right = (np.broadcast_to(x, dims[:-2] + x.shape[-2:]) for x in (left, right))
    for batch in np.ndindex(dims[:-2]):
        b = right[batch] if packed is None else packed
        acc[batch] = _product(left[batch], b, (attr.src_zp or 0, attr.wei_zp or 0), m, is_ref, threads)
    is_compensated = left.dtype == np.int8 or attr.src_zp is not None or attr.wei_zp is not None
    via_f32 = is_compensated if m.matmul == "brgemm" else m.matmul_f32
    return end.finish(acc, via_f32, reference=m.ref_matmul if is_ref else None)


def _dst_dims(src: NDArray[Any], weights: S8) -> tuple[int, ...]:
    if src.ndim < 2 or src.ndim != weights.ndim or src.shape[-1] != weights.shape[-2]:
        shapes = f"{src.shape} and {weights.shape}"
        raise ValueError(f"src, weights: expected shapes (..., M, K) and (..., K, N), got {shapes}")
    try:
        batch = broadcast_shape(src.shape[:-2], weights.shape[:-2])
    except ValueError:
        raise ValueError(f"src, weights: expected equal batches or 1, got {src.shape} and {weights.shape}") from None
    return (*batch, src.shape[-2], weights.shape[-1])


def _product(a: NDArray[Any], b: Weights, zeros: tuple[int, int], m: Machine, is_ref: bool, num_threads: int) -> S32:
    """Give X x W - zs*colsum(W) - zw*rowsum(X) + K*zs*zw, with zeros (zs, zw)."""
    if is_ref or m.matmul == "brgemm":
        right = codes_of(b) if is_ref else b
        return dot.compensated(a, right, m.saturates and not is_ref, offsets=zeros, num_threads=num_threads)
    if not any(zeros):
        return gemm.bare(a, b, m, "b" if b.shape[1] == 1 else None, num_threads)
    rows = codes.of(a), codes.TABLE["s8"]
    if all(row.lowest <= zero <= row.highest for zero, row in zip(zeros, rows, strict=True)):
        return updated(a, b, gemm.Update(*zeros), m, num_threads)
    product = gemm.bare(a, b, m, "b" if b.shape[1] == 1 else None, num_threads)
    take_off_offsets(product, a.view(np.int8) if m.zp_rowsum_s8 else a, codes_of(b), *zeros)
    return product
