"""The numba forms of rules with a scale for each channel, and of 16-bit codes: the loops one would write."""

import numba
import numpy as np

from benchmarks import rules_wide as wide
from benchmarks.case import Candidate, shared

f32, i64 = np.float32, np.int64
ZERO, LEFT = i64(wide.ZERO), i64(wide.LEFT)
(MA, NA), (MB, NB), (MY, NY) = wide.SUM_STEPS


@numba.njit(inline="always")
def twice(x, m, n):
    """Round half up at 31 bits, then half away from 0."""
    high = (i64(x) * m + i64(1 << 30)) >> i64(31)
    return (high + (i64(1) << (n - 31) >> i64(1)) - i64(high < 0 and n > 31)) >> (n - 31)


@numba.njit(inline="always")
def once(x, m, n):
    """Round half up."""
    return (i64(x) * m + (i64(1) << n >> i64(1))) >> n


@numba.njit(inline="always")
def even(x, scale, _):
    """Round in float32, half to even."""
    return i64(np.int32(min(max(np.rint(f32(x) * scale), f32(-40_000)), f32(40_000))))


@numba.njit(inline="always")
def away(x, scale, _):
    """Round in float64, half away from 0."""
    product = x * scale
    return i64(np.int32(min(max(np.copysign(np.floor(abs(product) + 0.5), product), -40_000.0), 40_000.0)))


@numba.njit(inline="always")
def cut(v):
    """Cut an integer to a code of 16 bits."""
    return np.int16(min(max(v, i64(-(2**15))), i64(2**15 - 1)))


def by_channel(code):
    """Make codes of 8 bits, with a scale for each channel."""

    @numba.njit(error_model="numpy")
    def loop(x, out, m, n):
        for r in range(x.shape[0]):
            row, codes = x[r], out[r]
            for c in range(m.size):
                codes[c] = np.int8(min(max(code(row[c], m[c], n[c]) + ZERO, i64(-128)), i64(127)))

    return loop


def in_16_bits(code):
    """Make codes of 16 bits, with one scale."""

    @numba.njit(error_model="numpy")
    def loop(x, out, m, n):
        for i in range(out.size):
            out[i] = cut(code(x[i], m, n) + ZERO)

    return loop


def added(rounded):
    """Add as TFLite does."""

    @numba.njit
    def loop(a, b, out):
        for i in range(out.size):
            out[i] = cut(rounded(rounded(i64(a[i]) << LEFT, MA, NA) + rounded(i64(b[i]) << LEFT, MB, NB), MY, NY))

    return loop


def multiplied(rounded, steps):
    """Multiply as TFLite does."""
    m, n = steps

    @numba.njit
    def loop(a, b, out):
        for i in range(out.size):
            out[i] = cut(rounded(np.int32(a[i]) * np.int32(b[i]), m, n))

    return loop


def numbers(rule, channels):
    """Give what the loops multiply by, and their right shifts."""
    s = wide.factors_of(channels)
    if rule == "rndnu":
        return s.mantissa, s.mantissa_shift
    if rule.startswith("tflite"):
        return s.multiplier, s.right_shift
    return s.scale.astype(f32 if rule == "fp32-even" else float), s.right_shift


def form(loop, rule, dtype):
    """Give a maker of candidates for the loop of one operand."""

    def make(x):
        out = shared(x.size, dtype).reshape(x.shape)
        steps = numbers(rule, x.shape[1] if x.ndim > 1 else 0)
        loop(x, out, *steps)
        return Candidate(lambda: loop(x, out, *steps), lambda: out, 0)

    return {"loop": make}


def of_two(loop):
    """Give a maker of candidates for the loop of two."""

    def make(a, b):
        out = shared(a.size, np.int16)
        loop(a, b, out)
        return Candidate(lambda: loop(a, b, out), lambda: out, 0)

    return {"loop": make}


CODES = {"tflite-double": twice, "tflite-single": once, "rndnu": once, "fp32-even": even, "double-away": away}
ROUNDED = {"tflite-double": twice, "tflite-single": once}
FORMS = {
    **{f"rules_channels_{rule}": form(by_channel(code), rule, np.int8) for rule, code in CODES.items()},
    **{f"rules_s16_{rule}": form(in_16_bits(code), rule, np.int16) for rule, code in CODES.items()},
    **{f"rules_add_s16_{rule}": of_two(added(by)) for rule, by in ROUNDED.items()},
    **{f"rules_mul_s16_{rule}": of_two(multiplied(by, wide.PRODUCT_STEPS[rule])) for rule, by in ROUNDED.items()},
}
