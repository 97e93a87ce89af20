"""pad: elements of one real value around a tensor."""

from __future__ import annotations

import sys
from math import prod
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes as _codes
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import U8, as_array, check_out, number, operand
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["BOUND_PAD", "pad"]

BOUND_PAD = 0.5 + 2**-40
"""Largest error of the border that `pad` puts around a tensor, in LSB; the tensor itself stays as it is."""

_S8 = _codes.TABLE["s8"].dtype.num


@refusing_unknown
def pad(
    t: TensorLike, widths: ArrayLike, value: float = 0.0, *, out: NDArray[Any] | None = None, **unknown: Never
) -> QTensor:
    """Put elements of one value around a tensor. The range stays.

    They get the code next to the value, ``round_half_even((value - min) / step) + lowest``. **Error: at most**
    ``0.5 + 2**-40`` LSB (`BOUND_PAD`), and none where the value is on a code, as 0 is in all that `quantize` gives.

    Parameters
    ----------
    t : (data, min, max)
        uint8 or int8 tensor.
    widths : int, (int, int) or sequence of (int, int)
        How many elements go before and after, as ``numpy.pad`` takes them: one number for every end of every axis, one
        pair for every axis, or a pair for each axis.
    value : float, optional
        A real value within the range of `t`.
    out : ndarray, optional
        Where the codes are written; of the type of the data and of the shape of the result.

    Returns
    -------
    QTensor
        Codes of the type and range of `t`.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, widths that are no integers from 0 on or do not fit the axes, a value
        outside the range, an ``out`` that does not fit or overlaps the data.

    Examples
    --------
    >>> qops.pad((np.array([[7, 8]], np.uint8), -1.0, 1.55), ((1, 0), (0, 2)))
    QTensor(np.uint8([[100, 100, 100, 100], [7, 8, 100, 100]]), -1.0, 1.5499999523162842)
    >>> qops.pad((np.array([7, 8], np.uint8), 1.0, 2.0), 1)
    Traceback (most recent call last):
    ValueError: value: 0.0 is outside the range (1.0, 2.0) of t
    """
    if unknown:
        raise unknown_keyword(pad, unknown)
    real = number(value, "value")
    ends = as_array(widths, "widths")
    codes, lo, hi = operand(t, "t", U8, _S8)
    if not lo <= real <= hi:
        raise bad_value("value", f"{real} is outside the range ({lo}, {hi}) of t")
    before, after = _widths(ends, codes.ndim)
    shape = tuple([b + n + a for b, n, a in zip(before, codes.shape, after, strict=True)])
    if prod(shape) > sys.maxsize:
        raise bad_value("widths", f"a result of shape {shape} is too large")
    if out is None:
        result = np.empty(shape, codes.dtype.newbyteorder("="))
    else:
        check_out(out, codes.dtype.num, shape, [codes])
        result = out
    row = _codes.of(codes)
    code = row.lowest + (round((real - lo) / (hi - lo) * row.steps) if lo < hi else 0)
    inside = tuple([slice(b, b + n) for b, n in zip(before, codes.shape, strict=True)])
    result[inside] = codes
    for axis, place in enumerate(inside):
        for border in (slice(0, place.start), slice(place.stop, None)):
            result[(slice(None),) * axis + (border,)] = code
    return tensor(result, lo, hi)


def _widths(given: NDArray[Any], rank: int) -> tuple[list[int], list[int]]:
    """Check the widths, and give those before and those after each axis."""
    if given.dtype.kind not in "iu":
        raise bad_type("widths", f"expected integers, got {given.dtype}")
    if given.size and given.min() < 0:
        raise bad_value("widths", f"expected at least 0, got {given.min()}")
    try:
        each = np.broadcast_to(given, (rank, 2))
    except ValueError:
        shape = f"({rank}, 2)"
        raise bad_value("widths", f"expected what broadcasts to shape {shape}, got shape {given.shape}") from None
    return each[:, 0].tolist(), each[:, 1].tolist()
