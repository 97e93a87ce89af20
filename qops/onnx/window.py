"""The window that slides over the spatial axes: ONNX's attributes."""

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from numpy.typing import NDArray

from qops._kernels.arrays.window import same_padding
from qops._kernels.conv.axes import Axis
from qops.checks import choice, int32, integers, shown

__all__ = ["Moves"]

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
MOST = sys.maxsize
"""What Py_ssize_t can count, which may have 32 bits."""


class Moves(NamedTuple):
    """How the kernel moves along each spatial axis: the attributes of a convolution, checked."""

    auto_pad: str
    group: int
    unplaced: list[Axis]
    """The axes with no positions yet. SAME replaces their padding."""

    @classmethod
    def of(cls, w: NDArray[Any], attributes: Mapping[str, Any]) -> Self:
        """Check the attributes of a convolution with filters w, (M, C / group, kernel), which are all given by name."""
        kernel, count, group = w.shape[2:], w.ndim - 2, int32(attributes["group"], "group", 1)
        kernel_shape, pads = attributes["kernel_shape"], attributes["pads"]
        if count < 1 or len(w) % group:
            raise ValueError(f"w: expected (M, C / group, kernel), M divisible by group {group}, got {w.shape}")
        if kernel_shape is not None and _integers(kernel_shape, "kernel_shape", count, 1) != kernel:
            raise ValueError(f"kernel_shape: expected that of w, {kernel}, got {shown(kernel_shape)}")
        stride = _integers(attributes["strides"], "strides", count, 1)
        dilation = _integers(attributes["dilations"], "dilations", count, 1)
        auto_pad = choice(attributes["auto_pad"], "auto_pad", AUTO_PADS)
        if pads is not None and auto_pad != "NOTSET":
            raise ValueError(f"pads: expected none with auto_pad {auto_pad!r}, got {shown(pads)}")
        if 0 in kernel:
            raise ValueError(f"w: a kernel of 0 in shape {w.shape}")
        padding = _integers(pads, "pads", 2 * count, 0)
        moves = zip(kernel, stride, dilation, padding[:count], padding[count:], strict=True)
        return cls(auto_pad, group, [Axis(*one, 0) for one in moves])

    @property
    def is_same(self) -> bool:
        """Whether the padding depends on the size of the data."""
        return self.auto_pad.startswith("SAME")

    def axes(self, sizes: tuple[int, ...]) -> list[Axis]:
        """Give the window of each axis of data of these sizes; ValueError if the kernel does not fit."""
        found, is_same = [], self.is_same
        for size, (kernel, stride, dilation, before, after, _) in zip(sizes, self.unplaced, strict=True):
            reach = (kernel - 1) * dilation + 1
            if is_same:
                before, after = same_padding(size, kernel, stride, dilation, self.auto_pad == "SAME_LOWER")
            padded = size + before + after
            if padded > MOST:
                raise ValueError(f"x, w: {size} padded by {before}, {after} is more than memory has")
            if padded < reach:
                kernel_text = f"a kernel of {kernel}, dilation {dilation}"
                raise ValueError(f"x, w: {kernel_text}, does not fit {size} padded by {before}, {after}")
            found.append(Axis(kernel, stride, dilation, before, after, (padded - reach) // stride + 1))
        return found


def _integers(values: Any, name: str, count: int, default: int) -> tuple[int, ...]:
    """Give an attribute as `count` integers, each at least `default`. None stands for that many of `default`."""
    return (default,) * count if values is None else integers(values, name, count, default)
