"""Sliding windows over images: what convolution and pooling share."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops.onednn import _checks as check

__all__ = ["DENSE", "Pair", "Window"]

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Window:
    """How a window moves over an image; all pairs are (vertical, horizontal).

    Parameters
    ----------
    stride : pair of int, optional
        At least 1.
    dilation : pair of int, optional
        Gaps between taps; 0 = dense, as oneDNN counts.
    pad_l, pad_r : pair of int, optional
        Padding before (top, left) and after (bottom, right).

    Raises
    ------
    TypeError, ValueError
        What is not two integers, or too small ones.
    """

    stride: Pair = (1, 1)
    dilation: Pair = (0, 0)
    pad_l: Pair = (0, 0)
    pad_r: Pair = (0, 0)

    def __post_init__(self) -> None:
        for name, low in (("stride", 1), ("dilation", 0), ("pad_l", 0), ("pad_r", 0)):
            object.__setattr__(self, name, check.pair(getattr(self, name), name, low))

    def span(self, kernel: Pair) -> Pair:
        """Give the extent of a window, gaps included."""
        (kh, kw), (dy, dx) = kernel, self.dilation
        return (kh - 1) * (dy + 1) + 1, (kw - 1) * (dx + 1) + 1

    def out_size(self, size: Pair, kernel: Pair) -> Pair:
        """Give how many windows fit; ValueError if none does.

        Examples
        --------
        >>> Window(stride=(2, 2), pad_l=(1, 1), pad_r=(1, 1)).out_size((5, 7), (3, 3))
        (3, 4)
        """
        (top, left), (bottom, right), span = self.pad_l, self.pad_r, self.span(kernel)
        room = size[0] + top + bottom - span[0], size[1] + left + right - span[1]
        if min(room) < 0:
            image = f"the image {size} padded by {self.pad_l} and {self.pad_r}"
            raise ValueError(f"kernel: expected one that fits in {image}, got {kernel} with dilation {self.dilation}")
        return room[0] // self.stride[0] + 1, room[1] // self.stride[1] + 1

    def taps(self, image: NDArray[Any], kernel: Pair, fill: int) -> NDArray[Any]:
        """Give all windows of an image (N, C, H, W) padded with `fill`: (N, C, OH, OW, KH, KW).

        Examples
        --------
        >>> Window(pad_l=(0, 1)).taps(np.arange(4).reshape(1, 1, 2, 2), (2, 2), fill=9)[0, 0, 0].tolist()
        [[[9, 0], [9, 2]], [[0, 1], [2, 3]]]
        """
        pads = [(0, 0), (0, 0), *zip(self.pad_l, self.pad_r, strict=True)]
        padded = np.pad(image, pads, constant_values=fill)
        every = np.lib.stride_tricks.sliding_window_view(padded, self.span(kernel), axis=(2, 3))
        (sy, sx), (dy, dx) = self.stride, self.dilation
        return every[:, :, ::sy, ::sx, :: dy + 1, :: dx + 1]


DENSE = Window()
"""Every place of the image, without padding."""
