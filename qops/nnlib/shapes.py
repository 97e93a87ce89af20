"""nnlib's ops that move codes and compute nothing: pad, strided slice and split."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.nnlib.pad import code_of
from qops.checks import U8, as_array, check_out, integer, integers, operand, real, shown
from qops.nnlib._checks import count_of
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_pad_8", "quantized_split_8", "quantized_strided_slice_8"]

AXES = "NHWC"


def quantized_pad_8(
    t: TensorLike, pads: ArrayLike, value: float = 0.0, *, out: NDArray[np.uint8] | None = None
) -> QTensor:
    """QuantizedPad_8: put ``plus_half(255 * (value - min) / (max - min))`` around the codes.

    Parameters
    ----------
    t : uint8 tensor
    pads : array of int, (axes, 2)
        How many codes are put before and after each of the last axes.
    value : float, optional
        What stands around; minus infinity is code 0, infinity is code 255.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes in the range of `t`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); pads below 0, or for more axes than `t` has; a result without
        elements; a value whose code is not in -2..257, which nnlib refuses, though its own is 0 if none is given.

    Notes
    -----
    Source: ``pad_q_execute``, ``op_pad.c``.

    **Hazards.** A value a little beyond the range becomes its end:

    >>> t = np.array([7], np.uint8), 0.0, 255.0
    >>> [qops.nnlib.quantized_pad_8(t, [[0, 1]], value).data[1].item() for value in (-2.0, 3.0, 257.0)]
    [0, 3, 255]

    Without a value, 0 is put around, which ranges that are far from 0 do not have:

    >>> qops.nnlib.quantized_pad_8((np.array([7], np.uint8), 1.0, 2.0), [[0, 1]])
    Traceback (most recent call last):
    ValueError: value: 0.0 is code -255 of the range (1.0, 2.0), which the original refuses

    Examples
    --------
    >>> qops.nnlib.quantized_pad_8((np.array([[1, 2]], np.uint8), 0.0, 255.0), [[1, 0], [0, 2]], 9.0).data
    array([[9, 9, 9, 9],
           [1, 2, 9, 9]], dtype=uint8)
    """
    around = _pads(pads)
    number = _finite_or_infinite(value)
    codes, lo, hi = operand(t, "t", U8)
    if len(around) > codes.ndim:
        raise bad_value("pads", f"expected (before, after) for up to {codes.ndim} axes, got {shown(pads)}")
    code = _pad_code(number, lo, hi)
    before = [0] * (codes.ndim - len(around)) + [pair[0] for pair in around]
    after = [0] * (codes.ndim - len(around)) + [pair[1] for pair in around]
    shape = tuple(n + b + e for n, b, e in zip(codes.shape, before, after, strict=True))
    if 0 in shape:
        raise bad_value("t, pads", f"a result of shape {shape} has no elements")
    result = _place(out, shape, codes)
    result[...] = code
    result[tuple(slice(b, b + n) for b, n in zip(before, codes.shape, strict=True))] = codes
    return tensor(result, lo, hi)


def quantized_strided_slice_8(
    t: TensorLike,
    start: Sequence[int],
    stop: Sequence[int],
    step: Sequence[int],
    begin_mask: int = 0,
    end_mask: int = 0,
    shrink_mask: int = 0,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedStridedSlice_8: every `step`-th code from `start` to before `stop`, along each axis.

    Below 0, a start or stop counts from the end, and is cut there: a start to 0, a stop to -1. A bit of `begin_mask`
    takes the first code in the direction of the step, one of `end_mask` the last. One of `shrink_mask` takes the code
    at `start` alone.

    Parameters
    ----------
    t : uint8 tensor
        Four axes.
    start, stop, step : sequence of int
        One for each of the last axes, up to four; other axes are taken whole.
    begin_mask, end_mask, shrink_mask : int, optional
        Bits, 1 for the first axis to 8 for the last.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of four axes, in the range of `t`. The axes of `shrink_mask` are left out, and as many of length 1
        stand in front.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); another number of axes; steps of 0, a slice without codes and one
        that goes beyond the codes, all of which nnlib refuses.

    Notes
    -----
    Source: ``strided_slice_impl``, ``op_strided_slice.c``.

    **Hazards.** A stop beyond the end is refused, where Python and TensorFlow cut it:

    >>> t = np.arange(4, dtype=np.uint8).reshape(1, 1, 1, 4), 0.0, 1.0
    >>> qops.nnlib.quantized_strided_slice_8(t, [0], [9], [1])
    Traceback (most recent call last):
    ValueError: start, stop: axis 3 of length 4 has no codes at 0, 1, .. 8, which the original refuses

    Axes that are left out stand in front, so another axis moves to their place:

    >>> t = np.zeros((5, 2, 3, 4), np.uint8), 0.0, 1.0
    >>> qops.nnlib.quantized_strided_slice_8(t, [0] * 4, [5, 2, 3, 4], [1] * 4, shrink_mask=2).data.shape
    (1, 5, 3, 4)

    Examples
    --------
    >>> t = np.arange(8, dtype=np.uint8).reshape(1, 1, 2, 4), 0.0, 1.0
    >>> qops.nnlib.quantized_strided_slice_8(t, [0, 3], [2, -4], [1, -2], end_mask=8).data
    array([[[[3, 1],
             [7, 5]]]], dtype=uint8)
    """
    count = count_of(start)
    if count > 4:
        raise bad_value("start", f"expected up to four integers, got {shown(start)}")
    every = [
        integers(values, name, count, -(2**31)) for values, name in ((start, "start"), (stop, "stop"), (step, "step"))
    ]
    masks = [
        integer(mask, name, 0, 15)
        for mask, name in ((begin_mask, "begin_mask"), (end_mask, "end_mask"), (shrink_mask, "shrink_mask"))
    ]
    if 0 in every[2]:
        raise bad_value("step", f"expected integers other than 0, got {shown(step)}")
    codes, lo, hi = operand(t, "t", U8)
    if codes.ndim != 4 or codes.size == 0:
        raise bad_value("t", f"expected four axes, each at least 1, got shape {codes.shape}")
    chosen = [np.arange(n) for n in codes.shape]
    for axis in range(4):
        i = axis - (4 - count)
        numbers = (every[0][i], every[1][i], every[2][i]) if i >= 0 else (0, codes.shape[axis], 1)
        chosen[axis] = _chosen(axis, codes.shape[axis], numbers, [bool(mask >> axis & 1) for mask in masks])
    shape = tuple(len(places) for axis, places in enumerate(chosen) if not masks[2] >> axis & 1)
    result = _place(out, (1,) * (4 - len(shape)) + shape, codes)
    result[...] = codes[np.ix_(*chosen)].reshape(result.shape)
    return tensor(result, lo, hi)


