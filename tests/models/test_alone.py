"""One op of a graph as a model of its own: whole, and cut down to what makes one element."""

import numpy as np
import pytest
import small_network
import small_onnx
import tflite_models
from onnx import helper
from onnx_networks import Network, drawn
from onnx_nodes import NODES, one

from qops.models import Operator, Tensor, load, tflite_bytes

WHOLE = {
    *("PAD", "PADV2", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
}
"""What is not cut: moves, and ops with a state."""
FEW = 12  # golden cases of each operator


def again(path, made, runtime):
    """Write a model, read it and run it on its inputs."""
    path.write_bytes(made.file())
    graph = load(path, runtime=runtime)
    (op,), values = graph.ops, graph.run(made.inputs)
    assert all(y.shape == graph.tensors[name].shape or not graph.tensors[name].shape for name, y in values.items())
    return op, values


def taken(path, inputs):
    """The graph of the first runtime that takes a file, and all its tensors."""
    for runtime in ("reference", "tflm", "xnnpack", "optimized"):
        try:
            graph = load(path, runtime=runtime)
            return graph, graph.run(inputs, keep="all")
        except ValueError:
            continue
    raise AssertionError(path)


@pytest.mark.parametrize("kind", tflite_models.kinds())
def test_an_operator_alone_gives_the_same(kind, tmp_path, rng):
    """Of golden cases: each is read, and its one op is written anew, whole and for a few elements."""
    found, arrays = tflite_models.cases(kind)
    tried = cut = 0
    for case in found[:: max(1, len(found) // FEW)]:
        file, inputs = tflite_models.model(case, arrays)
        (tmp_path / "case.tflite").write_bytes(file)
        graph, made = taken(tmp_path / "case.tflite", inputs)
        (op,) = graph.ops
        given, wanted = ([made[name] for name in names] for names in (op.reads, op.outputs))
        own, values = again(tmp_path / "alone.tflite", op.alone(given, wanted), graph.runtime)
        assert (own.kind, own.reads, own.outputs) == (op.kind, op.reads, op.outputs)
        for name, value in zip(op.outputs, wanted, strict=True):
            np.testing.assert_array_equal(values[name], value)
        tried += 1
        for place in rng.integers(0, wanted[0].size, min(3, wanted[0].size)):
            index = tuple(map(int, np.unravel_index(place, wanted[0].shape)))
            one = op.alone(given, wanted, index)
            if one is None:
                continue
            _, values = again(tmp_path / "one.tflite", one, graph.runtime)
            assert values[op.outputs[0]][one.place] == wanted[0][index], (case, index)
            assert one.how
            cut += 1
    assert tried
    assert bool(cut) == (kind not in WHOLE)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@pytest.mark.parametrize("runtime", ["reference", "optimized", "xnnpack", "tflm"])
def test_one_element_of_every_layer_of_a_network(dtype, runtime, tmp_path, rng):
    _, x = small_network.file(tmp_path / "small.tflite", dtype)
    graph = load(tmp_path / "small.tflite", runtime=runtime)
    made = graph.run(x, keep="all")
    for op in graph.ops:
        given, wanted = [made[name] for name in op.reads], [made[name] for name in op.outputs]
        for place in rng.integers(0, wanted[0].size, 6):
            index = tuple(map(int, np.unravel_index(place, wanted[0].shape)))
            one = op.alone(given, wanted, index)
            if op.kind == "RESHAPE":
                assert one is None
                continue
            assert sum(x.size for x in one.inputs.values()) <= min(128, sum(x.size for x in given))
            _, values = again(tmp_path / "one.tflite", one, runtime)
            assert values[op.outputs[0]][one.place] == wanted[0][index]


def test_inputs_that_do_not_count_are_left_out(tmp_path):
    """Padding, zero points and weights of 0 add nothing to a sum, so a corner needs fewer pixels than the middle."""
    _, x = small_network.file(tmp_path / "small.tflite")
    graph = load(tmp_path / "small.tflite")
    made = graph.run(x, keep="all")
    op = graph.ops[0]
    given, wanted = [made[name] for name in op.reads], [made[name] for name in op.outputs]
    corner, middle = (op.alone(given, wanted, (0, at, at, 0)) for at in (0, 4))
    assert corner.inputs["image"].shape == (1, 2, 2, 3)
    assert middle.inputs["image"].shape == (1, 3, 3, 3)
    assert len(corner.file()) < len(op.alone(given, wanted).file())


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
def test_nodes_of_onnx(runtime, tmp_path, rng):
    x = small_onnx.file(tmp_path / "small.onnx")
    graph = load(tmp_path / "small.onnx", runtime=runtime)
    made = graph.run(x, keep="all")
    for op in graph.ops:
        given, wanted = [made[name] for name in op.reads], [made[name] for name in op.outputs]
        own, values = again(tmp_path / "alone.onnx", op.alone(given, wanted), runtime)
        assert (own.kind, own.reads, own.outputs) == (op.kind, op.reads, op.outputs)
        np.testing.assert_array_equal(values[op.outputs[0]], wanted[0])
        for place in rng.integers(0, wanted[0].size, 8):
            index = tuple(map(int, np.unravel_index(place, wanted[0].shape)))
            one = op.alone(given, wanted, index)
            if op.kind == "Flatten":
                assert one is None
                continue
            assert sum(x.size for x in one.inputs.values()) <= sum(x.size for x in given)
            _, values = again(tmp_path / "one.onnx", one, runtime)
            assert values[op.outputs[0]][one.place] == wanted[0][index]


CUT = {
    *("QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearAdd", "QLinearMul", "QGemm", "QLinearMatMul"),
    *("QLinearSigmoid", "QLinearLeakyRelu", "QLinearAveragePool", "QLinearGlobalAveragePool", "MaxPool", "Relu"),
    *("MatMulIntegerToFloat", "Sigmoid", "LeakyRelu", "Add", "Mul", "AveragePool", "GlobalAveragePool"),
}
"""Nodes of random networks that are cut down to one element."""


@pytest.mark.long
def test_nodes_of_random_networks(tmp_path, rng):
    """Of uint8, whose graphs hold each node as a file can; both as written and as onnxruntime fuses them."""
    cut = set()
    for seed in range(24):
        model, x = drawn(seed, dtype=np.uint8)
        (tmp_path / "network.onnx").write_bytes(model.SerializeToString())
        runtime = ("onnx", "ort")[seed % 2]
        try:
            graph = load(tmp_path / "network.onnx", runtime=runtime)
        except ValueError:  # what qops does not have of onnxruntime's
            continue
        made = graph.run(x, keep="all")
        for op in graph.ops:
            given, wanted = [made[name] for name in op.reads], [made[name] for name in op.outputs]
            place = int(rng.integers(wanted[0].size))
            index = tuple(map(int, np.unravel_index(place, wanted[0].shape)))
            one = op.alone(given, wanted, index)
            if one is None:
                continue
            _, values = again(tmp_path / "one.onnx", one, "onnx" if op.runtime == "onnx" else "ort")
            assert values[op.outputs[0]][one.place] == wanted[0][index], (seed, op.kind)
            assert sum(x.size for x in one.inputs.values()) <= sum(x.size for x in given)
            cut.add(op.kind)
    assert cut >= CUT, CUT - cut


OF_FLOATS = {
    *("Add", "Sub", "Mul", "Div", "Clip", "Relu", "LeakyRelu", "Sigmoid", "Tanh", "MaxPool", "AveragePool"),
    "GlobalAveragePool",
}
"""Operators of real numbers that are cut down to one element: `debug` makes small models of these."""


@pytest.mark.parametrize("kind", sorted({kind for kind, *_ in NODES}))
def test_nodes_of_floats_are_cut(kind, tmp_path, rng):
    """In some of their forms; all others say that no smaller node does."""
    cut = 0
    for _, inputs, how in (node for node in NODES if node[0] == kind and np.size(node[1][0])):
        model, _ = one(kind, inputs, **how)
        (tmp_path / "network.onnx").write_bytes(model.SerializeToString())
        (op,) = load(tmp_path / "network.onnx").ops
        (wanted, *_) = op.call(inputs[0])
        index = tuple(map(int, np.unravel_index(rng.integers(wanted.size), wanted.shape)))
        found = op.alone([inputs[0]], [wanted], index)
        if found is None:
            continue
        _, values = again(tmp_path / "one.onnx", found, "onnx")
        assert values[op.outputs[0]][found.place] == wanted[index]
        assert sum(x.size for x in found.inputs.values()) < inputs[0].size
        cut += 1
    assert bool(cut) == (kind in OF_FLOATS)


@pytest.mark.parametrize(
    ("kind", "count", "options", "function"),
    [
        ("DIV", 2, {"FusedActivationFunction": 1}, lambda a, b: np.maximum(a / b, 0)),
        ("DIV", 2, {}, np.divide),
        ("LOG", 1, {}, lambda a: np.log(a.astype(np.float64))),
    ],
)
def test_operators_of_floats_alone_are_cut(kind, count, options, function, tmp_path, rng):
    """TFLite has no kernels of codes of them."""
    given = [rng.uniform(0.5, 9, (3, 4)).astype(np.float32) for _ in range(count)]
    given[0] -= np.float32(4 * (kind == "DIV"))
    *inputs, y = (Tensor(name, (3, 4), "float32") for name in ("ab"[:count] + "y"))
    file = tflite_bytes([*inputs, y], [Operator(kind, inputs, [y], options, [])], inputs, [y])
    (tmp_path / "network.tflite").write_bytes(file)
    (op,) = load(tmp_path / "network.tflite").ops
    (wanted,) = op.call(*given)
    np.testing.assert_allclose(wanted, function(*given), rtol=1e-7)
    found = op.alone(given, [wanted], (2, 1))
    assert [x.size for x in found.inputs.values()] == [1] * count
    _, values = again(tmp_path / "one.tflite", found, "reference")
    assert values["y"][found.place] == wanted[2, 1]


def one_node(path, kind, x, *more, domain="", **attributes):
    """The graph of one node that reads `x`."""
    net, of = Network(), helper.np_dtype_to_tensor_dtype
    node = net.node(kind, net.input(x.shape, of(x.dtype)), *map(net.constant, more), domain=domain, **attributes)
    out = of(x.dtype) if domain else of(np.dtype(np.int32))
    path.write_bytes(net.model(node, dtype=out).SerializeToString())
    return load(path, runtime="ort" if domain else "onnx")


def softmax(path, rng, opset, axis):
    x, numbers = rng.integers(0, 256, (3, 4, 5), np.uint8), [np.float32(0.07), np.uint8(9)]
    more = {"domain": "com.microsoft", "opset": opset, "axis": axis}
    return x, one_node(path, "QLinearSoftmax", x, *numbers, np.float32(1 / 256), np.uint8(0), **more)


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("MaxPool", {}),
        ("MaxPool", {"dilations": [1, 2]}),
        ("MaxPool", {"ceil_mode": 1}),
        ("AveragePool", {}),
        ("AveragePool", {"count_include_pad": 1}),
    ],
)
def test_only_whole_windows_of_neighbours_are_cut(kind, how, tmp_path):
    net, x = Network(), np.arange(35, dtype=np.float32).reshape(1, 1, 5, 7)
    y = net.node(kind, net.input(x.shape), kernel_shape=[2, 2], strides=[2, 2], **how)
    (tmp_path / "pool.onnx").write_bytes(net.model(y).SerializeToString())
    (op,) = load(tmp_path / "pool.onnx").ops
    assert (op.alone([x], op.call(x), (0, 0, 1, 1)) is None) == bool(how)


def matrices(path, rng, w_zero):
    x, w = rng.integers(0, 256, (3, 4, 6), np.uint8), rng.integers(-128, 128, (6, 5), np.int8)
    w[2] = 3
    return x, one_node(path, "MatMulInteger", x, w, np.uint8(7), w_zero)


def images(path, rng, group, w_zero):
    x, w = rng.integers(0, 256, (2, 4, 6, 7), np.uint8), rng.integers(-128, 128, (6, 4 // group, 3, 3), np.int8)
    x[:, :, 2:4] = 0  # codes of 0 are not real 0, which is 7
    how = {"group": group, "pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]}
    return x, one_node(path, "ConvInteger", x, w, np.uint8(7), w_zero, **how)


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (softmax, (13, -1)),
        (softmax, (13, 1)),
        (softmax, (11, 1)),
        (softmax, (11, 2)),
        (matrices, (np.int8(3),)),
        (matrices, (np.int8([3, 0, -9, 127, -128]),)),
        (images, (1, np.int8(0))),
        (images, (2, np.int8(5))),
    ],
)
def test_nodes_of_integers_are_cut(make, given, tmp_path, rng):
    x, graph = make(tmp_path / "network.onnx", rng, *given)
    (op,) = graph.ops
    (wanted,) = op.call(x)
    for place in rng.integers(0, wanted.size, 12):
        index = tuple(map(int, np.unravel_index(place, wanted.shape)))
        one = op.alone([x], [wanted], index)
        assert sum(part.size for part in one.inputs.values()) < x.size
        assert one.how
        _, values = again(tmp_path / "one.onnx", one, graph.runtime)
        assert values[op.outputs[0]][one.place] == wanted[index]
