"""`qops.rules.add` and `mul`: two arrays of uint8 codes into a third, by every rule."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Candidate, Case, both, shared
from benchmarks.memcpy import BYTES
from qops import rules

Array = NDArray[Any]
F32 = np.float32
SIZES, QUICK = (16, 10_000, 100_000, 1_000_000), (16, 100_000)
PREPARED = {"rules_add_xnnpack", "rules_mul_fp32-even"}


class Side(NamedTuple):
    """Scale and zero point of the codes of one tensor."""

    scale: float
    zero: int


A, B, Y = Side(0.031, 128), Side(0.02, 118), Side(0.043, 125)
TWICE = 2 * max(A.scale, B.scale)
LEFT = 20  # bits that TFLite's add shifts codes by
STEPS = [rules.integers("tflite-double", s) for s in (A.scale / TWICE, B.scale / TWICE, TWICE / (Y.scale * 2**LEFT))]
RATIOS = [F32(s.scale) / F32(Y.scale) for s in (A, B)]
PRODUCT_F32 = F32(A.scale) * F32(B.scale) / F32(Y.scale)
PRODUCT_ONCE = rules.integers("tflite-double", A.scale * B.scale / Y.scale)
PRODUCT = rules.integers("tflite-double", float(PRODUCT_F32))
PRODUCT_TORCH = F32(A.scale) * F32(B.scale) * (F32(1) / F32(Y.scale))


def codes(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw two tensors of codes, all equally likely."""
    return dict(zip("ab", rng.integers(0, 256, (2, n), dtype=np.uint8), strict=True))


def clamped(values: Array) -> Array:
    """Cut values to the codes."""
    return np.clip(values, 0, 255)


def less_zero(q: Array, side: Side) -> Array:
    """Take the zero point off the codes."""
    return q.astype(np.int64) - side.zero


def twice(x: Array, multiplier: int, right_shift: int) -> Array:
    """Round by tflite-double: half up at 31 bits, then half away from 0."""
    high = (x * multiplier + 2**30) >> 31
    return (high + (1 << (right_shift - 31) >> 1) - ((high < 0) & (right_shift > 31))) >> (right_shift - 31)


def once(x: Array, multiplier: int, right_shift: int) -> Array:
    """Round by tflite-single: half up, once."""
    return (x * multiplier + (1 << right_shift >> 1)) >> right_shift


def staged(by: Callable[[Array, int, int], Array], a: Array, b: Array) -> Array:
    """Take each operand, then the sum, through a rule of TFLite."""
    total = sum(by(less_zero(q, s) << LEFT, *m) for q, s, m in zip((a, b), (A, B), STEPS[:2], strict=True))
    return clamped(by(total, *STEPS[2]) + Y.zero)


def optimised(is_signed: bool, width: int, a: Array, b: Array) -> Array:
    """Add as TFLite's optimised code: int8 operands are rounded once, uint8 ones at 31 bits, then floored."""
    total = 0
    for q, s, (m, n) in zip((a, b), (A, B), STEPS[:2], strict=True):
        less, x = n - 31, less_zero(q, s)
        total = total + (once(x << (LEFT - less), m, 31) if is_signed else once(x << LEFT, m, 31) >> less)
    found, whole = clamped(twice(total, *STEPS[2]) + Y.zero), a.size // width * width
    return np.concatenate([found[:whole], staged(twice, a[whole:], b[whole:])])


def integers_of(bits: int) -> tuple[int, int, int]:
    """Give the multipliers of the ratios of scales, and their right shift."""
    shift = bits - int(np.frexp(max(RATIOS))[1]) + 1
    return int(np.rint(RATIOS[0] * 2.0**shift)), int(np.rint(RATIOS[1] * 2.0**shift)), shift


def weighted(bits: int, is_away: bool, a: Array, b: Array) -> Array:
    """Round the weighted sum once: half up, or away from 0."""
    ma, mb, shift = integers_of(bits)
    total = less_zero(a, A) * ma + less_zero(b, B) * mb
    return clamped(((total + (1 << shift >> 1) - ((total < 0) & is_away)) >> shift) + Y.zero)


