"""How windows move over the spatial axes: the attributes that convolutions and pools of ONNX have in common."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from numpy.typing import NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.refusal import bad_value
from qops.checks import choice, int32, integers, shown

__all__ = ["ConvolutionWindow", "chosen"]

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
MOST = sys.maxsize
"""What Py_ssize_t can count, which may have 32 bits."""


class ConvolutionWindow(NamedTuple):
    """How the kernel moves along each spatial axis: the attributes of a convolution, checked."""

    auto_pad: str
    group: int
    unplaced: list[Axis]
    """The axes of images of no size yet. SAME replaces their padding."""

    @classmethod
    def of(cls, w: NDArray[Any], attributes: Mapping[str, Any]) -> Self:
        """Check the attributes of a convolution with filters w, (M, C / group, kernel), which are all given by name."""
        kernel, count, group = w.shape[2:], w.ndim - 2, int32(attributes["group"], "group", 1)
        kernel_shape = attributes["kernel_shape"]
        if count < 1 or len(w) % group:
            raise bad_value("w", f"expected (M, C / group, kernel), M divisible by group {group}, got {w.shape}")
        if kernel_shape is not None and integers(kernel_shape, "kernel_shape", count, 1) != kernel:
            raise bad_value("kernel_shape", f"expected that of w, {kernel}, got {shown(kernel_shape)}")
        if 0 in kernel:
            raise bad_value("w", f"a kernel of 0 in shape {w.shape}")
        return cls(attributes["auto_pad"], group, chosen(kernel, attributes))

    @property
    def is_same(self) -> bool:
        """Whether the padding depends on the size of the data."""
        return self.auto_pad.startswith("SAME")

    def axes(self, sizes: tuple[int, ...]) -> list[Axis]:
        """Give the window of each axis of data of these sizes; ValueError if the kernel does not fit."""
        axes = sized(self.unplaced, sizes, self.auto_pad)
        for axis in axes:
            if not axis.positions or axis.padded > MOST:
                place = f"{axis.size} padded by {axis.before}, {axis.after}"
                if axis.padded > MOST:
                    raise bad_value("x, w", f"{place} is more than memory has")
                raise bad_value("x, w", f"a kernel of {axis.kernel}, dilation {axis.dilation}, does not fit {place}")
        return axes


def chosen(kernel: Sequence[int], attributes: Mapping[str, Any], most: int | None = None) -> list[Axis]:
    """Check the attributes that say how a kernel moves, each at most `most`, and give its axes, without sizes."""
    count, limit = len(kernel), () if most is None else (most,)
    pads, dilations, strides = (attributes.get(name) for name in ("pads", "dilations", "strides"))
    how = choice(attributes["auto_pad"], "auto_pad", AUTO_PADS)
    if pads is not None and how != "NOTSET":
        raise bad_value("pads", f"expected none with auto_pad {how!r}, got {shown(pads)}")
    padding = (0,) * 2 * count if pads is None else integers(pads, "pads", 2 * count, 0, *limit)
    dilation = (1,) * count if dilations is None else integers(dilations, "dilations", count, 1, *limit)
    stride = (1,) * count if strides is None else integers(strides, "strides", count, 1, *limit)
    return [Axis(*one) for one in zip(kernel, stride, dilation, padding[:count], padding[count:], strict=True)]


def sized(axes: Sequence[Axis], sizes: Sequence[int], auto_pad: str, cuts: bool = False) -> list[Axis]:
    """Give axes of images of these sizes. Padding of SAME may be negative if it `cuts`."""
    if auto_pad.startswith("SAME"):
        odd_first = auto_pad == "SAME_LOWER"
        return [axis.same(size, odd_first, cuts) for axis, size in zip(axes, sizes, strict=True)]
    return [axis.over(size) for axis, size in zip(axes, sizes, strict=True)]
