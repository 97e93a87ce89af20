"""UniformRequantize: codes to codes with another scale and zero point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.tensorflow import uniform as kernels
from qops.checks import output, shown
from qops.tensorflow._checks import TYPES, codes_of, each_slice, one_of
from qops.tensorflow._uniform import ends, given, scaling

__all__ = ["uniform_requantize"]

FARTHEST = 2**31 - 128  # zero points up to this: int32 holds the distance from every int8 code


def uniform_requantize(
    input: NDArray[Any],
    input_scales: ArrayLike,
    input_zero_points: ArrayLike,
    output_scales: ArrayLike,
    output_zero_points: ArrayLike,
    Tout: str = "qint8",
    output_quantization_min_val: int | None = None,
    output_quantization_max_val: int | None = None,
    input_quantization_axis: int = -1,
    output_quantization_axis: int = -1,
    *,
    out: NDArray[np.int8] | None = None,
) -> NDArray[np.int8]:
    """Requantize codes to another scale and zero point.

    ``clamp((q - input_zero_point) * (input_scale / output_scale) + output_zero_point)``, rounded half up once. The
    quotient of the scales, in float64, is written as ``M * 2**(e - 31)`` with M of 31 bits. Then, in int64 unless it
    says int32::

        near   = int32(q) - input_zero_point                                in int32, which wraps; of slices in int64
        scaled = saturate_s32((near * M + 2**(30 - e)) >> (31 - e))
        code   = clamp(scaled + output_zero_point, min_val, max_val)        in int32, which wraps

    e is at most 30, with the largest M if it would be more. A quotient below 2**-32 counts as 0.

    Parameters
    ----------
    input : ndarray of int8 or int32
        Codes of any shape.
    input_scales, input_zero_points, output_scales, output_zero_points : number or 1-D array_like
        Real size of one code step, above 0, and code of real 0, any int32; with an axis, one per slice.
    Tout : {"qint8"}
        Type of the output: the only one that TensorFlow has a kernel for.
    output_quantization_min_val, output_quantization_max_val : int, optional
        Codes that the result is clamped to; the ends of the type if not given. If min_val is above max_val, all codes
        are min_val.
    input_quantization_axis, output_quantization_axis : int
        Axis along which each slice has its own scale; -1 is none. If both are given, they must be the same.
    out : ndarray of int8, optional
        Where the codes are written; of the shape of `input`.

    Returns
    -------
    ndarray of int8

    Raises
    ------
    TypeError, ValueError
        Codes or a `Tout` of another type; scales that are not finite, or not above 0 (``input/output scales elements
        must be all positive``); another number of scales or zero points than slices; an axis beyond the dimensions, or
        two (``the quantization axis must be same``); an input zero point so far from int8 codes that int32 does not
        hold all differences; an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``uniform_requantize_op.cc``, ``uniform_quant_ops/requantize.h``, ``math_utils.h``.

    **Hazards.** A code that saturates at 2**31 - 1 wraps when a zero point is added, and then clamps to the other end:

    >>> x = np.array([-9, 9], np.int8)
    >>> [qops.tensorflow.uniform_requantize(x, 1e5, 0, 1e-6, zero).tolist() for zero in (0, 5, -5)]
    [[-128, 127], [-128, -128], [127, 127]]

    int32 codes are read as float32, so the highest codes become the lowest:

    >>> qops.tensorflow.uniform_requantize(np.array([2**30, 2**31 - 65, 2**31 - 1], np.int32), 1e-8, 0, 0.25, 0)
    array([ 43,  86, -86], dtype=int8)

    Examples
    --------
    >>> qops.tensorflow.uniform_requantize(
    ...     np.array([[10, 20], [10, 20]], np.int8), [0.5, 0.25], [0, 10], 1.0, -3, input_quantization_axis=0
    ... )
    array([[ 2,  7],
           [-3,  0]], dtype=int8)
    """
    one_of(Tout, "Tout", ("qint8",))
    lowest, highest = ends(output_quantization_min_val, output_quantization_max_val, "output_", Tout)
    before = given(input_scales, input_zero_points, input_quantization_axis, "input_", "input/output")
    after = given(output_scales, output_zero_points, output_quantization_axis, "output_", "input/output")
    if -1 < before.axis != after.axis > -1:
        text = "If input and output is both per-axis quantized, the quantization axis must be same"
        raise bad_value("output_quantization_axis", f"{text}, given {before.axis} and {after.axis}")
    q = codes_of(input, "input", "qint8", "qint32")
    if q.itemsize == 1 and np.abs(before.zero_points).max(initial=0) > FARTHEST:
        text = "int32 does not hold its distance from all int8 codes, so TensorFlow's result is not defined"
        raise bad_value("input_zero_points", f"{text}, got {shown(input_zero_points)}")
    one, other = before.fit(q.shape), after.fit(q.shape)
    out = output(out, TYPES[Tout].dtype.num, q)

    axis = max(one.axis, other.axis)

    def run(i: int, codes: NDArray[Any], part: NDArray[Any]) -> None:
        (in_scale, in_zero), (out_scale, out_zero) = one.of(i), other.of(i)
        step = scaling(in_scale / out_scale, in_zero, out_zero, lowest, highest, axis >= 0)
        kernels.requantize(codes, step, part)

    each_slice(axis, run, q, out)
    return out
