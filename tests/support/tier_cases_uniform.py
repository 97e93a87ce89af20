"""A case for the kernel of TensorFlow's UniformQuantize, as `tier_cases` has them."""

import numpy as np
import tier_cases

from qops._kernels.tensorflow import uniform


def quantized(dtype):
    """Codes of `dtype`, some of them beyond int32 before the zero point is added, which wraps."""

    def case(rng, n):
        x, out = tier_cases.drawn(rng, n, np.float32), tier_cases.unaligned(rng, n, dtype)
        zero, inverse = int(rng.choice([0, 5, -9, 2**31 - 1, -(2**31)])), float(rng.choice([1.0, -0.3, 50.0, 0.0]))
        lowest, highest = (int(end) for end in (np.iinfo(dtype).min, np.iinfo(dtype).max))
        return lambda: (out, uniform.quantize(x, inverse, zero, lowest, highest - 9, out))

    return case


NAMED = {f"uniform {dtype.__name__}": quantized(dtype) for dtype in (np.uint8, np.int8, np.int32)}
