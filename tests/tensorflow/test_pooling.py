"""`quantized_max_pool` and `quantized_avg_pool` against Python's integers, with oneDNN and without; bad input."""

from fractions import Fraction

import numpy as np
import pytest
from cases import ends_of
from hypothesis import given
from hypothesis import strategies as st

from qops.tensorflow import quantized_avg_pool, quantized_max_pool

X = np.arange(24, dtype=np.uint8).reshape(1, 3, 4, 2) * 10
R = -1.0, 1.0


def axis(size, taps, step, padding):
    """The pixels of each window along one axis."""
    if padding == "VALID":
        first, count = 0, (size - taps) // step + 1
    else:
        count = -(-size // step)
        first = -(max(0, (count - 1) * step + taps - size) // 2)
    return [slice(max(0, first + i * step), min(size, first + i * step + taps)) for i in range(count)]


def pooled(x, kernel, stride, padding, combine):
    rows, columns = (axis(n, k, s, padding) for n, k, s in zip(x.shape[1:3], kernel, stride, strict=True))
    out = np.empty((len(x), len(rows), len(columns), x.shape[3]), x.dtype)
    for n, i, j, c in np.ndindex(out.shape):
        out[n, i, j, c] = combine(x[n, rows[i], columns[j], c].ravel().tolist())
    return out


@given(
    sizes=st.tuples(*[st.integers(1, 6)] * 7),
    padding=st.sampled_from(["VALID", "SAME"]),
    dtype=st.sampled_from([np.uint8, np.int8]),
    seed=st.integers(0, 2**32 - 1),
)
def test_matches_exact_means_and_maxima(sizes, padding, dtype, seed):
    height, width, channels, *rest = sizes
    kernel, stride = tuple(rest[:2]), tuple(rest[2:])
    if padding == "VALID":
        height, width = max(height, kernel[0]), max(width, kernel[1])
    info = np.iinfo(dtype)
    image = np.random.default_rng(seed).integers(info.min, info.max + 1, (2, height, width, channels), dtype)
    call = (image, *R), (1, *kernel, 1), (1, *stride, 1), padding
    for t, combine in (
        (quantized_max_pool(*call), max),
        (quantized_avg_pool(*call), lambda codes: int(Fraction(sum(codes), len(codes)))),
        (quantized_avg_pool(*call, onednn=True), lambda codes: round(Fraction(sum(codes), len(codes)))),
    ):
        np.testing.assert_array_equal(t.data, pooled(image, kernel, stride, padding, combine), strict=True)
        assert (t.min, t.max) == R


def test_windows_that_do_not_fit_give_no_elements():
    call = (X, *R), (1, 5, 2, 1), (1, 3, 1, 1), "VALID"
    for pool in (quantized_max_pool, quantized_avg_pool):
        t = pool(*call)
        assert t.data.shape == (1, 0, 3, 2)
        assert (t.min, t.max) == R
    t = quantized_avg_pool(*call, onednn=True)
    assert t.data.shape == (1, 0, 3, 2)
    assert [end.shape for end in (t.min, t.max)] == [(0,), (0,)]
    for empty in (X[:0], X[..., :0]):
        assert quantized_avg_pool((empty, *R), (1, 2, 2, 1), (1, 1, 1, 1), "SAME").data.shape == empty.shape
        assert ends_of(quantized_avg_pool((empty, *R), (1, 2, 2, 1), (1, 1, 1, 1), "SAME", onednn=True)) == R
    call, out = ((X[:0], *R), (1, 2, 2, 1), (1, 2, 1, 1), "SAME"), np.empty((0, 2, 4, 2), np.uint8)
    assert quantized_avg_pool(*call, out=out).data is out
    with pytest.raises(ValueError, match=r"^out: shape .* expected \(0, 2, 4, 2\)"):
        quantized_avg_pool(*call, out=out[:, 1:])


def test_the_step_along_channels_plays_no_part():
    one, two = (quantized_max_pool((X, *R), (1, 2, 2, 1), (1, 1, 1, step), "SAME").data for step in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("pool", [quantized_max_pool, quantized_avg_pool])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"input": (X[0], *R)}, r"input: tensor_in_shape must have 2 spatial dimensions, got shape \(3, 4, 2\)"),
        ({"input": (X.astype(np.int32), *R)}, "input: expected uint8 or int8 data, got int32"),
        ({"input": (X, 0.0, np.nan)}, "input max: nan"),
        ({"ksize": [2, 2, 2, 1]}, "ksize: Pooling is not yet supported on the batch dimension"),
        ({"ksize": [1, 1, 1, 2]}, "ksize: Non-spatial pooling is not yet supported"),
        ({"ksize": [1, 2, 2]}, "ksize: Sliding window ksize field must specify 4 dimensions, got 3"),
        ({"ksize": [1, 0, 2, 1]}, r"ksize: expected an integer in \[1, .*, got 0"),
        ({"ksize": [1, 5, 2, 1], "padding": "VALID"}, "ksize: Computed output size would be negative"),
        ({"strides": [2, 1, 1, 1]}, "strides: Pooling is not yet supported on the batch dimension"),
        ({"strides": [1, 0, 1, 1]}, r"strides: expected an integer in \[1, .*, got 0"),
        ({"strides": None}, "strides: expected 4 integers"),
        ({"padding": "SAME_CAFFE"}, "padding: 'SAME_CAFFE' is not in the list of allowed values: SAME, VALID"),
    ],
)
def test_rejects(pool, change, message):
    out = np.full((1, 3, 4, 2), 7, np.uint8)
    good = {"input": (X, *R), "ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME", "out": out}
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        pool(**{**good, **change})
    assert (out == 7).all()


@pytest.mark.parametrize("pool", [quantized_max_pool, quantized_avg_pool])
def test_onednn_is_a_bool(pool):
    with pytest.raises(TypeError, match=r"^onednn: expected a bool, got 1"):
        pool((X, *R), (1, 2, 2, 1), (1, 1, 1, 1), "SAME", onednn=1)


def test_a_maximum_without_windows_is_refused_with_onednn():
    x = np.zeros((1, 1, 3, 5), np.uint8)
    call = (x, *R), (1, 2, 4, 1), (1, 2, 2, 1), "VALID"
    assert quantized_max_pool(*call).data.shape == (1, 0, 0, 5)
    with pytest.raises(ValueError, match=r"^ksize: \(2, 4\) in images of \(1, 3\): no window, and TensorFlow aborts"):
        quantized_max_pool(*call, onednn=True)
    one, two = (quantized_max_pool((X, *R), (1, 2, 2, 1), (1, 1, 1, 1), "SAME", onednn=on) for on in (False, True))
    np.testing.assert_array_equal(one.data, two.data)


def test_a_long_word_is_not_said_again_whole():
    x = np.zeros((1, 2, 2, 1), np.uint8), 0.0, 1.0
    with pytest.raises(ValueError, match="padding: 'nnn") as refusal:
        quantized_max_pool(x, (1, 1, 1, 1), (1, 1, 1, 1), "n" * 10_000)
    assert len(str(refusal.value)) < 200
