"""QuantizedReshape."""

from __future__ import annotations

from math import prod
from typing import Any

from numpy.typing import ArrayLike

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, shown
from qops.qtensor import QTensor, TensorLike
from qops.tensorflow._checks import operands, passed_on

__all__ = ["quantized_reshape"]


def quantized_reshape(tensor: TensorLike, shape: ArrayLike) -> QTensor:
    """Give codes another shape. The codes and the range do not change.

    Parameters
    ----------
    tensor : (data, min, max)
        uint8 or int32 codes; the range in any order.
    shape : sequence of int
        The lengths of the axes, 1-D. One may be -1: it follows from the others.

    Returns
    -------
    QTensor
        The codes in their new shape, in the memory of `tensor` if numpy's `reshape` does not copy.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; a range that is not finite or is wider than float32; a shape that is no
        such sequence, has two -1 (``Only one input size may be -1``), a negative length, or another number of elements
        than the tensor.

    Notes
    -----
    Source: TensorFlow, ``quantized_reshape_op.cc``, ``reshape_op.h``.

    **Hazards.** The range is passed on unchecked, even if its ends are in the wrong order:

    >>> qops.tensorflow.quantized_reshape((np.array([1, 2], np.uint8), 1.0, -1.0), [2, 1]).max
    -1.0

    Examples
    --------
    >>> qops.tensorflow.quantized_reshape((np.arange(6, dtype=np.uint8), -1.0, 1.0), [2, -1])
    QTensor(np.uint8([[0, 1, 2], [3, 4, 5]]), -1.0, 1.0)
    """
    ((q, lo, hi),) = operands(0, ("quint8", "qint32"), tensor=tensor)
    return passed_on(q.reshape(_lengths(shape, q.size)), lo, hi)


def _lengths(shape: ArrayLike, size: int) -> list[int]:
    """Give the lengths of the axes of so many elements; ValueError in TensorFlow's words."""
    asked: Any = as_array(shape, "shape")
    if asked.ndim != 1 or (asked.size and asked.dtype.kind not in "iu"):
        raise bad_type("shape", f"expected a 1-D sequence of integers, got {shown(shape)}")
    lengths: list[int] = asked.tolist()
    unknown = [axis for axis, length in enumerate(lengths) if length == -1]
    if len(unknown) > 1:
        raise bad_value("shape", f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}")
    for axis, length in enumerate(lengths):
        if length < -1:
            raise bad_value("shape", f"Size {axis} must be non-negative, not {length}")
    known = prod(length for length in lengths if length != -1)
    if unknown and known == 0:
        raise bad_value("shape", "cannot infer the missing size unless all others are at least 1")
    if size % known if unknown else size != known:
        wanted = f"requires a multiple of {known}" if unknown else f"has {known}"
        raise bad_value("shape", f"Input to reshape is a tensor with {size} values, but the requested shape {wanted}")
    return lengths
