"""UniformQuantizedAdd and UniformQuantizedClipByValue: int32 codes with scales and zero points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.clamp import clamp
from qops._kernels.tensorflow import uniform as kernels
from qops._kernels.tensorflow.uniform import Scaling
from qops.checks import S32, broadcast_shape, output
from qops.tensorflow._checks import codes_of, each_slice
from qops.tensorflow._uniform import HIGHEST, LOWEST, Given, ends, given, integers, scaling

__all__ = ["uniform_quantized_add", "uniform_quantized_clip_by_value"]


def uniform_quantized_add(
    lhs: NDArray[np.int32],
    rhs: NDArray[np.int32],
    lhs_scales: ArrayLike,
    lhs_zero_points: ArrayLike,
    rhs_scales: ArrayLike,
    rhs_zero_points: ArrayLike,
    output_scales: ArrayLike,
    output_zero_points: ArrayLike,
    output_quantization_min_val: int | None = None,
    output_quantization_max_val: int | None = None,
    lhs_quantization_axis: int = -1,
    rhs_quantization_axis: int = -1,
    output_quantization_axis: int = -1,
    *,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Add int32 codes: both are requantized to the scale of the output, as by `uniform_requantize`, and summed.

    ``clamp(scaled(lhs) + scaled(rhs) + output_zero_point, min_val, max_val)``, where each term is rounded half up and
    saturated to int32. Codes before that, and terms after it, are rounded to float32: both lose low bits above 2**24,
    and a float32 of 2**31 becomes -2**31. The sum wraps in int32.

    Parameters
    ----------
    lhs, rhs : ndarray of int32
        Codes; shapes that broadcast.
    lhs_scales, lhs_zero_points, rhs_scales, rhs_zero_points : number or 1-D array_like
        Real size of one code step, above 0, and code of real 0, any int32; with an axis, one per slice.
    output_scales, output_zero_points : number or 1-D array_like
        Scale and zero point of the output.
    output_quantization_min_val, output_quantization_max_val : int, optional
        Codes that the result is clamped to; the ends of int32 if not given. If min_val is above max_val, codes below
        min_val become min_val, and all others max_val.
    lhs_quantization_axis, rhs_quantization_axis, output_quantization_axis : int
        Axis along which each slice has its own scale; -1 is none. If the output has an axis, `lhs` must have one, and
        the axes of the operands must be the same axis of the output.
    out : ndarray of int32, optional
        Where the codes are written; of the broadcast shape.

    Returns
    -------
    ndarray of int32

    Raises
    ------
    TypeError, ValueError
        Codes of another type; shapes that do not broadcast (``Cannot Add tensors of shapes``); scales that are not
        finite, or not above 0 (``lhs/rhs/output scales elements must be all positive``); another number of scales or
        zero points than slices; axes that do not fit (``quantization_axis must be -1 or within [0, dims)``); an output
        with an axis beside an `lhs` without one, which ends TensorFlow's process, or beside a `rhs` without one that
        broadcasts, where TensorFlow takes another axis; an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``uniform_quantized_add_op.cc``, ``uniform_quant_ops/requantize.h``, ``math_utils.h``.

    **Hazards.** Codes are read as float32. Above 2**24 they lose low bits, and the highest codes become the lowest:

    >>> qops.tensorflow.uniform_quantized_add(
    ...     np.array([2**24 + 1, 2**31 - 1], np.int32), np.int32(0), 1.0, 0, 1.0, 0, 1.0, 0
    ... )
    array([   16777216, -2147483648], dtype=int32)

    A sum that int32 does not hold wraps, though each term saturates:

    >>> qops.tensorflow.uniform_quantized_add(
    ...     np.array([2**30], np.int32), np.array([2**30], np.int32), 1.0, 0, 1.0, 0, 1.0, 0
    ... )
    array([-2147483648], dtype=int32)

    Each term is rounded by itself, and ties go up: 0.5 + 0.5 is 2.

    >>> qops.tensorflow.uniform_quantized_add(np.array([1], np.int32), np.array([1], np.int32), 0.5, 0, 0.5, 0, 1.0, 0)
    array([2], dtype=int32)

    Examples
    --------
    >>> qops.tensorflow.uniform_quantized_add(
    ...     np.array([[10, 20]], np.int32), np.array([[5], [7]], np.int32), 0.5, 0, 0.25, 3, 0.125, 100
    ... )
    array([[144, 184],
           [148, 188]], dtype=int32)
    """
    lowest, highest = ends(output_quantization_min_val, output_quantization_max_val, "output_", "qint32")
    positive = "lhs/rhs/output"
    left = given(lhs_scales, lhs_zero_points, lhs_quantization_axis, "lhs_", positive)
    right = given(rhs_scales, rhs_zero_points, rhs_quantization_axis, "rhs_", positive)
    after = given(output_scales, output_zero_points, output_quantization_axis, "output_", positive)
    a, b = codes_of(lhs, "lhs", "qint32"), codes_of(rhs, "rhs", "qint32")
    one, other = left.fit(a.shape), right.fit(b.shape)
    shape = _sum_shape(a, b)
    last = after.fit(shape)
    _check_axes(one, other, last, a, b, shape)
    out = output(out, S32, a, b, "lhs, rhs")
    bounds = (lowest, highest) if lowest <= highest else (LOWEST, HIGHEST)
    axes = [
        affine.axis + out.ndim - x.ndim if affine.axis >= 0 else last.axis
        for affine, x in ((one, a), (other, b), (last, out))
    ]
    for at, x, y, part in _cells({*axes} - {-1}, a, b, out):
        of_x, of_y = (
            _to_sum(affine, at.get(axis, 0), last) for affine, axis in zip((one, other), axes[:2], strict=True)
        )
        kernels.add(x, of_x, y, of_y, last.of(at.get(last.axis, 0))[1], *bounds, part)
    if lowest > highest:
        out[...] = np.where(out < lowest, lowest, highest)
    return out


