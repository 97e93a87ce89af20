"""REDUCE_MAX and REDUCE_MIN: the largest and the smallest code along axes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.tflite.mean import Reduction

__all__ = ["ReduceMax", "ReduceMin", "reduce_max", "reduce_min"]


class ReducedExtreme(Reduction):
    """The base of REDUCE_MAX and REDUCE_MIN."""

    __slots__ = ()
    _function: ClassVar[np.ufunc]

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        if self._scales[0] != self._scales[1] and not (self._facts.reduce_scales and self._dtype != np.int16):
            raise bad_value("y_scale", f"expected x_scale, {given.x_scale}, got {given.y_scale}")

    def _reduced(self, data: NDArray[Any], axes: tuple[int, ...], n: int) -> NDArray[Any]:
        return self._function.reduce(data, axes, keepdims=True)


class ReduceMax(ReducedExtreme):
    """The prepared form of `reduce_max` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name = "REDUCE_MAX"
    _function = np.maximum


class ReduceMin(ReducedExtreme):
    """The prepared form of `reduce_min` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name = "REDUCE_MIN"
    _function = np.minimum


def reduce_max(
    x: ArrayLike,
    axis: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    keep_dims: bool = False,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the largest code along axes.

    The codes are copied. LiteRT and TFLM refuse scales that differ; XNNPACK does not read them.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    axis : int or array of int
        Axes that are reduced; they may be negative.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    keep_dims : bool
        Whether reduced axes stay, with length 1.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, without the reduced axes, or with length 1 there

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an axis that there is not, axes without codes, an `out` that does not fit; a kernel
        library that has no such op; scales that differ.

    Notes
    -----
    Sources: TFLite ``reduce.cc``, ``reference/reduce.h``.

    Examples
    --------
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    >>> qops.tflite.reduce_max(np.array([[-3, 1], [1, 2]], np.int8), 1, **how)
    array([1, 2], dtype=int8)
    """
    return ReduceMax._on(locals(), x, out)


def reduce_min(
    x: ArrayLike,
    axis: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    keep_dims: bool = False,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the smallest code along axes.

    The codes are copied. LiteRT and TFLM refuse scales that differ; XNNPACK does not read them.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    axis : int or array of int
        Axes that are reduced; they may be negative.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    keep_dims : bool
        Whether reduced axes stay, with length 1.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, without the reduced axes, or with length 1 there

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an axis that there is not, axes without codes, an `out` that does not fit; a kernel
        library that has no such op; scales that differ.

    Notes
    -----
    Sources: TFLite ``reduce.cc``, ``reference/reduce.h``.

    Examples
    --------
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    >>> qops.tflite.reduce_min(np.array([[-3, 1], [1, 2]], np.int8), 1, **how)
    array([-3,  1], dtype=int8)
    """
    return ReduceMin._on(locals(), x, out)