def chain_constant() -> np.float32:
    """Sum up both zero points and that of the result, rounded to float32 after each of the two steps."""
    return F32(Y.zero) - F32(np.float64(RATIOS[0]) * A.zero + np.float64(RATIOS[1] * F32(B.zero)))


def chain(a: Array, b: Array) -> Array:
    """Add by two fused steps; float64 holds each product, and its sum closely enough for these scales."""
    inner = F32(b * np.float64(RATIOS[1]) + np.float64(chain_constant()))
    return clamped(np.rint(F32(a * np.float64(RATIOS[0]) + np.float64(inner))))


def vectors(a: Array, b: Array) -> Array:
    """Add as torch does: vectors of 64 round and then add the zero point, the rest add it and then round."""
    inverse, whole = F32(1) / F32(Y.scale), a.size // 64 * 64
    x, y = (F32(q * np.float64(F32(s.scale)) + np.float64(-F32(s.zero) * F32(s.scale))) for q, s in ((a, A), (b, B)))
    found = np.rint((x + y) * inverse) + Y.zero
    x, y = ((less_zero(q, s).astype(F32) * F32(s.scale))[whole:] for q, s in ((a, A), (b, B)))
    return clamped(np.concatenate([found[:whole], np.rint((x + y) * inverse + F32(Y.zero))]))


def products(by: Callable[[Array], Array], a: Array, b: Array) -> Array:
    """Take the products of codes through a rule of requantize."""
    return clamped(by(less_zero(a, A) * less_zero(b, B)))


ADD: dict[str, Callable[[Array, Array], Array]] = {
    "tflite-double": partial(staged, twice),
    "tflite-single": partial(staged, once),
    "tflite-opt-s8": partial(optimised, True, 16),
    "tflite-opt-u8": partial(optimised, False, 8),
    "xnnpack": partial(weighted, 20, False),
    "qnnpack": partial(weighted, 21, True),
    "ort-x86": chain,
    "torch": vectors,
}
MUL: dict[str, Callable[[Array, Array], Array]] = {
    "tflite-double": partial(products, lambda x: twice(x, *PRODUCT) + Y.zero),
    "tflite-single": partial(products, lambda x: once(x, *PRODUCT_ONCE) + Y.zero),
    "fp32-even": partial(products, lambda x: np.rint(F32(x) * PRODUCT_F32) + Y.zero),
    "ort-x86": partial(products, lambda x: np.rint(F32(x) * PRODUCT_F32 + F32(Y.zero))),
    "torch": partial(products, lambda x: np.rint(F32(x) * PRODUCT_TORCH) + Y.zero),
}


OPS = {rules.add: rules.Add, rules.mul: rules.Mul}
"""The prepared op beside each function."""


def qops_pair(call: Callable[..., Array], rule: str, a: Array, b: Array, prepared: bool = False) -> Candidate:
    """Call qops, its numbers written out, as the loops of numba have them: the function or the prepared op."""
    out, (a_scale, a_zero), (b_scale, b_zero), (y_scale, y_zero) = shared(a.size, np.uint8), A, B, Y
    if prepared:
        op = OPS[call](
            rule, a_scale=a_scale, a_zero_point=a_zero, b_scale=b_scale, b_zero_point=b_zero, y_scale=y_scale,
            y_zero_point=y_zero,
        )  # fmt: skip
        return Candidate(lambda: op(a, b, out), lambda: out, 0)

    def run() -> Array:
        return call(
            a, b, rule, a_scale=a_scale, a_zero_point=a_zero, b_scale=b_scale, b_zero_point=b_zero, y_scale=y_scale,
            y_zero_point=y_zero, out=out,
        )  # fmt: skip

    return Candidate(run, lambda: out, 0)


def rows(name: str, call: Callable[..., Array], rule: str, exact: Callable[[Array, Array], Array]) -> list[Case]:
    """Make the row of the function, and that of the prepared op for one rule of each."""
    case = Case(name, codes, exact, partial(qops_pair, call, rule), lambda n: 3 * n, BYTES, SIZES, QUICK)
    return both(case) if name in PREPARED else [case]


RULES_BINARY = [
    case
    for name, call, table in (("add", rules.add, ADD), ("mul", rules.mul, MUL))
    for rule, exact in table.items()
    for case in rows(f"rules_{name}_{rule}", call, rule, exact)
]
