"""MUL and SQUARED_DIFFERENCE."""

from __future__ import annotations

from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.rules.binary import MUL
from qops.rules.requantize import Requantize
from qops.rules.table import TABLE
from qops.tflite import _checks as check
from qops.tflite.arithmetic import quantized, scaled_once, wrap
from qops.tflite.binary import Binary, Blocks, Staged, named_factors, operands
from qops.tflite.sums import BLOCKS
from qops.tflite.weights import Rounding, scale_of_pair, stage

__all__ = ["Mul", "SquaredDifference", "mul", "squared_difference"]


class Mul(Staged):
    """The prepared form of `mul` of int8, uint8 or int16, called ``op(a, b, out=None)``: its scale and its stage."""

    __slots__ = ("_ends", "_rule", "_scale")
    _name = "MUL"
    _any_zero_point = ("a_zero_point", "b_zero_point")

    def __init__(
        self,
        *,
        a_scale: float,
        a_zero_point: int,
        b_scale: float,
        b_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        activation: str = "NONE",
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        facts, scale = self._facts, scale_of_pair(given, self._facts.mul_scale)
        rule = facts.mul if 2.0**-16 <= scale < 2.0**8 or not facts.mul_beyond else facts.mul_beyond
        rule = facts.tail if self._dtype == np.int16 else rule
        self._ends = self._limits(given, rule == facts.mul)
        self._scale, self._rule = scale, facts.tail if rule == "blocks" else rule
        numbers = operands(given, self._ends, self._dtype)
        lowest, highest = check.ends(self._dtype)
        most = prod(max(highest, zero) - min(lowest, zero) for zero in self._zeros[:2])
        if rule == "blocks" and most * scale > 2**15 - 512:  # the result may wrap to 16 bits
            size, name = BLOCKS[self._dtype.name]
            row = MUL[name]
            self._blocks = Blocks(size, numbers.stage(row, TABLE[row.rule]))
            wraps = self._dtype == np.uint8
            by_one = numbers.times_wrapping(row, TABLE[row.rule]) if wraps else self._blocks.stage
            self._blocks_by_one = Blocks(size, by_one)
        self._stage = numbers.times(stage(self._rule, scale, given.y_zero_point, self._ends))

    @property
    def requantize(self) -> Requantize:
        """The op from products of codes less their zero points to codes; blocks of the optimised kernel may wrap."""
        return Rounding(self._rule, self._scale, self._zeros[2], self._ends).requantize(self._dtype)


class SquaredDifference(Binary):
    """The prepared form of `squared_difference` of int8 or int16, called ``op(a, b, out=None)``: its integers."""

    __slots__ = ("_factors", "_left")
    _name = "SQUARED_DIFFERENCE"

    def __init__(
        self,
        *,
        a_scale: float,
        a_zero_point: int,
        b_scale: float,
        b_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        self._left = 0 if self._dtype == np.int16 else 7
        twice = 2 * max(given.a_scale, given.b_scale)
        last = twice * twice / (2 ** (2 * self._left) * given.y_scale)
        if last >= 1 and self._facts.difference_aborts:
            raise bad_value("a_scale, b_scale, y_scale", f"{last} is the last ratio, which ends the process from 1 on")
        if not last < 2.0**60:
            raise bad_value("a_scale, b_scale, y_scale", f"{last} is the last ratio, beyond a multiplier")
        self._factors = quantized(given.a_scale / twice), quantized(given.b_scale / twice), self._last(last)

    def _last(self, ratio: float) -> tuple[int, int]:
        """The factor of the square. A shift to the left beyond 31 is taken modulo 32, as x86 and ARM do."""
        multiplier, shift = quantized(ratio)
        return multiplier, shift if self._facts.scaled is scaled_once else shift % 32 if shift > 31 else shift

    @property
    def integers(self) -> dict[str, Any]:
        """By how much codes are shifted to the left, and the factors of a, of b and of the square."""
        return {"left_shift": self._left, **named_factors(self._factors)}

    def _made(self, a: NDArray[Any], b: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        za, zb, zy = self._zeros
        x, y = a.astype(np.int64) - za, b.astype(np.int64) - zb
        (first, second, last), scaled = self._factors, self._facts.scaled
        difference = scaled(x << self._left, first) - scaled(y << self._left, second)
        made = np.clip(wrap(scaled(wrap(difference * difference), last) + zy), *check.ends(self._dtype))
        return made.astype(self._dtype)


def mul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    activation: str = "NONE",
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply codes.

    ``(a - a_zero_point) * (b - b_zero_point)`` times ``a_scale * b_scale / y_scale``, which is float32 in LiteRT and
    double in TFLM, rounded twice. The optimised kernel of 8 bits saturates to 16 bits in whole blocks of 16 elements (8
    of uint8), and wraps when it adds the zero point. If shapes broadcast, it has blocks in each row of neighbours of
    both operands, or by one number, where uint8 wraps to 16 bits. XNNPACK rounds in float32, half to even,
    but on 64-bit ARM in integers, half up (rndnu); if the scale is not in [2**-16, 2**8), the optimised kernel runs.

    Parameters
    ----------
    a : ndarray of int8, uint8 or int16
        Codes.
    b : ndarray of the type of `a`
        Codes; shapes broadcast.
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `a`

    Raises
    ------
    TypeError, ValueError
        Types that differ or are not listed, shapes that do not broadcast, an `out` that does not fit; a kernel library
        that has no such op; a limit of the activation that int32 does not hold; a scale of products of 2**31 steps of
        the result or more, for which C shifts an int32 by 32 bits.

    Notes
    -----
    Sources: TFLite ``mul.cc``, ``integer_ops/mul.h``; ``mul_common.cc``; XNNPACK ``qs8-vmul``.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> qops.tflite.mul(np.array([2, 3, -50], np.int8), np.array([3, 3, 3], np.int8), **how)
    array([  5,   6, -35], dtype=int8)

    **Hazard.** In a whole block, a product far above the range gives the lowest code if the zero point is negative:

    >>> how = {"a_scale": 1.0, "a_zero_point": 0, "b_scale": 1.0, "b_zero_point": 0, "y_scale": 0.1, "y_zero_point": -9}
    >>> x = np.full(17, 127, np.int8)
    >>> qops.tflite.mul(x, -x, **how, kernel="optimized")
    array([ 127,  127,  127,  127,  127,  127,  127,  127,  127,  127,  127,
            127,  127,  127,  127,  127, -128], dtype=int8)
    """
    return Mul._on(locals(), a, b, out)


def squared_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Square the difference of codes.

    Both operands are taken to twice the larger scale, as in `add` but shifted left by 7 bits, of int16 by none; the
    square of their difference, which wraps to int32, is taken to `y_scale`. From a last ratio of 2**31 on, TFLM shifts
    an int32 by 32 or more, which C does not define: here by that modulo 32, as x86 does.

    Parameters
    ----------
    a : ndarray of int8 or int16
        Codes.
    b : ndarray of the type of `a`
        Codes; shapes broadcast.
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `a`

    Raises
    ------
    TypeError, ValueError
        Types that differ or are not listed, shapes that do not broadcast, an `out` that does not fit; a kernel library
        that has no such op; in LiteRT, scales that end the process because the last ratio is 1 or more.

    Notes
    -----
    Sources: TFLite ``squared_difference.cc``.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> qops.tflite.squared_difference(np.array([1, 5, -5], np.int8), np.array([1, 1, 1], np.int8), **how)
    array([ 3,  7, 12], dtype=int8)
    """
    return SquaredDifference._on(locals(), a, b, out)
