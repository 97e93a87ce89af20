"""Convolutions whose padding adds nothing though no code need stand for 0."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.product.convolution import convolve
from qops._kernels.product.window import Window


def convolve_in_zeros(
    image: NDArray[np.uint8],
    weights: NDArray[Any],
    zero: int,
    w_zero: int,
    window: Window,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Sum up ``(image - zero) * (weights - w_zero)``: uint8 (N, H, W, C) and (OC, C, KH, KW).

    A zero that is no code cannot stand in the padding, so what is beyond the nearest code is a sum of its own.
    """
    code = min(max(zero, 0), 255)
    sums = convolve(image, weights, out, window=window, pad_value=code, zero_point=code, w_zero_point=w_zero)
    if zero != code:
        ones = np.ones((1, *image.shape[1:]), np.uint8)
        rest = np.int64(zero - code) * convolve(ones, weights, window=window, w_zero_point=w_zero)
        sums -= rest.astype(np.int32)
    return sums
