"""onnxruntime: one-op models."""

import numpy as np

from benchmarks import layers, onnx, pools, products
from benchmarks.case import Candidate, blank, shared
from benchmarks.cases import STEP, A, B, C
from benchmarks.frontdoor import PRODUCT
from benchmarks.peers import onnxruntime_convolutions
from benchmarks.peers.onnxruntime_session import bound, parameters

ONE_STEP = 1.01  # its QLinearAdd dequantizes and rounds in float32; one step where a tie falls otherwise


def elementwise(op, output):
    """Give a maker for an op of two tensors with the steps of A and B; the steps of its output are `output`."""

    def make(a, b):
        out = shared(a.size, np.uint8)
        node = (op, ["a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "c_scale", "c_zero"], ["c"])
        constants = parameters("a", *A) | parameters("b", *B) | parameters("c", *output)
        return Candidate(bound([node], constants, {"a": a, "b": b}, {"c": out}), lambda: out, ONE_STEP)

    return make


def quantize(x):
    """QuantizeLinear."""
    out = shared(x.size, np.uint8)
    node = ("QuantizeLinear", ["x", "c_scale", "c_zero"], ["c"])
    return Candidate(bound([node], parameters("c", *A), {"x": x}, {"c": out}), lambda: out, 0.51)


def dequantize(a):
    """DequantizeLinear."""
    out = shared(a.size, np.float32)
    node = ("DequantizeLinear", ["a", "a_scale", "a_zero"], ["y"])
    return Candidate(bound([node], parameters("a", *A), {"a": a}, {"y": out}), lambda: out, 2**-20)


def requantize(x):
    """DequantizeLinear, QuantizeLinear."""
    out = shared(x.size, np.uint8)
    nodes = [("DequantizeLinear", ["x", "x_scale"], ["y"]), ("QuantizeLinear", ["y", "c_scale", "c_zero"], ["c"])]
    constants = {"x_scale": np.array(STEP, np.float32)} | parameters("c", *A)
    return Candidate(bound(nodes, constants, {"x": x}, {"c": out}), lambda: out, 0.51)


def min_max(x):
    """ReduceMin and ReduceMax."""
    low, high = blank(1, np.int32), blank(1, np.int32)
    nodes = [("ReduceMin", ["x"], ["low"]), ("ReduceMax", ["x"], ["high"])]
    run = bound(nodes, {}, {"x": x}, {"low": low, "high": high})
    return Candidate(run, lambda: np.concatenate([low, high]), 0)


def product(a, b):
    """MatMulInteger, both factors as inputs."""
    out = shared(len(a) * b.shape[1], np.int32).reshape(len(a), -1)
    run = bound([("MatMulInteger", ["a", "b"], ["c"])], {}, {"a": a, "b": b}, {"c": out})
    return Candidate(run, lambda: out, 0)


def packed_product(a, b, **zero_points):
    """MatMulInteger with a constant, which it packs beforehand."""
    out = shared(len(a) * b.shape[1], np.int32).reshape(len(a), -1)
    run = bound([("MatMulInteger", ["a", "b", *zero_points], ["c"])], {"b": b, **zero_points}, {"a": a}, {"c": out})
    return Candidate(run, lambda: out, 0)


def centred_product(a, b):
    """MatMulInteger with a constant and a zero point of `a`."""
    return packed_product(a, b, a_zero=np.array(onnx.X_ZERO, np.uint8))


def product_codes(a, b):
    """QLinearMatMul with a constant, which it packs beforehand."""
    out = shared(a.size, np.uint8).reshape(a.shape)
    constants = {"b": b, "b_scale": onnx.w_scales(b.shape[1]), "b_zero": np.zeros(b.shape[1], np.int8)}
    constants |= parameters("a", onnx.X_SCALE, onnx.X_ZERO) | parameters("y", onnx.y_scale(len(b)), onnx.Y_ZERO)
    node = ("QLinearMatMul", ["a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"], ["y"])
    return Candidate(bound([node], constants, {"a": a}, {"y": out}), lambda: out, 0)


def layer(x, w):
    """QLinearMatMul with a constant of one scale."""
    out = shared(x.size, np.uint8).reshape(x.shape)
    constants = {
        "w": w,
        **parameters("x", *layers.X),
        **parameters("w", *layers.W),
        **parameters("y", *layers.result(w)),
    }
    node = ("QLinearMatMul", ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"], ["y"])
    return Candidate(bound([node], constants, {"x": x}, {"y": out}), lambda: out, ONE_STEP)


def windows(pool, x):
    """Give the attributes of a pool."""
    (top, bottom), (left, right) = pool.pads(x)
    return {"kernel_shape": [pool.taps] * 2, "strides": [pool.step] * 2, "pads": [top, left, bottom, right]}


def max_pool(pool):
    """MaxPool, of planes one after the other, as it takes no others."""

    def make(x):
        image, shape = np.ascontiguousarray(x.transpose(0, 3, 1, 2)), pool.shape(x)
        out = shared(int(np.prod(shape)), np.uint8).reshape(1, shape[3], *shape[1:3])
        node = ("MaxPool", ["x"], ["y"], windows(pool, x))
        return Candidate(bound([node], {}, {"x": image}, {"y": out}), lambda: out.transpose(0, 2, 3, 1), 0)

    return make


def avg_pool(pool):
    """QLinearAveragePool, with the channels of a pixel side by side."""

    def make(x):
        out = shared(int(np.prod(pool.shape(x))), np.uint8).reshape(pool.shape(x))
        node = ("QLinearAveragePool", ["x", "a_scale", "a_zero", "a_scale", "a_zero"], ["y"])
        run = bound([(*node, {"channels_last": 1, **windows(pool, x)})], parameters("a", *A), {"x": x}, {"y": out})
        return Candidate(run, lambda: out, ONE_STEP)

    return make


FORMS = {
    **{name: {"MaxPool": max_pool(pool)} for name, pool in pools.MAX_POOLS.items()},
    **{name: {"QLinearAveragePool": avg_pool(pool)} for name, pool in pools.AVG_POOLS.items()},
    "quantized_add_8p8to8": {"QLinearAdd": elementwise("QLinearAdd", C)},
    "quantized_mul_8x8to8": {"QLinearMul": elementwise("QLinearMul", PRODUCT)},
    "quantize": {"QuantizeLinear": quantize},
    "dequantize": {"DequantizeLinear": dequantize},
    "requantize_32to8": {"DequantizeLinear, QuantizeLinear": requantize},
    "requantization_range": {"ReduceMin, ReduceMax": min_max},
    **{key: {"MatMulInteger": product} for key in products.UNPACKED},
    **{key: {"MatMulInteger": packed_product} for key in products.PACKED},
    "onnx_matmul_integer": {"MatMulInteger": centred_product},
    layers.PRODUCT.name: {"QLinearMatMul": layer},
    "onnx_qlinear_matmul": {"QLinearMatMul": product_codes},
    **onnxruntime_convolutions.FORMS,
}
