"""What the layers of the front door add."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.frontdoor.conv2d import Conv2D
from qops.frontdoor.matmul import MatMul
from qops.models.lanes.sums import NO_MOVES, Sums, convolution, matrix
from qops.qtensor import QTensor
from qops.window import padding_of

__all__ = ["KINDS", "read"]

KINDS = (MatMul, Conv2D)
"""The prepared layers that are read."""
_FAR = 2.0**62


def read(op: Any, x_type: str, x: QTensor | None) -> Sums:
    """Give the sums of a layer.

    Parameters
    ----------
    op : MatMul or Conv2D
    x_type : str
        The type of the data.
    x : QTensor or None
        The data with their range, which says their zero point and what one code of the bias is.

    Returns
    -------
    Sums
    """
    w = op.b if isinstance(op, MatMul) else op.w
    made = _of_matrix(op, x_type) if isinstance(op, MatMul) else _of_convolution(op, x_type)
    bias, zero = op.bias, None if x is None else np.unique(x.zero_point)
    if bias is not None and np.asarray(bias).dtype.kind == "f":
        made = replace(made, is_real_bias=x is None)
        bias = None if x is None else _codes_of(bias, x, w)
    if zero is not None and zero.size == 1:
        return replace(made, bias=bias, x_zero=int(zero[0]))
    return replace(made, bias=bias, any_zero=True)


def _codes_of(bias: Any, x: QTensor, w: QTensor) -> NDArray[np.int64]:
    """Give a bias of real values in steps of the accumulator, the smallest if the data have several ranges."""
    step = np.min(x.scale) * np.broadcast_to(np.ravel(w.scale), np.shape(bias))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.rint(np.asarray(bias, np.float64) / step)
    return np.clip(np.nan_to_num(found, posinf=_FAR, neginf=-_FAR), -_FAR, _FAR).astype(np.int64)


def _of_matrix(op: Any, x_type: str) -> Sums:
    return matrix(op, np.asarray(op.b.data).T, x_type, 0, np.asarray(op.b.zero_point), None)


def _of_convolution(op: Any, x_type: str) -> Sums:
    filters = np.asarray(op.w.data).transpose(3, 2, 0, 1)
    two = [(n, n) if isinstance(n, int) else tuple(n) for n in (op.stride, op.dilation)]
    moves = {**NO_MOVES, "strides": two[0], "dilations": two[1], "group": op.groups}
    padding = padding_of(op.padding)
    if isinstance(padding, str):
        moves["auto_pad"] = {"SAME": "SAME_UPPER", "VALID": "VALID"}[padding]
    else:
        moves["pads"] = [side[end] for end in (0, 1) for side in padding]
    return convolution(op, filters, x_type, (0, np.asarray(op.w.zero_point)), None, moves, True)