def quantized_split_8(t: TensorLike, axis: int, parts: int) -> tuple[QTensor, ...]:
    """QuantizedSplit_8: cut a tensor into equal parts along one axis.

    Parameters
    ----------
    t : uint8 tensor
    axis : int
        Which axis; below 0 from the end.
    parts : int
        How many parts; the axis is a multiple.

    Returns
    -------
    tuple of QTensor
        New uint8 arrays, each in the range of `t`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and an axis that has no equal parts.

    Notes
    -----
    Source: ``split_execute``, ``op_split.c``.

    **Hazards.** All parts keep the range of the whole, also those that need a much smaller one:

    >>> large, small = qops.nnlib.quantized_split_8((np.array([255, 1], np.uint8), 0.0, 25.5), 0, 2)
    >>> small.max, small.data
    (25.5, array([1], dtype=uint8))

    Examples
    --------
    >>> t = np.array([[1, 2, 3, 4]], np.uint8), 0.0, 1.0
    >>> [part.data.tolist() for part in qops.nnlib.quantized_split_8(t, 1, 2)]
    [[[1, 2]], [[3, 4]]]
    """
    along, count = integer(axis, "axis"), integer(parts, "parts", 1, 2**31 - 1)
    codes, lo, hi = operand(t, "t", U8)
    integer(along, "axis", -codes.ndim, codes.ndim - 1)
    if codes.shape[along] % count:
        raise bad_value("parts", f"{count} do not divide axis {along} of shape {codes.shape}")
    return tuple(tensor(np.array(part, np.uint8, order="C"), lo, hi) for part in np.split(codes, count, along))


def _place(out: NDArray[np.uint8] | None, shape: tuple[int, ...], codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Give `out`, checked, or a new array."""
    if out is None:
        return np.empty(shape, np.uint8)
    check_out(out, U8, shape, [codes])
    return out


def _pads(pads: ArrayLike) -> list[tuple[int, int]]:
    """Give (before, after) of each axis."""
    rows = list(as_array(pads, "pads")) if isinstance(pads, np.ndarray) and np.ndim(pads) else pads
    if not isinstance(rows, (tuple, list)):
        raise bad_type("pads", f"expected (before, after) for each of the last axes, got {shown(pads)}")
    return [integers(pair, "pads", 2, 0) for pair in rows]


def _finite_or_infinite(value: float) -> float:
    is_infinite = isinstance(value, (float, np.floating)) and isinf(value)
    return float(value) if is_infinite else real(value, "value")


def _pad_code(number: float, lo: float, hi: float) -> int:
    if isinf(number):
        return 255 if number > 0 else 0
    code = code_of(number, lo, hi)
    if not -2 <= code <= 257:
        raise bad_value("value", f"{number} is code {code} of the range {(lo, hi)}, which the original refuses")
    return int(min(max(code, 0), 255))


def _chosen(axis: int, size: int, numbers: tuple[int, int, int], masks: list[bool]) -> NDArray[np.intp]:
    """Give the places of the codes along one axis."""
    first, last, step = numbers
    begins, ends, shrinks = masks
    first = first if first >= 0 else max(0, first + size)
    last = last if last >= 0 else max(-1, last + size)
    if shrinks:
        last, step = first + 1, 1
    else:
        first = first if not begins else 0 if step > 0 else size - 1
        last = last if not ends else size if step > 0 else -1
    count = len(range(first, last, step))
    if count == 0:
        raise bad_value("start, stop", f"no codes along axis {axis} of length {size}, which the original refuses")
    furthest = first + step * (count - 1)
    if not (0 <= first < size and 0 <= furthest < size):
        raise bad_value(
            "start, stop",
            f"axis {axis} of length {size} has no codes at {first}, {first + step}, .. {furthest}, "
            "which the original refuses",
        )
    return np.arange(first, first + step * count, step)
