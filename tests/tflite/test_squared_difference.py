"""SQUARED_DIFFERENCE where the last ratio of scales is beyond a shift of 31, which C does not define."""

import numpy as np
import pytest

from qops import tflite

A = np.int16([5, 9, -9, -7, 6, 9, -5, -4])
B = np.int16([-4, 6, -5, -2, 3, 1, -8, -9])


@pytest.mark.parametrize(
    ("scales", "want"),
    [
        ((0.0976, 2.0**20, 2.0**12), [0, -32768, 0, -32768, 0, -32768, 0, 0]),  # shifts of 31, 35, 43, 35
        ((0.0976, 2.0**22, 2.0**12), [16, 36, 16, 4, 16, 4, 64, 64]),
        ((0.0976, 2.0**26, 2.0**12), [4096, 9216, 4096, 1024, 4096, 1024, 16384, 16384]),
        ((0.0976, 2.0**14, 2.0**-4), [16, 36, 16, 4, 16, 4, 64, 64]),
    ],
)
def test_a_shift_beyond_31_is_taken_modulo_32(scales, want):
    """What the wheel of TensorFlow Lite Micro of 2026-10-23 gives on x86."""
    a, b, y = scales
    how = {"a_scale": a, "a_zero_point": 0, "b_scale": b, "b_zero_point": 0, "y_scale": y, "y_zero_point": 0}
    got = tflite.squared_difference(A, B, **how, kernel="tflm")
    np.testing.assert_array_equal(got, np.int16(want))


def test_a_ratio_beyond_every_multiplier_is_refused():
    how = {"a_scale": 1.0, "a_zero_point": 0, "b_scale": 2.0**60, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    with pytest.raises(ValueError, match=r"^a_scale, b_scale, y_scale: .* beyond a multiplier"):
        tflite.squared_difference(A, B, **how, kernel="tflm")
