"""`qops.rules.requantize` with scales of 100 channels, or to 16-bit codes; adds and products of int16 codes."""

from collections.abc import Callable
from functools import partial
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Candidate, Case, shared
from benchmarks.memcpy import BYTES
from benchmarks.rules_binary import once, twice
from qops import rules

Array = NDArray[Any]
F32 = np.float32
SIZES, QUICK = (10_000, 100_000, 1_000_000), (100_000,)
CHANNELS = 100
ZERO = 3
SCALE_16 = 0.33
A_SCALE, B_SCALE, Y_SCALE, PRODUCT_SCALE = 0.031, 0.02, 0.043, 20.0
LEFT = 15  # bits that TFLite's add shifts codes of 16 bits by
TWICE = 2 * max(A_SCALE, B_SCALE)
SUM_STEPS = [
    rules.integers("tflite-double", s) for s in (A_SCALE / TWICE, B_SCALE / TWICE, TWICE / (Y_SCALE * 2**LEFT))
]
PRODUCT_STEPS = {  # TFLite's reference divides in float32
    "tflite-double": rules.integers("tflite-double", float(F32(A_SCALE) * F32(B_SCALE) / F32(PRODUCT_SCALE))),
    "tflite-single": rules.integers("tflite-double", A_SCALE * B_SCALE / PRODUCT_SCALE),
}


class Factors(NamedTuple):
    """The scales, one or one for each channel, and the integers of 31 and of 24 bits that they become."""

    scale: Any
    multiplier: Any
    right_shift: Any
    mantissa: Any
    mantissa_shift: Any


def factors_of(channels: int) -> Factors:
    """Make scales that differ by up to 40 times; for 0 channels, one scale for codes of 16 bits."""
    scales = np.geomspace(0.0005, 0.02, channels) if channels else np.float64(SCALE_16)
    found = [
        [rules.integers(name, float(scale)) for scale in np.atleast_1d(scales)] for name in ("tflite-double", "rndnu")
    ]
    both = [np.array([m[i] for m in made], np.int64) for made in found for i in (0, 1)]
    return Factors(scales, *(both if channels else [v[0] for v in both]))


def away(x: Array, s: Factors) -> Array:
    """Round in float64, half away from 0."""
    product = x * s.scale
    return np.copysign(np.floor(np.abs(product) + 0.5), product)


REFERENCES: dict[str, Callable[[Array, Factors], Array]] = {
    "tflite-double": lambda x, s: twice(x.astype(np.int64), s.multiplier, s.right_shift),
    "tflite-single": lambda x, s: once(x.astype(np.int64), s.multiplier, s.right_shift),
    "rndnu": lambda x, s: once(x.astype(np.int64), s.mantissa, s.mantissa_shift),
    "fp32-even": lambda x, s: np.rint(x.astype(F32) * s.scale.astype(F32)),
    "double-away": away,
}


def accumulators(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw sums, some of which are beyond 8 bits; as many channels as there may be."""
    channels = gcd(n, CHANNELS)
    return {"x": rng.integers(-50_000, 50_000, (n // channels, channels), dtype=np.int32)}


def by_channel(rule: str, x: Array) -> Array:
    """Give codes of 8 bits, with a scale for each channel."""
    return np.clip(REFERENCES[rule](x, factors_of(x.shape[1])) + ZERO, -128, 127)


def in_16_bits(rule: str, x: Array) -> Array:
    """Give codes of 16 bits, with one scale."""
    return np.clip(REFERENCES[rule](x, factors_of(0)) + ZERO, -(2**15), 2**15 - 1)


def wide_accumulators(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw sums, some of which are beyond 16 bits."""
    return {"x": rng.integers(-150_000, 150_000, n, dtype=np.int32)}


def wide_codes(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw two tensors of 16-bit codes, all equally likely."""
    return dict(zip("ab", rng.integers(-(2**15), 2**15, (2, n), dtype=np.int16), strict=True))


def clamped(values: Array) -> Array:
    """Cut values to 16 bits."""
    return np.clip(values, -(2**15), 2**15 - 1)


def added(rule: str, a: Array, b: Array) -> Array:
    """Round each operand, then the sum."""
    by = ROUNDED[rule]
    total = sum(by(q.astype(np.int64) << LEFT, *m) for q, m in zip((a, b), SUM_STEPS[:2], strict=True))
    return clamped(by(total, *SUM_STEPS[2]))


def multiplied(rule: str, a: Array, b: Array) -> Array:
    """Round the product."""
    return clamped(ROUNDED[rule](a.astype(np.int64) * b, *PRODUCT_STEPS[rule]))


def qops_by_channel(rule: str, x: Array) -> Candidate:
    """Call qops."""
    out, scales = shared(x.size, np.int8).reshape(x.shape), factors_of(x.shape[1]).scale
    return Candidate(lambda: rules.requantize(x, rule, scale=scales, zero_point=ZERO, out=out), lambda: out, 0)


def qops_in_16_bits(rule: str, x: Array) -> Candidate:
    """Call qops."""
    out = shared(x.size, np.int16)

    def run() -> Array:
        return rules.requantize(x, rule, scale=SCALE_16, zero_point=ZERO, dtype=np.int16, out=out)

    return Candidate(run, lambda: out, 0)


def qops_pair(call: Callable[..., Array], y_scale: float, rule: str, a: Array, b: Array) -> Candidate:
    """Call qops."""
    out = shared(a.size, np.int16)

    def run() -> Array:
        return call(
            a, b, rule, a_scale=A_SCALE, a_zero_point=0, b_scale=B_SCALE, b_zero_point=0, y_scale=y_scale,
            y_zero_point=0, out=out,
        )  # fmt: skip

    return Candidate(run, lambda: out, 0)


def row(name: str, inputs: Any, exact: Any, qops: Any, size: int) -> Case:
    """Make a row of the table, in which so many bytes are read and written for each element."""
    return Case(name, inputs, exact, qops, lambda n: size * n, BYTES, SIZES, QUICK)


PAIRS = {"add": (rules.add, added, Y_SCALE), "mul": (rules.mul, multiplied, PRODUCT_SCALE)}
ROUNDED = {"tflite-double": twice, "tflite-single": once}
RULES_WIDE = [
    *(
        row(f"rules_channels_{r}", accumulators, partial(by_channel, r), partial(qops_by_channel, r), 5)
        for r in REFERENCES
    ),
    *(
        row(f"rules_s16_{r}", wide_accumulators, partial(in_16_bits, r), partial(qops_in_16_bits, r), 6)
        for r in REFERENCES
    ),
    *(
        row(f"rules_{name}_s16_{r}", wide_codes, partial(exact, r), partial(qops_pair, call, scale, r), 6)
        for name, (call, exact, scale) in PAIRS.items()
        for r in ROUNDED
    ),
]
