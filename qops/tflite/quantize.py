"""QUANTIZE and DEQUANTIZE: floats to codes, codes to codes, codes to floats."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import choice, int32, integer, native, put
from qops.codes import of_dtype
from qops.prepared import Prepared
from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, cast, half_away, multiply_add, named, quantized, scaled_up, wrap
from qops.tflite.kernels import KERNELS
from qops.tflite.op import PreparedOp

__all__ = ["Dequantize", "Quantize", "dequantize", "quantize"]

TOGETHER, CODES_TOGETHER = 8, 16
"""Floats, and codes, that the optimised QUANTIZE computes together."""
FROM = ("float32", "int8", "int16", "uint8", "int32")


class Quantize(Prepared):
    """The prepared form of `quantize`, called ``op(x, out=None)``, for data of any type."""

    __slots__ = ("_dtype", "_facts", "_x", "_y")

    def __init__(
        self,
        *,
        y_scale: float,
        y_zero_point: int,
        x_scale: float | None = None,
        x_zero_point: int = 0,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _prepare(self, once: bool) -> None:
        self._dtype = of_dtype(self.dtype).dtype
        self._facts = KERNELS[choice(self.kernel, "kernel", KERNELS)]
        ends = check.ends(self._dtype)
        self._y = check.scale(self.y_scale, "y_scale"), integer(self.y_zero_point, "y_zero_point", *ends)
        step = None if self.x_scale is None else check.scale(self.x_scale, "x_scale")
        self._x = step, int32(self.x_zero_point, "x_zero_point")

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `x`, in `out` if it is given."""
        data = native(x, "x", FROM)
        if self._dtype.name not in self._facts.quantizes[data.dtype.name].split():
            raise bad_type("x, dtype", f"{self._facts.name} has no QUANTIZE of {data.dtype} to {self._dtype}")
        check.out(out, self._dtype, data.shape, data)
        made = self._of_floats(data.ravel()) if data.dtype == F32 else self._of_codes(data)
        return put(made.reshape(data.shape).astype(self._dtype), out)

    def _of_floats(self, data: NDArray[np.float32]) -> NDArray[Any]:
        if np.isnan(data).any():
            raise bad_value("x", "has NaN, which has no code")
        (step, zero), ends = self._y, check.ends(self._dtype)
        how = self._facts.quantize if self._dtype != np.int16 or self._facts.quantize != "even" else "blocks"
        with np.errstate(over="ignore"):
            values = half_away(data / F32(step)) if how == "divide" else np.rint(data * (F32(1) / F32(step)))
            if how == "even":
                return np.clip(values.astype(np.float64) + zero, *ends)
            if how == "blocks":
                whole = data.size // TOGETHER * TOGETHER
                tail = half_away(data[whole:].astype(np.float64) / step)
                values = np.append(values[:whole].astype(np.float64), tail)
        return np.clip(wrap(cast(values, self._facts.casts) + zero), *ends)

    @property
    def integers(self) -> dict[str, Any]:
        """The factor of codes, in kernels that compute in integers; empty for floats."""
        step = self._x[0]
        return {} if step is None or self._facts.requantize != "integer" else named(quantized(step / self._y[0]))

    def _of_codes(self, data: NDArray[Any]) -> NDArray[Any]:
        x_scale, x_zero = self._x
        if x_scale is None:
            raise bad_type("x_scale", f"expected a number for {data.dtype} data, got None")
        (step, zero), ends, how = self._y, check.ends(self._dtype), self._facts.requantize
        near = data.ravel().astype(np.int64) - x_zero
        ratio, is_8 = F32(x_scale) / F32(step), data.itemsize == self._dtype.itemsize == 1
        if how == "8.8" and is_8 and data.dtype == self._dtype and 2.0**-8 <= ratio <= 2.0**7:
            made = (near * int(np.rint(256 * ratio)) + (zero << 8) + 128) >> 8
        else:
            by = quantized(x_scale / step)
            made = wrap(self._facts.scaled(near, by) + zero)
            if how != "integer" and is_8:
                whole = near.size // CODES_TOGETHER * CODES_TOGETHER
                made[:whole] = wrap(scaled_up(near[:whole], by) + zero)
        return np.clip(made, *ends)


