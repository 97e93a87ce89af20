"""QuantizedAdd: 8 bit plus 8 bit, to int32 (nnlib's float formula) or to 8 bit (guess, watch, at most once more)."""

from typing import Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from qops._kernels.frontdoor import calls as frontdoor
from qops._kernels.frontdoor.add import add_8p8to32_integers
from qops.qtensor import QTensor, TensorLike, span

BOUND_8P8TO8 = 0.6
"""Largest error of `quantized_add_8p8to8` against the exact sum, in output LSB.

In 1/32 LSB: 16 for the one rounding; for each operand 0.5 for the multiplier (255/256 of half a unit) and 0.5 for the
truncated product (the offset makes up for the other half); 0.5 for the offset: 18.5 / 32 = 0.578.
"""
Ends: TypeAlias = tuple[float | None, float | None]


class AddInfo(NamedTuple):
    """How `quantized_add_8p8to8` came to its range.

    Attributes
    ----------
    passes : int
        1 or 2.
    found_min, found_max : float
        Range of the sums that the first pass watched, rounded outward.
    """

    passes: int
    found_min: float
    found_max: float


def quantized_add_8p8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Add two uint8 tensors into int32 codes by the formula of nnlib's bias add, to the bit.

    ``max = 2**17 * max(|a_min|, a_max, |b_min|, b_max)``, ``min = -max``, and with ``level = (max - min) / 2**32``::

        c = trunc(0.5 + (a - za) * (a_step / level) + (b - zb) * (b_step / level))

    in float32, one rounding an operation. 17 of the 32 bits are head room: ``|c| <= 2**15 + 2**7``. One code is 1/64 to
    1/128 of the step of the operand with the widest end, if its range holds 0.

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
    error_bound_8p8to32 : how far from the exact sum, in output LSB.

    Notes
    -----
    Source: nnlib, ``op_biasadd.c``: the reference that QuantizedAdd_8p8to32 is explained by; its own kernel is
    `nnlib.quantized_add_8p8to32`.

    **Hazards.** Each zero point is rounded to a code, so a range whose 0 lies between two codes is read shifted by up
    to half an input step, and a range that excludes 0 loses its offset:

    >>> import numpy as np
    >>> one = np.zeros(1, np.uint8)
    >>> t = quantized_add_8p8to32((one, 1.0, 2.0), (one, 0.0, 1.0))  # 1 + 0
    >>> float(t.data[0] * t.scale)
    0.0

    Examples
    --------
    >>> t = quantized_add_8p8to32((np.uint8([255]), -1.0, 1.0), (np.uint8([255]), -1.0, 1.0))
    >>> t.max, t.data
    (131072.0, array([32640], dtype=int32))
    """
    return frontdoor.quantized_add_8p8to32(a, b, out, QTensor)


def error_bound_8p8to32(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Largest error of `quantized_add_8p8to32` for the ranges ``a`` and ``b``, in output LSB.

    What the two integer zero points lose, what float32 makes of the two multipliers (much where all ends are below
    2**-112, so that a level is denormal), 1.5 for the truncation (upward when the sum is negative), and 2**-6 for
    float32 sums of up to 2**16.

    Parameters
    ----------
    a, b : (min, max)
        The ranges of the operands.

    Returns
    -------
    float
        In LSB of the int32 output, ``(max - min) / 2**32``; 0 if both ranges are 0 wide at 0.

    Raises
    ------
    TypeError, ValueError
        A range that is not finite or with min > max.

    Examples
    --------
    >>> round(error_bound_8p8to32((-128.0, 127.0), (0.0, 255.0)), 2)  # 0 is on a code
    1.52
    >>> round(error_bound_8p8to32((-1.0, 1.0), (0.0, 255.0)), 2)  # 0 is between two
    1.77
    """
    a, b = span(*a, "a"), span(*b, "b")
    p = add_8p8to32_integers(*a, *b)
    level = 2 * p["max"] / 2**32
    if level == 0:
        return 0.0
    bound = 1.5 + 2.0**-6
    for (lo, hi), zero, multiplier in ((a, p["za"], p["ma"]), (b, p["zb"], p["mb"])):
        step = (hi - lo) / 255
        bound += abs(lo + zero * step) / level + max(zero, 255 - zero) * abs(multiplier - step / level)
    return bound


@overload
def quantized_add_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
    return_info: Literal[False] = False,
) -> QTensor: ...
@overload
def quantized_add_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
    return_info: Literal[True],
) -> tuple[QTensor, AddInfo]: ...
def quantized_add_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
    return_info: bool = False,
) -> QTensor | tuple[QTensor, AddInfo]:
    """Add two uint8 tensors into uint8 codes, in at most two passes over the data.

    The first pass writes with the guessed output range and watches the extremes of the sums. If every code fitted,
    that is the result; if not, the second pass writes once more, with the range that the extremes give. An end that is
    not guessed starts as wide as the ranges of `a` and `b` allow, and is drawn in when the data use less of it.

    With output step ``s`` the 16-bit loop is ::

        c = sat_u8((mulhi(a << 8, ka) + mulhi(b << 8, kb) + offset) >> 5)
        ka = round(8192 * a_step / s)    kb = round(8192 * b_step / s)
        offset = round(32 * (a_min + b_min - min) / s) + 17

    and sums of terms in 1/65536 output steps where 16 bits cannot hold it (an output range far narrower than the
    sum of the input ranges). **Error: at most 0.6 output LSB** (`BOUND_8P8TO8`) against the exact sum of
    ``min + q * step``, for every pair of ranges whose sum float32 holds; nothing saturates.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 tensors of shapes that broadcast.
    guess : (float or None, float or None), optional
        Expected ends of the output range. An end that the sums pass costs a second pass; one that they do not reach
        is kept, as it may be wanted so, and costs 6 dB for each doubling of the range.
    out : ndarray of uint8, optional
        Where the codes are written; of the broadcast shape.
    return_info : bool, optional
        Give an `AddInfo` (passes, range found) as well.

    Returns
    -------
    QTensor
        uint8 codes, each end of the range the guessed one where that held, else the one found.
    AddInfo
        Only with ``return_info``.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range or guess that is not finite or with min > max, shapes that do not
        broadcast, an ``out`` that does not fit or overlaps an input, ranges whose sum is beyond float32.

    See Also
    --------
    qops.nnlib.quantized_add_8p8to8 : what the DSP library computes, wraps and retries included.

    Notes
    -----
    Source: the method is that of nnlib's ``op_add.c`` (guess, watch, write again), the integers are not: its 7-bit
    alpha and 15-bit recip wrap or lose bits for some ranges.

    Examples
    --------
    >>> import numpy as np
    >>> a = (np.uint8([0, 128, 255]), 0.0, 2.0)
    >>> b = (np.uint8([0, 64, 255]), 0.0, 1.0)
    >>> quantized_add_8p8to8(a, b, guess=(0.0, 3.0))
    QTensor(data=array([  0, 107, 255], dtype=uint8), min=0.0, max=3.0)
    >>> t, info = quantized_add_8p8to8(a, b, guess=(0.0, 1.0), return_info=True)
    >>> info.passes, round(t.max, 2)
    (2, 3.0)
    """
    if return_info:
        return frontdoor.quantized_add_8p8to8(a, b, guess, out, QTensor, AddInfo)
    return frontdoor.quantized_add_8p8to8(a, b, guess, out, QTensor, None)
