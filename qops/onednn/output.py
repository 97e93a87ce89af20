"""From the s32 accumulator to the destination: scale and bias, post-ops, destination scale and zero point, store.

Every step is float32 with one rounding an operation; nothing is fused but the sum post-op. The reference kernels have
steps of their own, see `qops.onednn.reference`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onednn import _checks as check
from qops.onednn.attr import Attr, Eltwise, PostOp, Scales
from qops.onednn.cast import F32, fma, ieee, store, to_f32
from qops.onednn.machine import Machine

__all__ = ["Output", "apply_post_ops", "per_channel", "prepare", "reciprocal", "relu"]

ONE = np.float32(1)

SCALINGS: dict[str, Callable[[F32, F32, F32, np.float32], F32]] = {
    # f, bias, oscale or wei_scale, src_scale
    "old": lambda f, bias, oscale, _: (f + bias) * oscale,
    "merged": lambda f, bias, wei, src: f * (src * wei) + bias,
    "split": lambda f, bias, wei, src: (f * src) * wei + bias,
}
"""The order of scale and bias, see `Machine.scaling`."""


@dataclass(frozen=True)
class Output:
    """What is done to the accumulator of a product. Arrays broadcast over the destination."""

    attr: Attr
    dst_dt: str
    scaling: str
    scale: F32
    """oscale in 2.6, wei_scale in 3.x."""
    bias: NDArray[Any] | None
    dst_in: NDArray[Any] | None

    @property
    def is_plain(self) -> bool:
        """True if s32 is to be stored as it is."""
        touched = set(self.attr.given) - {"src_zp", "wei_zp"}
        return self.dst_dt == "s32" and self.bias is None and not touched

    @ieee
    def finish(self, acc: NDArray[Any], s32_via_f32: bool = False, doubled: bool = False) -> NDArray[Any]:
        """Give the destination.

        Parameters
        ----------
        acc : ndarray of int32, or of float32 where the kernel has left s32 already
        s32_via_f32 : bool, optional
            Even a plain s32 result passes through float32.
        doubled : bool, optional
            Weights were halved: the scale is twice what was given, and 2.6 halves the bias.

        Returns
        -------
        ndarray of `dst_dt`
        """
        if self.is_plain and not (s32_via_f32 or doubled):
            return acc
        twice = np.float32(2 if doubled else 1)
        bias = np.zeros(1, np.float32) if self.bias is None else to_f32(self.bias)
        if self.scaling == "old":
            bias = bias / twice
        src_scale = ONE if self.attr.src_scale is None else self.attr.src_scale.values[0]
        x = SCALINGS[self.scaling](to_f32(acc), bias, self.scale * twice, src_scale)
        x = apply_post_ops(x, self.attr.post_ops, self.dst_in)
        if self.attr.dst_scale is not None:
            x = x * reciprocal(self.attr.dst_scale.values)
        if self.attr.dst_zp is not None:
            x = x + np.float32(self.attr.dst_zp)
        return store(x, self.dst_dt)


def prepare(
    attr: Attr,
    m: Machine,
    dims: tuple[int, ...],
    axis: int,
    wei_mask: int,
    bias: ArrayLike | None,
    dst_in: ArrayLike | None,
    dst_dt: str,
) -> Output:
    """Check what products have in common, for a destination of `dims` with channels on `axis`.

    `wei_mask` is the mask of a wei_scale for each channel (its bits are dimensions of the weights).
    """
    for name in ("oscale",) if m.divides else ("src_scale", "wei_scale", "dst_scale"):
        if getattr(attr, name) is not None:
            raise ValueError(f"{name}: not known to version {m.version!r}, got {getattr(attr, name)!r}")
    for name, scales in (("src_scale", attr.src_scale), ("dst_scale", attr.dst_scale)):
        if scales is not None and scales.mask != 0:
            raise ValueError(f"{name}: expected mask 0, got {scales.mask}")
    channels = dims[axis]
    along = (-1,) + (1,) * (len(dims) - 1 - axis)
    if m.divides:
        scale = per_channel("wei_scale", attr.wei_scale, channels, wei_mask)
    else:
        scale = per_channel("oscale", attr.oscale, channels, 1 << axis)
    checked_bias = check.bias(bias, channels)
    check.dst_dt(dst_dt)
    if checked_bias is not None and dst_dt != "f32":
        check.no_nan(checked_bias, "bias")
    old = check.dst_in(dst_in, dims, dst_dt, attr.has_sum)
    shaped_bias = None if checked_bias is None else checked_bias.reshape(along)
    return Output(attr, dst_dt, m.scaling, scale.reshape(along), shaped_bias, old)


def per_channel(name: str, scales: Scales | None, channels: int, mask: int) -> F32:
    """Give one scale, or one a channel if it has this `mask`; 1 if there is none; ValueError else."""
    if scales is None:
        return np.ones(1, np.float32)
    if scales.mask not in (0, mask):
        raise ValueError(f"{name}: expected mask 0 or {mask}, got {scales.mask}")
    if scales.mask and scales.values.size != channels:
        raise ValueError(f"{name}: expected {channels} values, one a channel, got {scales.values.size}")
    return scales.values


def reciprocal(scale: F32) -> F32:
    """f32(1/scale): oneDNN divides by multiplying with it.

    Examples
    --------
    >>> x = np.float32([41])
    >>> (x * reciprocal(x)).tolist()
    [0.9999999403953552]
    """
    return ONE / scale


def relu(x: F32, alpha: float) -> F32:
    """``x > 0 ? x : alpha*x``, and never -0 for alpha 0.

    Examples
    --------
    >>> relu(np.float32([-4, 4]), 0.5)
    array([-2.,  4.], dtype=float32)
    """
    return np.where(x > 0, x, np.float32(alpha) * x if alpha else np.float32(0))


def apply_post_ops(x: F32, ops: Sequence[PostOp], dst_in: NDArray[Any] | None, fused_sum: bool = True) -> F32:
    """Post-ops in order: a Sum adds ``scale*dst_in``, an Eltwise makes ``scale*relu(x)``.

    A Sum of scale 1 is one addition; of another scale, one fma, or a product and a sum if it is not fused.

    Examples
    --------
    >>> from qops.onednn import Sum
    >>> x, old = np.float32([-4]), np.int8([3])
    >>> apply_post_ops(x, [Sum(), Eltwise()], old), apply_post_ops(x, [Eltwise(), Sum()], old)
    (array([0.], dtype=float32), array([3.], dtype=float32))
    """
    old = np.zeros((), np.float32) if dst_in is None else to_f32(dst_in)
    for op in ops:
        scale = np.float32(op.scale)
        if isinstance(op, Eltwise):
            x = scale * relu(x, op.alpha)
        elif fused_sum and op.scale != 1:
            x = fma(old, scale, x)
        else:
            x = x + scale * old
    return x
