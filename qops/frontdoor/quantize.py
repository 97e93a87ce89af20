"""quantize and dequantize: float32 arrays to codes and back."""

from __future__ import annotations

from typing import Any, Literal, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.frontdoor import quantize as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.affine import ranges
from qops.checks import as_array, float32s, integer, shown
from qops.codes import of_dtype
from qops.frontdoor.targets import OpenRanges
from qops.qtensor import QTensor, TensorLike

__all__ = ["BOUND_QUANTIZE", "BOUND_QUANTIZE_16", "dequantize", "quantize"]

BOUND_QUANTIZE = 0.5 + 2**-13
"""Largest error of `quantize` in LSB, for values within the range: 0.5 for the rounding, the rest for float32."""
BOUND_QUANTIZE_16 = 0.5 + 2**-5
"""Largest error of `quantize` with 16-bit codes, where float32 products reach 65535, in LSB."""


@refusing_unknown
def quantize(
    x: ArrayLike,
    min: float | ArrayLike | None = None,
    max: float | ArrayLike | None = None,
    *,
    range: OpenRanges | None = None,
    scale: float | ArrayLike | None = None,
    zero_point: int | ArrayLike | None = None,
    axis: int | tuple[int, ...] | None = None,
    block: int | None = None,
    dtype: DTypeLike = "uint8",
    symmetric: bool = False,
    nan: Literal["raise", "lowest"] = "raise",
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> QTensor:
    """Quantize real numbers into codes, by default of uint8; 0 is always exactly on a code.

    ``c = saturate(round_half_even(x * float32(1 / scale)) + zero_point)``, with the smallest range that holds ``min``,
    ``max`` and, on a code, 0 (`qops.affine.holding_zero`). **Error: at most** ``0.5 + 2**-13`` LSB (`BOUND_QUANTIZE`;
    with 16-bit codes ``0.5 + 2**-5``, `BOUND_QUANTIZE_16`) within that range.

    Parameters
    ----------
    x : array_like of float
        Real values. float64 and integers are rounded to float32 first.
    min, max : float or array_like of float, optional
        Lowest and highest value of the range; one that is not given comes from the data and 0. Values outside saturate.
        The range is widened to hold 0, and to be at least 6e-36 wide. Arrays that broadcast against `x` give ranges per
        channel. ``quantize(x, (-1.0, 1.0))`` takes the pair as `range`.
    range : (min, max), optional
        Both ends at once, in place of `min` and `max`; each may be None.
    scale : float, or with an axis 1-D array_like, optional
        Real size of one code step, in place of a range: codes then stand for ``scale * (q - zero_point)``, except that
        the ends of the range are rounded to float32 (`QTensor.from_scale`).
    zero_point : int, or with an axis 1-D array_like, optional
        Code of real 0, with a `scale`; by default 0.
    axis : int or tuple of int, optional
        Each index along this axis gets a range of its own. With several axes, each choice of an index along all of them
        does: ``axis=(0, 1)`` of (batch, token, channel) is a range for each token.
    block : int, optional
        With one `axis`: each block of so many neighbours along it gets a range of its own, in each row, as language
        models keep their weights; the last block may be shorter. `min` and `max` of the result then have the shape of
        `x`. Ranges come from the data.
    dtype : {uint8, int8, uint16, int16}, optional
        Type of the codes.
    symmetric : bool, optional
        Whether 0 is on the middle code, 128 for uint8 and 0 for int8, as many chips want their weights: the larger of
        ``|min|`` and ``|max|``, T, is on the highest code, and the range is ``(-T * 128 / 127, T)`` (32768 / 32767 with
        16 bits).
    nan : {"raise", "lowest"}, optional
        What a NaN does if both ends are given: it raises ValueError, which leaves the content of `out` undefined, or it
        gets the lowest code.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        The codes and the range used, which may be wider than the given one. Without a given range, it is (0.0, 0.0) for
        no data and for zeros. With ranges per channel, min and max are float32 arrays that broadcast against the codes.

    Raises
    ------
    TypeError, ValueError
        Data that are not numbers, a range that is not finite, beyond float32 when widened or with min > max, another
        dtype or axis, a `block` without one axis or beside a range or a scale, `range` beside `min` or `max`, a scale
        beside a range, a `zero_point` without a scale, an ``out`` that does not fit or overlaps `x`; NaN, with its
        index; infinite data when an end of the range has to come from them. With both ends given infinities saturate.

    Examples
    --------
    >>> qops.quantize([-1.0, 0.0, 0.5, 1.0])
    QTensor(np.uint8([0, 127, 191, 254]), -1.0, 1.0078740119934082)
    >>> weights = qops.quantize([[-1.0, 1.0], [0.0, 8.0]], axis=0, dtype=np.int8)
    >>> weights.data.tolist(), weights.scale.round(4).tolist()
    ([[-128, 126], [-128, 127]], [[0.0079], [0.0314]])
    >>> qops.quantize([-1.0, 0.0, 0.25], dtype="int8", symmetric=True)
    QTensor(np.int8([-127, 0, 32]), -1.0078740119934082, 1.0)
    >>> qops.quantize([-1.0, 0.25], scale=0.25, zero_point=3).data
    array([0, 4], dtype=uint8)
    >>> qops.quantize(np.ones((2, 3, 8)), axis=(0, 1)).scale.shape
    (2, 3, 1)
    >>> qops.quantize([[1.0, 2.0, 40.0, 80.0]], axis=1, block=2, dtype="int8", symmetric=True).data
    array([[ 64, 127,  64, 127]], dtype=int8)
    """
    if unknown:
        raise unknown_keyword(quantize, unknown)
    if block is not None:
        given = {"min": min, "max": max, "range": range, "scale": scale, "zero_point": zero_point}
        lo, hi = _of_blocks(x, block, axis, given)
        return _kernels.quantize(QTensor, x, lo, hi, None, None, dtype, symmetric, nan, out)
    if scale is None and zero_point is None:
        return _kernels.quantize(QTensor, x, min, max, range, axis, dtype, symmetric, nan, out)
    is_free = min is None and max is None and range is None and symmetric is False
    lo, hi = _of_scale(x, scale, zero_point, dtype, axis, is_free)
    made = _kernels.quantize(QTensor, x, lo, hi, None, None, dtype, symmetric, nan, out)
    return QTensor(made.data, lo, hi)  # the kernel's own ends may be a last bit wider


def _of_blocks(x: Any, block: Any, axis: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    """Give the lowest and the highest value of the block of each element; of data that are not finite, none."""
    for name, value in given.items():
        if value is not None:
            raise bad_value("block", f"ranges of blocks come from the data, got {name}, {shown(value)}, too")
    if axis is None or isinstance(axis, (tuple, list)):
        raise bad_value("axis", f"expected the one along which the blocks lie, got {shown(axis)}")
    values = float32s(as_array(x, "x"), "x")
    along = integer(axis, "axis", -values.ndim, values.ndim - 1) % max(values.ndim, 1)
    size, length = integer(block, "block", 1, 2**31 - 1), values.shape[along]
    if not values.size or not np.isfinite(values).all():
        return None, None
    starts = np.arange(0, length, size)
    ends = (reduce.reduceat(values, starts, along) for reduce in (np.minimum, np.maximum))
    lo, hi = (np.repeat(end, size, along).take(np.arange(length), along) for end in ends)
    return lo, hi


def _of_scale(x: Any, scale: Any, zero_point: Any, dtype: Any, axis: Any, is_free: bool) -> tuple[Any, Any]:
    """Give the ends of the range of a scale and a zero point."""
    if scale is None:
        raise bad_value("zero_point", f"needs a scale, got {shown(zero_point)} alone")
    if not is_free:
        raise bad_value("scale", f"give scale, or a range or symmetric=True, not both; got scale {shown(scale)}")
    if isinstance(axis, (tuple, list)):
        raise bad_value("axis", f"scales are given along one axis, got {shown(axis)}")
    row, shape = of_dtype(dtype), as_array(x, "x").shape
    lo, hi = ranges(scale, 0 if zero_point is None else zero_point, row, shape, axis)
    return (float(lo), float(hi)) if lo.ndim == 0 else (lo, hi)


@refusing_unknown
def dequantize(t: TensorLike, *, out: NDArray[np.float32] | None = None, **unknown: Never) -> NDArray[np.float32]:
    """Give the real values of a tensor of any code type.

    ``min + (q - lowest) * step``, computed as ``(q - zero_point) * scale + base`` in float32 so that a 0 on a code is
    exactly 0.0; for uint8 ``lowest`` is 0 and ``step = (max - min) / 255``. int32: ``q / 2**31 * max``. `qops.codes`
    has all types. **Error: a few float32 roundings**, at most ``2**-21 * max(|min|, |max|) + 2**-141``; with 16-bit
    codes whose step is below 2**-126, where float32 has fewer bits, ``+ 2**-133``.

    Parameters
    ----------
    t : (data, min, max)
        uint8, int8, uint16, int16 codes, or int32 codes of a symmetric range; min and max may be arrays, per channel.
    out : ndarray of float32, optional
        Where the values are written; of the shape of the data.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max (int32: min != -max), an
        ``out`` that does not fit or overlaps the data.

    Examples
    --------
    >>> qops.dequantize(qops.quantize([-1.0, 0.0, 0.5, 1.0]))
    array([-1.      ,  0.      ,  0.503937,  1.      ], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(dequantize, unknown)
    return _kernels.dequantize(t, out)
