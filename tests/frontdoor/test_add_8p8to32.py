"""quantized_add_8p8to32: the twin on all pairs of codes, the stated bound, ranges."""

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, A, B, rounded, spans
from hypothesis import given
from ops import on_every_tier

import qops
from qops.frontdoor.add import error_bound_8p8to32

CHECKED = {name: pair for name, pair in RANGE_PAIRS.items() if max(map(abs, sum(pair, ()))) < 2.0**110}


@pytest.mark.parametrize("pair", CHECKED.values(), ids=CHECKED)
def test_add_8p8to32_matches_twin_within_bound(pair):
    check_8p8to32(*pair)


def check_8p8to32(a, b):
    a, b = rounded(*a), rounded(*b)
    t = on_every_tier(qops.quantized_add_8p8to32, (A, *a), (B, *b))
    want, top = reference.quantized_add_8p8to32((A, *a), (B, *b))
    assert (t.min, t.max) == (-top, top)
    np.testing.assert_array_equal(t.data, want)
    if top == 0:
        assert error_bound_8p8to32(a, b) == 0
        return 0.0
    exact = reference.positions(a, b, (-top, top)).ravel() * (2**32 / 255) - 2**31
    off = np.abs(t.data - exact).max()
    assert off <= error_bound_8p8to32(a, b)
    return off


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((-0.8523900508880615, -0.37731674313545227), (0.006783871911466122, 0.07401911914348602)),
        ((-2.295424222946167, 0.10549947619438171), (-61.5916862487793, -5.22764778137207)),
        ((-1.574841856956482, -0.608103334903717), (-38.81747817993164, -38.48607635498047)),
        ((0.1597217619419098, 0.3776719570159912), (-0.1535520702600479, 0.23778143525123596)),
    ],
)
def test_add_8p8to32_adds_the_half_first(a, b):
    """Ranges where 0.5 + (x + y) gives another code than the formula's (0.5 + x) + y: 4 of some 6,000 drawn."""
    check_8p8to32(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((-0.6973447, -0.50233954), (-0.00270243, 0.0034645)),
        ((-3.9801424, 4.062732), (-74.66378, -70.84052)),
        ((1.5033487, 3.5755045), (-0.20697238, 0.10157102)),
    ],
)
def test_add_8p8to32_rounds_the_product_before_the_half_is_added(a, b):
    """Ranges where 0.5 + x rounded once gives another code."""
    check_8p8to32(a, b)


@given(a=spans(2.0**109), b=spans(2.0**109))
def test_add_8p8to32_any_ranges_match_twin_within_bound(a, b):
    check_8p8to32(a, b)


def test_add_8p8to32_range_is_2_17_times_the_widest_end():
    """c_max = max(|a_min|, a_max, |b_min|, b_max) * 2**17, c_min = -c_max."""
    for a, b, largest in (
        ((-3.0, 1.0), (0.0, 2.0), 3.0),
        ((0.0, 1.0), (-2.0, 5.0), 5.0),
        ((-4.0, -3.0), (1.0, 2.0), 4.0),
    ):
        t = qops.quantized_add_8p8to32((A, *a), (B, *b))
        assert (t.min, t.max) == (-largest * 2**17, largest * 2**17)


def test_add_8p8to32_codes_leave_the_head_room():
    for pair in CHECKED.values():
        assert np.abs(qops.quantized_add_8p8to32((A, *pair[0]), (B, *pair[1])).data.astype(int)).max() <= 2**15 + 2**7


def test_add_8p8to32_bound_is_near_what_happens():
    """With 0 on a code of both ranges only the truncation is left: 1.5 for negative sums."""
    off = check_8p8to32((-128.0, 127.0), (-100 * 1.7, 155 * 1.7))
    bound = error_bound_8p8to32((-128.0, 127.0), rounded(-100 * 1.7, 155 * 1.7))
    assert 1.4 < off <= bound < 1.6


@pytest.mark.parametrize(("a", "words"), [((1.0, -1.0), "a: min 1.0 > max -1.0"), ((np.nan, 1.0), "a: the range")])
def test_bound_of_no_range_is_refused(a, words):
    with pytest.raises(ValueError, match=words):
        error_bound_8p8to32(a, (0.0, 1.0))
