"""Data that several tests share: all pairs of 8-bit codes, range pairs, and strategies of hypothesis."""

from contextlib import contextmanager

import numpy as np
from hypothesis import strategies as st

A, B = (q.ravel() for q in np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8), indexing="ij"))
"""All 65,536 pairs of codes: A changes slowly, B quickly."""

TINY = 2.0**-149  # the smallest float32
HUGE = 3.4028234663852886e38  # the largest

RANGE_PAIRS = {
    "equal": ((-1.0, 1.0), (-1.0, 1.0)),
    "equal_one_sided": ((0.0, 6.0), (0.0, 6.0)),
    "equal_negative": ((-6.0, 0.0), (-6.0, 0.0)),
    "zero_on_code": ((-128.0, 127.0), (-100.0, 155.0)),
    "ratio_1.5": ((-3.0, 1.0), (-2.0, 2.0)),
    "ratio_7.99": ((0.0, 7.99), (0.0, 1.0)),
    "ratio_10": ((-10.0, 9.0), (-1.0, 1.0)),
    "ratio_128": ((0.0, 1.0), (-64.0, 64.0)),
    "ratio_1000": ((-500.0, 500.0), (-0.3, 0.7)),
    "ratio_10000": ((-0.1, 0.9), (-3000.0, 7000.0)),
    "opposite_sides": ((0.0, 5.0), (-5.0, 0.0)),
    "above_zero": ((2.0, 3.0), (10.0, 11.5)),
    "below_zero": ((-7.0, -6.5), (-2.0, -1.0)),
    "far_from_zero": ((1000.0, 1001.0), (-1000.0, -999.5)),
    "far_and_narrow": ((1e6, 1e6 + 1), (-1.0, 1.0)),
    "tiny": ((-1e-6, 1e-6), (0.0, 3e-6)),
    "denormal": ((-100 * TINY, 155 * TINY), (0.0, 77 * TINY)),
    "smallest": ((0.0, TINY), (-TINY, 0.0)),
    "huge": ((-1e30, 1e30), (0.0, 5e29)),
    "largest": ((-HUGE / 2, HUGE / 2), (-HUGE / 2, HUGE / 2)),
    "huge_and_tiny": ((-1e30, 1e30), (-1e-6, 1e-6)),
    "huge_and_denormal": ((0.0, 1e38), (0.0, 3 * TINY)),
    "a_zero_width": ((2.5, 2.5), (-1.0, 1.0)),
    "b_zero_width": ((0.0, 4.0), (-3.0, -3.0)),
    "b_zero": ((-4.0, 3.0), (0.0, 0.0)),
    "both_zero_width": ((1.5, 1.5), (-0.25, -0.25)),
    "both_zero": ((0.0, 0.0), (0.0, 0.0)),
    "constants_between_floats": ((1.0, 1.0), (1e-9, 1e-9)),
    "constants_beyond_float64": ((1e30, 1e30), (1e-6, 1e-6)),
    "lost_in_float64": ((1.0, 1.0), (0.0, 1e-20)),
}


def reals(largest=1e30):
    """Finite float32 values as Python floats."""
    largest = float(np.float32(largest))
    return st.floats(-largest, largest, width=32)


def spans(largest=1e30):
    """Ranges (min, max), zero width included."""
    return st.tuples(reals(largest), reals(largest)).map(sorted).map(tuple)


def shape_pairs():
    """Two shapes that broadcast, in either order: rows, columns, scalars, empty arrays, neither the shape of both."""
    pairs = [((3, 4), (3, 1)), ((3, 4), (4,)), ((3, 4), (1, 4)), ((3, 4), ()), ((3, 1), (1, 4)), ((1,), (1, 1))]
    pairs += [((2, 3, 4), (3, 1)), ((2, 1, 5), (1, 3, 1)), ((2, 3, 1, 5), (3, 4, 1)), ((0, 4), (1,)), ((5,), (5,))]
    return st.sampled_from([*pairs, *((b, a) for a, b in pairs)])


def codes(dtype, shape):
    """Random codes, each drawn by itself, so that one in a wrong place is seen."""
    info, seeds = np.iinfo(dtype), st.integers(0, 2**32 - 1)
    return seeds.map(lambda seed: np.random.default_rng(seed).integers(info.min, info.max, shape, dtype, endpoint=True))


@contextmanager
def case(*words):
    """Name a case in its error. A loop over cases in one test takes less time than an item for each."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case {', '.join(map(str, words))}")
        raise


def lay_out(x, way):
    """The values of `x`, lying in memory in another way."""
    if way == "fortran":
        return np.asfortranarray(x)
    if way == "reversed":
        return np.ascontiguousarray(x[..., ::-1])[..., ::-1] if x.ndim else x
    if way == "transposed":
        return np.ascontiguousarray(x.T).T
    if way == "strided":
        wide = np.zeros((*x.shape, 3), x.dtype)
        wide[..., 1] = x
        return wide[..., 1]
    if way == "swapped":
        return x.astype(x.dtype.newbyteorder())
    if way == "misaligned":
        raw = np.zeros(x.nbytes + 1, np.uint8)
        moved = raw[1:].view(x.dtype).reshape(x.shape)
        moved[...] = x
        return moved
    assert way in {"plain", "read_only"}
    x = x.copy()
    x.flags.writeable = way == "plain"
    return x


WAYS = ("plain", "fortran", "reversed", "transposed", "strided", "swapped", "misaligned", "read_only")
OUT_WAYS = ("plain", "fortran", "reversed", "transposed", "strided", "misaligned")


def rounded(lo, hi):
    return float(np.float32(lo)), float(np.float32(hi))


def ends_of(t):
    """The range of a tensor."""
    return t.min, t.max
