"""nnlib's mean and sum of uint8 codes over axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import requantize as kernels
from qops._kernels.nnlib.ranges import f32, level, moved
from qops.checks import S32, U8, check_out, integers, operand, put, real, shown
from qops.nnlib._checks import count_of
from qops.nnlib.quantize_number import quantize_uint8
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_mean_8", "quantized_sum_8to32"]

NARROWEST = f32(1e-6)
LANES, BYTES = 32, 128  # int32 and bytes of a vector


def quantized_mean_8(
    t: TensorLike,
    axes: Sequence[int],
    min: float | None = None,
    max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedMean_8: the mean over axes, into the range given, or that of `t` adjusted.

    With n codes for each mean, and the zeros and steps of `level_zero`, that of `t` in its range as
    `adjust_minmax_for_zero` moves it::

        gain = min(0.99999, step / (out_step * n))
        c = sat_u8(mul_by_quantized_multiplier(sum - n * zero, gain) + out_zero)

    Parameters
    ----------
    t : uint8 tensor
        Four axes, each at least 1.
    axes : sequence of int
        The axes, -4 to 3, in the order in which nnlib adds along them.
    min, max : float, optional
        The range of the result. An end that is not given is that of `t`, adjusted.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes, the axes kept with length 1.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); an axis that is given twice; sums of more than 8421504 codes. Where
        nnlib overwrites results that it still needs: a further axis than the first whose block of inner elements is 32
        or more and no multiple of 32, or, if the axis has a length of 1, of 128, with something left outside of it.

    Notes
    -----
    Source: ``reducing_mean_execute``, ``op_mean.c``; ``nn_reduce_utils.h``.

    A mean is off by 0.50 LSB at most where 0 is on a code of both ranges.

    **Hazards.** The gain cannot be 1 or more. In a range that is narrower than 1 / n of the input's, means are too
    small, without an error:

    >>> t = np.array([128, 128, 128, 138], np.uint8).reshape(1, 1, 4, 1), -128.0, 127.0  # a mean of 2.5
    >>> for top in (127.0, 31.75, 12.7):
    ...     mean = qops.nnlib.quantized_mean_8(t, [2], -top * 128 / 127, top)
    ...     round(float((mean.data.item() - 128) * mean.scale), 2)
    3.0
    2.5
    1.0

    Several axes with a batch of 2 or more: nnlib adds along them in place, whole vectors at a time, and overwrites sums
    that it has not read. Along the batch first, it does not.

    >>> t = np.zeros((2, 4, 4, 48), np.uint8), 0.0, 1.0
    >>> qops.nnlib.quantized_mean_8(t, [1, 2])
    Traceback (most recent call last):
    ValueError: axes: along axis 2 of (2, 4, 4, 48), nnlib overwrites sums that it has not read yet
    >>> qops.nnlib.quantized_mean_8((t[0][:1], 0.0, 1.0), [1, 2]).data.shape
    (1, 1, 1, 48)

    Examples
    --------
    >>> t = np.array([0, 100, 200, 255], np.uint8).reshape(1, 2, 2, 1), 0.0, 255.0
    >>> qops.nnlib.quantized_mean_8(t, [1, 2]).data.item(), qops.nnlib.quantized_mean_8(t, [1], 0.0, 510.0).data.ravel()
    (139, array([50, 89], dtype=uint8))
    """
    given = [None if end is None else real(end, name) for end, name in ((min, "min"), (max, "max"))]
    codes, along, lo, hi = _taken(t, axes)
    _, lo, hi = moved(lo, hi, 0, NARROWEST)
    low, high = (found if end is None else end for end, found in zip(given, (lo, hi), strict=True))
    if low > high:
        raise bad_value("min, max", f"the range of the result is {(low, high)}")
    sums, count = _sums(codes, along)
    zero, step = level(lo, hi)
    out_zero, out_step = level(low, high)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        gain = np.fmin(np.float32(0.99999), np.float32(step) / (np.float32(out_step) * np.float32(count)))
    if out is not None:
        check_out(out, U8, sums.shape, [codes])
    _, multiplier, right_shift = kernels.below_one(float(gain))
    means = np.empty(sums.shape, np.int32)
    kernels.multiply((sums - count * zero).astype(np.int32), multiplier, 0, np.minimum(right_shift, 62), means)
    wrapped = (means.astype(np.int64) + out_zero).astype(np.int16)
    return tensor(put(wrapped.clip(0, 255).astype(np.uint8), out), low, high)


