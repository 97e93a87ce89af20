"""SQRT and RSQRT."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.tflite import _checks as check
from qops.tflite import fixed_point
from qops.tflite.arithmetic import F32, Codes, quantized
from qops.tflite.unary import Unary

__all__ = ["Rsqrt", "Sqrt", "rsqrt", "sqrt"]


class Sqrt(Unary):
    """The prepared form of `sqrt` of int8, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "SQRT"
    _from_zero_point = True

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        values = F32(given.x_scale) * (x - given.x_zero_point).astype(F32)
        return np.trunc(np.sqrt(values) / F32(given.y_scale)) + given.y_zero_point


class Rsqrt(Unary):
    """The prepared form of `rsqrt` of int8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "RSQRT"
    _from_zero_point = True

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        near = x - given.x_zero_point
        if self._dtype == np.int16 and self._facts.rsqrt_s16 == "table":
            most = given.y_scale * (32767 - given.y_zero_point)
            return self._tabled(lambda v: np.where(v > 0, F32(1) / np.sqrt(np.abs(v).astype(F32)), most), x, given)
        m, e = fixed_point.inverse_sqrt(near)
        ratio = self._facts.ratio
        step = float(ratio(np.sqrt(ratio(given.x_scale))) * ratio(given.y_scale))
        if not step:
            raise bad_value("x_scale, y_scale", f"sqrt({given.x_scale}) * {given.y_scale} is 0")
        n, f = quantized(1 / step)
        made = self._facts.scaled(self._facts.scaled(np.ones_like(near), (m, e + 20)), (n, f - 20)) + given.y_zero_point
        return np.where(near == 0, check.ends(self._dtype)[1], made)


def sqrt(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the square root.

    ``truncate(sqrt(x_scale * (x - x_zero_point)) / y_scale) + y_zero_point`` in float32.

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
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; codes below the zero
        point.

    Notes
    -----
    Sources: TFLite ``elementwise.cc``.

    Examples
    --------
    >>> qops.tflite.sqrt(
    ...     np.array([-128, -120, 127], np.int8), x_scale=1.0, x_zero_point=-128, y_scale=0.1, y_zero_point=0
    ... )
    array([  0,  28, 127], dtype=int8)
    """
    return Sqrt._on(locals(), x, out)


def rsqrt(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give one over the square root.

    An integer and a shift by Newton's method, times ``1 / (sqrt(x_scale) * y_scale)``; code `x_zero_point` gives the
    highest code. LiteRT interpolates 16 bits between 513 points, which is poor near 0.

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
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; codes below the zero
        point.

    Notes
    -----
    Sources: TFLite ``elementwise.cc``, ``quantization_util.cc``.

    Examples
    --------
    >>> qops.tflite.rsqrt(np.array([0, 1, 4, 100], np.int8), x_scale=1.0, x_zero_point=0, y_scale=0.01, y_zero_point=0)
    array([127, 100,  50,  10], dtype=int8)

    **Hazard.** Of int16, LiteRT gives 24755 where TFLM gives 9061:

    >>> how = {"x_scale": 0.2959345281124115, "x_zero_point": 0, "y_scale": 0.000202881550649181, "y_zero_point": 0}
    >>> [qops.tflite.rsqrt(np.array([1], np.int16), **how, kernel=k).item() for k in ("reference", "tflm")]
    [24755, 9061]
    """
    return Rsqrt._on(locals(), x, out)
