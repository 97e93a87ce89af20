"""PAD and PADV2: codes around an array."""

from __future__ import annotations

from math import prod
from sys import maxsize
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import integer, native, shown
from qops.tflite import _checks as check
from qops.tflite.op import PreparedOp

__all__ = ["Pad", "PadV2", "pad", "padv2"]


class Padding(PreparedOp):
    """The base of both ops."""

    __slots__ = ("_code", "_pads")
    _code: int

    def _fill(self, given: SimpleNamespace) -> None:
        pads = native(given.paddings, "paddings", ("int32", "int64"))
        if pads.ndim != 2 or pads.shape[1] != 2 or (pads.size and pads.min() < 0):
            raise bad_value("paddings", f"expected (before, after) from 0 on for each axis, got {shown(pads)}")
        if pads.dtype == np.int64 and self._facts.reads_int32:
            words = np.ascontiguousarray(pads).view(np.int32).ravel()[: pads.size].reshape(pads.shape)
            if (words.sum(1) != pads.sum(1)).any():
                raise bad_value("paddings", f"{given.kernel} reads int64 as int32, got {shown(pads)}")
            pads = words
        self._pads = pads.tolist()

    @property
    def integers(self) -> dict[str, Any]:
        """How many codes are put before and after each axis, and which."""
        return {"paddings": np.array(self._pads, np.int32).reshape(-1, 2), "pad_value": self._code}

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) != len(self._pads):
            raise bad_value("x, paddings", f"{len(self._pads)} paddings do not fit shape {shape}")
        return tuple(n + before + after for n, (before, after) in zip(shape, self._pads, strict=True))

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Pad `x`, into `out` if it is given."""
        data = self._codes(x)
        shape = self._shape(data.shape)
        if prod(shape) * self._dtype.itemsize > maxsize:
            raise bad_value("paddings", f"numpy has no array of shape {shape} and {self._dtype}")
        check.out(out, self._dtype, shape, data)
        made = np.empty(shape, self._dtype) if out is None else out
        made[...] = self._code
        made[tuple(slice(before, before + n) for n, (before, _) in zip(data.shape, self._pads, strict=True))] = data
        return made


class Pad(Padding):
    """The prepared form of `pad` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name = "PAD"

    def __init__(
        self,
        paddings: ArrayLike,
        *,
        x_zero_point: int,
        y_zero_point: int,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        if given.x_zero_point != given.y_zero_point and not self._facts.any_zero_point:
            raise bad_value("y_zero_point", f"expected x_zero_point, {given.x_zero_point}, got {given.y_zero_point}")
        self._code = given.y_zero_point


class PadV2(Padding):
    """The prepared form of `padv2` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name = "PADV2"

    def __init__(
        self, paddings: ArrayLike, value: int, *, dtype: DTypeLike = "int8", kernel: str = "reference"
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        self._code = integer(given.value, "value", *check.ends(self._dtype))


def pad(
    x: ArrayLike,
    paddings: ArrayLike,
    *,
    x_zero_point: int,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Put real 0 around an array.

    The code is `y_zero_point`. XNNPACK refuses zero points that differ; others copy the codes of `x`.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    paddings : array of int32 or int64, (axes, 2)
        How many codes are put before and after each axis.
    x_zero_point, y_zero_point : int
        Codes of 0 of `x` and of the result.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, paddings that are negative or do not fit, an `out` that does not fit; in TFLM, paddings
        of int64 that it reads as others.

    Notes
    -----
    Sources: TFLite ``pad.cc``, ``reference/pad.h``; ``pad_common.cc``.

    Examples
    --------
    >>> qops.tflite.pad(
    ...     np.array([[1, 2]], np.int8), np.array([[0, 1], [2, 0]], np.int32), x_zero_point=9, y_zero_point=9
    ... )
    array([[9, 9, 1, 2],
           [9, 9, 9, 9]], dtype=int8)
    """
    return Pad._on(locals(), x, out)


def padv2(
    x: ArrayLike,
    paddings: ArrayLike,
    value: int,
    *,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Put a code around an array.

    `value` has the scale and zero point of `x` and of the result.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    paddings : array of int32 or int64, (axes, 2)
        How many codes are put before and after each axis.
    value : int
        The code that is put there.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, paddings that are negative or do not fit, an `out` that does not fit; in TFLM, paddings
        of int64 that it reads as others.

    Notes
    -----
    Sources: TFLite ``pad.cc``, ``reference/pad.h``; ``pad_common.cc``.

    Examples
    --------
    >>> qops.tflite.padv2(np.array([[1, 2]], np.int8), np.array([[0, 1], [2, 0]], np.int32), -7)
    array([[-7, -7,  1,  2],
           [-7, -7, -7, -7]], dtype=int8)
    """
    return PadV2._on(locals(), x, out)
