"""What the Uniform* ops share: scales and zero points, one or one a slice, and the step from one scale to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.integer_stage import multiply_shift
from qops._kernels.core.walk import BLOCK, buffered
from qops._kernels.tensorflow import uniform as kernels
from qops._kernels.tensorflow.ends import NORMAL
from qops.qtensor import integer
from qops.rules import quantize_multiplier
from qops.tensorflow._checks import TYPES, each_slice, numbers

LOWEST, HIGHEST = -(2**31), 2**31 - 1
ALL_BYTES = np.arange(256, dtype=np.uint8)


class Affine(NamedTuple):
    """The scales and zero points of a tensor, one or one a slice."""

    axis: int
    scales: list[float]
    zero_points: list[int]

    def of(self, i: int) -> tuple[float, int]:
        """Give those of a slice."""
        i = i if len(self.scales) > 1 else 0
        return self.scales[i], self.zero_points[i]


class Given(NamedTuple):
    """Scales and zero points as the caller gave them, read; they are checked when the array is there."""

    names: tuple[str, str, str]
    scales: NDArray[Any]
    zero_points: NDArray[Any]
    axis: int

    def fit(self, shape: tuple[int, ...]) -> Affine:
        """Give them for a tensor of this shape; ValueError, in TensorFlow's words, if they do not fit."""
        if not -1 <= self.axis < len(shape):
            text = "must be -1 or in range [0, input.rank)"
            raise ValueError(f"{self.names[2]}: {text}, but given {self.axis!r:.80}, rank {len(shape)}")
        wanted = shape[self.axis : self.axis + 1] if self.axis >= 0 else ()
        text = "scales and zero_points must be scalar tensors if quantization_axis is -1"
        if self.axis >= 0:
            text = f"scales and zero_points must be a tensor of rank 1 and size {wanted[0]} for axis {self.axis}"
        for name, values in zip(self.names, (self.scales, self.zero_points), strict=False):
            if values.shape != wanted:
                raise ValueError(f"{name}: {text}, given shape {values.shape}")
        return Affine(self.axis, self.scales.reshape(-1).tolist(), self.zero_points.reshape(-1).tolist())


def given(scales: Any, zero_points: Any, axis: Any, prefix: str = "", positive: str = "") -> Given:
    """Read scales and zero points; ValueError if a scale is not finite or, with these words, not `positive`."""
    names = (f"{prefix}scales", f"{prefix}zero_points", f"{prefix}quantization_axis")
    axis = integer(axis, names[2])
    read = np.asarray(numbers(scales, names[0]))
    if positive and not (read >= NORMAL).all():
        text = f"{positive} scales elements must be all positive"
        raise ValueError(f"{names[0]}: {text}, 2**-126 at least, got {scales!r:.80}")
    return Given(names, read, integers(zero_points, names[1]), axis)


def integers(values: Any, name: str) -> NDArray[np.int64]:
    """Give integers that int32 holds, as an array of the shape they have."""
    if type(values) is int:
        return np.array(integer(values, name, LOWEST, HIGHEST))
    found = [integer(value, name, LOWEST, HIGHEST) for value in np.ravel(np.asarray(values, object))]
    return np.array(found, np.int64).reshape(np.shape(values))


def ends(lowest: Any, highest: Any, prefix: str, T: str) -> tuple[int, int]:
    """Give the lowest and highest code, those of the type where None."""
    row = TYPES[T]
    names = (f"{prefix}quantization_min_val", f"{prefix}quantization_max_val")
    low = row.lowest if lowest is None else integer(lowest, names[0], LOWEST, HIGHEST)
    high = row.highest if highest is None else integer(highest, names[1], LOWEST, HIGHEST)
    if low > high:
        raise ValueError(f"{names[1] if lowest is None else names[0]}: {names[0]} {low} is above {names[1]} {high}")
    return low, high


def stretches(x: NDArray[Any], out: NDArray[Any]) -> Iterator[tuple[NDArray[Any], ...]]:
    """Give the arrays whole, if they are small, or in native stretches that stay in the cache."""
    if x.size <= BLOCK and x.dtype.isnative:
        yield x, out
    else:
        yield from buffered((x, out))


class Requantizer:
    """The step from one scale and zero point to others, as a multiplier and a shift, rounded half up once."""

    def __init__(self, factor: float, in_zero: int, out_zero: int, lowest: int, highest: int):
        self.multiplier, shift = quantize_multiplier(factor, "single")
        self.right_shift = 31 - shift
        self.in_zero, self.after = in_zero, (out_zero, lowest, highest)

    def accumulators(self, acc: NDArray[np.int32], out: NDArray[Any]) -> None:
        """Write the codes of int32 accumulators."""
        for part, codes in stretches(acc, out):
            whole = out.dtype == np.int32 and self.after == (0, LOWEST, HIGHEST)  # nothing is left to do
            scaled = codes if whole else np.empty(part.shape, np.int32)
            multiply_shift(part, self.multiplier, self.right_shift, "half_up", scaled)
            if not whole:
                kernels.with_zero_point(scaled, *self.after, codes)

    def codes(self, q: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the codes of int8 or int32 codes."""
        if q.itemsize == 1:
            table = np.empty(256, out.dtype)
            near = ALL_BYTES.view(q.dtype).astype(np.int64) - self.in_zero
            self.accumulators(near.astype(np.int32), table)
            kernels.recode(q, table, out)
            return
        for part, codes in stretches(q, out):
            moved = np.empty(part.shape, np.int32)
            kernels.less_zero_point(part, self.in_zero, moved)
            self.accumulators(moved, codes)


def of_products(
    lhs: Given, rhs: Given, output: Given, shapes: tuple[tuple[int, ...], ...], axes: tuple[int, int]
) -> tuple[Affine, Affine, Affine]:
    """Give the scales and zero points of a product's operands and result, whose channels lie along these `axes`.

    ValueError where TensorFlow does not do it, or its process ends.
    """
    if lhs.axis != -1:
        raise ValueError(f"{lhs.names[2]}: lhs_quantization_axis Attr must be -1 (per-tensor), got {lhs.axis!r:.80}")
    for given_axis, wanted in zip((rhs, output), axes, strict=True):
        if given_axis.axis not in (-1, wanted):
            name = given_axis.names[2]
            raise ValueError(f"{name}: must be -1 (per-tensor) or {wanted} (per-channel), got {given_axis.axis!r:.80}")
    if output.axis != -1 == rhs.axis:
        raise ValueError(f"{output.names[2]}: is {output.axis}, but rhs is per-tensor: TensorFlow's process ends")
    one, other, last = (given.fit(shape) for given, shape in zip((lhs, rhs, output), shapes, strict=True))
    return one, other, last


def requantize_sums(
    sums: NDArray[np.int32], affines: tuple[Affine, Affine, Affine], lowest: int, highest: int, out: NDArray[np.int32]
) -> None:
    """Write the codes of sums of products, the channels last."""
    lhs, rhs, last = affines

    def run(i: int, acc: NDArray[Any], codes: NDArray[Any]) -> None:
        scale, zero = last.of(i)
        Requantizer(lhs.scales[0] * rhs.of(i)[0] / scale, 0, zero, lowest, highest).accumulators(acc, codes)

    each_slice(-1 if rhs.axis < 0 else sums.ndim - 1, run, sums, out)
