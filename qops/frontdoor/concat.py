"""concat: tensors of different ranges joined along an axis, in one range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Never

from numpy.typing import DTypeLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.frontdoor import concat as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import U8, both_ends, int32, operand, shown
from qops.frontdoor.targets import Range, code_type, range_of_all
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["BOUND_CONCAT", "concat"]

BOUND_CONCAT = 0.5 + 2**-40
"""Largest error of `concat` in output LSB, for values within the range: 0.5 for the rounding, the rest for float64."""

_S8 = _codes.TABLE["s8"].dtype.num


@refusing_unknown
def concat(
    tensors: Sequence[TensorLike],
    axis: int = -1,
    *,
    range: Range | None = None,
    dtype: DTypeLike = "uint8",
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> QTensor:
    """Concatenate tensors, each with its own range and type, into one range.

    Each code becomes ``c = saturate(floor((value - min) / step + 0.5) + lowest)``, by a table for each tensor, as
    `requantize` gives it. Codes of a tensor that has the output range and type already stay as they are. **Error: at
    most** ``0.5 + 2**-40`` LSB (`BOUND_CONCAT`) for values within the output range.

    Parameters
    ----------
    tensors : sequence of (data, min, max)
        uint8 or int8 tensors, at least one, each with at least one axis. Only `axis` may differ in length.
    axis : int, optional
        Along which they are joined; a negative one counts from the last.
    range : (float, float), optional
        The output range; values outside it saturate. By default the smallest range that holds all ranges and, on a
        code, 0. It does not depend on which codes are present.
    dtype : dtype, optional
        Type of the codes: uint8 or int8.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of the result.

    Returns
    -------
    QTensor
        The codes and their range. If min == max, every code is the lowest, which stands for that value.

    Raises
    ------
    TypeError, ValueError
        Arguments that are no such tensors, axis, range or type, shapes that do not fit, ranges that with 0 on a code
        are beyond float32, an ``out`` that does not fit or overlaps one of the tensors.

    See Also
    --------
    qops.nnlib.quantized_concat_8, qops.tensorflow.quantized_concat : what those systems compute.

    Examples
    --------
    >>> qops.concat([(np.array([[0, 255]], np.uint8), 0.0, 2.0), (np.array([[-128, 127]], np.int8), 0.0, 4.0)])
    QTensor(np.uint8([[0, 128, 0, 255]]), 0.0, 4.0)
    """
    if unknown:
        raise unknown_keyword(concat, unknown)
    if not isinstance(tensors, (list, tuple)):
        raise bad_type("tensors", f"expected a sequence of tensors, got {shown(tensors)}")
    if not tensors:
        raise bad_value("tensors", "expected at least one, got none")
    axis, row = int32(axis, "axis"), code_type(dtype)
    ends = None if range is None else both_ends(range, "range")
    parts = [operand(t, f"tensors[{i}]", U8, _S8) for i, t in enumerate(tensors)]
    rank = parts[0][0].ndim
    if rank == 0:
        raise bad_value("tensors[0]", "expected at least one axis, got a single element")
    along = int32(axis, "axis", -rank, rank - 1) % rank
    lo, hi = ends or range_of_all(min(p[1] for p in parts), max(p[2] for p in parts), row, "tensors")
    return tensor(_kernels.concat(parts, along, lo, hi, row.lowest < 0, out), lo, hi)
