"""The differences: all pairs of codes within the stated bounds; into 8 bits the bits of the add of what -b is."""

import numpy as np
import pytest
import reference
from cases import HUGE, RANGE_PAIRS, A, B, reals, rounded, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier, same

import qops
from qops.frontdoor.sub import BOUND_8P8TO8, BOUND_8P8TO32

SMALL = {name: pair for name, pair in RANGE_PAIRS.items() if max(map(abs, sum(pair, ()))) < 2.0**110}


def check_8(a, b, guess=None):
    """All pairs of codes: the twin, the bound, and the add of 255 - b in the range of -b."""
    a, b = rounded(*a), rounded(*b)
    t, info = on_every_tier(qops.quantized_sub_8p8to8, (A, *a), (B, *b), guess, return_info=True)
    twin = reference.quantized_sub_8p8to8((A, *a), (B, *b), guess)
    assert (*info, t.min, t.max) == (twin.passes, *twin.found, *twin.range)
    np.testing.assert_array_equal(t.data, twin.codes)
    same((t, info), qops.quantized_add_8p8to8((A, *a), (255 - B, 0 - b[1], 0 - b[0]), guess, return_info=True))
    if t.min < t.max:
        exact = reference.positions(a, (-b[1], -b[0]), (t.min, t.max))[:, ::-1].ravel()
        assert np.abs(t.data - exact).max() <= BOUND_8P8TO8
    return info


@pytest.mark.parametrize("pair", RANGE_PAIRS.values(), ids=RANGE_PAIRS)
@pytest.mark.parametrize("share", [None, 0.5, 1e-3, 1e-9])
def test_sub_8p8to8_matches_twin_within_bound(pair, share):
    (a_min, a_max), (b_min, b_max) = pair
    lo, width = a_min - b_max, a_max - a_min + b_max - b_min
    guess = None if share is None else tuple(np.clip((lo + width * 0.4, lo + width * (0.4 + share)), -HUGE, HUGE))
    check_8(*pair, guess)


@given(a=spans(), b=spans(), guess=st.none() | spans() | st.tuples(st.none() | reals(), st.none()))
def test_sub_8p8to8_any_ranges_match_twin_within_bound(a, b, guess):
    check_8(a, b, guess)


def test_sub_8p8to8_keeps_a_range_and_saturates():
    a, b, kept = (0.0, 2.0), (0.0, 1.0), (-0.25, 0.5)
    t, info = on_every_tier(qops.quantized_sub_8p8to8, (A, *a), (B, *b), range=kept, return_info=True)
    assert (t.min, t.max, info.passes) == (*kept, 1)
    exact = reference.positions(a, (-1.0, -0.0), kept)[:, ::-1].ravel()
    assert np.abs(t.data - exact.clip(0, 255)).max() <= BOUND_8P8TO8


def check_32(a, b):
    """All pairs of codes: the bound, the range, and b - a, which is the same but for the sign and the ties."""
    a, b = rounded(*a), rounded(*b)
    t = on_every_tier(qops.quantized_sub_8p8to32, (A, *a), (B, *b))
    exact, top = reference.quantized_sub_8p8to32(a, b)
    assert (t.min, t.max) == (-top, top)
    assert np.abs(t.data - exact.ravel()).max() <= BOUND_8P8TO32
    assert np.abs(t.data.astype(int) + qops.quantized_sub_8p8to32((B, *b), (A, *a)).data).max() <= 1


@pytest.mark.parametrize("pair", SMALL.values(), ids=SMALL)
def test_sub_8p8to32_within_bound(pair):
    check_32(*pair)


@given(a=spans(2.0**109), b=spans(2.0**109))
def test_sub_8p8to32_any_ranges_within_bound(a, b):
    check_32(a, b)


def test_a_tensor_less_itself_is_0():
    for ends in ((0.0, 1.0), (-1.0, 1.0), (5.0, 6.0)):
        t = (A, *ends)
        assert not qops.quantized_sub_8p8to32(t, t).data.any()
        difference = qops.quantized_sub_8p8to8(t, t, range=(-1.0, 1.0))
        assert np.abs(difference.data - 127.5).max() <= BOUND_8P8TO8


def test_sub_broadcasts_and_refuses_as_the_add_does():
    column, row = (A[:3].reshape(3, 1) + np.uint8(9), 0.0, 1.0), (B[:4], 0.0, 2.0)
    for op in (qops.quantized_sub_8p8to8, qops.quantized_sub_8p8to32):
        assert op(column, row).data.shape == (3, 4)
        with pytest.raises(ValueError, match=r"^a, b: "):
            op((A, -3e38, 3e38), (B, -3e38, 3e38))
