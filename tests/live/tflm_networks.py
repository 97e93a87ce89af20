"""Whole random networks in TFLite Micro, every tensor of which is compared with that of the graph of `qops.models`."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from draws import Pair, pick
from small_network import Network
from tflite_micro.python.tflite_micro import runtime

from qops import models

ARENA = 4 << 20
WINDOW = {"StrideH": 1, "StrideW": 1, "Padding": 0, "DilationHFactor": 1, "DilationWFactor": 1}


class Random:
    """Draws one network: layers and pools on an image, branches, a dense layer and a softmax."""

    def __init__(self, rng):
        self.rng = rng
        self.net = Network(pick(rng, ["int8", "int8", "int16"]), seed=int(rng.integers(2**31)))

    def codes(self, *shape):
        return self.rng.integers(-127, 128, shape).astype(np.int8)

    def name(self, kind):
        return f"{kind}{len(self.net.operators)}"

    def same(self, x, kind, shape):
        """A result of the scale and zero point of its data."""
        return self.net.activation(self.name(kind), shape, float(x.scale), int(x.zero_point))

    def other(self, kind, shape):
        """A result of a range of its own; that of 16 bits has zero point 0."""
        name = self.name(kind)
        low, high = -float(self.rng.uniform(0.2, 4)), float(self.rng.uniform(0.2, 4))
        self.net.scales[name] = (low, high)
        return self.net.activation(name, shape)

    def layer(self, kind, x):
        n, h, w, c = x.shape
        moves = {**WINDOW, "Padding": int(self.rng.integers(2)), "StrideH": int(self.rng.integers(1, 3))}
        moves["StrideW"] = moves["StrideH"]
        kernel = tuple(int(self.rng.integers(1, min(4, size + 1))) for size in (h, w))
        outs = c if kind[0] == "D" else int(pick(self.rng, [1, 3, 4, 8, 9]))
        sizes = [
            -(-size // moves["StrideH"]) if moves["Padding"] == 0 else (size - k) // moves["StrideH"] + 1
            for size, k in zip((h, w), kernel, strict=True)
        ]
        shape = (1, *kernel, outs) if kind[0] == "D" else (outs, *kernel, c)
        more = {"DepthMultiplier": 1} if kind[0] == "D" else {}
        name, ends = self.name(kind.lower()), (-float(self.rng.uniform(0.5, 6)), float(self.rng.uniform(0.5, 6)))
        self.net.scales[name] = ends
        activation = int(pick(self.rng, [0, 1, 3]))
        axis = 3 if kind[0] == "D" else 0
        return self.net.layer(kind, name, x, self.codes(*shape), (n, *sizes, outs), axis, activation, **moves, **more)

    def pooled(self, x):
        kind = pick(self.rng, ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
        size = 1 + (min(x.shape[1:3]) > 1)
        window = {"StrideH": size, "StrideW": size, "Padding": 1, "FilterHeight": size, "FilterWidth": size}
        shape = (1, x.shape[1] // size, x.shape[2] // size, x.shape[3])
        return self.net.operator(kind, [x], [self.same(x, kind.lower(), shape)], **window, FusedActivationFunction=0)

    def one_code(self, x):
        kind = pick(self.rng, ["TANH", "LOGISTIC", "LEAKY_RELU", "RELU"])
        fixed = {"TANH": (2**-7, 0), "LOGISTIC": (2**-8, -128)} if x.dtype == "int8" else {}
        fixed |= {} if fixed else dict.fromkeys(("TANH", "LOGISTIC"), (2**-15, 0))
        name = self.name(kind.lower())
        y = self.net.activation(name, x.shape, *fixed[kind]) if kind in fixed else self.other(kind.lower(), x.shape)
        return self.net.operator(kind, [x], [y], **({"Alpha": 0.25} if kind == "LEAKY_RELU" else {}))

    def branch(self, x):
        """Two ways that meet in a sum, a difference or a product."""
        y, kind = self.one_code(x), pick(self.rng, ["ADD", "SUB", "MUL"])
        how = {"FusedActivationFunction": 0} | ({} if kind == "MUL" else {"PotScaleInt16": False})
        return self.net.operator(kind, [x, y], [self.other(kind.lower(), x.shape)], **how)

    def network(self):
        """The bytes of the file, and a graph's input."""
        net, rng = self.net, self.rng
        fixed = (1 / 32768, 0) if net.dtype == "int16" else (1 / 127, int(rng.integers(-20, 20)))
        x = y = net.activation("image", (1, int(rng.integers(4, 11)), int(rng.integers(4, 11)), 3), *fixed)
        steps = [
            lambda x: self.layer("CONV_2D", x),
            lambda x: self.layer("DEPTHWISE_CONV_2D", x),
            self.pooled,
            self.branch,
            self.one_code,
        ]
        for _ in range(int(rng.integers(2, 8))):
            y = pick(rng, steps)(y)
        count = int(np.prod(y.shape))
        y = net.operator("RESHAPE", [y, net.constant("shape", np.int32([1, -1]))], [self.same(y, "flat", (1, count))])
        net.scales["dense"] = (-8.0, 8.0)
        y = net.layer("FULLY_CONNECTED", "dense", y, self.codes(10, count), (1, 10), 0, 0)
        last = net.activation("softmax", (1, 10), *((1 / 32768, 0) if net.dtype == "int16" else (1 / 256, -128)))
        net.operator("SOFTMAX", [y], [last], Beta=1.0)
        info = np.iinfo(net.dtype)
        return net.bytes(), rng.integers(info.min, info.max, x.shape, net.dtype, endpoint=True)


def run(content, x, places):
    """All tensors at these places of the file, as TFLite Micro has them after a run."""
    keep = runtime.InterpreterConfig.kPreserveAllTensors
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=ARENA, intrepreter_config=keep)
    interpreter.set_input(x, 0)
    interpreter.invoke()
    return [np.array(interpreter.GetTensor(place, 0)["tensor_data"]) for place in places]


def network(rng):
    """The pair of runs of one network: all its tensors, in the order in which they are made."""
    drawn = Random(rng)
    content, x = drawn.network()
    names = [t.name for t in drawn.net.tensors]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.tflite"
        path.write_bytes(content)
        graph = models.load(path, runtime="tflm")
    made = [name for op in graph.ops for name in op.outputs]

    def ours():
        found = graph.run(x, keep="all")
        return [found[name] for name in made]

    kinds = [f"{op.kind} {op.outputs[0]}" for op in graph.ops]
    return Pair(lambda: run(content, x, [names.index(name) for name in made]), ours, {"dtype": x.dtype, "ops": kinds})
