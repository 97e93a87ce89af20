"""QuantizedConcat of uint8 and of int32 codes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.tensorflow.requantize import recode_u8, requantize
from qops.qtensor import S32, U8, QTensor, TensorLike, integer, tensor
from qops.tensorflow._checks import Checked, checked, flushed, into, operands, put, shape_text


def quantized_concat(concat_dim: int, values: Sequence[TensorLike], *, out: NDArray[Any] | None = None) -> QTensor:
    """Put tensors side by side along an axis, recoded into a range that holds all of theirs.

    That range is ``min(0, all min), max(all max)`` of uint8 codes, ``-m, m`` of int32 codes, m the largest distance of
    an end from 0. A tensor of just that range is copied. Of others, in float32, one rounding an operation, with the
    lowest code L and N the number of codes less 1, rounding half away from zero::

        step = (in_max - in_min) / N    value = (round(in_min / step) * step - L * step) + q * step
        per_unit = N / (out_max - out_min)    code = clamp(round(value * per_unit) - (round(out_min * per_unit) - L))

    Parameters
    ----------
    concat_dim : int
        The axis, from 0 on.
    values : sequence of (data, min, max)
        At least two tensors, all of uint8 or all of int32 codes, whose shapes differ along the axis only; the ranges
        in any order.
    out : ndarray of uint8 or int32, optional
        Where the codes are written; of their type and the shape of the result.

    Returns
    -------
    QTensor
        Codes of the range of all.

    Raises
    ------
    TypeError, ValueError
        Fewer than two tensors, an argument that is none; a range that is not finite, is wider than float32 or whose
        step is below its normal numbers; an axis that is no integer (``Expected concatenating dimensions in the range
        [0, rank)``: there is none for 0-d tensors, and none below 0); ``Ranks of all input tensors should match``;
        ``Dimensions of inputs should match``; an `out` that does not fit or overlaps an input.

    Notes
    -----
    Source: TensorFlow, ``quantized_concat_op.cc``, ``concat_lib_cpu.h``, ``quantization_utils.h``.

    **Hazards.** Tensors of one range above 0 are recoded, as the range of all begins at 0:

    >>> t = np.uint8([0, 128, 255]), 2.5, 7.25
    >>> quantized_concat(0, [t, t])
    QTensor(data=array([ 88, 172, 255,  88, 172, 255], dtype=uint8), min=0.0, max=7.25)

    The ranges count of tensors without elements as well, and their number is not kept in step: what follows one is
    recoded from the range of the one before. Here the last two codes should be 0 and 255:

    >>> none, codes = np.uint8([]), np.uint8([0, 255])
    >>> quantized_concat(0, [(codes, 0.0, 4.0), (none, 0.0, 1.0), (codes, 0.0, 4.0)]).data
    array([  0, 255,   0,  64], dtype=uint8)

    Examples
    --------
    >>> quantized_concat(1, [(np.uint8([[0, 255]]), 0.0, 2.0), (np.uint8([[100]]), 0.0, 4.0)])
    QTensor(data=array([[  0, 128, 100]], dtype=uint8), min=0.0, max=4.0)
    """
    axis = integer(concat_dim, "concat_dim")
    parts = _tensors(values)
    _fit(axis, parts)
    is_wide = parts[0][0].dtype.itemsize == 4
    lowest, highest = min(lo for _, lo, _ in parts), max(hi for _, _, hi in parts)
    ends = (-max(abs(lowest), abs(highest)), max(abs(lowest), abs(highest))) if is_wide else (min(0.0, lowest), highest)
    checked(*ends, "values", 2**32 if is_wide else 255)
    shape = list(parts[0][0].shape)
    shape[axis] = sum(data.shape[axis] for data, _, _ in parts)
    place = into(out, tuple(shape), [data for data, _, _ in parts], S32 if is_wide else U8)
    codes = np.empty(shape, parts[0][0].dtype) if place is None else place
    recode = requantize if is_wide else recode_u8
    filled = [data for data, _, _ in parts if data.size]
    count, first = prod(shape[:axis]), 0
    for data, (_, lo, hi) in zip(filled, parts, strict=False):  # TensorFlow's own mistake: see Hazards
        rows = data.reshape(count, -1)
        part = codes.reshape(count, -1)[:, first : first + rows.shape[1]]
        first += rows.shape[1]
        if (lo, hi) == ends:
            part[...] = rows
        else:
            recode(rows, lo, hi, *ends, part)
    return tensor(put(out, codes), *ends)


def _tensors(values: Sequence[TensorLike]) -> list[Checked]:
    """Give the tensors, checked by themselves."""
    if not isinstance(values, list | tuple):
        raise TypeError(f"values: expected a sequence of tensors, got {type(values).__name__}")
    if len(values) < 2:
        raise ValueError(f"values: Value for attr 'N' of {len(values)} must be at least minimum 2")
    given = operands(0, ("quint8", "qint32"), **{f"values[{i}]": t for i, t in enumerate(values)})
    parts = [flushed(t) for t in given]
    dtype = parts[0][0].dtype
    for i, (data, lo, hi) in enumerate(parts):
        if data.dtype != dtype:
            raise TypeError(f"values[{i}]: expected {dtype} data like the first, got {data.dtype}")
        checked(lo, hi, f"values[{i}] min, max", 2**32 if dtype.itemsize == 4 else 255)
    return parts


def _fit(axis: int, parts: list[Checked]) -> None:
    """Raise ValueError, in TensorFlow's words, if the tensors do not fit together along the axis."""
    shapes = [data.shape for data, _, _ in parts]
    rank = len(shapes[0])
    if not 0 <= axis < rank:
        raise ValueError(
            f"concat_dim: Expected concatenating dimensions in the range [0, {rank}), but got {axis!r:.80}"
        )
    for i, shape in enumerate(shapes):
        if shape == shapes[0]:
            continue
        texts = f"shape[0] = {shape_text(shapes[0])} vs. shape[{i}] = {shape_text(shape)}"
        if len(shape) != rank:
            raise ValueError(f"values: Ranks of all input tensors should match: {texts}")
        if shape[:axis] + shape[axis + 1 :] != shapes[0][:axis] + shapes[0][axis + 1 :]:
            raise ValueError(f"values: Dimensions of inputs should match: {texts}")
