"""softmax: the shares that the exponentials of values have in their sum along an axis."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.frontdoor import softmax as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import U8, int32, into, operand, put
from qops.frontdoor.targets import code_type
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["BOUND_SOFTMAX", "softmax"]

BOUND_SOFTMAX = 0.5 + 2**-20
"""Largest error of `softmax` in LSB along axes of up to 2**24 elements: 0.5 for the rounding, the rest for float64."""

_S8 = _codes.TABLE["s8"].dtype.num


@refusing_unknown
def softmax(
    t: TensorLike, axis: int = -1, *, dtype: DTypeLike = "uint8", out: NDArray[Any] | None = None, **unknown: Never
) -> QTensor:
    """Give ``exp(value) / sum(exp(values))`` along an axis, in the range (0, 1).

    Only the distance from the highest code `top` along the axis matters. It has 256 values, so the exponentials are a
    table ``e[d] = exp(-d * step)`` in float64, and nothing overflows. Each code is rounded once, half up::

        c = floor(255 * e[top - q] / sum(e[top - q]) + 0.5) + lowest

    **Error: at most** ``0.5 + 2**-20`` LSB (`BOUND_SOFTMAX`), for every range, along axes of up to 2**24 elements.

    Parameters
    ----------
    t : (data, min, max)
        uint8 or int8 tensor with at least one axis.
    axis : int, optional
        Along which the results add up to 1, but for their rounding; a negative one counts from the last.
    dtype : dtype, optional
        Type of the codes: uint8 or int8.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        The codes, in the range (0.0, 1.0).

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, axis or type, an ``out`` that does not fit or overlaps the data.

    Notes
    -----
    **Hazards.** A share below 1 / 510 becomes 0, so where no value stands out from many, all codes are 0:

    >>> qops.softmax((np.zeros(1000, np.uint8), 0.0, 1.0)).data.max()
    np.uint8(0)

    Examples
    --------
    >>> qops.softmax((np.array([0, 1, 2, 255], np.uint8), 0.0, 255.0)).data
    array([  0,   0,   0, 255], dtype=uint8)
    >>> qops.softmax((np.array([[10, 20], [30, 20]], np.uint8), 0.0, 25.5), axis=0).dequantize().round(3)
    array([[0.118, 0.502],
           [0.882, 0.502]], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(softmax, unknown)
    axis, row = int32(axis, "axis"), code_type(dtype)
    codes, lo, hi = operand(t, "t", U8, _S8)
    rank = codes.ndim
    if rank == 0:
        raise bad_value("t", "expected at least one axis, got a single element")
    along = int32(axis, "axis", -rank, rank - 1) % rank
    place = into(out, codes.shape, [codes], row.dtype.num)
    lanes = np.ascontiguousarray(codes.swapaxes(along, -1))
    made = place if place is not None and along == rank - 1 else np.empty(lanes.shape, row.dtype)
    shape = (lanes.size // max(1, lanes.shape[-1]), lanes.shape[-1])
    _kernels.softmax(lanes.reshape(shape), (hi - lo) / 255, row.lowest < 0, made.view(np.uint8).reshape(shape))
    found = made if along == rank - 1 else np.ascontiguousarray(made.swapaxes(along, -1))
    return tensor(put(found, out), 0.0, 1.0)
