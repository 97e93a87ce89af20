"""The windows of a pool over any number of spatial axes: ONNX's attributes, and the taps of all windows at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple, Self

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import integer, integers, shown
from qops.onnx.window import chosen, sized

__all__ = ["Axis", "PoolWindow", "taps"]

_MOST = 2**31 - 1
"""What ONNX's attributes may be here."""
_MOST_TAPS = 2**20
"""The most taps of a window; each tap is a pass over the result."""


class PoolWindow(NamedTuple):
    """The attributes of a pool, checked."""

    auto_pad: str
    ceil_mode: int
    unplaced: list[Axis]
    """The axes of images of no size yet. SAME replaces their padding."""

    @classmethod
    def of(cls, attributes: Mapping[str, Any], *, is_pool: bool = True) -> Self:
        """Check the attributes of a pool, or of a convolution, whose padding may be larger than a window."""
        kernel_shape = attributes.get("kernel_shape")
        if not isinstance(kernel_shape, (list, tuple)) or not kernel_shape:
            raise bad_type("kernel_shape", f"expected a list of integers, got {shown(kernel_shape)}")
        kernel = integers(kernel_shape, "kernel_shape", len(kernel_shape), 1, _MOST)
        if prod(kernel) > _MOST_TAPS:
            raise bad_value("kernel_shape", f"expected windows of at most {_MOST_TAPS} taps, got {shown(kernel_shape)}")
        attributes = {"auto_pad": "NOTSET", "ceil_mode": 0, **attributes}
        axes = chosen(kernel, attributes, _MOST)
        for axis in axes:
            if is_pool and max(axis.before, axis.after) >= axis.span:
                less = f"less than a kernel of {axis.kernel}, dilation {axis.dilation}"
                raise bad_value("pads", f"expected {less}, got {shown(attributes['pads'])}")
        return cls(attributes["auto_pad"], integer(attributes["ceil_mode"], "ceil_mode", 0, 1), axes)

    @property
    def kernel(self) -> tuple[int, ...]:
        """The size of a window."""
        return tuple(axis.kernel for axis in self.unplaced)

    def axes(self, sizes: tuple[int, ...], name: str) -> list[Axis]:
        """Give the windows along each axis of an image of these sizes; ValueError if none fits."""
        count = len(self.unplaced)
        if len(sizes) != count:
            raise bad_value(name, f"expected {count} spatial axes, as kernel_shape, got {len(sizes)}")
        return [self._placed(axis, name) for axis in sized(self.unplaced, sizes, self.auto_pad, cuts=True)]

    def _placed(self, axis: Axis, name: str) -> Axis:
        if not axis.positions or not axis.size:
            window = f"a window of {axis.kernel}, dilation {axis.dilation}"
            place = f"{axis.size} padded by {axis.before}, {axis.after}"
            raise bad_value(f"{name}, kernel_shape", f"{window}, does not fit {place}")
        count = axis.positions + (self.ceil_mode and axis.slack % axis.stride > 0)
        begins_behind = (count - 1) * axis.stride >= axis.size + axis.before
        return axis if count - begins_behind == axis.positions else axis.placed(count - begins_behind)


def taps(axes: Sequence[Axis]) -> Iterator[tuple[Any, Any]]:
    """Give, tap after tap, the windows that have it inside of the image, and the pixels that it reads."""
    for tap in product(*(range(axis.kernel) for axis in axes)):
        places = [axis.seen(i) for axis, i in zip(axes, tap, strict=True)]
        yield (..., *(of_result for of_result, _ in places)), (..., *(of_image for _, of_image in places))
