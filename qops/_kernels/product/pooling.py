"""Pools over images of codes: the largest of each window, the sum, and how many there are.

`axis` is that of the height, the width follows it: 2 for (N, C, H, W), 1 for (N, H, W, C).
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.product.window import Window

Pair: TypeAlias = tuple[int, int]


def largest(image: NDArray[Any], kernel: Pair, window: Window, axis: int = 2) -> NDArray[Any]:
    """The largest code of each window; padding is left out, but a window of nothing else gives the lowest code."""
    return window.over(np.maximum, image, kernel, int(np.iinfo(image.dtype).min), axis)


def sums(image: NDArray[Any], kernel: Pair, window: Window, axis: int = 2) -> NDArray[np.int32]:
    """The sum of each window, padding 0."""
    return window.over(np.add, image.astype(np.int32), kernel, 0, axis)


def counts(size: Pair, kernel: Pair, window: Window, *, padding: bool = False) -> NDArray[np.int32]:
    """How many taps of each window lie on an image of this size, or all of them with `padding`: (OH, OW)."""
    return window.over(np.add, np.ones(size, np.int32), kernel, int(padding), 0)
