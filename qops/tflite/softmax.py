"""SOFTMAX, and what ops of rows share."""

from __future__ import annotations

from math import floor
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.tflite.softmax import RowShares
from qops.checks import integer, put
from qops.prepared import direct
from qops.tflite import _checks as check
from qops.tflite.arithmetic import (
    F32,
    Codes,
    Multiplier,
    leading_zeros,
    quantized,
)
from qops.tflite.fixed_point import exp_of_negative
from qops.tflite.op import OneArray
from qops.tflite.tables import interpolated, of_16_bits

__all__ = ["Softmax", "softmax"]


def float_sums(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the sum of each row, one float32 after the other."""
    return np.add.accumulate(values, -1)[..., -1:]


def scale_of_differences(scale: float, rounds_once: bool) -> tuple[Multiplier, int]:
    """Give the factor that takes differences of codes to numbers with 26 bits behind the point, and the least one."""
    m, e = quantized(min(scale * 2**26, 2 ** (30 if rounds_once else 31) - 1))
    return (m, e), -floor(31 * 2**26 / 2**e)


class RowOp(OneArray):
    """The base of the three ops: rows of codes, each by itself."""

    __slots__ = ("_output",)
    _output: np.dtype[Any]

    def _unclamped(self, x: Codes) -> NDArray[Any]:
        """Give the codes, before they are clamped."""
        raise NotImplementedError

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if not shape or not shape[-1]:
            raise bad_value("x", f"expected rows of at least 1 code, got shape {shape}")
        return shape

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `x`, in `out` if it is given."""
        data = self._codes(x)
        check.out(out, self._output, self._shape(data.shape), data)
        made = np.clip(self._unclamped(data.astype(np.int64)), *check.ends(self._output))
        return put(made.astype(self._output), out)


class Softmax(RowOp):
    """The prepared form of `softmax` of int8, uint8 or int16, called ``op(x, out=None)``: its integers and tables."""

    __slots__ = ("_by", "_exp", "_kernel", "_least", "_lowest", "_reciprocal", "_table", "_y_scale")
    _name = "SOFTMAX"
    _own_checks = ("y_zero_point",)

    def __init__(
        self,
        *,
        x_scale: float,
        x_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        beta: float = 1.0,
        y_dtype: DTypeLike | None = None,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        self._output = self._dtype if given.y_dtype is None else check.dtype_of(given.y_dtype, "SOFTMAX", "y_dtype")
        if self._output != self._dtype and (self._dtype != np.int8 or self._output != np.int16):
            raise bad_type("y_dtype", f"expected {self._dtype}, or int16 for int8 data, got {self._output}")
        if not given.beta > 0:
            raise bad_value("beta", f"expected a number above 0, got {given.beta}")
        self._lowest = 0 if self._dtype == np.int16 else check.ends(self._output)[0]
        wanted = 2.0**-15 if self._dtype == np.int16 else 2.0 ** (-8 * self._output.itemsize)
        near = 0.0 if self._output == self._dtype else 0.001 if self._facts.name.startswith("tflm") else 0.01
        if abs(given.y_scale - wanted) <= near * wanted:
            given.y_zero_point = integer(given.y_zero_point, "y_zero_point", self._lowest, self._lowest)
        else:
            check.fixed_output(given, wanted, self._lowest)
        beta = float(F32(given.beta))
        self._by, self._least = scale_of_differences(beta * given.x_scale, self._facts.rounds_once)
        self._table: NDArray[Any] | None = None
        self._reciprocal: Any = None
        self._exp: Any = None
        if self._dtype == np.int16:
            self._by = quantized(given.x_scale * beta / float(F32(10) / F32(65535)))
            y, kind = (2 / 65535, 0), self._facts.softmax_s16
            self._exp = of_16_bits(np.exp, (10 / 65535, 32767), y, kind)
            self._reciprocal = of_16_bits(lambda v: 1 / (1 + v), (1 / 65535, -32768), y, kind)
        elif self._facts.softmax != "fixed point":
            steps = -F32(given.x_scale) * F32(beta) * np.arange(256, dtype=F32)
            self._table = np.exp(steps.astype(np.float64)).astype(F32)
            if self._facts.softmax == "16 bits" and self._output == self._dtype:
                self._table = np.floor(self._table * F32(65535) + F32(0.5)).astype(np.int64)
        self._kernel = None
        table = self._table if self._table is not None or self._dtype == np.int16 else self._fixed_table()
        if table is not None and table.dtype != np.int64:
            types = self._dtype.num, self._output.num
            self._kernel = RowShares(*types, table, given.y_scale, half_up=self._dtype == np.uint8)

    @direct
    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the shares of each row of `x`, in `out` if it is given."""
        return RowOp.__call__(self, x, out)

    def _fixed_table(self) -> NDArray[np.int32]:
        """Give the exponentials of all differences of codes, with 31 bits behind the point."""
        down = -np.arange(256)
        within = down >= self._least
        near = self._facts.scaled(np.where(within, down, 0), self._by)
        return np.where(within, exp_of_negative(near, 5), 0).astype(np.int32)

    @property
    def integers(self) -> dict[str, Any]:
        """The factor of differences and the least one, or the tables that there are instead."""
        if self._table is not None:
            return {"table": self._table.copy()}
        found = {"multiplier": self._by[0], "shift": self._by[1]}
        if self._exp is not None:
            return {**found, "exp_table": self._exp.copy(), "reciprocal_table": self._reciprocal.copy()}
        return {**found, "least": self._least}

    def _unclamped(self, x: Codes) -> NDArray[Any]:
        down = x - x.max(-1, keepdims=True)
        if self._dtype == np.int16:
            return self._of_16_bits(down)
        assert self._table is not None
        return self._in_16_bits(self._table[-down])

    def _in_16_bits(self, parts: Codes) -> Codes:
        """Give the codes of 8 bits of exponentials of 16: each times the multiplier of one over the sum of its row."""
        sums = parts.sum(-1).astype(F32) * F32(2.0 ** (-8 * self._output.itemsize))
        factors = [quantized(one) for one in (F32(1) / sums).ravel().tolist()]
        m, e = (np.array(part).reshape(*sums.shape, 1) for part in (*zip(*factors, strict=True),) or ((), ()))
        return self._lowest + self._facts.scaled(parts, (m, e))

    def _of_16_bits(self, down: Codes) -> Codes:
        parts = interpolated(self._exp, np.clip(self._facts.scaled(down, self._by) + 32767, -32768, 32767))
        sums = parts.sum(-1, keepdims=True)
        zeros = leading_zeros(sums)
        near = ((sums << (zeros - 1)) + 2**13) >> 14
        scale = interpolated(self._reciprocal, np.clip(near - 2**15 - 2**16, -32768, 32767))
        return np.clip((parts * scale + (1 << (30 - zeros))) >> (31 - zeros), 0, 32767)


def softmax(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    beta: float = 1.0,
    y_dtype: DTypeLike | None = None,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the softmax of each row, over the last axis.

    The reference and TFLM compute in fixed point: exp with 26 bits behind the point, and one over the sum by Newton's
    method; of int16 both are read from tables of 513 points, which LiteRT makes in double, and TFLM in float32. The
    optimised kernels of 8 bits and XNNPACK add floats of a table; on 64-bit ARM the table has integers of 16 bits, and
    each is multiplied by one over their sum, as a multiplier of 31 bits that rounds twice.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16
        Codes; the zero point does not matter.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    y_scale, y_zero_point : float, int
        1 / 256 and the lowest code; 1 / 32768 and 0 for data of int16. For data of int8 and a result of int16 1 / 65536
        within 1 %, in TFLM within 0.1 %, and -32768; only the kernels that add floats compute with this scale.
    beta : float
        What differences are multiplied by.
    y_dtype : dtype, optional
        Type of the result: that of `x`, or int16 for int8 data.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of `y_dtype`, of the shape of `x`

    Raises
    ------
    TypeError, ValueError
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; another scale or zero
        point of the result; a beta that is not above 0.

    Notes
    -----
    Sources: TFLite ``activations.cc``, ``reference/softmax.h``; ``softmax_common.cc``.

    Examples
    --------
    >>> qops.tflite.softmax(
    ...     np.array([[0, 10, 20]], np.int8), x_scale=0.1, x_zero_point=0, y_scale=1 / 256, y_zero_point=-128
    ... )
    array([[-105,  -65,   42]], dtype=int8)
    """
    return Softmax._on(locals(), x, out)
