"""nnlib's requantizers."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.range import range_32
from qops._kernels.nnlib import requantize as kernels
from qops.nnlib.ranges import adjust_range
from qops.qtensor import S32, U8, QTensor, TensorLike, operand, output, span


def requantization_range_32(t: TensorLike) -> tuple[float, float]:
    """RequantizationRange_32: the values that int32 codes and 0 span, ``level * min(0, q)``, ``level * max(0, q)``.

    ``level = (max - min) * 2**-32``; in float32, one rounding an operation.

    Parameters
    ----------
    t : (data, min, max)
        int32 tensor.

    Returns
    -------
    (float, float)

    Raises
    ------
    TypeError, ValueError
        An argument that is no int32 tensor, a range that is not finite, not symmetric or wider than float32.

    Notes
    -----
    Source: ``do_requantrange_execute``, ``op_requantize.c``.

    **Hazards.** Only zeros (or no codes) give a range 0 wide, by which the next op divides:

    >>> requantization_range_32((np.int32([0]), -1.0, 1.0))
    (0.0, 0.0)

    Examples
    --------
    >>> requantization_range_32((np.int32([-(2**30), 2**29]), -8.0, 8.0))
    (-4.0, 2.0)
    """
    codes, lo, hi = operand(t, "t", S32)
    _, lowest, highest = kernels.spanned(lo, hi, *range_32(codes))
    return _finite(lowest, highest, "t: the range", lo, hi)


def requantize_32to8(t: TensorLike, min: float, max: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Requantize_32to8: int32 codes into uint8 codes of a given range, which first gets 0 on a code (`adjust_range`).

    As `requantize_i32`, with ``level = (in_max - in_min) * 2**-32``.

    Parameters
    ----------
    t : (data, min, max)
        int32 tensor.
    min, max : float
        Range asked for.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        uint8 codes and the range with 0 on a code.

    Raises
    ------
    TypeError, ValueError
        An argument that is no int32 tensor, a range that is not finite, with min > max, (input) not symmetric or wider
        than float32, an ``out`` that does not fit or overlaps the data.

    Notes
    -----
    Source: ``do_requantize_execute``, ``op_requantize.c``.

    **Hazards.** The rule depends on the size of the tensor: 0.5 % of codes differ between 127 and 128 elements.

    >>> x = np.full(128, -81634266, np.int32)
    >>> [int(requantize_32to8((x[:n], -7.0, 7.0), -0.4, 0.4).data[0]) for n in (127, 128)]
    [42, 43]

    Examples
    --------
    >>> requantize_32to8((np.int32([-(2**30), 0, 2**29]), -8.0, 8.0), -4.0, 4.0)
    QTensor(data=array([  0, 127, 191], dtype=uint8), min=-4.0, max=4.031496047973633)
    """
    lo, hi = adjust_range(min, max)[:2]
    codes, in_min, in_max = operand(t, "t", S32)
    level = kernels.spanned(in_min, in_max, 0, 0)[0]
    _finite(level, 0.0, "t: the range", in_min, in_max)
    _finite(kernels.spanned(lo, hi, 0, 0)[0], 0.0, "min, max: the range", lo, hi)
    out = output(out, U8, codes)
    kernels.requantize_32to8(codes, level, lo, hi, False, out)
    return QTensor(out, lo, hi)


def quantize_down_and_shrink_range_32to8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizeDownAndShrinkRange_32to8: `requantize_32to8` into `requantization_range_32`.

    Parameters
    ----------
    t : (data, min, max)
        int32 tensor.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        uint8 codes and the range with 0 on a code.

    Raises
    ------
    TypeError, ValueError
        An argument that is no int32 tensor, a range that is not finite, not symmetric or wider than float32, an ``out``
        that does not fit or overlaps the data.

    Notes
    -----
    Source: ``do_autorequantize_execute``, ``op_requantize.c``.

    **Hazards.** Only zeros give the range (0.0, 0.0), by which the next op divides:

    >>> quantize_down_and_shrink_range_32to8((np.int32([0]), -1.0, 1.0))
    QTensor(data=array([0], dtype=uint8), min=0.0, max=0.0)

    Examples
    --------
    >>> quantize_down_and_shrink_range_32to8((np.int32([-(2**30), 0, 2**29]), -8.0, 8.0))
    QTensor(data=array([  0, 170, 255], dtype=uint8), min=-4.0, max=2.0)
    """
    return requantize_32to8(t, *requantization_range_32(t), out=out)


def requantize_8to8(t: TensorLike, min: float, max: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Requantize_8to8: uint8 codes into uint8 codes of a given range, 0 on a code.

    As `requantize_u8`, with ``gain = input range / output range`` and ``zero = sat_u8(round_half_away(-255 * min /
    range))``.

    Parameters
    ----------
    t : (data, min, max)
        uint8 tensor.
    min, max : float
        Output range; one that `adjust_range` leaves as it is.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, an ``out`` that does not fit
        or overlaps the data; as in the original, an output range whose 0 is between two codes, or 2**15 times narrower
        than the input's.

    Notes
    -----
    Source: ``do_requantize_8to8_execute``, ``op_requantize.c``.

    **Hazards.** The zero of the input is rounded to a code first, and that error is multiplied by the gain:

    >>> requantize_8to8((np.uint8([126, 127, 128]), -10.0, 10.0), -12.8, 12.7).data  # -0.12, -0.04, 0.04
    array([126, 127, 128], dtype=uint8)
    >>> requantize_8to8((np.uint8([126, 127, 128]), -10.0, 10.0), -0.128, 0.127).data  # -0.118 is -0.156 here
    array([  0,  50, 128], dtype=uint8)

    Examples
    --------
    >>> requantize_8to8((np.uint8([0, 10, 255]), 0.0, 255.0), 0.0, 510.0).data
    array([  0,   5, 128], dtype=uint8)
    """
    lo, hi = span(min, max, "output range")
    codes, in_min, in_max = operand(t, "t", U8)
    adjusted = adjust_range(lo, hi)[:2]
    if adjusted != (lo, hi):
        raise ValueError(
            f"output range: 0 is between two codes of ({lo}, {hi}), which the original refuses; try {adjusted}"
        )
    gain, in_zero, out_zero = kernels.gain_8to8(in_min, in_max, lo, hi)
    if not gain < 2**15:
        raise ValueError(f"output range: ({lo}, {hi}) is too small for the input range ({in_min}, {in_max})")
    out = output(out, U8, codes)
    kernels.requantize_8to8(codes, gain, in_zero, out_zero, out)
    return QTensor(out, lo, hi)


def _finite(a: float, b: float, name: str, lo: float, hi: float) -> tuple[float, float]:
    if not (isfinite(a) and isfinite(b)):
        raise ValueError(f"{name} ({lo}, {hi}) is wider than float32")
    return a, b
