"""The window that slides over the spatial axes: ONNX's attributes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.conv.axes import Axis
from qops.qtensor import choice, int32

__all__ = ["Attributes", "window"]

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


class Attributes(NamedTuple):
    """The attributes of a convolution, as the caller gives them."""

    auto_pad: str
    dilations: Sequence[int] | None
    group: int
    kernel_shape: Sequence[int] | None
    pads: Sequence[int] | None
    strides: Sequence[int] | None


def window(x: NDArray[Any], w: NDArray[Any], given: Attributes) -> list[Axis]:
    """Give the window of each spatial axis; ValueError for operands or attributes that do not fit."""
    auto_pad, dilations, group, kernel_shape, pads, strides = given
    axes = x.ndim - 2
    if axes < 1:
        raise ValueError(f"x: expected (N, C, one or more spatial axes), got shape {x.shape}")
    if w.ndim != x.ndim or w.shape[0] % group or x.shape[1] != w.shape[1] * group:
        raise ValueError(f"w: expected (M, C / group, kernel) for x {x.shape} and group {group}, got shape {w.shape}")
    kernel = w.shape[2:]
    if kernel_shape is not None and tuple(_integers(kernel_shape, "kernel_shape", axes, 1)) != kernel:
        raise ValueError(f"kernel_shape: expected that of w, {kernel}, got {kernel_shape}")
    stride, dilation = _integers(strides, "strides", axes, 1), _integers(dilations, "dilations", axes, 1)
    choice(auto_pad, "auto_pad", AUTO_PADS)
    if pads is not None and auto_pad != "NOTSET":
        raise ValueError(f"pads: expected none with auto_pad {auto_pad!r}, got {pads}")
    pad = _integers(pads, "pads", 2 * axes, 0)
    found = []
    for size, *(k, s, d), before, after in zip(
        x.shape[2:], kernel, stride, dilation, pad[:axes], pad[axes:], strict=True
    ):
        reach = (k - 1) * d + 1
        if auto_pad.startswith("SAME"):
            needed = max(0, (-(-size // s) - 1) * s + reach - size)
            before = (needed + (auto_pad == "SAME_LOWER")) // 2
            after = needed - before
        if k < 1 or size + before + after < reach:
            raise ValueError(f"w: a kernel of {k}, dilation {d}, does not fit {size} padded by {before}, {after}")
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
