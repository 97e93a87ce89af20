"""`qops.rules.fewest_bits` against a search over all accumulators."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from qops import rules


def exact(scale, zero, x):
    return min(max(floor(Fraction(scale) * x + Fraction(1, 2)) + zero, -128), 127)


def fixed(m, n, zero, x):
    return min(max((x * m + (2**n >> 1) >> n) + zero, -128), 127)


def test_equal_for_every_accumulator_and_no_shift_is_smaller(rng):
    for _ in range(40):
        scale, zero = 2.0 ** rng.uniform(-6, 1), int(rng.integers(-128, 128))
        lo, hi = sorted(rng.integers(-600, 600, 2).tolist())
        want = [exact(scale, zero, x) for x in range(lo, hi + 1)]
        found = rules.fewest_bits(scale, (lo, hi), zero)
        assert [fixed(*found[:2], zero, x) for x in range(lo, hi + 1)] == want
        for n in range(found.right_shift):
            for m in range(max(0, floor(scale * 2**n) - 3), floor(scale * 2**n) + 5):
                assert [fixed(m, n, zero, x) for x in range(lo, hi + 1)] != want
        for t in found.pareto:
            assert t.off == sum(
                fixed(t.multiplier, t.right_shift, zero, x) != w for x, w in zip(range(lo, hi + 1), want, strict=True)
            )
        assert found.pareto[-1].off == 0


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
