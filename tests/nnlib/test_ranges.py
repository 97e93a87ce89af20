"""`qops.nnlib` range and multiplier helpers: the twins on random numbers, ties, bad input."""

import numpy as np
import pytest
import reference_nnlib as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib

numbers = st.floats(-(2.0**100), 2.0**100, width=32)
near = st.floats(-(2.0**8), 2.0**8, width=32)
ranges = st.one_of(st.tuples(numbers, numbers), st.tuples(near, near)).map(sorted).map(tuple)
many = settings(max_examples=400, deadline=None)


def same(got, want):
    got = got._asdict()
    assert got.keys() == want.keys()
    for name, value in want.items():
        a, b = np.float32(got[name]), np.float32(value)
        assert a.tobytes() == b.tobytes() or (np.isnan(a) and np.isnan(b)), (name, got, want)


@pytest.mark.long
@many
@example(r=(-0.0, 1.0))
@example(r=(0.0, 0.0))
@example(r=(-254.0, 1.0))
@example(r=(-1e-9, 1.0))
@given(r=ranges)
def test_ranges_match_twins(r):
    check_ranges(r)


@pytest.mark.parametrize("code", [0, 1, 62, 63, 64, 191, 192, 252, 253, 254])
def test_ranges_match_twins_where_0_is_next_to_a_decisive_code(code):
    for fraction in (0, 2e-5, 6e-5, 1e-4, 0.01, 0.25, 0.26, 0.5, 0.75, 0.99, 0.998, 0.99993, 0.99999):
        for scale in (1, 0.01, 3e4):
            check_ranges((-np.float32((code + fraction) * scale), np.float32((255 - code - fraction) * scale)))


def check_ranges(r):
    with np.errstate(all="ignore"):
        same(nnlib.adjust_range(*r), twin.adjust_range(*r))
        same(nnlib.adjust_minmax_for_zero(*r), twin.adjust_minmax_for_zero(*r))
        for fixed in range(4):
            same(nnlib.adjust_minmax_fixed(*r, fixed), twin.adjust_minmax_fixed(*r, fixed))
        same(nnlib.level_zero(*r), twin.level_zero(*r))


@pytest.mark.long
@many
@given(x=numbers, r=ranges)
def test_scalars_match_twin(x, r):
    want = twin.quantize_scalar(x, *r)
    assert nnlib.quantize_uint8(x, *r) == want["u8"]
    assert nnlib.quantize_uint(x, *r) == want["u"]
    assert nnlib.quantize_int(x, *r) == want["i"]


@given(st.floats(-500, 500, width=32), st.floats(2.0**-8, 500, width=32))
def test_an_adjusted_range_has_0_on_a_code(lo, width):
    r = nnlib.adjust_range(lo, np.float32(lo) + np.float32(width))
    zero = -r.min * 255 / (r.max - r.min) if r.max > r.min else 0
    assert abs(zero - round(zero)) < 2**-13


int32s = st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(-1000, 1000), st.sampled_from([-(2**31), 2**31 - 1]))


@pytest.mark.long
@many
@given(x=st.lists(int32s, max_size=9), multiplier=int32s, shift=st.integers(-40, 31))
def test_multiply_matches_twin(x, multiplier, shift):
    got = nnlib.mul_by_quantized_multiplier(np.array(x, np.int32), multiplier, shift)
    assert got.tolist() == [twin.mul_by_quantized_multiplier(v, multiplier, shift) for v in x]
    got = nnlib.rounding_divide_by_pot(np.array(x, np.int32), abs(shift))
    assert got.tolist() == [twin.rounding_divide_by_pot(v, abs(shift)) for v in x]


@pytest.mark.long
@many
@given(x=st.floats(-1, 2, width=32))
def test_multiplier_below_one_matches_twin(x):
    assert nnlib.multiplier_below_one(x) == twin.multiplier_below_one(x)


@pytest.mark.parametrize("shift", range(1, 31))
def test_ties_go_up(shift):
    half = 1 << (shift - 1)
    x = np.int32([-half - 1, -half, -half + 1, half - 1, half, half + 1])
    assert nnlib.rounding_divide_by_pot(x, shift).tolist() == [-1, 0, 0, 0, 1, 1]


BAD = [
    (lambda: nnlib.adjust_range(1, 0), "min, max: min 1"),
    (lambda: nnlib.adjust_minmax_fixed(0, 1, 4), "fixed: expected .*got 4"),
    (lambda: nnlib.adjust_minmax_fixed(0, 1, True), "fixed: expected an integer, got True"),
    (lambda: nnlib.level_zero(0, np.inf), "range"),
    (lambda: nnlib.quantize_uint8("1", 0, 1), "x: expected a number"),
    (lambda: nnlib.mul_by_quantized_multiplier(np.int64([1]), 1, 0), "x: expected int32"),
    (lambda: nnlib.mul_by_quantized_multiplier(np.int32([1]), 2**31, 0), "multiplier"),
    (lambda: nnlib.mul_by_quantized_multiplier(np.int32([1]), 1, 32), "shift: expected .*got 32"),
    (lambda: nnlib.mul_by_quantized_multiplier(np.int32([1]), 1, -63), "shift: expected .*got -63"),
    (lambda: nnlib.mul_by_quantized_multiplier(np.int32([1]), 1.5, 1), "multiplier: expected an integer"),
    (lambda: nnlib.mul_by_quantized_multiplier(np.int32([1]), 1, 1.0), "shift: expected an integer"),
    (lambda: nnlib.rounding_divide_by_pot(np.int32([1]), -1), "exponent: expected .*got -1"),
    (lambda: nnlib.rounding_divide_by_pot(np.int32([1]), 1.5), "exponent: expected an integer"),
    (lambda: nnlib.multiplier_below_one(np.nan), "x: nan"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
