"""HARD_SWISH."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import put
from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, Codes, double_high, quantized, rounded_shift, shifted_up
from qops.tflite.unary import Unary

__all__ = ["HardSwish", "hard_swish"]


class HardSwish(Unary):
    """The prepared form of `hard_swish` of int8 or uint8, called ``op(x, out=None)``: a table of all codes."""

    __slots__ = ("_whole",)
    _name = "HARD_SWISH"
    _whole: NDArray[Any] | None
    """The results of all codes in whole blocks, from code 0 on as bytes; None if there are none of their own."""

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        self._whole = None
        if self._facts.hard_swish_block > 1:
            self._whole = self._tabled_codes(lambda x: self._values(x, given, shifted_up))

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        return self._values(x, given, rounded_shift)

    @property
    def integers(self) -> dict[str, Any]:
        """The results of all codes, from the lowest code on; with those in whole blocks, if these are others."""
        if self._whole is None:
            return super().integers
        return super().integers | {"block_table": np.roll(self._whole, -check.ends(self._dtype)[0])}

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `x`, in `out` if it is given."""
        if self._whole is None:
            return super().__call__(x, out)
        data = self._codes(x)
        check.out(out, self._dtype, data.shape, data)
        index = data.ravel().view(np.uint8)
        made, whole = self._table[index], data.size // self._facts.hard_swish_block * self._facts.hard_swish_block
        made[:whole] = self._whole[index[:whole]]
        return put(made.reshape(data.shape), out)

    @staticmethod
    def _values(x: Codes, given: SimpleNamespace, shifted: Callable[[Any, Any], Codes]) -> NDArray[Any]:
        """Give the results of codes, by a shift that rounds half away, or half up as in whole blocks."""
        step = F32(1 / 128) * F32(given.x_scale)
        m, e = quantized(float(step / F32(given.y_scale)))
        n, f = quantized(float(step / F32(3 / 32768)))
        if e > 0:
            raise bad_value("x_scale, y_scale", f"{given.x_scale} is more than 128 times {given.y_scale}")
        m, n = (min((one + 2**15) >> 16, 32767) for one in (m, n))
        fine = (x - given.x_zero_point) * 128
        near = double_high(fine, m, 15)
        gate = np.clip(fine << (f - 1), -(2**15), 2**15 - 1) if f > 0 else fine
        gate = double_high(gate, n, 15)
        gate = np.clip(gate << 1, -(2**15), 2**15 - 1) if f > 0 else shifted(gate, -f)
        product = ((gate + 2**15) >> 1) * near
        if shifted is shifted_up:
            return shifted_up(product >> 15, -e) + given.y_zero_point
        made = np.sign(product) * (abs(product) >> 15)
        if e < -15:  # beyond the 16 bits of a value: gemmlowp's mask of the rest is -1, so all are rounded away from 0
            return np.where(made < 0, -1, 1) + given.y_zero_point
        return rounded_shift(made, -e) + given.y_zero_point


def hard_swish(
    x: ArrayLike,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give x * relu6(x + 3) / 6.

    In fixed point of 16 bits, with a high product that is truncated; all kernels of x86 give the same codes. On
    64-bit ARM the optimised kernels and XNNPACK floor that product in whole blocks of 8, and shifts round half up.

    Parameters
    ----------
    x : ndarray of int8 or uint8
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
        Other types and numbers, an `out` that does not fit; a kernel library that has no such op; an `x_scale` of more
        than 128 times `y_scale`.

    Notes
    -----
    Sources: TFLite ``hard_swish.cc``, ``reference/hard_swish.h``.

    Examples
    --------
    >>> qops.tflite.hard_swish(
    ...     np.array([-20, 0, 20], np.int8), x_scale=0.1, x_zero_point=0, y_scale=0.1, y_zero_point=0
    ... )
    array([-3,  0, 17], dtype=int8)
    """
    return HardSwish._on(locals(), x, out)
