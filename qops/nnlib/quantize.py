"""nnlib's Quantize and AutoQuantize, of the vector unit and (``_ref``) of plain float32."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.core.range import range_float
from qops._kernels.nnlib import quantize as kernels
from qops.qtensor import F32, U8, QTensor, array, output, span


def quantize(x: ArrayLike, min: float, max: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Quantize, as the vector unit does it: in integers, of about 19 bits.

    If min < 0, an end of the range moves first until 0 is on a code (`adjust_minmax_for_zero`). Then every float
    becomes an integer: its 24-bit mantissa, shifted to the exponent of the range, with its sign::

        fixed(v) = mantissa(v) >> (exponent(width) + 4 - exponent(v))      width = (max - min) * 256 / 255
        c = sat_u16((fixed(x) + offset) * scaling >> 16) >> 8
        offset = |fixed(min)| + fixed(width) / 512                         the second term is half a code step
        scaling = (2**32 - 1) / fixed(width)                               both quotients rounded down

    Parameters
    ----------
    x : array_like of float32
        Real values.
    min, max : float
        Range asked for.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        uint8 codes and the range with 0 on a code.

    Raises
    ------
    TypeError, ValueError
        Data that are not float32, a range that is not finite, with min > max or wider than float32, an ``out`` that
        does not fit or overlaps `x`.

    See Also
    --------
    quantize_ref : up to 0.4 % of the codes differ by 1; error 0.53 LSB here, 0.5 there.

    Notes
    -----
    Source: ``quantize_execute_opt``, ``op_quantize.c``; ``autoquantize_h.S``.

    **Hazards.** Values a little out of range saturate, but from about 5000 times the range on the sum wraps:

    >>> quantize(np.float32([-2, 2, -1e4, 1e4]), -1.0, 1.0).data
    array([  0, 255, 255,   0], dtype=uint8)

    A range above 0 is not widened to hold 0, and its min is added where it should be subtracted:

    >>> quantize(np.float32([1, 2]), 1.0, 2.0).data  # not 0, 255
    array([255, 255], dtype=uint8)

    NaN and infinity are not refused:

    >>> quantize(np.float32([np.nan, np.inf]), -1.0, 1.0).data
    array([255, 254], dtype=uint8)

    Examples
    --------
    >>> quantize(np.float32([-1, 0, 0.5, 1]), -1.0, 1.0)
    QTensor(data=array([  0, 127, 190, 254], dtype=uint8), min=-1.0, max=1.0078740119934082)
    """
    lo, hi = span(min, max, "range")
    values = array(x, "x", F32)
    out = output(out, U8, values)
    return _quantized(out, kernels.quantize(values, lo, hi, out), lo, hi)


def quantize_ref(x: ArrayLike, min: float, max: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """Quantize_ref: ``c = sat_u8(round_half_away((x - min) * (255 / (max - min))))`` in float32.

    The range first gets 0 on a code (`adjust_range`).

    Parameters
    ----------
    x : array_like of float32
        Real values.
    min, max : float
        Range asked for.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        uint8 codes and the range with 0 on a code.

    Raises
    ------
    TypeError, ValueError
        Data that are not float32; a range that is not finite, that does not hold 0 or is narrower than 1e-8 (the
        original refuses these too) or wider than float32; an ``out`` that does not fit or overlaps `x`.

    Notes
    -----
    Source: ``quantize_execute_ref``, ``op_quantize.c``.

    **Hazards.** The vector op of the same graph takes ranges that this one refuses (`quantize`).

    >>> quantize_ref(np.float32([1, 2]), 1.0, 2.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: range: (1.0, 2.0) does not hold 0 ...

    Examples
    --------
    >>> quantize_ref(np.float32([-1, 0, 0.5, 1]), -1.0, 1.0)
    QTensor(data=array([  0, 127, 191, 254], dtype=uint8), min=-1.0, max=1.0078740119934082)
    """
    lo, hi = span(min, max, "range")
    values = array(x, "x", F32)
    if kernels.refused(lo, hi):
        raise ValueError(f"range: ({min}, {max}) does not hold 0 or is narrower than 1e-8, which the original refuses")
    out = output(out, U8, values)
    return _quantized(out, kernels.quantize_ref(values, lo, hi, out), lo, hi)


def auto_quantize(x: ArrayLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """AutoQuantize: `quantize` with the range of the data and 0.

    Parameters
    ----------
    x : array_like of float32
        Real values.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        uint8 codes and the range with 0 on a code.

    Raises
    ------
    TypeError, ValueError
        Data that are not float32 or not finite, or that span more than float32; an ``out`` that does not fit or
        overlaps `x`.

    Notes
    -----
    Source: ``autoquantize_execute_opt``, ``op_quantize.c``; ``autoquantize_h.S``.

    **Hazards.** Only zeros give a range of 1e-18 here and of 1e-4 from `auto_quantize_ref`:

    >>> zeros = np.zeros(1, np.float32)
    >>> auto_quantize(zeros).max, auto_quantize_ref(zeros).max
    (1.000000045813705e-18, 9.999999747378752e-05)

    Examples
    --------
    >>> auto_quantize(np.float32([-1, 0, 1]))
    QTensor(data=array([  0, 127, 254], dtype=uint8), min=-1.0, max=1.0078740119934082)
    """
    values = array(x, "x", F32)
    lo, hi = _range_of(values, 0.0)
    out = output(out, U8, values)
    return _quantized(out, kernels.quantize(values, lo, hi, out), lo, hi)


def auto_quantize_ref(x: ArrayLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """AutoQuantize_ref: `quantize_ref` with the range of the data and 0, at least 1e-4 wide.

    Parameters
    ----------
    x : array_like of float32
        Real values.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        uint8 codes and the range with 0 on a code.

    Raises
    ------
    TypeError, ValueError
        Data that are not float32 or not finite, or that span more than float32; an ``out`` that does not fit or
        overlaps `x`.

    Notes
    -----
    Source: ``autoquantize_execute``, ``op_quantize.c``.

    **Hazards.** Data much smaller than 1e-4 lose all their codes:

    >>> auto_quantize_ref(np.float32([0, 1e-7])).data
    array([0, 0], dtype=uint8)
    """
    values = array(x, "x", F32)
    lo, hi = _range_of(values, 1e-4)
    out = output(out, U8, values)
    return _quantized(out, kernels.quantize_ref(values, lo, hi, out), lo, hi)


def _range_of(values: NDArray[np.float32], narrowest: float) -> tuple[float, float]:
    lowest, highest, finite = range_float(values)
    if not finite:
        raise ValueError("x: has NaN or infinite values, which the original refuses")
    return kernels.range_of_data(lowest, highest, narrowest)


def _quantized(out: NDArray[np.uint8], ends: tuple[float, float] | None, lo: float, hi: float) -> QTensor:
    if ends is None:
        raise ValueError(f"range: ({lo}, {hi}) is wider than float32")
    return QTensor(out, *ends)
