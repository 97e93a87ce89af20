"""A small network of QLinear operators in an .onnx file: convolutions, a residual sum, a product, dense layers."""

import numpy as np
from onnx import TensorProto
from onnx_networks import Network

F32 = np.float32


def model(seed=0):
    """The model; its input is uint8, (1, 3, 8, 8)."""
    draw, net = np.random.default_rng(seed), Network()

    def both(scale, zero, dtype=np.uint8):
        return net.constant(F32(scale)), net.constant(dtype(zero))

    def weights(shape, dtype, zero, scales):
        info = np.iinfo(dtype)
        codes = draw.integers(info.min + 1, info.max, shape, endpoint=True).astype(dtype)
        return net.constant(codes), net.constant(F32(scales)), net.constant(np.full(np.shape(scales), zero, dtype))

    def bias(count):
        return net.constant(draw.integers(-900, 900, count).astype(np.int32))

    x = net.input((1, 3, 8, 8), TensorProto.UINT8)
    each = draw.uniform(0.003, 0.02, 6)
    how = {"pads": [1, 1, 1, 1], "strides": [2, 2]}
    first, second, total, product = both(0.06, 100), both(0.1, 90), both(0.12, 95), both(0.3, 95)
    y = net.node(
        "QLinearConv", x, *both(1 / 127, 120), *weights((6, 3, 3, 3), np.int8, 0, each), *first, bias(6), **how
    )
    z = net.node("QLinearConv", y, *first, *weights((6, 3, 1, 1), np.uint8, 127, 0.01), *second, group=2)
    s = net.node("QLinearAdd", y, *first, z, *second, *total, domain="com.microsoft")
    m = net.node("QLinearMul", s, *total, z, *second, *product, domain="com.microsoft")
    flat, scores = net.node("Flatten", m), both(2.0, 128)
    dense = weights((10, 96), np.int8, 0, draw.uniform(0.003, 0.02, 10))
    g = net.node("QGemm", flat, *product, *dense, bias(10), *scores, domain="com.microsoft", transB=1)
    h = net.node("QLinearMatMul", g, *scores, *weights((10, 5), np.uint8, 130, 0.02), *both(4.0, 120))
    return net.model(h, dtype=TensorProto.UINT8)


def file(path, seed=0):
    """Write the network, and give an input."""
    path.write_bytes(model(seed).SerializeToString())
    return np.random.default_rng(seed + 1).integers(0, 256, (1, 3, 8, 8)).astype(np.uint8)
