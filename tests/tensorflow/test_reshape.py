"""`quantized_reshape`: the same codes, and shapes that TensorFlow refuses."""

import numpy as np
import pytest

from qops.tensorflow import quantized_reshape

CODES = np.arange(12, dtype=np.uint8)


@pytest.mark.parametrize("shape", [[3, 4], [-1], [2, -1, 3], [12, 1], np.int64([6, 2])])
def test_gives_the_same_codes_in_another_shape(shape):
    t = quantized_reshape((CODES, 2.0, -1.0), shape)
    np.testing.assert_array_equal(t.data, CODES.reshape(shape), strict=True)
    assert np.shares_memory(t.data, CODES)
    assert (t.min, t.max) == (2.0, -1.0)


def test_no_elements_and_no_axes():
    assert quantized_reshape((CODES[:0], 0.0, 1.0), [0, 3]).data.shape == (0, 3)
    assert quantized_reshape((CODES[:0], 0.0, 1.0), [-1, 3]).data.shape == (0, 3)
    assert quantized_reshape((CODES[:1], 0.0, 1.0), []).data.shape == ()


@pytest.mark.parametrize(
    ("shape", "error", "message"),
    [
        ([5, 2], ValueError, "Input to reshape is a tensor with 12 values, but the requested shape has 10"),
        ([5, -1], ValueError, "Input to reshape .* requires a multiple of 5"),
        ([-1, 3, -1], ValueError, "Only one input size may be -1, not both 0 and 2"),
        ([6, -2], ValueError, "Size 1 must be non-negative, not -2"),
        ([0, -1], ValueError, "cannot infer the missing size"),
        (12, TypeError, "expected a 1-D sequence of integers, got 12"),
        ([[3, 4]], TypeError, "expected a 1-D"),
        ([3.0, 4.0], TypeError, "expected a 1-D"),
        (None, TypeError, "expected an array"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shape, error, message):
    with pytest.raises(error, match=f"^shape: {message}"):
        quantized_reshape((CODES, 0.0, 1.0), shape)
