"""QuantizedAdd: 8 bit plus 8 bit, to int32 (rounded once) or to 8 bit (in at most two passes)."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from qops._kernels.frontdoor import add as _kernels
from qops._kernels.frontdoor import add_8p8to32 as _kernels_32
from qops.frontdoor.passes import Ends, Range, RangeInfo
from qops.qtensor import QTensor, TensorLike

__all__ = ["BOUND_8P8TO8", "BOUND_8P8TO32", "add_8p8to8_integers", "quantized_add_8p8to8", "quantized_add_8p8to32"]

BOUND_8P8TO32 = 0.5 + 2**-7
"""Largest error of `quantized_add_8p8to32` against the exact sum, in output LSB.

In 2**-15 LSB: 2**14 for the rounding of the sum; 0.5 * 255 for each rounded multiplier; 0.5 for the rounded constant;
less than 0.5 for float64. Together at most 2**14 + 256.
"""
BOUND_8P8TO8 = 0.6
"""Largest error of `quantized_add_8p8to8` against the exact sum, in output LSB.

In 1/32 LSB: 16 for the rounding of the sum; for each operand 0.5 for the rounded multiplier (255/256 of half a unit)
and 0.5 for the floored product (the offset makes up for its mean); 0.5 for the offset. Together 18.5 / 32 = 0.578.
"""
add_8p8to8_integers = _kernels.add_8p8to8_integers
"""(a, b, range) -> ka, kb, offset of the 16-bit loop of `quantized_add_8p8to8`; ValueError if int16 overflows."""


def quantized_add_8p8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Add two uint8 tensors into int32 codes: the exact sum, rounded once.

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
        an ``out`` that does not fit or overlaps an input, a range with an end of 2**110 (1.3e33) or more.

    See Also
    --------
    qops.nnlib.quantized_add_8p8to32 : what the DSP library computes.
    qops.nnlib.quantized_bias_add_8p8to32 : nnlib's float formula, with the same output range; it loses offsets.

    Examples
    --------
    >>> import numpy as np
    >>> t = quantized_add_8p8to32((np.uint8([0, 255]), 1.0, 2.0), (np.uint8([0, 255]), 0.0, 1.0))
    >>> t
    QTensor(np.int32([8192, 24576]), -262144.0, 262144.0)
    >>> t.data * t.scale  # 1 + 0, 2 + 1
    array([1., 3.])
    """
    return _kernels_32.add_or_subtract(QTensor, a, b, False, out)


@overload
def quantized_add_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: Literal[False] = False,
) -> QTensor: ...
@overload
def quantized_add_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: Literal[True],
) -> tuple[QTensor, RangeInfo]: ...
def quantized_add_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: bool = False,
) -> QTensor | tuple[QTensor, RangeInfo]:
    """Add two uint8 tensors into uint8 codes, in at most two passes over the data.

    The first pass writes with the guessed output range and records the extremes of the sums. If no code saturated,
    that is the result. Otherwise the second pass writes again, with the range of the extremes. An end that is not
    guessed starts as wide as the ranges of `a` and `b` allow; if the data use less, the second pass narrows it. With
    `range` there is one pass, and sums outside the range saturate.

    With output step ``s`` the 16-bit loop is ::

        c = sat_u8((mulhi(a << 8, ka) + mulhi(b << 8, kb) + offset) >> 5)
        ka = round(8192 * a_step / s)    kb = round(8192 * b_step / s)
        offset = round(32 * (a_min + b_min - min) / s) + 17

    If int16 overflows (an output range far narrower than the sum of the input ranges), terms in 1/65536 output steps
    are added in 64 bits instead. **Error: at most 0.6 output LSB** (`BOUND_8P8TO8`) against the exact sum of
    ``min + q * step``, for every pair of ranges whose sum float32 holds. Only sums outside `range` saturate.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 tensors of shapes that broadcast.
    guess : (float or None, float or None), optional
        Expected ends of the output range. A sum outside the guess triggers a second pass. An end that no sum reaches
        is kept, because it may be intended; each doubling of the range costs 6 dB.
    range : (float, float), optional
        A fixed output range, instead of a `guess`, as a deployed graph needs it. If min == max, every code is 0, which
        stands for that value.
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
        An argument that is no such tensor, a range or guess that is not finite or with min > max, both of them, a range
        narrower than 2**-32 of what the sums can span, shapes that do not broadcast, an ``out`` that does not fit or
        overlaps an input, ranges whose sum is beyond float32.

    See Also
    --------
    qops.nnlib.quantized_add_8p8to8 : what the DSP library computes, wraps and retries included.

    Notes
    -----
    Source: the method (guess, record, write again) is that of nnlib's ``op_add.c``. The integers are not, because
    nnlib's 7-bit alpha and 15-bit recip wrap or lose bits for some ranges.

    **Bias.** Ties go up. Ties are rare, unless the steps are in a simple proportion: of the sums [0, 1] + [0, 1] into
    [0, 2], half tie, so over all codes the result is 0.25 LSB too high on average. Rounding ties to even would take a
    quarter more time.

    Examples
    --------
    >>> import numpy as np
    >>> a = (np.uint8([0, 128, 255]), 0.0, 2.0)
    >>> b = (np.uint8([0, 64, 255]), 0.0, 1.0)
    >>> quantized_add_8p8to8(a, b, guess=(0.0, 3.0))
    QTensor(np.uint8([0, 107, 255]), 0.0, 3.0)
    >>> t, info = quantized_add_8p8to8(a, b, guess=(0.0, 1.0), return_info=True)
    >>> info.passes, round(t.max, 2)
    (2, 3.0)
    >>> quantized_add_8p8to8(a, b, range=(0.0, 1.0))
    QTensor(np.uint8([0, 255, 255]), 0.0, 1.0)
    """
    found = _kernels.quantized_add_8p8to8(QTensor, a, b, guess, range, out, return_info)
    return (found[0], RangeInfo(*found[1])) if return_info else found
