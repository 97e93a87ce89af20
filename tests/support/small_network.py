"""A small int8 network in a file of its own: convolutions, a residual sum, a pool, a dense layer, softmax."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from qops.models import Operator, Tensor, load, tflite_bytes
from qops.models.tflite.file import read_tflite

_WINDOW = {"StrideH": 1, "StrideW": 1, "Padding": 0, "DilationHFactor": 1, "DilationWFactor": 1}


class Network:
    """Tensors and operators, grown layer by layer. `scales` are those of results, by name; 1.0 until they are known."""

    def __init__(self, dtype="int8", scales=None, seed=1):
        self.dtype, self.scales, self.draw = dtype, scales or {}, np.random.default_rng(seed)
        self.tensors, self.operators = [], []

    def activation(self, name, shape, scale=None, zero=None):
        low, high = self.scales.get(name, (-1.0, 1.0))
        if scale is None and self.dtype == "int16":
            scale, zero = max(abs(low), abs(high)) / 32767, 0
        elif scale is None:
            low, high = min(low, 0.0), max(high, 0.0)
            scale = (high - low) / 255
            zero = int(np.clip(round(-128 - low / scale), -128, 127))
        tensor = Tensor(name, shape, self.dtype, np.float32(scale), np.asarray(zero, np.int64))
        self.tensors.append(tensor)
        return tensor

    def constant(self, name, data, scale=None, axis=None):
        zero = None if scale is None else np.zeros(np.shape(scale), np.int64)
        scale = None if scale is None else np.asarray(scale, np.float32)
        tensor = Tensor(name, data.shape, data.dtype.name, scale, zero, axis, data)
        self.tensors.append(tensor)
        return tensor

    def operator(self, kind, inputs, outputs, **options):
        self.operators.append(Operator(kind, list(inputs), list(outputs), options, []))
        return outputs[0]

    def layer(self, kind, name, x, w, shape, axis, activation=1, **options):
        scale = self.draw.uniform(0.0005, 0.005, w.shape[axis]).astype(np.float32)
        weights = self.constant(f"{name}/w", w, scale, axis)
        wide = np.int64 if self.dtype == "int16" else np.int32
        bias = self.draw.uniform(-1.5, 1.5, scale.size) / (float(x.scale) * scale)
        bias = self.constant(f"{name}/b", np.rint(bias).astype(wide), (x.scale * scale).astype(np.float32), 0)
        y = self.activation(name, shape)
        return self.operator(kind, [x, weights, bias], [y], FusedActivationFunction=activation, **options)

    def bytes(self):
        return tflite_bytes(self.tensors, self.operators, self.tensors[:1], [self.operators[-1].outputs[0]])


def network(dtype="int8", scales=None, size=8):
    """Grow the network; `scales` are the ranges of its results."""
    net = Network(dtype, scales)
    draw = np.random.default_rng(7)

    def weights(*shape):
        return draw.integers(-127, 128, shape).astype(np.int8)

    fixed = (1 / 32768, 0) if dtype == "int16" else (1 / 127, -1)
    x = net.activation("image", (1, size, size, 3), *fixed)
    y = net.layer("CONV_2D", "conv", x, weights(8, 3, 3, 3), (1, size, size, 8), 0, **_WINDOW)
    by_channel = {**_WINDOW, "DepthMultiplier": 1}
    z = net.layer("DEPTHWISE_CONV_2D", "depthwise", y, weights(1, 3, 3, 8), (1, size, size, 8), 3, 3, **by_channel)
    z = net.layer("CONV_2D", "pointwise", z, weights(8, 1, 1, 8), (1, size, size, 8), 0, 0, **_WINDOW)
    total = net.activation("sum", z.shape)
    how = {"FusedActivationFunction": 1, "PotScaleInt16": False}
    z = net.operator("ADD", [y, z], [total], **how)
    window = {"StrideH": 2, "StrideW": 2, "Padding": 1, "FilterHeight": 2, "FilterWidth": 2}
    window["FusedActivationFunction"] = 0
    pooled = net.activation("pool", (1, size // 2, size // 2, 8), total.scale, total.zero_point)
    z = net.operator("AVERAGE_POOL_2D", [z], [pooled], **window)
    flat = net.activation("flat", (1, size * size * 2), total.scale, total.zero_point)
    z = net.operator("RESHAPE", [z, net.constant("shape", np.int32([1, -1]))], [flat])
    z = net.layer("FULLY_CONNECTED", "dense", z, weights(10, size * size * 2), (1, 10), 0, 0)
    last = net.activation("softmax", (1, 10), *((1 / 32768, 0) if dtype == "int16" else (1 / 256, -128)))
    net.operator("SOFTMAX", [z], [last], Beta=1.0)
    return net


def _range(values):
    """The range of some arrays and a quarter beyond: a ReLU is then seen in the codes."""
    low, high = min(v.min() for v in values), max(v.max() for v in values)
    return low - (high - low) / 4, high + (high - low) / 4


@cache
def made(dtype):
    """The bytes of the network with ranges that its own real numbers have."""
    scales, draw = {}, np.random.default_rng(3)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "small.tflite"
        for _ in range(3):  # the biases' scales follow those of the results before them
            path.write_bytes(network(dtype, scales).bytes())
            graph = load(path)
            values = [graph.real(draw.uniform(-1, 1, (1, 8, 8, 3)), keep="all") for _ in range(4)]
            scales = {n: _range([v[n] for v in values]) for n in values[0]}
    return network(dtype, scales).bytes()


def file(path, dtype="int8", images=1):
    """Write the network; give its graph and some images."""
    path.write_bytes(made(dtype))
    graph, draw = load(path), np.random.default_rng(3)
    others = draw.uniform(-1, 1, (12 + images, 8, 8, 3))[12:]  # not those whose ranges it has
    return graph, graph.tensors["image"].codes(others)


def as_floats(path, other):
    """Write the float model of a file: the same operators on values in float32."""
    read = read_tflite(path)
    made = {}
    for t in read.tensors:
        is_float = t.scale is not None
        data = t.data if t.data is None or not is_float else t.values(t.data).astype(np.float32)
        made[t.name] = Tensor(t.name, t.shape, "float32" if is_float else t.dtype, data=data)
    operators = [
        Operator(op.kind, [made[t.name] for t in op.inputs], [made[t.name] for t in op.outputs], op.options, [])
        for op in read.operators
    ]
    ends = ([made[t.name] for t in part] for part in (read.inputs, read.outputs))
    other.write_bytes(tflite_bytes([*made.values()], operators, *ends))


@cache
def made_wide(count):
    """The bytes of three layers of 16 by 8 bits, whose sums go beyond 32 bits, and some rows."""
    draw, net = np.random.default_rng(5), Network("int16")
    x = net.activation("row", (1, count), 1 / 32768, 0)
    for i in range(3):
        scale = draw.uniform(0.001, 0.002, count).astype(np.float32)
        signs = np.where(draw.random((count, count)) < 0.9, 1, -1)
        weights = net.constant(f"w{i}", (draw.integers(90, 128, (count, count)) * signs).astype(np.int8), scale, 0)
        y = net.activation(f"wide{i}", (1, count), 200 * float(x.scale), 0)
        x = net.operator("FULLY_CONNECTED", [x, weights, None], [y], FusedActivationFunction=0)
    return net.bytes(), draw.integers(20_000, 32_768, (2, count)).astype(np.int16)


def wide(path, count=1400):
    """Write these layers; give the graph and the rows."""
    content, x = made_wide(count)
    path.write_bytes(content)
    return load(path), x.copy()
