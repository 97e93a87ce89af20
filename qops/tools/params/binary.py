"""Sums, differences and products of codes, and pools, as ports hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qops.models import Layer
from qops.rules import Requantize
from qops.tools.params.target import PortedLayer, Target, call, ending, ends_of, factors, function

__all__ = ["PAIRS", "pool", "product"]


def product(made: PortedLayer, layer: Layer, requantize: Requantize, how: Target) -> PortedLayer:
    """The product of two codes less their zero points."""
    zeros = {f"input{i}_{ending(how)}": how.sign * layer.numbers[f"{x}_zero_point"] for i, x in ((1, "a"), (2, "b"))}
    constants = {
        **zeros,
        how.offsets[2]: layer.numbers["y_zero_point"],
        **dict(zip(how.ends, requantize.ends, strict=True)),
        **factors(requantize, requantize.rule),
    }
    a, b = (f"({x} {'+' if how.sign < 0 else '-'} {made.name}_{zero})" for x, zero in zip("ab", zeros, strict=True))
    line = f"    return {call(made.name, requantize.rule, f'{a} * {b}', '', (how.offsets[2], *how.ends))};"
    code = function(made.name, "int32_t a, int32_t b", [line])
    return made._replace(rules=[requantize.rule], constants=constants, code=code, arguments=("a", "b"))


def three_factors(made: PortedLayer, integers: dict[str, Any], zeros: tuple[int, int, int], how: Target) -> PortedLayer:
    """ADD and SUB as TFLite has them: both operands to one scale, then their sum to that of the result."""
    constants = {
        **{f"input{i}_{ending(how)}": how.sign * zero for i, zero in ((1, zeros[0]), (2, zeros[1]))},
        "left_shift": integers["left_shift"],
    }
    for here, there in (("a", "input1"), ("b", "input2"), ("y", "output")):
        constants |= {f"{there}_{part}": integers[f"{here}_{part}"] for part in ("multiplier", "shift")}
    n, sign = made.name, "+" if how.sign < 0 else "-"
    centred = (f"{x} {sign} {n}_{which}_{ending(how)}" for x, which in (("a", "input1"), ("b", "input2")))
    numbers = (f"{n}_{which}_multiplier, 31 - {n}_{which}_shift" for which in ("input1", "input2", "output"))
    last = (f"{n}_{part}" for part in (how.offsets[2], *how.ends))
    op = made.op.lower()
    line = f"    return {op}_tflite_double({', '.join([*centred, f'{n}_left_shift', *numbers, *last])});"
    constants |= ends_of(integers, zeros[2], how)
    code = function(n, "int32_t a, int32_t b", [line])
    return made._replace(rules=[f"{op} tflite-double"], constants=constants, code=code, arguments=("a", "b"))


def _one_shift(made: PortedLayer, integers: dict[str, Any], zeros: tuple[int, int, int], how: Target) -> PortedLayer:
    """ADD and SUB as XNNPACK has them: two products and a bias (zero points, half a step), shifted once."""
    (a, b, shift), sign = (integers[key] for key in ("a_multiplier", "b_multiplier", "a_shift")), made.op == "ADD"
    b = b if sign else -b
    constants = {
        **{
            "a_multiplier": a,
            "b_multiplier": b,
            "bias": (1 << (-shift - 1)) - zeros[0] * a - zeros[1] * b,
            "right_shift": -shift,
        },
        **ends_of(integers, zeros[2], how),
    }
    n = made.name
    total = f"{n}_bias + a * {n}_a_multiplier + b * {n}_b_multiplier"
    last = ", ".join(f"{n}_{part}" for part in ("right_shift", how.offsets[2], *how.ends))
    code = function(n, "int32_t a, int32_t b", [f"    return shift_floor({total}, 1, {last});"])
    return made._replace(rules=["shift-floor"], constants=constants, code=code, arguments=("a", "b"))


def _powers(made: PortedLayer, integers: dict[str, Any], zeros: tuple[int, int, int], how: Target) -> PortedLayer:
    """ADD and SUB of 16 bits whose scales are powers of two: shifts with ties away from 0, then a sum."""
    n, op = made.name, made.op.lower()
    constants = {f"input{i}_right_shift": -integers[f"{x}_shift"] for i, x in ((1, "a"), (2, "b"))}
    numbers = ", ".join(f"{n}_{part}" for part in (*constants, *how.ends))
    constants |= ends_of(integers, zeros[2], how)
    code = function(n, "int32_t a, int32_t b", [f"    return {op}_powers_of_two(a, b, {numbers});"])
    return made._replace(rules=[f"{op} powers-of-two"], constants=constants, code=code, arguments=("a", "b"))


PAIRS: dict[str, Callable[..., PortedLayer]] = {
    "tflite-double": three_factors,
    "xnnpack": _one_shift,
    "powers of two": _powers,
}
"""How ADD and SUB are made, by the kind that their integers name."""


def pool(made: PortedLayer, integers: dict[str, Any], how: Target, *, average: bool) -> PortedLayer:
    """Give a pool: it copies codes of one scale, and an average is rounded half away from code 0."""
    lo, hi = (f"{made.name}_{end}" for end in how.ends)
    constants = dict(zip(how.ends, (integers["qmin"], integers["qmax"]), strict=True))
    if average:
        lines = [f"    return average_pool_away_stored(sum, count, {lo}, {hi});"]
        code = function(made.name, "int32_t sum, int32_t count", lines)
        rules = ["average_pool away-stored"]
        return made._replace(rules=rules, constants=constants, code=code, arguments=("sum", "count"))
    lines = [f"    return largest < {lo} ? {lo} : largest > {hi} ? {hi} : largest;"]
    code = function(made.name, "int32_t largest", lines)
    return made._replace(constants=constants, code=code, arguments=("largest",))
