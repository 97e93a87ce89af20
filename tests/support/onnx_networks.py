"""Random small QDQ networks as ONNX models, rich in ties: scales in simple proportions, codes of few steps."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 19, 9
SCALES = (0.5, 0.25, 1.0, 0.75, 1.5, 0.125)
OTHERS = (0.1, 0.03, 0.7, 0.011)
"""Scales whose products float32 rounds."""
F32 = np.float32


class Network:
    """A model that is written node after node. Names of tensors are those of its nodes."""

    def __init__(self, opset=OPSET):
        self.nodes, self.constants, self.inputs, self._opset = [], [], [], opset

    def constant(self, value):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def input(self, shape, dtype=TensorProto.FLOAT):
        name = f"input_{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def node(self, kind, *inputs, domain="", results=1, **attributes):
        names = [f"{kind}_{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(results)]
        self.nodes.append(helper.make_node(kind, [*inputs], names, name=names[0], domain=domain, **attributes))
        return names[0] if results == 1 else names

    def quantize(self, x, scale, zero):
        return self.node("QuantizeLinear", x, self.constant(F32(scale)), self.constant(zero))

    def dequantize(self, x, scale, zero, **attributes):
        return self.node(
            "DequantizeLinear", x, self.constant(np.asarray(scale, F32)), self.constant(zero), **attributes
        )

    def both(self, x, scale, zero):
        return self.dequantize(self.quantize(x, scale, zero), scale, zero)

    def model(self, *outputs, dtype=TensorProto.FLOAT):
        ends = [helper.make_tensor_value_info(name, dtype, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "network", self.inputs, ends, self.constants)
        opsets = [helper.make_opsetid("", self._opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def pick(rng, values):
    return values[rng.integers(len(values))]


class Random:
    """Draws one network: layers on an image, a branch, and matrices at the end."""

    def __init__(self, rng, *, exact, dtype=None, more=False, most=4):
        self.rng, self.net, self.more, self.most = rng, Network(), more, most
        self.scales = SCALES if exact else SCALES + OTHERS
        self.dtype = dtype or pick(rng, (np.uint8, np.uint8, np.int8))

    def numbers(self):
        """A scale and a zero point of activations."""
        info = np.iinfo(self.dtype)
        zero = pick(self.rng, [info.min, info.min, (info.min + info.max + 1) // 2, int(self.rng.integers(-9, 9)) % 128])
        return pick(self.rng, self.scales), self.dtype(zero)

    def both(self, x):
        y = self.net.both(x, *self.numbers())
        while self.more and self.rng.random() < 0.2:
            y = self.pair(y)
        return y

    def pair(self, x):
        """One more pair, perhaps with the numbers of the first; without a zero point, or read twice."""
        scale, zero = self.numbers()
        if self.rng.random() < 0.1:
            number = self.net.constant(F32(scale))
            return self.net.node("DequantizeLinear", self.net.node("QuantizeLinear", x, number), number)
        q = self.net.quantize(x, scale, zero)
        y = self.net.dequantize(q, scale, zero)
        return self.net.node("Add", y, self.net.dequantize(q, scale, zero)) if self.rng.random() < 0.1 else y

    def weights(self, shape, axis):
        """Weights, dequantized; with scales of channels or one scale. Gives also the scale."""
        dtype = pick(self.rng, (np.int8, np.int8, np.uint8)) if self.dtype == np.uint8 else np.int8
        many = self.rng.random() < 0.4
        scale = self.rng.choice(self.scales, shape[axis]).astype(F32) if many else F32(pick(self.rng, self.scales))
        zero = dtype(0 if dtype == np.int8 else self.rng.integers(120, 136))
        codes = np.clip(
            self.rng.integers(-self.most, self.most + 1, shape) + int(zero), np.iinfo(dtype).min, np.iinfo(dtype).max
        ).astype(dtype)
        zeros = np.full(scale.shape, zero)
        if self.more and self.rng.random() < 0.3:
            return self.net.constant((self.rng.integers(-30, 30, shape) * scale.flat[0]).astype(F32)), None
        name = self.net.constant(codes)
        return self.net.dequantize(name, scale, zeros, **({"axis": axis} if many else {})), scale

    def bias(self, x, scale, count):
        """A bias as int32 codes, of the scale of the sums; as floats; or none."""
        producer = next(n for n in self.net.nodes if x in n.output)
        if producer.op_type != "DequantizeLinear":  # a Transpose, whose codes have the scale of those before it
            return []
        if scale is None:  # onnxruntime makes it
            return [self.net.constant((self.rng.integers(-30, 30, count) * F32(0.5)).astype(F32))]
        own = next(numpy_helper.to_array(c) for c in self.net.constants if c.name == producer.input[1])
        steps, kind = self.rng.integers(-30, 30, count), self.rng.random()
        if kind < 0.3:
            return []
        sums = np.asarray(own * scale, F32)
        if kind < 0.8:
            zeros = np.zeros(sums.shape, np.int32)
            return [
                self.net.dequantize(
                    self.net.constant(steps.astype(np.int32)), sums, zeros, **({"axis": 0} if sums.ndim else {})
                )
            ]
        return [self.net.constant((steps * sums).astype(F32))]

    def clamped(self, x):
        kind = self.rng.random()
        if kind < 0.3:
            return self.net.node("Relu", x)
        if kind < 0.4:
            return self.net.node(
                "Clip", x, self.net.constant(F32(0)), self.net.constant(F32(pick(self.rng, [6, 1000])))
            )
        return x

    def conv(self, x, channels):
        group, outs = pick(self.rng, [(1, 4), (1, 6), (channels, channels)])
        w, scale = self.weights((outs, channels // group, 3, 2), 0)
        moves = {"pads": [1, 0, 1, 1], "strides": pick(self.rng, [[1, 1], [2, 1]]), "group": group}
        y = self.net.node("Conv", x, w, *self.bias(x, scale, outs), **moves)
        return self.both(self.clamped(y)), outs

    def one(self, x, channels):
        kinds = ["AveragePool", "MaxPool", "Sigmoid", "LeakyRelu", "Transpose", "Mul", "Concat", "Relu"]
        kind = pick(self.rng, kinds + ["Softmax"] * self.more)
        if kind in ("AveragePool", "MaxPool"):
            pads = {"pads": [1, 0, 0, 1]} if self.rng.random() < 0.4 else {}
            y = self.net.node(kind, x, kernel_shape=[2, 2], **pads)
        elif kind == "LeakyRelu":
            y = self.net.node(kind, x, alpha=pick(self.rng, [0.5, 0.25]))
        elif kind == "Transpose":
            y = self.net.node(kind, x, perm=[0, 1, 3, 2])
            return (y, channels) if self.rng.random() < 0.5 else (self.both(y), channels)
        elif kind == "Mul":
            info = np.iinfo(self.dtype)
            codes = self.rng.integers(info.min, info.max, (channels, 1, 1), self.dtype, endpoint=True)
            y = self.net.node(kind, x, self.net.dequantize(self.net.constant(codes), *self.numbers()))
        elif kind == "Concat":
            y, channels = self.net.node(kind, x, x, axis=1), 2 * channels
        elif kind == "Softmax":
            y = self.net.node(kind, x, axis=int(self.rng.integers(1, 4)))
        else:
            y = self.net.node(kind, x)
        return self.both(y), channels

    def branch(self, x, channels):
        y = self.net.node(pick(self.rng, ["Sigmoid", "LeakyRelu", "Relu"]), x)
        both = [self.both(y), x]
        total = self.net.node("Add", *(both if self.rng.random() < 0.5 else both[::-1]))
        return self.both(self.clamped(total)), channels

    def network(self):
        x, channels = self.net.input([None, 3, 8, 7]), 3
        y = self.both(x)
        for _ in range(int(self.rng.integers(1, 5))):
            y, channels = pick(self.rng, [self.conv, self.conv, self.one, self.one, self.branch])(y, channels)
            if channels > 12:
                break
        y = self.both(self.net.node("GlobalAveragePool", y))
        flat = "Reshape", y, self.net.constant(np.array([0, -1]))
        y = self.net.node(*pick(self.rng, [("Flatten", y), flat, flat, flat]))
        y = y if self.rng.random() < 0.5 else self.both(y)
        w, _ = self.weights((channels, 5), 1)
        kind = pick(self.rng, ["Gemm", "MatMul", "Add"])
        if kind == "Gemm":
            y = self.net.node("Gemm", y, w, *([self.net.constant(np.arange(5, dtype=F32))] * self.more))
        else:
            y = self.net.node("MatMul", y, w)
            y = self.net.node("Add", y, self.net.constant(np.arange(5, dtype=F32))) if kind == "Add" else y
        return self.net.model(y if self.rng.random() < 0.3 else self.both(y))


def drawn(seed, *, exact=True, dtype=None, more=False, most=4):
    """A network, and the data of its input; `more`: with what onnxruntime quantizes itself, and pairs behind pairs.

    Codes of weights are at most `most` steps away from 0.
    """
    rng = np.random.default_rng(seed)
    model = Random(rng, exact=exact, dtype=dtype, more=more, most=most).network()
    return model, (rng.integers(-60, 60, (2, 3, 8, 7)) * F32(0.25)).astype(F32)


def residual():
    """A branch, a clamp that the codes hold, a bias of floats, moves on both sides of a product."""
    net, rng = Network(), np.random.default_rng(1)
    numbers = 0.25, np.uint8(100)
    x = net.both(net.input([None, 3, 6, 6]), *numbers)
    w = net.dequantize(net.constant(rng.integers(-4, 5, (3, 3, 3, 3)).astype(np.int8)), 0.5, np.int8(0))
    y = net.node("Conv", x, w, net.constant(F32([1.0, -2.06, 0.31])), pads=[1, 1, 1, 1])
    y = net.both(net.node("Relu", y), 0.5, np.uint8(0))
    y = net.both(net.node("Add", x, y), 0.5, np.uint8(101))
    y = net.node("Reshape", y, net.constant(np.array([0, 36, 3])))
    w = net.dequantize(
        net.constant(rng.integers(-4, 5, (3, 2)).astype(np.int8)), F32([0.5, 0.25]), np.int8([0, 0]), axis=1
    )
    y = net.node("Transpose", net.node("MatMul", y, w), perm=[0, 2, 1])
    return net.model(net.both(y, 1.0, np.uint8(100))), (rng.integers(-20, 20, (2, 3, 6, 6)) * F32(0.25)).astype(F32)
