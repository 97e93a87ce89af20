"""From the s32 accumulator to the destination: scale and bias, post-ops, destination scale and zero point, store.

Every step is float32 with one rounding an operation; nothing is fused but the sum post-op. The reference kernels fuse
not even that, and divide where the others multiply by the reciprocal.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.onednn import steps as kernels
from qops.onednn import _checks as check
from qops.onednn.attr import Attr, Eltwise, PostOp, Scales
from qops.onednn.cast import F32, ieee, put, store, to_f32
from qops.onednn.machine import Machine

__all__ = ["Output", "apply_post_ops", "made", "per_channel", "prepare", "reciprocal", "relu"]

ONE = np.float32(1)
UNSCALED = np.ones(1, np.float32)
UNSCALED.flags.writeable = False

Step: TypeAlias = tuple[str, F32 | float]
"""A step of the kernel, with its operand."""

SCALINGS: dict[str, Callable[[F32, F32, F32], list[Step]]] = {
    # bias, oscale or wei_scale, src_scale
    "old": lambda bias, oscale, _: [("add", bias), ("multiply", oscale)],
    "merged": lambda bias, wei, src: [("multiply", src * wei), ("add", bias)],
    "split": lambda bias, wei, src: [("multiply", src), ("multiply", wei), ("add", bias)],
}
"""The order of scale and bias, see `Machine.scaling`."""


class Output(NamedTuple):
    """What is done to the accumulator of a product. All arrays have the channels last."""

    attr: Attr
    machine: Machine
    dst_dt: str
    scale: F32
    """oscale in 2.6, wei_scale in 3.x; one, or one a channel."""
    bias: NDArray[Any] | None
    dst_in: NDArray[Any] | None

    @property
    def is_plain(self) -> bool:
        """True if s32 is to be stored as it is."""
        return self.dst_dt == "s32" and self.bias is None and not self.attr.changes_sums

    @ieee
    def finish(
        self,
        acc: NDArray[Any],
        s32_via_f32: bool = False,
        doubled: bool = False,
        *,
        reference: str | None = None,
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
        reference : str, optional
            The steps are those of the machine's reference kernel, plain C++, with this order of scale and bias. It
            passes every s32 through float32 too.
        out : ndarray of `dst_dt`, optional
            Where to write it.

        Returns
        -------
        ndarray of `dst_dt`
        """
        if self.is_plain and not (s32_via_f32 or doubled or reference):
            return put(acc, out)
        x = made(acc, self._steps(np.float32(2 if doubled else 1), reference), self.dst_in)
        return store(x, self.dst_dt, acc if out is None and self.dst_dt == "s32" and acc.dtype == np.int32 else out)

    def _steps(self, twice: np.float32, reference: str | None) -> list[Step]:
        attr, m = self.attr, self.machine
        bias = np.zeros(1, np.float32) if self.bias is None else to_f32(self.bias)
        if not m.divides:
            bias = bias / twice
        src_scale = np.ones(1, np.float32) if attr.src_scale is None else attr.src_scale.values
        steps: list[Step] = []
        if self.bias is not None or twice != 1 or set(attr.given) & {"oscale", "src_scale", "wei_scale"}:
            steps += SCALINGS[reference or m.scaling](bias, self.scale * twice, src_scale)
        minus_0 = reference is not None and m.ref_minus_0
        steps += _post_steps(attr.post_ops, fused_sum=reference is None, minus_0=minus_0)
        if attr.dst_scale is not None:
            divisor = attr.dst_scale.values
            steps.append(("divide", divisor) if reference and m.ref_divides else ("multiply", reciprocal(divisor)))
        if attr.dst_zp is not None:
            steps.append(("add", to_f32(attr.dst_zp)))
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
    for name in attr.given:
        if name in (("oscale",) if m.divides else ("src_scale", "wei_scale", "dst_scale")):
            raise ValueError(f"{name}: not known to version {m.version!r}, got {getattr(attr, name)!r}")
        if name in ("src_scale", "dst_scale") and getattr(attr, name).mask != 0:
            raise ValueError(f"{name}: expected mask 0, got {getattr(attr, name).mask}")
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
    return Output(attr, m, dst_dt, scale, checked_bias, last)


def per_channel(name: str, scales: Scales | None, channels: int, mask: int) -> F32:
    """Give one scale, or one a channel if it has this `mask`; 1 if there is none; ValueError else."""
    if scales is None:
        return UNSCALED
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


def relu(alpha: float, minus_0: bool = False) -> Step:
    """Give the step ``x > 0 ? x : alpha*x``; with alpha 0 it makes -0 of negative numbers only if `minus_0`."""
    return ("leak" if alpha or minus_0 else "relu", alpha)


def apply_post_ops(x: F32, ops: Sequence[PostOp], dst_in: NDArray[Any] | None, fused_sum: bool = True) -> F32:
    """Post-ops in order, in the memory of `x`: a Sum adds ``scale*dst_in``, an Eltwise makes ``scale*relu(x)``.

    A Sum of scale 1 is one addition; of another scale, one fma, or a product and a sum if it is not fused.

    Examples
    --------
    >>> from qops.onednn import Sum
    >>> old = np.int8([3])
    >>> [apply_post_ops(np.float32([-4]), ops, old).tolist() for ops in ([Sum(), Eltwise()], [Eltwise(), Sum()])]
    [[0.0], [3.0]]
    """
    return made(x, _post_steps(ops, fused_sum), dst_in)


def _post_steps(ops: Sequence[PostOp], fused_sum: bool = True, minus_0: bool = False) -> list[Step]:
    steps: list[Step] = []
    for op in ops:
        if isinstance(op, Eltwise):
            steps += [relu(op.alpha, minus_0), ("multiply", to_f32(op.scale))]
        else:
            steps.append(("fma" if fused_sum and op.scale != 1 else "sum", op.scale))
    return steps


def made(x: NDArray[Any], steps: list[Step], dst_in: NDArray[Any] | None = None) -> F32:
    """Make the steps on `x`, channels last, in its memory."""
    old = None if dst_in is None else np.asarray(dst_in, np.float32, order="C")
    return kernels.finish(np.asarray(x, order="C"), steps, old)
