"""The window that slides over the spatial axes: ONNX's attributes."""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from qops._kernels.conv.axes import Axis
from qops.qtensor import choice, int32

__all__ = ["Moves", "typed"]

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
MOST = sys.maxsize
"""What Py_ssize_t can count, which may have 32 bits."""


class Moves(NamedTuple):
    """How the kernel moves along each spatial axis: the attributes of a convolution, checked."""

    auto_pad: str
    dilations: list[int]
    kernel: tuple[int, ...]
    pads: list[int]
    strides: list[int]

    @classmethod
    def of(
        cls,
        w: NDArray[Any],
        auto_pad: str,
        dilations: Sequence[int] | None,
        kernel_shape: Sequence[int] | None,
        pads: Sequence[int] | None,
        strides: Sequence[int] | None,
    ) -> Self:
        """Check attributes for the filters w, (M, C / group, kernel)."""
        kernel, axes = w.shape[2:], w.ndim - 2
        if kernel_shape is not None and tuple(_integers(kernel_shape, "kernel_shape", axes, 1)) != kernel:
            raise ValueError(f"kernel_shape: expected that of w, {kernel}, got {kernel_shape}")
        stride, dilation = _integers(strides, "strides", axes, 1), _integers(dilations, "dilations", axes, 1)
        auto_pad = choice(auto_pad, "auto_pad", AUTO_PADS)
        if pads is not None and auto_pad != "NOTSET":
            raise ValueError(f"pads: expected none with auto_pad {auto_pad!r}, got {pads}")
        if 0 in kernel:
            raise ValueError(f"w: a kernel of 0 in shape {w.shape}")
        return cls(auto_pad, dilation, kernel, _integers(pads, "pads", 2 * axes, 0), stride)

    def fixed(self) -> list[Axis]:
        """Give the axes without positions if they are the same for data of all sizes, as those of SAME are not."""
        if self.auto_pad.startswith("SAME"):
            return []
        pads, count = self.pads, len(self.kernel)
        return [
            Axis(k, s, d, before, after, 0)
            for k, s, d, before, after in zip(
                self.kernel, self.strides, self.dilations, pads[:count], pads[count:], strict=True
            )
        ]

    def axes(self, sizes: tuple[int, ...]) -> list[Axis]:
        """Give the window of each axis of data of these sizes; ValueError if the kernel does not fit."""
        found, count = [], len(sizes)
        for i, (size, k, s, d) in enumerate(zip(sizes, self.kernel, self.strides, self.dilations, strict=True)):
            before, after, reach = self.pads[i], self.pads[i + count], (k - 1) * d + 1
            if self.auto_pad.startswith("SAME"):
                needed = max(0, (-(-size // s) - 1) * s + reach - size)
                before = (needed + (self.auto_pad == "SAME_LOWER")) // 2
                after = needed - before
            if size + before + after > MOST:
                raise ValueError(f"x, w: {size} padded by {before}, {after} is more than memory has")
            if size + before + after < reach:
                raise ValueError(
                    f"x, w: a kernel of {k}, dilation {d}, does not fit {size} padded by {before}, {after}"
                )
            found.append(Axis(k, s, d, before, after, (size + before + after - reach) // s + 1))
        return found


def _integers(values: Sequence[int] | None, name: str, count: int, default: int) -> list[int]:
    """Give an attribute as `count` integers, each at least `default`. None stands for that many of `default`."""
    if values is None:
        return [default] * count
    is_list = (isinstance(values, np.ndarray) and values.ndim == 1) or isinstance(values, Sequence)
    if isinstance(values, str) or not is_list or len(values) != count:
        raise ValueError(f"{name}: expected {count} integers, got {values!r:.80}")
    return [int32(value, name, default) for value in values]


def typed(values: Sequence[int] | None) -> tuple[int, ...] | None:
    """Give an attribute that has been checked as one types it."""
    return None if values is None else tuple(int(value) for value in values)
