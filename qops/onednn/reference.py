"""The float steps of oneDNN's reference kernels: plain C++, nothing fused, for sums that are exact."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.onednn.attr import Eltwise
from qops.onednn.cast import F32, ieee, store, to_f32
from qops.onednn.machine import Machine
from qops.onednn.output import SCALINGS, Output, reciprocal, relu

__all__ = ["finish"]


@ieee
def finish(
    acc: NDArray[np.int32], end: Output, m: Machine, scaling: str, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Give the destination: as `Output.finish`, but for how the machine's reference kernels scale.

    A Sum is a product and a sum; s32 passes through float32 even if it is stored as it is.
    """
    attr, x = end.attr, to_f32(acc)
    bias = np.zeros(1, np.float32) if end.bias is None else to_f32(end.bias)
    src_scale = np.ones(1, np.float32) if attr.src_scale is None else attr.src_scale.values
    for name, operand in SCALINGS[scaling](bias, end.scale, src_scale):
        x = x + operand if name == "add" else x * operand
    old = np.zeros(1, np.float32) if end.dst_in is None else to_f32(end.dst_in)
    for op in attr.post_ops:
        scale = np.float32(op.scale)
        x = scale * _relu(x, op.alpha, m) if isinstance(op, Eltwise) else x + scale * old
    if attr.dst_scale is not None:
        x = x / attr.dst_scale.values if m.ref_divides else x * reciprocal(attr.dst_scale.values)
    if attr.dst_zp is not None:
        x = x + np.float32(attr.dst_zp)
    dst = store(x, end.dst_dt)
    if out is None:
        return dst
    np.copyto(out, dst)
    return out


def _relu(x: F32, alpha: float, m: Machine) -> F32:
    return np.where(x > 0, x, np.float32(alpha) * x) if m.ref_minus_0 else relu(x, alpha)
