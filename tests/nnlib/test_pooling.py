"""`qops.nnlib` pools against their twins: all paddings, sums that wrap."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib

POOLS = {nnlib.quantized_max_pool_8: twin.max_pool, nnlib.quantized_avg_pool_8: twin.avg_pool}
X = np.arange(36, dtype=np.uint8).reshape(1, 3, 4, 3) * 7
small, large = st.integers(1, 5), st.integers(1, 16)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@example(sizes=(14, 14, 14, 14, 1, 1), padding="SAME", bright=True, seed=0)
@given(
    sizes=st.tuples(large, large, large, large, small, small),
    padding=st.sampled_from(["VALID", "SAME", "SAME_CAFFE"]),
    bright=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_pools_match_their_twins(sizes, padding, bright, seed):
    height, width, *window, down, across = sizes
    if padding == "VALID":
        height, width = max(height, window[0]), max(width, window[1])
    image = np.random.default_rng(seed).integers(200 * bright, 256, (2, height, width, 3), np.uint8)
    for op, model in POOLS.items():
        t = op((image, -1.0, 2.0), tuple(window), (down, across), padding)
        np.testing.assert_array_equal(t.data, model(image, window, (down, across), padding))
        assert (t.min, t.max) == (-1.0, 2.0)


@pytest.mark.parametrize("op", POOLS)
def test_refusals_are_named_and_change_nothing(op):
    out = np.full((1, 2, 3, 3), 7, np.uint8)
    good = {"x": (X, 0.0, 1.0), "window": (2, 2), "stride": (1, 1), "padding": "VALID"}
    for key, value, error, message in (
        ("x", (X[0], 0.0, 1.0), ValueError, "x: expected"),
        ("x", (X[:0], 0.0, 1.0), ValueError, "x: expected"),
        ("window", (4, 1), ValueError, r"window: a window of \(4, 1\) does not fit"),
        ("window", (2,), ValueError, "window: expected 2 integers"),
        ("window", (0, 2), ValueError, "window: expected an integer"),
        ("stride", "11", TypeError, "stride: expected 2 integers"),
        ("padding", "same", ValueError, "padding: expected one of SAME, VALID, SAME_CAFFE, got 'same'"),
        ("stride", (2, 1), ValueError, "out: shape"),
    ):
        with pytest.raises(error, match=rf"^{message}"):
            op(**{**good, key: value}, out=out)
    assert (out == 7).all()
    assert op(**good, out=out).data is out
    assert (out != 7).any()


def test_a_mean_of_too_many_pixels_is_refused():
    with pytest.raises(ValueError, match=r"^window: \(256, 129\) has more than 32768 pixels"):
        nnlib.quantized_avg_pool_8((X, 0.0, 1.0), (256, 129), (1, 1), "SAME")
