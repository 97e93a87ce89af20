"""Calls of `qops.rules` that repeat their numbers: as quick as they may be, never with numbers that are not theirs."""

import numpy as np
import pytest

from qops import rules

X = np.arange(-3000, 3000, 7, np.int32)
A, B = np.arange(200, dtype=np.uint8), np.arange(200, dtype=np.uint8)[::-1].copy()
HOW = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 1}


def test_scales_that_change_in_place_are_read_again():
    acc, scales = np.tile(X, (2, 1)).T.copy(), np.array([0.01, 0.02])
    before = [rules.requantize(acc, "rndnu", scale=scales) for _ in range(2)]
    scales[1] = 0.04
    after = [rules.requantize(acc, "rndnu", scale=scales) for _ in range(2)]
    for found in after:
        np.testing.assert_array_equal(found[:, 0], before[1][:, 0])
        np.testing.assert_array_equal(found[:, 1], rules.requantize(acc[:, 1], "rndnu", scale=0.04))


@pytest.mark.parametrize("rule", ["tflite-double", "rndnu", "fp32-even", "double-away", "rndnu16"])
def test_the_second_call_is_as_the_first(rule):
    acc, scales = X[: len(X) // 4 * 4].reshape(-1, 4), np.array([0.01, 0.02, 0.03, 0.5])
    for dtype in (np.int8, np.dtype("uint8"), np.int16, "int8"):
        for zero in (0, 5, 0):
            for how in ({"scale": 0.0123}, {"scale": scales}, {"scale": np.float64(0.0123)}, {"scale": scales[::-1]}):
                first, second = (
                    rules.requantize(acc, rule, zero_point=zero, dtype=dtype, qmax=100, **how) for _ in range(2)
                )
                fresh = rules.requantize(acc.tolist(), rule, zero_point=zero, dtype=dtype, qmax=100, **how)
                np.testing.assert_array_equal(first, fresh)
                np.testing.assert_array_equal(second, fresh)
                assert second.dtype == fresh.dtype


def test_axes_shapes_and_layouts_are_those_of_the_call():
    acc, scales = X[:64].reshape(8, 8), np.geomspace(0.01, 0.5, 8)
    for _ in range(2):
        rows = rules.requantize(acc, "fp32-even", scale=scales, axis=0)
        columns = rules.requantize(acc, "fp32-even", scale=scales)
        np.testing.assert_array_equal(rows, rules.requantize(acc.T, "fp32-even", scale=scales).T)
        out = np.empty((8, 16), np.int8)[:, ::2]
        np.testing.assert_array_equal(rules.requantize(acc, "fp32-even", scale=scales, out=out), columns)
        with pytest.raises(ValueError, match=r"^scale: 8 of them do not fit axis -1 of acc, shape \(16, 4\)"):
            rules.requantize(acc.reshape(16, 4), "fp32-even", scale=scales)
        with pytest.raises(ValueError, match=r"^axis: "):
            rules.requantize(acc, "fp32-even", scale=0.5, axis=64)


def test_what_equals_a_known_number_is_refused_as_ever():
    rules.requantize(X, "rndnu", scale=0.5, zero_point=1)
    rules.requantize(X, "rndnu", integers=(1, 1))
    rules.add(A, B, "xnnpack", **HOW)
    for wrong, name in (({"zero_point": True}, "zero_point"), ({"zero_point": 1.0}, "zero_point")):
        with pytest.raises(TypeError, match=f"^{name}: "):
            rules.requantize(X, "rndnu", **{"scale": 0.5, "zero_point": 1} | wrong)
        with pytest.raises(TypeError, match=r"^y_zero_point: "):
            rules.add(A, B, "xnnpack", **HOW | {"y_zero_point": wrong["zero_point"]})
    for more in ({"in_zero_point": False}, {"axis": 0.0}, {"qmin": False}):
        with pytest.raises(TypeError, match=f"^{next(iter(more))}: "):
            rules.requantize(X, "rndnu", scale=0.5, zero_point=1, **more)
    with pytest.raises(ValueError, match=r"^scale, integers: "):
        rules.requantize(X, "rndnu", scale=0.5, integers=(1, 1), zero_point=1)
    with pytest.raises(ValueError, match=r"^out: shares memory"):
        rules.add(A, B, "xnnpack", **HOW, out=B)


def test_more_kinds_of_calls_than_are_kept_stay_right():
    for turn in range(2):
        for zero in range(300):
            got = rules.requantize(X[:3], "tflite-double", scale=1.0, zero_point=zero, dtype=np.int32)
            assert got.tolist() == (X[:3] + zero).tolist(), turn


def test_quantize_refuses_nan_and_odd_numbers_at_the_second_call_too():
    x, out = np.linspace(-3, 3, 99, dtype=np.float32), np.full(99, 7, np.uint8)
    want = rules.quantize(x.tolist(), "inv-even", scale=0.1, zero_point=3)
    for _ in range(2):
        np.testing.assert_array_equal(rules.quantize(x, "inv-even", scale=0.1, zero_point=3), want)
        with pytest.raises(ValueError, match=r"^x: has NaN"):
            rules.quantize(np.float32([1, np.nan] * 49 + [0]), "inv-even", scale=0.1, zero_point=3, out=out)
        assert (out == 7).all()
        with pytest.raises(TypeError, match=r"^zero_point: "):
            rules.quantize(x, "inv-even", scale=0.1, zero_point=3.0)
        with pytest.raises(TypeError, match=r"^out: "):
            rules.quantize(x, "inv-even", scale=0.1, zero_point=3, out=out.astype(np.int8))
