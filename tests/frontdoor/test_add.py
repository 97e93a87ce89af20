"""quantized_add_8p8to8: the twin on all pairs of codes, the bounds, passes and ranges."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import HUGE, RANGE_PAIRS, TINY, A, B, case, codes, reals, rounded, shape_pairs, spans
from hypothesis import assume, example, given
from hypothesis import strategies as st
from ops import on_every_tier

import qops
from qops._kernels.frontdoor import add as kernels
from qops.frontdoor.add import BOUND_8P8TO8

PAIRS = pytest.mark.parametrize("pair", RANGE_PAIRS.values(), ids=RANGE_PAIRS)


def exact_positions(a, b, lo, hi):
    """Exact sums in output steps; a range that is zero wide must be the sum itself."""
    if lo == hi:
        assert Fraction(a[0]) + Fraction(b[0]) == Fraction(a[1]) + Fraction(b[1]) == Fraction(lo)
        return np.zeros(A.shape)
    return reference.positions(a, b, (lo, hi)).ravel()


def check_8p8to8(a, b, guess=None):
    """All pairs of codes: twin, bound, at most two passes, nothing saturates, the guess is kept where it holds."""
    a, b = rounded(*a), rounded(*b)
    t, info = on_every_tier(qops.quantized_add_8p8to8, (A, *a), (B, *b), guess, return_info=True)
    twin = reference.quantized_add_8p8to8((A, *a), (B, *b), guess)
    assert (t.min, t.max) == twin.range
    assert info == (twin.passes, *twin.found)
    np.testing.assert_array_equal(t.data, twin.codes)
    exact = exact_positions(a, b, t.min, t.max)
    assert np.abs(t.data - exact).max() <= BOUND_8P8TO8
    assert exact.min() > -BOUND_8P8TO8
    assert exact.max() < 255 + BOUND_8P8TO8
    assert info.passes in (1, 2)
    return t, info, twin


@PAIRS
def test_add_8p8to8_without_guess_matches_twin_within_bound(pair):
    t, info, _ = check_8p8to8(*pair)
    assert info.passes == 1, "all codes are used, so the full range is the range of the sums"
    assert (t.min, t.max) == reference.add_full_range((None, *map(float, np.float32(pair[0]))), (None, *pair[1]))


SHRUNK = (0.97, 0.5, 0.125, 1e-2, 1e-3, 1e-6, 1e-9, 1e-12)


@PAIRS
def test_add_8p8to8_with_narrow_guess_matches_twin_within_bound(pair):
    (a_min, a_max), (b_min, b_max) = pair
    lo, hi = a_min + b_min, a_max + b_max
    middle = lo + (hi - lo) * 0.4
    for share in SHRUNK:
        with case("share", share):
            check_8p8to8(*pair, (middle - (hi - lo) * share * 0.4, middle + (hi - lo) * share * 0.6))
            check_8p8to8(*pair, (0.0, min(HUGE, (hi - lo) * share)))


@PAIRS
def test_add_8p8to8_keeps_a_guess_that_holds(pair):
    (a_min, a_max), (b_min, b_max) = pair
    lo, hi = reference.add_full_range((None, *rounded(a_min, a_max)), (None, *rounded(b_min, b_max)))
    for factor in (1.0, 1.0625, 1.2, 2.0, 10.0, 1000.0):
        with case("factor", factor):
            more = (factor - 1) * (hi - lo) / 3
            guess = rounded(max(-HUGE, lo - more), min(HUGE, hi + more))
            t, info, _ = check_8p8to8(*pair, guess)
            assert info.passes == 1
            assert (t.min, t.max) == guess


@PAIRS
def test_add_8p8to8_with_one_end_guessed_matches_twin_within_bound(pair):
    (a_min, a_max), (b_min, b_max) = pair
    lo, hi = a_min + b_min, a_max + b_max
    ends = [float(np.clip(lo + place * (hi - lo), -HUGE, HUGE)) for place in (-2.0, -0.1, 0.0, 0.3, 0.9, 1.0, 1.5)]
    for guess in [guess for end in ends for guess in ((end, None), (None, end))]:
        with case("guess", guess):
            t, info, twin = check_8p8to8(*pair, guess)
            end = float(np.float32(guess[0] if guess[1] is None else guess[1]))
            held = end <= twin.found[0] if guess[1] is None else end >= twin.found[1]
            if held and info.passes == 2:
                assert (t.min if guess[1] is None else t.max) == end


@PAIRS
def test_add_8p8to8_with_bad_guess_matches_twin_within_bound(pair):
    for guess in [(5.0, None), (None, -5.0), (5.0, 5.0), (-HUGE, HUGE), (TINY, 2 * TINY), (1e30, 1.1e30)]:
        with case("guess", guess):
            check_8p8to8(*pair, guess)


def test_add_8p8to8_writes_again_for_a_range_of_15_16_or_less():
    """Data that use codes 0 to `last` only: the second pass starts to pay at 15/16 of the full range."""
    zeros, passes = np.zeros(256, np.uint8), []
    for last in range(225, 256):
        used = np.minimum(np.arange(256), last).astype(np.uint8)
        for guess in (None, (0.0, None), (None, 1.0)):
            t, info = qops.quantized_add_8p8to8((used, 0.0, 1.0), (zeros, 0.0, 0.0), guess, return_info=True)
            twin = reference.quantized_add_8p8to8((used, 0.0, 1.0), (zeros, 0.0, 0.0), guess)
            assert (*info, t.min, t.max) == (twin.passes, *twin.found, *twin.range)
        passes.append(info.passes)
    assert passes == [1] * 31, "an end that is guessed, and holds, is kept"
    for last, kept in ((238, False), (240, True)):
        t = qops.quantized_add_8p8to8((np.uint8([0, last]), 0.0, 1.0), (zeros[:2], 0.0, 0.0))
        assert (t.max == 1.0) == kept


def test_add_8p8to8_draws_the_range_in_when_the_data_use_less():
    few = np.uint8([100, 101, 102])
    t, info = qops.quantized_add_8p8to8((few, 0.0, 255.0), (few, 0.0, 255.0), return_info=True)
    assert info.passes == 2
    assert 199.5 < t.min <= 200.0
    assert 204.0 <= t.max < 204.5
    assert qops.error(t, [200.0, 202.0, 204.0]).max <= BOUND_8P8TO8


@pytest.mark.parametrize("pair", RANGE_PAIRS.values(), ids=RANGE_PAIRS)
def test_add_8p8to8_of_constant_data_within_bound(pair):
    """The range found is then as narrow as can be."""
    a, b = (rounded(*ends) for ends in pair)
    width = a[1] - a[0] + b[1] - b[0]
    for value, share in itertools.product([0, 1, 128, 255], [None, 1e-3, 1e-6, 1e-9, 2.0**-31]):
        with case(value, share):
            guess = None if share is None else (a[0] + b[0] + width / 3, a[0] + b[0] + width / 3 + width * share)
            same = np.full(70, value, np.uint8)
            t, info = on_every_tier(qops.quantized_add_8p8to8, (same, *a), (same, *b), guess, return_info=True)
            twin = reference.quantized_add_8p8to8((same, *a), (same, *b), guess)
            assert (*info, t.min, t.max) == (twin.passes, *twin.found, *twin.range)
            np.testing.assert_array_equal(t.data, twin.codes)
            if t.min < t.max:
                exact = reference.positions(a, b, (t.min, t.max))[value, value]
                assert abs(int(t.data[0]) - exact) <= BOUND_8P8TO8


def test_add_8p8to8_cancelling_constants_within_bound():
    """Sums of exactly 0 far inside of wide ranges: the narrowest range that can be found."""
    a, b = (-128.0, 127.0), (-127.0, 128.0)
    zeros = np.full(100, 128, np.uint8), np.full(100, 127, np.uint8)
    for guess in (None, (1e-3, 2e-3), (1e-6, 2e-6), (1e-7, 3e-7), (1e-12, 1e-11)):
        t, info = qops.quantized_add_8p8to8((zeros[0], *a), (zeros[1], *b), guess, return_info=True)
        exact = reference.positions(a, b, (t.min, t.max))[128, 127]
        assert abs(int(t.data[0]) - exact) <= BOUND_8P8TO8, guess
        assert info.passes == 2


def test_add_8p8to8_takes_both_loops():
    """The twin's word for which loop ran: without it the wide loop might never be tested."""
    assert reference.quantized_add_8p8to8((A, 0.0, 1.0), (B, 0.0, 1.0)).narrow == [True]
    assert reference.quantized_add_8p8to8((A, 0.0, 1.0), (B, 0.0, 1.0), (0.0, 0.01)).narrow == [False, True]
    assert kernels.add_8p8to8_integers((0, 1), (0, 1), (0, 2)) == {"ka": 4096, "kb": 4096, "offset": 17}
    with pytest.raises(ValueError, match=r"^range: \(0, 0.01\) is too narrow for 16 bits"):
        kernels.add_8p8to8_integers((0, 1), (0, 1), (0, 0.01))


