"""QLinearConcat: codes of several tensors, one behind the other along an axis, onnxruntime's own op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.stage.lookup import look_up_bytes
from qops.checks import integer, put, shown
from qops.onnx import _checks as check
from qops.onnx.by_type import codes, scale_above_0, zero_of
from qops.onnx.tables import table_between

__all__ = ["qlinear_concat"]


def qlinear_concat(
    Y_scale: ArrayLike,
    Y_zero_point: ArrayLike | None,
    tensors: Sequence[ArrayLike],
    scales: Sequence[ArrayLike],
    zero_points: Sequence[ArrayLike],
    *,
    axis: int,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Put tensors of codes one behind the other, as onnxruntime does: ``com.microsoft.QLinearConcat``.

    Real numbers: ``Y = concatenate(tensors)``. Codes that have the scale and the zero point of the result are copied.
    Others are taken to it in float32::

        Y = saturate(half_even(scale * (X - zero_point) / Y_scale) + Y_zero_point)

    Parameters
    ----------
    Y_scale, Y_zero_point : float or ndarray of float32, int or ndarray of the type of the tensors
        One value each, above 0; a zero point that is None is 0.
    tensors : sequence of ndarray of uint8 or int8
        Codes of one type, of shapes that differ along `axis` only.
    scales, zero_points : sequence of float, sequence of int
        One for each tensor. In a file they alternate with the tensors: tensor, scale, zero point, tensor, ...
    axis : int
        The axis along which they are put; it may be negative.
    out : ndarray of the type of the tensors, optional
        Where the codes are written, apart from the inputs.

    Returns
    -------
    ndarray of the type of the tensors

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, lists of other lengths, scales that are not above 0.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/qlinear_concat.cc``. The standard has no such operator.

    Examples
    --------
    >>> qops.onnx.qlinear_concat(0.5, 0, [np.uint8([1, 2]), np.uint8([1, 2, 3])], [0.5, 0.25], [0, 0], axis=0)
    array([1, 2, 0, 1, 2], dtype=uint8)
    """
    arrays, at = _checked(tensors, axis)
    dtype = arrays[0].dtype
    y = scale_above_0(Y_scale, "Y_scale"), zero_of(Y_zero_point, "Y_zero_point", dtype)
    own_scales, own_zeros = _one_each(scales, "scales", len(arrays)), _one_each(zero_points, "zero_points", len(arrays))
    shape = (*arrays[0].shape[:at], sum(x.shape[at] for x in arrays), *arrays[0].shape[at + 1 :])
    check.out(out, dtype, shape, arrays[0], arrays[1:])
    parts = []
    for x, scale, zero in zip(arrays, own_scales, own_zeros, strict=True):
        own = scale_above_0(scale, "scales"), zero_of(zero, "zero_points", dtype)
        part = x if own == y else np.empty(x.shape, dtype)
        if own != y:
            look_up_bytes(x, table_between(own, y, dtype), part)
        parts.append(part)
    return put(np.concatenate(parts, at), out)


def _checked(tensors: Any, axis: int) -> tuple[list[NDArray[Any]], int]:
    """Give the arrays, of one type and of shapes that fit, and the axis, from 0 on."""
    if not isinstance(tensors, (list, tuple)) or not tensors:
        raise TypeError(f"tensors: expected a list of arrays, got {type(tensors).__name__}")
    arrays = [codes(x, "tensors") for x in tensors]
    if len({x.dtype for x in arrays}) > 1:
        raise TypeError(f"tensors: expected one type, got {', '.join(str(x.dtype) for x in arrays)}")
    rank = arrays[0].ndim
    if not rank:
        raise ValueError("tensors: expected at least 1 dimension, got a scalar")
    at = integer(axis, "axis", -rank, rank - 1) % rank
    if len({(*x.shape[:at], -1, *x.shape[at + 1 :]) for x in arrays}) > 1:
        raise ValueError(f"tensors: expected shapes that differ along axis {at}, got {[x.shape for x in arrays]!r:.80}")
    return arrays, at


def _one_each(values: Any, name: str, count: int) -> list[Any]:
    if not isinstance(values, (list, tuple)) or len(values) != count:
        raise ValueError(f"{name}: expected a list of {count}, one a tensor, got {shown(values)}")
    return list(values)
