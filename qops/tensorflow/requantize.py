"""Requantize, RequantizationRange, QuantizeDownAndShrinkRange: int32 codes to 8 bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.range import range_32
from qops._kernels.tensorflow import requantize as kernels
from qops._kernels.tensorflow.ends import NORMAL
from qops.checks import U8, as_array, output, parts
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import STEPS, STEPS_32, TYPES, codes_of, ends, one_of, operands

__all__ = ["quantize_down_and_shrink_range", "requantization_range", "requantize"]


def requantize(
    input: TensorLike,
    requested_output_min: float,
    requested_output_max: float,
    out_type: str = "quint8",
    *,
    out: NDArray[Any] | None = None,
) -> QTensor:
    """Requantize int32 codes to 8-bit codes in a given range.

    To quint8, in 64-bit integers, in 1/65536 output steps, the code first rounded to float32 (24 bits)::

        range_scale   = trunc(65536 * 255 * (in_max - in_min) / (out_max - out_min))    in double
        input_offset  = trunc((in_min + in_max) / 2 * (255 / (out_max - out_min)) * 65536)    in float32
        output_offset = half_away(65536 * 255 * out_min / (out_max - out_min))    in double
        c = saturate_u8((((q * range_scale) >> 32) + input_offset - output_offset + 32768) >> 16)

    To qint8, in float32, each operation rounded: the value that `dequantize` gives in mode MIN_FIRST, then the code
    ``clamp(half_away(value * s) - half_away(out_min * s) - 128)`` with ``s = 255 / (out_max - out_min)``.

    Parameters
    ----------
    input : (data, min, max)
        int32 codes; the range in any order, code -2**31 stands for min.
    requested_output_min, requested_output_max : float
        Range of the output: min <= 0, min <= max.
    out_type : {"quint8", "qint8"}
        Type of the output.
    out : ndarray of uint8 or int8, optional
        Where the codes are written; of the shape of the input.

    Returns
    -------
    QTensor
        8-bit codes and the requested range.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor or type; a range that is not finite or whose step is below the normal
        float32; ``requested_output_min must be <= 0``;
        ``requested_output_max must be >= requested_output_min``; an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``requantize.cc``, ``quantization_utils.h``.

    **Hazards.** If the input range is about 257 times as wide as that of the output, or wider, q * range_scale needs
    more than 64 bits. Codes that should saturate can then become any code:

    >>> q = np.array([2**28, 2**30, 2**31 - 1], np.int32)
    >>> qops.tensorflow.requantize((q, -900.0, 900.0), -1.0, 1.0).data
    array([255,   0,   0], dtype=uint8)
    >>> qops.tensorflow.requantize((q, -900.0, 900.0), -1.0, 1.0, "qint8").data
    array([127, 127, 127], dtype=int8)

    An output range that excludes 0 is accepted, and so is one without width:

    >>> qops.tensorflow.requantize((q, -1.0, 1.0), -1.0, -0.5)
    QTensor(np.uint8([255, 255, 255]), -1.0, -0.5)
    >>> qops.tensorflow.requantize((q, -1.0, 1.0), 0.0, 0.0).data
    array([0, 0, 0], dtype=uint8)

    Examples
    --------
    >>> qops.tensorflow.requantize((np.array([-(2**31), 0, 2**30], np.int32), -1.0, 1.0), -1.0, 1.0).data
    array([  0, 128, 191], dtype=uint8)
    """
    one_of(out_type, "out_type", ("quint8", "qint8"))
    out_min, out_max = ends(
        requested_output_min, requested_output_max, "requested_output_min", "requested_output_max", STEPS
    )
    if out_min >= NORMAL:
        raise bad_value("requested_output_min", f"requested_output_min must be <= 0, but got {out_min}")
    if out_max < out_min:
        raise bad_value(
            "requested_output_max",
            f"requested_output_max must be >= requested_output_min, but got {out_max} and {out_min}",
        )
    ((q, in_min, in_max),) = operands(STEPS_32, ("qint32",), input=input)
    out = output(out, TYPES[out_type].dtype.num, q)
    kernels.requantize(q, in_min, in_max, out_min, out_max, out)
    return tensor(out, out_min, out_max)


def requantization_range(input: TensorLike) -> tuple[float, float]:
    """Find the real range of the int32 codes present, from the lowest code, but at most 0, to the highest.

    With ``step = (max - min) * 2**32 / (2**32 - 1) / 2**32`` in double, and min rounded to a whole step in float32::

        value(q) = float32(base + (float32(q) + 2**31) * step)    base = half_away(min / float32(step)) * float32(step)
        (min(0, value(lowest code)), value(highest code))

    The sum and its second term are double.

    Parameters
    ----------
    input : (data, min, max)
        int32 codes; the range in any order. Where min or max is an array, its first element counts.

    Returns
    -------
    min, max : float
        float32 values.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; a range that is not finite, or whose step is below the normal float32.

    Notes
    -----
    Source: TensorFlow, ``requantization_range_op.cc``, ``quantization_utils.h``.

    **Hazards.** Only min is kept on its side of 0: if all values are negative, max is below 0. Without any codes, the
    result is the whole range, with its ends exchanged:

    >>> qops.tensorflow.requantization_range((np.array([-(2**30), -(2**29)], np.int32), -1.0, 1.0))
    (-0.5, -0.25)
    >>> qops.tensorflow.requantization_range((np.array([], np.int32), -1.0, 1.0))
    (0.0, -1.0)

    Examples
    --------
    >>> qops.tensorflow.requantization_range((np.array([2**29, 2**30], np.int32), -1.0, 1.0))
    (0.0, 0.5)
    """
    values, lo, hi = parts(input, "input")
    lows, highs = as_array(lo, "input min").ravel(), as_array(hi, "input max").ravel()
    if lows.size == 0 or highs.size == 0:
        raise bad_value("input", f"min and max must have an element, got {lows.size} and {highs.size}")
    in_min, in_max = ends(lows[0], highs[0], "input min", "input max", STEPS_32)
    return _spanned(codes_of(values, "input", "qint32"), in_min, in_max)


def _spanned(q: NDArray[Any], in_min: float, in_max: float) -> tuple[float, float]:
    """Give the real range from the lowest code, but at most 0, to the highest. No codes count as 2**31 - 1, -2**31."""
    lowest, highest = range_32(q)
    return kernels.real_range(lowest, highest, in_min, in_max)


def quantize_down_and_shrink_range(input: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Requantize int32 codes to uint8 codes in the real range of the codes present.

    `requantization_range`, then `requantize` to quint8 with that range.

    Parameters
    ----------
    input : (data, min, max)
        int32 codes; the range in any order.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the input.

    Returns
    -------
    QTensor
        uint8 codes and the range found.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; a range that is not finite, that ``must be rank 0``, or whose step is
        below the normal float32; an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``quantize_down_and_shrink_range.cc``, ``quantization_utils.h``.

    **Hazards.** If code 0 does not stand for 0, codes that span less than 1/257 of the input range make the product
    wrap, as in `requantize`. Here 0, 128 and 255 would be right:

    >>> q = np.array([-(2**31), -(2**31) + 2**20, -(2**31) + 2**21], np.int32)
    >>> qops.tensorflow.quantize_down_and_shrink_range((q, 0.0, 6.0)).data
    array([255, 255, 255], dtype=uint8)

    If all codes are the same negative code, the range is 0 wide, and every code becomes 0:

    >>> t = qops.tensorflow.quantize_down_and_shrink_range((np.array([-5, -5], np.int32), -(2.0**31), 2.0**31))
    >>> t.data, t.min == t.max
    (array([0, 0], dtype=uint8), True)

    Examples
    --------
    >>> qops.tensorflow.quantize_down_and_shrink_range((np.array([-(2**30), 0, 2**30], np.int32), -1.0, 1.0))
    QTensor(np.uint8([0, 128, 255]), -0.5, 0.5)
    """
    ((q, in_min, in_max),) = operands(STEPS_32, ("qint32",), input=input)
    found_min, found_max = _spanned(q, in_min, in_max)
    out = output(out, U8, q)
    kernels.requantize(q, in_min, in_max, found_min, found_max, out)
    return tensor(out, found_min, found_max)  # of no codes at all, the range that TensorFlow gives is reversed
