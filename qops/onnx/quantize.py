"""QuantizeLinear and DequantizeLinear: floats to and from codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.stage import prepared as stages
from qops.onnx import _checks as check
from qops.qtensor import flag, int32, integer, output

__all__ = ["dequantize_linear", "quantize_linear"]

NAN = "x: holds NaN, which has no integer code"


def quantize_linear(
    x: ArrayLike,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike | None = 0,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: DTypeLike | None = None,
    precision: DTypeLike | None = None,
    saturate: bool = True,
    runtime: str = "onnx",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Quantize floats with one scale, with one for each slice along an axis, or with one for each block along it.

    ``y = saturate(half_even(x / y_scale) + y_zero_point)``: the zero point is added after the quotient is rounded. If
    the codes are floats, ``y = x / y_scale`` is rounded to their type, half to even.

    The quotient has the wider type of both, so float16 if both are float16; with ``runtime="ort"`` it is float32. If
    `x` is int32 it is float64.

    Parameters
    ----------
    x : ndarray of float32, float16, bfloat16 or int32
        Any shape. Infinities saturate.
    y_scale : float, or ndarray of float32, float16, bfloat16, int32 or float8_e8m0fnu
        Real size of one code step: one value; a 1-D array of one for each slice along `axis`; or an array with the
        dimensions of `x` and one for each block along `axis`.
    y_zero_point : int or ndarray, optional
        Code of real 0, like `y_scale`. The result has its type; a plain int, and None, which is 0, have `output_dtype`.
        It is 0 for float codes.
    axis : int
        Axis of the slices or blocks.
    block_size : int
        Length of a block; 0 if there are no blocks.
    output_dtype : dtype, optional
        uint8 by default; or int8, uint16, int16; or uint4, int4, uint2, int2, float8 and narrower types of `ml_dtypes`.
    precision : dtype, optional
        Type of the quotient: float32, float16 or bfloat16; the wider one by default.
    saturate : bool
        Whether float8 codes saturate. If not, what is too large becomes infinite or NaN.
    runtime : {"onnx", "ort"}
        Whose bits.
    out : ndarray of the type of the result, of the shape of `x`, optional
        Where the result is written, apart from the inputs.

    Returns
    -------
    ndarray
        Codes, of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        Types that are not listed; NaN, which has no integer code; a scale that is 0 or not finite; scales or zero
        points that do not fit `x`; an `output_dtype` that is not that of the zero point; an `out` that does not fit;
        for ``runtime="ort"``, which has no kernel for them: an `x` that is neither float32 nor float16, a scale of
        another type, a `precision`; float codes, which are not modelled there.

    Notes
    -----
    Source: onnx, ``reference/ops/op_quantize_linear.py``; onnxruntime, ``core/mlas/lib/quantize.cpp``,
    ``quantize_linear.cc``.

    The reference casts the quotient to int32 before it saturates. C leaves that undefined beyond 2**31, and it gives
    the lowest code there, for infinity too. This function saturates, as the standard says. onnxruntime does so too,
    except for infinity to 4 and 2 bits.

    **Hazards.** The quotient is rounded, not the sum with the zero point. A port that adds an odd zero point first gets
    other codes for all ties:

    >>> import numpy as np
    >>> x = np.float32([0.5, 1.5, 2.5])
    >>> quantize_linear(x, 1.0, 3), np.rint(x + 3)
    (array([3, 5, 5], dtype=uint8), array([4., 4., 6.], dtype=float32))

    The quotient of float16 is float16 in the reference, and float32 in onnxruntime:

    >>> x = np.float16([0.45, 2.25])
    >>> [quantize_linear(x, np.float16(0.3), 5, runtime=r).tolist() for r in ("onnx", "ort")]
    [[7, 13], [6, 12]]

    Examples
    --------
    >>> quantize_linear(np.float32([-1.0, 0.0, 0.7, 99.0]), 0.1, 128)
    array([118, 128, 135, 255], dtype=uint8)
    >>> quantize_linear(np.float32([[1, 2], [1, 2]]), np.float32([0.5, 0.25]), axis=0, output_dtype=np.int8)
    array([[2, 4],
           [4, 8]], dtype=int8)
    """
    axis, block_size = integer(axis, "axis", -64, 63), int32(block_size, "block_size", 0)
    data = check.array(x, "x", (*check.SCALES, "int32"))
    scale = check.scale(y_scale, "y_scale", (*check.SCALES, "int32", "float8_e8m0fnu"), divides=True)
    (y_zero_point,), saturate = check.optional(y_zero_point), flag(saturate, "saturate")
    dtype = _output_type(y_zero_point, output_dtype)
    zero = check.zero_point(y_zero_point, "y_zero_point", dtype)
    scale = check.of_slices(scale, "y_scale", data.shape, axis, block_size)
    zero = check.of_slices(zero, "y_zero_point", data.shape, axis, block_size)
    if check.runtime(runtime) == "ort":
        if data.dtype not in (np.float32, np.float16) or scale.dtype != data.dtype or precision is not None:
            given = f"{data.dtype}, {scale.dtype}, {precision}"
            raise TypeError(f"x, y_scale, precision: onnxruntime has no kernel for {given}")
        if dtype.name in check.FLOATS:
            raise TypeError(f"output_dtype, y_zero_point: {dtype} of onnxruntime is not modelled")
        precision = np.float32
    check.out(out, dtype, data.shape, (data, scale, zero, y_scale, y_zero_point))
    with np.errstate(over="ignore"):
        if precision is not None:
            wanted = check.type_of(precision, "precision", check.SCALES)
            data, scale = data.astype(wanted), scale.astype(wanted)
    if dtype.name in check.FLOATS:
        quotient = _quotient(data, scale)
        if not isinstance(y_zero_point, int) and not dtype.name.startswith("float8"):
            quotient = quotient + zero.astype(quotient.dtype)  # which makes 0 of -0
        return check.put(_float_codes(quotient, zero, saturate), out)
    return integer_codes(data, scale, zero, out)


