"""QLinearAveragePool and QLinearGlobalAveragePool: means of codes, onnxruntime's own ops."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.refusal import bad_value
from qops.checks import integer, put
from qops.onnx import _checks as check
from qops.onnx.by_type import ByType, codes, scale_above_0, zero_of
from qops.onnx.pool_window import PoolWindow, taps
from qops.onnx.requantize import stage
from qops.onnx.runtimes import COLUMNS

__all__ = ["QLinearAveragePool", "QLinearGlobalAveragePool", "qlinear_average_pool", "qlinear_global_average_pool"]

F32 = np.float32
_MOST_CODES = 2**23
"""How many codes one mean may have, so that int32 holds their sum."""


class _Means(ByType):
    """The base of both ops: means of codes, with a scale and a zero point of x and of y."""

    __slots__ = ("_scales",)

    def _check(self) -> None:
        self._scales = scale_above_0(self.x_scale, "x_scale"), scale_above_0(self.y_scale, "y_scale")
        integer(self.channels_last, "channels_last", 0, 1)

    def _of(self, dtype: np.dtype[Any]) -> tuple[int, int]:
        return zero_of(self.x_zero_point, "x_zero_point", dtype), zero_of(self.y_zero_point, "y_zero_point", dtype)

    def _channels_first(self, x: NDArray[Any]) -> NDArray[Any]:
        if x.ndim < 3:
            raise bad_value("X", f"expected (N, C, D1, ..., Dn), or channels last, got shape {x.shape}")
        return np.moveaxis(x, -1, 1) if self.channels_last else x

    def _from(self, first: tuple[int, ...]) -> tuple[int, ...]:
        return (first[0], *first[2:], first[1]) if self.channels_last else first

    def _of_all(self, x: NDArray[Any]) -> NDArray[Any]:
        """Give the means of whole images, as onnxruntime's global pool does; channels come first."""
        count = prod(x.shape[2:])
        if not 0 < count <= _MOST_CODES:
            raise bad_value("X", f"expected means of 1 to {_MOST_CODES} codes, got shape {x.shape}")
        x_zero, y_zero = self._for(x.dtype)
        (x_scale, y_scale), spatial = self._scales, tuple(range(2, x.ndim))
        with np.errstate(all="ignore"):
            scale = x_scale / F32(y_scale * F32(count))
        if not 2.0**-32 <= scale < 256:
            words = f"{x_scale!s}, {y_scale!s} give a factor of {scale!s}"
            raise bad_value("x_scale, y_scale", f"{words}, which onnxruntime refuses: it is not in 2**-32 to 256")
        sums = (x.sum(axis=spatial, keepdims=True, dtype=np.int64) - count * x_zero).astype(np.int32)
        made = np.empty(sums.shape, x.dtype)
        if made.size:
            stage(np.full(1, scale), np.asarray(y_zero, x.dtype), "ort").run(np.ascontiguousarray(sums), made)
        return made


