"""ABS and NEG."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.tflite.arithmetic import Codes, quantized
from qops.tflite.unary import Tabled, Unary

__all__ = ["Abs", "Neg", "abs", "neg"]


class Abs(Unary):
    """The prepared form of `abs` of int8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "ABS"

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> Codes:
        near, kind = np.abs(x - given.x_zero_point), self._facts.ratio
        if given.x_scale == given.y_scale:
            return near + given.y_zero_point
        by = quantized(float(kind(given.x_scale) / kind(given.y_scale)))
        return self._facts.scaled(near, by) + given.y_zero_point


class Neg(Tabled):
    """The prepared form of `neg` of int8 or int16, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ()
    _name = "NEG"

    def __init__(self, *, dtype: DTypeLike = "int8", kernel: str = "reference") -> None:
        self._make(locals())

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> Codes:
        return np.where(x == x.min(), x, -x)


def abs(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the absolute value.

    ``abs(x - x_zero_point)``, taken to `y_scale` by a multiplier if the scales differ.

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
    Sources: TFLite ``elementwise.cc``.

    Examples
    --------
    >>> qops.tflite.abs(np.array([-20, 0, 20], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.2, y_zero_point=0)
    array([10,  0, 10], dtype=int8)
    """
    return Abs._on(locals(), x, out)


def neg(x: ArrayLike, *, kernel: str = "reference", out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Negate codes.

    TFLite negates the code, whatever the zero point is; the lowest code stays what it is.

    Parameters
    ----------
    x : ndarray of int8 or int16
        Codes.
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
    Sources: TFLite ``neg.cc``.

    Examples
    --------
    >>> qops.tflite.neg(np.array([-128, 0, 20], np.int8))
    array([-128,    0,  -20], dtype=int8)
    """
    return Neg._on(locals(), x, out)
