"""DequantizeLinear: codes to floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import int32, integer, native, put, shown
from qops.onnx import _checks as check

__all__ = ["dequantize_linear"]


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
        As `quantize_linear` takes them.
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

    >>> int(qops.onnx.dequantize_linear(np.int32(2**24 + 1), 1.0))
    16777216

    Examples
    --------
    >>> qops.onnx.dequantize_linear(np.array([118, 128, 135], np.uint8), 0.5, 128)
    array([-5. ,  0. ,  3.5], dtype=float32)
    >>> qops.onnx.dequantize_linear(
    ...     np.array([[2, 4, 6]], np.int8), np.array([[0.5, 0.25]], np.float32), axis=1, block_size=2
    ... )
    array([[1. , 2. , 1.5]], dtype=float32)
    """
    data = native(x, "x", (*check.CODES, "int32"))
    scale = check.scale(x_scale, "x_scale", (*check.SCALES, "float8_e8m0fnu"))
    (x_zero_point,) = check.optional(x_zero_point)
    zero = check.zero_point(x_zero_point, "x_zero_point", data.dtype)
    axis, block_size = integer(axis, "axis", -64, 63), int32(block_size, "block_size", 0)
    wanted = check.type_of(scale.dtype if output_dtype is None else output_dtype, "output_dtype", check.SCALES)
    scale = check.of_slices(scale, "x_scale", data.shape, axis, block_size)
    zero = check.of_slices(zero, "x_zero_point", data.shape, axis, block_size).astype(np.float32)
    if data.dtype.name in ("int32", *check.FLOATS) and zero.any():
        raise bad_value("x_zero_point", f"expected 0 for {data.dtype} codes, got {shown(x_zero_point)}")
    check.out(out, wanted, data.shape, data, scale, x_scale, x_zero_point)
    with np.errstate(over="ignore"):
        return put(np.asarray((data.astype(np.float32) - zero) * scale).astype(wanted), out)