def _output_type(zero: ArrayLike, output_dtype: DTypeLike | None) -> np.dtype[Any]:
    """Give the type of the codes, from the zero point or from `output_dtype`."""
    told = None if isinstance(zero, int) else check.array(zero, "y_zero_point", check.CODES).dtype
    if output_dtype is None:
        return told or np.dtype(np.uint8)
    wanted = check.type_of(output_dtype, "output_dtype", check.CODES)
    if told not in (None, wanted):
        raise TypeError(f"output_dtype: expected that of y_zero_point, {told}, got {wanted}")
    return wanted


def _quotient(data: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        return np.asarray(data / scale)


def integer_codes(
    data: NDArray[Any], scale: NDArray[Any], zero: NDArray[Any], out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Give ``saturate(half_even(data / scale) + zero)`` in the type of `zero`."""
    has_row = zero.size == 1 and zero.dtype.name in check.WHOLE
    step = float(scale) if has_row and scale.size == 1 and data.dtype == scale.dtype == np.float32 else 0.0
    divides = 0 < step < np.inf  # the row itself, so that no quotient is kept
    values = data if divides else _quotient(data, scale)
    if has_row and values.dtype != np.float64:
        row = stages.floats(step if divides else 1.0, "half_even", *check.ends(zero), shift=int(zero), form="over")
        values = np.asarray(values, np.float32)
        codes: NDArray[Any] = output(out, zero.dtype.num, values)
        if not stages.FloatStage(row).run_unless_nan(values, codes):
            raise ValueError(NAN)
        return codes
    if np.isnan(values).any():
        raise ValueError(NAN)
    sums = np.rint(values, dtype=np.float64) + zero.astype(np.float64)
    return check.put(np.asarray(np.clip(sums, *check.ends(zero)).astype(zero.dtype)), out)


def _float_codes(quotient: NDArray[Any], zero: NDArray[Any], saturate: bool) -> NDArray[Any]:
    if zero.astype(np.float32).any():
        raise ValueError(f"y_zero_point: expected 0 for {zero.dtype} codes, got {zero}")
    largest = check.FLOATS[zero.dtype.name]
    cut = np.clip(quotient, -largest, largest) if saturate else quotient
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(cut.astype(zero.dtype))


def dequantize_linear(
    x: ArrayLike,
    x_scale: ArrayLike,
    x_zero_point: ArrayLike | None = 0,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: DTypeLike | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the real values of codes: ``y = (x - x_zero_point) * x_scale``, in float32, then in the type of the result.

    Parameters
    ----------
    x : ndarray
        Codes of any type of `quantize_linear`, or int32, of any shape.
    x_scale : float, or ndarray of float32, float16, bfloat16 or float8_e8m0fnu
        Real size of one code step: one value, one a slice or one a block, as in `quantize_linear`.
    x_zero_point : int or ndarray of the type of `x`, optional
        Code of real 0, like `x_scale`. None is 0. It is 0 for int32 and float codes.
    axis, block_size : int
        Those of `quantize_linear`.
    output_dtype : dtype, optional
        float32, float16 or bfloat16; the type of `x_scale` by default.
    out : ndarray of the type of the result, of the shape of `x`, optional
        Where the result is written, apart from the inputs.

    Returns
    -------
    ndarray of `output_dtype`
        Of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        Types that are not listed; a scale that is not finite; scales or zero points that do not fit `x`; a zero point
        of int32 or float codes that is not 0; an `out` that does not fit.

    Notes
    -----
    Source: onnx, ``reference/ops/op_dequantize_linear.py``. onnxruntime 1.31 gives the same bits.

    **Hazards.** int32 codes become float32, which rounds them, before they are scaled:

    >>> import numpy as np
    >>> int(dequantize_linear(np.int32(2**24 + 1), 1.0))
    16777216

    Examples
    --------
    >>> dequantize_linear(np.uint8([118, 128, 135]), 0.5, 128)
    array([-5. ,  0. ,  3.5], dtype=float32)
    >>> dequantize_linear(np.int8([[2, 4, 6]]), np.float32([[0.5, 0.25]]), axis=1, block_size=2)
    array([[1. , 2. , 1.5]], dtype=float32)
    """
    data = check.array(x, "x", (*check.CODES, "int32"))
    scale = check.scale(x_scale, "x_scale", (*check.SCALES, "float8_e8m0fnu"))
    (x_zero_point,) = check.optional(x_zero_point)
    zero = check.zero_point(x_zero_point, "x_zero_point", data.dtype)
    axis, block_size = integer(axis, "axis", -64, 63), int32(block_size, "block_size", 0)
    wanted = check.type_of(scale.dtype if output_dtype is None else output_dtype, "output_dtype", check.SCALES)
    scale = check.of_slices(scale, "x_scale", data.shape, axis, block_size)
    zero = check.of_slices(zero, "x_zero_point", data.shape, axis, block_size).astype(np.float32)
    if data.dtype.name in ("int32", *check.FLOATS) and zero.any():
        raise ValueError(f"x_zero_point: expected 0 for {data.dtype} codes, got {x_zero_point!r:.80}")
    check.out(out, wanted, data.shape, (data, scale, x_scale, x_zero_point))
    with np.errstate(over="ignore"):
        return check.put(np.asarray((data.astype(np.float32) - zero) * scale).astype(wanted), out)
