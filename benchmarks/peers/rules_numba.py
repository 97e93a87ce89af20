"""The numba forms of the rules: the loops one would write."""

import numba
import numpy as np

from benchmarks import rules
from benchmarks.case import Candidate, shared

f32 = np.float32


@numba.njit
def twice(x, out, multiplier, right, zero):
    """Round half up at 31 bits, then half away from 0."""
    half = np.int64(1) << right >> np.int64(1)
    for i in range(out.size):
        high = (np.int64(x[i]) * multiplier + np.int64(1 << 30)) >> np.int64(31)
        code = ((high + half - np.int64(high < 0)) >> right) + zero
        out[i] = np.int8(min(max(code, np.int64(-128)), np.int64(127)))


@numba.njit
def once(x, out, multiplier, right, zero):
    """Round half up."""
    half = np.int64(1) << right >> np.int64(1)
    for i in range(out.size):
        code = ((np.int64(x[i]) * multiplier + half) >> right) + zero
        out[i] = np.int8(min(max(code, np.int64(-128)), np.int64(127)))


@numba.njit(error_model="numpy")
def even(x, out, scale, zero):
    """Round in float32, half to even."""
    for i in range(out.size):
        code = np.rint(f32(x[i]) * scale) + zero
        out[i] = np.int8(np.int32(min(max(code, f32(-128)), f32(127))))


@numba.njit(error_model="numpy")
def away(x, out, scale, zero):
    """Round in float64, half away from 0."""
    for i in range(out.size):
        product = x[i] * scale
        code = np.copysign(np.floor(abs(product) + 0.5), product) + zero
        out[i] = np.int8(np.int32(min(max(code, -128.0), 127.0)))


@numba.njit(error_model="numpy")
def over_away(x, out, step, zero):
    """Divide in float32, and round half away from 0."""
    for i in range(out.size):
        quotient = x[i] / step
        whole = np.trunc(quotient)
        code = whole + np.trunc(f32(2) * (quotient - whole)) + zero
        out[i] = np.uint8(np.int32(min(max(code, f32(0)), f32(255))))


@numba.njit(error_model="numpy")
def over_even(x, out, step, zero):
    """Divide in float32, and round half to even."""
    for i in range(out.size):
        code = np.rint(x[i] / step) + zero
        out[i] = np.uint8(np.int32(min(max(code, f32(0)), f32(255))))


@numba.njit(error_model="numpy")
def times_even(x, out, inverse, zero):
    """Multiply by the inverse in float32, and round half to even."""
    for i in range(out.size):
        code = np.rint(x[i] * inverse) + zero
        out[i] = np.uint8(np.int32(min(max(code, f32(0)), f32(255))))


@numba.njit(error_model="numpy")
def fused(x, out, inverse, zero):
    """Multiply and add in float64, which holds the product; then make one float32, and round half to even."""
    for i in range(out.size):
        code = np.rint(f32(x[i] * inverse + zero))
        out[i] = np.uint8(np.int32(min(max(code, f32(0)), f32(255))))


def form(loop, *arguments, dtype=np.int8):
    """Give a maker of candidates for the loop."""

    def make(x):
        out = shared(x.size, dtype)
        loop(x[:1], out[:1], *arguments)
        return Candidate(lambda: loop(x, out, *arguments), lambda: out, 0)

    return {loop.__name__: make}


MULTIPLIER, ZERO = np.int64(rules.MULTIPLIER), np.int64(rules.ZERO)
FRACTION, EXPONENT = np.frexp(f32(rules.SCALE))
FORMS = {
    "rules_tflite-double": form(twice, MULTIPLIER, np.int64(rules.RIGHT_SHIFT - 31), ZERO),
    "rules_tflite-single": form(once, MULTIPLIER, np.int64(rules.RIGHT_SHIFT), ZERO),
    "rules_rndnu": form(once, np.int64(FRACTION * 2**24), np.int64(24 - EXPONENT), ZERO),
    "rules_fp32-even": form(even, f32(rules.SCALE), f32(rules.ZERO)),
    "rules_double-away": form(away, rules.SCALE, float(rules.ZERO)),
    "rules_quantize_div-away": form(over_away, rules.STEP, f32(rules.MIDDLE), dtype=np.uint8),
    "rules_quantize_div-even": form(over_even, rules.STEP, f32(rules.MIDDLE), dtype=np.uint8),
    "rules_quantize_inv-even": form(times_even, rules.INVERSE, f32(rules.MIDDLE), dtype=np.uint8),
    "rules_quantize_fma-zp-inside": form(fused, float(rules.INVERSE), float(rules.MIDDLE), dtype=np.uint8),
}
