"""QuantizedConcat of uint8 and of int32 codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.tensorflow.concat import concat, hull, joined, usual
from qops._kernels.tensorflow.ends import checked, flushed
from qops.checks import integer, shown
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import STEPS, STEPS_32, Checked, operands, shape_text

__all__ = ["quantized_concat"]


def quantized_concat(concat_dim: int, values: Sequence[TensorLike], *, out: NDArray[Any] | None = None) -> QTensor:
    """Concatenate tensors along an axis, recoded into a range that holds the ranges of all.

    For uint8 codes that range is ``min(0, all min), max(all max)``. For int32 codes it is ``-m, m``, where m is the
    largest distance of an end from 0. A tensor that has this range is copied. The others are recoded in float32, each
    operation rounded, where L is the lowest code, N the number of codes less 1, and round is half away from zero::

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
        Where the codes are written; of the type of the codes and the shape of the result.

    Returns
    -------
    QTensor
        Codes and the common range.

    Raises
    ------
    TypeError, ValueError
        Fewer than two tensors, or an argument that is not one; a range that is not finite, is wider than float32 or
        whose step is below its normal numbers; an axis that is not an integer from 0 to below the number of dimensions
        (``Expected concatenating dimensions in the range [0, rank)``); ``Ranks of all input tensors should match``;
        ``Dimensions of inputs should match``; an `out` that does not fit or overlaps an input.

    Notes
    -----
    Source: TensorFlow, ``quantized_concat_op.cc``, ``concat_lib_cpu.h``, ``quantization_utils.h``.

    **Hazards.** Tensors that share a range above 0 are recoded, because the common range begins at 0:

    >>> t = np.array([0, 128, 255], np.uint8), 2.5, 7.25
    >>> qops.tensorflow.quantized_concat(0, [t, t])
    QTensor(np.uint8([88, 172, 255, 88, 172, 255]), 0.0, 7.25)

    The range of a tensor without elements counts too. Each tensor after it is recoded as if it had the range of the
    tensor before it. Here the last two codes should be 0 and 255:

    >>> none, codes = np.array([], np.uint8), np.array([0, 255], np.uint8)
    >>> qops.tensorflow.quantized_concat(0, [(codes, 0.0, 4.0), (none, 0.0, 1.0), (codes, 0.0, 4.0)]).data
    array([  0, 255,   0,  64], dtype=uint8)

    Examples
    --------
    >>> qops.tensorflow.quantized_concat(
    ...     1, [(np.array([[0, 255]], np.uint8), 0.0, 2.0), (np.array([[100]], np.uint8), 0.0, 4.0)]
    ... )
    QTensor(np.uint8([[0, 128, 100]]), 0.0, 4.0)
    """
    axis = integer(concat_dim, "concat_dim")
    parts = usual(values) or _tensors(values)
    shape = joined(axis, parts)
    if shape is None:
        raise _misfit(axis, parts)
    is_wide = parts[0][0].itemsize == 4
    ends = hull(parts, is_wide)
    checked(*ends, "values", STEPS_32 if is_wide else STEPS)
    return tensor(concat(parts, axis, ends, shape, out), *ends)


def _tensors(values: Sequence[TensorLike]) -> list[Checked]:
    """Check each tensor by itself."""
    if not isinstance(values, list | tuple):
        raise bad_type("values", f"expected a sequence of tensors, got {type(values).__name__}")
    if len(values) < 2:
        raise bad_value("values", f"Value for attr 'N' of {len(values)} must be at least minimum 2")
    parts = flushed(operands(0, ("quint8", "qint32"), **{f"values[{i}]": t for i, t in enumerate(values)}))
    first = parts[0][0]
    for i, (data, lo, hi) in enumerate(parts):
        if data.itemsize != first.itemsize:
            raise bad_type(f"values[{i}]", f"expected {first.dtype} data like the first, got {data.dtype}")
        checked(lo, hi, f"values[{i}] min, max", STEPS_32 if first.itemsize == 4 else STEPS)
    return parts


def _misfit(axis: int, parts: list[Checked]) -> ValueError:
    """Give the error, in TensorFlow's words, of tensors that do not fit together along the axis."""
    shapes = [data.shape for data, _, _ in parts]
    rank = len(shapes[0])
    if not 0 <= axis < rank:
        return bad_value(
            "concat_dim", f"Expected concatenating dimensions in the range [0, {rank}), but got {shown(axis)}"
        )
    others = [shape[:axis] + shape[axis + 1 :] for shape in shapes]
    i = next(i for i, shape in enumerate(shapes) if len(shape) != rank or others[i] != others[0])
    what = "Ranks of all input tensors" if len(shapes[i]) != rank else "Dimensions of inputs"
    texts = shape_text(shapes[0]), shape_text(shapes[i])
    return bad_value("values", f"{what} should match: shape[0] = {texts[0]} vs. shape[{i}] = {texts[1]}")
