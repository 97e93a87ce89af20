"""quantized_add_8p8to8 into a range that is kept: one pass, the bound within it, saturation beyond."""

import numpy as np
import pytest
import reference
from cases import HUGE, RANGE_PAIRS, A, B, case, rounded, spans
from hypothesis import assume, given
from ops import on_every_tier

import qops
from qops.frontdoor.add import BOUND_8P8TO8


def check_kept(a, b, kept):
    """All pairs of codes into a range that is kept: one pass, the twin's; within the bound, or saturated beyond it."""
    a, b, kept = rounded(*a), rounded(*b), rounded(*kept)
    t, info = on_every_tier(qops.quantized_add_8p8to8, (A, *a), (B, *b), range=kept, return_info=True)
    assert (info.passes, t.min, t.max) == (1, *kept)
    twin = reference.add_pass((A, *a), (B, *b), kept)
    full = reference.add_full_range((A, *a), (B, *b))
    np.testing.assert_array_equal(t.data, twin.codes)
    assert info[1:] == (max(twin.found[0], full[0]), min(twin.found[1], full[1]))
    exact = reference.positions(a, b, kept).ravel()
    assert np.abs(t.data - exact.clip(0, 255)).max() <= BOUND_8P8TO8
    return twin.narrow


@pytest.mark.parametrize("pair", RANGE_PAIRS.values(), ids=RANGE_PAIRS)
def test_add_8p8to8_keeps_a_range_and_saturates(pair):
    a, b = (rounded(*ends) for ends in pair)
    lo, hi = a[0] + b[0], a[1] + b[1]
    for start, share in [(0, 1), (0, 0.5), (0.3, 0.4), (-0.5, 0.7), (0.4, 1e-3), (-1, 3), (0.4, 1e-6)]:
        kept = rounded(*np.clip((lo + start * (hi - lo), lo + (start + share) * (hi - lo)), -HUGE, HUGE))
        if kept[1] - kept[0] > (max(hi, kept[1]) - min(lo, kept[0])) / 2**31:
            with case("range", kept):
                check_kept(a, b, kept)


@given(a=spans(100), b=spans(100), kept=spans(300))
def test_add_8p8to8_keeps_any_range(a, b, kept):
    assume(kept[1] - kept[0] > 1e-6)
    check_kept(a, b, kept)


def test_add_8p8to8_keeps_a_range_that_all_sums_are_beyond():
    for kept, code in (((5.0, 6.0), 0), ((-6.0, -5.0), 255), ((7.0, 7.0), 0)):
        t, info = qops.quantized_add_8p8to8((A, 0.0, 1.0), (B, 0.0, 1.0), range=kept, return_info=True)
        assert (t.min, t.max) == kept
        assert (t.data == code).all()
        assert (info.passes, info.found_min >= 0, info.found_max <= 2) == (1, True, True)


@pytest.mark.parametrize(
    ("kept", "more", "text"),
    [
        ((0.0, None), {}, "range max: expected a number, got None"),
        ((None, 1.0), {}, "range min: expected a number, got None"),
        ((1.0, 0.0), {}, "range: min 1.0 > max 0.0"),
        ((0.0, np.inf), {}, r"range: the range \(0.0, inf\) is not finite"),
        (1.0, {}, r"range: expected \(min, max\), got 1.0"),
        (
            (0.0, 1.0),
            {"guess": (0.0, 2.0)},
            r"range: give range or guess, not both; got \(0.0, 1.0\) and guess \(0.0, 2.0\)",
        ),
        ((0.0, 1e-10), {}, r"range: \(0.0, 1.00\d*e-10\) is too narrow for results of \(0.0, 2.0\)"),
    ],
)
def test_add_8p8to8_refuses_ranges_that_cannot_be_kept(kept, more, text):
    out = np.full(3, 77, np.uint8)
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.quantized_add_8p8to8((A[:3], 0.0, 1.0), (B[:3], 0.0, 1.0), range=kept, out=out, **more)
    assert out.tolist() == [77, 77, 77]


def test_add_8p8to8_into_a_range_that_is_0_wide_in_float32():
    t = qops.quantized_add_8p8to8((A[:3], 0.0, 1.0), (B[:3], 0.0, 1.0), range=(1e9, 1e9 + 0.1))
    assert t.data.tolist() == [0, 0, 0]
