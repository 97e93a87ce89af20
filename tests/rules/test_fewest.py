"""`qops.rules.fewest_bits` against a search over all accumulators."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from qops import rules

AT_ONCE = 256  # so many multipliers are tried at once, which stay in the cache


def exact(scale, zero, x):
    return min(max(floor(Fraction(scale) * x + Fraction(1, 2)) + zero, -128), 127)


def fixed(m, n, zero, x):
    """Of arrays."""
    return np.clip((x * m + (2**n >> 1) >> n) + zero, -128, 127)


@pytest.mark.long
def test_equal_for_every_accumulator_and_no_shift_is_smaller(rng):
    for i in range(60):
        scale, zero = 2.0 ** rng.uniform(-6, 1), int(rng.integers(-128, 128))
        lo, hi = sorted(rng.integers(-600, 600, 2).tolist())
        hi = lo + i % 4 if i >= 40 else hi
        x = np.arange(lo, hi + 1)
        want = np.array([exact(scale, zero, v) for v in x.tolist()])
        found = rules.fewest_bits(scale, (lo, hi), zero)
        assert (fixed(*found[:2], zero, x) == want).all()
        for n in range(found.right_shift):
            for m in range(max(0, floor(scale * 2**n) - 3), floor(scale * 2**n) + 5):
                assert (fixed(m, n, zero, x) != want).any()
        for t in found.pareto:
            assert t.off == np.count_nonzero(fixed(t.multiplier, t.right_shift, zero, x) != want)
        assert found.pareto[-1].off == 0


@pytest.mark.long
def test_no_multiplier_leaves_fewer_accumulators_off(rng):
    for _ in range(15):
        scale, zero = 2.0 ** rng.uniform(-5, 4), int(rng.integers(-128, 128))
        lo, hi = sorted(rng.integers(-200, 200, 2).tolist())
        x = np.arange(lo, hi + 1)
        want = np.array([exact(scale, zero, v) for v in x.tolist()])
        found = rules.fewest_bits(scale, (lo, hi), zero)
        least = np.full(64, x.size)  # accumulators off, of each number of bits
        for n in range(found.right_shift + 1):
            every = np.arange(int(scale * 2**n * 2.5) + 4)
            for m in np.split(every, range(AT_ONCE, every.size, AT_ONCE)):
                off = np.count_nonzero(fixed(m[:, None], n, zero, x) != want, axis=1)
                np.minimum.at(least, np.frexp(m)[1], off)
        best = np.minimum.accumulate(least[: found.bits + 1])
        assert [t.off for t in found.pareto] == [best[t.bits] for t in found.pareto]
        assert [t.bits for t in found.pareto] == [b for b in range(len(best)) if b == 0 or best[b] < best[b - 1]]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"scale": 0.0}, "^scale: 0.0 is not above 0"),
        ({"acc_range": 5}, "^acc_range: expected \\(lowest, highest\\)"),
        ({"acc_range": (5, 4)}, "^acc_range: expected an integer in \\[5"),
        ({"dtype": np.int32}, "^dtype: expected codes of 8 or 16 bits"),
        ({"zero_point": 128}, "^zero_point: expected an integer in"),
    ],
)
def test_bad_input_is_named(changes, text):
    with pytest.raises((ValueError, TypeError), match=text):
        rules.fewest_bits(**{"scale": 0.3, "acc_range": (-9, 9)} | changes)


@pytest.mark.parametrize("scale", [2.0**31, 1e38, 1e300])
def test_scales_beyond_64_bits_are_the_steepest(scale):
    """Every accumulator but 0 saturates: the smallest multiplier that does that is as good."""
    assert rules.fewest_bits(scale, (-3, 3))[:3] == (128, 0, 8)
