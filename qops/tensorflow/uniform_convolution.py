"""UniformQuantizedConvolution: int8 codes, any number of spatial axes, to int32 codes with a scale and zero point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.conv.axes import ImagesAndFilters, padding_code
from qops._kernels.conv.finish import Finish
from qops.checks import S32, check_out, int32, integer, integers, shown
from qops.tensorflow._checks import codes_of, one_of, shape_text
from qops.tensorflow._uniform import Given, codes_of_sums, ends, given, of_products

__all__ = ["uniform_quantized_convolution"]

PADDINGS = ("EXPLICIT", "SAME", "VALID")
TENSORS = {"input": ("batch", "feature"), "kernel": ("output_feature", "input_feature"), "output": ("batch", "feature")}
KEYS = {f"{t}_{n}_dimension": 0 for t in TENSORS for n in TENSORS[t]} | {f"{t}_spatial_dimensions": () for t in TENSORS}


def uniform_quantized_convolution(
    lhs: NDArray[np.int8],
    rhs: NDArray[np.int8],
    lhs_scales: ArrayLike,
    lhs_zero_points: ArrayLike,
    rhs_scales: ArrayLike,
    rhs_zero_points: ArrayLike,
    output_scales: ArrayLike,
    output_zero_points: ArrayLike,
    padding: str,
    output_quantization_min_val: int | None = None,
    output_quantization_max_val: int | None = None,
    window_strides: Sequence[int] = (),
    explicit_padding: Sequence[int] = (),
    lhs_dilation: Sequence[int] = (),
    rhs_dilation: Sequence[int] = (),
    batch_group_count: int = 1,
    feature_group_count: int = 1,
    dimension_numbers: Mapping[str, Any] | None = None,
    lhs_quantization_axis: int = -1,
    rhs_quantization_axis: int = -1,
    output_quantization_axis: int = -1,
    *,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Convolve int8 codes and requantize the sums, as `uniform_requantize` does.

    ``acc = sum of (l - lhs_zero_point) * (r - rhs_zero_point)`` over each window in int32, which wraps; then with the
    factor ``lhs_scale * rhs_scale / output_scale`` in float64::

        code = clamp(saturate_s32(half_up(acc * factor)) + output_zero_point, min_val, max_val)

    The codes of the padding, and of the gaps that `lhs_dilation` makes, are the low 8 bits of lhs_zero_point.

    Parameters
    ----------
    lhs, rhs : ndarray of int8
        Data and filters, of the same number of dimensions, at least 3; their order is `dimension_numbers`.
    lhs_scales, lhs_zero_points : number
        Real size of one code step, above 0, and code of real 0, any int32.
    rhs_scales, rhs_zero_points, output_scales, output_zero_points : number or 1-D array_like
        Real size of one code step and code of real 0; with an axis, one for each output feature.
    padding : {"EXPLICIT", "SAME", "VALID"}
        EXPLICIT takes `explicit_padding`. SAME makes ceil(size / stride) windows; an odd padding is longer at the end.
    output_quantization_min_val, output_quantization_max_val : int, optional
        Codes to clamp to; the ends of int32 if not given. If min_val is above max_val, all codes are min_val.
    window_strides : sequence of int
        Distance of the windows along each spatial axis; 1 if not given.
    explicit_padding : sequence of int
        (before, after) of the first spatial axis, then of the next, and so on.
    lhs_dilation, rhs_dilation : sequence of int
        Distance of the codes, and of the taps of the filters, along each spatial axis; 1 if not given.
    batch_group_count, feature_group_count : int
        The number of groups of the batch and of the features; each group has its share of the output features.
    dimension_numbers : mapping, optional
        ``input_batch_dimension``, ``input_feature_dimension``, ``input_spatial_dimensions``, ``kernel_output_feature_``
        and ``kernel_input_feature_dimension``, ``kernel_spatial_dimensions``, and ``output_`` as for the input. If not
        given: batch or output features, features, then the spatial axes.
    lhs_quantization_axis : int
        -1.
    rhs_quantization_axis, output_quantization_axis : int
        -1: one scale; the axis of the output features: one for each. An output with several needs a `rhs` with several.
    out : ndarray of int32, optional
        Where the codes are written.

    Returns
    -------
    ndarray of int32

    Raises
    ------
    TypeError, ValueError
        Codes of another type; shapes and attributes that do not fit, in TensorFlow's words; scales that are not finite,
        or not above 0 (``scales elements must be all positive``); another number of scales or zero points; other axes
        (``Attr must be -1``); an output of many scales of a `rhs` with one, which ends TensorFlow's process, as do
        filters of no input features; dimension numbers that name an axis twice, which this function does not do; an
        `out` that does not fit or overlaps an operand.

    Notes
    -----
    Source: TensorFlow, ``uniform_quantized_convolution_ops.cc``, ``uniform_quant_ops_params.cc``. The variant of
    float32 by int8 (UniformQuantizedConvolutionHybrid) is not modelled.

    **Hazards.** A zero point need not be an int8 code. But padding takes its low 8 bits, which are another number then,
    so padding is not 0. Here a zero point of 200 gives a padding of -56, and each tap on it adds -256:

    >>> x, w = np.array([[[100, 100]]], np.int8), np.array([[[1, 1]]], np.int8)
    >>> qops.tensorflow.uniform_quantized_convolution(
    ...     x, w, 1.0, 200, 1.0, 0, 1.0, 0, "EXPLICIT", explicit_padding=[1, 1]
    ... ).ravel()
    array([-356, -200, -356], dtype=int32)

    Examples
    --------
    >>> x, w = np.arange(9, dtype=np.int8).reshape(1, 1, 3, 3), np.ones((1, 1, 2, 2), np.int8)
    >>> for padding in ("VALID", "SAME"):
    ...     qops.tensorflow.uniform_quantized_convolution(
    ...         x, w, 1.0, 0, 1.0, 0, 0.5, 3, padding, window_strides=[2, 2]
    ...     ).ravel().tolist()
    [19]
    [19, 17, 29, 19]
    """
    lowest, highest = ends(output_quantization_min_val, output_quantization_max_val, "output_", "qint32")
    left = given(lhs_scales, lhs_zero_points, lhs_quantization_axis, "lhs_", "lhs")
    right = given(rhs_scales, rhs_zero_points, rhs_quantization_axis, "rhs_", "rhs")
    after = given(output_scales, output_zero_points, output_quantization_axis, "output_", "output")
    one_of(padding, "padding", PADDINGS)
    groups = Groups(
        int32(batch_group_count, "batch_group_count", 1),
        int32(feature_group_count, "feature_group_count", 1),
    )
    a, b = codes_of(lhs, "lhs", "qint8"), codes_of(rhs, "rhs", "qint8")
    _check_ranks(a.shape, b.shape)
    orders, spatial = _orders(dimension_numbers, a.ndim), a.ndim - 2
    moves = Spacing(
        _integers(window_strides, "window_strides", spatial, 1),
        _integers(lhs_dilation, "lhs_dilation", spatial, 1),
        _integers(rhs_dilation, "rhs_dilation", spatial, 1),
    )
    pads = _integers(explicit_padding, "explicit_padding", 2 * spatial * (padding == "EXPLICIT"), 0)
    x, w = a.transpose(orders["input"]), b.transpose(orders["kernel"])
    _check_groups(x.shape, w.shape, groups)
    axes = _axes(x.shape[2:], w.shape[2:], padding, pads, moves)
    shape = _in_order((len(x) // groups.batches, len(w), *(axis.positions for axis in axes)), orders["output"])
    shapes = a.shape, b.shape, shape
    affines = of_products(left, right, after, shapes, (orders["kernel"][0], orders["output"][1]))
    if out is not None:
        check_out(out, S32, shape, [a, b])
    codes = np.empty(shape, np.int32) if out is None else out
    if codes.size and not a.size:
        raise bad_value("lhs", f"has no elements, shape {shape_text(a.shape)}")
    if codes.size:
        sums = _sums(_dilated(x, moves.lhs, affines[0]), w, axes, affines, groups)
        codes_of_sums(sums, affines, lowest, highest, np.moveaxis(codes.transpose(orders["output"]), 1, -1))
    return codes


class Groups(NamedTuple):
    """Check the number of groups of the batch and of the features."""

    batches: int
    features: int


class Spacing(NamedTuple):
    """The strides, and the dilation of data and filters, along each spatial axis."""

    strides: tuple[int, ...]
    lhs: tuple[int, ...]
    rhs: tuple[int, ...]


def _integers(values: Sequence[int], name: str, count: int, least: int) -> tuple[int, ...]:
    """Give an attribute of `count` integers; `least` stands for those of an attribute that is not given."""
    is_list = isinstance(values, tuple | list)
    if is_list and len(values) == 0 and least == 1:
        return (1,) * count
    if is_list and len(values) != count:
        raise bad_value(name, f"Size of {name} Attr must be {count}, got {len(values)}")
    return integers(values, name, count, least)


def _check_ranks(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> None:
    """Raise ValueError, in TensorFlow's words, unless both shapes have the same number of dimensions, 3 or more."""
    if len(lhs) != len(rhs):
        texts = f"{shape_text(lhs)}{shape_text(rhs)}"
        raise bad_value("lhs, rhs", f"lhs and rhs must have same dims. Given lhs and rhs of shapes: {texts}")
    if len(lhs) < 3:
        raise bad_value("lhs, rhs", f"lhs and rhs shape dims must be at least 3. Given: {len(lhs)}")


def _in_order(sizes: tuple[int, ...], order: list[int]) -> tuple[int, ...]:
    """Give the shape in which the sizes stand where `order` says."""
    return tuple(sizes[order.index(axis)] for axis in range(len(sizes)))


def _orders(numbers: Mapping[str, Any] | None, rank: int) -> dict[str, list[int]]:
    """Give the axes of data, filters and result in the order (batch or output feature, feature, spatial axes)."""
    if numbers is None:
        return {tensor: list(range(rank)) for tensor in TENSORS}
    if not isinstance(numbers, Mapping) or numbers.keys() - KEYS:
        raise bad_type("dimension_numbers", f"expected a mapping of {', '.join(KEYS)}, got {shown(numbers)}")
    found, given = {}, KEYS | {**numbers}
    for tensor, names in TENSORS.items():
        values = [given[f"{tensor}_{name}_dimension"] for name in names] + [*given[f"{tensor}_spatial_dimensions"]]
        found[tensor] = [integer(value, "dimension_numbers", 0, rank - 1) for value in values]
        if sorted(found[tensor]) != list(range(rank)):
            raise bad_value("dimension_numbers", f"expected each of {rank} axes of the {tensor} once, got {values}")
    return found


def _check_groups(x: tuple[int, ...], w: tuple[int, ...], groups: Groups) -> None:
    """Raise ValueError, in TensorFlow's words, if data (N, C, ..) and filters (OC, IC, ..) do not fit the groups."""
    batches, features = groups
    if x[1] % features:
        text = f"feature_group_count must divide lhs feature dimension size, but {features} does not divide {x[1]}"
        raise bad_value("feature_group_count", f"{text}")
    if w[1] == 0:
        raise bad_value("rhs", "has no input features, by whose number TensorFlow divides; its process ends")
    if x[1] % w[1]:
        text = "rhs input feature dimension must divide lhs feature dimension size"
        raise bad_value("rhs", f"{text}, but {w[1]} does not divide {x[1]}")
    if x[1] // features != w[1]:
        text = (
            "lhs feature dimension size divided by feature_group_count must equal the rhs input feature dimension size"
        )
        raise bad_value("feature_group_count", f"{text}, but {x[1]} / {features} != {w[1]}")
    for name, count in (("feature_group_count", features), ("batch_group_count", batches)):
        if w[0] % count:
            raise bad_value(name, f"rhs output dimension size must be a multiple of {name}, {count}, got {w[0]}")
    if x[0] % batches:
        text = f"batch_group_count must divide lhs batch dimension size, but {batches} does not divide {x[0]}"
        raise bad_value("batch_group_count", f"{text}")


def _axes(
    sizes: tuple[int, ...], kernel: tuple[int, ...], padding: str, pads: tuple[int, ...], moves: Spacing
) -> list[Axis]:
    """Give the window along each axis of the dilated data."""
    found = []
    for i, (size, taps, stride, apart, dilation) in enumerate(zip(sizes, kernel, *moves, strict=True)):
        length = (size - 1) * apart + 1 if size else 0
        axis = Axis(taps, stride, dilation, *(pads[2 * i : 2 * i + 2] if pads else (0, 0)), size=length)
        if padding == "SAME":
            axis = axis.same(length)
        if taps == 0 or axis.slack + stride <= -stride:  # which C divides to a number below 0
            raise bad_value(
                "rhs", f"a kernel of {taps}, dilation {dilation}, does not fit {length} + {axis.before} + {axis.after}"
            )
        found.append(axis)
    return found


def _dilated(x: NDArray[np.int8], apart: tuple[int, ...], lhs: Given) -> NDArray[np.int8]:
    """Give the data (N, C, ..) with zero points between them."""
    if all(step == 1 for step in apart):
        return x
    lengths = ((size - 1) * step + 1 for size, step in zip(x.shape[2:], apart, strict=True))
    wide = np.full((*x.shape[:2], *lengths), padding_code(lhs.zero_points[0], x), np.int8)
    wide[(slice(None), slice(None), *(slice(None, None, step) for step in apart))] = x
    return wide


def _sums(
    x: NDArray[np.int8],
    w: NDArray[np.int8],
    axes: list[Axis],
    affines: tuple[Given, Given, Given],
    groups: Groups,
) -> NDArray[np.int32]:
    """Give the sums, with the output features last. Each part of the batch goes with its own filters."""
    zeros = affines[1].zero_points
    own = zeros[0] if len(zeros) == 1 else np.array(zeros)
    batches, features = groups

    def of(data: NDArray[np.int8], filters: NDArray[np.int8], w_zero_point: Any, count: int) -> NDArray[np.int32]:
        operands = ImagesAndFilters(data, filters, axes, affines[0].zero_points[0], count)
        return operands.convolved(Finish(w_zero_point))

    if batches == 1:
        return of(x, w, own, features)
    each, size, depth, parts = np.broadcast_to(own, len(w)), len(x) // batches, w.shape[1], []
    stops = {len(w) * i // count for count in (batches, features) for i in range(count + 1)}
    for start, stop in pairwise(sorted(stops)):
        image, feature = start * batches // len(w) * size, start * features // len(w) * depth
        data = x[image : image + size, feature : feature + depth]
        parts.append(of(data, w[start:stop], each[start:stop], 1))
    return np.concatenate(parts, -1)
