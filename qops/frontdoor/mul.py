"""Products, element by element, of two tensors of 8-bit codes: into 8 bits (in at most two passes) or into int32."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.frontdoor import mul as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.frontdoor.passes import RangeInfo, into_any, into_uint8
from qops.frontdoor.targets import OpenRange, Range
from qops.qtensor import QTensor, TensorLike

__all__ = ["BOUND_8X8TO8", "BOUND_8X8TO32", "mul", "quantized_mul_8x8to8", "quantized_mul_8x8to32"]

BOUND_8X8TO32 = 0.5 + 2**-7
"""Largest error of products in int32 against the exact product, in output LSB.

In 2**-23 LSB: 2**22 for the rounding of the product; 0.5 * (65025 + 255 + 255 + 1) = 2**15 for the rounded integers;
and the error of float64. Together less than 2**22 + 2**16.
"""
BOUND_8X8TO8 = 0.5 + 2**-4
"""Largest error of products in 8 bits against the exact product, in output LSB: as above, in 2**-20 LSB."""


@into_any
def mul(
    a: TensorLike,
    b: TensorLike,
    *,
    dtype: DTypeLike = "uint8",
    guess: OpenRange | None = None,
    range: Range | None = None,
    out: NDArray[Any] | None = None,
    return_info: bool = False,
    **unknown: Never,
) -> QTensor | tuple[QTensor, RangeInfo]:
    """Multiply two tensors of uint8 or int8 codes, element by element, into codes of 8 bits or of int32.

    In 8 bits ``c = lowest + round((a * b - min) / step)``, by the integers of `quantized_mul_8x8to8`. **Error: at
    most** ``0.5 + 2**-4`` output LSB (`BOUND_8X8TO8`). In int32 ``c = round(a * b / step)``, by the integers and in the
    range of `quantized_mul_8x8to32`. **Error: at most** ``0.5 + 2**-7`` output LSB (`BOUND_8X8TO32`). Both are against
    the exact product of ``min + (q - lowest) * step``, for every pair of ranges.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 or int8 tensors, also one of each, of shapes that broadcast.
    dtype, guess, range, out, return_info
        As `add` takes them.

    Returns
    -------
    QTensor
        The codes and their range, which is found as by `add`.
    RangeInfo
        Only with ``return_info``.

    Raises
    ------
    TypeError, ValueError
        What `add` refuses; in int32 an output range beyond float32.

    See Also
    --------
    quantized_mul_8x8to8, quantized_mul_8x8to32 : the integers, in formulas.
    qops.nnlib.quantized_mul_8x8to8, qops.tensorflow.quantized_mul : what those systems compute.

    Examples
    --------
    >>> a, b = (np.array([0, 100, 255], np.uint8), -1.0, 1.55), (np.array([127, -18, 127], np.int8), -1.0, 1.55)
    >>> t = qops.mul(a, b, dtype="int8")  # -1.55, 0 and 2.4025
    >>> t.data, t.zero_point, t.dequantize().round(2)
    (array([-128,  -28,  127], dtype=int8), -28, array([-1.55,  0.  ,  2.4 ], dtype=float32))
    """
    if unknown:
        raise unknown_keyword(mul, unknown)
    return _kernels.mul(QTensor, RangeInfo, a, b, dtype, guess, range, out, return_info)


@refusing_unknown
def quantized_mul_8x8to32(
    a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None, **unknown: Never
) -> QTensor:
    """Multiply two uint8 tensors into int32 codes: `mul` into int32, with one dtype for the operands.

    ``max = 2**11 * max(|a_min|, a_max) * max(|b_min|, b_max)``, rounded up to float32, ``min = -max``. With values
    ``min + q * step`` the product has four terms; in 2**-23 output steps ``s`` each is an integer::

        c = (k + a * ka + b * kb + a * b * kab) >> 23
        ka = round(2**23 * a_step * b_min / s)    kb = round(2**23 * a_min * b_step / s)
        kab = round(2**23 * a_step * b_step / s)    k = round(2**23 * a_min * b_min / s) + 2**22

    rounded half up, in 64 bits. 11 of the 32 bits are head room: ``|c| <= 2**20``, so 2047 products can be summed up.
    **Error: at most** ``0.5 + 2**-7`` output LSB (`BOUND_8X8TO32`) against the exact product, for every pair of ranges,
    also those that exclude 0. ``a * b`` and ``b * a`` give the same codes.

    Parameters
    ----------
    a, b, out
        As `quantized_add_8p8to32` takes them.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        What `mul` refuses, and int8 codes.

    See Also
    --------
    qops.nnlib.quantized_mul_8x8to32, qops.tensorflow.quantized_mul : what those systems compute.

    Examples
    --------
    >>> t = qops.quantized_mul_8x8to32(
    ...     (np.array([0, 255], np.uint8), -2.0, 3.0), (np.array([255, 255], np.uint8), 4.0, 8.0)
    ... )
    >>> (t.data * t.scale).round(4)  # -2 * 8, 3 * 8
    array([-16.,  24.])
    """
    if unknown:
        raise unknown_keyword(quantized_mul_8x8to32, unknown)
    return _kernels.mul_8x8to32(QTensor, a, b, out)


@into_uint8
def quantized_mul_8x8to8(
    a: TensorLike,
    b: TensorLike,
    guess: OpenRange | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: bool = False,
    **unknown: Never,
) -> QTensor | tuple[QTensor, RangeInfo]:
    """Multiply two uint8 tensors into uint8 codes, in at most two passes over the data.

    The output range is found as in `quantized_add_8p8to8`: write with the guess, record the extremes of the products,
    and write again if they do not fit or use less of the range. With output step ``s`` and range (min, max) ::

        c = sat_u8((k + a * ka + b * kb + a * b * kab) >> 20)
        ka = round(2**20 * a_step * b_min / s)    kb = round(2**20 * a_min * b_step / s)
        kab = round(2**20 * a_step * b_step / s)    k = round(2**20 * (a_min * b_min - min) / s) + 2**19

    **Error: at most** ``0.5 + 2**-4`` output LSB (`BOUND_8X8TO8`) against the exact product of ``min + q * step``, for
    every pair of ranges whose product float32 holds. Only products outside `range` saturate. ``a * b`` and ``b * a``
    give the same codes.

    Parameters
    ----------
    a, b, guess, range, out, return_info
        As `quantized_add_8p8to8` takes them.

    Returns
    -------
    QTensor, or QTensor and RangeInfo
        As of `quantized_add_8p8to8`.

    Raises
    ------
    TypeError, ValueError
        What `mul` refuses, and int8 codes.

    See Also
    --------
    qops.nnlib.quantized_mul_8x8to8 : what the DSP library computes.

    Examples
    --------
    >>> a, b = (np.array([0, 128, 255], np.uint8), -1.0, 1.0), (np.array([0, 64, 255], np.uint8), 0.0, 3.0)
    >>> qops.quantized_mul_8x8to8(a, b, guess=(-3.0, 3.0))
    QTensor(np.uint8([128, 128, 255]), -3.0, 3.0)
    >>> qops.quantized_mul_8x8to8(a, b, range=(0.0, 1.5))
    QTensor(np.uint8([0, 1, 255]), 0.0, 1.5)
    """
    if unknown:
        raise unknown_keyword(quantized_mul_8x8to8, unknown)
    return _kernels.mul_8x8to8(QTensor, RangeInfo, a, b, guess, range, out, return_info)
