"""Windows over images NHWC, and sums under them: 8 bits by 8 to codes, and 16 by 8 to sums of 48 bits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.weights import PackedWeights
from qops.tflite.arithmetic import wrap

__all__ = ["UnsizedWindow", "finished", "wide_sums"]


class UnsizedWindow(NamedTuple):
    """How a window moves over images of any size; their size makes the padding of SAME."""

    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: str

    def over(self, shape: tuple[int, ...], kernel: tuple[int, int], channels: int | None = None) -> Window:
        """Give the window over images of this shape, NHWC; ValueError if it does not fit, or has other channels."""
        if len(shape) != 4 or channels not in (None, shape[3]):
            raise bad_value("x", f"expected images (N, H, W, {channels or 'C'}), got shape {shape}")
        return Window.named(self.padding, shape[1:3], kernel, self.stride, self.dilation)

    def integers(self, shape: tuple[int, ...], kernel: tuple[int, int]) -> dict[str, int]:
        """Give what a port holds of a window over images of this shape."""
        (top, _), (left, _) = self.over(shape, kernel).padding
        names = "filter_h", "filter_w", "stride_h", "stride_w", "dilation_h", "dilation_w", "pad_top", "pad_left"
        return dict(zip(names, (*kernel, *self.stride, *self.dilation, top, left), strict=True))

    def taps(self, x: NDArray[Any], kernel: tuple[int, int], zero: int) -> NDArray[Any]:
        """Give the codes of all windows over images, (N, OH, OW, taps, C); the padding holds `zero`."""
        found = self.over(x.shape, kernel).taps(x.transpose(0, 3, 1, 2), kernel, zero).transpose(0, 2, 3, 4, 5, 1)
        return found.reshape(*found.shape[:3], -1, x.shape[3])


def wide_sums(
    x: NDArray[np.int16], packed: PackedWeights, window: Window, bias: NDArray[Any] | None, rule: str, threads: int
) -> NDArray[np.int64]:
    """Convolve 16 bits with 8, as two halves of 8: sums of 48 bits, or of 32 that wrap, as the rule takes them."""
    high, low = (x >> 8).astype(np.int8), (x & 255).astype(np.uint8)
    upper, lower = (convolve(Images(half, window), packed, num_threads=threads) for half in (high, low))
    return finished(upper.astype(np.int64) * 256 + lower, bias, rule)


def finished(sums: NDArray[np.int64], bias: NDArray[Any] | None, rule: str) -> NDArray[np.int64]:
    """Add a bias to sums of 48 bits. With a bias of int32, or a rule of 32 bits, sums are int32, which wrap."""
    if bias is None:
        return sums if rule in ("tflite-int64acc", "double-away") else wrap(sums)
    return wrap(sums + bias) if bias.dtype == np.int32 else sums + bias
