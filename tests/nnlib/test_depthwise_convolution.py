"""`qops.nnlib.quantized_depthwise_conv2d_8x8to32` against its twin, channel by channel."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from reference_nnlib import quantize_scalar

from qops import nnlib


@pytest.mark.parametrize("padding", ["VALID", "SAME", "SAME_CAFFE"])
@pytest.mark.parametrize("seed", range(15))
def test_is_a_convolution_of_each_channel(seed, padding):
    rng = np.random.default_rng(seed)
    height, width, channels, each = rng.integers(4, 8), rng.integers(4, 8), rng.integers(1, 5), rng.integers(1, 4)
    x_ends, w_ends = sorted(rng.uniform(-2, 2, 2).tolist()), sorted(rng.uniform(-2, 2, 2).tolist())
    image = rng.integers(0, 256, (2, height, width, channels), np.uint8)
    filters = rng.integers(0, 256, (*rng.integers(1, 4, 2), channels, each), np.uint8)
    stride = tuple(rng.integers(1, 4, 2).tolist())
    t = nnlib.quantized_depthwise_conv2d_8x8to32((image, *x_ends), (filters, *w_ends), stride, padding)
    zeros = [quantize_scalar(0, *ends)["i"] for ends in (x_ends, w_ends)]
    for c in range(channels):
        one = twin.convolved(image[..., c : c + 1], filters[:, :, c : c + 1], *zeros, stride, padding)
        np.testing.assert_array_equal(t.data[..., c * each : (c + 1) * each], one)
    assert t.max == -t.min == twin.product_max(*x_ends, *w_ends)


def test_refusals_are_named():
    x, w = (np.zeros((1, 3, 3, 2), np.uint8), 0.0, 1.0), (np.zeros((2, 2, 2, 1), np.uint8), 0.0, 1.0)
    for changes, message in (
        ({"w": (w[0][..., 0], 0.0, 1.0)}, r"w: expected \(KH, KW, C, M\)"),
        ({"w": (w[0][:, :, :1], 0.0, 1.0)}, "w: expected filters of 2 channels"),
        ({"w": (np.zeros((4, 1, 2, 1), np.uint8), 0.0, 1.0)}, "w: a window of"),
        ({"w": (w[0], -3e38, 3e38)}, "x, w: the product of the ranges"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            nnlib.quantized_depthwise_conv2d_8x8to32(
                **{"x": x, "w": w, "stride": (1, 1), "padding": "VALID", **changes}
            )
