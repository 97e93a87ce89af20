"""UniformQuantize and UniformDequantize: float32 to codes with a scale and zero point, and back."""

from __future__ import annotations

from math import copysign, inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.tensorflow import uniform as kernels
from qops._kernels.tensorflow.ends import NORMAL
from qops.checks import F32, array, output, shown
from qops.tensorflow._checks import TYPES, codes_of, each_slice, one_of
from qops.tensorflow._uniform import ends, given

__all__ = ["uniform_dequantize", "uniform_quantize"]

KINDS = ("qint8", "quint8", "qint32")
NARROWEST = 2.0**-124  # below this a scale times a half is no normal float32, which TensorFlow makes 0


def uniform_quantize(
    input: NDArray[np.float32],
    scales: ArrayLike,
    zero_points: ArrayLike,
    Tout: str = "qint8",
    quantization_min_val: int | None = None,
    quantization_max_val: int | None = None,
    quantization_axis: int = -1,
    *,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Quantize float32 by a scale and zero point, or those of each slice.

    In float32, each operation rounded, then in int32, which wraps::

        code = clamp(int32(floor(x * (1 / scale) + 0.5)) + zero_point, min_val, max_val)

    Parameters
    ----------
    input : ndarray of float32
        Any shape.
    scales : float or 1-D array_like of float
        Real size of one code step; with an axis, one per slice.
    zero_points : int or 1-D array_like of int
        Code of real 0, any int32; with an axis, one per slice.
    Tout : {"qint8", "quint8", "qint32"}
        Type of the codes.
    quantization_min_val, quantization_max_val : int, optional
        Codes that the result is clamped to; the ends of the type if not given. A code beyond the type keeps its low
        bits. If min_val is above max_val, all codes are min_val.
    quantization_axis : int
        Axis along which each slice has its own scale; -1 is none.
    out : ndarray of the type `Tout`, optional
        Where the codes are written; of the shape of `input`.

    Returns
    -------
    ndarray of the type `Tout`

    Raises
    ------
    TypeError, ValueError
        Data that is not float32, a type that is not in the list; scales that are not finite, or not 0 but nearer to 0
        than 2**-124; another number of scales or zero points than slices; an axis beyond the dimensions; an `out` that
        does not fit.

    Notes
    -----
    Source: TensorFlow, ``uniform_quantize_op.cc``, ``uniform_quant_ops/math_utils.h``.

    **Hazards.** Ties go up. But the inverse of the scale is rounded, so where ``x / scale`` is a tie, the code may go
    either way:

    >>> qops.tensorflow.uniform_quantize(np.array([-2.5, -0.5, 0.5, 2.5], np.float32), 1.0, 0)
    array([-2,  0,  1,  3], dtype=int8)
    >>> [
    ...     qops.tensorflow.uniform_quantize(np.array([x], np.float32), scale, 0).item()
    ...     for x, scale in ((4.25, 1.7), (4.5, 0.6))
    ... ]  # 2.5 and 7.5
    [2, 8]

    Values beyond int32, and NaN, become -2**31. So the largest values get the lowest code. With a zero point below 0
    the sum wraps, and all of these values get the highest code:

    >>> x = np.array([-1e10, -1.0, 1e10, np.nan], np.float32)
    >>> qops.tensorflow.uniform_quantize(x, 1.0, 0), qops.tensorflow.uniform_quantize(x, 1.0, -1)
    (array([-128,   -1, -128, -128], dtype=int8), array([127,  -2, 127, 127], dtype=int8))

    A scale of 0 or below is accepted. A scale of 0 gives the lowest code, a negative one changes the sign:

    >>> (
    ...     qops.tensorflow.uniform_quantize(np.array([0.0, 7.0], np.float32), 0.0, 0),
    ...     qops.tensorflow.uniform_quantize(np.array([0.0, 7.0], np.float32), -1.0, 0),
    ... )
    (array([-128, -128], dtype=int8), array([ 0, -7], dtype=int8))

    Examples
    --------
    >>> qops.tensorflow.uniform_quantize(
    ...     np.array([[-1.0, 0.0], [0.5, 9.0]], np.float32), [0.5, 0.25], [0, 3], quantization_axis=0
    ... )
    array([[-2,  0],
           [ 5, 39]], dtype=int8)
    """
    one_of(Tout, "Tout", KINDS)
    lowest, highest = ends(quantization_min_val, quantization_max_val, "", Tout)
    read = given(scales, zero_points, quantization_axis)
    sizes = np.abs(read.scales)
    if ((sizes > 0) & (sizes < NARROWEST)).any():
        raise bad_value("scales", f"expected 0 or at least 2**-124, got {shown(scales)}")
    x = array(input, "input", F32)
    affine = read.fit(x.shape)
    out = output(out, TYPES[Tout].dtype.num, x)

    def run(i: int, part: NDArray[Any], codes: NDArray[Any]) -> None:
        scale, zero = affine.of(i)
        inverse = float(np.float32(1 / scale)) if scale else copysign(inf, scale)
        kernels.quantize(part, inverse if abs(inverse) >= NORMAL else 0.0, zero, lowest, max(lowest, highest), codes)

    each_slice(affine.axis, run, x, out)
    return out


def uniform_dequantize(
    input: NDArray[Any],
    scales: ArrayLike,
    zero_points: ArrayLike,
    quantization_axis: int = -1,
    *,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Dequantize codes to float32: ``float32(q - zero_point) * scale``. The difference wraps in int32.

    TensorFlow's ``quantization_min_val`` and ``quantization_max_val`` have no effect, so they are not arguments here.

    Parameters
    ----------
    input : ndarray of int8, uint8 or int32
        Codes of any shape.
    scales : float or 1-D array_like of float
        Real size of one code step, above 0; with an axis, one per slice.
    zero_points : int or 1-D array_like of int
        Code of real 0, any int32; with an axis, one per slice.
    quantization_axis : int
        Axis along which each slice has its own scale; -1 is none.
    out : ndarray of float32, optional
        Where the values are written; of the shape of `input`.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        Codes of another type; scales that are not finite, or not above 0 (``scales elements must be all positive``);
        another number of scales or zero points than slices; an axis beyond the dimensions; an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``uniform_dequantize_op.cc``, ``uniform_quant_ops/math_utils.h``.

    **Hazards.** int32 codes become float32, which has 24 bits, and int32 again, where the highest codes wrap:

    >>> qops.tensorflow.uniform_dequantize(np.array([2**24 + 1, 2**31 - 65, 2**31 - 64], np.int32), 1.0, 0)
    array([ 1.6777216e+07,  2.1474835e+09, -2.1474836e+09], dtype=float32)

    Examples
    --------
    >>> qops.tensorflow.uniform_dequantize(np.array([[-2, 0], [5, 39]], np.int8), [0.5, 0.25], [0, 3], 0)
    array([[-1. ,  0. ],
           [ 0.5,  9. ]], dtype=float32)
    """
    read = given(scales, zero_points, quantization_axis, positive="rhs")
    q = codes_of(input, "input", *KINDS)
    affine = read.fit(q.shape)
    out = output(out, F32, q)
    each_slice(affine.axis, lambda i, codes, part: kernels.dequantize(codes, *affine.of(i), part), q, out)
    return out
