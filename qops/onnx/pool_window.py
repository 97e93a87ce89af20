"""The windows of a pool over any number of spatial axes: ONNX's attributes, and the taps of all windows at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple, Self

from qops.checks import choice, integer, integers, shown
from qops.onnx.window import AUTO_PADS

__all__ = ["Axis", "Window", "taps"]

_MOST = 2**31 - 1
"""What ONNX's attributes may be here."""
_MOST_TAPS = 2**20
"""The most taps of a window; each tap is a pass over the result."""


class Axis(NamedTuple):
    """The windows along one axis: of `size` pixels, padded by `before` in front; how many windows there are."""

    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    windows: int

    def places(self, tap: int) -> tuple[slice, slice]:
        """Give which windows have this tap inside of the image, and which pixels it reads."""
        first = tap * self.dilation - self.before  # the pixel that window 0 reads
        low = max(0, -(first // self.stride))
        high = max(low, min(self.windows, (self.size - 1 - first) // self.stride + 1))
        start = low * self.stride + first
        return slice(low, high), slice(start, start + (high - low) * self.stride, self.stride)


class Window(NamedTuple):
    """The attributes of a pool, checked."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]
    auto_pad: str
    ceil_mode: int

    @classmethod
    def of(cls, attributes: Mapping[str, Any], *, is_pool: bool = True) -> Self:
        """Check the attributes of a pool, or of a convolution, whose padding may be larger than a window."""
        kernel_shape, pads = attributes.get("kernel_shape"), attributes.get("pads")
        if not isinstance(kernel_shape, (list, tuple)) or not kernel_shape:
            raise TypeError(f"kernel_shape: expected a list of integers, got {shown(kernel_shape)}")
        count = len(kernel_shape)
        kernel = _integers(kernel_shape, "kernel_shape", count, 1)
        if prod(kernel) > _MOST_TAPS:
            raise ValueError(f"kernel_shape: expected windows of at most {_MOST_TAPS} taps, got {shown(kernel_shape)}")
        how = choice(attributes.get("auto_pad", "NOTSET"), "auto_pad", AUTO_PADS)
        if pads is not None and how != "NOTSET":
            raise ValueError(f"pads: expected none with auto_pad {how!r}, got {shown(pads)}")
        padding = _integers(pads, "pads", 2 * count, 0)
        dilation = _integers(attributes.get("dilations"), "dilations", count, 1)
        for i, (k, d) in enumerate(zip(kernel, dilation, strict=True)):
            if is_pool and max(padding[i], padding[count + i]) > (k - 1) * d:
                raise ValueError(f"pads: expected less than a kernel of {k}, dilation {d}, got {shown(pads)}")
        ceil = integer(attributes.get("ceil_mode", 0), "ceil_mode", 0, 1)
        return cls(kernel, _integers(attributes.get("strides"), "strides", count, 1), dilation, padding, how, ceil)

    def axes(self, sizes: tuple[int, ...], name: str) -> list[Axis]:
        """Give the windows along each axis of an image of these sizes; ValueError if none fits."""
        if len(sizes) != len(self.kernel):
            raise ValueError(f"{name}: expected {len(self.kernel)} spatial axes, as kernel_shape, got {len(sizes)}")
        return [self._axis(i, size, name) for i, size in enumerate(sizes)]

    def _axis(self, i: int, size: int, name: str) -> Axis:
        kernel, stride, dilation = self.kernel[i], self.strides[i], self.dilations[i]
        before, after = self.pads[i], self.pads[len(self.kernel) + i]
        if self.auto_pad.startswith("SAME"):
            before, after = _same(size, (kernel - 1) * dilation + 1, stride, self.auto_pad == "SAME_LOWER")
        room = size + before + after - ((kernel - 1) * dilation + 1)
        if room < 0 or not size:
            window = f"a window of {kernel}, dilation {dilation}, does not fit {size} padded by {before}, {after}"
            raise ValueError(f"{name}, kernel_shape: {window}")
        count = -(-room // stride) + 1 if self.ceil_mode else room // stride + 1
        if (count - 1) * stride >= size + before:  # such a window would begin behind the image
            count -= 1
        return Axis(size, kernel, stride, dilation, before, after, count)


def _same(size: int, reach: int, stride: int, odd_first: bool) -> tuple[int, int]:
    """Give the padding with which there are size / stride windows, rounded up. It may be negative: that cuts pixels.

    Half of it, truncated toward zero, lies in front.
    """
    total = (-(-size // stride) - 1) * stride + reach - size
    before = int((total + odd_first) / 2)
    return before, total - before


def taps(axes: Sequence[Axis]) -> Iterator[tuple[Any, Any]]:
    """Give, tap after tap, the windows that have it inside of the image, and the pixels that it reads."""
    for tap in product(*(range(axis.kernel) for axis in axes)):
        places = [axis.places(i) for axis, i in zip(axes, tap, strict=True)]
        yield (..., *(of_result for of_result, _ in places)), (..., *(of_image for _, of_image in places))


def _integers(values: Any, name: str, count: int, lowest: int) -> tuple[int, ...]:
    """Give an attribute as `count` integers, each at least `lowest`; None stands for that many of `lowest`."""
    return (lowest,) * count if values is None else integers(values, name, count, lowest, _MOST)
