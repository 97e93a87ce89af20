"""`quantized_mul` on all code pairs against Python's integers, its broadcasting, bad input."""

import numpy as np
import pytest
import reference_tensorflow as twin
from ops import on_every_tier
from qops._kernels.stage.mul import multiply

from qops.tensorflow import quantized_mul

X, Y = (codes.astype(np.uint8) for codes in np.divmod(np.arange(65536), 256))
RANGES = [(-1, 1), (-6.5, 6.5), (0, 6), (-3, 0), (0, 1e-6), (2.5, 7.25), (-9, -4.5), (-12.625, 3.3), (1e6, 1e6 + 1)]
RANGES += [(127.5, 128.5), (128.0, 129.0), (-128.0, -127.0)]  # zeros at both ends of 16 bits
R, S = (-1.0, 1.0), (-12.625, 3.3)


def zero(lo, hi):
    return twin.float_to_quantized(0, np.float32(lo), np.float32(hi), np.uint8)


def wrapped(z):
    return (z + 2**31) % 2**32 - 2**31


def max_of(a, b):
    steps = [np.float32(np.float32(hi) - np.float32(lo)) / np.float32(255) for lo, hi in (a, b)]
    return steps[0] * steps[1] * np.float32(2**31)


@pytest.mark.parametrize("x_range", RANGES)
def test_matches_exact_products_of_all_code_pairs(x_range):
    for y_range in RANGES:
        z = on_every_tier(quantized_mul, (X, *x_range), (Y, *y_range))
        want = wrapped((X.astype(np.int64) - zero(*x_range)) * (Y.astype(np.int64) - zero(*y_range)))
        np.testing.assert_array_equal(z.data, want.astype(np.int32))
        assert (z.min, z.max) == (-max_of(x_range, y_range), max_of(x_range, y_range))


@pytest.mark.parametrize("offsets", [(0, 0), (32768, -32512), (32769, 7), (7, -32513), (-(2**31), 2**31 - 1)])
@pytest.mark.parametrize("shift", [0, 7])
def test_offsets_and_shift_of_the_kernel(offsets, shift):
    out = np.empty(X.shape, np.int32)
    on_every_tier(multiply, X, offsets[0], Y, offsets[1], shift, out)
    want = wrapped((X.astype(object) - offsets[0]) * (Y.astype(object) - offsets[1]) << shift)
    np.testing.assert_array_equal(out, want.astype(np.int32))


def test_a_column_is_repeated_along_the_flat_index():
    z = quantized_mul((np.ones((2, 3), np.uint8), 0.0, 255.0), (np.uint8([[1], [7]]), 0.0, 255.0))
    assert z.data.tolist() == [[1, 7, 1], [7, 1, 7]]
    row = quantized_mul((np.uint8([2, 3, 4]), 0.0, 255.0), (np.ones((2, 3), np.uint8), 0.0, 255.0))
    assert row.data.tolist() == [[2, 3, 4]] * 2


@pytest.mark.parametrize("shape", [(0,), (2, 0), ()])
def test_scalars_and_no_elements(shape):
    z = quantized_mul((np.full(shape, 9, np.uint8), 0.0, 255.0), (np.uint8(7), 0.0, 255.0))
    np.testing.assert_array_equal(z.data, np.full(shape, 63, np.int32), strict=True)


A, B = np.zeros((2, 3), np.uint8), np.zeros(3, np.uint8)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ((A, 1.0, 1.0), (B, *R), "x: max_x must be larger than min_x, got min 1.0, max 1.0"),
        ((A, *R), (B, 1.0, 0.0), "y: max_y must be larger than min_y"),
        ((A, np.nan, 1.0), (B, *R), "x min: nan"),
        ((A, *R), (B, 0.0, [1.0]), "y max: must be rank 0 but is rank 1"),
        ((A, *R), (B, 0.0, 1e-37), "y min, y max: the range .* steps too small"),
        ((A, 0.0, 1e20), (B, 0.0, 1e20), "x, y: the product of the ranges .* is beyond float32"),
        ((A, *R), (B[:2], *R), r"x, y: Incompatible shapes: \[2,3\] vs. \[2\]"),
        ((A[:, :1], *R), (B, *R), r"x, y: Broadcast between \[2,1\] and \[3\] is not supported"),
        ((A[:0], *R), (B, *R), r"x, y: vector must have at least 1 element, got shapes \[0,3\] and \[3\]"),
        ((A, *R), (B.astype(np.int8), *R), "y: expected uint8 data, got int8"),
    ],
)
def test_rejects(x, y, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        quantized_mul(x, y)


def test_a_step_that_is_the_smallest_normal_number_stays():
    """Steps of 1 and 2**-63 in both: their product is 2**-126, which TensorFlow does not flush."""
    t = np.uint8([3]), 0.0, 255 * 2.0**-63
    z = quantized_mul(t, t)
    assert (z.min, z.max, z.data.item()) == (-(2.0**-95), 2.0**-95, 9)
    less = np.uint8([3]), 0.0, 255 * 2.0**-64
    assert quantized_mul(t, less).max == 0


def test_an_end_below_the_normal_numbers_is_0():
    """As TensorFlow 2.21 gives it."""
    x, y = (np.uint8([0, 255]), -3.048568e-32, 3.74863e-39), (np.uint8([255, 0]), -1.0, 1.0)
    z = quantized_mul(x, y)
    assert np.float32(z.min) == np.float32(-2.01361e-27)
    assert z.min == quantized_mul((x[0], x[1], 0.0), y).min != -max_of(x[1:], R)
    same = quantized_mul((x[0], x[1], 0.0), y)
    np.testing.assert_array_equal(z.data, same.data)
