"""`qops.nnlib` subtractions against their twins."""

import numpy as np
import pytest
import reference_nnlib_add
import reference_nnlib_ops as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ops import on_every_tier
from qops._kernels.nnlib.add import add_flat_integers
from qops._kernels.nnlib.add_8p8to32 import add_8p8to32_integers

from qops import nnlib

numbers = st.one_of(st.floats(-64, 64, width=32), st.floats(-(2.0**-24), 2.0**-24, width=32))
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
A, B = np.arange(256, dtype=np.uint8).reshape(1, 256), np.uint8([[0], [1], [127], [128], [254], [255]])


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@example(a=(0.0, 1.0), b=(0.0, 1.0))
@example(a=(0.0, 255e-12), b=(0.0, 510e-12))
@example(a=(0.0, 1e-43), b=(1.0, 1.0))  # its step is 0 in float32
@given(a=ranges, b=ranges)
def test_8p8to32_matches_its_twin(a, b):
    with np.errstate(all="ignore"):
        codes, c_max = twin.sub_8p8to32(A, *a, B, *b)
    if c_max == 0:
        with pytest.raises(ValueError, match="both have steps of 0"):
            nnlib.quantized_sub_8p8to32((A, *a), (B, *b))
        return
    t = on_every_tier(nnlib.quantized_sub_8p8to32, (A, *a), (B, *b))
    np.testing.assert_array_equal(t.data, codes)
    assert (t.min, t.max) == (-c_max, c_max)


def test_only_the_sign_of_kb_differs_from_the_add():
    plus, minus = (add_8p8to32_integers((-1.0, 3.0), (0.0, 1.0), subtract) for subtract in (False, True))
    assert (plus["ka"], plus["kb"], plus["max"]) == (minus["ka"], -minus["kb"], minus["max"])


def test_two_ranges_0_wide_are_refused_and_change_nothing():
    out = np.full((1, 256), 7, np.int32)
    for r in ((1.0, 1.0), (-3e38, 3e38)):
        with pytest.raises(ValueError, match=r"^a, b: the ranges .* both have steps of 0, or are beyond float32"):
            nnlib.quantized_sub_8p8to32((A, *r), (A, *r), out=out)
    assert (out == 7).all()


ends = st.one_of(st.just(0.0), numbers)
guesses = st.tuples(st.one_of(st.none(), ends), st.one_of(st.none(), ends)).filter(lambda g: None in g or g[0] <= g[1])
calls = st.tuples(ranges, ranges, st.sampled_from([1, 2, 40, 200]), st.integers(0, 2**32 - 1))


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(guess=guesses, steps=st.lists(calls, min_size=1, max_size=3))
def test_8p8to8_d32_matches_its_twin(guess, steps):
    node, slow = nnlib.QuantizedSub8p8to8D32(*guess), reference_nnlib_add.D32Sub(*guess)
    for a_range, b_range, n, seed in steps:
        a, b = np.random.default_rng(seed).integers(0, 256, (2, n), np.uint8)
        try:
            want = slow(a.tolist(), *a_range, b.tolist(), *b_range)
        except ValueError:
            with pytest.raises(ValueError, match="output range is too narrow"):
                node((a, *a_range), (b, *b_range))
            break
        if not np.isfinite([want["out_min"], want["out_max"]]).all():  # of ranges that are 0 wide
            break
        t = on_every_tier(nnlib.quantized_sub_8p8to8_d32, (a, *a_range), (b, *b_range), *guess)
        first = reference_nnlib_add.D32Sub(*guess)(a.tolist(), *a_range, b.tolist(), *b_range)
        assert (t.data.tolist(), t.min, t.max) == (first["out"], first["out_min"], first["out_max"])
        t = node((a, *a_range), (b, *b_range))
        assert (t.data.tolist(), t.min, t.max) == (want["out"], want["out_min"], want["out_max"])
        assert node.passes == want["passes"]


def test_8p8to8_d32_of_one_operand_and_itself_is_0():
    codes = np.arange(256, dtype=np.uint8)
    t = nnlib.quantized_sub_8p8to8_d32((codes, -1.28, 1.27), (codes, -1.28, 1.27))
    assert (t.data == t.zero_point).all()


def test_the_integers_of_the_subtraction_use_the_larger_step_alone():
    plus, minus = (add_flat_integers((0.0, 1.0), (0.0, 1.0), (-1.0, 1.0), True, subtract) for subtract in (False, True))
    assert (plus["ka"], plus["kb"], plus["right_shift"]) == (4096, 4096, 5)
    assert (minus["ka"], minus["kb"], minus["right_shift"]) == (8192, -8192, 6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nnlib.quantized_sub_8p8to8_d32((A, 0, 1), (A[:, :1], 0, 1)), "a, b: shapes .* differ, which d32"),
        (lambda: nnlib.quantized_sub_8p8to8_d32((A, 0, 1), (A, 0, 1), 1, 0), "^guess_min, guess_max: 1.0 > 0.0"),
        (lambda: nnlib.QuantizedSub8p8to8D32(guess_max=np.nan), "guess_max"),
        (lambda: nnlib.quantized_sub_8p8to8_d32((A, 0, 1), (A, 0, 1), -1e-6, 1e-6), "a, b: .* range is too narrow"),
    ],
)
def test_8p8to8_d32_refuses_bad_input(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()
