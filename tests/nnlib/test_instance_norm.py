"""`qops.nnlib.quantized_instance_norm_8` against its twin, and what it refuses."""

import numpy as np
import pytest
import reference_nnlib_norms as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@example(shape=(1, 4, 4, 1), centre=77, spread=0, seed=1)
@given(
    shape=st.tuples(st.integers(1, 2), st.integers(3, 9), st.integers(1, 9), st.sampled_from([1, 3, 31, 32, 33])),
    centre=st.integers(0, 255),
    spread=st.sampled_from([1, 5, 40, 255]),
    seed=st.integers(0, 2**32 - 1),
)
def test_instance_norm_matches_its_twin(shape, centre, spread, seed):
    rng = np.random.default_rng(seed)
    x = (centre + rng.integers(-spread, spread + 1, shape)).clip(0, 255).astype(np.uint8)
    want, *ends = twin.instance_norm(x)
    t = nnlib.quantized_instance_norm_8((x, -1.0, 2.0))
    np.testing.assert_array_equal(t.data, want)
    assert (t.min, t.max) == tuple(ends)


def test_the_range_of_the_input_plays_no_part(rng):
    x = rng.integers(0, 256, (1, 5, 6, 3), np.uint8)
    one, other = (nnlib.quantized_instance_norm_8((x, *ends)) for ends in ((0.0, 1.0), (-9.0, 9.0)))
    assert (one.data.tolist(), one.min, one.max) == (other.data.tolist(), other.min, other.max)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((4, 4, 1), "x: expected "),
        ((1, 4, 0, 1), "x: expected "),
        ((1, 2, 4, 1), "x: images of 2 rows, to which nnlib adds what is in memory"),
        ((1, 3, 2**15, 1), "x: images of shape .* are too large"),
    ],
)
def test_refusals_are_named(shape, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.quantized_instance_norm_8((np.zeros(shape, np.uint8), 0.0, 1.0))
