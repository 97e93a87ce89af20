"""LEAKY_RELU and PRELU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import broadcast_shape, integer, native, number, put
from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, Codes, named, quantized
from qops.tflite.op import PreparedOp
from qops.tflite.unary import Unary

__all__ = ["LeakyRelu", "Prelu", "leaky_relu", "prelu"]


class LeakyRelu(Unary):
    """The prepared form of `leaky_relu` of int8, uint8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "LEAKY_RELU"

    def __init__(
        self,
        *,
        x_scale: float,
        x_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        alpha: float,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> Codes:
        kind = self._facts.ratio
        x_scale, y_scale, alpha = kind(given.x_scale), kind(given.y_scale), kind(F32(number(given.alpha, "alpha")))
        above, below = float(x_scale / y_scale), float(x_scale * alpha / y_scale)
        near, zero = x - given.x_zero_point, given.y_zero_point
        takes = 2.0**-8 <= above <= 2.0**7 and 2.0**-8 <= abs(below) <= 2.0**7
        if self._facts.leaky == "8.8" and self._dtype != np.int16 and takes:
            m, n = (int(np.rint(256 * ratio)) for ratio in (above, below))
            return (near * np.where(near >= 0, m, n) + (zero << 8) + 128) >> 8
        sign = -1 if below < 0 and not (self._facts.leaky_s16_signed and self._dtype == np.int16) else 1
        negative = sign * self._facts.scaled(near, quantized(sign * below))
        return np.where(near >= 0, self._facts.scaled(near, quantized(above)), negative) + zero


class Prelu(PreparedOp):
    """The prepared form of `prelu` of int8, uint8 or int16, called ``op(x, out=None)``: its integers, and alpha."""

    __slots__ = ("_above", "_alpha", "_below", "_zeros")
    _name = "PRELU"

    def __init__(
        self,
        alpha: ArrayLike,
        *,
        x_scale: float,
        x_zero_point: int,
        alpha_scale: float,
        alpha_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        kinds = self._facts.prelu_alpha_s16 if self._dtype == np.int16 else (self._dtype.name,)
        alpha = native(given.alpha, "alpha", kinds)
        if alpha.dtype == np.int16:  # its first bytes are read
            alpha = np.ascontiguousarray(alpha).view(np.int8).ravel()[: alpha.size].reshape(alpha.shape)
        zero = integer(given.alpha_zero_point, "alpha_zero_point", *check.ends(alpha.dtype))
        self._alpha, self._zeros = alpha.astype(np.int64) - zero, (given.x_zero_point, given.y_zero_point)
        kind = self._facts.ratio
        x_scale, y_scale = kind(given.x_scale), kind(given.y_scale)
        self._above = quantized(float(x_scale / y_scale))
        self._below = quantized(float(x_scale * kind(given.alpha_scale) / y_scale))

    @property
    def integers(self) -> dict[str, Any]:
        """The factors of codes from the zero point on and below it, and alpha less its zero point."""
        return {**named(self._above, "positive"), **named(self._below, "negative"), "alpha": self._alpha.copy()}

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        try:
            fits = broadcast_shape(shape, self._alpha.shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise bad_value("x, alpha", f"shape {self._alpha.shape} does not broadcast to {shape}")
        return shape

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `x`, in `out` if it is given."""
        data = self._codes(x)
        check.out(out, self._dtype, self._shape(data.shape), data)
        zero, y_zero = self._zeros
        near = data.astype(np.int64) - zero
        negative = self._facts.scaled(near * self._alpha, self._below)
        made = np.where(near >= 0, self._facts.scaled(near, self._above), negative) + y_zero
        return put(np.clip(made, *check.ends(self._dtype)).astype(self._dtype), out)


def leaky_relu(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    alpha: float,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply values below 0 by alpha.

    By one multiplier from `x_zero_point` on, and by another below it. XNNPACK has factors with 8 bits behind the point,
    if both are between 1 / 256 and 128.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    alpha : float
        What negative values are multiplied by.
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
    Sources: TFLite ``activations.cc``, ``reference/leaky_relu.h``; XNNPACK ``qs8-vlrelu``.

    Examples
    --------
    >>> qops.tflite.leaky_relu(
    ...     np.array([-20, 0, 20], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.1, y_zero_point=0, alpha=0.3
    ... )
    array([-6,  0, 20], dtype=int8)
    """
    return LeakyRelu._on(locals(), x, out)


def prelu(
    x: ArrayLike,
    alpha: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    alpha_scale: float,
    alpha_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply values below 0 by an alpha of their own.

    By one multiplier from `x_zero_point` on, and below it the product of both codes by another.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    alpha : ndarray of the type of `x`, or of int8 for int16
        Codes, that broadcast to `x`.
    x_scale, x_zero_point, alpha_scale, alpha_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; an alpha that does
        not broadcast to `x`.

    Notes
    -----
    Sources: TFLite ``activations.cc``, ``reference/prelu.h``; ``prelu_common.cc``.

    Examples
    --------
    >>> how = {"x_scale": 0.1, "x_zero_point": 0, "alpha_zero_point": 0, "y_scale": 0.1, "y_zero_point": 0}
    >>> qops.tflite.prelu(np.array([[-20, -20]], np.int8), np.array([1, -1], np.int8), **how, alpha_scale=0.5)
    array([[-10,  10]], dtype=int8)

    **Hazard.** Of int16, alpha is int8. LiteRT takes an alpha of int16 too, and reads its bytes as int8:

    >>> qops.tflite.prelu(np.array([-100, -100], np.int16), np.array([50, 100], np.int16), **how, alpha_scale=0.01)
    array([-50,   0], dtype=int16)
    """
    return Prelu._on(locals(), x, out)
