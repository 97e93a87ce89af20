"""QuantizedMul: 8 bit times 8 bit, to int32 (rounded once) or to 8 bit (in at most two passes)."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from qops._kernels.frontdoor import mul as _kernels
from qops.frontdoor.passes import Ends, Range, RangeInfo
from qops.qtensor import QTensor, TensorLike

__all__ = ["BOUND_8X8TO8", "BOUND_8X8TO32", "quantized_mul_8x8to8", "quantized_mul_8x8to32"]

BOUND_8X8TO32 = 0.5 + 2**-7
"""Largest error of `quantized_mul_8x8to32` against the exact product, in output LSB.

In 2**-23 LSB: 2**22 for the rounding of the product; 0.5 * (65025 + 255 + 255 + 1) = 2**15 for the rounded integers;
and the error of float64. Together less than 2**22 + 2**16.
"""
BOUND_8X8TO8 = 0.5 + 2**-4
"""Largest error of `quantized_mul_8x8to8` against the exact product, in output LSB: as above, in 2**-20 LSB."""


def quantized_mul_8x8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Multiply two uint8 tensors into int32 codes: the exact product, rounded once.

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
    a, b : (data, min, max)
        uint8 tensors of shapes that broadcast.
    out : ndarray of int32, optional
        Where the codes are written; of the broadcast shape.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, shapes that do not broadcast,
        an ``out`` that does not fit or overlaps an input, an output range beyond float32.

    See Also
    --------
    qops.nnlib.quantized_mul_8x8to32, qops.tensorflow.quantized_mul : what those systems compute.

    Examples
    --------
    >>> import numpy as np
    >>> t = quantized_mul_8x8to32((np.uint8([0, 255]), -2.0, 3.0), (np.uint8([255, 255]), 4.0, 8.0))
    >>> (t.data * t.scale).round(4)  # -2 * 8, 3 * 8
    array([-16.,  24.])
    """
    return _kernels.quantized_mul_8x8to32(QTensor, a, b, out)


@overload
def quantized_mul_8x8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: Literal[False] = False,
) -> QTensor: ...
@overload
def quantized_mul_8x8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: Literal[True],
) -> tuple[QTensor, RangeInfo]: ...
def quantized_mul_8x8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: bool = False,
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
    a, b : (data, min, max)
        uint8 tensors of shapes that broadcast.
    guess : (float or None, float or None), optional
        Expected ends of the output range. A product outside the guess triggers a second pass. An end that is not
        guessed starts as wide as the ranges allow; if the data use less, the second pass narrows it.
    range : (float, float), optional
        A fixed output range, instead of a `guess`.
    out : ndarray of uint8, optional
        Where the codes are written; of the broadcast shape.
    return_info : bool, optional
        Give a `RangeInfo` (passes, range found) as well.

    Returns
    -------
    QTensor
        uint8 codes and their range: `range`, or the guessed ends that held and the ends found for the others.
    RangeInfo
        Only with ``return_info``.

    Raises
    ------
    TypeError, ValueError
        What `quantized_add_8p8to8` refuses, and ranges whose product is beyond float32.

    See Also
    --------
    qops.nnlib.quantized_mul_8x8to8 : what the DSP library computes.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = (np.uint8([0, 128, 255]), -1.0, 1.0), (np.uint8([0, 64, 255]), 0.0, 3.0)
    >>> quantized_mul_8x8to8(a, b, guess=(-3.0, 3.0))
    QTensor(np.uint8([128, 128, 255]), -3.0, 3.0)
    >>> quantized_mul_8x8to8(a, b, range=(0.0, 1.5))
    QTensor(np.uint8([0, 1, 255]), 0.0, 1.5)
    """
    found = _kernels.quantized_mul_8x8to8(QTensor, a, b, guess, range, out, return_info)
    return (found[0], RangeInfo(*found[1])) if return_info else found
