"""SOFTMAX of int8 to int16 whose result has nearly the scale that it should have, as LiteRT 2.3.0 and TFLM ran it."""

import numpy as np
import pytest

from qops import tflite

X = np.int8([[1, 2, 50, -7, 60, 8, 100]])
FIXED = [-32765, -32764, -32337, -32767, -31597, -32762, 31152]
FLOATS = {1 / 65535: [*FIXED[:6], 31151], 1 / 65000: [-32765, -32764, -32341, -32767, -31607, -32762, 30629]}


def shares(kernel, scale):
    how = {"x_scale": 0.1, "x_zero_point": 3, "y_scale": scale, "y_zero_point": -32768, "y_dtype": "int16"}
    return tflite.softmax(X, **how, kernel=kernel)[0].tolist()


@pytest.mark.parametrize("scale", FLOATS)
def test_scales_near_the_right_one(scale):
    assert shares("reference", scale) == FIXED, "fixed point does not read the scale"
    for kernel in ("optimized", "xnnpack"):
        assert shares(kernel, scale) == FLOATS[scale]


def test_tflm_takes_a_tenth_of_a_percent():
    assert shares("tflm", 1 / 65535) == FIXED
    with pytest.raises(ValueError, match="y_scale"):
        shares("tflm", 1 / 65000)
    with pytest.raises(ValueError, match="y_scale"):
        shares("reference", 1 / 60000)
