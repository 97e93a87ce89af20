"""From the sums of a product to its destination: scale and bias, post-ops, destination scale and zero point, store.

Each operation is rounded to float32. Only a Sum is fused, into one fma; the reference kernels do not fuse it either,
and on 3.13 they divide where all others multiply by the reciprocal.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import shown
from qops.onednn import _checks as check
from qops.onednn.attr import Attr, Eltwise, PostOp, Scales
from qops.onednn.cast import DTYPES, F32, ieee, to_f32
from qops.onednn.destination import PLAIN, Destination, Epilogue, FloatOp, destination
from qops.onednn.machine import Machine

__all__ = ["Output", "float_ops_of", "per_channel", "prepare", "reciprocal", "relu"]

ONE = np.float32(1)
UNSCALED = np.ones(1, np.float32)
"""The scale of a tensor without one."""
UNSCALED.flags.writeable = False

SCALINGS: dict[str, Callable[[F32, F32, F32], list[FloatOp]]] = {
    # bias, oscale or wei_scale, src_scale
    "old": lambda bias, oscale, _: [("add", bias), ("multiply", oscale)],
    "merged": lambda bias, wei, src: [("multiply", src * wei), ("add", bias)],
    "split": lambda bias, wei, src: [("multiply", src), ("multiply", wei), ("add", bias)],
}
"""The operations of scale and bias, for each order of `Machine.scaling`."""


class Output(NamedTuple):
    """An attribute and a bias, checked. Every array has the channels last."""

    attr: Attr
    machine: Machine
    dt: str
    bias: NDArray[Any] | None

    def epilogue(self, doubled: bool = False, reference: str | None = None) -> Epilogue:
        """Give the epilogue of a kernel.

        `doubled`: the weights were halved, so the scale is twice what was given, and 2.6 halves the bias. `reference`:
        the order of scale and bias of the machine's reference kernel, if that kernel computes. It is plain C++, and
        passes every s32 through float32 too.
        """
        if self.dt == "s32" and self.bias is None and not (self.attr.changes_sums or doubled or reference):
            return PLAIN
        return Epilogue(self.dt, self._float_ops(np.float32(2 if doubled else 1), reference))

    def destination(
        self, shape: tuple[int, ...], out: NDArray[Any] | None, inputs: tuple[object, ...], dst_in: ArrayLike | None
    ) -> Destination:
        """Check where a result of this shape goes; see `qops.onednn.destination.destination`."""
        return destination(shape, self.dt, out, (*inputs, self.bias), dst_in, has_sum=self.attr.has_sum)

    @ieee
    def _float_ops(self, twice: np.float32, reference: str | None) -> list[FloatOp]:
        attr, m, float_ops = self.attr, self.machine, list[FloatOp]()
        if self.bias is not None or twice != 1 or set(attr.given) & {"oscale", "src_scale", "wei_scale"}:
            given = attr.wei_scale if m.divides else attr.oscale
            scale = UNSCALED if given is None else given.values
            src_scale = UNSCALED if attr.src_scale is None else attr.src_scale.values
            addend = np.zeros(1, np.float32) if self.bias is None else to_f32(self.bias)
            addend = addend if m.divides else addend / twice
            float_ops += SCALINGS[reference or m.scaling](addend, scale * twice, src_scale)
        minus_0 = reference is not None and m.ref_minus_0
        float_ops += float_ops_of(attr.post_ops, fused_sum=reference is None, minus_0=minus_0)
        if attr.dst_scale is not None:
            divisor = attr.dst_scale.values
            float_ops.append(("divide", divisor) if reference and m.ref_divides else ("multiply", reciprocal(divisor)))
        return float_ops if attr.dst_zp is None else [*float_ops, ("add", float(attr.dst_zp))]


def prepare(
    attr: Attr, m: Machine, dt: str, bias: ArrayLike | None, channels: int, *, axis: int = 1, wei_mask: int = 1
) -> Output:
    """Check what products have in common, for a destination of type `dt` with so many channels on `axis`.

    `wei_mask` is the mask of a wei_scale for each channel: its bits are dimensions of the weights.
    """
    check.choice(dt, "dst_dt", DTYPES)
    for name in attr.given:
        if name in (("oscale",) if m.divides else ("src_scale", "wei_scale", "dst_scale")):
            raise bad_value(name, f"not known to version {m.version!r}, got {shown(getattr(attr, name))}")
        if name in ("src_scale", "dst_scale") and getattr(attr, name).mask != 0:
            raise bad_value(name, f"expected mask 0, got {getattr(attr, name).mask}")
    if m.divides:
        per_channel("wei_scale", attr.wei_scale, channels, wei_mask)
    else:
        per_channel("oscale", attr.oscale, channels, 1 << axis)
    checked_bias = check.bias(bias, channels)
    if checked_bias is not None and dt != "f32":
        check.no_nan(checked_bias, "bias")
    return Output(attr, m, dt, checked_bias)


def per_channel(name: str, scales: Scales | None, channels: int, mask: int) -> F32:
    """Give the scales of channels: one, or one for each channel if their mask is `mask`. Without scales it is 1."""
    if scales is None:
        return UNSCALED
    if scales.mask not in (0, mask):
        raise bad_value(name, f"expected mask 0 or {mask}, got {scales.mask}")
    if scales.mask and scales.values.size != channels:
        raise bad_value(name, f"expected {channels} values, one for each channel, got {scales.values.size}")
    return scales.values


def reciprocal(scale: F32) -> F32:
    """Give f32(1/scale), with which oneDNN multiplies in place of a division.

    Examples
    --------
    >>> from qops.onednn.output import reciprocal
    >>> x = np.array([41], np.float32)
    >>> (x * reciprocal(x)).tolist()
    [0.9999999403953552]
    """
    return ONE / scale


def relu(alpha: float, minus_0: bool = False) -> FloatOp:
    """Give the operation ``x > 0 ? x : alpha*x``. With an alpha of 0, negative x become -0 if `minus_0`, else 0."""
    return ("leak" if alpha or minus_0 else "relu", alpha)


def float_ops_of(ops: Sequence[PostOp], fused_sum: bool = True, minus_0: bool = False) -> list[FloatOp]:
    """Give the operations of post-ops in their order: a Sum adds ``scale*dst_in``, an Eltwise makes ``scale*relu(x)``.

    A Sum of scale 1 is one addition. One of another scale is an fma, or a product and a sum if it is not fused.

    Examples
    --------
    >>> from qops.onednn.output import float_ops_of
    >>> float_ops_of([qops.onednn.Sum(0.5), qops.onednn.Eltwise(alpha=0.25, scale=2.0)])
    [('fma', 0.5), ('leak', 0.25), ('multiply', 2.0)]
    """
    float_ops: list[FloatOp] = []
    for op in ops:
        if isinstance(op, Eltwise):
            float_ops += [relu(op.alpha, minus_0), ("multiply", op.scale)]
        else:
            float_ops.append(("fma" if fused_sum and op.scale != 1 else "sum", op.scale))
    return float_ops
