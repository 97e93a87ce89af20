"""`qops.rules.accumulate`: exact sums of 16 by 8 bits, beside Python's own, and what a layer of 16x8 makes of them."""

import numpy as np
import pytest

from qops import rules, tflite


@pytest.mark.parametrize("w_type", [np.int8, np.uint8])
@pytest.mark.parametrize("x_type", [np.int16, np.int8, np.uint8])
def test_sums_are_exact(tier, rng, x_type, w_type):
    x_ends, w_ends = np.iinfo(x_type), np.iinfo(w_type)
    for shape, n in (((5, 37), 9), ((2, 3, 64), 70), ((300,), 1), ((3, 1), 4)):
        x = rng.choice([x_ends.min, x_ends.max, 0, 1, -1 if x_ends.min else 2], shape).astype(x_type)
        w = rng.integers(w_ends.min, w_ends.max + 1, (shape[-1], n)).astype(w_type)
        bias = rng.integers(-(2**40), 2**40, n)
        for zx, zw in ((0, 0), (9, 0), (-7, 3)):
            want = (x.astype(np.int64) - zx) @ (w.astype(np.int64) - zw) + bias
            how = {"x_zero_point": zx, "w_zero_point": zw}
            np.testing.assert_array_equal(rules.accumulate(x, w, bias, **how, num_threads=2), want)
            narrow = rules.accumulate(x, w, bias, **how, dtype="int32")
            np.testing.assert_array_equal(narrow, want.astype(np.int32))
            op, out = rules.Accumulate(w, bias, **how), np.zeros(want.shape[::-1], np.int64).T
            assert op(x, out) is out
            np.testing.assert_array_equal(out, want)


def test_sums_that_int32_does_not_hold():
    k = 70_001
    x, w = np.full((1, k), -32768, np.int16), np.full((k, 2), -128, np.int8)
    assert rules.accumulate(x, w).tolist() == [[32768 * 128 * k] * 2]
    assert rules.accumulate(np.full((1, k), 255, np.uint8), np.full((k, 1), 255, np.uint8)).item() == 255 * 255 * k


def test_they_are_the_sums_of_a_layer_of_tflite(rng):
    x, w = rng.integers(-32768, 32768, (6, 50)).astype(np.int16), rng.integers(-127, 128, (8, 50)).astype(np.int8)
    bias = rng.integers(-(2**33), 2**33, 8)
    acc = rules.accumulate(x, w.T, bias)
    mine = rules.requantize(acc, "tflite-int64acc", scale=0.01 * 0.02 / 40.0, dtype="int16")
    how = {"x_scale": 0.01, "x_zero_point": 0, "w_scale": 0.02, "y_scale": 40.0, "y_zero_point": 0, "kernel": "tflm"}
    np.testing.assert_array_equal(mine, tflite.fully_connected(x, w, bias, **how))
    assert len(np.unique(mine)) > 20


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"x": np.zeros((2, 3))}, "x: expected int16, int8, uint8"),
        ({"w": np.zeros((3, 4), np.int16)}, "w: expected int8, uint8"),
        ({"w": np.zeros(3, np.int8)}, r"w: expected \(K, N\)"),
        ({"w": np.zeros((4, 4), np.int8)}, "x, w: shapes"),
        ({"bias": np.zeros(3, np.int64)}, "bias: expected one value a column of w"),
        ({"bias": np.zeros(4)}, "bias: expected int32, int64"),
        ({"x_zero_point": 0.5}, "x_zero_point: "),
        ({"dtype": "int16"}, "dtype: expected int32, int64, got 'int16'"),
        ({"num_threads": 0}, "num_threads: "),
        ({"out": np.zeros((2, 4), np.int32)}, "out: "),
    ],
)
def test_bad_input_is_named(change, text):
    how = {"x": np.zeros((2, 3), np.int16), "w": np.zeros((3, 4), np.int8)} | change
    with pytest.raises((ValueError, TypeError), match=f"^{text}"):
        rules.accumulate(**how)
