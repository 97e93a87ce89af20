"""nnlib's concatenation along the last axis, of the vector unit and (``_ref``) of plain C."""

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import recode as kernels
from qops._kernels.nnlib.ranges import f32
from qops.qtensor import U8, QTensor, TensorLike, check_out, operand, tensor


def quantized_concat_8(tensors: Sequence[TensorLike], *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedConcat_8: tensors side by side along the last axis, recoded into a range that holds all of theirs.

    That range is ``min(0, all min), max(all max)``. With ``lo = min(0, in_min)`` and ``step = (in_max - lo) / 255``::

        c = sat_u8((s16(q + offset) * gain + 0x4000) >> 15)
        offset = max(0, half_away((lo - out_min) / step))
        gain = min(half_away(255 / (out_max - out_min) * step * 2**15), 32767)

    The sum is one of 16 bits, which wrap.

    Parameters
    ----------
    tensors : sequence of (data, min, max)
        uint8 tensors of one shape, but for the last axis.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the result.

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        No tensors, an argument that is no such tensor, a range that is not finite, with min > max or wider than
        float32, shapes that differ in another axis than the last, tensors without axes, an ``out`` that does not fit
        or overlaps an input.

    Notes
    -----
    Source: ``concat_execute_slice_asm``, ``op_concat.c``; ``memconvert_hvx.S``.

    **Hazards.** The offset wraps where the output range begins more than 2**15 steps of an input below it. Of ranges so
    unlike the codes of the finer are not even near 0; `quantized_concat_8_ref` gives its zero:

    >>> wide, fine = (np.uint8([0, 128]), -10.0, 10.0), (np.uint8([0, 255]), -0.01, 0.01)
    >>> quantized_concat_8([wide, fine]).data, quantized_concat_8_ref([wide, fine]).data
    (array([  0, 128,   0,   0], dtype=uint8), array([  0, 128, 128, 129], dtype=uint8))

    Beyond 2**17 or so the gain is 0, in both. A range above 0 is taken to begin at 0, though its code 0 does not:

    >>> fine = (np.uint8([0, 255]), -1e-5, 1e-5)
    >>> quantized_concat_8_ref([wide, fine]).data
    array([  0, 128,   0,   0], dtype=uint8)
    >>> quantized_concat_8([(np.uint8([0, 255]), 1.0, 2.0)])  # 1 and 2
    QTensor(data=array([  0, 255], dtype=uint8), min=0.0, max=2.0)

    Examples
    --------
    >>> quantized_concat_8([(np.uint8([[0, 255]]), 0.0, 2.0), (np.uint8([[100]]), 0.0, 4.0)])
    QTensor(data=array([[  0, 128, 100]], dtype=uint8), min=0.0, max=4.0)
    """
    return _concat(tensors, True, out)


def quantized_concat_8_ref(tensors: Sequence[TensorLike], *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedConcat_8_ref: `quantized_concat_8` with a sum ``q + offset`` of 32 bits.

    Parameters
    ----------
    tensors : sequence of (data, min, max)
        uint8 tensors of one shape, but for the last axis.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the result.

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        As `quantized_concat_8`.

    Notes
    -----
    Source: ``concat_execute_slice_ref``, ``op_concat.c``.

    **Hazards.** Where an input is much finer than the output, the gain has few bits and is multiplied by a large
    offset: a zero lands some codes beside the zero of the output.

    >>> wide, fine = (np.uint8([128]), -10.0, 10.0), (np.uint8([128]), -0.0004, 0.0004)
    >>> quantized_concat_8_ref([wide, fine]).data
    array([128,  97], dtype=uint8)

    Examples
    --------
    >>> quantized_concat_8_ref([(np.uint8([[0, 255]]), 0.0, 2.0), (np.uint8([[100]]), 0.0, 4.0)]).data
    array([[  0, 128, 100]], dtype=uint8)
    """
    return _concat(tensors, False, out)


def _concat(tensors: Sequence[TensorLike], vector: bool, out: NDArray[np.uint8] | None) -> QTensor:
    parts = [operand(t, f"tensors[{i}]", U8) for i, t in enumerate(tensors)]
    if not parts:
        raise ValueError("tensors: expected at least one, got none")
    shapes = [data.shape for data, _, _ in parts]
    if () in shapes or len({shape[:-1] for shape in shapes}) > 1:
        raise ValueError(f"tensors: expected shapes that differ in the last axis only, got {shapes}")
    lowest = min(lo for _, lo, _ in parts)
    ends = 0.0 if lowest > 0 else lowest, max(hi for _, _, hi in parts)
    if not isfinite(f32(ends[1] - ends[0])):
        raise ValueError(f"tensors: the range of all, {ends}, is wider than float32")
    if out is not None:
        check_out(out, U8, (*shapes[0][:-1], sum(shape[-1] for shape in shapes)), [data for data, _, _ in parts])
    recoded = [np.empty(shape, np.uint8) for shape in shapes]
    for part, codes in zip(parts, recoded, strict=True):
        kernels.to_hull(part, ends, vector, codes)
    return tensor(np.concatenate(recoded, -1, out=out), *ends)
