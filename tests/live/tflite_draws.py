"""Random models of one operator or of a few, for the interpreters of .tflite files, beside the ops of qops."""

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import draws
import numpy as np
import tflite_systems
from draws import Pair, codes, length, pick, values

from qops import models
from qops.models import Operator, Tensor, tflite_bytes
from qops.tflite.kernels import KERNELS
from qops.tflite.types import TAKES, types_of

CHANNELS = (1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 33)
SIGMOID = {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)}
TANH = {"int8": (1 / 128, 0), "uint8": (1 / 128, 128), "int16": (1 / 32768, 0)}
LOG_SOFTMAX = {"int8": (16 / 256, 127), "uint8": (16 / 256, 255)}
RELU = 1  # the only activation that LiteRT's SVDF takes, and does not apply
INT32 = 2  # the number of this type in the schema
TANH_ACTIVATION = 4
LIMITS = (12.0, 4.0, 2.4, 12 / 7, 2.0, 2 / 3, 1.0)
"""Scales in which the limits 6 and 1 of an activation are ties, and two in which they are not."""


class Net:
    """A model that grows op by op; `x` is the last result."""

    def __init__(self, rng, kernel, dtype):
        self.rng, self.kernel, self.dtype = rng, kernel, dtype
        self.tensors, self.operators, self.fed = [], [], {}
        self.x, self.results = None, []
        """The last result, and those before it."""

    def tensor(self, dtype, s=None, z=0, shape=(), data=None, axis=None):
        """One more tensor, of a scale or of one for each channel along `axis`."""
        if s is not None:
            s, z = np.float32(s), np.broadcast_to(np.int64(z), np.shape(s)).copy()
        made = Tensor(f"t{len(self.tensors)}", shape, dtype, s, None if s is None else z, axis, data)
        self.tensors.append(made)
        return made

    def input(self, shape, dtype=None, s=None, z=None):
        """Codes that a call takes."""
        kind = np.dtype(dtype or self.dtype)
        if s is None:
            s, z = scale(self.rng), zero_point(self.rng, kind)
        x = codes(self.rng, shape, kind.type, z)
        made = self.tensor(kind.name, s, z, shape)
        self.fed[made.name] = x
        return made

    def second(self, shape, s, z):
        """Another operand: an input, or one of the results so far that has this shape."""
        fitting = [t for t in self.results if t.shape == shape and t.dtype == self.dtype and t is not self.x]
        if fitting and self.rng.random() < 0.6:
            return pick(self.rng, fitting)
        return self.input(shape, s=s, z=z)

    def image(self):
        """The last result, or the first input: images NHWC."""
        n, h, w = (int(self.rng.integers(1, most)) for most in (3, 9, 9))
        return self.x or self.input((n, h, w, pick(self.rng, CHANNELS)))

    def any(self):
        """The last result, or the first input, of any shape."""
        return self.x or self.input(shape(self.rng))

    def constant(self, data, s=None, z=0, axis=None, dtype=None):
        """Data that stand in the file."""
        return self.tensor(dtype or data.dtype.name, s, z, data.shape, data, axis)

    def op(self, kind, inputs, y, inner=(), **options):
        """One more operator, whose result becomes `x`; `inner` are tensors that only carry its inner scales."""
        self.operators.append(Operator(kind, list(inputs), [y], options, list(inner)))
        self.x = y

    def shaped(self):
        """Give all tensors the shapes that the kernels of qops make."""
        found = self.load(self.bytes({}), self.kernel).run(self.fed, keep="all")
        self.tensors = [replace(t, shape=found[t.name].shape) if t.name in found else t for t in self.tensors]
        named = {t.name: t for t in self.tensors}
        self.x = named[self.x.name]
        self.results = [*(named[t.name] for t in self.results), self.x]

    def result(self, *scales, dtype=None):
        """A result whose scale is in proportion to the product of those of the operands, and not far below it."""
        dtype = dtype or self.dtype
        whole = [float(s) for s in scales]
        s = draws.result_scale(self.rng, *whole) if self.rng.random() < 0.9 else pick(self.rng, LIMITS)
        return self.tensor(dtype, min(max(s, float(np.prod(whole)) / 64), 2.0**12), zero_point(self.rng, dtype))

    def bytes(self, shapes):
        """The file, with these shapes of results."""
        tensors = [replace(t, shape=shapes.get(t.name, t.shape)) for t in self.tensors]
        fed = [t for t in tensors if t.name in self.fed]
        return tflite_bytes(tensors, self.operators, fed, [self.x])

    def load(self, content, kernel):
        """The graph of qops, by way of a file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.tflite"
            path.write_bytes(content)
            return models.load(path, runtime=kernel)

    def finished(self):
        """The file, with the shapes that results have by the first kernels of qops that take it."""
        content = self.bytes({})
        for kernel in (self.kernel, *KERNELS):
            try:
                found = self.load(content, kernel).run(self.fed, keep="all")
                return self.bytes({name: x.shape for name, x in found.items()})
            except (ValueError, TypeError):
                continue
        return content

    def described(self):
        """What a difference shows."""
        text = {f"op {i}": f"{op.kind} {op.options}" for i, op in enumerate(self.operators)}
        for t in self.tensors:
            text[t.name] = [f"{t.dtype}{t.shape} scale {t.scale} zero {t.zero_point}", self.fed.get(t.name, t.data)]
        return text


def scale(rng):
    """A scale; larger ones than these are beyond what the integers of the systems hold."""
    return draws.scale(rng, largest=9)


def zero_point(rng, dtype):
    """A zero point; that of 16 bits is 0."""
    return 0 if np.dtype(dtype) in ("int16", "int32") else draws.zero_point(rng, np.dtype(dtype).type)


def shape(rng, axes=None):
    """A shape of up to four axes."""
    axes = axes or int(rng.integers(1, 5))
    return (*(int(n) for n in rng.integers(1, 5, axes - 1)), int(length(rng, 130)))


def activation(rng):
    """None in half of the calls, RELU, RELU_N1_TO_1 or RELU6."""
    return {"FusedActivationFunction": int(pick(rng, [0, 0, 0, 1, 2, 3]))}


def unary(kind, net, fixed=None, same=False, **options):
    """One tensor into one: of the scale that the operator demands, the same, or any."""
    x, rng = net.any(), net.rng
    if fixed and rng.random() < (0.5 if net.kernel == "xnnpack" else 0.95):
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


def window(rng, image=None):
    """Height and width of a window that fits in an image, and how it moves: padding 0 is SAME, 1 is VALID."""
    padding = int(rng.integers(2))
    most = (4, 4) if padding == 0 or image is None else [min(4, n + 1) for n in image.shape[1:3]]
    taps = tuple(int(rng.integers(1, n)) for n in most)
    return taps, {"StrideH": int(rng.integers(1, 4)), "StrideW": int(rng.integers(1, 4)), "Padding": padding}


def pool(kind, net):
    x, rng = net.image(), net.rng
    taps, moves = window(rng, x)
    options = {**moves, "FilterHeight": taps[0], "FilterWidth": taps[1], **activation(rng)}
    y = net.tensor(net.dtype, x.scale, x.zero_point) if rng.random() < 0.9 else net.result(x.scale)
    net.op(kind, [x], y, **options)


def weights(net, shape, axis, count, narrow=False):
    """Weights with a scale for each channel or one: of uint8, int8 or, if `narrow`, int4 too."""
    rng = net.rng
    dtype = "uint8" if net.dtype == "uint8" else "int8"
    if narrow and net.dtype == "int8" and rng.random() < 0.25:
        dtype = "int4"
    near = int(rng.integers(100, 150)) if dtype == "uint8" else 0
    data = codes(rng, shape, np.uint8 if dtype == "uint8" else np.int8, near)
    if dtype == "int4":
        data = rng.integers(-8, 8, shape).astype(np.int8)
    each = dtype != "uint8" and rng.random() < 0.6
    s = np.float32([scale(rng) for _ in range(count)]) if each and count > 1 else np.float32(scale(rng))
    return net.constant(data, s, near, axis if s.ndim else None, dtype)


def bias(net, x, w, count, narrow=False):
    """A bias or none; of int16 of int64 or, if `narrow` and with an option that says so, of int32."""
    rng = net.rng
    if rng.random() < 0.15:
        return [], {}
    small = np.int64(rng.integers(-9, 10, count)) * pick(rng, [1, 1, 100, 10**6])
    narrow = net.dtype != "int16" or (narrow and rng.random() < 0.3)
    options = {"QuantizedBiasType": INT32} if narrow and net.dtype == "int16" else {}
    scales = (x.scale * w.scale).astype(np.float32)
    return [
        net.constant(small.astype(np.int32 if narrow else np.int64), scales, axis=0 if scales.ndim else None)
    ], options


def layer(kind, net):
    """CONV_2D and DEPTHWISE_CONV_2D."""
    x, rng = net.image(), net.rng
    taps, moves = window(rng, x)
    options = {**moves, **activation(rng)}
    dilation = int(rng.integers(1, 3)) if moves["Padding"] == 0 and rng.random() < 0.3 else 1
    channels = x.shape[3]
    if kind == "CONV_2D":
        count, groups = (
            int(pick(rng, CHANNELS)),
            int(pick(rng, [g for g in (1, 2, 3) if channels % g == 0])) if rng.random() < 0.2 else 1,
        )
        count *= groups
        w = weights(net, (count, *taps, channels // groups), 0, count, True)
    else:
        count = channels * int(pick(rng, [1, 1, 1, 2, 3]))
        w = weights(net, (1, *taps, count), 3, count, net.kernel != "reference")
        options["DepthMultiplier"] = count // channels
    more, typed = bias(net, x, w, count, kind == "CONV_2D")
    y = net.result(x.scale, np.max(w.scale))
    net.op(kind, [x, w, *more], y, **options, **typed, DilationHFactor=dilation, DilationWFactor=dilation)


def connected(net):
    x, rng = net.x or net.input(shape(net.rng, int(net.rng.integers(1, 4)))), net.rng
    count = int(pick(rng, CHANNELS))
    w = weights(net, (count, x.shape[-1]), 0, count, True)
    more, typed = bias(net, x, w, count, narrow=True)
    y = net.result(x.scale, np.max(w.scale))
    net.op("FULLY_CONNECTED", [x, w, *more], y, **activation(rng), **typed, KeepNumDims=bool(rng.random() < 0.5))


def transposed(net):
    x, rng = net.image(), net.rng
    (n, h, width, channels), count = x.shape, int(pick(rng, CHANNELS))
    taps, how = window(rng)
    steps = how["StrideH"], how["StrideW"]
    sizes = [
        size * s if how["Padding"] == 0 else (size - 1) * s + max(k, s)
        for size, s, k in zip((h, width), steps, taps, strict=True)
    ]
    w = weights(net, (count, *taps, channels), 0, count)
    more, typed = bias(net, x, w, count, net.kernel != "tflm")
    y = net.result(x.scale, np.max(w.scale))
    net.op(
        "TRANSPOSE_CONV",
        [net.constant(np.int32([n, *sizes, count])), w, x, *more],
        y,
        **how,
        **typed,
        **activation(rng),
    )


def matmul(net):
    rng = net.rng
    k, n = int(length(rng, 65)), int(length(rng, 65))
    a = net.x or net.input((*shape(rng, int(rng.integers(2, 4)))[:-1], k))
    k, adj_x, adj_y = a.shape[-2 if (adj := bool(rng.random() < 0.3)) else -1], adj, bool(rng.random() < 0.5)
    ends = (n, k) if adj_y else (k, n)
    lead = tuple(m if rng.random() < 0.7 else 1 for m in a.shape[:-2])
    dtype = net.dtype if net.dtype == "int8" or rng.random() < 0.5 else "int8"
    zero = 0 if rng.random() < 0.5 else zero_point(rng, dtype)
    if rng.random() < 0.5:
        b = net.constant(codes(rng, (*lead, *ends), np.dtype(dtype).type, zero), scale(rng), zero)
    else:
        b = net.input((*lead, *ends), dtype, scale(rng), zero)
    net.op("BATCH_MATMUL", [a, b], net.result(a.scale, b.scale), AdjX=adj_x, AdjY=adj_y)


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


def svdf(net):
    rng = net.rng
    batch, size, units, rank, memory = (int(rng.integers(1, most)) for most in (4, 20, 9, 3, 11))
    x = net.input((batch, size))
    feature = net.constant(codes(rng, (rank * units, size), np.int8, 0), scale(rng))
    time = net.constant(codes(rng, (rank * units, memory), np.int16, 0), scale(rng) / 512)
    state = net.tensor(
        "int16", draws.result_scale(rng, float(x.scale), float(feature.scale)), 0, (batch, memory * rank * units)
    )
    off = 0 if rng.random() < 0.8 else pick(rng, [9e-6, 1.1e-5, -9e-6, -1.1e-5, 0.5])
    s = max(float(np.float32(state.scale * time.scale)) + off, 2.0**-40)
    biases = net.constant(rng.integers(-999, 1000, units).astype(np.int32), s)
    y = net.result(state.scale, time.scale)
    net.op("SVDF", [x, feature, time, biases, state], y, Rank=rank, FusedActivationFunction=RELU)


def lstm(net):
    """Scales of weights that take sums to 2**-12 in simple proportions."""
    rng, major = net.rng, bool(net.rng.random() < 0.3)
    batch, steps, size, cells = (int(rng.integers(1, most)) for most in (4, 6, 20, 10))
    x = net.input((steps, batch, size) if major else (batch, steps, size))
    s, z = pick(rng, [1 / 128, 1 / 127, 1 / 256, 2.0**-15, float(rng.uniform(0.002, 0.02))]), zero_point(rng, net.dtype)

    def four(shape, of):
        ratios = [pick(rng, [1, 0.5, 0.25, 0.75, 3, 1 / 3, float(rng.uniform(0.01, 2))]) for _ in range(4)]
        codes_of = [codes(rng, shape, np.int8, 0) for _ in ratios]
        return [net.constant(w, float(np.float32(2.0**-12 * r / of))) for w, r in zip(codes_of, ratios, strict=True)]

    w, r = four((cells, size), float(x.scale)), four((cells, cells), s)
    wide = np.int64 if net.dtype == "int16" else np.int32
    biases = [net.constant(rng.integers(-9999, 9999, cells).astype(wide), float(x.scale * t.scale)) for t in w]
    power = int(rng.integers(9 if net.kernel != "tflm" else 4, 13))
    states = [net.tensor(net.dtype, s, z, (batch, cells)), net.tensor("int16", 2.0**-power, 0, (batch, cells))]
    inner = [net.tensor("int16", 2.0**-12, 0, (0,)) for _ in range(4)] + [net.tensor(net.dtype, s, z, (0,))]
    given = [x, *w, *r, None, None, None, *biases, None, None, *states, None, None, None, None]
    clip = pick(rng, [0.0, 0.0, 1.0, float(rng.uniform(0.01, 4))])
    options = {"FusedActivationFunction": TANH_ACTIVATION, "CellClip": clip, "TimeMajor": major}
    net.op("UNIDIRECTIONAL_SEQUENCE_LSTM", given, net.tensor(net.dtype, s, z), inner, **options)


DRAWN = {
    **{kind: partial(pair, kind) for kind in ("ADD", "SUB", "MUL")},
    "SQUARED_DIFFERENCE": partial(pair, "SQUARED_DIFFERENCE", activated=False),
    **{kind: partial(pair, kind, same=True, activated=False) for kind in ("MAXIMUM", "MINIMUM")},
    **{kind: partial(layer, kind) for kind in ("CONV_2D", "DEPTHWISE_CONV_2D")},
    **{"FULLY_CONNECTED": connected, "TRANSPOSE_CONV": transposed, "BATCH_MATMUL": matmul},
    **{kind: partial(pool, kind) for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D")},
    **{kind: partial(reduced, kind) for kind in ("MEAN", "SUM")},
    **{kind: partial(reduced, kind, same=True) for kind in ("REDUCE_MAX", "REDUCE_MIN")},
    **{
        kind: partial(unary, kind)
        for kind in ("ABS", "ELU", "EXP", "HARD_SWISH", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")
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
    **{"PRELU": prelu, "CONCATENATION": concatenated, "SOFTMAX": softmax, "QUANTIZE": quantize},
    **{"DEQUANTIZE": dequantize, "SVDF": svdf, "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm},
}
"""What draws an operator, by its name."""


UNDEFINED = {("SUM", "reference", "int16")}
"""What reads beyond its tensors."""


def is_drawn(kind, kernel, dtype):
    """Whether a kernel has an operator for a type, and computes with its tensors alone."""
    return dtype in TAKES[kind, kernel] and (kind, kernel, dtype) not in UNDEFINED


def one(kind, kernel, rng):
    """A model of one operator."""
    every = types_of(kind) if rng.random() < 0.03 else TAKES[kind, kernel]
    dtype = str(pick(rng, [dtype for dtype in every if (kind, kernel, dtype) not in UNDEFINED]))
    return compared(kernel, [DRAWN[kind]], Net(rng, kernel, dtype))


IMAGES = (
    *("CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "SUB", "MUL", "MAXIMUM", "AVERAGE_POOL_2D", "MAX_POOL_2D", "RELU"),
    *("RELU6", "LEAKY_RELU", "PRELU", "PAD", "HARD_SWISH", "LOGISTIC", "TANH", "TRANSPOSE_CONV", "CONCATENATION"),
    *("ABS", "RESIZE_BILINEAR"),
)
"""What the trunk of a graph is made of: operators of images, also of two results so far."""
ENDS = ("FULLY_CONNECTED", "SOFTMAX", "LOGISTIC", "MEAN", "SUM", "REDUCE_MAX", "MUL", "ADD", "L2_NORMALIZATION", "TANH")
"""What it may end with: operators of any shape."""


def few(kernel, rng):
    """A graph of one to six operators of images and up to three others, of one type, in which results may meet."""
    dtype = pick(rng, [t for t in ("int8", "int8", "int8", "int16", "uint8") if t in TAKES["CONV_2D", kernel]])
    net = Net(rng, kernel, dtype)
    net.x = net.image()
    net.results = [net.x]
    trunk, ends = ([kind for kind in kinds if is_drawn(kind, kernel, dtype)] for kinds in (IMAGES, ENDS))
    counts = (trunk, int(rng.integers(1, 7))), (ends, int(rng.integers(0, 4)))
    return compared(kernel, [DRAWN[pick(rng, kinds)] for kinds, count in counts for _ in range(count)], net)


def compared(kernel, drawers, net):
    """The pair of calls of the model that these drawers make; it ends with an operator that qops refuses."""
    for i, draw in enumerate(drawers):
        draw(net)
        if i < len(drawers) - 1:
            try:
                net.shaped()
            except ValueError:
                break
    content = net.finished()
    return Pair(
        lambda: tflite_systems.run(content, net.fed, kernel),
        lambda: [*net.load(content, kernel).run(net.fed).values()],
        net.described(),
    )


def ops(kernels):
    """The rows of a table: each operator on each library of kernels that has it, and graphs of operators."""
    return {
        **{
            f"{kind} model, {kernel}": partial(one, kind, kernel)
            for kind in DRAWN
            for kernel in kernels
            if TAKES[kind, kernel]
        },
        **{f"graphs of a few ops, {kernel}": partial(few, kernel) for kernel in kernels},
    }
