"""AVERAGE_POOL_2D and MAX_POOL_2D: windows over images NHWC."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.arrays.window import Window
from qops._kernels.pool.pooling import Clamped, counts, totals
from qops.checks import put
from qops.prepared import direct
from qops.tflite import _checks as check
from qops.tflite.op import PreparedOp
from qops.tflite.tables import of_8_bits
from qops.tflite.window import UnsizedWindow

__all__ = ["AveragePool2D", "MaxPool2D", "average_pool_2d", "max_pool_2d"]


class Pool(PreparedOp):
    """The base of both pools. Codes are those of the result, whatever its scale is."""

    __slots__ = ("_ends", "_kernel", "_moves", "_window")
    _averages: ClassVar[bool]

    def __init__(
        self,
        *,
        window: tuple[int, int],
        x_scale: float,
        x_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        stride: tuple[int, int] = (1, 1),
        padding: str = "VALID",
        activation: str = "NONE",
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        if abs(given.x_scale - given.y_scale) > 1e-6 and not self._facts.pool_rescales:
            raise bad_value("y_scale", f"expected x_scale, {given.x_scale}, got {given.y_scale}")
        if given.x_zero_point != given.y_zero_point and not self._facts.pool_rescales:
            raise bad_value("y_zero_point", f"expected x_zero_point, {given.x_zero_point}, got {given.y_zero_point}")
        self._window, self._ends = given.window, self._limits(given, self._taken(given))
        self._moves, self._kernel = UnsizedWindow(given.stride, (1, 1), given.padding), None
        if self._dtype.itemsize == 1:
            how = {"averages": self._averages, "same": given.padding == "SAME"}
            self._kernel = Clamped(self._window, Window(given.stride), self._dtype.num, *self._ends, **how)

    @property
    def integers(self) -> dict[str, Any]:
        """The lowest and the highest code after the fused activation."""
        return dict(zip(("qmin", "qmax"), self._ends, strict=True))

    def windows(self, shape: tuple[int, ...]) -> dict[str, int]:
        """Give, by name, how windows move over images of this shape: size, stride, padding."""
        return self._moves.integers(shape, self._window)

    def _taken(self, given: SimpleNamespace) -> bool:
        """Whether the kernel library has this pool itself; none has averages otherwise than the next one."""
        return False

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        window = self._moves.over(shape, self._window)
        return (shape[0], *window.out_size(shape[1:3], self._window, "x, window"), shape[3])

    def _pooled(self, data: NDArray[Any], window: Window) -> NDArray[Any]:
        """Give the codes, before they are clamped."""
        raise NotImplementedError

    @direct
    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Pool `x`, into `out` if it is given."""
        data = self._codes(x)
        shape = self._shape(data.shape)
        check.out(out, self._dtype, shape, data)
        if 0 in shape:  # the other sizes may be enormous
            return put(np.empty(shape, self._dtype), out)
        codes = self._pooled(data, self._moves.over(data.shape, self._window))
        return put(np.clip(codes, *self._ends).astype(self._dtype, copy=False), out)


