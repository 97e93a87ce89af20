"""The windows of TensorFlow's convolution and pools."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from qops._kernels.product.window import Window
from qops.tensorflow._checks import one_of

PADDINGS = ("SAME", "VALID")


def placed(
    image: NDArray[Any], kernel: tuple[int, int], stride: tuple[int, int], padding: str
) -> tuple[NDArray[Any], Window]:
    """Give the part of the images (N, H, W, C) that the windows see, and how they move over it.

    SAME: ceil(size / stride) windows, half of what they lack or have too much in front, rounded toward 0. VALID: as
    many as fit; of what they leave over, less 1, half is in front. So from a stride of 4 on, the first pixels may not
    be seen.
    """
    is_valid, pads = one_of(padding, "padding", PADDINGS) == "VALID", []
    for size, taps, step in zip(image.shape[1:3], kernel, stride, strict=True):
        positions = (size - taps + step) // step if is_valid else -(-size // step)
        lacking = (positions - 1) * step + taps - size
        before = int((lacking + is_valid) / 2)
        pads.append((before, 0 if is_valid else max(0, lacking - before)))
    first = [max(0, -before) for before, _ in pads]
    (top, bottom), (left, right) = ((max(0, before), after) for before, after in pads)
    return image[:, first[0] :, first[1] :], Window(stride, padding=((top, bottom), (left, right)))
