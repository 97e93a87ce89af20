"""Random graphs of QuantizeLinear and DequantizeLinear around operators that onnxruntime fuses, moves or leaves.

All scales are small multiples of a power of two, so that float32 sums are exact in any order, and weights are such that
no two products of neighbours leave 16 bits, which CPUs without VNNI saturate.
"""

import tempfile
from pathlib import Path

import numpy as np
from cpu import COLUMN
from draws import Known, Pair, pick
from elsewhere import call
from onnx import TensorProto, helper
from onnx_networks import Network

from qops import models

F32 = np.float32
SCALES = (0.5, 0.25, 1.0, 0.75, 1.5, 0.125)
OPSETS = (13, 17, 18, 19, 20, 21, 22, 23)
TYPES = {"uint8": np.uint8, "int8": np.int8, "uint16": np.uint16, "int16": np.int16}


class Graph:
    """Draws one graph; `values` are the float tensors made so far, with their shapes."""

    def __init__(self, rng):
        self.rng, self.opset = rng, int(pick(rng, OPSETS))
        self.net, self.ends = Network(self.opset), []
        self.dtype = str(pick(rng, ["uint8", "uint8", "int8", "int8", "mixed"]))
        self.has_zeros = float(pick(rng, [1.0, 0.8, 0.4]))
        self.leaves = float(pick(rng, [0.0, 0.0, 0.1, 0.3]))

    def chance(self, share):
        return self.rng.random() < share

    def type(self):
        """A type of activations: that of the graph, or at times another one."""
        wide = ["uint16", "int16"] if self.opset >= 21 else []
        if self.dtype == "mixed" or self.chance(0.04):
            return str(pick(self.rng, ["uint8", "int8", *wide]))
        return self.dtype

    def zero(self, dtype):
        info = np.iinfo(dtype)
        return int(pick(self.rng, [info.min, 0, (info.min + info.max + 1) // 2, int(self.rng.integers(1, 9))]))

    def pair(self, x):
        """Quantize and dequantize, one of them perhaps without its zero point; the codes may be read elsewhere."""
        scale, dtype = self.net.constant(F32(pick(self.rng, SCALES))), self.type()
        zero = self.zero(dtype) if self.chance(self.has_zeros) else 0
        name = self.net.constant(TYPES[dtype](zero))
        leaves_out = zero == 0 and self.chance(0.6)
        q = self.net.node("QuantizeLinear", x, scale, *([] if leaves_out and dtype == "uint8" else [name]))
        if self.chance(self.leaves / 3):
            self.ends.append((q, dtype))
        y = self.net.node("DequantizeLinear", q, scale, *([] if leaves_out and self.chance(0.8) else [name]))
        if self.chance(0.06):
            return self.pair(y)
        if self.chance(0.05):
            again = self.net.node("DequantizeLinear", q, scale, name)
            return self.net.node("Add", y, again)
        return y

    def kept(self, x):
        """Let a float tensor stand in the graph: as an output at times."""
        if self.chance(self.leaves):
            self.ends.append((x, "float32"))
        return x

    def codes(self, shape, dtype):
        zero = 0 if dtype == "int8" or self.chance(0.5) else int(self.rng.integers(1, 5))
        return (zero + self.rng.integers(-4 if dtype == "int8" else 0, 5, shape)).astype(dtype), zero

    def weights(self, shape, axis):
        """Weights: floats, dequantized codes, or floats behind a pair; gives also the scale, None for floats."""
        way = self.rng.random()
        if way < 0.15:
            return self.net.constant(self.float_weights(shape, axis)), None
        many = self.chance(0.4)
        scale = self.rng.choice(SCALES, shape[axis]).astype(F32) if many else F32(pick(self.rng, SCALES))
        dtype = str(pick(self.rng, ["int8", "int8", "uint8"]))
        codes, zero = self.codes(shape, dtype)
        zeros, how = np.full(scale.shape, zero, dtype), {"axis": axis} if many else {}
        if self.chance(0.05) and many:
            how = {"axis": 1 - axis}  # the other one, which fits a square alone
            scale = self.rng.choice(SCALES, shape[1 - axis]).astype(F32)
            zeros = np.full(scale.shape, zero, dtype)
        numbers = [self.net.constant(scale)]
        has_zero = zero != 0 or self.chance(self.has_zeros)
        given = [self.net.constant(zeros)] if has_zero else []
        if way < 0.3:
            along = [-1 if i == how.get("axis") else 1 for i in range(len(shape))]
            real = self.net.constant(((codes.astype(F32) - zero) * scale.reshape(along if many else ())).astype(F32))
            stored = self.net.node("QuantizeLinear", real, *numbers, self.net.constant(zeros), **how)
        else:
            stored = self.net.constant(codes)
        return self.net.node("DequantizeLinear", stored, *numbers, *given, **how), scale

    def float_weights(self, shape, axis):
        """Small but for one number on each side of 0, alone in their channels, so that their codes are small as well.

        The range of 255 steps makes a scale that is exact.
        """
        w = np.moveaxis(self.rng.integers(-1, 2, shape).astype(F32), axis, 0).reshape(shape[axis], -1)
        w[0], w[-1] = 0, 0
        w[0, 0], w[-1, -1] = 127, -128
        wide = w.reshape(shape[axis], *(n for i, n in enumerate(shape) if i != axis))
        return np.ascontiguousarray(np.moveaxis(wide, 0, axis)) * F32(pick(self.rng, SCALES))

    def scale_of(self, x):
        writer = next((n for n in self.net.nodes if x in n.output), None)
        constants = {c.name: c for c in self.net.constants}
        if writer is None or writer.op_type != "DequantizeLinear":
            return F32(1)
        return np.frombuffer(constants[writer.input[1]].raw_data, F32).reshape(-1)[0]

    def bias(self, x, scale, count, is_add=False):
        """None, floats, or codes of 32 bits of the scale of the sums, or another."""
        way = self.rng.random()
        if way < 0.3 and not is_add:
            return []
        if way < 0.5 or scale is None or (np.ndim(scale) and len(scale) != count):
            return [self.net.constant((self.rng.integers(-30, 30, count) * F32(0.25)).astype(F32))]
        sums = np.asarray(self.scale_of(x) * scale, F32) * F32(pick(self.rng, [1, 1, 1, 1, 2]))
        steps, how = self.rng.integers(-30, 30, count).astype(np.int32), {"axis": 0} if sums.ndim else {}
        zeros = [self.net.constant(np.zeros(sums.shape, np.int32))] if self.chance(self.has_zeros) else []
        return [self.net.node("DequantizeLinear", self.net.constant(steps), self.net.constant(sums), *zeros, **how)]

    def conv(self, x, shape):
        outs = int(pick(self.rng, [2, 4]))
        w, scale = self.weights((outs, shape[1], 2, 2), 0)
        y = self.net.node("Conv", x, w, *self.bias(x, scale, outs), pads=[0, 1, 1, 0])
        return self.clamped(y), (shape[0], outs, *shape[2:])

    def matrix(self, x, shape):
        """MatMul, Gemm, or MatMul and Add, of data of two axes or, for MatMul, of any."""
        outs, kind = int(pick(self.rng, [2, 4])), str(pick(self.rng, ["MatMul", "Gemm", "Add"]))
        if kind == "Gemm" and len(shape) != 2:
            return None
        transposed = kind == "Gemm" and self.chance(0.5)
        k = shape[-1]
        w, scale = self.weights((outs, k) if transposed else (k, outs), 0 if transposed else 1)
        if kind == "Gemm":
            how = ({"transB": 1} if transposed else {}) | ({"alpha": 2.0} if self.chance(0.05) else {})
            y = self.net.node("Gemm", x, w, *self.bias(x, scale, outs), **how)
        else:
            y = self.kept(self.net.node("MatMul", x, w))
            if kind == "Add":
                both = [y, *self.bias(x, scale, outs, True)]
                y = self.net.node("Add", *(both if self.chance(0.7) else both[::-1]))
        return self.clamped(y), (*shape[:-1], outs)

    def clamped(self, x):
        way = self.rng.random()
        if way < 0.15:
            return self.net.node("Relu", self.kept(x))
        if way < 0.25:
            return self.net.node("Clip", x, self.net.constant(F32(0)), self.net.constant(F32(pick(self.rng, [6, 999]))))
        return x

    def other(self, shape):
        """A constant operand: floats, dequantized codes, or floats behind a pair."""
        way, channels = self.rng.random(), (*shape[1:2], *[1] * (len(shape) - 2))
        real = (self.rng.integers(-9, 9, channels) * F32(0.25)).astype(F32)
        if way < 0.2:
            return self.net.constant(real)
        if way < 0.5:
            return self.pair(self.net.constant(real))
        dtype = self.type()
        scale, given = self.net.constant(F32(pick(self.rng, SCALES))), []
        if self.chance(self.has_zeros):
            given = [self.net.constant(TYPES[dtype](self.zero(dtype)))]
        info = np.iinfo(dtype)
        codes = self.rng.integers(max(info.min, -99), min(info.max, 99), channels).astype(dtype)
        return self.net.node("DequantizeLinear", self.net.constant(codes), scale, *given)

    def binary(self, x, shape):
        same = [name for name, other in self.values if other == shape]
        other = str(pick(self.rng, same)) if self.chance(0.4) and same else self.other(shape)
        both = [x, other] if self.chance(0.5) else [other, x]
        return self.clamped(self.net.node(str(pick(self.rng, ["Add", "Mul"])), *both)), shape

    def one(self, x, shape):
        kind = str(pick(self.rng, ["Sigmoid", "LeakyRelu", "Softmax", "Relu"]))
        how = {"LeakyRelu": {"alpha": 0.25}, "Softmax": {"axis": -1}}.get(kind, {})
        y = self.net.node(kind, x, **how)
        return (self.pair(y) if kind in ("Sigmoid", "Softmax") else y), shape

    def pool(self, x, shape):
        if len(shape) != 4 or min(shape[2:]) < 2:
            return None
        kind = str(pick(self.rng, ["AveragePool", "MaxPool", "GlobalAveragePool"]))
        if kind == "GlobalAveragePool":
            return (self.net.node(kind, x), (*shape[:2], 1, 1)) if np.prod(shape[2:]) in (4, 16) else None
        y = self.net.node(kind, x, kernel_shape=[2, 2])
        return y, (*shape[:2], shape[2] - 1, shape[3] - 1)

    def move(self, x, shape):
        """What only moves elements."""
        rank = len(shape)
        kind = str(pick(self.rng, ["Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice", "Identity", "Flatten"]))

        def ints(*values):
            return self.net.constant(np.array(values, np.int64))

        if kind == "Transpose":
            perm = [int(i) for i in self.rng.permutation(rank)]
            return self.net.node(kind, x, perm=perm), tuple(shape[i] for i in perm)
        if kind == "Slice":
            return self.net.node(kind, x, ints(0), ints(max(1, shape[-1] - 1)), ints(rank - 1)), (
                *shape[:-1],
                max(1, shape[-1] - 1),
            )
        if kind == "Squeeze":
            if shape[0] != 1 or rank < 3:
                return None
            return self.net.node(kind, x, ints(0)), shape[1:]
        if kind == "Unsqueeze":
            return (self.net.node(kind, x, ints(0)), (1, *shape)) if rank < 4 else None
        if kind == "Identity":
            return self.net.node(kind, x), shape
        flat = (shape[0], int(np.prod(shape[1:])))
        y = self.net.node("Flatten", x) if kind == "Flatten" else self.net.node("Reshape", x, ints(*flat))
        return y, flat

    def concat(self, x, shape):
        if np.prod(shape) > 200:
            return None
        same = [name for name, other in self.values if other == shape]
        return self.net.node("Concat", x, str(pick(self.rng, same)), axis=1), (shape[0], 2 * shape[1], *shape[2:])

    def step(self):
        """One operator behind one of the last tensors, and most often a pair behind it."""
        x, shape = self.values[-1] if self.chance(0.85) else self.values[int(self.rng.integers(len(self.values)))]
        ways = {"conv": 2, "matrix": 3, "binary": 3, "one": 2, "pool": 2, "move": 3, "concat": 1}
        names = [name for name, count in ways.items() for _ in range(count)]
        name = str(pick(self.rng, names))
        if name == "conv" and len(shape) != 4:
            name = "matrix"
        made = getattr(self, name)(x, shape)
        if made is None:
            return
        y, shape = made
        self.kept(y)
        self.values.append((self.pair(y) if self.chance(0.8) else y, shape))

    def drawn(self):
        """The model as bytes, and the data of its input."""
        shape = tuple(pick(self.rng, [(1, 2, 3, 3), (2, 4), (1, 3, 4), (1, 4, 2, 2), (2, 2, 2, 2), (4, 4)]))
        x = self.net.input(shape)
        self.values = [(self.pair(x), shape)]
        for _ in range(int(self.rng.integers(1, 5))):
            self.step()
        last = self.values[-1][0]
        names = {name: dtype for name, dtype in self.ends if name != last} | {last: "float32"}
        kinds = {name: helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) for name, dtype in names.items()}
        ends = [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()]
        graph = helper.make_graph(self.net.nodes, "graph", self.net.inputs, ends, self.net.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        assert model.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT
        return model, (self.rng.integers(-40, 40, shape) * F32(0.125)).astype(F32)


def drawn(rng):
    """A model, and the data of its input."""
    return Graph(rng).drawn()


UNMODELLED = "not modelled|itself refuses|and then fails"
"""What qops says where it does not follow onnxruntime; of files that onnxruntime refuses it says so in `fused`."""


def near(theirs, ours):
    """Whether all codes are equal, and floats but for their last bits: scales of common ranges are not exact."""
    return all(
        x.dtype == y.dtype
        and x.shape == y.shape
        and (np.allclose(x, y, rtol=1e-6, atol=1e-4) if x.dtype == F32 else (x == y).all())
        for x, y in zip(theirs, ours, strict=True)
    )


KNOWN = Known("float32 sums of scales that are not exact differ in their last bits", near)


def graph(rng):
    """A graph on onnxruntime and as `qops.models` reads it; zeros have no sign, which a maximum with 0 leaves open."""
    model, x = drawn(rng)
    content = model.SerializeToString()

    def system(feeds):
        return [y + y.dtype.type(0) for y in call("system_onnxruntime", "run", content, feeds)]

    def ours(feeds):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "graph.onnx")
            path.write_bytes(content)
            read = models.load(path, runtime=COLUMN)
        for word in read.fused:
            if "itself refuses" in word:
                raise ValueError(word)
        found = [read.run(fed) for fed in feeds]
        return [made[name] + made[name].dtype.type(0) for made in found for name in read.outputs]

    nodes = {n.output[0]: f"{n.op_type}({', '.join(n.input)})" for n in model.graph.node}
    arguments = {"opset": model.opset_import[0].version, **nodes}
    return Pair(system, ours, arguments, known=KNOWN, unmodelled=UNMODELLED, fed={"input_0": x})
