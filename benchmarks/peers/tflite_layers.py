"""The layers of MLPerf Tiny as .tflite files, which LiteRT and TFLite Micro run."""

import numpy as np

from benchmarks import mlperf_tiny as tiny
from qops.models import Operator, Tensor, tflite_bytes

KINDS = {"conv": "CONV_2D", "depthwise": "DEPTHWISE_CONV_2D", "dense": "FULLY_CONNECTED", "add": "ADD"}
RELU = 1
ONE_STEP = 1.01  # kernels in fixed point round elsewhere than XNNPACK


def tensor(name, x, scale, zero=0, axis=None, data=None):
    """Declare a tensor of the shape and type of an array."""
    steps = np.asarray(scale, np.float32)
    zeros = np.full(steps.shape, zero, np.int64)
    return Tensor(name, x.shape, x.dtype.name, steps, zeros, axis if steps.ndim else None, data)


def content(layer, x, w=None, bias=None, b=None):
    """Give the bytes of a file of one layer."""
    if layer.kind == "add":
        tensors = [tensor("a", x, *tiny.A), tensor("b", b, *tiny.B)]
        y, options, fed = tensor("y", x, *tiny.TOTAL), {}, tensors
    else:
        steps = tiny.scales(layer)
        axis = 3 if layer.kind == "depthwise" else 0
        weights, biases = tensor("w", w, steps, 0, axis, w), tensor("bias", bias, tiny.X[0] * steps, 0, 0, bias)
        tensors = [tensor("x", x, *tiny.X), weights, biases]
        y, fed = tensor("y", np.empty(tiny.summed(layer, x, w).shape, np.int8), *tiny.Y), tensors[:1]
        options = {} if layer.kind == "dense" else {"StrideH": layer.stride, "StrideW": layer.stride, "Padding": 0}
        options |= {} if layer.kind == "dense" else {"DilationHFactor": 1, "DilationWFactor": 1}
        options |= {"DepthMultiplier": layer.outputs // layer.channels} if layer.kind == "depthwise" else {}
    operator = Operator(KINDS[layer.kind], tensors, [y], {"FusedActivationFunction": RELU, **options}, [])
    return tflite_bytes([*tensors, y], [operator], fed, [y])


def forms(make):
    """Give the forms of all layers; ``make(content, arrays)`` gives the candidate of a file."""

    def of(layer):
        if layer.kind == "add":
            return lambda a, b: make(content(layer, a, b=b), [a, b])
        return lambda x, w, bias: make(content(layer, x, w, bias), [x])

    def whole(network):
        return lambda **arrays: tiny.one_by_one([(one, of(one)(**own)) for one, own in tiny.by_layer(network, arrays)])

    each = {layer.name: {KINDS[layer.kind]: of(layer)} for layer in tiny.LAYERS}
    return each | {tiny.whole(network).name: {"models of one layer": whole(network)} for network in tiny.NETWORKS}
