"""A small network of front-door ops alone, from an image to the shares of classes, against the same in float64."""

import numpy as np
import pytest

import qops


def windows(x, size):
    n, h, w, c = x.shape
    return x.reshape(n, h // size, size, w // size, size, c)


def in_float(x, w, v):
    """A convolution, relu, both pools side by side, a border of zeros, the mean of all pixels, tanh, classes."""
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    places = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (1, 2))
    y = np.maximum(np.einsum("nhwckl,klco->nhwo", places, w), 0)
    joined = np.concatenate([windows(y, 2).max((2, 4)), windows(y, 2).mean((2, 4))], -1)
    bordered = np.pad(joined, ((0, 0), (1, 1), (1, 1), (0, 0)))
    scores = np.tanh(bordered.mean((1, 2))) @ v
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_network_of_front_door_ops_is_near_float(dtype):
    rng = np.random.default_rng(7)
    x, w, v = rng.normal(size=(4, 8, 8, 3)), rng.normal(size=(3, 3, 3, 6)) / 4, rng.normal(size=(12, 5))
    t = qops.conv2d(qops.quantize(x, dtype=dtype), qops.quantize(w, dtype="int8"), padding="SAME")
    near = qops.quantize(t.dequantize(), dtype=dtype)
    t = qops.relu(qops.requantize(t, near.min, near.max, dtype=dtype))
    t = qops.concat([qops.max_pool(t, 2), qops.avg_pool(t, 2)], dtype=dtype)
    t = qops.avg_pool(qops.pad(t, ((0, 0), (1, 1), (1, 1), (0, 0))), None)
    t = qops.lookup(t, np.tanh, dtype=dtype)
    assert t.shape == (4, 1, 1, 12)
    t = qops.matmul((t.data.reshape(4, 12), t.min, t.max), qops.quantize(v, dtype=dtype))
    lo, hi = qops.requantization_range(t)
    shares = qops.softmax(qops.requantize(t, lo, hi, dtype=dtype), dtype=dtype).dequantize()
    wanted = in_float(x, w, v)
    assert np.ptp(wanted) > 0.5
    np.testing.assert_allclose(shares, wanted, rtol=0, atol=0.025)  # 6 codes: weights of 8 bits, and seven roundings
