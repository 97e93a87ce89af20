"""`qops.nnlib.quantized_softmax_8` against its twin and the exact softmax; what it refuses."""

import numpy as np
import pytest
import reference_nnlib_activations as twin
from hypothesis import given, settings
from hypothesis import strategies as st

from qops import nnlib

X = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(
    depth=st.sampled_from([3, 4, 5, 9, 31, 100, 129, 700]),
    low=st.floats(-20, 20, width=32),
    width=st.floats(0, 60, width=32),
    beta=st.sampled_from([0.0, 0.1, 1.0, 2.5]),
    spread=st.sampled_from([1, 3, 40, 256]),
    seed=st.integers(0, 2**32 - 1),
)
def test_softmax_matches_its_twin(depth, low, width, beta, spread, seed):
    rows = np.random.default_rng(seed).integers(0, spread, (3, depth), np.uint8)
    want = twin.softmax(rows, low, np.float32(low) + np.float32(width), beta)
    high = float(np.float32(low) + np.float32(width))
    if want is None:
        with pytest.raises(ValueError, match=r"^t, beta: .* is too wide"):
            nnlib.quantized_softmax_8((rows, low, high), beta)
    else:
        np.testing.assert_array_equal(nnlib.quantized_softmax_8((rows, low, high), beta).data, want)


def test_pairs_add_up_to_255_and_are_near_the_exact_softmax():
    pairs = np.indices((256, 256)).reshape(2, -1).T.astype(np.uint8)
    for top in (0.5, 2.55, 25.5):
        found = nnlib.quantized_softmax_8((pairs, 0.0, top)).data.astype(int)
        assert (found.sum(1) == 255).all()
        powers = np.exp(pairs * top / 255)
        assert np.abs(found - 255 * powers / powers.sum(1, keepdims=True)).max() < 0.52


def test_a_single_code_is_255():
    assert (nnlib.quantized_softmax_8((X.reshape(12, 1), 0.0, 1.0)).data == 255).all()


@pytest.mark.parametrize(
    ("t", "beta", "message"),
    [
        ((X, 0.0, 1.0), -1.0, "beta: expected 0 or more"),
        ((X, 0.0, 1e5), 1.0, "t, beta: a range of"),
        ((X[:, :0], 0.0, 1.0), 1.0, "t: expected 1 to 65536 codes"),
        ((np.uint8(3), 0.0, 1.0), 1.0, "t: expected 1 to 65536 codes"),
        ((np.zeros((4, 1408), np.uint8), 0.0, 1.0), 1.0, "t: rows of 1408 in 5632 codes"),
        ((np.zeros(65537, np.uint8), 0.0, 1.0), 1.0, "t: expected 1 to 65536 codes"),
    ],
)
def test_refusals_are_named(t, beta, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.quantized_softmax_8(t, beta)


def test_long_rows_are_taken_where_there_are_few():
    assert nnlib.quantized_softmax_8((np.zeros((3, 1408), np.uint8), 0.0, 1.0)).data.shape == (3, 1408)
