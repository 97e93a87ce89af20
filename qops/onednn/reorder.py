"""Reorder: data of one type converted to another, with scales and zero points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops.isa import saturate
from qops.onednn import _checks as check
from qops.onednn.attr import NO_ATTR, Attr, Scales, Sum, only
from qops.onednn.cast import DTYPES, F32, cvtps2dq, ieee, put, to_f32
from qops.onednn.destination import Epilogue, FloatOp, destination, made
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.output import UNSCALED, float_ops_of, reciprocal

__all__ = ["reorder"]


@ieee
def reorder(
    src: ArrayLike,
    dst_dt: str,
    *,
    attr: Attr = NO_ATTR,
    dst_in: ArrayLike | None = None,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Convert a tensor to another data type.

    Integers are saturated to integers if there are no attributes. Else, each operation rounded to float32::

        2.6:  f = oscale*(f32(x) - src_zp) [+ sum_scale*dst_in] + dst_zp
        3.x:  f = ((f32(x) - src_zp)*src_scale [+ sum_scale*dst_in]) * f32(1/dst_scale) + dst_zp
        all:  saturate, round half to even

    From float32 to float32, with one src_scale and one dst_scale, 3.2 multiplies by their float32 product
    src_scale * f32(1/dst_scale). 3.13 divides by dst_scale where plain C++ does the work: with a Sum whose scale is not
    1, and where src_scale and dst_scale have different masks.

    Parameters
    ----------
    src : ndarray of float32, int32, int8 or uint8
    dst_dt : {"f32", "s32", "s8", "u8"}
        Type of the result.
    attr : Attr, optional
        oscale (2.6), src_scale and dst_scale (3.x) with any mask, src_zp, dst_zp, one Sum.
    dst_in : ndarray of the dtype and shape of the destination, optional
        Needed by a Sum.
    isa, version : str, optional
        See `gemm_u8s8s32`. All of a version give the same bits.
    out : ndarray of `dst_dt`, shape of `src`, optional
        Where the result is written. It may be `dst_in`; it must not share memory with `src`.

    Returns
    -------
    ndarray of `dst_dt`, shape of `src`

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes or masks that do not fit, scales of another version, an `out` that does not fit; a NaN that
        has to become an integer. oneDNN leaves that open: what it stores depends on the machine (u8 0 or 255, s8 127 or
        -128, s32 2147483520 or -2147483648).

    Notes
    -----
    Source: src/cpu/x64/jit_uni_reorder.cpp, src/cpu/reorder/simple_reorder.hpp.

    **Hazards.** With a scale, s32 values become float32 and lose bits above 2**24. Without one they do not:

    >>> x = np.array([2**24 + 1], np.int32)
    >>> qops.onednn.reorder(x, "s32"), qops.onednn.reorder(x, "s32", attr=qops.onednn.Attr(src_scale=1.0))
    (array([16777217], dtype=int32), array([16777216], dtype=int32))

    From float32, s32 saturates at 2147483520, the largest float32 below 2**31:

    >>> qops.onednn.reorder(np.array([3e9], np.float32), "s32")
    array([2147483520], dtype=int32)

    But 2.6 makes INT_MIN of values that are too large, if there are 4, 8, 12, ... of them, no scale and no Sum:

    >>> [int(qops.onednn.reorder(np.full(n, 3e9, np.float32), "s32", version="2.6")[0]) for n in (3, 4)]
    [2147483520, -2147483648]

    45.5 / 7 is 6.5, which is rounded to 6. But oneDNN multiplies by the float32 reciprocal of 7, which is above 1/7:

    >>> qops.onednn.reorder(np.array([45.5], np.float32), "s8", attr=qops.onednn.Attr(dst_scale=7.0))
    array([7], dtype=int8)
    """
    data = check.array(src, "src", ["float32", "int32", "int8", "uint8"])
    check.choice(dst_dt, "dst_dt", DTYPES)
    m = machine(version, isa)
    only(attr, *(("src_scale", "dst_scale") if m.divides else ("oscale",)), "src_zp", "dst_zp", "post_ops")
    if any(not isinstance(op, Sum) for op in attr.post_ops) or len(attr.post_ops) > 1:
        raise bad_value("post_ops", f"expected at most one Sum, got {attr.post_ops}")
    dst = destination(data.shape, dst_dt, out, (data, src), dst_in, has_sum=attr.has_sum)
    if dst_dt != "f32":
        check.no_nan(data, "src")
    factor = _along(attr.src_scale if m.divides else attr.oscale, data.shape, "src_scale" if m.divides else "oscale")
    divisor = _along(attr.dst_scale, data.shape, "dst_scale")
    if not attr.given and data.dtype != np.float32 and dst_dt != "f32":
        return put(saturate(data, codes.TABLE[dst_dt].dtype), out)
    if m.f32_merged and data.dtype == np.float32 and dst_dt == "f32" and factor.size == divisor.size == 1:
        factor, divisor = factor * reciprocal(divisor), UNSCALED
    float_ops: list[FloatOp] = [] if attr.src_zp is None else [("add", -np.float32(attr.src_zp))]
    float_ops += [("multiply", factor), *float_ops_of(attr.post_ops, fused_sum=False)]
    float_ops += [("divide", divisor) if m.ref_divides and _is_plain_code(attr) else ("multiply", reciprocal(divisor))]
    float_ops += [] if attr.dst_zp is None else [("add", float(attr.dst_zp))]
    if dst_dt == "s32" and m.s32_overflow and data.size % 4 == 0 and (factor == 1).all() and not attr.has_sum:
        return put(cvtps2dq(made(to_f32(data), float_ops)), out)
    x = data if data.dtype in (np.float32, np.int32) else to_f32(data)
    return Epilogue(dst_dt, float_ops).finish(x, dst, is_scratch=x is not data)


def _is_plain_code(attr: Attr) -> bool:
    """True if oneDNN has only plain C++ for these attributes; it divides by dst_scale."""
    scales = attr.src_scale, attr.dst_scale
    return any(op.scale != 1 for op in attr.post_ops) or len({scale.mask for scale in scales if scale is not None}) > 1


def _along(scales: Scales | None, dims: tuple[int, ...], name: str) -> F32:
    """Give one scale, or one for each element of the last dimensions, from the first masked one on."""
    if scales is None:
        return UNSCALED
    values = scales.along(dims, name, range(1 << len(dims)))
    if values.size == 1:
        return scales.values
    first = next(i for i, length in enumerate(values.shape) if length > 1)
    return np.broadcast_to(values, (*values.shape[:first], *dims[first:]))
