"""What takes sums to codes can be read off a prepared op, and gives its codes."""

import numpy as np
import pytest

from qops import onnx

F32 = np.float32
TYPES = [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")]


def numbers(rng, count):
    return F32(rng.uniform(0.01, 0.02)), (rng.uniform(0.01, 0.02, count).astype(F32) if count else F32(0.015)), F32(0.3)


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize(("data", "weights"), TYPES)
@pytest.mark.parametrize("count", [0, 5])
def test_a_convolution_is_its_sums_requantized(runtime, data, weights, count, rng):
    x = rng.integers(0, 100, (2, 3, 6, 7)).astype(data)
    w, bias = rng.integers(-50, 60, (5, 3, 2, 2)).astype(weights), rng.integers(-999, 999, 5).astype(np.int32)
    x_scale, w_scale, y_scale = numbers(rng, count)
    zeros = np.asarray(7, data), np.asarray(3, weights), np.asarray(11, data)
    op = onnx.QLinearConv(x_scale, zeros[0], w, w_scale, zeros[1], y_scale, zeros[2], bias, runtime=runtime)
    acc = onnx.conv_integer(x, w, zeros[0], zeros[1], runtime=runtime) + bias.reshape(-1, 1, 1)
    made = op.requantize(data)
    assert (made.rule, made.axis) == ({"onnx": "double-even-zp-inside", "ort": "fp32-even"}[runtime], 1)
    np.testing.assert_array_equal(made(acc), op(x), strict=True)


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize(("data", "weights"), TYPES)
@pytest.mark.parametrize("count", [0, 5])
def test_a_product_is_its_sums_requantized(runtime, data, weights, count, rng):
    a, b = rng.integers(0, 100, (4, 6)).astype(data), rng.integers(-50, 60, (6, 5)).astype(weights)
    a_scale, b_scale, y_scale = numbers(rng, count)
    op = onnx.QLinearMatMul(a_scale, np.asarray(7, data), b, b_scale, 3, y_scale, 11, runtime=runtime)
    acc = onnx.matmul_integer(a, b, np.asarray(7, data), np.asarray(3, weights), runtime=runtime)
    np.testing.assert_array_equal(op.requantize(data)(acc), op(a), strict=True)


@pytest.mark.parametrize(("data", "weights"), TYPES)
@pytest.mark.parametrize("count", [0, 5])
def test_a_gemm_is_its_sums_requantized(data, weights, count, rng):
    """With alpha first, as onnxruntime multiplies: float32 rounds a product in another order otherwise."""
    a, b = rng.integers(0, 100, (4, 6)).astype(data), rng.integers(-50, 60, (6, 5)).astype(weights)
    a_scale, b_scale, y_scale = numbers(rng, count)
    bias = rng.integers(-999, 999, 5).astype(np.int32)
    op = onnx.QGemm(a_scale, np.asarray(7, data), b, b_scale, np.asarray(3, weights), bias, y_scale, 11, alpha=0.7)
    acc = onnx.matmul_integer(a, b, np.asarray(7, data), np.asarray(3, weights), runtime="ort") + bias
    made = op.requantize(data)
    np.testing.assert_array_equal(np.ravel(made.scale), np.ravel(op.factor).astype(np.float64))
    np.testing.assert_array_equal(made(acc), op(a), strict=True)


def test_a_gemm_into_floats_has_none():
    op = onnx.QGemm(0.5, np.uint8(0), np.uint8([[1]]), 1.0, np.uint8(0))
    with pytest.raises(ValueError, match="y_zero_point: None, so the result is float32"):
        op.requantize()


def test_plain_zero_points_have_the_type_that_is_asked_for():
    op = onnx.QLinearMatMul(0.5, 0, np.int8([[1]]), 1.0, 0, 1.0, 1)
    assert [op.requantize(dtype).ends for dtype in ("uint8", "int8")] == [(0, 255), (-128, 127)]
