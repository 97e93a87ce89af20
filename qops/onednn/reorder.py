"""Reorder: conversion between data types with scales and zero points."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onednn import _checks as check
from qops.onednn.attr import NO_ATTR, Attr, Scales, Sum
from qops.onednn.cast import DTYPES, F32, ieee, store, to_f32
from qops.onednn.machine import DEFAULT_VERSION, Machine, machine
from qops.onednn.output import apply_post_ops, reciprocal

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
) -> NDArray[Any]:
    """Convert a tensor, through float32 unless both sides are integers and there is nothing to be done.

    Integers without attributes are clamped. Else, with one float32 rounding an operation::

        2.6:  f = oscale*(f32(x) - src_zp) [+ sum_scale*dst_in] + dst_zp
        3.x:  f = (f32(x) - src_zp)*src_scale * f32(1/dst_scale) [+ sum_scale*dst_in] + dst_zp
        all:  saturate, round half to even

    Parameters
    ----------
    src : ndarray of float32, int32, int8 or uint8
    dst_dt : {"f32", "s32", "s8", "u8"}
    attr : Attr, optional
        oscale (2.6), src_scale and dst_scale (3.x) with any mask, src_zp, dst_zp, one Sum.
    dst_in : ndarray of the dtype and shape of the destination, optional
        Needed by a Sum.
    isa, version : str, optional
        All machines agree; the version says which scales there are. See `gemm_u8s8s32`.

    Returns
    -------
    ndarray of `dst_dt`, shape of `src`

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes or masks that do not fit, scales of another version; NaN on its way to an integer, for
        which oneDNN stores different codes on different machines (u8 0 or 255, s8 127 or -128, s32 2147483520 or
        -2147483648).

    Notes
    -----
    Source: src/cpu/x64/jit_uni_reorder.cpp, src/cpu/simple_reorder.hpp.

    **Hazards.** With a scale, s32 passes through float32 and loses what is above 24 bits; without one it does not:

    >>> x = np.int32([2**24 + 1])
    >>> reorder(x, "s32"), reorder(x, "s32", attr=Attr(src_scale=1.0))
    (array([16777217], dtype=int32), array([16777216], dtype=int32))

    From float32, s32 saturates at the largest float32 below 2**31:

    >>> reorder(np.float32([3e9]), "s32")
    array([2147483520], dtype=int32)

    A division by dst_scale is a product with its reciprocal:

    >>> reorder(np.float32([20.5]) * np.float32(0.7), "s8", attr=Attr(dst_scale=0.7))
    array([20], dtype=int8)
    """
    data = check.array(src, "src", [np.float32, np.int32, np.int8, np.uint8])
    check.dst_dt(dst_dt)
    m = machine(version, isa)
    check.instance(attr, "attr", Attr)
    attr.only(*(("src_scale", "dst_scale") if m.divides else ("oscale",)), "src_zp", "dst_zp", "post_ops")
    if any(not isinstance(op, Sum) for op in attr.post_ops) or len(attr.post_ops) > 1:
        raise ValueError(f"post_ops: expected at most one Sum, got {attr.post_ops}")
    old = check.dst_in(dst_in, data.shape, dst_dt, attr.has_sum)
    if dst_dt != "f32":
        check.no_nan(data, "src")
    factors = _factors(attr, m, data.shape)
    if not attr.given and data.dtype != np.float32 and dst_dt != "f32":
        info = np.iinfo(np.dtype(DTYPES[dst_dt]))
        return np.clip(data.astype(np.int64), info.min, info.max).astype(info.dtype)
    x = to_f32(data)
    if attr.src_zp is not None:
        x = x - np.float32(attr.src_zp)
    for factor in factors:
        x = x * factor
    x = apply_post_ops(x, attr.post_ops, old, fused_sum=False)
    if attr.dst_zp is not None:
        x = x + np.float32(attr.dst_zp)
    return store(x, dst_dt)


def _factors(attr: Attr, m: Machine, dims: tuple[int, ...]) -> list[F32]:
    """Give what the source is multiplied by, in order."""
    if not m.divides:
        return [_along(attr.oscale, dims, "oscale")]
    return [_along(attr.src_scale, dims, "src_scale"), reciprocal(_along(attr.dst_scale, dims, "dst_scale"))]


def _along(scales: Scales | None, dims: tuple[int, ...], name: str) -> F32:
    return np.ones(1, np.float32) if scales is None else scales.along(dims, name, range(1 << len(dims)))
