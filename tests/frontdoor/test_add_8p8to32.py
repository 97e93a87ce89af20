"""quantized_add_8p8to32: the exact sum of all pairs of codes within the stated bound, whatever the ranges."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, A, B, rounded, spans
from hypothesis import given
from ops import on_every_tier
from qops._kernels.frontdoor.add import add_8p8to32_integers

import qops
from qops.frontdoor.add import BOUND_8P8TO32

CHECKED = {name: pair for name, pair in RANGE_PAIRS.items() if max(map(abs, sum(pair, ()))) < 2.0**110}


def check(a, b):
    """All pairs of codes: the bound, the range, the loop of the integers, and b + a; the largest error."""
    a, b = rounded(*a), rounded(*b)
    t = on_every_tier(qops.quantized_add_8p8to32, (A, *a), (B, *b))
    exact, top = reference.quantized_add_8p8to32(a, b)
    assert (t.min, t.max) == (-top, top)
    off = np.abs(t.data - exact.ravel()).max()
    assert off <= BOUND_8P8TO32
    p = add_8p8to32_integers(a, b)
    np.testing.assert_array_equal(t.data, (p["k"] + A.astype(np.int64) * p["ka"] + B.astype(np.int64) * p["kb"]) >> 15)
    swapped = qops.quantized_add_8p8to32((B, *b), (A, *a))
    np.testing.assert_array_equal(swapped.data, t.data)
    assert (swapped.min, swapped.max) == (t.min, t.max)
    assert np.abs(t.data.astype(int)).max() <= 2**15
    return off


@pytest.mark.parametrize("pair", CHECKED.values(), ids=CHECKED)
def test_add_8p8to32_within_bound(pair):
    check(*pair)


@given(a=spans(2.0**109), b=spans(2.0**109))
def test_add_8p8to32_any_ranges_within_bound(a, b):
    check(a, b)


@given(a=spans(100), b=spans(100))
def test_add_8p8to32_ranges_of_like_size_within_bound(a, b):
    check(a, b)


def test_add_8p8to32_bound_is_near_what_happens():
    """Multipliers that are half a unit off, both the same way: a bound of 0.5 would be a lie."""
    assert BOUND_8P8TO32 == 0.5 + 2**-7
    assert check((-1.0, 1.0), (-0.920936107635498, 0.9792628288269043)) > 0.5 + 2**-8


def test_add_8p8to32_rounds_ties_up():
    """Codes of a are half output steps: below and above 0."""
    q = np.arange(256, dtype=np.uint8)
    a = (q, 0.0, 255 * 2.0**-15)
    for value in (-1.0, 1.0):
        t = qops.quantized_add_8p8to32(a, (np.uint8(0), value, value))
        np.testing.assert_array_equal(t.data, int(value) * 2**14 + (q.astype(int) + 1) // 2)


def test_add_8p8to32_integers_are_the_steps_and_offsets():
    assert add_8p8to32_integers((0.0, 0.0), (0.0, 0.0)) == {"ka": 0, "kb": 0, "k": 2**14}
    for a, b in CHECKED.values():
        a, b = rounded(*a), rounded(*b)
        top = max(map(abs, (*a, *b)))
        if top:
            unit = Fraction(top) / 2**29
            p = add_8p8to32_integers(a, b)
            for got, exact in (
                (p["ka"], (Fraction(a[1]) - Fraction(a[0])) / 255 / unit),
                (p["kb"], (Fraction(b[1]) - Fraction(b[0])) / 255 / unit),
                (p["k"] - 2**14, (Fraction(a[0]) + Fraction(b[0])) / unit),
            ):
                assert abs(got - exact) <= Fraction(1, 2) + Fraction(1, 2**20)


def test_add_8p8to32_keeps_the_offset_of_ranges_that_exclude_0():
    zero = np.zeros(1, np.uint8)
    t = qops.quantized_add_8p8to32((zero, 1.0, 2.0), (zero, 0.0, 1.0))
    assert float(t.data[0] * t.scale) == 1.0


def test_a_sum_into_8_bits_can_be_added_again():
    """The range that 8p8to8 draws in need not hold 0, or have it on a code."""
    few = np.uint8([100, 101, 102])
    first = qops.quantized_add_8p8to8((few, 0.0, 25.5), (few, -4.0, 21.5))
    assert first.min > 0
    total = qops.quantized_add_8p8to32(first, (np.uint8([10, 10, 10]), 0.0, 25.5))
    exact = first.min + first.data * first.scale + 1.0
    assert np.abs(total.data * total.scale - exact).max() <= BOUND_8P8TO32 * total.scale * 1.0001


def test_add_8p8to32_range_is_2_17_times_the_widest_end():
    """c_max = max(|a_min|, a_max, |b_min|, b_max) * 2**17, c_min = -c_max."""
    for a, b, largest in (
        ((-3.0, 1.0), (0.0, 2.0), 3.0),
        ((0.0, 1.0), (-2.0, 5.0), 5.0),
        ((-4.0, -3.0), (1.0, 2.0), 4.0),
        ((1.0, 2.0), (-7.0, 2.0), 7.0),
        ((0.0, 0.0), (0.0, 0.0), 0.0),
    ):
        t = qops.quantized_add_8p8to32((A, *a), (B, *b))
        assert (t.min, t.max) == (-largest * 2**17, largest * 2**17)


@pytest.mark.parametrize("n", [0, 1])
def test_add_8p8to32_of_no_code_and_of_one(n):
    a, b = (-1.0, 2.0), (0.5, 3.0)
    t = qops.quantized_add_8p8to32((A[:n] + np.uint8(7), *a), (B[:n] + np.uint8(9), *b))
    assert t.data.shape == (n,)
    assert (t.min, t.max) == (-3.0 * 2**17, 3.0 * 2**17)
    assert (np.abs(t.data - reference.quantized_add_8p8to32(a, b)[0][7, 9]) <= BOUND_8P8TO32).all()
