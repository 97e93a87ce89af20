"""`qops.nnlib.quantized_lrn_8` against its twin, and what it refuses."""

import numpy as np
import pytest
import reference_nnlib_activations as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib

X = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
GOOD = {"t": (X, -1.0, 2.0), "window": 3, "bias": 1.0, "alpha": 0.5, "beta": 0.75}


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@example(low=0.0, high=1.0, window=5, bias=2.0, alpha=1e-6, beta=0.5, seed=1)  # the codes are copied
@example(low=-1e-3, high=1.0, window=1, bias=1e-6, alpha=3.0, beta=0.75, seed=1)
@given(
    low=st.floats(-20, 0, width=32),
    high=st.floats(0.25, 20, width=32),
    window=st.sampled_from([1, 2, 3, 5, 9, 31]),
    bias=st.floats(2**-10, 10, width=32),
    alpha=st.sampled_from([1e-4, 0.01, 1.0, 3.0]),
    beta=st.sampled_from([0.1, 0.5, 0.75, 0.99]),
    seed=st.integers(0, 2**32 - 1),
)
def test_lrn_matches_its_twin(low, high, window, bias, alpha, beta, seed):
    codes = np.random.default_rng(seed).integers(0, 256, (9, 7), np.uint8)
    ends = low, high
    t = nnlib.quantized_lrn_8((codes, *ends), window, bias, alpha, beta)
    want, *found = twin.lrn(codes, *ends, window, bias, alpha, beta)
    np.testing.assert_array_equal(t.data, want)
    assert (t.min, t.max) == tuple(found)


def test_alpha_is_divided_by_the_size():
    divided = nnlib.quantized_lrn_8(**GOOD | {"alpha": 1.5}, size=3)
    whole = nnlib.quantized_lrn_8(**GOOD)
    assert (divided.data.tolist(), divided.max) == (whole.data.tolist(), whole.max)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"window": 0}, "window: expected an integer"),
        ({"size": 0}, "size: expected an integer"),
        ({"bias": 9e-7}, "bias: expected at least 1e-6"),
        ({"alpha": 0.0}, "alpha: expected a number above 0"),
        ({"beta": 0.0}, "beta: expected a number above 0 and below 1"),
        ({"beta": 1.0}, "beta: expected a number above 0 and below 1"),
        ({"t": (X, 1.0, 1.0)}, r"t: the range \(1.0, 1.0\) is 0 wide"),
        ({"t": (X[:, :0], -1.0, 1.0)}, "t: expected channels"),
        ({"t": (X, -1.5, -1.4), "alpha": 1.0, "beta": 0.99}, "t, bias, alpha, beta: a result in the range"),
    ],
)
def test_refusals_are_named_and_change_nothing(change, message):
    out = np.full(X.shape, 7, np.uint8)
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.quantized_lrn_8(**GOOD | {"out": out} | change)
    assert (out == 7).all()