@pytest.mark.parametrize("end", [32690, 32700, 32750, 32768, 32790, 32799, 32810])
def test_add_8p8to8_at_the_ends_of_16_bits(end):
    """Sums that begin or end where int16 does, in 1/32 output steps, and the steps that uint16 just does not hold."""
    for slope, at_the_end in itertools.product((7.98, 8.0), (False, True)):
        place = end / 32 - slope * 255 if at_the_end else -end / 32
        a, b = rounded(place, place + slope * 255), (0.0, 0.0)
        with case(slope, place):
            t = on_every_tier(qops.quantized_add_8p8to8, (A, *a), (B, *b), range=(0.0, 255.0))
            exact = reference.positions(a, b, (0.0, 255.0)).ravel()
            assert np.abs(t.data - np.clip(exact, 0, 255)).max() <= BOUND_8P8TO8


@pytest.mark.long
def test_add_8p8to8_loops_switch_without_overflow():
    """Output ranges on both sides of where 16 bits stop, in width and in place."""
    a, b = rounded(0.0, 0.3), rounded(-0.3, 0.3)
    sides = set()
    for width in np.linspace(0.033, 0.24, 12):
        for place in np.linspace(-1.0, 0.4, 12):
            _, _, twin = check_8p8to8(a, b, (place, place + width))
            sides.add(twin.narrow[0])
    assert sides == {True, False}


