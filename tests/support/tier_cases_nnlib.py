"""A case for every kernel of nnlib's binary ops and concat with SIMD lanes, as `tier_cases` has them."""

import numpy as np
import tier_cases

from qops._kernels.nnlib import add_8p8to32, mul, recode


def weighed(rng, n):
    """Nnlib's add and sub into int32."""
    a, b = ((tier_cases.drawn(rng, n, np.uint8), *tier_cases.ends(rng)) for _ in range(2))
    out, subtract = tier_cases.unaligned(rng, n, np.int32), bool(rng.integers(0, 2))
    return lambda: (out, add_8p8to32.add_8p8to32(a, b, out, subtract))


def multiplied(rng, n):
    """Products, into int32."""
    a, b, out = (
        (tier_cases.drawn(rng, n, np.uint8), *tier_cases.ends(rng)),
        (tier_cases.drawn(rng, n, np.uint8), *tier_cases.ends(rng)),
        tier_cases.unaligned(rng, n, np.int32),
    )
    return lambda: (out, mul.mul_8x8to32(a, b, out))


def multiplied_8(rng, n):
    """The same into uint8, in ranges so small that codes wrap at times."""
    small = 2.0 ** -rng.integers(0, 14)
    a, b = ((tier_cases.drawn(rng, n, np.uint8), *(small * end for end in tier_cases.ends(rng))) for _ in range(2))
    out = tier_cases.unaligned(rng, n, np.uint8)
    return lambda: (out, mul.mul_8x8to8(a, b, out))


def recoded(rng, n):
    """From one range to another, which need not hold it."""
    a, c, out = (
        (tier_cases.drawn(rng, n, np.uint8), *tier_cases.ends(rng)),
        tier_cases.ends(rng),
        tier_cases.unaligned(rng, n, np.uint8),
    )
    return lambda: (out, recode.to_range(a, c, out))


def recoded_into_a_hull(rng, n):
    """Of unlike ranges, whose offset wraps at times."""
    (lo, hi), out = tier_cases.ends(rng), tier_cases.unaligned(rng, n, np.uint8)
    a, c = (
        (tier_cases.drawn(rng, n, np.uint8), lo, hi),
        (lo - 2.0 ** rng.integers(-4, 9), hi + 2.0 ** rng.integers(-4, 9)),
    )
    vector = bool(rng.integers(0, 2))
    return lambda: (out, recode.to_hull(a, c, vector, out))


NAMED = {f"nnlib_{case.__name__}": case for case in (weighed, multiplied, multiplied_8, recoded, recoded_into_a_hull)}
