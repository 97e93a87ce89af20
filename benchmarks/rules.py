"""`qops.rules`: int32 accumulators to int8 codes by the rules that most systems use, float32 values to uint8 codes.

The prepared op has a row for one rule of each kind of loop.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Candidate, Case, both, shared
from benchmarks.memcpy import BYTES
from qops import rules

Array = NDArray[Any]
SCALE, ZERO = 0.0033, 3
RIGHT_SHIFT = 39  # SCALE = MULTIPLIER / 2**39, 31 bits
MULTIPLIER = round(SCALE * 2**RIGHT_SHIFT)
STEP, MIDDLE = np.float32(0.0123), 101  # of values: the size of a code step, the code of 0
INVERSE = np.float32(1) / STEP
SIZES, QUICK = (16, 10_000, 100_000, 1_000_000), (16, 100_000)
PREPARED = {"tflite-double", "fp32-even", "div-even"}


def accumulators(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw int32 sums, some of which are beyond the codes."""
    return {"x": rng.integers(-50_000, 50_000, n, dtype=np.int32)}


def coded(rounded: Array) -> Array:
    """Add the zero point to rounded values, and cut them to codes."""
    return np.clip(rounded + ZERO, -128, 127)


def twice(x: Array) -> Array:
    """Round by tflite-double: half up at 31 bits, then half away from 0."""
    high = (x.astype(np.int64) * MULTIPLIER + 2**30) >> 31
    return coded((high + 2 ** (RIGHT_SHIFT - 32) - (high < 0)) >> (RIGHT_SHIFT - 31))


def once(x: Array) -> Array:
    """Round by tflite-single: half up, once."""
    return coded((x.astype(np.int64) * MULTIPLIER + 2 ** (RIGHT_SHIFT - 1)) >> RIGHT_SHIFT)


def mantissa(x: Array) -> Array:
    """Round by rndnu: half up, with the 24 bits that float32 has of the scale."""
    fraction, exponent = np.frexp(np.float32(SCALE))
    multiplier, right_shift = int(fraction * 2**24), 24 - int(exponent)
    return coded((x.astype(np.int64) * multiplier + 2 ** (right_shift - 1)) >> right_shift)


def even(x: Array) -> Array:
    """Round by fp32-even: in float32, half to even."""
    return coded(np.rint(x.astype(np.float32) * np.float32(SCALE)))


def away(x: Array) -> Array:
    """Round by double-away: in float64, half away from 0."""
    product = x * SCALE
    return coded(np.copysign(np.floor(np.abs(product) + 0.5), product))


def values(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw real values, some of which are beyond the codes."""
    return {"x": rng.normal(0, 1.2, n).astype(np.float32)}


def over_away(x: Array) -> Array:
    """Divide by the scale, and round half away from 0."""
    quotient = x / STEP
    whole = np.trunc(quotient)
    return np.clip(whole + np.trunc(2 * (quotient - whole)) + MIDDLE, 0, 255)


def over_even(x: Array) -> Array:
    """Divide by the scale, and round half to even."""
    return np.clip(np.rint(x / STEP) + MIDDLE, 0, 255)


def times_even(x: Array) -> Array:
    """Multiply by the inverse of the scale, and round half to even."""
    return np.clip(np.rint(x * INVERSE) + MIDDLE, 0, 255)


def fused(x: Array) -> Array:
    """Multiply by the inverse and add the zero point in float64, then make one float32, and round half to even."""
    return np.clip(np.rint((x * np.float64(INVERSE) + MIDDLE).astype(np.float32)), 0, 255)


def qops_quantize(rule: str, x: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function or the prepared op."""
    out, step = shared(x.size, np.uint8), float(STEP)
    if prepared:
        op = rules.Quantize(rule, scale=step, zero_point=MIDDLE)
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: rules.quantize(x, rule, scale=step, zero_point=MIDDLE, out=out), lambda: out, 0)


def qops_rule(rule: str, x: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function or the prepared op."""
    out = shared(x.size, np.int8)
    if prepared:
        op = rules.Requantize(rule, scale=SCALE, zero_point=ZERO)
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: rules.requantize(x, rule, scale=SCALE, zero_point=ZERO, out=out), lambda: out, 0)


REFERENCES: dict[str, Callable[[Array], Array]] = {
    "tflite-double": twice,
    "tflite-single": once,
    "rndnu": mantissa,
    "fp32-even": even,
    "double-away": away,
}
QUANTIZE: dict[str, Callable[[Array], Array]] = {
    "div-away": over_away,
    "div-even": over_even,
    "inv-even": times_even,
    "fma-zp-inside": fused,
}


def rows(rule: str, name: str, inputs: Callable[..., dict[str, Any]], reference: Any, qops: Any) -> list[Case]:
    """Make the rows of a rule, in which four bytes are read and one is written for each element."""
    case = Case(name, inputs, reference, partial(qops, rule), lambda n: 5 * n, BYTES, SIZES, QUICK)
    return both(case) if rule in PREPARED else [case]


TABLES: tuple[tuple[str, dict[str, Callable[[Array], Array]], Any, Any], ...] = (
    ("rules", REFERENCES, accumulators, qops_rule),
    ("rules_quantize", QUANTIZE, values, qops_quantize),
)
RULES = [
    case
    for name, table, inputs, judged in TABLES
    for rule, exact in table.items()
    for case in rows(rule, f"{name}_{rule}", inputs, exact, judged)
]
