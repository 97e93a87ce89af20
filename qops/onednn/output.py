"""From the s32 accumulator to the destination: scale and bias, post-ops, destination scale and zero point, store.

Every step is float32 with one rounding an operation; nothing is fused but the sum post-op. The reference kernels have
steps of their own, see `qops.onednn.reference`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.onednn import output as kernels
from qops.onednn import _checks as check
from qops.onednn.attr import Attr, Eltwise, PostOp, Scales
from qops.onednn.cast import DTYPES, F32, ieee, store, to_f32
from qops.onednn.machine import Machine

__all__ = ["Output", "apply_post_ops", "per_channel", "prepare", "reciprocal", "relu"]

ONE = np.float32(1)

Step: TypeAlias = tuple[str, F32 | float]
"""A step of the kernel, with its operand."""

SCALINGS: dict[str, Callable[[F32, F32, F32], list[Step]]] = {
    # bias, oscale or wei_scale, src_scale
    "old": lambda bias, oscale, _: [("add", bias), ("multiply", oscale)],
    "merged": lambda bias, wei, src: [("multiply", src * wei), ("add", bias)],
    "split": lambda bias, wei, src: [("multiply", src), ("multiply", wei), ("add", bias)],
}
"""The order of scale and bias, see `Machine.scaling`."""


@dataclass(frozen=True)
class Output:
    """What is done to the accumulator of a product. All arrays have the channels last."""

    attr: Attr
    dst_dt: str
    scaling: str
    scale: F32
    """oscale in 2.6, wei_scale in 3.x; one, or one a channel."""
    bias: NDArray[Any] | None
    dst_in: NDArray[Any] | None

    @property
    def is_plain(self) -> bool:
        """True if s32 is to be stored as it is."""
        touched = set(self.attr.given) - {"src_zp", "wei_zp"}
        return self.dst_dt == "s32" and self.bias is None and not touched

    @property
    def _is_scaled(self) -> bool:
        return any(scale is not None for scale in (self.attr.oscale, self.attr.src_scale, self.attr.wei_scale))

    @ieee
    def finish(
        self,
        acc: NDArray[Any],
        s32_via_f32: bool = False,
        doubled: bool = False,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Give the destination.

        Parameters
        ----------
        acc : ndarray of int32, or of float32 where the kernel has left s32 already
            Its memory is worked in.
        s32_via_f32 : bool, optional
            Even a plain s32 result passes through float32.
        doubled : bool, optional
            Weights were halved: the scale is twice what was given, and 2.6 halves the bias.
        out : ndarray of `dst_dt`, optional
            Where to write it.

        Returns
        -------
        ndarray of `dst_dt`
        """
        dst: NDArray[Any] = acc
        if not self.is_plain or s32_via_f32 or doubled:
            steps = self._steps(np.float32(2 if doubled else 1))
            room = out if out is not None and out.flags.carray else acc if acc.dtype == DTYPES[self.dst_dt] else None
            dst = store(_made(acc, steps, self.dst_in), self.dst_dt, room)
        if out is None or out is dst:
            return dst
        np.copyto(out, dst)
        return out

    def _steps(self, twice: np.float32) -> list[Step]:
        bias = np.zeros(1, np.float32) if self.bias is None else to_f32(self.bias)
        if self.scaling == "old":
            bias = bias / twice
        src_scale = np.ones(1, np.float32) if self.attr.src_scale is None else self.attr.src_scale.values
        steps: list[Step] = []
        if self.bias is not None or self._is_scaled or twice != 1:
            steps += SCALINGS[self.scaling](bias, self.scale * twice, src_scale)
        steps += _post_steps(self.attr.post_ops)
        if self.attr.dst_scale is not None:
            steps.append(("multiply", reciprocal(self.attr.dst_scale.values)))
        if self.attr.dst_zp is not None:
            steps.append(("add", to_f32(self.attr.dst_zp)))
        return steps


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
    if m.divides:
        scale = per_channel("wei_scale", attr.wei_scale, channels, wei_mask)
    else:
        scale = per_channel("oscale", attr.oscale, channels, 1 << axis)
    checked_bias = check.bias(bias, channels)
    check.dst_dt(dst_dt)
    if checked_bias is not None and dst_dt != "f32":
        check.no_nan(checked_bias, "bias")
    old = check.dst_in(dst_in, dims, dst_dt, attr.has_sum)
    last = None if old is None else np.moveaxis(old, axis, -1)
    return Output(attr, dst_dt, m.scaling, scale, checked_bias, last)


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
    return _made(np.array(x, np.float32, order="C"), _post_steps(ops, fused_sum), dst_in)


def _post_steps(ops: Sequence[PostOp], fused_sum: bool = True) -> list[Step]:
    steps: list[Step] = []
    for op in ops:
        if isinstance(op, Eltwise):
            steps += [("relu", op.alpha), ("multiply", to_f32(op.scale))]
        else:
            steps.append(("fma" if fused_sum and op.scale != 1 else "sum", op.scale))
    return steps


def _made(x: NDArray[Any], steps: list[Step], dst_in: NDArray[Any] | None) -> F32:
    """Make the steps on `x`, channels last, in its memory."""
    old = None if dst_in is None else np.asarray(dst_in, np.float32, order="C")
    return kernels.finish(x, steps, old)
