"""Windows over images NHWC in real numbers and in codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.cut import Index
from qops.models.tensor import Values, zero_of
from qops.models.tflite.file import Operator
from qops.models.tflite.site import PADDINGS
from qops.tflite.window import UnsizedWindow

__all__ = ["padding_of", "taps_of", "windows_of"]


def _window_of(op: Operator) -> UnsizedWindow:
    """Give the window that an operator's options tell."""
    o = op.options
    dilation = o.get("DilationHFactor", 1), o.get("DilationWFactor", 1)
    return UnsizedWindow((o["StrideH"], o["StrideW"]), dilation, PADDINGS[o["Padding"]])


def padding_of(op: Operator, shape: tuple[int, ...], taps: tuple[int, int]) -> tuple[int, int]:
    """Give the padding above and to the left of images NHWC of this shape."""
    (top, _), (left, _) = _window_of(op).over(shape, taps).padding
    return top, left


def windows_of(op: Operator, x: Values, taps: tuple[int, int], fill: float = 0.0) -> Values:
    """Give what lies under each window: (N, OH, OW, C, KH, KW)."""
    seen: Values = _window_of(op).over(x.shape, taps).taps(x.transpose(0, 3, 1, 2), taps, fill)
    return seen.transpose(0, 2, 3, 1, 4, 5)


def taps_of(operator: Operator, x: NDArray[Any], size: tuple[int, int], index: Index) -> NDArray[Any]:
    """Give the pixels under one window, (KH, KW, C); padding is real 0."""
    (stride, dilation, _), pads = _window_of(operator), padding_of(operator, x.shape, size)
    zero = zero_of(operator.inputs[0])
    rows, columns = (index[1 + i] * stride[i] - pads[i] + np.arange(size[i]) * dilation[i] for i in range(2))
    inside = ((rows >= 0) & (rows < x.shape[1]))[:, None] & ((columns >= 0) & (columns < x.shape[2]))
    seen = x[index[0], np.clip(rows, 0, x.shape[1] - 1)[:, None], np.clip(columns, 0, x.shape[2] - 1)]
    return np.where(inside[..., None], seen, np.asarray(zero, x.dtype))
