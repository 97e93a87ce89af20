"""What is under a window, as rows of codes that a product of matrices takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from qops._kernels.arrays.axis import Axis

__all__ = ["windows_of"]


def windows_of(
    x: NDArray[Any], axes: list[Axis], pad_value: int, group: int, channels_first: bool
) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Give what is under the window, a row for each of its places, and how many places there are along each axis.

    Parameters
    ----------
    x : ndarray, (N, C, ...)
    axes : list of Axis
        How the window moves.
    pad_value : int
        What padding holds.
    group : int
        How many groups the channels are divided into.
    channels_first : bool
        Whether the taps of each channel stand together; else the channels of each tap do.

    Returns
    -------
    tuple of ndarray and tuple of int
        Rows (group, N * places, K), and the numbers of places.

    Raises
    ------
    ValueError
        A window that does not fit the padded images.

    Examples
    --------
    >>> from qops._kernels.arrays.axis import Axis
    >>> from qops.window_rows import windows_of
    >>> x = np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8)
    >>> windows_of(x, [Axis(2)], 0, 1, False)[0].tolist(), windows_of(x, [Axis(2)], 0, 1, True)[0].tolist()
    ([[[1, 4, 2, 5], [2, 5, 3, 6]]], [[[1, 2, 4, 5], [2, 3, 5, 6]]])
    """
    rank = len(axes)
    padded = np.pad(x, [(0, 0), (0, 0), *((a.before, a.after) for a in axes)], constant_values=pad_value)
    reached: NDArray[Any] = sliding_window_view(padded, [a.span for a in axes], tuple(range(2, 2 + rank)))
    steps = [slice(None, None, step) for step in (*(a.stride for a in axes), *(a.dilation for a in axes))]
    seen = reached[(slice(None), slice(None), *steps)]
    n, c, *sizes = seen.shape
    grouped = seen.reshape(n, group, c // group, *sizes)
    first, last = range(3, 3 + rank), range(3 + rank, 3 + 2 * rank)
    order = (1, 0, *first, 2, *last) if channels_first else (1, 0, *first, *last, 2)
    rows = grouped.transpose(order)
    count = n * int(np.prod(sizes[:rank], dtype=np.int64))
    return rows.reshape(group, count, c // group * int(np.prod(sizes[rank:], dtype=np.int64))), tuple(sizes[:rank])
