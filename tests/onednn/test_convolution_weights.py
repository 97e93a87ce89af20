"""Which kernel oneDNN picks for a convolution."""

import numpy as np
import pytest

from qops.onednn import Convolution, Window
from qops.onednn.convolution_weights import filters_of
from qops.onednn.machine import CONV_KERNELS, machine

# Each row: groups, outputs, inputs, taps a side, padding, stride, of images of 6 x 6; what 2.6.3, 3.2.0, 3.13.2 pick.
PICKED = [
    ((1, 16, 8, 1, 0, 1), "avx2", ["jit1x1", "jit1x1", "jit1x1"]),
    ((1, 16, 8, 1, 0, 2), "avx2", ["jit1x1", "jit1x1", "jit1x1"]),
    ((1, 16, 8, 1, 0, 4), "avx2", ["jit", "jit", "jit"]),
    ((1, 16, 8, 1, 1, 1), "avx512", ["jit", "jit", "brg"]),
    ((1, 16, 8, 1, 0, 4), "avx512", ["jit", "jit", "brg"]),
    ((1, 16, 8, 1, 0, 4), "vnni", ["brg", "brg", "brg"]),
    ((1, 16, 4, 3, 1, 1), "vnni", ["brg", "jit", "brg"]),
    ((1, 16, 4, 1, 0, 1), "vnni", ["brg", "brg", "brg"]),
    ((1, 16, 4, 1, 1, 1), "vnni", ["brg", "jit", "brg"]),
    ((2, 4, 8, 1, 0, 1), "avx2", ["jit", "jit", "jit"]),
    ((2, 3, 8, 3, 0, 1), "avx2", ["ref", "ref", "ref"]),
    ((2, 4, 36, 1, 0, 1), "avx512", ["jit1x1", "jit1x1", "brg"]),
    ((2, 4, 16, 1, 0, 4), "avx512", ["jit", "jit", "jit"]),
    ((2, 4, 16, 1, 0, 1), "vnni", ["jit1x1", "jit1x1", "jit1x1"]),
    ((2, 4, 20, 1, 0, 1), "vnni", ["brg", "brg", "brg"]),
    ((2, 4, 16, 3, 1, 1), "vnni", ["jit", "jit", "jit"]),
    ((2, 4, 32, 3, 1, 1), "vnni", ["brg", "brg", "brg"]),
    ((2, 3, 32, 3, 1, 1), "vnni", ["brg", "brg", "brg"]),
]


@pytest.mark.parametrize(("shape", "isa", "picked"), PICKED)
def test_the_kernel_is_the_one_that_the_libraries_name(shape, isa, picked):
    groups, outputs, inputs, taps, pad, stride = shape
    weights = np.zeros((groups, outputs, inputs, taps, taps), np.int8)
    window = Window(stride=(stride, stride), pad_l=(pad, pad), pad_r=(pad, pad))
    for version, name in zip(("2.6", "3.2", "3.13"), picked, strict=True):
        filters = filters_of(weights, None, machine(version, isa))
        assert filters.kernel(np.uint8, 6 % stride == 0, False, window) is CONV_KERNELS[name], version


def test_a_weights_scale_that_makes_nan_is_refused_by_name():
    """The reciprocal of 1e-40 is infinite, and 0 times that is NaN."""
    weights = np.zeros((1, 1, 1, 1), np.float32)
    with pytest.raises(ValueError, match=r"^weights, wq_scale: the result holds nan, which has no code in s8"):
        Convolution(weights, wq_scale=1e-40)
