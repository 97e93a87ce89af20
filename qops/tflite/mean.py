"""MEAN and SUM: averages and sums of codes along axes."""

from __future__ import annotations

from math import floor, log2, prod
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, integer, put, shown
from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, half_away, multiply_add, named, quantized, scaled_up, wrap
from qops.tflite.op import PreparedOp

__all__ = ["Mean", "Sum", "mean", "sum"]

TOGETHER = 16
"""Channels that the optimised MEAN computes together."""


class Reduction(PreparedOp):
    """The base of the four ops. Axes may be negative, and may be given twice."""

    __slots__ = ("_axes", "_keeps", "_scales", "_zeros")

    def __init__(
        self,
        axis: ArrayLike,
        *,
        x_scale: float,
        x_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        keep_dims: bool = False,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        axes = as_array(given.axis, "axis")
        if axes.dtype.kind not in "iu" or axes.ndim > 1:
            raise bad_type("axis", f"expected an integer or a list of them, got {shown(given.axis)}")
        self._axes, self._keeps = axes.ravel().tolist(), given.keep_dims
        self._scales, self._zeros = (given.x_scale, given.y_scale), (given.x_zero_point, given.y_zero_point)

    def _taken(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the axes that are reduced, in order."""
        return tuple(sorted({integer(axis, "axis", -len(shape), len(shape) - 1) % len(shape) for axis in self._axes}))

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        taken = self._taken(shape)
        return tuple(1 if i in taken else n for i, n in enumerate(shape) if self._keeps or i not in taken)

    def _reduced(self, data: NDArray[Any], axes: tuple[int, ...], n: int) -> NDArray[Any]:
        """Give the codes, before they are clamped, of n codes each, with all axes."""
        raise NotImplementedError

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Reduce `x`, into `out` if it is given."""
        data = self._codes(x)
        shape, axes = self._shape(data.shape), self._taken(data.shape)
        check.out(out, self._dtype, shape, data)
        n = prod(data.shape[axis] for axis in axes)
        if n == 0:
            raise bad_value("x", f"has no codes along axes {axes}, shape {data.shape}")
        made = self._reduced(data, axes, n)
        return put(np.clip(made, *check.ends(self._dtype)).astype(self._dtype).reshape(shape), out)

    def _sums(self, data: NDArray[Any], axes: tuple[int, ...]) -> NDArray[np.int64]:
        return data.sum(axes, np.int64, keepdims=True)

    def _in_float(self, sums: NDArray[np.int64], n: int, scale: Any) -> NDArray[Any]:
        """Give ``half_even(sum * scale + (zero - n * zero * scale))`` in float32, with two roundings a sum or one."""
        (x_zero, y_zero), fuses = self._zeros, self._facts.fuses
        bias = multiply_add(F32(-n * x_zero), F32(scale), F32(y_zero), fuses)
        return np.rint(multiply_add(sums.astype(F32), F32(scale), bias, fuses))


class Scaled(Reduction):
    """The base of MEAN and SUM, which take codes to the scale of the result."""

    __slots__ = ("_by",)

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        self._by = quantized(given.x_scale / given.y_scale)


class Mean(Scaled):
    """The prepared form of `mean` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name = "MEAN"

    @property
    def integers(self) -> dict[str, Any]:
        """The factor of sums before it is divided by their number of codes, in kernels that compute in integers."""
        return named(self._by) if self._facts.mean == "integer" or self._dtype == np.int16 else {}

    def _reduced(self, data: NDArray[Any], axes: tuple[int, ...], n: int) -> NDArray[Any]:
        sums, (x_scale, y_scale), how = self._sums(data, axes), self._scales, self._facts.mean
        if how == "float" and self._dtype != np.int16:
            ratio = F32(x_scale) / F32(y_scale)
            return self._in_float(sums, n, ratio * (F32(1) / F32(n)))
        if how == "blocks" and self._dtype != np.int16 and data.ndim == 4 and axes == (1, 2) and self._keeps:
            return self._in_blocks(sums, n)
        m, e = self._by
        k = min(floor(log2(n)), 32, 31 + e)
        m, e = (m << k) // n, e - k
        x_zero, y_zero = self._zeros
        return wrap(self._facts.scaled(wrap(sums - n * x_zero), (m, e)) + y_zero)

    def _in_blocks(self, sums: NDArray[np.int64], n: int) -> NDArray[Any]:
        """As the optimised kernel does over height and width: channels of whole blocks are rounded half up twice."""
        (x_scale, y_scale), (x_zero, y_zero) = self._scales, self._zeros
        moved = F32(F32(F32(x_zero) * F32(x_scale)) / F32(y_scale))
        bias = y_zero - int(np.trunc(moved + F32(0.5 if moved > 0 else -0.5)))
        by = quantized(float(F32(x_scale) / F32(F32(n) * F32(y_scale))))
        whole = sums.shape[-1] // TOGETHER * TOGETHER
        made = self._facts.scaled(sums, by)
        made[..., :whole] = scaled_up(sums[..., :whole], by)
        return made + bias


class Sum(Scaled):
    """The prepared form of `sum` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name = "SUM"

    @property
    def integers(self) -> dict[str, Any]:
        """The factor of sums, in kernels that compute in integers."""
        return named(self._by) if self._facts.sum not in ("linear", "float") else {}

    def _reduced(self, data: NDArray[Any], axes: tuple[int, ...], n: int) -> NDArray[Any]:
        (x_scale, y_scale), (x_zero, y_zero), how = self._scales, self._zeros, self._facts.sum
        ratio = F32(x_scale) / F32(y_scale)
        if how == "linear" or (how == "float" and self._dtype == np.int16):
            bias = F32(F32(-F32(x_zero) * ratio) * F32(n))
            return half_away(multiply_add(self._sums(data, axes).astype(F32), ratio, bias, self._facts.fuses)) + y_zero
        if how == "float":
            return self._in_float(self._sums(data, axes), n, ratio)
        if how == "bytes" and self._dtype == np.int16:
            raise bad_value("kernel", "reference reads int16 as uint8 in SUM, and half of the tensor only")
        sums = self._sums(data.view(np.uint8) if how == "bytes" else data, axes)
        made = wrap(self._facts.scaled(wrap(sums - n * x_zero), self._by) + y_zero)
        return np.clip(made, 0, 255).astype(np.uint8).view(self._dtype) if how == "bytes" else made


def mean(
    x: ArrayLike,
    axis: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    keep_dims: bool = False,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Average codes along axes.

    The sum of n codes, less n zero points, times a multiplier of ``x_scale / y_scale`` that is divided by n beforehand.
    The optimised kernel over height and width rounds whole blocks of 16 channels half up twice. XNNPACK computes
    in float32, ``sum * s + (y_zero_point - n * x_zero_point * s)`` with s of ``x_scale / y_scale * (1 / n)``; on 64-bit
    ARM by fused multiply-adds.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    axis : int or array of int
        Axes that are reduced; they may be negative.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    keep_dims : bool
        Whether reduced axes stay, with length 1.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, without the reduced axes, or with length 1 there

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an axis that there is not, axes without codes, an `out` that does not fit; a kernel
        library that has no such op.

    Notes
    -----
    Sources: TFLite ``reduce.cc``, ``reference/reduce.h``; XNNPACK ``qs8-rsum``.

    Examples
    --------
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    >>> x = np.array([[0, 1], [1, 2]], np.int8)
    >>> [qops.tflite.mean(x, 1, **how, kernel=k).tolist() for k in ("reference", "xnnpack")]
    [[1, 2], [0, 2]]
    """
    return Mean._on(locals(), x, out)


def sum(
    x: ArrayLike,
    axis: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    keep_dims: bool = False,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Add codes along axes.

    ``(sum - n * x_zero_point) * x_scale / y_scale``: by a multiplier in the reference and TFLM, in float32 in the
    others, and by fused multiply-adds there on 64-bit ARM.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    axis : int or array of int
        Axes that are reduced; they may be negative.
    x_scale, x_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    keep_dims : bool
        Whether reduced axes stay, with length 1.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, without the reduced axes, or with length 1 there

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an axis that there is not, axes without codes, an `out` that does not fit; a kernel
        library that has no such op, as the reference of int16.

    Notes
    -----
    Sources: TFLite ``reduce.cc``, ``reference/reduce.h``; XNNPACK ``qs8-rsum``.

    Examples
    --------
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    >>> x = np.array([[-30, 64], [1, 2]], np.int8)
    >>> qops.tflite.sum(x, 1, **how, kernel="tflm")
    array([34,  3], dtype=int8)

    **Hazard.** The reference reads and writes the bytes of int8 as uint8, so -30 counts as 226, and codes end at 255:

    >>> qops.tflite.sum(x, 1, **how)
    array([-1,  3], dtype=int8)
    """
    return Sum._on(locals(), x, out)
