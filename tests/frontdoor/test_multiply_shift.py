"""multiply_shift of the front door: y = (x * round(factor * 2**bits)) >> bits and its bound."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier

import qops
from qops.fixedpoint import SINGLE_ROUNDINGS, apply_multiplier
from qops.frontdoor.multiply_shift import error_bound

CODES = np.arange(256, dtype=np.uint8)


def check(x, factor, bits, rounding):
    got = on_every_tier(qops.multiply_shift, x, factor, bits, rounding=rounding)
    want = [reference.multiply_shift(v, factor, bits, rounding) for v in x.tolist()]
    np.testing.assert_array_equal(got, want)
    bound = Fraction(error_bound(int(np.abs(x.astype(np.int64)).max()), bits, rounding))
    top, bottom = factor.as_integer_ratio()
    off = [abs(g * bottom - v * top) for g, v in zip(got.tolist(), x.tolist(), strict=True) if -(2**31) < g < 2**31 - 1]
    worst = Fraction(max(off, default=0), bottom)
    assert worst <= bound
    return worst


@pytest.mark.parametrize("rounding", SINGLE_ROUNDINGS)
@pytest.mark.parametrize("bits", [0, 1, 7, 8, 15, 30])
def test_multiply_shift_all_codes_match_twin_within_bound(rounding, bits):
    for factor in (0.3, 0.5, 1 / 3, 0.99999, 1.0, -0.3, -0.7, 0.0, 2**-8, 0.501953125, 1.9):
        check(CODES, factor, bits, rounding)


@given(x=st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1), bits=st.integers(0, 30), data=st.data())
def test_multiply_shift_any_factor_matches_twin_within_bound(x, bits, data):
    limit = 2.0 ** (31 - bits) * (1 - 2.0**-30)
    factor = data.draw(st.floats(-limit, limit).filter(lambda f: abs(f) * 2**bits < 2**31 - 0.5))
    check(np.array(x, np.int32), factor, bits, data.draw(st.sampled_from(SINGLE_ROUNDINGS)))


@pytest.mark.long
def test_multiply_shift_of_a_code_is_off_by_less_than_one():
    """A factor of 7 bits is at most 0.5 / 128 off: 255 * 0.5 / 128 < 1 of a code, before the shift rounds."""
    assert error_bound(255) == 255 * 0.5 / 128 + 1
    assert error_bound(255, rounding="half_up") == 255 * 0.5 / 128 + 0.5
    factors = np.arange(1, 256, 6) / 256 + 2.0**-20  # just above the tie between two multipliers: the worst
    worst = max(check(CODES, factor, 7, "half_up") for factor in factors.tolist())
    assert 1.2 < worst <= error_bound(255, rounding="half_up")


def test_multiply_shift_default_is_the_bare_formula():
    x = np.arange(-300, 300, dtype=np.int32)
    np.testing.assert_array_equal(qops.multiply_shift(x, 0.3), (x * round(0.3 * 128)) >> 7)
    np.testing.assert_array_equal(qops.multiply_shift(x, -0.77, 10), (x * round(-0.77 * 1024)) >> 10)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4", "u4", "i8", "u8", ">i2", ">i4", ">i8"])
def test_multiply_shift_takes_every_integer_dtype(dtype):
    x = np.array([0, 1, 2, 100, 127], dtype)
    np.testing.assert_array_equal(qops.multiply_shift(x, 0.75), [0, 0, 1, 75, 95])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([1], 0.5, -1), "bits: expected .*got -1"),
        (([1], 0.5, 31), "bits: expected .*got 31"),
        (([1], 2.0**24, 7), r"factor: 16777216.0 in 7 bits is 2\*\*31 or more"),
        (([1], -(2.0**31), 0), r"factor: -2147483648.0 in 0 bits is 2\*\*31 or more"),
        (([2**31], 0.5), "x: int32 does not hold its values, 2147483648 to 2147483648"),
        (([-(2**31) - 1, 5], 0.5), "x: int32 does not hold its values, -2147483649 to 5"),
    ],
)
def test_multiply_shift_rejects_what_int32_does_not_hold(arguments, text):
    with pytest.raises(ValueError, match=text):
        qops.multiply_shift(*arguments)


def test_multiply_shift_takes_the_name_from_an_array():
    x = np.int32([-3, 3])
    assert qops.multiply_shift(x, 0.5, rounding=np.array(["truncate"])[0]).tolist() == [-1, 1]
    assert apply_multiplier(x, 1, 1, rounding=np.array(["floor"])[0]).tolist() == [-2, 1]


@pytest.mark.filterwarnings("ignore:Setting the dtype")  # numpy 2.5 would rather not
def test_a_factor_that_retypes_the_array_is_harmless():
    """The array is looked at last: as uint8 it is four times as long, as float64 it is refused."""

    class Factor:
        def __float__(self):
            x.dtype = dtype
            return 0.5

    x, dtype = np.int32([2, 4, 6, 8]), np.uint8
    assert qops.multiply_shift(x, Factor()).tolist() == [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]
    x, dtype = np.int32([2, 4, 6, 8]), np.float64
    with pytest.raises(TypeError, match="x: expected integers"):
        qops.multiply_shift(x, Factor())


def test_roundings_may_be_spelt_with_a_hyphen():
    x = np.arange(-300, 300)
    for rounding in ("half_up", "half_away", "half_even"):
        spelt = rounding.replace("_", "-")
        assert error_bound(255, rounding=spelt) == error_bound(255, rounding=rounding)
        for op, by in ((qops.multiply_shift, (0.375, 3)), (apply_multiplier, (3, 3))):
            np.testing.assert_array_equal(op(x, *by, rounding=spelt), op(x, *by, rounding=rounding))
    with pytest.raises(ValueError, match=r"^rounding: .* got 'half-down'"):
        qops.multiply_shift([1], 0.5, rounding="half-down")


@pytest.mark.parametrize("rounding", ["gemmlowp", "hvx", "nearest", "", None, 3])
def test_multiply_shift_rejects_other_roundings(rounding):
    with pytest.raises(ValueError, match="rounding: expected one of floor, truncate, half_up, half_away, half_even"):
        qops.multiply_shift([1], 0.5, rounding=rounding)


@pytest.mark.parametrize("arguments", [(255, -3), (-5, 7), (255, 7, "nope")])
def test_bound_of_what_cannot_be_is_refused(arguments):
    with pytest.raises(ValueError, match=r"(bits|largest|rounding): "):
        error_bound(*arguments)
