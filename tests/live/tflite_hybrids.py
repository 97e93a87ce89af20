"""Random layers of float data and int8 weights, whose data become codes as the layer runs."""

import numpy as np
from draws import length, pick
from tflite_layers import window
from tflite_net import CHANNELS, activation

KERNELS = ("reference", "optimized", "xnnpack", "xnnpack_avx2")
"""Those whose arithmetic is known, on x86."""


def floats(net, shape):
    """Data of rows of different ranges, some of them with ties, or 0 alone."""
    rng = net.rng
    spread = pick(rng, [0.01, 1, 50, 1e6]) * rng.uniform(0.5, 2, (shape[0], *(1,) * (len(shape) - 1)))
    x = rng.normal(0, 1, shape) * spread + pick(rng, [0, 0, 2, -3])
    x = np.rint(2 * x) / 2 if rng.random() < 0.3 else x
    x[0] *= rng.random() > 0.05
    made = net.tensor("float32", shape=shape)
    net.fed[made.name] = x.astype(np.float32)
    return made


def weights(net, shape, axis, each):
    """Weights with a scale for `each` channel along the axis, or one scale."""
    w = net.rng.integers(-127, 128, shape).astype(np.int8)
    s = net.rng.uniform(0.001, 0.01, shape[axis] if each else ()).astype(np.float32)
    return net.constant(w, s, axis=axis if each else None)


def bias(net, count):
    return net.constant(net.rng.normal(0, 1, count).astype(np.float32))


def connected(net):
    rng, count = net.rng, int(pick(net.rng, CHANNELS[1:]))
    x = floats(net, (int(rng.integers(1, 6)), int(length(rng, 70))))
    w = weights(net, (count, x.shape[1]), 0, rng.random() < 0.5)
    more = [bias(net, count)] if rng.random() < 0.8 else [None]
    options = {**activation(rng), "AsymmetricQuantizeInputs": bool(rng.integers(2))}
    net.op("FULLY_CONNECTED", [x, w, *more], net.tensor("float32"), **options)


def convolved(net):
    rng = net.rng
    x = floats(net, (*(int(n) for n in rng.integers(3, 9, 3)), int(pick(rng, CHANNELS))))
    taps, moves = window(rng, x)
    options = {**moves, **activation(rng), "DilationHFactor": 1, "DilationWFactor": 1}
    if rng.random() < 0.5:
        groups = int(pick(rng, [n for n in (1, 1, 1, 2, 3, 4, 8, x.shape[3]) if x.shape[3] % n == 0]))
        count = int(pick(rng, CHANNELS[1:])) * groups
        w = weights(net, (count, *taps, x.shape[3] // groups), 0, rng.random() < 0.5)
        kind = "CONV_2D"
    else:
        options["DepthMultiplier"] = int(rng.integers(1 + (x.shape[3] == 1), 4))
        count = x.shape[3] * options["DepthMultiplier"]
        w, kind = weights(net, (1, *taps, count), 3, True), "DEPTHWISE_CONV_2D"
    net.op(kind, [x, w, bias(net, count)], net.tensor("float32"), **options)


def hybrid(net):
    """One layer."""
    (connected if net.rng.random() < 0.4 else convolved)(net)
