"""qops.fixedpoint: every rounding on ties on both sides of zero, against big-integer models."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import case
from hypothesis import example, given
from hypothesis import strategies as st
from ops import on_every_tier

from qops.fixedpoint import (
    HLS_OVERFLOWS,
    HLS_ROUNDINGS,
    ROUNDINGS,
    SINGLE_ROUNDINGS,
    Multiplier,
    apply_multiplier,
    convert,
    quantize_multiplier,
)

S32 = st.integers(-(2**31), 2**31 - 1)
MULTIPLIERS = st.integers(-(2**31) + 1, 2**31 - 1)
EDGES = np.int32([-(2**31), -(2**31) + 1, -(2**30), -65537, -3, -2, -1, 0, 1, 2, 3, 65537, 2**30, 2**31 - 2, 2**31 - 1])


def check(x, multiplier, right_shift, rounding):
    with case(multiplier, right_shift, rounding):
        got = on_every_tier(apply_multiplier, x, multiplier, right_shift, rounding=rounding)
        assert got.dtype == np.int32
        how = multiplier, right_shift, rounding
        want = [reference.fixedpoint_apply_multiplier(v, *how) for v in np.ravel(x).tolist()]
        np.testing.assert_array_equal(got.ravel(), want)


def ties(right_shift):
    """X on, one below and one above (k + 1/2) * 2**right_shift for even and odd k of both signs; and multipliers."""
    xs, factors = {0}, [1, -1, 3]
    for k in (-5, -4, -3, -2, -1, 0, 1, 2, 3, 4):
        tie = (2 * k + 1) * 2 ** max(0, right_shift - 1)
        xs |= {v for v in (tie - 1, tie, tie + 1) if -(2**31) <= v < 2**31}
    x = np.array([*sorted(xs), *EDGES] * 3, np.int32)  # more than a vector's width
    if right_shift > 31:  # x alone has no tie there: 2**a * 2**b has
        factors += [2**30, -(2**30), 2**31 - 1]
        half = right_shift - 1 - 30
        x = np.append(
            x, [s * (2 * k + 1) * 2**half for s in (1, -1) for k in (0, 1, 2) if (2 * k + 1) * 2**half < 2**31]
        )
    return x.astype(np.int32), factors


@pytest.mark.parametrize("rounding", SINGLE_ROUNDINGS)
def test_apply_multiplier_rounds_ties_on_both_sides_of_zero(rounding):
    for right_shift in range(63):
        x, factors = ties(right_shift)
        for multiplier in factors:
            check(x, multiplier, right_shift, rounding)


@pytest.mark.long
@pytest.mark.parametrize("rounding", SINGLE_ROUNDINGS)
def test_apply_multiplier_follows_its_rule_on_every_small_product(rounding):
    x = np.arange(-4096, 4097, dtype=np.int32)
    for right_shift in (0, 1, 2, 3, 7):
        check(x, 1, right_shift, rounding)
        check(x, -5, right_shift, rounding)


@given(x=st.lists(S32, min_size=1, max_size=40), multiplier=MULTIPLIERS, shift=st.integers(0, 62), data=st.data())
def test_apply_multiplier_matches_twin(x, multiplier, shift, data):
    rounding = data.draw(st.sampled_from((*SINGLE_ROUNDINGS, "gemmlowp")))
    check(np.array([*x, *EDGES], np.int32), multiplier, shift, rounding)


@pytest.mark.parametrize("multiplier", [2**30, 2**31 - 1, -(2**31) + 1, 1518500250, 3 << 29, 0, 1])
def test_apply_multiplier_gemmlowp_matches_its_two_functions(multiplier):
    """Left shifts that wrap, ties of both roundings."""
    for right_shift in range(63):
        halves = [s * (2 * k + 1) * 2 ** max(0, min(29, right_shift - 32)) for s in (1, -1) for k in range(4)]
        near = [v + d for v in halves for d in (-1, 0, 1) if -(2**31) <= v + d < 2**31]
        check(np.array([*near, *EDGES], np.int32), multiplier, right_shift, "gemmlowp")


def test_apply_multiplier_gemmlowp_differs_from_one_rounding():
    """25 % of the results at a total shift of 32, as the docstring says; never by more than 1."""
    x = np.random.default_rng(5).integers(-(2**20), 2**20, 20000).astype(np.int32)
    multiplier = 0x5A827999
    two, one = (apply_multiplier(x, multiplier, 32, rounding=rule) for rule in ("gemmlowp", "half_up"))
    assert 0.24 < (two != one).mean() < 0.26
    assert np.abs(two - one).max() == 1


@pytest.mark.parametrize("multiplier", [-32768, -32767, -1, 0, 1, 2, 16384, 32767])
def test_apply_multiplier_hvx_on_all_int16(multiplier):
    x = np.arange(-(2**15), 2**15, dtype=np.int32)
    got = apply_multiplier(x, multiplier, 15, rounding="hvx")
    doubled = np.clip(2 * x.astype(np.int64) * multiplier + 2**15, -(2**31), 2**31 - 1)
    np.testing.assert_array_equal(got, doubled >> 16)
    check(np.int32([-32768, -32767, -1, 0, 1, 32767]), multiplier, 15, "hvx")


def test_apply_multiplier_hvx_saturates_once():
    assert apply_multiplier([-32768], -32768, 15, rounding="hvx")[0] == 32767


def test_apply_multiplier_saturates_at_both_ends():
    for rounding in SINGLE_ROUNDINGS:
        got = on_every_tier(apply_multiplier, [2**31 - 1, -(2**31), 3, -3] * 9, 2**31 - 1, 1, rounding=rounding)
        assert got[:2].tolist() == [2**31 - 1, -(2**31)]


@pytest.mark.parametrize(
    ("name", "value"), [("multiplier", 2**31), ("multiplier", -(2**31)), ("right_shift", -1), ("right_shift", 63)]
)
def test_apply_multiplier_rejects_integers_beyond_its_range(name, value):
    arguments = {"multiplier": 1, "right_shift": 1} | {name: value}
    with pytest.raises(ValueError, match=f"{name}: {value}"):
        apply_multiplier([1], **arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([1], 1, 14), "right_shift: 14, hvx shifts by 15"),
        (([1], 32768, 15), "multiplier: 32768, hvx takes 16 bits"),
        (([-32769, 32768], 1, 15), "x: -32769 to 32768, hvx takes 16 bits"),
    ],
)
def test_apply_multiplier_hvx_rejects_what_has_no_16_bits(arguments, text):
    with pytest.raises(ValueError, match=text):
        apply_multiplier(*arguments, rounding="hvx")


@given(factor=st.floats(-(2.0**31) + 1, 2.0**31 - 1))
@example(factor=2.0**-32)
@example(factor=2.0**-32 * (1 - 2.0**-33))
@example(factor=2.0**-32 * (1 - 2.0**-30))
@example(factor=1 - 2.0**-40)
@example(factor=1 - 2.0**-32)
@example(factor=0.5 + 2.0**-32)
@example(factor=0.5 + 3 * 2.0**-33)
@example(factor=2.0**31 - 0.75)
def test_quantize_multiplier_matches_twin(factor):
    got = quantize_multiplier(factor)
    assert got == reference.fixedpoint_quantize_multiplier(factor)
    assert isinstance(got, Multiplier)
    if got.multiplier:
        assert 2**30 <= abs(got.multiplier) < 2**31
        assert 0 <= got.right_shift <= 62
        exact = Fraction(got.multiplier, 2**got.right_shift)
        assert abs(exact - Fraction(factor)) <= abs(Fraction(factor)) / 2**31


@pytest.mark.parametrize("factor", [2.0**31, -(2.0**31), 2.0**31 - 0.5, float("nan"), float("inf"), 1e300])
def test_quantize_multiplier_rejects_what_31_bits_do_not_hold(factor):
    with pytest.raises(ValueError, match=r"factor: .*(2147483648|2147483647.5|nan|inf|1e\+300)"):
        quantize_multiplier(factor)


def test_roundings_are_all_tested():
    assert ROUNDINGS == ("floor", "truncate", "half_up", "half_away", "half_even", "gemmlowp", "hvx")


@pytest.mark.parametrize("overflow", dict.fromkeys(HLS_OVERFLOWS.values()))
@pytest.mark.parametrize("rounding", dict.fromkeys(HLS_ROUNDINGS.values()))
def test_conversions_are_those_of_fractions(rounding, overflow):
    x = np.arange(-700, 701)
    modes = [mode for mode, word in HLS_ROUNDINGS.items() if word == rounding]
    for fraction, width, integer_bits, signed in ((4, 6, 5, True), (4, 6, 6, False), (1, 9, 4, True), (-2, 8, 6, True)):
        how = {"width": width, "integer_bits": integer_bits, "signed": signed, "overflow": overflow}
        want = [reference.fixedpoint_convert(v, fraction, rounding=rounding, **how) for v in x]
        np.testing.assert_array_equal(convert(x, fraction, rounding=rounding, **how), want)
        for mode in modes:
            np.testing.assert_array_equal(convert(x, fraction, rounding=mode, **how), want)
    assert len(modes) == (1 if rounding == "half_odd" else 2)


def test_conversions_of_wide_numbers():
    x = np.int64([2**47 - 1, -(2**47), 2**40 + 1, -1])
    for fraction in (62, 50, 47, 46):
        for rounding in dict.fromkeys(HLS_ROUNDINGS.values()):
            how = {"width": 62, "integer_bits": 62, "rounding": rounding}
            want = [reference.fixedpoint_convert(v, fraction, **how) for v in x]
            np.testing.assert_array_equal(convert(x, fraction, **how), want)
    np.testing.assert_array_equal(convert(x, 0, width=62, integer_bits=48), x << 14)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": [0.5]}, "x: expected integers"),
        ({"x": [2**47]}, "x: 48 bits do not hold"),
        ({"width": 63}, "width: expected an integer"),
        ({"rounding": "AP_ROUND"}, "rounding: expected one of floor"),
        ({"overflow": "AP_TRN"}, "overflow: expected one of wrap"),
        ({"signed": 1}, "signed: expected a bool"),
        ({"integer_bits": 5, "width": 62, "x": [2**40]}, "fraction_bits, width, integer_bits: a left shift by 57"),
        ({"out": np.zeros(3, np.int32)}, "out: "),
        ({"widht": 3}, ".*widht.*width"),
    ],
)
def test_conversions_refuse_what_does_not_fit(change, words):
    how = {"x": [1, 2, 3], "fraction_bits": 0, "width": 8, "integer_bits": 8} | change
    with pytest.raises((ValueError, TypeError), match=f"^{words}"):
        convert(**how)
