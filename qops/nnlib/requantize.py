"""nnlib's requantizers."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import recode
from qops._kernels.nnlib import requantize as kernels
from qops._kernels.stage.range import range_32
from qops.checks import S32, U8, operand, output, span
from qops.nnlib.ranges import adjust_range
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantize_down_and_shrink_range_32to8", "requantization_range_32", "requantize_8to8", "requantize_32to8"]


def requantization_range_32(t: TensorLike) -> tuple[float, float]:
    """RequantizationRange_32: ``level * min(0, lowest code)`` and ``level * max(0, highest code)``.

    ``level = (max - min) * 2**-32``, the step of the codes.

    Parameters
    ----------
    t : int32 tensor

    Returns
    -------
    (float, float)

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a range wider than float32.

    Notes
    -----
    Source: ``do_requantrange_execute``, ``op_requantize.c``.

    **Hazards.** If there are no codes but 0, the range is 0 wide, and the next op divides by that:

    >>> qops.nnlib.requantization_range_32((np.array([0], np.int32), -1.0, 1.0))
    (0.0, 0.0)

    Examples
    --------
    >>> qops.nnlib.requantization_range_32((np.array([-(2**30), 2**29], np.int32), -8.0, 8.0))
    (-4.0, 2.0)
    """
    codes, lo, hi = operand(t, "t", S32)
    _, lowest, highest = kernels.spanned(lo, hi, *range_32(codes))
    return _finite(lowest, highest, "t", lo, hi)


def requantize_32to8(t: TensorLike, min: float, max: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Requantize_32to8: `requantize_i32` into a given range, which `adjust_range` moves first to put 0 on a code.

    ``level = (in_max - in_min) * 2**-32``, the step of the codes.

    Parameters
    ----------
    t : int32 tensor
    min, max : float
        The requested range.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes and the adjusted range.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a range wider than float32.

    Notes
    -----
    Source: ``do_requantize_execute``, ``op_requantize.c``.

    **Hazards.** The formula depends on the number of elements. With the ranges below, 2.9 % of the codes that do not
    saturate differ between 127 and 128 of them.

    >>> x = np.full(128, -81634266, np.int32)
    >>> [int(qops.nnlib.requantize_32to8((x[:n], -7.0, 7.0), -0.4, 0.4).data[0]) for n in (127, 128)]
    [42, 43]

    Examples
    --------
    >>> qops.nnlib.requantize_32to8((np.array([-(2**30), 0, 2**29], np.int32), -8.0, 8.0), -4.0, 4.0)
    QTensor(np.uint8([0, 127, 191]), -4.0, 4.031496047973633)
    """
    lo, hi = adjust_range(min, max)[:2]
    codes, in_min, in_max = operand(t, "t", S32)
    level = kernels.spanned(in_min, in_max, 0, 0)[0]
    _finite(level, 0.0, "t", in_min, in_max)
    _finite(kernels.spanned(lo, hi, 0, 0)[0], 0.0, "min, max", lo, hi)
    out = output(out, U8, codes)
    kernels.requantize_32to8(codes, level, lo, hi, False, out)
    return tensor(out, lo, hi)


def quantize_down_and_shrink_range_32to8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizeDownAndShrinkRange_32to8: `requantize_32to8` into the `requantization_range_32` of its own codes.

    Parameters
    ----------
    t : int32 tensor
    out : uint8 array, optional

    Returns
    -------
    QTensor
        As `requantize_32to8` returns it.

    Raises
    ------
    TypeError, ValueError
        As `requantize_32to8`.

    Notes
    -----
    Source: ``do_autorequantize_execute``, ``op_requantize.c``.

    **Hazards.** Codes that are all 0 give the range (0.0, 0.0), and the next op divides by its width:

    >>> qops.nnlib.quantize_down_and_shrink_range_32to8((np.array([0], np.int32), -1.0, 1.0))
    QTensor(np.uint8([0]), 0.0, 0.0)

    Examples
    --------
    >>> qops.nnlib.quantize_down_and_shrink_range_32to8((np.array([-(2**30), 0, 2**29], np.int32), -8.0, 8.0))
    QTensor(np.uint8([0, 170, 255]), -4.0, 2.0)
    """
    return requantize_32to8(t, *requantization_range_32(t), out=out)


def requantize_8to8(t: TensorLike, min: float, max: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Requantize_8to8: `requantize_u8` into a given range, in which 0 must be on a code.

    Its gain is ``(in_max - in_min) / (max - min)``, its zeros are ``sat_u8(plus_half(-255 * min / (max - min)))`` of
    either range.

    Parameters
    ----------
    t : uint8 tensor
    min, max : float
        The output range; one that `adjust_range` leaves as it is.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); an output range whose 0 lies between two codes, as in the original,
        or that is 2**15 times narrower than that of the input.

    Notes
    -----
    Source: ``do_requantize_8to8_execute``, ``op_requantize.c``.

    **Hazards.** The zero of the input is rounded to a code, and the gain multiplies that error:

    >>> qops.nnlib.requantize_8to8(
    ...     (np.array([126, 127, 128], np.uint8), -10.0, 10.0), -12.8, 12.7
    ... ).data  # -0.12, -0.04, 0.04
    array([126, 127, 128], dtype=uint8)
    >>> t = (np.array([126, 127, 128], np.uint8), -10.0, 10.0)
    >>> qops.nnlib.requantize_8to8(t, -0.128, 0.127).data  # -0.118 is -0.156 here
    array([  0,  50, 128], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.requantize_8to8((np.array([0, 10, 255], np.uint8), 0.0, 255.0), 0.0, 510.0).data
    array([  0,   5, 128], dtype=uint8)
    """
    lo, hi = span(min, max)
    codes, in_min, in_max = operand(t, "t", U8)
    adjusted = adjust_range(lo, hi)[:2]
    if adjusted != (lo, hi):
        raise bad_value(
            "min, max", f"0 is between two codes of ({lo}, {hi}), which the original refuses; try {adjusted}"
        )
    gain, in_zero, out_zero = recode.gain_8to8(in_min, in_max, lo, hi)
    if not gain < 2**15:
        raise bad_value("min, max", f"({lo}, {hi}) is too small for the input range ({in_min}, {in_max})")
    out = output(out, U8, codes)
    recode.requantize_8to8(codes, gain, in_zero, out_zero, out)
    return tensor(out, lo, hi)


def _finite(a: float, b: float, name: str, lo: float, hi: float) -> tuple[float, float]:
    if not (isfinite(a) and isfinite(b)):
        raise bad_value(name, f"the range ({lo}, {hi}) is wider than float32")
    return a, b
