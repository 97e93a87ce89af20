"""EXP, LOG, ELU and GELU."""

from __future__ import annotations

from math import erfc, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, Codes
from qops.tflite.unary import Unary

__all__ = ["Elu", "Exp", "Gelu", "Log", "elu", "exp", "gelu", "log"]


class Exp(Unary):
    """The prepared form of `exp` of int8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "EXP"

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        return self._tabled(np.exp, x, given)


class Log(Unary):
    """The prepared form of `log` of int8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "LOG"

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        lowest = F32(given.y_scale) * F32(check.ends(self._dtype)[0] - given.y_zero_point)
        return self._tabled(lambda v: np.where(v > 0, np.log(np.where(v > 0, v, 1)), lowest), x, given)


class Elu(Unary):
    """The prepared form of `elu` of int8, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "ELU"

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        return self._tabled(self._function, x, given, self._facts.table_zero_point)

    @staticmethod
    def _function(v: Any) -> Any:
        return np.where(v < 0, np.expm1(np.minimum(v, 0)), v)


class Gelu(Unary):
    """The prepared form of `gelu` of int8 or uint8, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "GELU"

    def __init__(
        self,
        *,
        x_scale: float,
        x_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        approximate: bool = False,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        return self._tabled(self._by_tanh if given.approximate else self._by_erfc, x, given)

    @staticmethod
    def _by_tanh(v: Any) -> Any:
        return 0.5 * v * (F32(1) + np.tanh(sqrt(2 / np.pi) * (v + 0.044715 * v**3)).astype(F32))

    @staticmethod
    def _by_erfc(v: Any) -> Any:
        x = v.astype(F32)
        return F32(0.5) * x * np.array([erfc(one) for one in (x * F32(-sqrt(0.5))).tolist()], F32)


def exp(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give exp(x).

    A table of all codes, of ``half_away(exp(x_scale * (x - x_zero_point)) / y_scale) + y_zero_point`` in float32; 16
    bits are interpolated between 513 points.

    Parameters
    ----------
    x : ndarray of int8 or int16
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
    Sources: TFLite ``exp.cc``, ``lut.h``.

    Examples
    --------
    >>> qops.tflite.exp(np.array([-20, 0, 20], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.1, y_zero_point=0)
    array([ 1, 10, 74], dtype=int8)
    """
    return Exp._on(locals(), x, out)


def log(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the natural logarithm of x; of what is not above 0, the lowest code.

    A table of all codes, of ``half_away(log(x_scale * (x - x_zero_point)) / y_scale) + y_zero_point`` in float32; 16
    bits are interpolated between 513 points.

    Parameters
    ----------
    x : ndarray of int8 or int16
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
    Sources: TFLite ``elementwise.cc``, ``lut.h``.

    Examples
    --------
    >>> x = np.array([-20, 0, 10, 100], np.int8)
    >>> qops.tflite.log(x, x_scale=0.1, x_zero_point=0, y_scale=0.1, y_zero_point=0)
    array([-128, -128,    0,   23], dtype=int8)

    **Hazard.** In 16 bits 0 is a point of the table, which is moved as all points are; it is not the lowest code.

    >>> x = np.array([0, 64, 128], np.int16)
    >>> qops.tflite.log(x, x_scale=0.1, x_zero_point=0, y_scale=0.001, y_zero_point=0)
    array([-24289, -10856,   2576], dtype=int16)
    """
    return Log._on(locals(), x, out)


def elu(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give exp(x) - 1 below 0, and x above.

    A table of all codes, of ``half_away(elu(x_scale * (x - x_zero_point)) / y_scale) + y_zero_point`` in float32.
    XNNPACK adds the zero point before it rounds, half to even. The reference has no such kernel.

    Parameters
    ----------
    x : ndarray of int8
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
    Sources: TFLite ``activations.cc``, ``lut.h``; XNNPACK ``elu``.

    Examples
    --------
    >>> qops.tflite.elu(
    ...     np.array([-20, 0, 20], np.int8),
    ...     x_scale=0.1, x_zero_point=0, y_scale=0.1, y_zero_point=0, kernel="optimized",
    ... )
    array([-9,  0, 20], dtype=int8)
    """
    return Elu._on(locals(), x, out)


def gelu(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    approximate: bool = False,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give x times the normal distribution function of x.

    A table of all codes, of ``half_away(gelu(x_scale * (x - x_zero_point)) / y_scale) + y_zero_point`` in float32.

    Parameters
    ----------
    x : ndarray of int8 or uint8
        Codes.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    approximate : bool
        Whether the form with a hyperbolic tangent is used; else the one with erfc.
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
    Sources: TFLite ``gelu.cc``, ``lut.h``.

    Examples
    --------
    >>> qops.tflite.gelu(np.array([-20, 0, 20], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.1, y_zero_point=0)
    array([ 0,  0, 20], dtype=int8)
    """
    return Gelu._on(locals(), x, out)
