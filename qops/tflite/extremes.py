"""MAXIMUM and MINIMUM: the larger or the smaller of two codes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.tflite.binary import Binary

__all__ = ["Maximum", "Minimum", "maximum", "minimum"]


class Extreme(Binary):
    """The base of both ops."""

    __slots__ = ()
    _function: ClassVar[np.ufunc]

    def __init__(self, *, dtype: DTypeLike = "int8", kernel: str = "reference") -> None:
        self._make(locals())

    def _made(self, a: NDArray[Any], b: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        return np.asarray(self._function(a, b))


class Maximum(Extreme):
    """The prepared form of `maximum`, called ``op(a, b, out=None)``."""

    __slots__ = ()
    _name = "MAXIMUM"
    _function = np.maximum


class Minimum(Extreme):
    """The prepared form of `minimum`, called ``op(a, b, out=None)``."""

    __slots__ = ()
    _name = "MINIMUM"
    _function = np.minimum


def maximum(a: ArrayLike, b: ArrayLike, *, kernel: str = "reference", out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Give the larger of two codes.

    TFLite reads neither scales nor zero points here, so all three should have the same.

    Parameters
    ----------
    a : ndarray of int8, uint8 or int16
        Codes.
    b : ndarray of the type of `a`
        Codes; shapes broadcast.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `a`

    Raises
    ------
    TypeError, ValueError
        Types that differ or are not listed, shapes that do not broadcast, an `out` that does not fit; a kernel library
        that has no such op.

    Notes
    -----
    Sources: TFLite ``maximum_minimum.cc``, ``reference/maximum_minimum.h``.

    Examples
    --------
    >>> qops.tflite.maximum(np.array([1, -5], np.int8), np.array([0], np.int8))
    array([1, 0], dtype=int8)
    """
    return Maximum._on(locals(), a, b, out)


def minimum(a: ArrayLike, b: ArrayLike, *, kernel: str = "reference", out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Give the smaller of two codes.

    TFLite reads neither scales nor zero points here, so all three should have the same.

    Parameters
    ----------
    a : ndarray of int8, uint8 or int16
        Codes.
    b : ndarray of the type of `a`
        Codes; shapes broadcast.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `a`

    Raises
    ------
    TypeError, ValueError
        Types that differ or are not listed, shapes that do not broadcast, an `out` that does not fit; a kernel library
        that has no such op.

    Notes
    -----
    Sources: TFLite ``maximum_minimum.cc``, ``reference/maximum_minimum.h``.

    Examples
    --------
    >>> qops.tflite.minimum(np.array([1, -5], np.int8), np.array([0], np.int8))
    array([ 0, -5], dtype=int8)
    """
    return Minimum._on(locals(), a, b, out)
