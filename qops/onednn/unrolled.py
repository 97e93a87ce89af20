"""Images of one channel, as the BRGEMM convolution of 3.13 reads them without VNNI: taps take the place of channels.

So it is taps that form pairs, and saturate. In the order "rows" those of each row of the kernel, from the left on, with
images of at most 4 columns of results or gaps between rows; else, "columns", all taps, column by column. With gaps
between columns, "", no taps. Read off the results of 3.13.2; what falls on padding adds nothing to a pair. Not
modelled: of a few results (some hundred multiplications in all) the direct kernel makes no pairs.
"""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops.onednn.window import Window

__all__ = ["Order", "order_of", "unrolled_image", "unrolled_weights", "unrolled_window"]

Order: TypeAlias = Literal["", "rows", "columns"]
NARROW = 4  # columns of results, up to which rows are unrolled


def order_of(taps: tuple[int, int], window: Window, size: tuple[int, int]) -> Order:
    """Tell the order in which taps are read, for an image of `size`."""
    if window.dilation[1] or taps == (1, 1):
        return ""
    columns = window.out_size(size, taps)[1]
    return "rows" if window.dilation[0] or columns <= NARROW else "columns"


def unrolled_weights(weights: NDArray[np.int8], order: Order) -> NDArray[np.int8]:
    """Weights (G, O, 1, KH, KW) with taps as channels: (G, O, KW, KH, 1) or (G, O, KW * KH, 1, 1)."""
    rows = weights.transpose(0, 1, 4, 3, 2)
    return rows if order == "rows" else rows.reshape(*rows.shape[:2], rows.shape[2] * rows.shape[3], 1, 1)


def unrolled_image(image: NDArray[Any], taps: tuple[int, int], window: Window, order: Order) -> NDArray[Any]:
    """The image (N, G, H, W) that goes with them, its padding zeros: (N, G * channels, H or OH, OW)."""
    kh, kw = taps
    if order == "rows":
        across = Window((1, window.stride[1]), pad_l=window.pad_l, pad_r=window.pad_r)
        read = across.taps(image, (1, kw), 0)
    else:
        read = window.taps(image, (kh, kw), 0)
    channels = read.transpose(0, 1, 5, 4, 2, 3)  # N, G, KW, 1 or KH, H or OH, OW
    return channels.reshape(len(image), -1, *channels.shape[4:]) if image.size else channels[:, :, 0, 0]


def unrolled_window(window: Window, order: Order) -> Window:
    """The window that is left to do: down the rows, or none."""
    return Window((window.stride[0], 1), (window.dilation[0], 0)) if order == "rows" else Window()
