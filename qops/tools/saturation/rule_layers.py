"""What the prepared ops of `qops.rules` add, as the library of their rule does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from qops.models.lanes.sums import NO_MOVES, Sums, convolution, matrix
from qops.rules import Accumulate, AccumulateConv

__all__ = ["KINDS", "PLACES", "read"]

KINDS = (Accumulate, AccumulateConv)
"""The prepared ops that are read."""
PLACES = {
    "exact": ("exact", "s32"),
    "fbgemm-avx2": ("fbgemm", "avx2"),
    "fbgemm-vnni": ("fbgemm", "vnni"),
    "x86-vnni": ("x86", "vnni"),
    "onednn-avx2": ("onednn", "avx2"),
    "openvino-avx2": ("openvino", "avx2"),
    "openvino-gemm-avx2": ("openvino_gemm", "avx2"),
}
"""The runtime and the machine of each rule."""


def read(op: Any, x_type: str) -> Sums:
    """Give the sums of an op.

    Parameters
    ----------
    op : Accumulate or AccumulateConv
    x_type : str
        The type of the data.

    Returns
    -------
    Sums
    """
    w, zeros = np.asarray(op.w), (op.x_zero_point, op.w_zero_point)
    if isinstance(op, Accumulate):
        made = matrix(op, w.T, x_type, *zeros, op.bias)
    else:
        moves = {**NO_MOVES, "strides": op.strides, "dilations": op.dilations, "pads": op.pads, "group": op.groups}
        made = convolution(op, w, x_type, zeros, op.bias, moves, False)
    return replace(made, is_wide=np.dtype(op.dtype).itemsize == 8)
