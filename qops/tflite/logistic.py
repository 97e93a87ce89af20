"""LOGISTIC and TANH."""

from __future__ import annotations

from math import floor
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.tflite import _checks as check
from qops.tflite import fixed_point
from qops.tflite.arithmetic import Codes, power_of_two, quantized, rounded_shift, wrap
from qops.tflite.tables import sigmoid_16, tanh_16
from qops.tflite.unary import Unary

__all__ = ["Logistic", "Tanh", "logistic", "tanh"]


class Sigmoid(Unary):
    """The base of LOGISTIC and TANH: the function, its fixed point, its interpolation, the shifts that they take."""

    __slots__ = ()
    _function: Any
    _fixed: ClassVar[Any]
    _interpolated: ClassVar[Any]
    _shifts: ClassVar[tuple[int, ...]]

    def _check_output(self, given: SimpleNamespace) -> None:
        """Raise ValueError for a scale or zero point that the result must not have."""
        raise NotImplementedError

    def _of_27_bits(self, x: Codes, end: Codes) -> Codes:
        """Give codes of int8 of numbers with 27 bits behind the point; `end` is -1 or 1 where they are beyond."""
        raise NotImplementedError

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        self._check_output(given)
        if self._dtype == np.int16:
            return self._of_16_bits(x, given)
        near = x - given.x_zero_point
        if self._dtype == np.int8 and self._facts.sigmoid_s8 == "gemmlowp":
            m, e = quantized(given.x_scale * 2**27)
            most = floor(15 * 2**27 / 2.0**e)
            end = np.where(near <= -most, -1, near >= most)
            return self._of_27_bits(self._facts.scaled(np.clip(near, -most, most), (m, e)), end)
        return self._tabled(self._function, x, given, self._facts.table_zero_point)

    def _of_16_bits(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        power = power_of_two(given.x_scale)
        exponent = 12 + (power or 0)
        is_power = power is not None and exponent in self._shifts
        if is_power and self._facts.sigmoid_s16 == "gemmlowp":
            return self._fixed(np.clip(x << exponent, -(2**15), 2**15 - 1), 3, 15)
        if is_power:
            return self._interpolated(x * 3 << exponent)
        factor, n = given.x_scale * 4096.0 * 3.0, 0
        while factor <= 32767.0 / 2.0 and n <= 30:
            factor, n = factor * 2, n + 1
        return self._interpolated(wrap(x * int(factor) + (1 << n >> 1)) >> n)


class Logistic(Sigmoid):
    """The prepared form of `logistic` of int8, uint8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "LOGISTIC"
    _shifts = (0,)
    _fixed, _interpolated = staticmethod(fixed_point.logistic), staticmethod(sigmoid_16)

    def _function(self, v: Any) -> Any:
        kind = self._facts.sigmoid_float
        return kind(1) / (kind(1) + np.exp(-v).astype(kind))

    def _check_output(self, given: SimpleNamespace) -> None:
        if self._dtype == np.int16:
            check.fixed_output(given, 2.0**-15, 0)
        elif self._facts.sigmoid_output == "scale" and given.y_scale != 1 / 256:
            raise bad_value("y_scale", f"expected {1 / 256}, got {given.y_scale}")
        elif self._facts.sigmoid_output == "zero point" and given.y_zero_point != -128:
            raise bad_value("y_zero_point", f"expected -128, got {given.y_zero_point}")

    def _of_27_bits(self, x: Codes, end: Codes) -> Codes:
        made = rounded_shift(fixed_point.logistic(x, 4), 23)
        return np.where(end == 0, np.minimum(made, 255), np.where(end > 0, 255, 0)) - 128


class Tanh(Sigmoid):
    """The prepared form of `tanh` of int8, uint8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "TANH"
    _shifts = (0, 1)
    _function = np.tanh
    _fixed, _interpolated = staticmethod(fixed_point.tanh), staticmethod(tanh_16)

    def _check_output(self, given: SimpleNamespace) -> None:
        if self._dtype == np.int16:
            check.fixed_output(given, 2.0**-15, 0)

    def _of_27_bits(self, x: Codes, end: Codes) -> Codes:
        made = rounded_shift(fixed_point.tanh(x, 4), 24)
        return np.where(end == 0, np.minimum(made, 127), np.where(end > 0, 127, -128))


def logistic(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give 1 / (1 + exp(-x)).

    A table of all codes, of ``half_away(logistic(x_scale * (x - x_zero_point)) / y_scale) + y_zero_point`` in float32.
    XNNPACK rounds the function itself to float32 but once, and adds the zero point before it rounds, half to even. TFLM
    computes int8 in fixed point with 27 bits behind the point. 16 bits are interpolated between 256 sigmoids; the
    optimised kernels and XNNPACK compute an `x_scale` of 2**-12 in fixed point of 16 bits.

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
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; another scale or zero
        point of the result than the kernel library demands: 1 / 256 and -128, or 1 / 32768 and 0 for int16.

    Notes
    -----
    Sources: TFLite ``activations.cc``, ``lut.h``, ``integer_ops/logistic.h``; gemmlowp ``fixedpoint.h``.

    Examples
    --------
    >>> qops.tflite.logistic(
    ...     np.array([-20, 0, 20], np.int8), x_scale=0.1, x_zero_point=0, y_scale=1 / 256, y_zero_point=-128
    ... )
    array([-97,   0,  97], dtype=int8)
    """
    return Logistic._on(locals(), x, out)


def tanh(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the hyperbolic tangent.

    A table of all codes, of ``half_away(tanh(x_scale * (x - x_zero_point)) / y_scale) + y_zero_point`` in float32.
    XNNPACK adds the zero point before it rounds, half to even. TFLM computes int8 in fixed point with 27 bits behind
    the point, and reads neither scale nor zero point of the result. 16 bits are as in `logistic`.

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
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; for int16 another
        scale of the result than 1 / 32768.

    Notes
    -----
    Sources: TFLite ``activations.cc``, ``lut.h``, ``integer_ops/tanh.h``; gemmlowp ``fixedpoint.h``.

    Examples
    --------
    >>> qops.tflite.tanh(np.array([-20, 0, 20], np.int8), x_scale=0.1, x_zero_point=0, y_scale=1 / 128, y_zero_point=0)
    array([-123,    0,  123], dtype=int8)
    """
    return Tanh._on(locals(), x, out)
