"""quantize and dequantize: float32 arrays <-> codes."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels import quantize as kernels
from qops._kernels.range import range_float
from qops.qtensor import F32, S32, U8, QTensor, TensorLike, operand, output, span

BOUND_QUANTIZE = 0.5 + 2**-13
"""Largest error of `quantize` in LSB, for values within the range: one rounding, and float32 products up to 255."""
_LARGEST = float(np.finfo(np.float32).max)


def quantize(
    x: ArrayLike, min: float | None = None, max: float | None = None, *, out: NDArray[np.uint8] | None = None
) -> QTensor:
    """Quantize real numbers into uint8 codes; 0 is always exactly on a code.

    ``c = sat_u8(round_half_even(x / scale) + zero_point)``, with the smallest range that holds ``min``, ``max`` and, on
    a code, 0 (`qops.affine.holding_zero`). **Error: at most 0.5 + 2**-13 LSB** (`BOUND_QUANTIZE`) within that range.

    Parameters
    ----------
    x : array_like of float
        Real values. float64 and integers are rounded to float32 first.
    min, max : float, optional
        Ends of the range; what is not given comes from the data. Values beyond saturate. The range is widened to hold
        0; one narrower than 6e-36 is widened to that.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        uint8 codes and the range used, which may be wider than the one given. No data, or only zeros, without a
        range: (0.0, 0.0).

    Raises
    ------
    TypeError, ValueError
        Data that are not numbers, a range that is not finite, beyond float32 when widened or with min > max, an ``out``
        that does not fit or overlaps `x`; NaN or infinite data when an end of the range has to come from them. With
        both ends given infinities saturate and NaN gives code 0.

    Examples
    --------
    >>> quantize([-1.0, 0.0, 0.5, 1.0])
    QTensor(data=array([  0, 127, 191, 254], dtype=uint8), min=-1.0, max=1.0078740119934082)
    """
    source = np.asarray(x)
    values = _float32(source)
    if min is None or max is None:
        lowest, highest, finite = range_float(values)
        if not finite:
            raise ValueError("x: has NaN or infinite values, so the range cannot come from the data")
        if values.size == 0:
            lowest = highest = 0.0
        min = lowest if min is None else min
        max = highest if max is None else max
    lo, hi, scale, zero_point = kernels.range_holding_zero(*span(min, max, "range"))
    if not isfinite(hi - lo):
        raise ValueError(f"range: ({min}, {max}), with 0 on a code, is beyond float32")
    out = output(out, U8, source)
    kernels.quantize(values, scale, zero_point, out)
    return QTensor(out, lo, hi)


def dequantize(t: TensorLike, *, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Real values of a uint8 or int32 tensor.

    uint8: ``min + q * (max - min) / 255``, computed as ``(q - zero_point) * scale + base`` in float32 so that a 0 on a
    code is exactly 0.0. int32: ``q / 2**31 * max``. **Error: a few float32 roundings**, at most
    ``2**-21 * max(|min|, |max|) + 2**-141``.

    Parameters
    ----------
    t : (data, min, max)
        uint8 codes, or int32 codes of a symmetric range.
    out : ndarray of float32, optional
        Where the values are written; of the shape of the data.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite, with min > max (int32: min != -max) or within
        half a step of float32's end, an ``out`` that does not fit or overlaps the data.

    Examples
    --------
    >>> dequantize(quantize([-1.0, 0.0, 0.5, 1.0]))
    array([-1.      ,  0.      ,  0.503937,  1.      ], dtype=float32)
    """
    codes, lo, hi = operand(t, "t", U8, S32)
    if codes.itemsize == 1 and max(-lo, hi) + (hi - lo) / 510 > _LARGEST:
        raise ValueError(f"t: the range ({lo}, {hi}) is too near the end of float32")
    out = output(out, F32, codes)
    if codes.itemsize == 1:
        kernels.dequantize_8(codes, lo, hi, out)
    else:
        kernels.dequantize_32(codes, (hi - lo) / 2**32, out)
    return out


def _float32(values: NDArray[Any]) -> NDArray[np.float32]:
    if values.dtype.kind not in "fiu":
        raise TypeError(f"x: expected real numbers, got {values.dtype}")
    with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite, and is treated as that
        return values if values.dtype.itemsize == 4 and values.dtype.kind == "f" else values.astype(np.float32)
