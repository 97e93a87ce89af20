"""`qops.nnlib` square roots, reciprocals and quotients against their twins, and what they refuse."""

import numpy as np
import pytest
import reference_nnlib_images as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib

CODES = np.arange(256, dtype=np.uint8)


def test_roots_of_all_codes():
    for top in (1.0, 0.3, 1e6):
        t = nnlib.quantized_sqrt_8((CODES, 0.0, top))
        exact = np.sqrt(np.arange(256) * top / 255)
        assert np.abs(t.data * (t.max / 255) - exact).max() <= 0.5001 * t.max / 255
    with pytest.raises(ValueError, match=r"^t: the range \(-1.0, 1.0\) begins below 0"):
        nnlib.quantized_sqrt_8((CODES, -1.0, 1.0))


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@example(low=-2.0, width=2.0, count=300, first=0, seed=1)  # from 256 on a table, of a range that ends at 0
@example(low=0.0, width=3.0, count=256, first=1, seed=1)
@example(low=0.0, width=3.0, count=256, first=0, seed=1)
@example(low=1.0, width=3.0, count=256, first=0, seed=1)
@given(
    low=st.integers(-2000, 2000).map(lambda n: float(np.float32(n / 100))),
    width=st.floats(0.5, 40, width=32),
    count=st.sampled_from([1, 9, 255, 256, 700]),
    first=st.integers(0, 200),
    seed=st.integers(0, 2**32 - 1),
)
def test_reciprocals_match_their_twin(low, width, count, first, seed):
    codes = np.random.default_rng(seed).integers(first, 256, count, np.uint8)
    ends = low, float(np.float32(low) + np.float32(width))
    want = twin.recip(codes.tolist(), *ends)
    if want is None:
        with pytest.raises(ValueError, match=r"^t: (holds the code \d+, |256 codes or more in the range )"):
            nnlib.quantized_recip_8((codes, *ends))
        return
    t = nnlib.quantized_recip_8((codes, *ends))
    assert t.data.tolist() == want[0]
    assert (t.min, t.max) == want[1:]


def test_reciprocals_without_elements_or_beyond_float32_are_refused():
    for t, message in (((CODES[:0], 0.0, 1.0), "t: has no elements"), ((CODES[1:2], 0.0, 1e-37), "t: the reciprocals")):
        with pytest.raises(ValueError, match=f"^{message}"):
            nnlib.quantized_recip_8(t)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@example(low=-1.0, b_low=0.0, channels=1, ends=None, seed=0, zero=True)
@example(low=-1.0, b_low=0.0, channels=3, ends=(-2.0, 9.0), seed=0, zero=True)
@given(
    low=st.floats(-20, 20, width=32),
    b_low=st.floats(-20, 20, width=32),
    channels=st.sampled_from([1, 2, 7]),
    ends=st.sampled_from([None, (-1.0, 2.0), (0.0, 1e-3)]),
    seed=st.integers(0, 2**32 - 1),
    zero=st.just(False),
)
def test_quotients_match_their_twin(low, b_low, channels, ends, seed, zero):
    rng = np.random.default_rng(seed)
    codes, by = rng.integers(0, 256, (20, 7), np.uint8), rng.integers(0, 256, channels, np.uint8)
    by[0] = 0 if zero else by[0]
    codes = codes[:, :channels] if channels > 1 else codes
    a_ends, b_ends = (low, float(np.float32(low) + np.float32(3))), (b_low, float(np.float32(b_low) + np.float32(2)))
    t = nnlib.quantized_div_8((codes, *a_ends), (by, *b_ends), *(ends or ()))
    want, *found = twin.div(codes, *a_ends, by, *b_ends, ends)
    np.testing.assert_array_equal(t.data, want)
    np.testing.assert_array_equal(np.float32([t.min, t.max]), np.float32(found))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min": 0.0}, "min, max: expected both or none"),
        ({"min": 1.0, "max": 0.0}, "min, max: min 1.0 > max 0.0|min, max: "),
        ({"b": (CODES[1:3], 0.0, 1.0)}, "b: expected one divisor, or one for each channel"),
        ({"b": (CODES[:1], 0.0, 1.0), "min": 0.0, "max": 1.0}, "b: a divisor of 0"),
        ({"a": (CODES, -1e38, 1e38), "b": (CODES[:1], 0.0, 1.0)}, "a, b: quotients in the range"),
    ],
)
def test_refusals_are_named_and_change_nothing(change, message):
    out = np.full(256, 7, np.uint8)
    with pytest.raises(ValueError, match=f"^({message})"):
        nnlib.quantized_div_8(**{"a": (CODES, 0.0, 1.0), "b": (CODES[5:6], 0.0, 1.0), "out": out} | change)
    assert (out == 7).all()
