"""How the windows of average pools move: checks of their size and padding, and the windows that padding cuts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.arrays.window import Window
from qops.checks import integer, shown
from qops.window import TwoInts, padding_of

__all__ = ["cut_windows", "kernel_of", "moves_of"]

Slices = tuple[slice, slice]
_MOST_CODES = {1: 2**21, 2: 2**14}
"""Codes of the largest window for which the reciprocal of 31 bits gives every mean, by the bytes of a code."""


def kernel_of(kernel: Any, dtype: np.dtype[Any]) -> TwoInts:
    """Height and width of a window, checked."""
    if not isinstance(kernel, (tuple, list)) or len(kernel) != 2:
        raise bad_type("kernel", f"expected (height, width), got {shown(kernel)}")
    most = _MOST_CODES[dtype.itemsize]
    taps = integer(kernel[0], "kernel", 1, most), integer(kernel[1], "kernel", 1, most)
    if taps[0] * taps[1] > most:
        raise bad_value("kernel", f"expected windows of at most {most} codes, got {taps[0]} by {taps[1]}")
    return taps


def moves_of(kernel: TwoInts, stride: TwoInts, padding: Any) -> Window | None:
    """How windows move, checked; None for the padding "same", which depends on the size of the image."""
    found = padding_of(padding)
    if found == "SAME":
        return None
    if isinstance(found, str):
        return Window(stride)
    if not all(max(sides) < size for sides, size in zip(found, kernel, strict=True)):
        raise bad_value("padding", f"expected less than the kernel, {kernel}, got {shown(padding)}")
    return Window(stride, padding=found)


def cut_windows(
    window: Window, size: TwoInts, kernel: TwoInts, stride: TwoInts
) -> Iterator[tuple[TwoInts, Slices, Slices]]:
    """Windows cut to the image, those of one size together: their size, the pixels that they read, their places."""
    axes = zip(window.cuts(size, kernel), stride, window.padding, strict=True)
    down, across = ([*_runs(cuts, of_places, step, pads[0])] for (cuts, of_places), step, pads in axes)
    for (height, rows, i), (width, columns, j) in product(down, across):
        yield (height, width), (rows, columns), (i, j)


def _runs(cuts: NDArray[Any], of_places: NDArray[Any], stride: int, before: int) -> Iterator[tuple[int, slice, slice]]:
    """For neighbouring places whose taps on the image are the same: how many taps, which pixels, which places."""
    for cut, taps in enumerate(cuts):
        first, end = np.searchsorted(of_places, [cut, cut + 1]).tolist()
        count, start = int(taps.sum()), first * stride - before + int(taps.argmax())
        yield count, slice(start, start + (end - 1 - first) * stride + count), slice(first, end)
