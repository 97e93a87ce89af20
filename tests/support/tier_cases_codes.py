"""Cases for the kernels that make codes of codes of the same type, as `tier_cases` has them."""

import numpy as np
import tier_cases

from qops import codes
from qops._kernels.stage import clamp
from qops._kernels.tensorflow import concat


def clamped(dtype):
    """Between limits anywhere, crossed at times."""

    def case(rng, n):
        x, out = tier_cases.drawn(rng, n, dtype), tier_cases.unaligned(rng, n, dtype)
        row = codes.of(x)
        lo, hi = (rng.integers(row.lowest, row.highest + 1) for _ in range(2))
        return lambda: (out, clamp.clamp(x, lo, hi, out))

    return case


def looked_up(rng, n):
    """From one range to another, which need not hold it, in the table that a concat makes."""
    x, out = tier_cases.drawn(rng, n, np.uint8), tier_cases.unaligned(rng, n, np.uint8)
    before, after = tier_cases.ends(rng), tier_cases.ends(rng)
    return lambda: (out, concat.concat([(x, *before)], 0, after, x.shape, out))


TYPES = (np.uint8, np.int8, np.uint16, np.int16, np.int32)
NAMED = {"looked_up": looked_up} | {f"clamped {dtype.__name__}": clamped(dtype) for dtype in TYPES}
