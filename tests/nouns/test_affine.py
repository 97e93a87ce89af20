"""qops.affine: each rule against its twin, and the way back to a range."""

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, TINY, reals, spans
from hypothesis import given
from hypothesis import strategies as st

from qops import affine

RANGES = sorted({ends for pair in RANGE_PAIRS.values() for ends in pair})


@pytest.mark.parametrize(
    ("lo", "hi"), [*RANGES, (-254.0, 1.0), (-1.0, 254.0), (-255.0, 1e-3), (-1e-3, 255.0), (-TINY, 1.0)]
)
def test_holding_zero_matches_twin(lo, hi):
    check_holding_zero(lo, hi)


@given(ends=spans(3e38))
def test_holding_zero_any_range_matches_twin(ends):
    check_holding_zero(*ends)


def check_holding_zero(lo, hi):
    got = affine.holding_zero(lo, hi)
    assert got == reference.affine_holding_zero(lo, hi)
    low, high = got.range
    slack = (high - low) * 2**-50
    assert low - slack <= min(0.0, float(np.float32(lo)))
    assert high + slack >= max(0.0, float(np.float32(hi)))
    assert 0 <= got.zero_point <= 255


@given(ends=spans(1e38))
def test_holding_zero_widens_by_less_than_a_step(ends):
    lo, hi = min(0.0, ends[0]), max(0.0, ends[1])
    got = affine.holding_zero(lo, hi)
    low, high = got.range
    if hi - lo > 1e-30:
        assert high - low <= (hi - lo) * (1 + 1 / 254 + 2**-40)


@given(zero_point=st.integers(0, 255), scale=st.floats(2.0**-100, 2.0**100, width=32))
def test_exact_is_the_inverse_of_range(zero_point, scale):
    given_back = affine.exact(*affine.Affine(scale, zero_point).range)
    assert given_back.zero_point == zero_point
    assert abs(given_back.scale - scale) <= scale * 2**-21


@given(ends=spans(1e38))
def test_exact_matches_twin(ends):
    want = reference.affine_exact(*ends)
    if want is None:
        with pytest.raises(ValueError, match=r"^range: (in \(.*\) 0 is at code|\(.*\) does not hold 0)"):
            affine.exact(*ends)
    else:
        got = affine.exact(*ends)
        assert got.zero_point == want[1]
        assert abs(got.scale - want[0]) <= want[0] * 2**-50


@pytest.mark.parametrize("off", [2.0**-14, 2.0**-15 * 1.5, 2.0**-15 * 0.9, 2.0**-16, 0.0])
def test_exact_tolerates_a_32768th_of_a_step(off):
    lo, hi = -(64.0 + off), 191.0 - off
    if off > 2.0**-15:
        with pytest.raises(ValueError, match="not on a code"):
            affine.exact(lo, hi)
    else:
        assert affine.exact(lo, hi).zero_point == 64


@given(limit=reals(1e38).map(abs))
def test_max_abs_and_symmetric_match_twins(limit):
    assert affine.max_abs(limit) == reference.affine_max_abs(limit)
    assert affine.symmetric(limit) == reference.affine_symmetric(limit)
    assert affine.symmetric(limit).range[1] == pytest.approx(limit, rel=1e-15)
    assert affine.max_abs(limit).range == (0.0, pytest.approx(limit, rel=1e-15))


@pytest.mark.parametrize("rule", [affine.max_abs, affine.symmetric])
@pytest.mark.parametrize("limit", [-1.0, -TINY, float("nan"), float("inf"), "1", None, True])
def test_limits_are_checked(rule, limit):
    with pytest.raises((ValueError, TypeError), match=f"limit: .*{str(limit)[:4]}"):
        rule(limit)


@pytest.mark.parametrize("rule", [affine.holding_zero, affine.exact])
@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((2.0, 1.0), "range: min 2.0 > max 1.0"),
        ((float("nan"), 1.0), r"range: the range \(nan, 1.0\) is not finite"),
        ((0.0, float("inf")), r"range: the range \(0.0, inf\) is not finite"),
        ((0.0, "1"), "range max: expected a number, got '1'"),
        ((None, 1.0), "range min: expected a number, got None"),
    ],
)
def test_ranges_are_checked(rule, ends, text):
    with pytest.raises((ValueError, TypeError), match=text):
        rule(*ends)
