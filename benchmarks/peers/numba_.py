"""numba: the loop one would write, compiled for this CPU; plain and with fastmath, in integers and in float32."""

import numba
import numpy as np

from benchmarks.case import Candidate, shared
from benchmarks.cases import FACTOR, LEVEL, MULTIPLIER, RIGHT_SHIFT, STEP, A, B, C
from benchmarks.frontdoor import PRODUCT, PRODUCT_LEVEL
from benchmarks.nnlib import HULL, HULL_STEP
from benchmarks.peers import rules_binary_numba, rules_numba, rules_pools_numba, rules_wide_numba
from qops.frontdoor.add import BOUND_8P8TO32

f32 = np.float32
EXACT = 0.5 + 2**-13  # one rounding of a float32


def loops(function):
    """Compile the loop strictly and with fastmath."""
    return {"strict": numba.njit(function, error_model="numpy"), "fastmath": numba.njit(function, fastmath=True)}


def add_8(a, b, out, ka, kb, offset):
    """Add, clamp and truncate; the offset holds the half that rounds."""
    for i in range(out.size):
        out[i] = np.uint8(np.int32(min(max(f32(a[i]) * ka + f32(b[i]) * kb + offset, f32(0)), f32(255))))


def add_32(a, b, out, ka, kb, k):
    """Add with 15 bits of fraction."""
    for i in range(out.size):
        out[i] = (np.int32(a[i]) * ka + np.int32(b[i]) * kb + k) >> np.int32(15)


def add_32_float(a, b, out, ma, mb, offset):
    """Add in float32, and round by rint."""
    for i in range(out.size):
        out[i] = np.int32(np.rint(f32(a[i]) * ma + f32(b[i]) * mb + offset))


def mul_exact(a, b, out, za, zb):
    """Multiply in int32."""
    for i in range(out.size):
        out[i] = (np.int32(a[i]) - za) * (np.int32(b[i]) - zb)


def mul_32(a, b, out, za, zb, factor):
    """Multiply with 23 bits of fraction, in int64."""
    for i in range(out.size):
        out[i] = np.int32((np.int64((np.int32(a[i]) - za) * (np.int32(b[i]) - zb)) * factor + (1 << 22)) >> 23)


def mul_float(a, b, out, za, zb, factor):
    """Multiply in float32, and round by rint."""
    for i in range(out.size):
        out[i] = np.int32(np.rint(f32((np.int32(a[i]) - za) * (np.int32(b[i]) - zb)) * factor))


def mul_8(a, b, out, za, zb, factor, offset):
    """Multiply in float32, clamp, then truncate; the offset holds the half that rounds."""
    for i in range(out.size):
        product = f32((np.int32(a[i]) - za) * (np.int32(b[i]) - zb))
        out[i] = np.uint8(np.int32(min(max(product * factor + offset, f32(0)), f32(255))))


def relu(a, out, zero):
    """Take the larger of two codes."""
    for i in range(out.size):
        out[i] = max(a[i], zero)


def concat(a, b, out, ka, ca, kb, cb):
    """Scale each row of both in float32, and clamp it; the terms hold the half that rounds."""
    n = a.shape[1]
    for i in range(len(a)):
        for j in range(n):
            out[i, j] = np.uint8(np.int32(min(max(f32(a[i, j]) * ka + ca, f32(0)), f32(255))))
        for j in range(n):
            out[i, n + j] = np.uint8(np.int32(min(max(f32(b[i, j]) * kb + cb, f32(0)), f32(255))))


def quantize(x, out, inverse, zero):
    """Divide in float32, round by rint, and clamp."""
    for i in range(out.size):
        out[i] = np.uint8(np.int32(min(max(np.rint(x[i] * inverse) + zero, f32(0)), f32(255))))


def quantize_half_up(x, out, inverse, zero):
    """Clamp, then add a half and truncate."""
    for i in range(out.size):
        out[i] = np.uint8(np.int32(min(max(x[i] * inverse + zero, f32(0)), f32(255)) + f32(0.5)))


def dequantize(a, out, zero, scale):
    """Subtract the zero point, then multiply."""
    for i in range(out.size):
        out[i] = (f32(a[i]) - zero) * scale


def dequantize_offset(a, out, offset, scale):
    """Multiply, then add the lowest value."""
    for i in range(out.size):
        out[i] = f32(a[i]) * scale + offset


def requantize(x, out, multiplier, offset):
    """Multiply with 32 fractional bits, in int64."""
    for i in range(out.size):
        out[i] = np.uint8(min(max((np.int64(x[i]) * multiplier + offset) >> 32, 0), 255))


def requantize_float(x, out, factor, zero):
    """Multiply in float32."""
    for i in range(out.size):
        out[i] = np.uint8(np.int32(min(max(f32(x[i]) * factor + zero, f32(0)), f32(255))))


def min_max(x):
    """Find both extremes in one pass."""
    low = high = x[0]
    for i in range(x.size):
        if x[i] < low:
            low = x[i]
        if x[i] > high:
            high = x[i]
    return low, high


def multiply_shift(x, out, multiplier, term, shift):
    """Multiply and shift in int64."""
    for i in range(out.size):
        out[i] = np.int32((np.int64(x[i]) * multiplier + term) >> shift)


def gemmlowp(x, out, multiplier, right):
    """Make both roundings in int64."""
    half = (1 << right) >> 1
    for i in range(out.size):
        high = (np.int64(x[i]) * multiplier + 2**30) >> 31
        out[i] = np.int32((high + half - (high < 0)) >> right)


