"""What ADD and SUB have in common."""

from __future__ import annotations

from math import log2
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.binary_rules import Operands
from qops._kernels.stage.binary_stage import BinaryStage
from qops.rules.binary import ADD
from qops.rules.table import TABLE
from qops.tflite.arithmetic import F32, Multiplier, power_of_two
from qops.tflite.binary import Blocks, Staged, named_factors, operands

__all__ = ["Total"]

BLOCKS = {"int8": (16, "tflite-opt-s8"), "uint8": (8, "tflite-opt-u8")}
WIDE_BLOCKS = 16
"""Elements of int16 that the optimised ADD computes together."""
ONCE = ADD["tflite-double"]._replace(made="shifted, operands once")
"""How it does: each operand is multiplied by the rule tflite-single, and their sum by tflite-double."""
"""Elements that the optimised ADD and MUL compute together, and their row of `qops.rules.ADD` and `MUL`, by type."""


class Total(Staged):
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
        numbers = operands(given, self._ends, self._dtype, is_difference=self._sign < 0)
        if self._kind == "powers of two":
            self._factors = self._powers(given)
            self._stage = numbers.shifted(*(-shift for _, shift in self._factors))
            return
        name = self._facts.tail if self._kind == "blocks" else self._kind
        if name != "xnnpack":
            self._check_last(given)
        if self._kind == "blocks" and self._dtype == np.int16:
            self._blocks = Blocks(WIDE_BLOCKS, numbers.stage(ONCE, TABLE[ONCE.rule]))
        elif self._kind == "blocks":
            size, rule = BLOCKS[self._dtype.name]
            self._blocks = Blocks(size, _stage(numbers, rule))
            self._blocks_by_one = Blocks(8, _stage(numbers, "tflite-opt-u8"))  # of int8 too
        self._stage = _stage(numbers, name)
        (a, x), (b, y), (c, z) = numbers.integers(ADD[name], TABLE[ADD[name].rule])
        self._factors = [(a, -z), (b, -z)] if name == "xnnpack" else [(a, 31 - x), (b, 31 - y), (c, 31 - z)]

    def _check_last(self, given: SimpleNamespace) -> None:
        """Refuse scales of which twice the larger one, of shifted codes, is a step of the result or more."""
        a, b, y = given.a_scale, given.b_scale, given.y_scale
        if not 2 * max(a, b) / (2**self._bits * y) < 1:
            raise bad_value("a_scale, b_scale, y_scale", f"{a}, {b} are too large for {y}, which ends the process")

    def _prepare(self, once: bool) -> None:
        super()._prepare(once)
        self._kernel = None if self._has_one_shape else self._kernel

    def _rule(self, given: SimpleNamespace) -> str:
        """Give how the sum is made."""
        facts = self._facts
        scales = given.a_scale, given.b_scale, given.y_scale
        if self._dtype == np.int16:
            are_powers = all(power_of_two(scale) is not None for scale in scales)
            if given.pot_scale_int16 and facts.shifts_int16 and are_powers:
                return "powers of two"
            return "blocks" if facts.add_int16_in_blocks and self._sign > 0 else facts.tail
        rule, other = (facts.add, facts.add_beyond) if self._sign > 0 else (facts.sub, facts.sub_beyond)
        if rule != "xnnpack":
            return rule
        ratios = [F32(scale) / F32(given.y_scale) for scale in scales[:2]]
        return rule if all(2.0**-10 <= ratio < 2.0**8 for ratio in ratios) else other

    @property
    def integers(self) -> dict[str, Any]:
        """The factors of a, of b and of their sum as multipliers and shifts; which of them there are, `kind` says."""
        found = {"kind": self._kind, "qmin": self._ends[0], "qmax": self._ends[1]}
        if len(self._factors) > 2:
            found["left_shift"] = self._bits
        return found | named_factors(self._factors)

    def _powers(self, given: SimpleNamespace) -> list[Multiplier]:
        """Give by how much a and b, of 16 bits, are shifted to the right."""
        a, b, y = (round(log2(scale)) for scale in (given.a_scale, given.b_scale, given.y_scale))
        shifts = [y - a, y - b]
        if min(shifts) < 0 or 0 not in shifts:
            raise bad_value("y_scale", f"expected the larger of a_scale and b_scale, got {given.y_scale}")
        return [(1, -shift) for shift in shifts]

    def _made(self, a: NDArray[Any], b: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        if self._has_one_shape and a.shape != b.shape:
            raise bad_value(
                "a, b", f"of int16 powers of two, shapes that differ end the process, got {a.shape}, {b.shape}"
            )
        if self._dtype == np.int16 and a.shape != b.shape:
            made = np.empty(shape, self._dtype)  # without blocks
            self._stage.run(np.broadcast_to(a, shape), np.broadcast_to(b, shape), made)
            return made
        return super()._made(a, b, shape)

    @property
    def _has_one_shape(self) -> bool:
        """Whether LiteRT ends the process where shapes broadcast."""
        return self._kind == "powers of two" and self._sign > 0


def _stage(numbers: Operands, rule: str) -> BinaryStage:
    """Give the stage of a rule of `qops.rules.ADD`."""
    row = ADD[rule]
    made: BinaryStage = numbers.stage(row, TABLE[row.rule])
    return made
