"""The products: all pairs of codes within the stated bounds, whatever the ranges, and the bits of their twins."""

import numpy as np
import pytest
import reference
from cases import HUGE, RANGE_PAIRS, A, B, codes, reals, rounded, shape_pairs, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier
from qops._kernels.frontdoor.mul import mul_8x8to32_integers
from reference_mul import mul_pass, product_positions

import qops
from qops.frontdoor.mul import BOUND_8X8TO8, BOUND_8X8TO32

MORE = {
    "far_and_far": ((1e6, 1e6 + 1), (-1e6, -1e6 + 0.5)),
    "underflow": ((-1e-30, 2e-30), (0.0, 1e-30)),
    "constant_product": ((1.5, 1.5), (-0.1, -0.1)),
}
PAIRS = {
    name: pair for name, pair in (RANGE_PAIRS | MORE).items() if max(map(abs, pair[0])) * max(map(abs, pair[1])) < 1e38
}
EVERY = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


def check_8(a, b, guess=None, kept=None):
    """All pairs of codes: the twin, the bound, passes, and b * a; nothing saturates but beyond a range to keep."""
    a, b = rounded(*a), rounded(*b)
    words = {"guess": guess} if kept is None else {"range": kept}
    t, info = on_every_tier(qops.quantized_mul_8x8to8, (A, *a), (B, *b), return_info=True, **words)
    if kept is None:
        twin = reference.quantized_mul_8x8to8((A, *a), (B, *b), guess)
        assert (*info, t.min, t.max) == (twin.passes, *twin.found, *twin.range)
        np.testing.assert_array_equal(t.data, twin.codes)
        assert info.passes <= 2
    if t.min < t.max:
        exact = product_positions(a, b, t.min, (t.max - t.min) / 255).ravel()
        beyond = 255 + 1 if kept is None else 255
        assert np.abs(t.data - exact.clip(min=-1 if kept is None else 0, max=beyond)).max() <= BOUND_8X8TO8
    swapped = qops.quantized_mul_8x8to8((B, *b), (A, *a), **words)
    np.testing.assert_array_equal(swapped.data, t.data)
    assert (swapped.min, swapped.max) == (t.min, t.max)
    return t, info


@EVERY
@pytest.mark.parametrize("share", [None, 0.5, 1e-3, 1e-9])
def test_mul_8x8to8_matches_twin_within_bound(pair, share):
    corners = [x * y for x in pair[0] for y in pair[1]]
    lo, width = min(corners), max(corners) - min(corners)
    guess = None if share is None else tuple(np.clip((lo + width * 0.4, lo + width * (0.4 + share)), -HUGE, HUGE))
    _, info = check_8(*pair, guess)
    assert info.passes == 1 or guess is not None, "all codes are used, so the full range is that of the products"


@given(a=spans(1e19), b=spans(1e19), guess=st.none() | spans() | st.tuples(st.none() | reals(), st.none()))
def test_mul_8x8to8_any_ranges_match_twin_within_bound(a, b, guess):
    check_8(a, b, guess)


@pytest.mark.parametrize("kept", [(-1.0, 1.0), (0.0, 0.5), (-2.0, -0.75), (0.1, 0.1001), (-40.0, 60.0)])
def test_mul_8x8to8_keeps_a_range_and_saturates(kept):
    for a, b in (((-1.0, 1.0), (0.0, 2.0)), ((0.5, 2.0), (-3.0, -1.0)), ((-1.0, 1.5), (-1.0, 0.7))):
        t, info = check_8(a, b, kept=rounded(*kept))
        assert (t.min, t.max, info.passes) == (*rounded(*kept), 1)


def test_mul_8x8to8_takes_the_lanes_and_the_long_sums():
    ones = (A, 0.0, 1.0), (B, 0.0, 1.0)
    assert mul_pass(*ones, (0.0, 1.0)).narrow
    assert not mul_pass(*ones, (0.0, 0.1)).narrow
    sides = {mul_pass(*ones, rounded(0.3, 0.3 + width)).narrow for width in np.linspace(0.05, 0.2, 40)}
    assert sides == {True, False}
    steps = np.linspace(2020, 2110, 10)  # between which a product outgrows 32 bits: at 2048
    for width in (*np.linspace(0.05, 0.2, 40), *(0.7 * 255 / steps)):
        check_8((0.0, 1.0), (0.0, 1.0), kept=rounded(0.3, 0.3 + width))


