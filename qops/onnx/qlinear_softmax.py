"""QLinearSoftmax: the softmax of codes, onnxruntime's own op."""

from __future__ import annotations

from math import exp, log, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import integer, output
from qops.onnx.by_type import ByType, codes, scale_above_0, zero_of

__all__ = ["QLinearSoftmax", "qlinear_softmax"]

F32 = np.float32
ONE_AXIS = 13
"""The version of the standard from which on a softmax is of one axis; before it, of an axis and all behind it."""
_LARGEST = F32(np.finfo(F32).max)
_RESERVED = 5.0
"""How much the logarithm of the largest exponential is below that of the largest one whose sums float32 holds."""


class QLinearSoftmax(ByType):
    """The prepared form of `qlinear_softmax`. Its table depends on the length of the data, so a call makes it.

    Called ``op(X, out=None)``. The constructor takes all other arguments of `qlinear_softmax`. A plain zero point has
    the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearSoftmax(0.5, 0, 2**-8, 0)
    >>> op, op(np.array([[0, 4, 8, 8]], np.uint8))
    (QLinearSoftmax(0.5, 0, 0.00390625), array([[  2,  16, 119, 119]], dtype=uint8))
    """

    __slots__ = ("_axis", "_is_of_axis", "_numbers")

    def __init__(
        self,
        X_scale: ArrayLike,
        X_zero_point: ArrayLike | None,
        Y_scale: ArrayLike,
        Y_zero_point: ArrayLike | None = 0,
        *,
        axis: int | None = None,
        opset: int = ONE_AXIS,
    ) -> None:
        self._make(locals())

    def _check(self) -> None:
        self._is_of_axis = integer(self.opset, "opset", 1, 2**31 - 1) >= ONE_AXIS
        default = -1 if self._is_of_axis else 1
        self._axis = default if self.axis is None else integer(self.axis, "axis", -64, 63)
        x_scale, y_scale = scale_above_0(self.X_scale, "X_scale"), scale_above_0(self.Y_scale, "Y_scale")
        with np.errstate(over="ignore"):
            parts = np.floor(F32(1) / y_scale)
        if not np.isfinite(parts):
            raise bad_value("Y_scale", f"expected a number whose reciprocal float32 holds, got {y_scale!s}")
        self._numbers = float(x_scale), float(parts)

    def _of(self, dtype: np.dtype[Any]) -> int:
        zero_of(self.X_zero_point, "X_zero_point", dtype)
        return zero_of(self.Y_zero_point, "Y_zero_point", dtype)

    def __call__(self, X: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `X`, in `out` if it is given."""
        data = codes(X, "X")
        zero = self._for(data.dtype)
        if not -data.ndim <= self._axis < data.ndim:
            raise bad_value("axis", f"expected an axis of {data.ndim} dimensions, got {self._axis}")
        result = output(out, data.dtype.num, data)
        if not data.size:
            return result
        axis = self._axis % data.ndim
        if self._is_of_axis:
            np.moveaxis(result, axis, -1)[...] = self._rows(np.moveaxis(data, axis, -1), zero)
        else:
            rows = data.reshape(prod(data.shape[:axis]), -1)
            result[...] = self._rows(rows, zero).reshape(data.shape)
        return result

    def length_of(self, shape: tuple[int, ...]) -> int:
        """Give how many exponentials make a sum.

        Parameters
        ----------
        shape : tuple of int
            Of the data.

        Returns
        -------
        int
        """
        axis = self._axis % len(shape)
        return shape[axis] if self._is_of_axis else prod(shape[axis:])

    def table_of(self, length: int) -> tuple[NDArray[np.float32], float]:
        """Give what a port holds.

        Parameters
        ----------
        length : int
            Of rows.

        Returns
        -------
        table : ndarray of float32
            The exponentials of differences of -255 to 0 steps.
        parts : float
            1 / Y_scale, cut to a whole number.
        """
        return self._exponentials(length), self._numbers[1]

    def _rows(self, data: NDArray[Any], zero: int) -> NDArray[Any]:
        """Give the softmax of each row."""
        wide = data.astype(np.intp)
        table = self._exponentials(data.shape[-1])
        each = table[wide - wide.max(-1, keepdims=True) + 255]
        sums = np.add.accumulate(each, -1)[..., -1:].astype(np.float64)
        near = np.rint(each.astype(np.float64) * self._numbers[1] / sums) + zero
        return np.minimum(near, np.iinfo(data.dtype).max).astype(data.dtype)

    def _exponentials(self, length: int) -> NDArray[np.float32]:
        """Give a multiple of exp(x) for the differences -255 to 0 of codes, in double, then rounded to float32."""
        scale = self._numbers[0]
        shift = max(0.0, float(F32(log(_LARGEST / F32(length)))) - _RESERVED) / scale
        return np.array([exp((code - 255 + shift) * scale) for code in range(256)], np.float64).astype(F32)


def qlinear_softmax(
    X: ArrayLike,
    X_scale: ArrayLike,
    X_zero_point: ArrayLike | None,
    Y_scale: ArrayLike,
    Y_zero_point: ArrayLike | None = 0,
    *,
    axis: int | None = None,
    opset: int = ONE_AXIS,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the softmax of codes, as onnxruntime does: ``com.microsoft.QLinearSoftmax``.

    Real numbers: ``Y = exp(X) / sum(exp(X))`` along an axis. Zero points of X cancel. With c = log(largest float32 / n)
    for n codes::

        e = exp((X - max(X)) * X_scale + c - 5);  Y = half_even(e * floor(1 / Y_scale) / sum(e)) + Y_zero_point

    Exponentials are float32, and their sum is made in float32, one after the other; the rest is double. Codes are
    clamped.

    Parameters
    ----------
    X : ndarray of uint8 or int8
        Codes.
    X_scale, X_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        One value each, the scale above 0; a zero point that is None is 0.
    Y_scale, Y_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        So are these.
    axis : int, optional
        Of the exponentials that make a sum; before version 13 this axis and all behind it. By default -1, and 1 before
        version 13.
    opset : int
        The version of the standard whose Softmax it is.
    out : ndarray of the type of `X`, optional
        Where the codes are written, apart from the input.

    Returns
    -------
    ndarray of the type of `X`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types, scales that are not above 0, an axis that the data do not have.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/qlinear_softmax.cc``. The standard has no such operator.

    **Hazards.** 1 / Y_scale is cut to a whole number. So 1 / 255 counts as 1 / 254, because float32 holds it as a
    little more, and with a scale above 1 all codes are the zero point:

    >>> qops.onnx.qlinear_softmax(np.array([0, 90], np.uint8), 0.1, 0, 1 / 255, 0)
    array([  0, 254], dtype=uint8)
    >>> qops.onnx.qlinear_softmax(np.array([0, 90], np.uint8), 0.1, 0, 1.5, 7)
    array([7, 7], dtype=uint8)

    Examples
    --------
    >>> qops.onnx.qlinear_softmax(np.array([[0, 4, 8, 8]], np.uint8), 0.5, 0, 2**-8, 0)
    array([[  2,  16, 119, 119]], dtype=uint8)
    """
    return QLinearSoftmax._once(locals())(X, out)
