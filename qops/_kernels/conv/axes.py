"""Convolutions over any number of spatial axes, turned into convolutions over two."""

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import PackedWeights, pack_weights


class Axis(NamedTuple):
    """How the window moves along one spatial axis."""

    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    positions: int


def padding_code(zero_point: int, x: NDArray[Any]) -> int:
    """Give what stands for the zero point in x: its low bits, if it is no code."""
    return int(np.array(zero_point).astype(x.dtype))


class Operands(NamedTuple):
    """Images (N, C, ...) and filters (OC, C / groups, ...), and how the filters move."""

    x: NDArray[Any]
    w: NDArray[Any]
    axes: list[Axis]
    zero_point: int
    """What is subtracted from x, and from its padding, which holds that too."""
    groups: int = 1

    def over_two_axes(self) -> tuple[Images, PackedWeights]:
        """Give what `convolve` takes."""
        pad_value = padding_code(self.zero_point, self.x)
        images, taps, (down, across) = _to_two_axes(self.x, self.w, self.axes, pad_value)
        pads = (down.before, down.after), (across.before, across.after)
        window = Window((down.stride, across.stride), (down.dilation, across.dilation), pads)
        seen = Images(images.transpose(0, 2, 3, 1), window, pad_value, self.zero_point)
        return seen, pack_weights(taps, groups=self.groups)

    def convolved(self, finish: Finish, num_threads: int = 1) -> NDArray[Any]:
        """Convolve as `convolve` does: (N, ..., OC)."""
        images, packed = self.over_two_axes()
        made = convolve(images, packed, None, finish, num_threads=num_threads)
        return made.reshape(len(self.x), *(axis.positions for axis in self.axes), len(self.w))


def _to_two_axes(
    x: NDArray[Any], w: NDArray[Any], axes: list[Axis], fill: int
) -> tuple[NDArray[Any], NDArray[Any], list[Axis]]:
    """Turn a convolution over any number of spatial axes into one over two.

    A single axis gets another axis of length 1 before it. With more than two axes, each position of the window along
    the first axis becomes an image of its own, and the taps along that axis become channels.
    """
    if len(axes) == 1:
        return x[:, :, np.newaxis], w[:, :, np.newaxis], [Axis(1, 1, 1, 0, 0, 1), *axes]
    while len(axes) > 2:
        kernel, stride, dilation, before, after, positions = axes[0]
        x = np.pad(x, [(0, 0), (0, 0), (before, after), *[(0, 0)] * (x.ndim - 3)], constant_values=fill)
        first = np.arange(positions) * stride
        (n, c, length, *rest), taken = x.shape, first[:, np.newaxis] + np.arange(kernel) * dilation
        x = x.reshape(n, c, length, prod(rest))[:, :, taken]  # (N, C, position, tap, all others)
        x = np.moveaxis(x, 2, 1).reshape(n * positions, c * kernel, *rest)
        w = w.reshape(w.shape[0], -1, *w.shape[3:])
        axes = axes[1:]
    return x, w, axes
