"""`quantized_conv2d` against its twin: all paddings, strides beyond the filter, zeros that are no codes."""

import numpy as np
import pytest
import reference_tensorflow_products as twin
from hypothesis import example, given
from hypothesis import strategies as st

from qops.tensorflow import quantized_conv2d

numbers = st.floats(-64, 64, width=32)
ranges = st.tuples(numbers, numbers)
X, W = np.arange(36, dtype=np.uint8).reshape(1, 3, 4, 3) * 7, np.arange(24, dtype=np.uint8).reshape(2, 2, 3, 2) * 10
R = -1.0, 1.0


@example(x=(1.0, 2.0), w=(5.0, 5.5), sizes=(5, 4, 3, 3, 2, 1, 2), padding="SAME", seed=0)
@example(x=(-2.0, -1.0), w=(0.0, 3.0), sizes=(4, 3, 3, 2, 1, 2, 1), padding="SAME", seed=0)
@example(x=(-1.0, 1.0), w=(0.0, 0.0), sizes=(6, 6, 1, 2, 1, 2, 3), padding="SAME", seed=0)
@example(x=(-1.0, 1.0), w=(2.0, -1.0), sizes=(9, 8, 1, 1, 1, 2, 5), padding="SAME", seed=0)
@given(
    x=ranges,
    w=ranges,
    sizes=st.tuples(*[st.integers(1, 6)] * 7),
    padding=st.sampled_from(["VALID", "SAME"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_matches_its_twin(x, w, sizes, padding, seed):
    if any(0 < abs(hi - lo) < 2.0**-110 for lo, hi in (x, w)):
        return  # refused
    height, width, kh, kw, channels, outputs, step = sizes
    if padding == "VALID":
        height, width = max(height, kh), max(width, kw)
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (2, height, width, channels), np.uint8)
    filters = rng.integers(0, 256, (kh, kw, channels, outputs), np.uint8)
    want = twin.convolved(image, x, filters, w, step, padding)
    t = quantized_conv2d((image, *x), (filters, *w), (1, step, step, 1), padding)
    np.testing.assert_array_equal(t.data, want, strict=True)
    top = twin.top(x, w)
    assert (t.min, t.max) == ((-top, top) if abs(top) >= 2.0**-95 else (0, 0))


def test_padding_of_a_range_below_0_is_not_zero():
    x, w = (np.full((1, 1, 3, 1), 255, np.uint8), -2.0, -1.0), (np.full((1, 3, 1, 1), 255, np.uint8), 0.0, 1.0)
    inside = quantized_conv2d(x, w, (1, 1, 1, 1), "VALID")
    around = quantized_conv2d(x, w, (1, 1, 1, 1), "SAME")
    assert inside.data.item() == 3 * (255 - 510) * 255
    pixel, padded = (255 - 510) * 255, (254 - 510) * 255
    assert around.data.ravel().tolist() == [2 * pixel + padded, 3 * pixel, 2 * pixel + padded]


def test_valid_with_a_stride_of_4_leaves_out_what_is_in_front():
    x, w = np.arange(8, dtype=np.uint8).reshape(1, 1, 8, 1), np.ones((1, 1, 1, 1), np.uint8)
    for step, seen in ((3, [0, 3, 6]), (4, [1, 5]), (5, [0, 5]), (6, [0, 6]), (8, [3])):
        t = quantized_conv2d((x, 0.0, 255.0), (w, 0.0, 255.0), (1, step, step, 1), "VALID")
        assert t.data.ravel().tolist() == seen, step


def test_any_out_is_filled():
    want = twin.convolved(X, R, W, (0, 6), 1, "SAME")
    for out in (np.zeros((1, 3, 4, 2), np.int32), np.zeros((2, 4, 3, 1), np.int32).T):
        assert quantized_conv2d((X, *R), (W, 0.0, 6.0), (1, 1, 1, 1), "SAME", out=out).data is out
        np.testing.assert_array_equal(out, want)


ONE = (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"input": (X[0], *R)}, "input: must be rank 4 but is rank 3"),
        ({"filter": (W[0], *R)}, "filter: must be rank 4 but is rank 3"),
        ({"filter": (W[:, :, :2], *R)}, "filter: must have the same depth as input: 3 vs 2"),
        ({"input": (X[:0], *R)}, r"input: Shapes dimension cannot be 0, got shape \(0, 3, 4, 3\)"),
        ({"filter": (W[..., :0], *R)}, "filter: Shapes dimension cannot be 0"),
        ({"filter": (np.repeat(W, 3, 0), *R), "padding": "VALID"}, r"filter: \(6, 2\) does not fit in images"),
        ({"strides": [1, 1, 2, 1]}, "strides: .* equal length strides"),
        ({"strides": [2, 1, 1, 1]}, "strides: .* in the batch and depth dimensions"),
        ({"strides": [1, 1, 1, 2]}, "strides: .* in the batch and depth dimensions"),
        ({"strides": [1, 1, 1]}, "strides: Sliding window strides field must specify 4 dimensions, got 3"),
        ({"strides": [1, 0, 0, 1]}, "strides: expected an integer"),
        ({"strides": 1}, "strides: expected 4 integers"),
        ({"dilations": [1, 2, 2, 1]}, "dilations: .* only supports dilated rate as 1"),
        ({"dilations": None}, "dilations: expected 4 integers"),
        ({"padding": "FULL"}, "padding: 'FULL' is not in the list of allowed values: SAME, VALID"),
        ({"input": (X, 0.0, 1e20), "filter": (W, 0.0, 1e20)}, "input, filter: the product of the ranges"),
        ({"input": (X, 0.0, 1e-37)}, "input min, input max: the range .* steps too small"),
        ({"filter": (W.view(np.int8), *R)}, "filter: expected uint8 data, got int8"),
    ],
)
def test_rejects(change, message):
    out = np.full((1, 3, 4, 2), 7, np.int32)
    good = {"input": (X, *R), "filter": (W, *R), "strides": ONE, "padding": "SAME", "out": out}
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        quantized_conv2d(**{**good, **change})
    assert (out == 7).all()
