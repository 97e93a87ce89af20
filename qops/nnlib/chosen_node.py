"""Which of nnlib's nodes runs a convolution."""

from __future__ import annotations

from typing import Any

from qops.checks import U8, integers, operand
from qops.nnlib.fused_node import Node
from qops.nnlib.input_supernode import DEPTH, InputSupernode
from qops.nnlib.node_arguments import Arch, scales_of
from qops.nnlib.node_range import Given
from qops.nnlib.supernode import Supernode
from qops.nnlib.supernode3322 import SHAPE, Supernode3322
from qops.qtensor import TensorLike

__all__ = ["convolution_node"]


def convolution_node(
    w: TensorLike, bias: TensorLike, stride: Any, padding: str, ends: Given, channel_scale: Any, arch: Arch
) -> Node:
    """Give the node that runs a convolution with these filters."""
    codes, _, _ = operand(w, "w", U8)
    moves = integers(stride, "stride", 2, 1)
    has_scales = codes.ndim == 4 and scales_of(channel_scale, codes.shape[3]) is not None
    if codes.ndim != 4 or codes.shape[2] > DEPTH or moves[1] > DEPTH or has_scales:
        return Supernode(w, bias, moves, padding, *ends, channel_scale=channel_scale, arch=arch)
    if codes.shape == SHAPE and moves == (1, 1) and ends[0] is not None and ends[1] is not None:
        return Supernode3322(w, bias, padding, ends[0], ends[1])
    return InputSupernode(w, bias, moves, padding, *ends)
