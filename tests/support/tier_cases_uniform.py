"""Cases for the kernels of TensorFlow's Uniform* ops, as `tier_cases` has them."""

import numpy as np
import tier_cases
from tier_cases import one_of

from qops._kernels.tensorflow import uniform


def quantized(dtype):
    """Codes of `dtype`, some of them beyond int32 before the zero point is added, which wraps."""

    def case(rng, n):
        x, out = tier_cases.drawn(rng, n, np.float32), tier_cases.unaligned(rng, n, dtype)
        zero, inverse = one_of(rng, 0, 5, -9, 2**31 - 1, -(2**31)), one_of(rng, 1.0, -0.3, 50.0, 0.0)
        lowest, highest = (int(end) for end in (np.iinfo(dtype).min, np.iinfo(dtype).max))
        return lambda: (out, uniform.quantize(x, inverse, zero, lowest, highest - 9, out))

    return case


def scaling(rng, lowest, highest):
    """To any scale, from zero points that wrap to none."""
    zeros = [one_of(rng, *([0] * 4), 5, 5, -9, -9, 2**31 - 1, -(2**31)) for _ in range(2)]
    multiplier, right_shift = (
        rng.integers(2**30, 2**31),
        one_of(rng, 1, 30, 31, 31, 32, 32, 33, 50, 51, 52, 62),
    )
    return uniform.Scaling(multiplier, right_shift, *zeros, lowest, highest)


def requantized(dtype):
    """From codes of any size to codes of 8 bits."""

    def case(rng, n):
        x, out = tier_cases.drawn(rng, n, dtype), tier_cases.unaligned(rng, n, np.int8)
        step = scaling(rng, -100, 127)
        return lambda: (out, uniform.requantize(x, step, out))

    return case


def added(rng, n):
    """Two at other scales."""
    x, y = tier_cases.drawn(rng, n, np.int32), tier_cases.drawn(rng, n, np.int32)
    out, steps = tier_cases.unaligned(rng, n, np.int32), [scaling(rng, -(2**31), 2**31 - 1) for _ in range(2)]
    zero = one_of(rng, 0, 7, 2**31 - 1)
    return lambda: (out, uniform.add(x, steps[0], y, steps[1], zero, -(2**31), 2**31 - 9, out))


NAMED = {f"uniform {dtype.__name__}": quantized(dtype) for dtype in (np.uint8, np.int8, np.int32)} | {
    **{f"uniform requantized {dtype.__name__}": requantized(dtype) for dtype in (np.int8, np.int32)},
    "uniform added": added,
}
