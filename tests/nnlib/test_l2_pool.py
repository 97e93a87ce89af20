"""`qops.nnlib.quantized_l2_pool_8` against Python's integers and against real roots; its refusals."""

import math

import numpy as np
import pytest

from qops import nnlib


def window_of(place, size, taps, stride, places):
    """Where a window begins and ends; C divides toward zero."""
    start = place * stride - int(((places - 1) * stride + taps - size) / 2)
    return max(start, 0), min(start + taps, size)


@pytest.mark.parametrize("padding", ["VALID", "SAME", "SAME_CAFFE"])
@pytest.mark.parametrize("seed", range(15))
def test_is_the_root_of_the_mean_of_each_window(seed, padding):
    """The mean is exact in integers. The root is within 0.51 of the real one."""
    rng = np.random.default_rng(seed)
    sizes, taps, strides = (rng.integers(*ends, 2).tolist() for ends in ((5, 9), (1, 5), (1, 6)))
    image = rng.integers(0, 256, (1, *sizes, 2), np.uint8)
    t = nnlib.quantized_l2_pool_8((image, -1.0, 1.5), taps, strides, padding)
    zero = 102
    counts = [
        (size - tap) // stride + 1 if padding == "VALID" else -(-size // stride)
        for size, tap, stride in zip(sizes, taps, strides, strict=True)
    ]
    assert t.data.shape == (1, *counts, 2)
    for i in range(counts[0]):
        for j in range(counts[1]):
            (top, bottom), (left, right) = (
                window_of(*axis) for axis in zip((i, j), sizes, taps, strides, counts, strict=True)
            )
            part = image[0, top:bottom, left:right].astype(int) - zero
            count = part[..., 0].size
            for c in range(2):
                mean = (int((part[..., c] ** 2).sum()) * ((65536 // count + 1) >> 1) + 0x4000) >> 15
                assert abs(t.data[0, i, j, c] - math.sqrt(mean)) < 0.51
    assert t.min == 0
    assert abs(t.max - 2.5) < 1e-6


def test_every_root():
    """Windows of one pixel with the zero on code 0 give the codes back, and a black window 0."""
    codes = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1)
    assert (nnlib.quantized_l2_pool_8((codes, 0.0, 255.0), (1, 1), (1, 1), "VALID").data == codes).all()


def test_refusals_are_named_and_change_nothing():
    out, x = np.full((1, 2, 2, 1), 7, np.uint8), (np.zeros((1, 3, 3, 1), np.uint8), 0.0, 1.0)
    for changes, message in (
        ({"window": (4, 1)}, "window: a window of"),
        ({"padding": "FULL"}, "padding: expected one of"),
        ({"x": (np.zeros((3, 3, 1), np.uint8), 0.0, 1.0)}, r"x: expected \(N, H, W, C\)"),
        ({"window": (1, 1)}, "out: shape"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            nnlib.quantized_l2_pool_8(
                **{"x": x, "window": (2, 2), "stride": (1, 1), "padding": "VALID", **changes}, out=out
            )
    assert (out == 7).all()
    assert nnlib.quantized_l2_pool_8(x, (2, 2), (1, 1), "VALID", out=out).data is out
