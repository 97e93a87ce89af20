"""conv2d: exact sums over windows within the bound, however they move and whatever the ranges; padding is 0."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import rounded, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier

import qops
from qops.frontdoor.conv2d import BOUND_CONV2D

RANGES = [(-1.0, 1.55), (-1.0, 1.0), (0.0, 6.0), (2.0, 3.0), (-9.0, -8.0), (1e4, 1e4 + 1), (-0.5, -0.5), (0.0, 0.0)]


def same_pads(size, kernel, stride, dilation):
    """The padding called SAME: as many places as strides, an odd pixel behind."""
    pads = []
    for n, k, s, d in zip(size, kernel, stride, dilation, strict=True):
        total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def check(x, w, stride=(1, 1), dilation=(1, 1), padding="VALID"):
    x, w = ((t[0], *rounded(*t[1:])) for t in (x, w))
    t = on_every_tier(qops.conv2d, x, w, stride=stride, dilation=dilation, padding=padding)
    pads = padding
    if isinstance(padding, str):
        size = x[0].shape[1:3], w[0].shape[:2]
        pads = same_pads(*size, stride, dilation) if padding == "SAME" else ((0, 0), (0, 0))
    exact, top = reference.conv2d(x, w, stride, dilation, pads)
    assert (t.min, t.max) == (-top, top)
    assert t.data.size == len(exact)
    step = Fraction(top) / 2**31 or Fraction(1)
    assert max(abs(int(code) - value / step) for code, value in zip(t.data.flat, exact, strict=True)) <= BOUND_CONV2D
    return t


def drawn(rng, shape, dtype):
    return rng.integers(0, 256, shape, np.uint8).view(dtype)


@pytest.mark.parametrize("padding", ["VALID", "SAME", ((2, 0), (1, 3))])
@pytest.mark.parametrize(("stride", "dilation"), [((1, 1), (1, 1)), ((2, 1), (1, 2)), ((3, 2), (2, 1))])
@pytest.mark.parametrize("types", [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.uint8), (np.int8, np.int8)])
def test_conv2d_within_bound_however_the_window_moves(padding, stride, dilation, types):
    rng = np.random.default_rng(1)
    x, w = drawn(rng, (2, 6, 5, 3), types[0]), drawn(rng, (2, 3, 3, 2), types[1])
    check((x, -1.0, 1.0), (w, -0.7, 2.0), stride, dilation, padding)


def test_windows_may_be_given_as_arrays(rng):
    x, w = (drawn(rng, (1, 9, 9, 3), np.uint8), -1.0, 1.0), (drawn(rng, (3, 2, 3, 2), np.uint8), -1.0, 1.0)
    moves = {"stride": [2, 1], "dilation": [1, 2], "padding": [[1, 0], [2, 1]]}
    arrays = {name: np.array(value) for name, value in moves.items()}
    assert qops.conv2d(x, w, **arrays) == qops.conv2d(x, w, **moves)
    assert qops.Conv2D(w, **arrays)(x) == qops.Conv2D(w, **moves)(x)
    assert qops.max_pool(x, np.array([3, 2]), stride=np.array([1, 2])) == qops.max_pool(x, (3, 2), stride=(1, 2))


@pytest.mark.parametrize("a", RANGES)
@pytest.mark.parametrize("b", RANGES)
def test_conv2d_within_bound_whatever_the_ranges(a, b):
    """Also those that exclude 0, where padding with any code would be wrong."""
    rng = np.random.default_rng(2)
    x, w = drawn(rng, (1, 4, 3, 2), np.uint8), drawn(rng, (3, 2, 2, 2), np.uint8)
    check((x, *a), (w, *b), padding="SAME")


@given(a=spans(1e15), b=spans(1e15), seed=st.integers(0, 99))
def test_conv2d_of_any_ranges_within_bound(a, b, seed):
    rng = np.random.default_rng(seed)
    check((drawn(rng, (1, 3, 3, 2), np.uint8), *a), (drawn(rng, (2, 2, 2, 2), np.int8), *b), padding="SAME")


def test_large_filters_need_little_memory():
    """61 x 61 filters are cut in 3721 ways by the ends of an image."""
    rng = np.random.default_rng(61)
    x, w = (rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((1, 64, 62, 1), (61, 61, 1, 2)))
    tracemalloc.start()
    t = qops.conv2d((x, -3.0, 252.0), (w, 2.0, 257.0), padding="SAME")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 24
    padded = np.pad(x[0, :, :, 0].astype(np.int64) - 3, 30)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (61, 61)).reshape(-1, 61 * 61)
    want = windows @ (w.reshape(-1, 2).astype(np.int64) + 2)
    assert np.abs(t.data.reshape(-1, 2) * t.scale - want).max() <= BOUND_CONV2D * t.scale


def test_conv2d_of_one_pixel_is_a_matmul():
    rng = np.random.default_rng(3)
    x, w = (drawn(rng, (2, 4, 5, 7), np.uint8), -1.0, 2.0), drawn(rng, (7, 6), np.int8)
    whole = qops.conv2d(x, (w.reshape(1, 1, 7, 6), -3.0, 1.0))
    product = qops.matmul(x, (w, -3.0, 1.0))
    np.testing.assert_array_equal(whole.data, product.data)
    assert (whole.min, whole.max) == (product.min, product.max)


def test_conv2d_takes_out_and_threads():
    rng = np.random.default_rng(4)
    x, w = (drawn(rng, (2, 9, 8, 5), np.uint8), -1.0, 2.0), (drawn(rng, (3, 3, 5, 4), np.int8), -3.0, 1.0)
    whole = qops.conv2d(x, w, padding="SAME")
    out = np.empty((2, 9, 8, 8), np.int32)[..., ::2]
    assert qops.conv2d(x, w, padding="SAME", out=out, num_threads=2).data is out
    np.testing.assert_array_equal(out, whole.data)


X, W = (np.zeros((1, 4, 4, 3), np.uint8), 0.0, 1.0), (np.zeros((2, 2, 3, 2), np.uint8), 0.0, 1.0)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"x": (X[0][0], 0.0, 1.0)}, r"x: expected \(N, H, W, C\)"),
        (
            {"w": (W[0][:, :, :2], 0.0, 1.0)},
            r"x: .* images of 2 channels, as w has 2: .* is \(N, H",
        ),
        ({"w": (W[0][:0], 0.0, 1.0)}, r"w: expected \(KH, KW, C, O\)"),
        ({"stride": (1, 2, 3)}, r"stride: expected 2 integers, got \(1, 2, 3\)"),
        ({"stride": (0, 1)}, "stride: expected an integer in"),
        ({"dilation": (1, 4)}, r"x: padded images of \(4, 4\) have no room for filters of \(2, 2\)"),
        ({"padding": "FULL"}, "padding: expected 'same', 'valid' or numbers of pixels"),
        ({"padding": (1, 2, 3)}, "padding: expected 2 integers"),
        ({"padding": ((-1, 0), (0, 0))}, "padding: expected an integer in"),
        ({"num_threads": 0}, "num_threads: expected"),
        ({"out": np.zeros((1, 4, 4, 2), np.int32)}, "out: shape"),
        ({"x": (X[0], 0.0, 1e38), "w": (W[0], 0.0, 1e5)}, "x, w: sums of 12 products .* beyond float32"),
    ],
)
def test_conv2d_refuses(changes, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.conv2d(**{"x": X, "w": W, **changes})