def quantized_sum_8to32(t: TensorLike, axes: Sequence[int], *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedSum_8to32: ``sum(q - zero)`` over axes, exact.

    The zero is the `quantize_uint8` of 0 in the range of `t` as `adjust_minmax_for_zero` moves it. The output range is
    ``max = 2**31 * step``, ``min = -max``.

    Parameters
    ----------
    t, axes
        As `quantized_mean_8` takes them.
    out : int32 array, optional

    Returns
    -------
    QTensor
        int32 codes, the axes kept with length 1.

    Raises
    ------
    TypeError, ValueError
        As `quantized_mean_8`; an output range beyond float32.

    Notes
    -----
    Source: ``reducing_sum_execute``, ``op_sum.c``; ``nn_reduce_utils.h``.

    **Hazards.** A step of the result is one of the input in the adjusted range, which may have other ends than the
    range of `t`, and the input's zero is rounded to a code. A sum of n codes is off by up to n / 2 of these steps:

    >>> t = qops.nnlib.quantized_sum_8to32((np.full((1, 1, 1, 100), 128, np.uint8), -1.0, 1.0), [3])
    >>> round(float(t.data.item() * t.scale), 2), round(100 * (-1 + 128 * 2 / 255), 2)
    (0.79, 0.39)

    Examples
    --------
    >>> t = np.array([0, 100, 200, 255], np.uint8).reshape(1, 2, 2, 1), 0.0, 255.0
    >>> qops.nnlib.quantized_sum_8to32(t, [1, 2]).data.item()
    555
    """
    codes, along, lo, hi = _taken(t, axes)
    _, lo, hi = moved(lo, hi, 0, NARROWEST)
    _, step = level(lo, hi)
    top = f32(2.0**31 * step)
    if not np.isfinite(top):
        raise bad_value("t", f"the range {(lo, hi)} times 2**31 / 255 is beyond float32")
    sums, count = _sums(codes, along)
    if out is not None:
        check_out(out, S32, sums.shape, [codes])
    sums -= count * quantize_uint8(0.0, lo, hi)
    return tensor(put(sums.astype(np.int32), out), -top, top)


def _taken(t: TensorLike, axes: Sequence[int]) -> tuple[NDArray[np.uint8], tuple[int, ...], float, float]:
    """Check the tensor and the axes; refuse what depends on the memory of the original."""
    along = tuple(axis % 4 for axis in integers(axes, "axes", count_of(axes), -4, 3))
    codes, lo, hi = operand(t, "t", U8)
    if codes.ndim != 4 or codes.size == 0:
        raise bad_value("t", f"expected four axes, each at least 1, got shape {codes.shape}")
    if len(set(along)) != len(along) or not along:
        raise bad_value("axes", f"expected one to four different axes, got {shown(axes)}")
    if prod(codes.shape[axis] for axis in along) > (2**31 - 1) // 255:
        raise bad_value("axes", f"the sums along {along} of shape {codes.shape} have more than 32 bits")
    _refuse_overwritten(codes.shape, along)
    return codes, along, lo, hi


def _refuse_overwritten(shape: tuple[int, ...], along: tuple[int, ...]) -> None:
    """Raise ValueError if nnlib, which adds in place along each axis after the first, writes over what it still reads.

    It stores whole vectors, at addresses rounded down to vectors, and the rest of a block as if it were of bytes.
    """
    left = list(shape)
    if len(along) == 4 or prod(n for axis, n in enumerate(shape) if axis not in along) == 1:
        return
    for i, axis in enumerate(along):
        outer, inner = prod(left[:axis]), prod(left[axis + 1 :])
        if i and outer > 1 and inner >= LANES and (inner % LANES or (inner % BYTES and left[axis] == 1)):
            raise bad_value("axes", f"along axis {axis} of {shape}, nnlib overwrites sums that it has not read yet")
        left[axis] = 1


def _sums(codes: NDArray[np.uint8], along: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
    """Give the sums of codes, and how many codes each has."""
    return codes.sum(along, np.int64, keepdims=True), prod(codes.shape[axis] for axis in along)
