"""`qops.nnlib.quantized_prelu_8` against its twin, and what it refuses."""

import numpy as np
import pytest
import reference_nnlib_activations as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib

X = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
SLOPES = np.float32([0.25, -0.5, 1.5, 0])


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@example(low=9.0, width=0.5, scale=0.2, seed=1)  # a gain so small that the DSP's shift wraps
@given(
    low=st.floats(-20, 5, width=32),
    width=st.floats(2**-5, 40, width=32),
    scale=st.sampled_from([0.2, 1.0, 2.0, 9.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_prelu_matches_its_twin(low, width, scale, seed):
    rng = np.random.default_rng(seed)
    codes, alphas = rng.integers(0, 256, (40, 5), np.uint8), np.float32(rng.normal(size=5) * scale)
    ends = low, float(np.float32(low) + np.float32(width))
    least, most = np.float32(low) * min(0, alphas.min()), np.float32(low) * max(0, alphas.max())
    if most >= max(least, ends[1]):
        with pytest.raises(ValueError, match=r"^t, alpha: .* above 0 becomes \("):
            nnlib.quantized_prelu_8((codes, *ends), alphas)
        return
    made = twin.prelu(codes, *ends, alphas)
    if made is None:
        with pytest.raises(ValueError, match=r"^alpha: magnitudes up to .* are too large"):
            nnlib.quantized_prelu_8((codes, *ends), alphas)
        return
    t, (want, *found) = nnlib.quantized_prelu_8((codes, *ends), alphas), made
    np.testing.assert_array_equal(t.data, want)
    assert (t.min, t.max) == tuple(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": SLOPES[:3]}, "alpha: expected a slope for each channel"),
        ({"alpha": SLOPES[np.newaxis]}, "alpha: expected a slope for each channel"),
        ({"alpha": SLOPES * np.float32(np.nan)}, "alpha: "),
        ({"alpha": SLOPES * np.float32(100)}, "alpha: magnitudes up to 150.0 are too large"),
        ({"t": (X, 1.0, 1.0)}, r"t: the range \(1.0, 1.0\) is 0 wide"),
        ({"t": (np.uint8(3), 0.0, 1.0)}, "alpha: expected a slope for each channel"),
    ],
)
def test_refusals_are_named_and_change_nothing(change, message):
    out = np.full(X.shape, 7, np.uint8)
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.quantized_prelu_8(**{"t": (X, -1.0, 2.0), "alpha": SLOPES, "out": out} | change)
    assert (out == 7).all()