class QLinearAveragePool(_Means):
    """The prepared form of `qlinear_average_pool`: its window and its numbers, for images of any size.

    Called ``op(X, out=None)``. The constructor takes all other arguments of `qlinear_average_pool`. A plain zero point
    has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearAveragePool(0.5, 0, 0.25, 0, kernel_shape=[2])
    >>> op, op(np.array([[[3, 1, 4]]], np.uint8))
    (QLinearAveragePool(0.5, 0, 0.25, kernel_shape=(2,)), array([[[4, 5]]], dtype=uint8))
    """

    __slots__ = ("_window",)

    def __init__(
        self,
        x_scale: ArrayLike,
        x_zero_point: ArrayLike | None,
        y_scale: ArrayLike,
        y_zero_point: ArrayLike | None = 0,
        *,
        channels_last: int = 0,
        kernel_shape: Sequence[int],
        auto_pad: str = "NOTSET",
        ceil_mode: int = 0,
        count_include_pad: int = 0,
        pads: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        runtime: str = "ort",
    ) -> None:
        runtime = check.own_runtime(runtime)
        self._make(locals())

    def _check(self) -> None:
        super()._check()
        self._window = PoolWindow.of(self._arguments)
        integer(self.count_include_pad, "count_include_pad", 0, 1)

    @property
    def rule(self) -> str:
        """The rule of `qops.rules.average_pool` that this runtime has."""
        return COLUMNS[self.runtime].pool

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        first = (shape[0], shape[-1], *shape[1:-1]) if self.channels_last else shape
        return self._from((*first[:2], *(axis.positions for axis in self._window.axes(first[2:], "X"))))

    def __call__(self, X: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the means of the windows of `X`, in `out` if it is given."""
        given = codes(X, "X")
        x = self._channels_first(given)
        check.out(out, x.dtype, self._shape(given.shape), given)
        axes = self._window.axes(x.shape[2:], "X")
        is_whole = x.shape[2:] == self._window.kernel and not any(axis.before or axis.after for axis in axes)
        made = self._of_all(x) if is_whole else self._of_windows(x, axes)
        return put(np.moveaxis(made, 1, -1) if self.channels_last else made, out)

    def _of_windows(self, x: NDArray[Any], axes: list[Axis]) -> NDArray[Any]:
        """Add the values of each window tap after tap, divide by their count and quantize, all in float32."""
        (x_scale, y_scale), (x_zero, y_zero) = self._scales, self._for(x.dtype)
        sums = np.zeros((*x.shape[:2], *(axis.positions for axis in axes)), F32)
        counts = np.zeros(sums.shape[2:], F32)
        with np.errstate(all="ignore"):
            values = x_scale * (x.astype(F32) - F32(x_zero))
            for of_result, of_image in taps(axes):
                sums[of_result] += values[of_image]
                counts[of_result] += F32(1)
            mean = sums / (F32(prod(self._window.kernel)) if self.count_include_pad else counts)
            near = np.rint(mean / y_scale + F32(y_zero))
        if np.isnan(near).any():
            raise bad_value("x_scale, y_scale", f"{x_scale!s}, {y_scale!s} lead beyond float32")
        info = np.iinfo(x.dtype)
        if self.rule == "ort":  # x86 converts what int32 does not hold to -2**31, and so to the lowest code
            near[np.abs(near) >= F32(2**31)] = info.min
        return np.clip(near, info.min, info.max).astype(x.dtype)


class QLinearGlobalAveragePool(_Means):
    """The prepared form of `qlinear_global_average_pool`: its numbers, for images of any size.

    Called ``op(X, out=None)``. The constructor takes all other arguments of `qlinear_global_average_pool`. A plain zero
    point has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearGlobalAveragePool(0.5, 0, 0.25, 0)
    >>> op, op(np.array([[[3, 1, 4]]], np.uint8))
    (QLinearGlobalAveragePool(0.5, 0, 0.25), array([[[5]]], dtype=uint8))
    """

    __slots__ = ()

    def __init__(
        self,
        x_scale: ArrayLike,
        x_zero_point: ArrayLike | None,
        y_scale: ArrayLike,
        y_zero_point: ArrayLike | None = 0,
        *,
        channels_last: int = 0,
    ) -> None:
        self._make(locals())

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        channels = shape[-1] if self.channels_last else shape[1]
        return self._from((shape[0], channels, *(1,) * (len(shape) - 2)))

    def __call__(self, X: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the means of the images of `X`, in `out` if it is given."""
        given = codes(X, "X")
        x = self._channels_first(given)
        check.out(out, x.dtype, self._shape(given.shape), given)
        made = self._of_all(x)
        return put(np.moveaxis(made, 1, -1) if self.channels_last else made, out)


def qlinear_average_pool(
    X: ArrayLike,
    x_scale: ArrayLike,
    x_zero_point: ArrayLike | None,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike | None = 0,
    *,
    channels_last: int = 0,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    runtime: str = "ort",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the mean of each window, as onnxruntime does: ``com.microsoft.QLinearAveragePool``.

    Real numbers: ``Y = mean of the window``. In float32, tap after tap, of the n codes of a window::

        t = 0, then t + x_scale * (X - x_zero_point) for each tap
        Y = saturate(half_even(t / n / y_scale + y_zero_point))

    so the zero point is inside of the rounding. A window as large as the image, without padding, is computed as
    `qlinear_global_average_pool`. What int32 does not hold becomes the lowest code on x86, and saturates on ARM: these
    are the rows ``ort`` and ``ort-arm`` of `qops.rules.average_pool`.

    Parameters
    ----------
    X : ndarray of uint8 or int8, (N, C, D1, ..., Dn), or (N, D1, ..., Dn, C)
    x_scale, x_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        One value each, the scale above 0; a zero point that is None is 0.
    y_scale, y_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        One value each for `Y`, the scale above 0.
    channels_last : {0, 1}
        1: the last axis of `X` is that of channels.
    kernel_shape : sequence of int
        The sizes of a window, one a spatial axis.
    auto_pad, ceil_mode : optional
        See `max_pool`.
    count_include_pad : {0, 1}
        1: n also counts pixels of the padding, which are real 0; 0: n counts pixels of the image only.
    pads, strides : optional
        See `max_pool`.
    runtime : {"ort", "ort_avx2", "ort_arm", "ort_neon"}
        onnxruntime on a kind of CPU, see `qops.onnx`.
    out : ndarray of the type of `X`, optional
        Where the codes are written, apart from the input.

    Returns
    -------
    ndarray of the type of `X`, (N, C, ...), or (N, ..., C)

    Raises
    ------
    TypeError, ValueError
        Other types, attributes that do not fit the image, scales that are not above 0 or lead beyond float32.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/qlinear_pool.cc``. The standard has no such operator.

    Examples
    --------
    >>> qops.onnx.qlinear_average_pool(
    ...     np.array([[[3, 1, 4, 4]]], np.uint8), 0.5, 0, 0.25, 0, kernel_shape=[2], strides=[2]
    ... )
    array([[[4, 8]]], dtype=uint8)

    **Hazards.** A mean of 2**31 output steps or more is the lowest code on x86, and the highest on ARM:

    >>> x = np.array([[[255, 1]]], np.uint8)
    >>> [qops.onnx.qlinear_average_pool(x, 2.0**30, 0, 1, 9, kernel_shape=[1], runtime=r)[0, 0, 0].item()
    ...  for r in ("ort", "ort_arm")]
    [0, 255]
    """
    runtime = check.own_runtime(runtime)
    return QLinearAveragePool._once(locals())(X, out)


def qlinear_global_average_pool(
    X: ArrayLike,
    x_scale: ArrayLike,
    x_zero_point: ArrayLike | None,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike | None = 0,
    *,
    channels_last: int = 0,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the mean of each image, as onnxruntime does: ``com.microsoft.QLinearGlobalAveragePool``.

    Real numbers: ``Y = mean of the image``. With the exact sum t of the n codes of a channel, in float32::

        Y = saturate(half_even(f32(t - n * x_zero_point) * (x_scale / (y_scale * n))) + y_zero_point)

    This is the row ``ort-global`` of `qops.rules.average_pool`.

    Parameters
    ----------
    X : ndarray of uint8 or int8, (N, C, D1, ..., Dn), or (N, D1, ..., Dn, C)
    x_scale, x_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        One value each, the scale above 0; a zero point that is None is 0.
    y_scale, y_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        One value each for `Y`, the scale above 0.
    channels_last : {0, 1}
        1: the last axis of `X` is that of channels.
    out : ndarray of the type of `X`, optional
        Where the codes are written, apart from the input.

    Returns
    -------
    ndarray of the type of `X`, (N, C, 1, ..., 1), or (N, 1, ..., 1, C)

    Raises
    ------
    TypeError, ValueError
        Other types, images without pixels or of more than 2**23, scales that are not above 0, or whose factor
        onnxruntime refuses: one below 2**-32, or of 256 or more.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/qlinear_global_average_pool.cc``. The standard has no such
    operator.

    Examples
    --------
    >>> qops.onnx.qlinear_global_average_pool(np.array([[[3, 1, 4, -4]]], np.int8), 0.5, 0, 0.25, 0)
    array([[[2]]], dtype=int8)
    """
    return QLinearGlobalAveragePool._once(locals())(X, out)
