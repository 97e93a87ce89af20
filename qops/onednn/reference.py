"""The float steps of oneDNN's reference kernels: plain C++, nothing fused, for sums that are exact."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.onednn.attr import Eltwise
from qops.onednn.cast import F32, ieee, store, to_f32
from qops.onednn.machine import Machine
from qops.onednn.output import ONE, SCALINGS, Output, reciprocal, relu

__all__ = ["finish"]


@ieee
def finish(acc: NDArray[np.int32], out: Output, m: Machine, scaling: str) -> NDArray[Any]:
    """Give the destination: as `Output.finish`, but for how the machine's reference kernels scale.

    A Sum is a product and a sum; s32 passes through float32 even if it is stored as it is.
    """
    attr = out.attr
    bias = np.zeros(1, np.float32) if out.bias is None else to_f32(out.bias)
    src_scale = ONE if attr.src_scale is None else attr.src_scale.values[0]
    x = SCALINGS[scaling](to_f32(acc), bias, out.scale, src_scale)
    old = np.zeros(1, np.float32) if out.dst_in is None else to_f32(out.dst_in)
    for op in attr.post_ops:
        scale = np.float32(op.scale)
        x = scale * _relu(x, op.alpha, m) if isinstance(op, Eltwise) else x + scale * old
    if attr.dst_scale is not None:
        x = x / attr.dst_scale.values if m.ref_divides else x * reciprocal(attr.dst_scale.values)
    if attr.dst_zp is not None:
        x = x + np.float32(attr.dst_zp)
    return store(x, out.dst_dt)


def _relu(x: F32, alpha: float, m: Machine) -> F32:
    return np.where(x > 0, x, np.float32(alpha) * x) if m.ref_minus_0 else relu(x, alpha)