class Dequantize(PreparedOp):
    """The prepared form of `dequantize` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ("_x",)
    _name = "DEQUANTIZE"

    def __init__(
        self, *, x_scale: float, x_zero_point: int, dtype: DTypeLike = "int8", kernel: str = "reference"
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        self._x = given.x_scale, given.x_zero_point

    def __call__(self, x: ArrayLike, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Give the real values of codes, in `out` if it is given."""
        data, (scale, zero) = self._codes(x), self._x
        check.out(out, np.dtype(F32), data.shape, data)
        with np.errstate(all="ignore"):
            made = scale * (data.ravel().astype(np.float64) - zero)
            block = self._facts.dequantize_block
            whole = data.size // block * block if block > 1 else 0
            offset = F32(-zero) * F32(scale)
            made[:whole] = multiply_add(data.ravel()[:whole].astype(F32), F32(scale), offset, self._facts.fuses)
            made = made.reshape(data.shape).astype(F32)
        return put(made, out)


def quantize(
    x: ArrayLike,
    *,
    y_scale: float,
    y_zero_point: int,
    x_scale: float | None = None,
    x_zero_point: int = 0,
    dtype: DTypeLike = "int8",
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Make codes of floats, or of other codes.

    Floats: ``half_away(f(x / y_scale)) + y_zero_point``; blocks of 8 ``half_even(f(x * f(1 / y_scale)))`` in the
    optimised kernel, with a tail in double; all so in XNNPACK. Codes: by a multiplier of ``x_scale / y_scale``, rounded
    twice; 8 bits to 8 bits in blocks of 16 half up twice, or in XNNPACK, of one type, by a factor with 8 bits behind
    the point.

    Parameters
    ----------
    x : ndarray of float32, int8, uint8, int16 or int32
        Values or codes.
    y_scale, y_zero_point : float, int
        Real size of a code step of the result, and its code of 0.
    x_scale : float, optional
        Real size of a code step of `x`; needed for codes.
    x_zero_point : int
        Code of 0 of `x`.
    dtype : dtype
        Type of the result: int8, uint8, int16 or int32.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of `dtype`, of the shape of `x`

    Raises
    ------
    TypeError, ValueError
        NaN; types that the kernel library has not; codes without an `x_scale`; an `out` that does not fit.

    Notes
    -----
    Sources: TFLite ``quantize.cc``, ``reference/quantize.h``, ``optimized_ops.h``; XNNPACK ``qs8-vcvt``.

    Examples
    --------
    >>> x = np.array([0.5, 1.5, 2.5], np.float32)
    >>> [qops.tflite.quantize(x, y_scale=1.0, y_zero_point=0, kernel=k).tolist() for k in ("reference", "xnnpack")]
    [[1, 2, 3], [0, 2, 2]]

    **Hazard.** Floats are cast to int32 before they are clamped, so +inf and values of 2**31 steps or more give the
    lowest code; not in XNNPACK, and not on ARM, where a cast saturates:

    >>> x = np.array([np.inf, 1e30], np.float32)
    >>> [qops.tflite.quantize(x, y_scale=1.0, y_zero_point=0, kernel=k).tolist() for k in ("tflm", "optimized_arm")]
    [[-128, -128], [127, 127]]
    """
    return Quantize._once(locals())(x, out)


def dequantize(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    kernel: str = "reference",
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Make floats of codes.

    ``f(x_scale * (x - x_zero_point))``, rounded once. The optimised kernel computes ``f(x * x_scale) + f(-x_zero_point
    * x_scale)`` in whole blocks of 8; on 64-bit ARM the first product is not rounded.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    kernel, out : optional
        See `conv_2d`; `out` is float32.

    Returns
    -------
    ndarray of float32, of the shape of `x`

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op.

    Notes
    -----
    Sources: TFLite ``dequantize.cc``, ``reference/dequantize.h``, ``optimized_ops.h``.

    Examples
    --------
    >>> qops.tflite.dequantize(np.array([3, 4], np.int8), x_scale=0.1, x_zero_point=3)
    array([0. , 0.1], dtype=float32)
    """
    return Dequantize._on(locals(), x, out)
