"""What ADD and SUB have in common."""

from __future__ import annotations

from math import frexp, log2
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from qops._kernels.arrays.refusal import bad_value
from qops.tflite import _checks as check
from qops.tflite.arithmetic import (
    F32,
    Codes,
    Multiplier,
    clip_s32,
    double_high,
    power_of_two,
    quantized,
    rounded_shift,
    wrap,
)
from qops.tflite.binary import Binary, added, named_factors

__all__ = ["Total"]

BLOCKS = {"int8": (16, "tflite-opt-s8"), "uint8": (8, "tflite-opt-u8")}
"""Elements that the optimised ADD and MUL compute together, and their row of `qops.rules.ADD` and `MUL`, by type."""


class Total(Binary):
    """The base of ADD and SUB."""

    __slots__ = ("_bits", "_ends", "_factors", "_kind")
    _sign: ClassVar[int]

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
        pot_scale_int16: bool = True,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        self._kind, self._bits = self._rule(given), 15 if self._dtype == np.int16 else 20
        self._ends = self._limits(given, self._kind == "xnnpack")
        if self._kind == "powers of two":
            self._factors = self._powers(given)
        elif self._kind == "xnnpack":
            self._factors = self._ratios(given)
        else:
            self._factors = self._multipliers(given)
        if self._sign > 0 and self._kind != "powers of two":
            self._make_stage(given)

    def _make_stage(self, given: SimpleNamespace) -> None:
        name = self._kind
        if name == "blocks":
            self._block, name = BLOCKS[self._dtype.name]
            self._block_by_one = 8
            lowest, highest = check.ends(self._dtype)
            most = sum((highest - lowest) * s for s in (given.a_scale, given.b_scale)) / given.y_scale
            if most > 2**15 - 512:  # the sum may wrap to 16 bits, which numpy has to do
                return
        self._stage = added(name, given, self._ends, self._dtype)

    def _rule(self, given: SimpleNamespace) -> str:
        """Give how the sum is made."""
        facts = self._facts
        scales = given.a_scale, given.b_scale, given.y_scale
        if self._dtype == np.int16:
            are_powers = all(power_of_two(scale) is not None for scale in scales)
            return "powers of two" if given.pot_scale_int16 and facts.shifts_int16 and are_powers else facts.tail
        rule, other = (facts.add, facts.add_beyond) if self._sign > 0 else (facts.sub, facts.sub_beyond)
        if rule != "xnnpack":
            return rule
        ratios = [F32(scale) / F32(given.y_scale) for scale in scales[:2]]
        return rule if all(2.0**-10 <= ratio < 2.0**8 for ratio in ratios) else other

    def _multipliers(self, given: SimpleNamespace) -> list[Multiplier]:
        """Give the factors of a and b, relative to twice the larger scale, and that of their sum."""
        a, b, y = given.a_scale, given.b_scale, given.y_scale
        twice = 2 * max(a, b)
        last = twice / (2**self._bits * y)
        if not last < 1:
            raise bad_value("a_scale, b_scale, y_scale", f"{a}, {b} are too large for {y}, which ends the process")
        return [quantized(a / twice), quantized(b / twice), quantized(last)]

    @property
    def integers(self) -> dict[str, Any]:
        """The factors of a, of b and of their sum as multipliers and shifts; which of them there are, `kind` says."""
        found = {"kind": self._kind, "qmin": self._ends[0], "qmax": self._ends[1]}
        if len(self._factors) > 2:
            found["left_shift"] = self._bits
        return found | named_factors(self._factors)

    def _ratios(self, given: SimpleNamespace) -> list[Multiplier]:
        """Give the factors of a and b with 21 bits and one right shift."""
        ratios = [F32(scale) / F32(given.y_scale) for scale in (given.a_scale, given.b_scale)]
        shift = 20 - frexp(float(max(ratios)))[1] + 1
        return [(int(np.rint(ratio * F32(2.0**shift))), -shift) for ratio in ratios]

    def _powers(self, given: SimpleNamespace) -> list[Multiplier]:
        """Give by how much a and b, of 16 bits, are shifted to the right."""
        a, b, y = (round(log2(scale)) for scale in (given.a_scale, given.b_scale, given.y_scale))
        shifts = [y - a, y - b]
        if min(shifts) < 0 or 0 not in shifts:
            raise bad_value("y_scale", f"expected the larger of a_scale and b_scale, got {given.y_scale}")
        return [(1, -shift) for shift in shifts]

    def _plain(self, a: Codes, b: Codes) -> Codes:
        za, zb, zy = self._zeros
        if self._kind == "powers of two" and self._sign > 0 and a.shape != b.shape:
            raise bad_value(
                "a, b", f"of int16 powers of two, shapes that differ end the process, got {a.shape}, {b.shape}"
            )
        x, y = a - za, b - zb
        if self._kind == "powers of two":
            x, y = (rounded_shift(one, -e) for one, (_, e) in zip((x, y), self._factors, strict=True))
            return np.clip(x + self._sign * y, *self._ends)
        if self._kind == "xnnpack":
            (ma, e), (mb, _) = self._factors
            return np.clip(((x * ma + self._sign * y * mb + (1 << (-e - 1))) >> -e) + zy, *self._ends)
        first, second, last = self._factors
        total = self._facts.scaled(x << self._bits, first) + self._sign * self._facts.scaled(y << self._bits, second)
        return np.clip(wrap(self._facts.scaled(wrap(total), last) + zy), *self._ends)

    def _blocks(self, a: Codes, b: Codes, by_one: bool) -> Codes:
        """Give the codes as the optimised kernel makes those of whole blocks: results of 16 bits that wrap."""
        za, zb, zy = self._zeros
        first, second, (m, e) = self._factors
        sums = self._operand(a - za, first, by_one) + self._operand(b - zb, second, by_one)
        near = wrap(wrap(rounded_shift(double_high(clip_s32(sums), m), -e), 16) + zy, 16)
        return np.clip(np.clip(near, *check.ends(self._dtype)), *self._ends)

    def _operand(self, x: Codes, by: Multiplier, by_one: bool) -> Codes:
        m, e = by
        if by_one or self._dtype == np.uint8:
            return double_high(x << 20, m) >> -e
        return double_high(x << (20 + e) if e > -21 else x >> (-20 - e), m)
