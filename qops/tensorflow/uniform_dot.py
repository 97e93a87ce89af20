"""UniformQuantizedDot: the product of two matrices of int8 codes, as int32 codes with a scale and zero point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.gemm.gemm import product
from qops._kernels.tensorflow import uniform as kernels
from qops.checks import S32, check_out
from qops.tensorflow._checks import codes_of, shape_text
from qops.tensorflow._uniform import Given, codes_of_sums, ends, given, of_products

__all__ = ["uniform_quantized_dot"]

LARGEST_EXACT = 2**24  # every integer up to it is a float32


def uniform_quantized_dot(
    lhs: NDArray[np.int8],
    rhs: NDArray[np.int8],
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
    """Multiply matrices of int8 codes and requantize the sums, as `uniform_requantize` does.

    ``acc = sum of (l - lhs_zero_point) * (r - rhs_zero_point)`` in int32, which wraps. If `rhs` has one scale, each
    partial sum is rounded to float32, in the order of the products, and becomes -2**31 if int32 does not hold it. Then,
    with the factor ``lhs_scale * rhs_scale / output_scale`` in float64::

        code = clamp(saturate_s32(half_up(acc * factor)) + output_zero_point, min_val, max_val)

    Parameters
    ----------
    lhs, rhs : ndarray of int8
        Matrices (M, K) and (K, N).
    lhs_scales, lhs_zero_points : number
        Real size of one code step, above 0, and code of real 0, any int32.
    rhs_scales, rhs_zero_points, output_scales, output_zero_points : number or 1-D array_like
        Real size of one code step and code of real 0; with an axis, one per column.
    output_quantization_min_val, output_quantization_max_val : int, optional
        Codes that the result is clamped to; the ends of int32 if not given. If min_val is above max_val, all codes are
        min_val.
    lhs_quantization_axis : int
        -1.
    rhs_quantization_axis, output_quantization_axis : int
        -1: one scale; 1: one per column. If the output has one per column, `rhs` must have so too.
    out : ndarray of int32, optional
        Where the codes are written; of shape (M, N).

    Returns
    -------
    ndarray of int32, (M, N)

    Raises
    ------
    TypeError, ValueError
        Codes of another type; shapes that are not such matrices (``rank must be 2``, ``must be equal``); scales that
        are not finite, or not above 0 (``scales elements must be all positive``); another number of scales or zero
        points; other axes (``Attr must be -1``); an output with a scale per column and a `rhs` with one scale, which
        ends TensorFlow's process; an `out` that does not fit or overlaps an operand.

    Notes
    -----
    Source: TensorFlow, ``uniform_quantized_dot_ops.cc``, ``uniform_quant_ops/math_utils.h``. The variant of float32 by
    int8 (UniformQuantizedDotHybrid) is not modelled.

    **Hazards.** The result has 32 bits and the scale of the output. If that is much finer than the scale of the sums,
    codes saturate, and then wrap when the zero point is added:

    >>> a, b = np.full((1, 4), 127, np.int8), np.full((4, 1), 127, np.int8)
    >>> [qops.tensorflow.uniform_quantized_dot(a, b, 1.0, 0, 1.0, 0, 1e-6, zero).item() for zero in (0, 1)]
    [2147483647, -2147483648]

    Examples
    --------
    >>> a, b = np.array([[10, 20]], np.int8), np.array([[1, 2], [3, 4]], np.int8)
    >>> qops.tensorflow.uniform_quantized_dot(a, b, 0.5, 10, [1.0, 2.0], [1, 0], 0.25, 7, rhs_quantization_axis=1)
    array([[ 47, 167]], dtype=int32)
    """
    lowest, highest = ends(output_quantization_min_val, output_quantization_max_val, "output_", "qint32")
    left = given(lhs_scales, lhs_zero_points, lhs_quantization_axis, "lhs_", "lhs")
    right = given(rhs_scales, rhs_zero_points, rhs_quantization_axis, "rhs_", "rhs")
    after = given(output_scales, output_zero_points, output_quantization_axis, "output_", "output")
    a, b = codes_of(lhs, "lhs", "qint8"), codes_of(rhs, "rhs", "qint8")
    for name, x in (("lhs", a), ("rhs", b)):
        if x.ndim != 2:
            raise bad_value(name, f"{name} rank must be 2, but given {name} shape {shape_text(x.shape)}")
    if a.shape[1] != b.shape[0]:
        texts = f"lhs shape {shape_text(a.shape)} and rhs shape {shape_text(b.shape)}"
        raise bad_value("lhs, rhs", f"lhs.dim_size(1) and rhs.dim_size(0) must be equal, but given {texts}")
    shape = len(a), b.shape[1]
    affines = of_products(left, right, after, (a.shape, b.shape, shape), (1, 1))
    if out is not None:
        check_out(out, S32, shape, [a, b])
    sums = _sums(a, b, affines[0].zero_points[0], affines[1])
    codes = np.empty(shape, np.int32) if out is None else out
    codes_of_sums(sums, affines, lowest, highest, codes)
    return codes


def _sums(a: NDArray[np.int8], b: NDArray[np.int8], zero: int, rhs: Given) -> NDArray[np.int32]:
    """Give the sums. If float32 holds all partial sums exactly, they are those of an exact product."""
    if rhs.axis >= 0:
        return product(a, b, offsets=(zero, np.array(rhs.zero_points, np.int64)))
    other = rhs.zero_points[0]
    if _exact(a, b, zero, other):
        return product(a, b, offsets=(zero, other))
    sums = np.empty((len(a), b.shape[1]), np.int32)
    kernels.dot(np.ascontiguousarray(a), zero, np.ascontiguousarray(b), other, sums)
    return sums


def _exact(a: NDArray[np.int8], b: NDArray[np.int8], zero: int, other: int) -> bool:
    """Whether float32 holds every partial sum exactly: bounded by the largest codes, or by the norms of the vectors."""
    if (128 + abs(zero)) * (128 + abs(other)) * len(b) <= LARGEST_EXACT:
        return True
    row = np.square(a - np.float32(zero)).sum(1).max(initial=0)
    column = np.square(b - np.float32(other)).sum(0).max(initial=0)
    return float(row) * float(column) < 0.99 * LARGEST_EXACT**2
