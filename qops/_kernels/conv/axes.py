"""Convolutions over any number of spatial axes, turned into convolutions over two."""

import sys
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import PackedWeights, pack_weights


class Axis(NamedTuple):
    """How a window moves along one axis of an image of `size` pixels, padded by `before` and `after`."""

    kernel: int
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0
    positions: int = 0
    size: int = 0

    @property
    def reach(self) -> int:
        """The extent of the window in pixels."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def padded(self) -> int:
        """The pixels of the image with its padding."""
        return self.size + self.before + self.after

    @property
    def room(self) -> int:
        """How many pixels the window can move; negative if it does not fit."""
        kernel, _, dilation, before, after, _, size = self
        return size + before + after - (kernel - 1) * dilation - 1

    def same(self, size: int, odd_first: bool = False, cuts: bool = False) -> "Axis":
        """Give the axis with padding for ceil(size / stride) positions; an odd pixel goes after the image, or first.

        If pixels are left over, there is no padding; or, if it `cuts`, it is negative, truncated toward 0 in front.
        """
        kernel, stride, dilation = self[:3]
        total = (-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size
        total = min(total, sys.maxsize - 1 - size)  # what no memory has is less, and then no window fits
        if total < 0 and not cuts:
            total = 0
        half = total + odd_first
        before = half // 2 if half >= 0 else -(-half // 2)
        return Axis(kernel, stride, dilation, before, total - before, 0, size)

    def over(self, size: int) -> "Axis":
        """Give the axis of images of this size."""
        return Axis(*self[:5], 0, size)

    def placed(self, positions: int) -> "Axis":
        """Give the axis with so many positions of the window."""
        return Axis(*self[:5], positions, self.size)

    def seen(self, tap: int) -> tuple[slice, slice]:
        """Give which positions have this tap inside of the image, and which pixels it reads."""
        first = tap * self.dilation - self.before  # the pixel that position 0 reads
        low = max(0, -(first // self.stride))
        high = max(low, min(self.positions, (self.size - 1 - first) // self.stride + 1))
        start = low * self.stride + first
        return slice(low, high), slice(start, start + (high - low) * self.stride, self.stride)


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
        kernel, stride, dilation, before, after, positions, _ = axes[0]
        x = np.pad(x, [(0, 0), (0, 0), (before, after), *[(0, 0)] * (x.ndim - 3)], constant_values=pad_value)
        first = np.arange(positions) * stride
        (n, c, length, *rest), taken = x.shape, first[:, np.newaxis] + np.arange(kernel) * dilation
        x = x.reshape(n, c, length, prod(rest))[:, :, taken]  # (N, C, position, tap, all others)
        x = np.moveaxis(x, 2, 1).reshape(n * positions, c * kernel, *rest)
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
