"""Images of one channel, as BRGEMM convolutions of 3.13 read them on AVX-512 without VNNI.

These treat the taps of the kernel as channels, so taps form pairs, and pairs saturate. Which taps form pairs depends on
their order:

"rows"      Two neighbours in a row of the kernel are a pair, if the result has at most 4 columns, or if there are
            gaps between the rows of the kernel.
"columns"   Two neighbours among all taps, column by column, are a pair, in all other cases.
""          Taps are not read as channels if there are gaps between the columns of the kernel, or only one tap.

All of this was found in the results of 3.13.2. Padding adds 0 to a pair. Not modelled: if a result takes only some
hundred multiplications, oneDNN uses a direct kernel, which forms no pairs.
"""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays import window as kernels
from qops.onednn.window import DENSE, Window

__all__ = ["NARROW", "Order", "order_of", "unrolled_image", "unrolled_weights", "unrolled_window"]

Order: TypeAlias = Literal["", "rows", "columns"]
NARROW = 4  # the most columns of a result for which the order is "rows"


def order_of(taps: tuple[int, int], window: Window, columns: int) -> Order:
    """Tell the order in which taps are read, for a result of so many columns."""
    if window.dilation[1] or taps == (1, 1):
        return ""
    return "rows" if window.dilation[0] or columns <= NARROW else "columns"


def unrolled_weights(weights: NDArray[np.int8], order: Order) -> NDArray[np.int8]:
    """Give weights (G, O, 1, KH, KW) with taps as channels: (G, O, KW, KH, 1) or (G, O, KW * KH, 1, 1)."""
    rows = weights.transpose(0, 1, 4, 3, 2)
    return rows if order == "rows" else rows.reshape(*rows.shape[:2], rows.shape[2] * rows.shape[3], 1, 1)


def unrolled_image(image: NDArray[Any], taps: tuple[int, int], window: Window, order: Order) -> NDArray[Any]:
    """Give an image (N, G, H, W), padded with 0, with taps as channels: (N, G * taps, H or OH, OW)."""
    if order == "rows":
        across = Window((1, window.stride[1]), pad_l=window.pad_l, pad_r=window.pad_r)
        read = across.moves.taps(image, (1, taps[1]), 0)
    else:
        read = window.moves.taps(image, taps, 0)
    channels = read.transpose(0, 1, 5, 4, 2, 3)  # N, G, KW, 1 or KH, H or OH, OW
    return channels.reshape(len(image), -1, *channels.shape[4:]) if image.size else channels[:, :, 0, 0]


def unrolled_window(window: Window, order: Order) -> kernels.Window:
    """Give the window that slides over such an image: down its rows, or nowhere."""
    if order == "":
        return window.moves
    return kernels.Window((window.stride[0], 1), (window.dilation[0] + 1, 1)) if order == "rows" else DENSE.moves
