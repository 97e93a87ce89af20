"""RELU, RELU6, RELU_N1_TO_1 and RELU_0_TO_1."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, Codes, quantized
from qops.tflite.unary import Unary

__all__ = ["Relu", "Relu0To1", "Relu6", "ReluN1To1", "relu", "relu6", "relu_0_to_1", "relu_n1_to_1"]


class Rectified(Unary):
    """The base of the four RELUs, which take codes to another scale and cut them."""

    __slots__ = ()
    _activation: ClassVar[tuple[float | None, float | None]]
    _ratio_is_float32: ClassVar[bool] = True

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> Codes:
        kind = F32 if self._ratio_is_float32 else self._facts.ratio
        low, high = self._activation
        near = self._facts.scaled(x - given.x_zero_point, quantized(float(kind(given.x_scale) / kind(given.y_scale))))
        return self._cut(near + given.y_zero_point, low, high, given.y_scale, given.y_zero_point)

    def _cut(self, x: Codes, low: float | None, high: float | None, scale: float, zero: int) -> Codes:
        for limit, cut in ((low, np.maximum), (high, np.minimum)):
            if limit is not None:
                x = cut(x, check.limit(limit, scale, zero, checks=self._facts.checks_activation))
        return x


class Relu(Rectified):
    """The prepared form of `relu` of int8, uint8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "RELU"
    _activation = 0.0, None
    _ratio_is_float32 = False


class Relu6(Rectified):
    """The prepared form of `relu6` of int8, uint8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "RELU6"
    _activation = 0.0, 6.0

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> Codes:
        if self._facts.relu6_rescales:
            return super()._unclamped(x, given)
        return self._cut(x, 0.0, 6.0, given.x_scale, given.x_zero_point)


class ReluN1To1(Rectified):
    """The prepared form of `relu_n1_to_1` of int8 or uint8, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "RELU_N1_TO_1"
    _activation = -1.0, 1.0


class Relu0To1(Rectified):
    """The prepared form of `relu_0_to_1` of int8 or uint8, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "RELU_0_TO_1"
    _activation = 0.0, 1.0


def relu(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Cut values below 0.

    Codes are taken to `y_scale` by a multiplier, and clamped. TFLM makes the ratio of scales in double, LiteRT in
    float32.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op.

    Notes
    -----
    Sources: TFLite ``activations.cc``.

    Examples
    --------
    >>> qops.tflite.relu(np.array([-20, 4, 100], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.2, y_zero_point=0)
    array([ 0,  2, 50], dtype=int8)
    """
    return Relu._on(locals(), x, out)


def relu6(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Cut values below 0 and above 6.

    Codes are taken to `y_scale` by a multiplier, and clamped. TFLM only clamps codes, at 6 in steps of `x_scale`.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op.

    Notes
    -----
    Sources: TFLite ``activations.cc``.

    Examples
    --------
    >>> qops.tflite.relu6(np.array([-20, 4, 100], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.2, y_zero_point=0)
    array([ 0,  2, 30], dtype=int8)
    """
    return Relu6._on(locals(), x, out)


def relu_n1_to_1(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Cut values below -1 and above 1.

    Codes are taken to `y_scale` by a multiplier, and clamped.

    Parameters
    ----------
    x : ndarray of int8 or uint8
        Codes.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op.

    Notes
    -----
    Sources: TFLite ``activations.cc``.

    Examples
    --------
    >>> qops.tflite.relu_n1_to_1(
    ...     np.array([-20, 4, 100], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.2, y_zero_point=0
    ... )
    array([-5,  2,  5], dtype=int8)
    """
    return ReluN1To1._on(locals(), x, out)


def relu_0_to_1(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Cut values below 0 and above 1.

    Codes are taken to `y_scale` by a multiplier, and clamped.

    Parameters
    ----------
    x : ndarray of int8 or uint8
        Codes.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op.

    Notes
    -----
    Sources: TFLite ``activations.cc``.

    Examples
    --------
    >>> qops.tflite.relu_0_to_1(
    ...     np.array([-20, 4, 100], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.2, y_zero_point=0
    ... )
    array([0, 2, 5], dtype=int8)
    """
    return Relu0To1._on(locals(), x, out)
