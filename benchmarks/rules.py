"""`qops.rules.requantize`, by the rules that most systems use: int32 accumulators to int8 codes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Candidate, Case, shared
from benchmarks.memcpy import BYTES
from qops import rules

Array = NDArray[Any]
SCALE, ZERO = 0.0033, 3
RIGHT_SHIFT = 39  # SCALE = MULTIPLIER / 2**39, 31 bits
MULTIPLIER = round(SCALE * 2**RIGHT_SHIFT)
SIZES, QUICK = (10_000, 100_000, 1_000_000), (100_000,)


def accumulators(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Sums, some of which are beyond the codes."""
    return {"x": rng.integers(-50_000, 50_000, n, dtype=np.int32)}


def coded(rounded: Array) -> Array:
    """Codes of what was rounded."""
    return np.clip(rounded + ZERO, -128, 127)


def twice(x: Array) -> Array:
    """Half up at 31 bits, then half away from 0."""
    high = (x.astype(np.int64) * MULTIPLIER + 2**30) >> 31
    return coded((high + 2 ** (RIGHT_SHIFT - 32) - (high < 0)) >> (RIGHT_SHIFT - 31))


def once(x: Array) -> Array:
    """Half up."""
    return coded((x.astype(np.int64) * MULTIPLIER + 2 ** (RIGHT_SHIFT - 1)) >> RIGHT_SHIFT)


def mantissa(x: Array) -> Array:
    """Half up, with the 24 bits that float32 has of the scale."""
    fraction, exponent = np.frexp(np.float32(SCALE))
    multiplier, right_shift = int(fraction * 2**24), 24 - int(exponent)
    return coded((x.astype(np.int64) * multiplier + 2 ** (right_shift - 1)) >> right_shift)


def even(x: Array) -> Array:
    """In float32, half to even."""
    return coded(np.rint(x.astype(np.float32) * np.float32(SCALE)))


def away(x: Array) -> Array:
    """In float64, half away from 0."""
    product = x * SCALE
    return coded(np.copysign(np.floor(np.abs(product) + 0.5), product))


def qops_rule(rule: str, x: Array) -> Candidate:
    """Call qops."""
    out = shared(x.size, np.int8)
    return Candidate(lambda: rules.requantize(x, rule, scale=SCALE, zero_point=ZERO, out=out), lambda: out, 0)


REFERENCES: dict[str, Callable[[Array], Array]] = {
    "tflite-double": twice,
    "tflite-single": once,
    "rndnu": mantissa,
    "fp32-even": even,
    "double-away": away,
}
RULES = [
    Case(f"rules_{rule}", accumulators, reference, partial(qops_rule, rule), lambda n: 5 * n, BYTES, SIZES, QUICK)
    for rule, reference in REFERENCES.items()
]
