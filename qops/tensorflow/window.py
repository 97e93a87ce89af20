"""The windows of TensorFlow's convolution and pools."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.window import Window
from qops.tensorflow._checks import one_of

__all__ = ["PADDINGS", "placed"]

PADDINGS = ("SAME", "VALID")


def placed(
    image: NDArray[Any], kernel: tuple[int, int], stride: tuple[int, int], padding: str
) -> tuple[NDArray[Any], Window]:
    """Give the part of the images (N, H, W, C) that the windows cover, and the window over it.

    SAME: there are ceil(size / stride) windows. Half of the missing pixels, truncated, are padding in front; if there
    are too many pixels, half of those are skipped in front. VALID: there are as many windows as fit. If n pixels are
    left over, (n - 1) / 2 of them are skipped in front, so from a stride of 4 on the first pixels may not be read.
    """
    is_valid, pads = one_of(padding, "padding", PADDINGS) == "VALID", []
    for size, taps, step in zip(image.shape[1:3], kernel, stride, strict=True):
        if is_valid:
            over = Axis(taps, step).over(size).slack % step
            pads.append((-max(0, (over - 1) // 2), 0))
        else:
            axis = Axis(taps, step).same(size, cuts=True)
            pads.append((axis.before, max(0, axis.after)))
    first = [max(0, -before) for before, _ in pads]
    (top, bottom), (left, right) = ((max(0, before), after) for before, after in pads)
    return image[:, first[0] :, first[1] :], Window(stride, padding=((top, bottom), (left, right)))
