"""What the layers of the front door add."""

from __future__ import annotations

from typing import Any

import numpy as np

from qops.frontdoor.conv2d import Conv2D
from qops.frontdoor.matmul import MatMul
from qops.models.lanes.sums import NO_MOVES, Sums, convolution, matrix
from qops.window import padding_of

__all__ = ["MADE"]


def _of_front_matrix(op: Any, x_type: str) -> Sums:
    return matrix(op, np.asarray(op.b.data).T, x_type, 0, np.asarray(op.b.zero_point), _integers(op.bias))


def _of_front_convolution(op: Any, x_type: str) -> Sums:
    filters = np.asarray(op.w.data).transpose(3, 2, 0, 1)
    two = [(n, n) if isinstance(n, int) else tuple(n) for n in (op.stride, op.dilation)]
    moves = {**NO_MOVES, "strides": two[0], "dilations": two[1], "group": op.groups}
    padding = padding_of(op.padding)
    if isinstance(padding, str):
        moves["auto_pad"] = {"SAME": "SAME_UPPER", "VALID": "VALID"}[padding]
    else:
        moves["pads"] = [side[end] for end in (0, 1) for side in padding]
    zeros = 0, np.asarray(op.w.zero_point)
    return convolution(op, filters, x_type, zeros, _integers(op.bias), moves, True)


def _integers(bias: Any) -> Any:
    """Give a bias of codes; one of real values has no codes before the scale of the data is known."""
    return bias if bias is not None and np.asarray(bias).dtype.kind in "iu" else None


MADE = {MatMul: _of_front_matrix, Conv2D: _of_front_convolution}
"""Prepared layers, and what reads their sums."""
