"""Numbers of ONNX layers: how far a bias's own scale may be off for onnxruntime to fuse it, and a Gemm's alpha."""

import numpy as np
import pytest
from onnx_networks import Network

F32 = np.float32


def convolution(x_scale, w_scale, bias_scale):
    """A convolution between pairs, whose bias has a scale of its own."""
    net = Network()
    x = net.both(net.input([1, 2, 3, 3]), x_scale, np.uint8(128))
    w = net.dequantize(net.constant(np.int8([[[[3]], [[4]]]])), w_scale, np.int8(0))
    bias = net.dequantize(net.constant(np.int32([7])), bias_scale, np.int32(0))
    return net.model(net.both(net.node("Conv", x, w, bias), 1.0, np.uint8(128)))


@pytest.mark.parametrize(
    ("x_scale", "w_scale", "bias_scale", "fuses"),
    [
        (0.5, 0.5, 0.25, True),
        (0.5, 0.5, 0.252475, True),
        (0.5, 0.5, 0.252525, False),
        (0.5, 0.5, 0.247525, True),
        (0.5, 0.5, 0.247475, False),
        (1e-4, 1e-3, 1.0e-6, True),
        (1e-4, 1e-3, 1.2e-6, False),
    ],
)
def test_a_bias_is_fused_within_1_percent_or_1e_6_of_its_scale(load, x_scale, w_scale, bias_scale, fuses):
    """As onnxruntime 1.32.0 fuses these files, which its optimised model shows."""
    graph = load(convolution(x_scale, w_scale, bias_scale), "ort")
    assert ("QLinearConv" in [op.kind for op in graph.ops]) == fuses


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.3])
def test_alpha_of_a_gemm_is_in_the_numbers_of_its_layer(load, alpha):
    rng, net = np.random.default_rng(0), Network()
    x, scale = net.both(net.input([None, 8]), 0.25, np.uint8(128)), F32([0.5, 0.25, 0.75])
    w = net.constant(rng.integers(-90, 90, (3, 8)).astype(np.int8))
    codes = net.quantize(x, 0.25, np.uint8(128))
    both = (codes, net.constant(F32(0.25)), net.constant(np.uint8(128)))
    weights = (w, net.constant(scale), net.constant(np.int8([0, 0, 0])))
    numbers = ("", net.constant(F32(8.0)), net.constant(np.uint8(120)))
    y = net.node("QGemm", *both, *weights, *numbers, domain="com.microsoft", transB=1, alpha=alpha)
    graph = load(net.model(net.dequantize(y, 8.0, np.uint8(120))), "ort")
    op = next(op for op in graph.ops if op.kind == "QGemm")
    data = rng.integers(0, 256, (50, 8)).astype(np.uint8)
    np.testing.assert_array_equal(op.layer.numbers["w_scale"], (scale * F32(alpha)).astype(np.float64))
    got = op.layer.requantize(op.layer.sums(data, op.layer.bias).astype(np.int32))
    np.testing.assert_array_equal(got, op.call(data)[0])


def test_the_slope_that_a_leaky_relu_leaves_out_is_a_float32(load, rng):
    x = rng.normal(0, 100, 1000).astype(F32)
    net = Network()
    (found,) = load(net.model(net.node("LeakyRelu", net.input([1000])))).run(x).values()
    assert np.array_equal(found, np.where(x >= 0, x, x * F32(0.01)))
    assert not np.array_equal(found, np.where(x >= 0, x, (x.astype(float) * 0.01).astype(F32))), "0.01 in double"