class AveragePool2D(Pool):
    """The prepared form of `average_pool_2d` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name, _averages = "AVERAGE_POOL_2D", True

    def _pooled(self, data: NDArray[Any], window: Window) -> NDArray[Any]:
        sums = totals(data.astype(np.int32), self._window, window)
        n = counts(data.shape[1:3], self._window, window)[np.newaxis, :, :, np.newaxis]
        means = (np.abs(sums) + n // 2) // n
        return np.where(sums > 0, means, -means)


class MaxPool2D(Pool):
    """The prepared form of `max_pool_2d` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ("_table",)
    _name, _averages = "MAX_POOL_2D", False

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        x, y = (given.x_scale, given.x_zero_point), (given.y_scale, given.y_zero_point)
        self._table: NDArray[Any] | None = None
        if x == y or not self._taken(given) or not self._facts.max_pool_same or self._dtype.itemsize > 1:
            return
        if given.activation == "NONE" or tuple(given.window) != (1, 1):
            raise bad_value("y_scale, y_zero_point", f"{given.kernel} expects those of x, {x}, got {y}")
        self._table, self._ends, self._kernel = self._cut(given), check.ends(self._dtype), None

    def _cut(self, given: SimpleNamespace) -> NDArray[Any]:
        """Give what XNNPACK, which only cuts where a window is one tap, makes of each code, from the lowest on."""
        lowest, highest = check.ends(self._dtype)
        codes = np.arange(lowest, highest + 1) - given.x_zero_point
        low, high = check.ACTIVATIONS[given.activation]
        activation = partial(np.clip, a_min=low, a_max=high)
        values = of_8_bits(activation, codes, given.x_scale, (given.y_scale, given.y_zero_point), "inside")
        return values.clip(lowest, highest).astype(self._dtype)

    @property
    def integers(self) -> dict[str, Any]:
        """The lowest and the highest code after the activation, or a table if codes are taken to another scale."""
        return {"table": self._table.copy()} if self._table is not None else super().integers

    def _taken(self, given: SimpleNamespace) -> bool:
        """XNNPACK leaves strides beyond the window to the next kernels."""
        return all(step <= size for step, size in zip(given.stride, given.window, strict=True))

    def _pooled(self, data: NDArray[Any], window: Window) -> NDArray[Any]:
        if self._table is not None:
            return self._table[data.astype(np.int64) - self._ends[0]]
        taps = window.taps(data.transpose(0, 3, 1, 2), self._window, -(2**15))
        return taps.max((-2, -1)).transpose(0, 2, 3, 1)


def average_pool_2d(
    x: ArrayLike,
    *,
    window: tuple[int, int],
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    stride: tuple[int, int] = (1, 1),
    padding: str = "VALID",
    activation: str = "NONE",
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Average the codes of windows.

    ``n`` stored codes with the sum s give ``(s + n / 2) / n`` if s > 0, else ``(s - n / 2) / n``, by C's division.
    Scales and zero points are only those of the activation; codes are not taken to another scale.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16, (N, H, W, C)
        Codes.
    window : (int, int)
        Height and width of the windows.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    stride : (int, int)
        Vertical and horizontal distance of the windows.
    padding : {"VALID", "SAME"}
        SAME gives ceil(size / stride) windows; taps on the padding do not count.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, (N, OH, OW, C)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; in TFLM, scales that differ.

    Notes
    -----
    Sources: TFLite ``pooling.cc``, ``integer_ops/pooling.h``.

    Examples
    --------
    >>> x = np.array([[[[1], [2], [-2], [-1]]]], np.int8)
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    >>> qops.tflite.average_pool_2d(x, window=(1, 2), stride=(1, 2), **how).ravel()
    array([ 2, -2], dtype=int8)
    """
    return AveragePool2D._on(locals(), x, out)


def max_pool_2d(
    x: ArrayLike,
    *,
    window: tuple[int, int],
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    stride: tuple[int, int] = (1, 1),
    padding: str = "VALID",
    activation: str = "NONE",
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the largest code of windows.

    Scales and zero points are only those of the activation; codes are not taken to another scale. XNNPACK demands those
    of `x` of 8 bits where strides are within the window, but for windows of 1 by 1 with an activation: it cuts their
    real values, and makes codes of `y_scale` of them.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16, (N, H, W, C)
        Codes.
    window : (int, int)
        Height and width of the windows.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    stride : (int, int)
        Vertical and horizontal distance of the windows.
    padding : {"VALID", "SAME"}
        SAME gives ceil(size / stride) windows; taps on the padding do not count.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, (N, OH, OW, C)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; in TFLM, scales that differ.

    Notes
    -----
    Sources: TFLite ``pooling.cc``, ``integer_ops/pooling.h``.

    Examples
    --------
    >>> x = np.array([[[[1], [2], [-2], [-1]]]], np.int8)
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    >>> qops.tflite.max_pool_2d(x, window=(1, 2), stride=(1, 2), **how).ravel()
    array([ 2, -1], dtype=int8)
    """
    return MaxPool2D._on(locals(), x, out)