@pytest.mark.long
def test_add_8p8to8_narrow_loop_fits_up_to_its_last_value():
    """Guesses whose ends move over the extremes of the sums by less than 1/32 of a step."""
    passes = set()
    for end in np.linspace(0.0, 0.00625, 100):
        for guess in ((0.0, 1.0 - end), (end, 1.0)):
            passes.add(check_8p8to8((0.0, 1.0), (0.0, 0.0), guess)[1].passes)
    assert passes == {1, 2}


@pytest.mark.parametrize(
    ("lo", "hi", "value", "fits"),
    [
        (32768, 16744448, 0, True),  # half a step below the guess is rounded up to its first code
        (32769, 16744449, 0, False),
        (0, 255 * 65536, 16744447, True),  # half a step above would be rounded up to code 256
        (0, 255 * 65536, 16744448, False),
    ],
)
def test_add_8p8to8_wide_loop_fits_up_to_its_last_value(lo, hi, value, fits):
    """All in units of 1/65536 of the guess's step, which is a power of 2."""
    unit = 2.0**-20
    same, wide = np.zeros(70, np.uint8), (value * unit, 1e4)
    a, b, guess = (same, *wide), (same, 0.0, 0.0), (lo * unit, hi * unit)
    t, info = on_every_tier(qops.quantized_add_8p8to8, a, b, guess, return_info=True)
    assert reference.quantized_add_8p8to8(a, b, guess).narrow[0] is False
    assert info.passes == (1 if fits else 2)
    assert ((t.min, t.max) == guess) == fits


def test_add_8p8to8_bias_is_what_is_stated():
    """Halves go up; where the steps are in no simple proportion there are few."""
    t = qops.quantized_add_8p8to8((A, 0.0, 1.0), (B, 0.0, 1.0))
    exact = exact_positions((0.0, 1.0), (0.0, 1.0), t.min, t.max)
    assert (t.data - exact).mean() == 0.25
    a, b = (0.0, 1.0), (0.0, 0.37)
    t = qops.quantized_add_8p8to8((A, *a), (B, *rounded(*b)))
    assert abs((t.data - exact_positions(a, rounded(*b), t.min, t.max)).mean()) < 0.02


@pytest.mark.parametrize(
    ("guess", "kept"),
    [
        (None, (-0.5, 5.0)),  # the sums that the ranges can have
        ((0.0, 1.0), (0.0, 1.0)),
        ((0.0, 9.0), (0.0, 9.0)),
        ((5.0, None), (-0.5, 5.0)),  # the other end is 5 as well: no range, so none is kept
    ],
)
def test_add_8p8to8_of_no_code_and_of_one(guess, kept):
    a, b = (np.uint8([200]), -1.0, 2.0), (np.uint8([9]), 0.5, 3.0)
    t, info = qops.quantized_add_8p8to8((a[0][:0], *a[1:]), (b[0][:0], *b[1:]), guess, return_info=True)
    assert t.data.shape == (0,)
    assert (t.min, t.max) == kept
    assert info == (1, -0.5, 5.0)
    t, info = qops.quantized_add_8p8to8(a, b, guess, return_info=True)
    twin = reference.quantized_add_8p8to8(a, b, guess)
    assert (*info, t.min, t.max) == (twin.passes, *twin.found, *twin.range)
    np.testing.assert_array_equal(t.data, twin.codes)


