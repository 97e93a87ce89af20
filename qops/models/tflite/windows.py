"""Windows over images NHWC in real numbers and in codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from qops.models.cut import Index
from qops.models.tensor import Values, zero_of
from qops.models.tflite.file import Operator
from qops.models.tflite.site import PADDINGS
from qops.tflite.window import Moves

__all__ = ["taps_of", "windows_of"]


def _with_padding(op: Operator, x: Values, size: tuple[int, int], fill: float) -> Values:
    """Give images NHWC with the padding of a window of this size, dilation included."""
    if PADDINGS[op.options["Padding"]] == "VALID":
        return x
    strides = op.options["StrideH"], op.options["StrideW"]
    total = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(x.shape[1:3], strides, size, strict=True)]
    return np.pad(x, [(0, 0), *((t // 2, t - t // 2) for t in total), (0, 0)], constant_values=fill)


def windows_of(op: Operator, x: Values, taps: tuple[int, int], fill: float = 0.0) -> Values:
    """Give what lies under each window: (N, OH, OW, C, KH, KW)."""
    o = op.options
    dilation = o.get("DilationHFactor", 1), o.get("DilationWFactor", 1)
    size = (taps[0] - 1) * dilation[0] + 1, (taps[1] - 1) * dilation[1] + 1
    seen = sliding_window_view(_with_padding(op, x, size, fill), size, (1, 2))
    return seen[:, :: o["StrideH"], :: o["StrideW"], :, :: dilation[0], :: dilation[1]]


def taps_of(operator: Operator, x: NDArray[Any], size: tuple[int, int], index: Index) -> NDArray[Any]:
    """Give the pixels under one window, (KH, KW, C); padding is real 0."""
    o = operator.options
    dilation = o.get("DilationHFactor", 1), o.get("DilationWFactor", 1)
    stride = o["StrideH"], o["StrideW"]
    pads = Moves(stride, dilation, PADDINGS[o["Padding"]]).over(x.shape, size).padding
    zero = zero_of(operator.inputs[0])
    rows, columns = (index[1 + i] * stride[i] - pads[i][0] + np.arange(size[i]) * dilation[i] for i in range(2))
    inside = ((rows >= 0) & (rows < x.shape[1]))[:, None] & ((columns >= 0) & (columns < x.shape[2]))
    seen = x[index[0], np.clip(rows, 0, x.shape[1] - 1)[:, None], np.clip(columns, 0, x.shape[2] - 1)]
    return np.where(inside[..., None], seen, np.asarray(zero, x.dtype))
