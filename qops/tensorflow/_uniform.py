"""Shared by the Uniform* ops: scales and zero points of tensors or slices, and the change from one scale to another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.tensorflow.ends import NORMAL
from qops._kernels.tensorflow.uniform import Scaling, requantize_sums
from qops.checks import as_array, int32, integer, shown
from qops.fixedpoint import quantize_multiplier
from qops.tensorflow._checks import TYPES, each_slice, numbers

LOWEST, HIGHEST = TYPES["qint32"].lowest, TYPES["qint32"].highest
LARGEST = 2.0**30 - 0.25  # from here on, a quotient of scales becomes the largest multiplier and shift


class Given(NamedTuple):
    """Checked scales and zero points of a caller; lists, once `fit` has seen the shape of the tensor."""

    prefix: str
    scales: Any
    zero_points: Any
    axis: int

    def of(self, i: int) -> tuple[float, int]:
        """Give the scale and the zero point of a slice, after `fit`; there may be one for all slices."""
        i = i if len(self.scales) > 1 else 0
        return self.scales[i], self.zero_points[i]

    def fit(self, shape: tuple[int, ...]) -> Given:
        """Give them for a tensor of this shape; raise ValueError, in TensorFlow's words, if they do not fit."""
        if self.axis == -1 and isinstance(self.scales, float) and isinstance(self.zero_points, int):
            return self._replace(scales=[self.scales], zero_points=[self.zero_points])
        if not -1 <= self.axis < len(shape):
            text = "must be -1 or in range [0, input.rank)"
            raise bad_value(
                f"{self.prefix}quantization_axis", f"{text}, but given {shown(self.axis)}, rank {len(shape)}"
            )
        wanted = shape[self.axis : self.axis + 1] if self.axis >= 0 else ()
        text = "scales and zero_points must be scalar tensors if quantization_axis is -1"
        if self.axis >= 0:
            text = f"scales and zero_points must be a tensor of rank 1 and size {wanted[0]} for axis {self.axis}"
        for name, found in (("scales", np.shape(self.scales)), ("zero_points", np.shape(self.zero_points))):
            if found != wanted:
                raise bad_value(f"{self.prefix}{name}", f"{text}, given shape {found}")
        return self._replace(scales=np.ravel(self.scales).tolist(), zero_points=np.ravel(self.zero_points).tolist())


def given(scales: Any, zero_points: Any, axis: Any, prefix: str = "", positive: str = "") -> Given:
    """Read scales and zero points; ValueError if a scale is not finite or, with these words, not `positive`."""
    axis = integer(axis, f"{prefix}quantization_axis", -(2**63), 2**63 - 1)  # as an attribute of a node holds
    found = numbers(scales, f"{prefix}scales")
    if positive and not (found >= NORMAL if isinstance(found, float) else (found >= NORMAL).all()):
        text = f"{positive} scales elements must be all positive"
        raise bad_value(f"{prefix}scales", f"{text}, 2**-126 at least, got {shown(scales)}")
    return Given(prefix, found, integers(zero_points, f"{prefix}zero_points"), axis)


def integers(values: Any, name: str) -> int | NDArray[np.int64]:
    """Give `values`, an integer that int32 holds or an array of them."""
    if type(values) is int:
        return int32(values, name)
    found = as_array(values, name)
    if isinstance(values, np.ndarray) and found.dtype.kind in "iu":
        for end in (found.min(initial=0), found.max(initial=0)):
            int32(end, name)
        return found.astype(np.int64)
    each = [int32(value, name) for value in np.asarray(values, object).ravel()]
    return np.array(each, np.int64).reshape(found.shape)


def ends(lowest: Any, highest: Any, prefix: str, T: str) -> tuple[int, int]:
    """Give the lowest and highest code; None stands for those of the type. The highest may be below the lowest."""
    row = TYPES[T]
    low = int32(row.lowest if lowest is None else lowest, f"{prefix}quantization_min_val")
    high = int32(row.highest if highest is None else highest, f"{prefix}quantization_max_val")
    return low, high


def scaling(
    factor: float, in_zero: int, zero: int, lowest: int = LOWEST, highest: int = HIGHEST, is_slice: bool = False
) -> Scaling:
    """Give the change from one scale and zero point to others, where `factor` is the quotient of the scales.

    TensorFlow subtracts the zero point of a slice in 64 bits. If `lowest` is above `highest`, all codes are `lowest`.
    """
    multiplier, right_shift = (HIGHEST, 1) if factor >= LARGEST else quantize_multiplier(factor)
    return Scaling(multiplier, right_shift, in_zero, zero, lowest, max(lowest, highest), is_slice)


def of_products(
    lhs: Given, rhs: Given, output: Given, shapes: tuple[tuple[int, ...], ...], axes: tuple[int, int]
) -> tuple[Given, Given, Given]:
    """Give the scales and zero points of the operands and of the result of a product.

    The channels of `rhs` and of the output lie along `axes`. ValueError if TensorFlow refuses, or its process ends.
    """
    if lhs.axis != -1:
        name = f"{lhs.prefix}quantization_axis"
        raise bad_value(name, f"{name} Attr must be -1 (per-tensor), got {shown(lhs.axis)}")
    for given_axis, wanted in zip((rhs, output), axes, strict=True):
        if given_axis.axis not in (-1, wanted):
            name = f"{given_axis.prefix}quantization_axis"
            raise bad_value(name, f"must be -1 (per-tensor) or {wanted} (per-channel), got {shown(given_axis.axis)}")
    if output.axis != -1 == rhs.axis:
        name = f"{output.prefix}quantization_axis"
        raise bad_value(name, f"is {output.axis}, but rhs is per-tensor: TensorFlow's process ends")
    one, other, last = (given.fit(shape) for given, shape in zip((lhs, rhs, output), shapes, strict=True))
    return one, other, last


def codes_of_sums(
    sums: NDArray[np.int32], affines: tuple[Given, Given, Given], lowest: int, highest: int, out: NDArray[np.int32]
) -> None:
    """Write the codes of sums of products, with the channels last, to `out`, which must not overlap the sums."""
    lhs, rhs, last = affines

    def run(i: int, acc: NDArray[Any], codes: NDArray[Any]) -> None:
        scale, zero = last.of(i)
        requantize_sums(acc, scaling(lhs.scales[0] * rhs.of(i)[0] / scale, 0, zero, lowest, highest), codes)

    each_slice(-1 if rhs.axis < 0 else sums.ndim - 1, run, sums, out)
