"""Windows over images NHWC in real numbers and in codes."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from qops._kernels.arrays.axis import Axis
from qops.models.cut import Index, under_window
from qops.models.tensor import Values, zero_of
from qops.models.tflite.file import Operator
from qops.models.tflite.site import PADDINGS
from qops.tflite.window import UnsizedWindow

__all__ = ["axes_of", "taps_of", "windows_of"]


def _window_of(op: Operator) -> UnsizedWindow:
    """Give the window that an operator's options tell."""
    o = op.options
    dilation = o.get("DilationHFactor", 1), o.get("DilationWFactor", 1)
    return UnsizedWindow((o["StrideH"], o["StrideW"]), dilation, PADDINGS[o["Padding"]])


def windows_of(op: Operator, x: Values, taps: tuple[int, int], fill: float = 0.0) -> Values:
    """Give what lies under each window: (N, OH, OW, C, KH, KW)."""
    seen: Values = _window_of(op).over(x.shape, taps).taps(x.transpose(0, 3, 1, 2), taps, fill)
    return seen.transpose(0, 2, 3, 1, 4, 5)


def axes_of(op: Operator, shape: tuple[int, ...], size: tuple[int, int]) -> list[Axis]:
    """Give how a window of this size moves along the axes of images NHWC of this shape."""
    (stride, dilation, _), padding = _window_of(op), _window_of(op).over(shape, size).padding
    each = zip(size, stride, dilation, padding, shape[1:3], strict=True)
    return [Axis(taps, step, apart, *sides, pixels) for taps, step, apart, sides, pixels in each]


def taps_of(operator: Operator, x: NDArray[Any], size: tuple[int, int], index: Index) -> NDArray[Any]:
    """Give the pixels under one window, (KH, KW, C); padding is real 0."""
    axes = axes_of(operator, x.shape, size)
    return under_window(x[index[0]], axes, index[1:3], 0, zero_of(operator.inputs[0]))
