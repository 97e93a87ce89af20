"""A case for every element-wise kernel of the product room with SIMD lanes, as `tier_cases` has them."""

import numpy as np
import tier_cases

from qops._kernels.stage import mul


def multiplied(rng, n):
    """Products of codes less offsets, some of them beyond 16 bits, which no lanes take."""
    a, b = (tier_cases.drawn(rng, n, np.uint8) for _ in range(2))
    offsets = (tier_cases.one_of(rng, 0, 128, 255, -70, 32768, -32512, 40_000, -(2**31)) for _ in range(2))
    out, shift = tier_cases.unaligned(rng, n, np.int32), tier_cases.one_of(rng, 0, 0, 7)
    a_offset, b_offset = offsets
    return lambda: (out, mul.multiply(a, a_offset, b, b_offset, shift, out))


NAMED = {"products": multiplied}