@pytest.mark.parametrize(
    ("op", "place"),
    [
        *((op, place) for op in (qops.quantized_add_8p8to32, qops.quantized_add_8p8to8) for place in "ab"),
        (qops.quantized_add_8p8to8, "guess"),
        (qops.quantized_add_8p8to8, "range"),
    ],
)
@pytest.mark.filterwarnings("ignore:Setting the dtype")  # numpy 2.5 would rather not
def test_add_looks_at_arrays_when_all_numbers_are_known(op, place):
    """A number that retypes an array when it is asked for its value: a loop would read beyond the array."""
    codes = np.zeros(4, np.uint32).view(np.uint8)

    class Number:
        def __float__(self):
            codes.dtype = np.uint32
            return 1.0

    arguments = {"a": (codes, 0.0, 1.0), "b": (np.zeros(16, np.uint8), 0.0, 1.0)}
    arguments[place] = (*arguments[place][:2], Number()) if place in arguments else (0.0, Number())
    with pytest.raises(TypeError, match=r"^a: expected uint8 data, got uint32"):
        op(**arguments)


def test_add_8p8to8_bound_is_what_is_stated():
    assert BOUND_8P8TO8 == 0.6
    worst = 0.0
    for ratio in np.linspace(0.3, 1.0, 15):
        pair = rounded(-1.0, 0.7), rounded(-ratio, ratio)
        t, _, _ = check_8p8to8(*pair)
        worst = max(worst, np.abs(t.data - exact_positions(*pair, t.min, t.max)).max())
    assert worst > 0.5, "more than one rounding: a bound of 0.5 would be a lie, and a twin that never errs no twin"


@given(a=spans(), b=spans(), guess=st.none() | spans() | st.tuples(st.none() | reals(), st.none()))
@example(a=(0.0, 1.0), b=(-1.0, 0.0), guess=(0.0, TINY))
def test_add_8p8to8_any_ranges_match_twin_within_bound(a, b, guess):
    check_8p8to8(a, b, guess)


def test_add_8p8to8_takes_no_range_that_is_narrower_than_its_ends_are_known():
    """A guessed end that holds, beside an end that is found: between them is less than 2**-31 of all sums."""
    a, b, guess = (0.0, 1.0), (0.0, 2.0**19), (None, 0.75306)
    x, y = np.full(70, 192, np.uint8), np.zeros(70, np.uint8)
    t, info = on_every_tier(qops.quantized_add_8p8to8, (x, *a), (y, *b), guess, return_info=True)
    twin = reference.quantized_add_8p8to8((x, *a), (y, *b), guess)
    assert (*info, t.min, t.max) == (twin.passes, *twin.found, *twin.range)
    assert t.max - t.min >= (1 + 2**19) / 2**31
    np.testing.assert_array_equal(t.data, twin.codes)


@given(data=st.data(), shapes=shape_pairs(), a=spans(100), b=spans(100))
def test_add_broadcasts_as_numpy_does(data, shapes, a, b):
    x, y = (data.draw(codes(np.uint8, shape)) for shape in shapes)
    wide_x, wide_y = np.broadcast_arrays(x, y)
    for op in (qops.quantized_add_8p8to32, qops.quantized_add_8p8to8):
        got, want = op((x, *a), (y, *b)), op((wide_x.copy(), *a), (wide_y.copy(), *b))
        assert got.data.shape == wide_x.shape
        np.testing.assert_array_equal(got.data, want.data)
        assert (got.min, got.max) == (want.min, want.max)


@given(a=spans(1e3), b=spans(1e3))
def test_add_is_symmetric(a, b):
    assume(a != b)
    one, two = qops.quantized_add_8p8to8((A, *a), (B, *b)), qops.quantized_add_8p8to8((B, *b), (A, *a))
    np.testing.assert_array_equal(one.data, two.data)
    assert (one.min, one.max) == (two.min, two.max)
