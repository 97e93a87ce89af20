"""QLinearConcat: codes of several tensors, one behind the other along an axis, onnxruntime's own op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import integer, shown
from qops.joining import joined_shape, listed, looked_up
from qops.onnx import _checks as check
from qops.onnx.by_type import ByType, codes, scale_above_0, zero_of
from qops.onnx.tables import table_between

__all__ = ["QLinearConcat", "qlinear_concat"]


class QLinearConcat(ByType):
    """The prepared form of `qlinear_concat`: a table for each tensor that says what becomes of its codes.

    Called ``op(tensors, out=None)``. The constructor takes all other arguments of `qlinear_concat`. A plain zero point
    has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearConcat(0.5, 0, [0.5, 0.25], [0, 0], axis=0)
    >>> op([np.array([1, 2], np.uint8), np.array([1, 2, 3], np.uint8)]), op.shape_of([(2,), (3,)])
    (array([1, 2, 0, 1, 2], dtype=uint8), (5,))
    """

    __slots__ = ("_axis",)

    def __init__(
        self,
        Y_scale: ArrayLike,
        Y_zero_point: ArrayLike | None,
        scales: Sequence[ArrayLike],
        zero_points: Sequence[ArrayLike],
        *,
        axis: int,
    ) -> None:
        if isinstance(zero_points, (list, tuple)):
            zero_points = check.optional(*zero_points)
        self._make(locals())

    def _check(self) -> None:
        self._axis = integer(self.axis, "axis", -64, 63)
        count, other = _count(self.scales, "scales"), _count(self.zero_points, "zero_points")
        if count != other:
            raise bad_value("scales, zero_points", f"expected one of each a tensor, got {count} and {other}")

    def _of(self, dtype: np.dtype[Any]) -> list[NDArray[Any] | None]:
        """Give what becomes of all codes of each tensor; None if they are copied."""
        y = scale_above_0(self.Y_scale, "Y_scale"), zero_of(self.Y_zero_point, "Y_zero_point", dtype)
        tables = []
        for scale, zero in zip(self.scales, self.zero_points, strict=True):
            x = scale_above_0(scale, "scales"), zero_of(zero, "zero_points", dtype)
            tables.append(None if x == y else table_between(x, y, dtype))
        return tables

    def shape_of(self, shape: Any) -> tuple[int, ...]:
        """Give the shape of the result.

        Parameters
        ----------
        shape : sequence of tuple of int
            The shape of each tensor.

        Returns
        -------
        tuple of int

        Raises
        ------
        ValueError
            Shapes that do not fit.
        """
        if len(shape) != len(self.scales):
            raise bad_value("tensors", f"expected {len(self.scales)}, as many as there are scales, got {len(shape)}")
        return joined_shape(shape, self._axis)

    def __call__(self, tensors: Sequence[ArrayLike], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Put the codes of `tensors` one behind the other, in `out` if it is given."""
        arrays = [codes(x, "tensors") for x in listed(tensors)]
        dtype = arrays[0].dtype
        if any(x.dtype != dtype for x in arrays):
            raise bad_type("tensors", f"expected one type, got {', '.join(str(x.dtype) for x in arrays)}")
        check.out(out, dtype, self.shape_of([x.shape for x in arrays]), *arrays)
        return np.concatenate([*map(looked_up, arrays, self._for(dtype))], self._axis, out=out)


def _count(values: Any, name: str) -> int:
    """Give the length of a list, or of the array that a prepared op keeps of it."""
    if not isinstance(values, (list, tuple)) and not (isinstance(values, np.ndarray) and values.ndim):
        raise bad_type(name, f"expected a list, one a tensor, got {shown(values)}")
    return len(values)


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
        One for each tensor; a zero point that is None is 0. In a file they alternate with the tensors: tensor, scale,
        zero point, tensor, ...
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
    >>> qops.onnx.qlinear_concat(
    ...     0.5, 0, [np.array([1, 2], np.uint8), np.array([1, 2, 3], np.uint8)], [0.5, 0.25], [0, 0], axis=0
    ... )
    array([1, 2, 0, 1, 2], dtype=uint8)
    """
    return QLinearConcat._once(locals())(tensors, out)