def _to_sum(affine: Given, i: int, last: Given) -> Scaling:
    """Give the change from the scale of slice i of an operand to the scale of the output."""
    i = 0 if affine.axis >= 0 and len(affine.scales) == 1 else i
    scale, zero = affine.of(i)
    return scaling(scale / last.of(i)[0], zero, 0, is_slice=max(affine.axis, last.axis) >= 0)


def _sum_shape(a: NDArray[Any], b: NDArray[Any]) -> tuple[int, ...]:
    if a.shape == b.shape:
        return a.shape
    try:
        return broadcast_shape(a.shape, b.shape)
    except ValueError:
        raise bad_value("lhs, rhs", f"Cannot Add tensors of shapes: {a.shape} {b.shape}") from None


def _check_axes(
    one: Given, other: Given, last: Given, a: NDArray[Any], b: NDArray[Any], shape: tuple[int, ...]
) -> None:
    """Raise ValueError for axes that TensorFlow refuses, or with which its process ends."""
    if last.axis < 0:
        return
    if one.axis < 0:
        text = "per-axis output of a per-tensor lhs ends TensorFlow's process"
        raise bad_value("lhs_quantization_axis", f"{text}, got -1 beside {last.axis}")
    for name, affine, q in (("lhs", one, a), ("rhs", other, b)):
        axis = affine.axis if affine.axis >= 0 else last.axis
        if q.ndim - axis != len(shape) - last.axis:
            text = f"If {name} and output is both per-axis quantized, the quantization axis must match"
            raise bad_value(f"{name}_quantization_axis", f"{text}, got {affine.axis} and {last.axis}")
    if other.axis < 0 and b.shape[last.axis] != len(last.scales):
        raise bad_value("rhs_quantization_axis", f"is -1, and axis {last.axis} of rhs, shape {b.shape}, broadcasts")


def _cells(
    axes: set[int], a: NDArray[Any], b: NDArray[Any], out: NDArray[Any]
) -> Iterator[tuple[dict[int, int], NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Give the parts of the arrays at each place along the axes of the result, and that place."""
    if not axes:
        yield {}, a, b, out
        return
    wide, other = np.broadcast_to(a, out.shape), np.broadcast_to(b, out.shape)
    for place in np.ndindex(*(out.shape[axis] for axis in axes)):
        at = dict(zip(axes, place, strict=True))
        cell = tuple(slice(at[axis], at[axis] + 1) if axis in at else slice(None) for axis in range(out.ndim))
        yield at, wide[cell], other[cell], out[cell]


def uniform_quantized_clip_by_value(
    operand: NDArray[np.int32],
    min: ArrayLike,
    max: ArrayLike,
    scales: ArrayLike,
    zero_points: ArrayLike,
    quantization_axis: int = -1,
    *,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Clamp int32 codes: ``minimum(maximum(operand, min), max)``.

    Parameters
    ----------
    operand : ndarray of int32
        Codes of any shape.
    min, max : int or 1-D array_like of int
        Codes, of the same scale; with an axis, one per slice.
    scales : float or 1-D array_like of float
        One, or one per slice. Their values have no effect.
    zero_points : int or 1-D array_like of int
        As many as scales. Their values have no effect.
    quantization_axis : int
        Axis of the slices; -1 is none.
    out : ndarray of int32, optional
        Where the codes are written; of the shape of `operand`.

    Returns
    -------
    ndarray of int32

    Raises
    ------
    TypeError, ValueError
        Codes of another type; another number of scales, zero points, min or max than slices (``Input min shape must be
        same as scales/zero_points``); numbers that int32 does not hold; an axis beyond the dimensions; an `out` that
        does not fit.

    Notes
    -----
    Source: TensorFlow, ``uniform_quantized_clip_by_value_op.cc``.

    **Hazards.** min and max are codes, not real values. If min is above max, every code becomes max:

    >>> qops.tensorflow.uniform_quantized_clip_by_value(np.array([-9, 0, 9], np.int32), 5, 1, 1.0, 0)
    array([1, 1, 1], dtype=int32)

    Examples
    --------
    >>> qops.tensorflow.uniform_quantized_clip_by_value(
    ...     np.array([[-9, 9], [-9, 9]], np.int32), [-5, 0], [5, 4], [1.0, 1.0], [0, 0], 0
    ... )
    array([[-5,  5],
           [ 0,  4]], dtype=int32)
    """
    read = given(scales, zero_points, quantization_axis)
    low, high = integers(min, "min"), integers(max, "max")
    x = codes_of(operand, "operand", "qint32")
    affine = read.fit(x.shape)
    for name, found in (("min", low), ("max", high)):
        if np.shape(found) != np.shape(read.scales):
            text = f"Input {name} shape must be same as scales/zero_points"
            raise bad_value(name, f"{text}. Given shapes {np.shape(found)} and {np.shape(read.scales)}")
    out = output(out, S32, x)
    lows, highs = np.ravel(low).tolist(), np.ravel(high).tolist()
    each_slice(affine.axis, lambda i, codes, part: clamp(codes, lows[i], highs[i], part), x, out)
    return out
