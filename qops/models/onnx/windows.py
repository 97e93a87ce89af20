"""Windows over images of any number of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qops._kernels.arrays.axis import Axis
from qops.models.onnx.file import Node
from qops.models.onnx.shapes import bounded
from qops.models.tensor import Values
from qops.onnx.pool_window import PoolWindow

__all__ = ["grid_of", "shape_of_windows", "window_of"]


_FARTHEST = 2**20  # the most pixels of padding, strides and dilations


def window_of(node: Node, kernel: Sequence[int] | None = None) -> PoolWindow:
    """Give the window of a pool or a convolution.

    Parameters
    ----------
    node : Node
        A node with the attributes of a window.
    kernel : sequence of int, optional
        The sizes of the window where the weights tell them.

    Returns
    -------
    PoolWindow

    Raises
    ------
    ValueError, TypeError
        Attributes that do not fit each other, or are too large.
    """
    moves = {name: node.get(name) for name in ("strides", "dilations", "pads")}
    if any(n > _FARTHEST for part in moves.values() for n in part or ()):
        raise ValueError("its strides, dilations or pads are too large")
    how = node.get("auto_pad", "NOTSET")
    moves |= {"kernel_shape": list(kernel or node.get("kernel_shape") or ()), "auto_pad": how}
    moves |= {"ceil_mode": node.get("ceil_mode", 0)} | ({"pads": None} if how != "NOTSET" else {})
    return PoolWindow.of(moves, is_pool=kernel is None)


def grid_of(node: Node, x: Values, kernel: Sequence[int] | None = None) -> list[Axis]:
    """Give the axes of the windows over an image; ValueError if there are too many."""
    axes = window_of(node, kernel).axes(x.shape[2:], "X")
    bounded([*x.shape[:2], *(axis.positions for axis in axes)])
    return axes


def shape_of_windows(node: Node, x: tuple[int, ...], *more: Any) -> tuple[int, ...]:
    """Give the shape of the result of a pool, or of a convolution, whose weights are the second input."""
    image = np.broadcast_to(np.float64(0), x)
    axes = grid_of(node, image, more[0][2:]) if more else grid_of(node, image)
    return (x[0], more[0][0] if more else x[1], *(axis.positions for axis in axes))
