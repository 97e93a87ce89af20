"""Adds of two tensors of 8-bit codes: into 8 bits (in at most two passes) or into int32 (rounded once)."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.frontdoor import add as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.frontdoor.passes import RangeInfo, into_any, into_uint8
from qops.frontdoor.targets import OpenRange, Range
from qops.qtensor import QTensor, TensorLike

__all__ = [
    "BOUND_8P8TO8",
    "BOUND_8P8TO32",
    "add",
    "add_8p8to8_integers",
    "quantized_add_8p8to8",
    "quantized_add_8p8to32",
]

BOUND_8P8TO32 = 0.5 + 2**-7
"""Largest error of adds and differences in int32 against the exact sum, in output LSB.

In 2**-15 LSB: 2**14 for the rounding of the sum; 0.5 * 255 for each rounded multiplier; 0.5 for the rounded constant;
less than 0.5 for float64. Together at most 2**14 + 256.
"""
BOUND_8P8TO8 = 0.6
"""Largest error of adds and differences in 8 bits against the exact sum, in output LSB.

In 1/32 LSB: 16 for the rounding of the sum; for each operand 0.5 for the rounded multiplier (255/256 of half a unit)
and 0.5 for the floored product (the offset makes up for its mean); 0.5 for the offset. Together 18.5 / 32 = 0.578.
"""
add_8p8to8_integers = _kernels.add_8p8to8_integers
"""(a, b, range) -> ka, kb, offset of the 16-bit loop of `quantized_add_8p8to8`; ValueError if int16 overflows."""


@into_any
def add(
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
    """Add two tensors of uint8 or int8 codes into codes of 8 bits, in at most two passes, or of int32.

    In 8 bits ``c = lowest + round((a + b - min) / step)``, ``step = (max - min) / 255``, by the integers of
    `quantized_add_8p8to8`. **Error: at most 0.6 output LSB** (`BOUND_8P8TO8`). In int32 ``c = round((a + b) / step)``,
    by the integers and in the range of `quantized_add_8p8to32`. **Error: at most** ``0.5 + 2**-7`` output LSB
    (`BOUND_8P8TO32`). Both are against the exact sum of ``min + (q - lowest) * step``, for every pair of ranges. The
    loops read int8 codes as the uint8 codes that are 128 higher, without a copy: the bits are the same.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 or int8 tensors, also one of each, of shapes that broadcast.
    dtype : {uint8, int8, int32}, optional
        Type of the codes of the result. int32 codes have the op's own range, so these take no `guess` or `range`.
    guess : (float or None, float or None), optional
        Output range that is expected. If all results are within, it is the range, because it may be intended; each
        doubling costs 6 dB. Otherwise the data are read once more, for the smallest range that holds the results, the
        ends guessed and, on a code, 0. None, for an end or both, is no guess. Without one the first pass takes what the
        ranges of `a` and `b` allow, and a second is made only if the range gets narrower by 1/16 or more.
    range : (float, float), optional
        Output range that is kept, as a deployed graph needs it: one pass, and results beyond it saturate. If
        min == max, every code is the lowest, which stands for that value.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the broadcast shape.
    return_info : bool, optional
        Give a `RangeInfo` (passes, range found) as well; not for int32.

    Returns
    -------
    QTensor
        The codes and their range. Unless `guess` or `range` says otherwise, 0 is on a code, so a sum that is exactly 0
        stays 0.
    RangeInfo
        Only with ``return_info``.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, another dtype, a range or guess that is not finite or with min > max, both
        of them, one of them for int32, a range narrower than 2**-32 of the range of all results, shapes that do not
        broadcast, an ``out`` that does not fit or overlaps an input, results beyond float32, for int32 a range with an
        end of 2**110 (1.3e33) or more.

    See Also
    --------
    quantized_add_8p8to8, quantized_add_8p8to32 : the integers, in formulas.
    qops.nnlib.quantized_add_8p8to8, qops.tensorflow.quantized_add : what those systems compute.

    Examples
    --------
    >>> a, b = (np.array([0, 100, 255], np.uint8), -1.0, 1.55), (np.array([-128, -28, 127], np.int8), -1.0, 1.55)
    >>> t = qops.add(a, b)  # -2, 0 and 3.1
    >>> t.data, t.zero_point, t.dequantize().round(2)
    (array([  0, 100, 255], dtype=uint8), 100, array([-2. ,  0. ,  3.1], dtype=float32))
    >>> qops.add(a, b, range=(-1.0, 1.55), dtype="int8").data
    array([-128,  -28,  127], dtype=int8)
    >>> t, info = qops.add(a, b, guess=(0.0, 1.0), return_info=True)
    >>> info.passes, t.zero_point
    (2, 100)
    >>> qops.add(a, b, dtype="int32").dequantize().round(2)
    array([-2. ,  0. ,  3.1], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(add, unknown)
    return _kernels.add(QTensor, RangeInfo, a, b, dtype, guess, range, out, return_info)


@refusing_unknown
def quantized_add_8p8to32(
    a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None, **unknown: Never
) -> QTensor:
    """Add two uint8 tensors into int32 codes: `add` into int32, with one dtype for the operands.

    ``max = 2**17 * max(|a_min|, a_max, |b_min|, b_max)``, ``min = -max``, and with output step ``s``::

        c = (k + a * ka + b * kb) >> 15
        ka = round(2**15 * a_step / s)    kb = round(2**15 * b_step / s)
        k = round(2**15 * (a_min + b_min) / s) + 2**14

    rounded half up. 17 of the 32 bits are head room: ``|c| <= 2**15``. If the range of the operand with the widest end
    holds 0, an output step is 1/64 to 1/128 of its step. **Error: at most** ``0.5 + 2**-7`` output LSB
    (`BOUND_8P8TO32`) against the exact sum of ``min + q * step``, for every pair of ranges, also those that exclude 0.
    ``a + b`` and ``b + a`` give the same codes.

    Parameters
    ----------
    a, b, out
        As `add` takes them; `a` and `b` of uint8.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        What `add` refuses, and int8 codes.

    See Also
    --------
    qops.nnlib.quantized_add_8p8to32 : what the DSP library computes.
    qops.nnlib.quantized_bias_add_8p8to32 : nnlib's float formula, with the same output range; it loses offsets.

    Examples
    --------
    >>> t = qops.quantized_add_8p8to32(
    ...     (np.array([0, 255], np.uint8), 1.0, 2.0), (np.array([0, 255], np.uint8), 0.0, 1.0)
    ... )
    >>> t
    QTensor(np.int32([8192, 24576]), -262144.0, 262144.0)
    >>> t.data * t.scale  # 1 + 0, 2 + 1
    array([1., 3.])
    """
    if unknown:
        raise unknown_keyword(quantized_add_8p8to32, unknown)
    return _kernels.add_8p8to32(QTensor, a, b, out)


@into_uint8
def quantized_add_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: OpenRange | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: bool = False,
    **unknown: Never,
) -> QTensor | tuple[QTensor, RangeInfo]:
    """Add two uint8 tensors into uint8 codes: `add`, but the range found is drawn in to the sums, 0 on a code or not.

    The first pass writes with the guessed output range, or the widest, and records the extremes of the sums. A second
    writes with the range of the extremes. With output step ``s`` the 16-bit loop is ::

        c = sat_u8((mulhi(a << 8, ka) + mulhi(b << 8, kb) + offset) >> 5)
        ka = round(8192 * a_step / s)    kb = round(8192 * b_step / s)
        offset = round(32 * (a_min + b_min - min) / s) + 17

    If int16 overflows (an output range far narrower than the sum of the input ranges), terms in 1/65536 output steps
    are added in 64 bits instead. **Error: at most 0.6 output LSB** (`BOUND_8P8TO8`) against the exact sum of
    ``min + q * step``, for every pair of ranges whose sum float32 holds. Only sums outside `range` saturate.

    Parameters
    ----------
    a, b, guess, range, out, return_info
        As `add` takes them; `a` and `b` of uint8. A second pass keeps the guessed ends that no sum reaches.

    Returns
    -------
    QTensor, or QTensor and RangeInfo
        uint8 codes and their range: `range`, or the guessed ends that held and the ends found for the others.

    Raises
    ------
    TypeError, ValueError
        What `add` refuses, and int8 codes.

    See Also
    --------
    qops.nnlib.quantized_add_8p8to8 : what the DSP library computes, wraps and retries included.

    Notes
    -----
    Source: the method (guess, record, write again) and the range without a guess are those of nnlib's ``op_add.c``. The
    integers are not, because nnlib's 7-bit alpha and 15-bit recip wrap or lose bits for some ranges.

    **Bias.** Ties go up. Ties are rare, unless the steps are in a simple proportion: of the sums [0, 1] + [0, 1] into
    [0, 2], half tie, so over all codes the result is 0.25 LSB too high on average. Rounding ties to even would take a
    quarter more time.

    Examples
    --------
    >>> a = (np.array([0, 128, 255], np.uint8), 0.0, 2.0)
    >>> b = (np.array([0, 64, 255], np.uint8), 0.0, 1.0)
    >>> qops.quantized_add_8p8to8(a, b, guess=(0.0, 3.0))
    QTensor(np.uint8([0, 107, 255]), 0.0, 3.0)
    >>> t, info = qops.quantized_add_8p8to8(a, b, guess=(0.0, 1.0), return_info=True)
    >>> info.passes, round(t.max, 2)
    (2, 3.0)
    >>> qops.quantized_add_8p8to8(a, b, range=(0.0, 1.0))
    QTensor(np.uint8([0, 255, 255]), 0.0, 1.0)
    """
    if unknown:
        raise unknown_keyword(quantized_add_8p8to8, unknown)
    return _kernels.add_8p8to8(QTensor, RangeInfo, a, b, guess, range, out, return_info)