def test_mul_8x8to8_draws_the_range_in_when_the_data_use_less():
    few = np.uint8([100, 101, 102])
    t, info = qops.quantized_mul_8x8to8((few, 0.0, 25.5), (few, -12.75, 12.75), return_info=True)
    assert info.passes == 2
    exact = (few * 0.1) * (few * 0.1 - 12.75)
    assert t.min <= exact.min() <= exact.max() <= t.max
    assert t.max - t.min < exact.max() - exact.min() + 2 * 2.55 / 16 + 1e-3, "1/16 of a step of the first pass a side"
    assert qops.error(t, exact).max <= BOUND_8X8TO8


def check_32(a, b):
    """All pairs of codes: the twin, the bound, head room, and b * a."""
    a, b = rounded(*a), rounded(*b)
    t = on_every_tier(qops.quantized_mul_8x8to32, (A, *a), (B, *b))
    wanted, top = reference.quantized_mul_8x8to32((A, *a), (B, *b))
    assert (t.min, t.max) == (-top, top)
    np.testing.assert_array_equal(t.data, wanted)
    assert np.abs(t.data).max() <= 2**20
    if top:
        assert np.abs(t.data - product_positions(a, b, 0, top / 2**31).ravel()).max() <= BOUND_8X8TO32
    np.testing.assert_array_equal(qops.quantized_mul_8x8to32((B, *b), (A, *a)).data, t.data)


SMALL = {name: pair for name, pair in PAIRS.items() if max(map(abs, pair[0])) * max(map(abs, pair[1])) < 1e34}


@pytest.mark.parametrize("pair", SMALL.values(), ids=SMALL)
def test_mul_8x8to32_matches_twin_within_bound(pair):
    check_32(*pair)


@given(a=spans(1e17), b=spans(1e17))
def test_mul_8x8to32_any_ranges_match_twin_within_bound(a, b):
    check_32(a, b)


def test_mul_8x8to32_integers_are_the_four_terms():
    p = mul_8x8to32_integers((-1.0, 254.0), (-2.0, 253.0))  # steps of 1, and 2**-20 of 2**11 * 254 * 253 for one code
    unit = 254 * 253 / 2.0**20 / 2**23
    want = {"k": 2 / unit + 2**22, "ka": -2 / unit, "kb": -1 / unit, "kab": 1 / unit}
    assert p == {name: round(value) for name, value in want.items()}
    assert mul_8x8to32_integers((0.0, 0.0), (-1.0, 1.0)) == {"k": 2**22, "ka": 0, "kb": 0, "kab": 0}


def test_mul_bounds_are_near_what_happens():
    """More than one rounding: a bound of 0.5 would be a lie."""
    worst = 0.0
    for ratio in np.linspace(0.3, 1.0, 10):
        a, b = rounded(-1.0, 0.7), rounded(-ratio, ratio)
        t, _ = check_8(a, b)
        worst = max(worst, np.abs(t.data - product_positions(a, b, t.min, (t.max - t.min) / 255).ravel()).max())
    assert 0.5 < worst <= BOUND_8X8TO8 == 0.5 + 2**-4
    assert BOUND_8X8TO32 == 0.5 + 2**-7


@given(data=st.data(), shapes=shape_pairs(), a=spans(100), b=spans(100))
def test_mul_broadcasts_as_numpy_does(data, shapes, a, b):
    x, y = (data.draw(codes(np.uint8, shape)) for shape in shapes)
    wide_x, wide_y = np.broadcast_arrays(x, y)
    for op in (qops.quantized_mul_8x8to32, qops.quantized_mul_8x8to8):
        got, want = op((x, *a), (y, *b)), op((wide_x.copy(), *a), (wide_y.copy(), *b))
        np.testing.assert_array_equal(got.data, want.data)
        assert (got.min, got.max) == (want.min, want.max)


@pytest.mark.parametrize("n", [0, 1])
def test_mul_of_no_code_and_of_one(n):
    a, b = (A[:n] + np.uint8(200), -1.0, 2.0), (B[:n] + np.uint8(9), 0.5, 3.0)
    t, info = qops.quantized_mul_8x8to8(a, b, return_info=True)
    assert t.data.shape == qops.quantized_mul_8x8to32(a, b).data.shape == (n,)
    if n:
        twin = reference.quantized_mul_8x8to8(a, b)
        assert (*info, t.min, t.max) == (twin.passes, *twin.found, *twin.range)
    else:
        assert (t.min, t.max, *info) == (-3.0, 6.0, 1, -3.0, 6.0)


def test_mul_refuses_products_beyond_float32():
    for op in (qops.quantized_mul_8x8to8, qops.quantized_mul_8x8to32):
        with pytest.raises(ValueError, match=r"^a, b: .* beyond float32"):
            op((A, -3e38, 3e38), (B, 0.0, 3e38))
