"""A case for every kernel of nnlib with SIMD lanes, as `tier_cases` has them."""

import numpy as np
import tier_cases
from tier_cases import ends

from qops._kernels.nnlib import add, add_8p8to32, concat, mul, quantize, recode, requantize


def tensor(rng, n, factor=1.0):
    """Codes and their range, times a factor."""
    return tier_cases.drawn(rng, n, np.uint8), *(factor * end for end in ends(rng))


def memory(rng, n, dtype, out_dtype):
    """What is read, and where to write."""
    return tier_cases.drawn(rng, n, dtype), tier_cases.unaligned(rng, n, out_dtype)


def weighed(rng, n):
    """The add and the subtraction into int32."""
    a, b, out, subtract = tensor(rng, n), tensor(rng, n), tier_cases.unaligned(rng, n, np.int32), rng.random() < 0.5
    return lambda: (out, add_8p8to32.add_8p8to32(a, b, out, subtract))


def multiplied(rng, n):
    """Products, into int32."""
    a, b, out = tensor(rng, n), tensor(rng, n), tier_cases.unaligned(rng, n, np.int32)
    return lambda: (out, mul.mul_8x8to32(a, b, out))


def multiplied_8(rng, n):
    """Products into uint8, in ranges so small that codes wrap at times."""
    small = 2.0 ** -rng.integers(0, 14)
    a, b, out = tensor(rng, n, small), tensor(rng, n, small), tier_cases.unaligned(rng, n, np.uint8)
    return lambda: (out, mul.mul_8x8to8(a, b, out))


def recoded(rng, n):
    """From one range to another, which need not hold it."""
    a, c, out = tensor(rng, n), ends(rng), tier_cases.unaligned(rng, n, np.uint8)
    return lambda: (out, recode.to_range(a, c, out))


def recoded_into_a_hull(rng, n):
    """Of unlike ranges, whose offset wraps at times."""
    a, out, vector = tensor(rng, n), tier_cases.unaligned(rng, n, np.uint8), rng.random() < 0.5
    wide = np.uint8([]), a[1] - 2.0 ** rng.integers(-4, 9), a[2] + 2.0 ** rng.integers(-4, 9)
    return lambda: (out, concat.concat([a, wide], vector, out))


def recoded_by_a_gain(rng, n):
    """Gains on both sides of 1, and zeros beyond the codes."""
    (x, out), gain = memory(rng, n, np.uint8, np.uint8), tier_cases.one_of(rng, 2.0 ** rng.uniform(-9, 14), 1.0)
    zeros = rng.integers(-300, 500, 2)
    return lambda: (out, recode.requantize_8to8(x, gain, zeros[0], zeros[1], out))


def added(rng, n):
    """A flat pass of the add or of the subtraction, into a range that is far too narrow at times, or infeasible."""
    a, b, out, share = tensor(rng, n), tensor(rng, n), tier_cases.unaligned(rng, n, np.uint8), 2.0 ** rng.uniform(-5, 1)
    c = (a[1] + b[1]) * share - 1.0, (a[2] + b[2]) * share + 1.0
    given, subtract = rng.random(2) < 0.5
    return lambda: (out, add.flat_pass(a, b, c, given, subtract, out))


def added_speculatively(rng, n):
    """A speculative pass, with sums and offsets that wrap at times."""
    a, b, out, share = tensor(rng, n), tensor(rng, n), tier_cases.unaligned(rng, n, np.uint8), 2.0 ** rng.uniform(-5, 1)
    c = (a[1] + b[1]) * share, (a[2] + b[2]) * share
    return lambda: (out, add.spec_pass(a, b, c, None, out))


def quantized(rng, n):
    """By mantissas; exponents from far below the range to infinite."""
    (x, out), (lo, hi) = memory(rng, n, np.float32, np.uint8), ends(rng)
    return lambda: (out, quantize.quantize(x, lo, hi, out))


def dequantized(rng, n):
    """Steps of few bits as well, of which many products are ties."""
    codes, x = memory(rng, n, np.uint8, np.float32)
    step = tier_cases.one_of(rng, rng.integers(1, 2**24), rng.integers(1, 2**9) * 2**15) * 2.0 ** rng.integers(-80, 90)
    lo = -float(rng.integers(-50, 300) * step)
    return lambda: (x, quantize.dequantize(codes, lo, lo + 255 * step, x))


def requantized(rng, n):
    """Gains of 1 and more, below, and so small that 128 elements change no rule; also of ranges without width."""
    (x, out), (lo, hi) = memory(rng, n, np.int32, np.uint8), ends(rng)
    hi = lo if rng.integers(0, 8) == 0 else hi
    level = tier_cases.one_of(rng, *[abs(hi - lo) * 2.0 ** rng.uniform(-40, 0)] * 18, 0.0, 1.0)
    return lambda: (out, requantize.requantize_32to8(x, level, lo, hi, False, out))


def requantized_by_scalars(rng, n):
    """Rows whose zero point has more than 16 bits."""
    (x, out), (lo, hi) = memory(rng, n, np.int32, np.uint8), ends(rng)
    level = abs(hi - lo) * 2.0 ** rng.uniform(-40, 0)
    return lambda: (out, requantize.requantize_32to8(x, level, lo, hi, True, out))


def scaled(rng, n):
    """Rows with a left shift, a first and a second rounding, of which the sum saturates."""
    x, out = memory(rng, n, np.int32, np.int32)
    multiplier, left, right = int(rng.integers(-(2**31), 2**31)), int(rng.integers(0, 32)), int(rng.integers(0, 63))
    return lambda: (out, requantize.multiply(x, multiplier, left, right, out))


BINARY = [weighed, multiplied, multiplied_8, added, added_speculatively]
UNARY = [
    recoded,
    recoded_into_a_hull,
    recoded_by_a_gain,
    quantized,
    dequantized,
    requantized,
    requantized_by_scalars,
    scaled,
]
NAMED = {f"nnlib_{case.__name__}": case for case in [*BINARY, *UNARY]}
