"""Random models of one operator without weights, such as sums, tables, reductions and what moves codes."""

from functools import partial

import draws
import numpy as np
from draws import codes, length, pick, values
from tflite_net import activation, scale, shape, zero_point

SIGMOID = {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)}
TANH = {"int8": (1 / 128, 0), "uint8": (1 / 128, 128), "int16": (1 / 32768, 0)}
LOG_SOFTMAX = {"int8": (16 / 256, 127), "uint8": (16 / 256, 255)}


def unary(kind, net, fixed=None, same=False, **options):
    """One tensor into one: of the scale that the operator demands, the same, or any."""
    x, rng = net.any(), net.rng
    if fixed and rng.random() < (0.5 if net.kernel.startswith("xnnpack") else 0.95):
        y = net.tensor(net.dtype, *fixed[net.dtype])
    elif same or rng.random() < 0.2:
        y = net.tensor(net.dtype, x.scale, x.zero_point)
    else:
        y = net.result(x.scale)
    net.op(kind, [x], y, **{name: draw(rng) for name, draw in options.items()})


def sigmoid(kind, net):
    """LOGISTIC and TANH: of int16 with the scales that have kernels of their own, and others."""
    rng = net.rng
    if net.x is None and net.dtype == "int16":
        s = pick(rng, [2.0**-12, 2.0**-11, 2.0**-10, scale(rng), rng.uniform(1e-5, 1e-3)])
        net.x = net.input(shape(rng), s=s, z=0)
        net.fed[net.x.name] = codes(rng, net.x.shape, np.int16)
    unary(kind, net, SIGMOID if kind == "LOGISTIC" else TANH)


def roots(kind, net):
    """SQRT and RSQRT, of codes from the zero point on."""
    x = net.x = net.input(shape(net.rng))
    least = int(x.zero_point) + (kind == "RSQRT")
    most = np.iinfo(net.dtype).max
    net.fed[x.name] = net.fed[x.name].astype(np.int64).clip(min(least, most), most).astype(net.dtype)
    steps = pick(net.rng, [1, 2, 3, 0.1, 0.25, float(net.rng.uniform(0.05, 4))])
    real = float(x.scale) ** (0.5 if kind == "SQRT" else -0.5)
    net.op(kind, [x], net.tensor(net.dtype, real * steps / 16, zero_point(net.rng, net.dtype)))


def pair(kind, net, same=False, activated=True):
    """Two tensors of one shape, or that broadcast."""
    rng, a = net.rng, net.any()
    other = [n if rng.random() < 0.6 else 1 for n in a.shape] if rng.random() < 0.3 else a.shape
    if same or rng.random() < 0.2:
        b = net.input(tuple(other), s=a.scale, z=a.zero_point)
    else:
        b = net.second(tuple(other), draws.result_scale(rng, float(a.scale)), zero_point(rng, net.dtype))
    both = [a.scale, b.scale] if kind in ("MUL", "SQUARED_DIFFERENCE") else [max(a.scale, b.scale)]
    y = net.tensor(net.dtype, a.scale, a.zero_point) if same else net.result(*both)
    options = activation(rng) if activated else {}
    if kind in ("ADD", "SUB"):
        options["PotScaleInt16"] = bool(rng.random() < 0.5)
    net.op(kind, [a, b] if rng.random() < 0.7 else [b, a], y, **options)


def reduced(kind, net, same=False):
    x, rng = net.any(), net.rng
    axes = rng.choice(len(x.shape), int(rng.integers(1, len(x.shape) + 1)), replace=False).astype(np.int32)
    if len(x.shape) == 4 and rng.random() < 0.4:
        axes = np.int32([1, 2])
    y = net.tensor(net.dtype, x.scale, x.zero_point) if same or rng.random() < 0.2 else net.result(x.scale)
    net.op(kind, [x, net.constant(axes)], y, KeepDims=bool(rng.random() < 0.5))


def prelu(net):
    x, rng = net.image(), net.rng
    alpha = codes(rng, (1, 1, x.shape[3]), np.dtype("uint8" if net.dtype == "uint8" else "int8").type)
    a = net.constant(alpha, scale(rng), 0 if net.dtype == "int16" else zero_point(rng, alpha.dtype))
    net.op("PRELU", [x, a], net.result(x.scale))