def writer(loop, arguments, dtype, within):
    """Give a maker of candidates that call the loop with the inputs, an output of `dtype` and the arguments."""

    def make(**inputs):
        arrays = tuple(inputs.values())
        out = shared(arrays[0].size, dtype)
        bound = (*(array.reshape(-1) for array in arrays), out, *arguments)
        return Candidate(lambda: loop(*bound), lambda: out.reshape(arrays[0].shape), within)

    return make


def forms(function, arguments, dtype, within):
    """Give both compilations of a loop."""
    return {f"{function.__name__} {how}": writer(f, arguments, dtype, within) for how, f in loops(function).items()}


def concats(loop):
    """Give a maker for the loop over rows, into the range that holds both."""
    ka, kb = f32(A.scale / HULL_STEP), f32(B.scale / HULL_STEP)
    ca, cb = f32(0.5 + (A.range[0] - HULL[0]) / HULL_STEP), f32(0.5 + (B.range[0] - HULL[0]) / HULL_STEP)

    def make(a, b):
        out = shared(2 * a.size, np.uint8).reshape(len(a), -1)
        return Candidate(lambda: loop(a, b, out, ka, ca, kb, cb), lambda: out, EXACT)

    return make


def ranges(loop):
    """Give a maker of candidates for the loop that returns its result."""

    def make(x):
        found = [0, 0]

        def run():
            found[:] = loop(x)

        return Candidate(run, lambda: np.array(found), 0)

    return make


INVERSE, ZERO = f32(1 / A.scale), f32(A.zero_point)
RATIO = STEP / A.scale
HALF = 1 << (RIGHT_SHIFT - 1)
KA, KB = f32(A.scale / C.scale), f32(B.scale / C.scale)
MA, MB = A.scale / LEVEL, B.scale / LEVEL
OFFSET_32 = -A.zero_point * MA - B.zero_point * MB
INTEGERS_32 = tuple(np.int32(round(2**15 * term)) for term in (MA, MB, OFFSET_32 + 0.5))
OFFSET_8 = f32(C.zero_point + 0.5 - A.zero_point * KA - B.zero_point * KB)
SUB_OFFSET_8 = f32(C.zero_point + 0.5 - A.zero_point * KA + B.zero_point * KB)
SUB_INTEGERS_32 = tuple(
    np.int32(round(2**15 * term)) for term in (MA, -MB, 0.5 - A.zero_point * MA + B.zero_point * MB)
)
ZEROS, UNIT = (np.int32(A.zero_point), np.int32(B.zero_point)), A.scale * B.scale
MUL_8 = f32(UNIT / PRODUCT.scale), f32(PRODUCT.zero_point + 0.5)
CONCAT = {f"concat {how}": concats(loop) for how, loop in loops(concat).items()}
RELU, MUL_EXACT = forms(relu, (np.uint8(A.zero_point),), np.uint8, 0), forms(mul_exact, ZEROS, np.int32, 0)
FORMS = {
    "quantized_add_8p8to8": forms(add_8, (KA, KB, OFFSET_8), np.uint8, EXACT),
    "quantized_add_8p8to32": {
        **forms(add_32, INTEGERS_32, np.int32, BOUND_8P8TO32),
        **forms(add_32_float, (f32(MA), f32(MB), f32(OFFSET_32)), np.int32, BOUND_8P8TO32),
    },
    "quantized_sub_8p8to8": forms(add_8, (KA, -KB, SUB_OFFSET_8), np.uint8, EXACT),
    "quantized_sub_8p8to32": forms(add_32, SUB_INTEGERS_32, np.int32, BOUND_8P8TO32),
    "quantized_mul_8x8to8": forms(
        mul_8, (*ZEROS, f32(UNIT / PRODUCT.scale), f32(PRODUCT.zero_point + 0.5)), np.uint8, EXACT
    ),
    "quantized_mul_8x8to32": {
        **forms(mul_32, (*ZEROS, round(2**23 * UNIT / PRODUCT_LEVEL)), np.int32, 0.5 + 2**-6),
        **forms(mul_float, (*ZEROS, f32(UNIT / PRODUCT_LEVEL)), np.int32, 0.5 + 2**-3),
    },
    **{name: CONCAT for name in ("nnlib_concat_8", "tensorflow_concat")},
    **{name: RELU for name in ("relu", "nnlib_relu_8", "tensorflow_relu")},
    **{name: MUL_EXACT for name in ("nnlib_mul_8x8to32", "tensorflow_mul")},
    "quantize": {
        **forms(quantize, (INVERSE, ZERO), np.uint8, EXACT),
        **forms(quantize_half_up, (INVERSE, ZERO), np.uint8, EXACT),
    },
    "dequantize": {
        **forms(dequantize, (ZERO, f32(A.scale)), np.float32, 2**-20),
        **forms(dequantize_offset, (f32(-A.zero_point * A.scale), f32(A.scale)), np.float32, 2**-20),
    },
    "requantize_32to8": {
        **forms(requantize, (round(RATIO * 2**32), (A.zero_point << 32) + (1 << 31)), np.uint8, 0.51 + 2**29 / 2**33),
        **forms(requantize_float, (f32(RATIO), f32(A.zero_point + 0.5)), np.uint8, EXACT),
    },
    "requantization_range": {how: ranges(loop) for how, loop in loops(min_max).items()},
    "multiply_shift": forms(multiply_shift, (round(FACTOR * 2**7), 0, 7), np.int32, 0),
    "multiply_shift_half_up": forms(multiply_shift, (MULTIPLIER, HALF, RIGHT_SHIFT), np.int32, 0),
    "multiply_shift_gemmlowp": forms(gemmlowp, (MULTIPLIER, RIGHT_SHIFT - 31), np.int32, 0),
    **rules_numba.FORMS,
    **rules_binary_numba.FORMS,
    **rules_pools_numba.FORMS,
    **rules_wide_numba.FORMS,
}
