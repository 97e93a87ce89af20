"""CONCATENATION: one scale for all tensors or one for each, and what does not fit."""

import numpy as np
import pytest
from equal import equal

from qops import tflite

Y = {"y_scale": 1.0, "y_zero_point": 5}
FIRST, SECOND = np.uint8([[0, 5, 255]]), np.uint8([[1, 2, 3], [250, 7, 6]])


def test_each_tensor_has_its_numbers_or_all_have_the_same():
    op = tflite.Concatenation(axis=-2, x_scale=[1.0, 0.5], x_zero_point=(5, 3), dtype="uint8", **Y)
    first, second = (
        tflite.concatenation([x], axis=0, x_scale=scale, x_zero_point=zero, **Y)
        for x, scale, zero in ((FIRST, 1.0, 5), (SECOND, 0.5, 3))
    )
    assert first is not FIRST
    equal(first, FIRST)
    assert second.tolist() == [[4, 4, 5], [129, 7, 7]]
    equal(op([FIRST, SECOND]), np.concatenate([first, second]))
    same = tflite.Concatenation(axis=0, x_scale=np.float32([0.5]), x_zero_point=3, dtype="uint8", **Y)
    for count in (1, 2, 3):
        equal(same([SECOND] * count), np.concatenate([second] * count))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"x_scale": [1.0, 0.5, 2.0], "x_zero_point": [3, 5]},
            "x_scale, x_zero_point: expected 1 or one",
        ),
        ({"x_scale": []}, "x_scale: expected at least 1 number"),
        ({"x_zero_point": [3, 256]}, "x_zero_point: "),
        ({"x_scale": [1.0, "2"]}, "x_scale: "),
        ({"dtype": "int8", "x_scale": [1.0, 0.5]}, "x_scale, x_zero_point: expected y_scale and y_zero_point, "),
        ({"activation": "RELU"}, "activation: expected 'NONE', got 'RELU'"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_when_the_op_is_made(changes, why):
    how = {"axis": 0, "x_scale": 1.0, "x_zero_point": 5, "dtype": "uint8"} | Y | changes
    with pytest.raises((TypeError, ValueError), match=f"^{why}"):
        tflite.Concatenation(**how)


@pytest.mark.parametrize(
    ("tensors", "why"),
    [
        ([FIRST], "tensors: expected 2, as many as there are scales, got 1"),
        ([FIRST, SECOND.astype(np.int8)], "tensors: "),
        ([FIRST, SECOND[:, :2]], "tensors: expected shapes that differ along axis 0, got"),
        ([FIRST, SECOND[0]], "tensors: expected shapes that differ along axis 0, got"),
        ([np.uint8(1), np.uint8(2)], "tensors: expected shapes"),
        (FIRST, "tensors: expected a list of arrays, got ndarray"),
        ([], "tensors: expected a list of arrays, got an empty one"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(tensors, why):
    op = tflite.Concatenation(axis=0, x_scale=[1.0, 0.5], x_zero_point=5, dtype="uint8", **Y)
    with pytest.raises((TypeError, ValueError), match=f"^{why}"):
        op(tensors)
    with pytest.raises((TypeError, ValueError), match=r"^tensors|^x_scale"):
        tflite.concatenation(tensors, axis=0, x_scale=[1.0, 0.5], x_zero_point=5, **Y)