def concatenated(net):
    x, rng = net.any(), net.rng
    axis = int(rng.integers(-len(x.shape), len(x.shape)))
    parts = [x]
    for _ in range(int(rng.integers(1, 4))):
        size = list(x.shape)
        size[axis] = int(length(rng, 33))
        other = net.dtype == "uint8" and rng.random() < 0.6
        parts.append(net.input(tuple(size), **({} if other else {"s": x.scale, "z": x.zero_point})))
    y = (
        net.result(x.scale)
        if net.dtype == "uint8" and rng.random() < 0.5
        else net.tensor(net.dtype, x.scale, x.zero_point)
    )
    net.op("CONCATENATION", parts, y, Axis=axis, FusedActivationFunction=0)


def padded(kind, net):
    x, rng = net.any(), net.rng
    pads = rng.integers(0, 3, (len(x.shape), 2)).astype(np.int32)
    more = [net.constant(codes(rng, (1,), np.dtype(net.dtype).type), x.scale, x.zero_point)] if kind == "PADV2" else []
    net.op(kind, [x, net.constant(pads), *more], net.tensor(net.dtype, x.scale, x.zero_point))


def resized(kind, net):
    x, rng = net.image(), net.rng
    corners, half = bool(rng.random() < 0.4), bool(rng.random() < 0.4)
    size = net.constant(rng.integers(1, 14, 2).astype(np.int32))
    net.op(kind, [x, size], net.tensor(net.dtype, x.scale, x.zero_point), AlignCorners=corners, HalfPixelCenters=half)


def softmax(net):
    x, rng = net.any(), net.rng
    beta = pick(rng, [1.0, 1.0, 0.5, float(rng.uniform(0.1, 4))])
    wide = net.dtype == "int8" and rng.random() < 0.2
    y = net.tensor("int16", 2.0**-16, -32768) if wide else net.tensor(net.dtype, *SIGMOID[net.dtype])
    net.op("SOFTMAX", [x], y, Beta=beta)


def quantize(net):
    rng = net.rng
    source = pick(rng, ["float32", "int8", "int16", "uint8", "int32"])
    if source == "float32":
        s = scale(rng)
        size = shape(rng)
        x = net.tensor("float32", shape=size)
        net.fed[x.name] = values(rng, size, s)
        y = net.tensor(net.dtype, s, zero_point(rng, net.dtype))
    else:
        x = net.input(shape(rng), source, scale(rng), zero_point(rng, source))
        if source == "int32":
            net.fed[x.name] = codes(rng, x.shape, np.int32, 0)
        y = net.result(x.scale) if rng.random() < 0.9 else net.tensor(net.dtype, x.scale, 0)
    net.op("QUANTIZE", [x], y)


def dequantize(net):
    x = net.any()
    net.op("DEQUANTIZE", [x], net.tensor("float32"))


DRAWN = {
    **{kind: partial(pair, kind) for kind in ("ADD", "SUB", "MUL")},
    "SQUARED_DIFFERENCE": partial(pair, "SQUARED_DIFFERENCE", activated=False),
    **{kind: partial(pair, kind, same=True, activated=False) for kind in ("MAXIMUM", "MINIMUM")},
    **{kind: partial(reduced, kind) for kind in ("MEAN", "SUM")},
    **{kind: partial(reduced, kind, same=True) for kind in ("REDUCE_MAX", "REDUCE_MIN")},
    **{
        kind: partial(unary, kind)
        for kind in ("ABS", "ELU", "EXP", "LOG", "HARD_SWISH", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")
    },
    "NEG": partial(unary, "NEG", same=True),
    "GELU": partial(unary, "GELU", Approximate=lambda rng: bool(rng.random() < 0.5)),
    "LEAKY_RELU": partial(
        unary, "LEAKY_RELU", Alpha=lambda rng: pick(rng, [0.1, 0.25, 0.5, -0.5, float(rng.uniform(0, 2))])
    ),
    "LOG_SOFTMAX": partial(unary, "LOG_SOFTMAX", fixed=LOG_SOFTMAX),
    "L2_NORMALIZATION": partial(unary, "L2_NORMALIZATION", fixed=TANH),
    **{kind: partial(sigmoid, kind) for kind in ("LOGISTIC", "TANH")},
    **{kind: partial(roots, kind) for kind in ("SQRT", "RSQRT")},
    **{kind: partial(padded, kind) for kind in ("PAD", "PADV2")},
    **{kind: partial(resized, kind) for kind in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")},
    **{"PRELU": prelu, "CONCATENATION": concatenated, "SOFTMAX": softmax},
    **{"QUANTIZE": quantize, "DEQUANTIZE": dequantize},
}
"""What draws an operator, by its name."""
