"""`qops.nnlib` convolution against its twin: all paddings, zeros that are no codes."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference_nnlib import quantize_scalar

from qops import nnlib

numbers = st.floats(-64, 64, width=32)
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
paddings = st.sampled_from(["VALID", "SAME", "SAME_CAFFE"])
X, W = np.arange(36, dtype=np.uint8).reshape(1, 3, 4, 3) * 7, np.arange(24, dtype=np.uint8).reshape(2, 2, 3, 2) * 10


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@example(x=(1.0, 2.0), w=(5.0, 5.5), sizes=(5, 4, 3, 3, 2, 1, 2, 1), padding="SAME_CAFFE", seed=0)
@example(x=(-2.0, -1.0), w=(0.0, 0.0), sizes=(3, 3, 3, 2, 1, 4, 1, 2), padding="SAME", seed=0)
@given(x=ranges, w=ranges, sizes=st.tuples(*[st.integers(1, 5)] * 8), padding=paddings, seed=st.integers(0, 2**32 - 1))
def test_matches_its_twin(x, w, sizes, padding, seed):
    height, width, kh, kw, channels, outputs, down, across = sizes
    if padding == "VALID":
        height, width = max(height, kh), max(width, kw)
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (2, height, width, channels), np.uint8)
    filters = rng.integers(0, 256, (kh, kw, channels, outputs), np.uint8)
    t = nnlib.quantized_conv2d_8x8to32((image, *x), (filters, *w), (down, across), padding)
    zeros = (quantize_scalar(0, *r)["i"] for r in (x, w))
    np.testing.assert_array_equal(t.data, twin.convolved(image, filters, *zeros, (down, across), padding))
    c_max = twin.product_max(*x, *w)
    assert (t.min, t.max) == (-c_max, c_max)


def test_refusals_are_named_and_change_nothing():
    out = np.full((1, 2, 3, 2), 7, np.int32)
    good = {"x": (X, 0.0, 1.0), "w": (W, 0.0, 1.0), "stride": (1, 1), "padding": "VALID"}
    for key, value, error, message in (
        ("x", (X[0], 0.0, 1.0), ValueError, "x: expected"),
        ("w", (W[..., 0], 0.0, 1.0), ValueError, "w: expected"),
        ("w", (W[:, :, :2], 0.0, 1.0), ValueError, "w: expected filters of 3 channels"),
        ("w", (np.repeat(W, 3, 0), 0.0, 1.0), ValueError, r"w: a window of \(6, 2\) does not fit"),
        ("w", (W, -3e38, 3e38), ValueError, "x, w: the product of the ranges"),
        ("stride", 1, TypeError, "stride: expected 2 integers"),
        ("stride", (0, 1), ValueError, "stride: expected an integer"),
        ("stride", (1, 1.0), TypeError, "stride: expected an integer"),
        ("padding", "FULL", ValueError, "padding: expected one of SAME, VALID, SAME_CAFFE, got 'FULL'"),
        ("stride", (2, 1), ValueError, "out: shape"),
    ):
        with pytest.raises(error, match=rf"^{message}"):
            nnlib.quantized_conv2d_8x8to32(**{**good, key: value}, out=out)
    assert (out == 7).all()
    assert nnlib.quantized_conv2d_8x8to32(**good, out=out).data is out
    np.testing.assert_array_equal(out, twin.convolved(X, W, 0, 0, (1, 1), "VALID"))
