"""LOG_SOFTMAX and L2_NORMALIZATION."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, Codes, multiply_add, named, quantized, rounded_shift, wrap
from qops.tflite.fixed_point import exp_of_negative, inverse_sqrt, log_from_one
from qops.tflite.softmax import RowOp, float_sums, scale_of_differences

__all__ = ["L2Normalization", "LogSoftmax", "l2_normalization", "log_softmax"]


class LogSoftmax(RowOp):
    """The prepared form of `log_softmax` of int8 or uint8, called ``op(x, out=None)``: its integers or its table."""

    __slots__ = ("_by", "_least", "_table", "_x_scale", "_zero")
    _name = "LOG_SOFTMAX"

    def _fill(self, given: SimpleNamespace) -> None:
        self._output, self._x_scale = self._dtype, F32(given.x_scale)
        self._zero = check.ends(self._dtype)[1]
        check.fixed_output(given, 1 / 16, self._zero)
        self._by, self._least = scale_of_differences(given.x_scale, self._facts.rounds_once)
        self._table: NDArray[Any] | None = None
        if self._facts.float_log_softmax:
            steps = -F32(given.x_scale) * np.arange(256, dtype=F32)
            self._table = np.exp(steps.astype(np.float64)).astype(F32)
        elif not self._by[0]:  # TFLite and TFLM end the process: they take a factor above 1 alone
            raise bad_value("x_scale", f"expected one whose factor of differences is not 0, got {given.x_scale}")

    @property
    def integers(self) -> dict[str, Any]:
        """The factor of differences, the least one, and the factor back; or a table and the scale of differences."""
        if self._table is not None:
            return {"table": self._table.copy(), "x_scale": self._x_scale}
        m, e = self._by
        return {**named(self._by), "least": self._least, **named(quantized(2.0 ** (31 - e) / m), "back")}

    def _unclamped(self, x: Codes) -> NDArray[Any]:
        most = x.max(-1, keepdims=True)
        down = x - most
        if self._table is not None:
            near = np.log(float_sums(self._table[-down]).astype(np.float64)).astype(F32)
            with np.errstate(all="ignore"):  # scales near the end of float32 make NaN, whose code is 0
                total = multiply_add(most.astype(F32), self._x_scale, near, self._facts.fuses)
                log = multiply_add(x.astype(F32), self._x_scale, -total, self._facts.fuses)
                code = np.rint(log * F32(16)) + self._zero
            return np.nan_to_num(code)
        within = down >= self._least
        m, e = self._by
        steps = self._facts.scaled(np.where(within, down, 0), self._by)
        parts = np.where(within, exp_of_negative(steps, 5), 0)
        log = log_from_one(rounded_shift(parts, 12).sum(-1, keepdims=True))
        back = quantized(2.0 ** (31 - e) / m)
        least = np.maximum(self._least - 1, self._facts.scaled(wrap(log - 2**31), back))
        return np.where(down > least, rounded_shift(steps - log, 22) + self._zero, self._zero - 255)


class L2Normalization(RowOp):
    """The prepared form of `l2_normalization` of int8 or uint8, called ``op(x, out=None)``."""

    __slots__ = ("_zero",)
    _name = "L2_NORMALIZATION"

    def _fill(self, given: SimpleNamespace) -> None:
        self._output, self._zero = self._dtype, given.x_zero_point
        if self._facts.norm_checks:
            check.fixed_output(given, 1 / 128, 128 if self._dtype == np.uint8 else 0)

    def _unclamped(self, x: Codes) -> NDArray[Any]:
        near = x - self._zero
        m, e = inverse_sqrt((near * near).sum(-1, keepdims=True))
        if self._dtype == np.uint8:
            return 128 + self._facts.scaled(128 * near, (m, e))
        return self._facts.scaled(near, (m, e + 7))


def log_softmax(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the logarithm of the softmax of each row, over the last axis.

    The reference and TFLM compute in fixed point with 26 bits behind the point. The others add floats of a table, and
    subtract that sum's logarithm and the largest value from each value in float32, on 64-bit ARM by fused
    multiply-adds.

    Parameters
    ----------
    x : ndarray of int8 or uint8
        Codes; the zero point does not matter.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    y_scale, y_zero_point : float, int
        1 / 16 and the highest code.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; another scale or zero
        point of the result.

    Notes
    -----
    Sources: TFLite ``activations.cc``, ``reference/log_softmax.h``, gemmlowp ``fixedpoint.h``.

    Examples
    --------
    >>> qops.tflite.log_softmax(
    ...     np.array([[0, 10, 20]], np.int8), x_scale=0.1, x_zero_point=0, y_scale=1 / 16, y_zero_point=127
    ... )
    array([[ 88, 104, 120]], dtype=int8)
    """
    return LogSoftmax._on(locals(), x, out)


def l2_normalization(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Divide each row by the root of the sum of its squares.

    ``x - x_zero_point`` times one over that root, which is an integer and a shift by Newton's method.

    Parameters
    ----------
    x : ndarray of int8 or uint8
        Codes; the scale does not matter.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    y_scale, y_zero_point : float, int
        1 / 128, and 0, or 128 for uint8.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; another scale or zero
        point of the result.

    Notes
    -----
    Sources: TFLite ``l2norm.cc``, ``integer_ops/l2normalization.h``.

    Examples
    --------
    >>> qops.tflite.l2_normalization(
    ...     np.array([[3, 4]], np.int8), x_scale=1.0, x_zero_point=0, y_scale=1 / 128, y_zero_point=0
    ... )
    array([[ 77, 102]], dtype=int8)
    """
    return L2Normalization._on(locals(), x, out)
