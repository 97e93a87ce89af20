"""Convolutions over any number of spatial axes, turned into convolutions over two."""

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import PackedWeights, pack_weights


def padding_code(zero_point: int, x: NDArray[Any]) -> int:
    """Give what stands for the zero point in x: its low bits, if it is no code."""
    return int(np.array(zero_point).astype(x.dtype))


def weights(w: NDArray[Any], groups: int, neighbours: bool = False) -> PackedWeights:
    """Pack filters (OC, C / groups, ...) for `planes`: the taps along all axes but the last two become channels."""
    if w.ndim != 4:
        w = w[:, :, np.newaxis] if w.ndim == 3 else w.reshape(len(w), prod(w.shape[1:-2]), *w.shape[-2:])
    return pack_weights(w, groups=groups, neighbours=neighbours)


def window_of(axes: list[Axis]) -> Window:
    """Give the window of two axes, or of one, before which another of length 1 is put."""
    down, across = axes if len(axes) == 2 else (Axis(1), *axes)
    pads = (down.before, down.after), (across.before, across.after)
    return Window((down.stride, across.stride), (down.dilation, across.dilation), pads)


def planes(x: NDArray[Any], axes: list[Axis], pad_value: int) -> tuple[NDArray[Any], Window]:
    """Turn images (N, C, ...) and how a window moves over them into images with two spatial axes, and a window.

    A single axis gets another axis of length 1 before it. With more than two axes, each position of the window along
    the first axis becomes an image of its own, and the taps along that axis become channels.
    """
    if len(axes) == 1:
        return x[:, :, np.newaxis], window_of(axes)
    while len(axes) > 2:
        a = axes[0]
        x = np.pad(x, [(0, 0), (0, 0), (a.before, a.after), *[(0, 0)] * (x.ndim - 3)], constant_values=pad_value)
        first = np.arange(a.positions) * a.stride
        (n, c, length, *rest), taken = x.shape, first[:, np.newaxis] + np.arange(a.kernel) * a.dilation
        x = x.reshape(n, c, length, prod(rest))[:, :, taken]  # (N, C, position, tap, all others)
        x = np.moveaxis(x, 2, 1).reshape(n * a.positions, c * a.kernel, *rest)
        axes = axes[1:]
    return x, window_of(axes)


class ImagesAndFilters(NamedTuple):
    """Images (N, C, ...) and filters (OC, C / groups, ...), and how the filters move."""

    x: NDArray[Any]
    w: NDArray[Any]
    axes: list[Axis]
    zero_point: int
    """It is subtracted from x and from its padding; the padding holds this code."""
    groups: int = 1

    def convolved(self, finish: Finish) -> NDArray[Any]:
        """Convolve as `convolve` does: (N, ..., OC)."""
        pad_value = padding_code(self.zero_point, self.x)
        x, window = planes(self.x, self.axes, pad_value)
        images = Images(x.transpose(0, 2, 3, 1), window, pad_value, self.zero_point)
        made = convolve(images, weights(self.w, self.groups), None, finish)
        return made.reshape(len(self.x), *(axis.positions for axis in self.axes), len(self.w))
