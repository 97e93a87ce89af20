"""`qops.nnlib.fuse`: which node runs, with which range; what is left as it is; how codes differ from unfused nodes."""

import numpy as np
import pytest

from qops import nnlib

CONV, DEPTHWISE, MATMUL = (f"Quantized{name}_8x8to32" for name in ("Conv2d", "DepthwiseConv2d", "MatMul"))


def bias_of(channels, dtype=np.int32):
    return np.zeros(channels, dtype), -1.0, 1.0


def fused(op, shape, images, stride=(1, 1), padding="VALID", dtype=np.int32, **words):
    w = np.zeros(shape, np.uint8), -1.0, 1.0
    channels = shape[2] if op == DEPTHWISE else shape[-1]
    return nnlib.fuse(op, w, bias_of(channels, dtype), stride, padding, shape=images, **words)


GIVEN = {"requantize": (-1.0, 1.0)}


@pytest.mark.parametrize(
    ("kind", "op", "shape", "images", "words"),
    [
        (nnlib.Supernode, CONV, (3, 3, 5, 8), (1, 9, 9, 5), {}),
        (nnlib.InputSupernode, CONV, (3, 3, 4, 8), (1, 9, 9, 4), {}),
        (nnlib.Supernode, CONV, (3, 3, 4, 8), (1, 9, 9, 4), {"channel_scale": np.full(8, 0.5)}),
        (nnlib.Supernode, CONV, (3, 3, 4, 8), (1, 9, 9, 4), {"stride": (5, 5)}),
        (nnlib.InputSupernode, CONV, (3, 3, 4, 8), (1, 9, 9, 4), {"channel_scale": 1.0}),
        (nnlib.Supernode3322, CONV, (3, 3, 2, 2), (1, 9, 9, 2), GIVEN),
        (nnlib.InputSupernode, CONV, (3, 3, 2, 2), (1, 9, 9, 2), {}),
        (nnlib.InputSupernode, CONV, (3, 3, 2, 2), (1, 9, 9, 2), GIVEN | {"stride": (2, 1)}),
        (nnlib.DepthwiseSupernode, DEPTHWISE, (3, 3, 8, 1), (1, 9, 9, 8), {}),
        (nnlib.SuperFC, CONV, (2, 3, 16, 16), (1, 2, 3, 16), {}),
        (nnlib.SuperFC, CONV, (1, 1, 32, 16), (1, 1, 1, 32), {"padding": "SAME"}),
        (nnlib.Supernode, CONV, (2, 3, 16, 16), (1, 2, 3, 16), {"padding": "SAME"}),
        (nnlib.Supernode, CONV, (2, 3, 16, 16), (2, 2, 3, 16), {}),
        (nnlib.Supernode, CONV, (2, 3, 16, 16), (1, 3, 3, 16), {}),
        (nnlib.Supernode, CONV, (2, 3, 16, 17), (1, 2, 3, 16), {}),
        (nnlib.Supernode, CONV, (1, 1, 16, 16), (1, 1, 1, 16), {}),
        (nnlib.Supernode, CONV, (2, 3, 16, 16), (1, 2, 3, 16), {"dtype": np.uint8}),
        (nnlib.SuperFC, MATMUL, (48, 32), (), {}),
    ],
)
def test_the_node_that_runs(kind, op, shape, images, words):
    assert type(fused(op, shape, images, **words)) is kind


@pytest.mark.parametrize(
    ("requantize", "activation", "ends"),
    [
        (None, None, (None, None)),
        ((-2.0, 3.0), None, (-2.0, 3.0)),
        (None, "QuantizedRelu_8", (0.0, None)),
        ((-2.0, 3.0), "QuantizedRelu_8", (0.0, 3.0)),
        ((-2.0, 3.0), ("QuantizedReluX_8", 6.0), (0.0, 6.0)),
        (None, ("QuantizedClamp_8", -1.0, 0.5), (-1.0, 0.5)),
    ],
)
def test_the_range_that_it_gets(requantize, activation, ends):
    node = fused(CONV, (1, 1, 5, 2), (1, 2, 2, 5), requantize=requantize, activation=activation)
    assert node._given == ends


def test_fused_codes_are_near_those_of_the_nodes_one_by_one_and_not_the_same():
    rng = np.random.default_rng(1)
    x, w = ((rng.integers(0, 256, s, np.uint8), -128 / 127, 1.0) for s in ((1, 8, 8, 16), (3, 3, 16, 8)))
    bias = rng.integers(-(2**26), 2**26, 8, np.int32), -64.0, 64.0
    node = nnlib.fuse(CONV, w, bias, shape=(1, 8, 8, 16), requantize=(-8.0, 8.0))
    sums = nnlib.quantized_bias_add_32p32to32(nnlib.quantized_conv2d_8x8to32(x, w, (1, 1), "VALID"), bias)
    one, other = node(x), nnlib.requantize_32to8(sums, -8.0, 8.0)
    far = np.abs(one.dequantize() - other.dequantize()).max() / (16 / 255)
    assert 0 < far < 1.6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nnlib.fuse(CONV, bias_of(1), None, shape=(1, 1, 1, 1)), "bias: nnlib fuses no nodes without one"),
        (
            lambda: fused("QuantizedAdd_8p8to8", (1, 1, 5, 2), (1, 2, 2, 5)),
            "op: expected one of QuantizedMatMul_8x8to32",
        ),
        (lambda: fused(DEPTHWISE, (3, 9, 8, 1), (1, 9, 9, 8)), "w: expected filters 3, 5 or 7 wide"),
        (lambda: fused(MATMUL, (48, 16), ()), "w: nnlib fuses a matmul of"),
        (lambda: fused(MATMUL, (40, 32), ()), "w: nnlib fuses a matmul of"),
        (
            lambda: fused(CONV, (1, 1, 5, 2), (1, 2, 2, 5), activation="Relu"),
            "activation: expected one of QuantizedRelu_8",
        ),
        (
            lambda: fused(CONV, (1, 1, 5, 2), (1, 2, 2, 5), activation=("QuantizedReluX_8",)),
            "activation: expected 1 numbers",
        ),
        (lambda: fused(CONV, (1, 1, 5, 2), (1, 2, 2, 5), requantize=(1.0, 2.0)), "guess_min: expected at most 0"),
        (lambda: fused(CONV, (1, 1, 5, 2), (1, 2, 5)), "shape: expected 4 integers"),
    ],
)
def test_refusals_are_named(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        call()
