"""The debugger on an ONNX network: a device that fuses, and faults that are planted in one layer."""

import numpy as np
import pytest
from onnx_networks import Network, residual

import qops
from qops import models, rules

F32 = np.float32


@pytest.fixture
def network(tmp_path):
    """The file, its fused graph, and all tensors of a run."""
    model, x = residual()
    path = tmp_path / "network.onnx"
    path.write_bytes(model.SerializeToString())
    graph = models.load(path, runtime="ort")
    return path, graph, graph.run(x, keep="all")


def of_kind(graph, kind):
    return next(op for op in graph.ops if op.kind == kind)


def hunted(network, op, codes):
    """What is said of a device that gives other codes for one layer, and what it makes of them is not dumped."""
    path, _, dump = network
    return qops.debug(path, device=dump | {op.outputs[0]: codes}, runtime="ort").first


def test_a_device_that_fuses_is_known_by_its_fusion(network):
    path, graph, dump = network
    found = qops.debug(path, device=dump)
    assert found.column.words.startswith("these are the integers of onnxruntime on x86 with VNNI")
    assert found.column.runtimes[0] == "ort"
    assert found.first.cause.startswith("as the runtime 'ort' computes it, which fuses the nodes: ")
    assert "became QLinearConv" in found.first.cause
    assert qops.debug(path, device=dump, runtime="ort").first is None
    dump[of_kind(graph, "QLinearAdd").outputs[0]][0, 0, 0, 0] ^= 1
    assert qops.debug(path, device=dump).column is None


def test_a_file_that_cannot_be_fused_is_explained_without_it(tmp_path):
    net = Network()
    x = net.both(net.input([None, 4]), 0.5, np.uint8(3))
    path = tmp_path / "network.onnx"
    path.write_bytes(net.model(net.both(net.node("Softmax", x), 0.01, np.uint8(0))).SerializeToString())
    graph, data = models.load(path), (np.arange(8, dtype=F32) / 4).reshape(2, 4)
    dump = graph.run(data, keep="all")
    dump[graph.ops[3].outputs[0]][0, 0] ^= 1
    assert "onnxruntime" not in qops.debug(path, device=dump).first.cause


def requantized(op, dump, rule="fp32-even", roll=0, bias=True):
    """The codes of a layer by another rule, with scales of its channels moved, or without its bias."""
    n = op.layer.numbers
    sums = op.layer.sums(dump[op.reads[0]], op.layer.bias if bias else None).astype(np.int32)
    scale = n["in_scale"] * np.roll(n["w_scale"], roll) / n["out_scale"]
    scale = float(scale) if np.size(scale) == 1 else scale
    return rules.requantize(sums, rule, scale=scale, zero_point=n["zero_point"], dtype="uint8", axis=n.get("axis", -1))


def test_one_layer_rounded_by_another_rule(network):
    _, graph, dump = network
    op = of_kind(graph, "QLinearConv")
    first = hunted(network, op, requantized(op, dump, "tflite-double"))
    assert first.layer == op.name
    assert "tflite-double" in first.rules


def test_a_bias_left_out(network):
    _, graph, dump = network
    op = of_kind(graph, "QLinearConv")
    assert hunted(network, op, requantized(op, dump, bias=False)).cause == "the bias left out"


def test_scales_of_channels_shifted_by_one(network):
    _, graph, dump = network
    op = of_kind(graph, "QLinearMatMul")
    first = hunted(network, op, requantized(op, dump, roll=1))
    assert (first.layer, first.cause[:34]) == (op.name, "scales of channels shifted by one:")


def test_a_dump_in_another_order_of_axes(network):
    _, graph, dump = network
    op = of_kind(graph, "QLinearConv")
    first = hunted(network, op, np.ascontiguousarray(dump[op.outputs[0]].transpose(0, 2, 3, 1)))
    assert first.cause == "the dump is NHWC, the model NCHW"


def test_a_wrong_zero_point(network):
    _, graph, dump = network
    op = of_kind(graph, "QLinearMatMul")
    moved = np.clip(dump[op.outputs[0]].astype(int) + 3, 0, 255).astype(np.uint8)
    assert "a wrong zero point of the result" in hunted(network, op, moved).cause


def test_of_a_large_image_all_channels_are_explained(tmp_path):
    """More codes than are explained, in one image, with a scale for each channel along axis 1."""
    net, rng = Network(), np.random.default_rng(3)
    x = net.both(net.input([None, 2, 160, 160]), 0.25, np.uint8(100))
    scales, zeros = rng.uniform(0.1, 0.5, 8).astype(F32), np.zeros(8, np.int8)
    w = net.dequantize(net.constant(rng.integers(-90, 90, (8, 2, 1, 1)).astype(np.int8)), scales, zeros, axis=0)
    path = tmp_path / "network.onnx"
    path.write_bytes(net.model(net.both(net.node("Conv", x, w), 3.0, np.uint8(120))).SerializeToString())
    graph = models.load(path, runtime="ort")
    dump = graph.run((rng.integers(-20, 20, (1, 2, 160, 160)) * F32(0.25)).astype(F32), keep="all")
    op = of_kind(graph, "QLinearConv")
    first = hunted((path, graph, dump), op, requantized(op, dump, roll=1))
    assert (first.layer, first.cause[:34]) == (op.name, "scales of channels shifted by one:")


def rounded_sums(path, size):
    """A network of float sums over images whose height and width are `size`, or not known, and their codes."""
    net = Network()
    x = net.input([None, 2, size, size])
    sums = net.node("ReduceSum", x, net.constant(np.int64([2, 3])))
    codes = net.node("QuantizeLinear", sums, net.constant(F32(0.5)), net.constant(np.uint8(128)))
    path.write_bytes(net.model(codes, dtype=2).SerializeToString())
    return x, sums, codes


def test_images_whose_height_and_width_are_not_known_are_those_of_the_dump(tmp_path):
    path = tmp_path / "sums.onnx"
    x, _, codes = rounded_sums(path, None)
    data = np.arange(2 * 5 * 4, dtype=F32).reshape(1, 2, 5, 4) / 8
    dump = models.load(path).run(data, keep="all")
    found = qops.debug(path, device={x: data, codes: dump[codes]})
    assert [row.differ for row in found.layers] == [None, 0]


@pytest.mark.parametrize(("off", "dumped", "says"), [(1, False, True), (2, False, False), (1, True, False)])
def test_codes_behind_floats_that_the_dump_lacks_say_so(tmp_path, off, dumped, says):
    path = tmp_path / "sums.onnx"
    x, sums, codes = rounded_sums(path, 3)
    data = np.arange(18, dtype=F32).reshape(1, 2, 3, 3) / 8
    dump = models.load(path).run(data, keep="all") | {x: data}
    dump[codes] = dump[codes] + np.uint8([off, 0]).reshape(dump[codes][0].shape)
    if not dumped:
        del dump[sums]
    first = qops.debug(path, device=dump).first
    assert ("floats that the dump lacks" in first.cause) == says


@pytest.mark.parametrize(("off", "differ"), [(1e-7, 0), (0.01, 1)])
def test_the_last_bits_of_a_sum_are_those_of_its_terms(tmp_path, off, differ):
    """The mean of a layer norm is nearly 0, and each order of its terms leaves another rest."""
    net = Network()
    x = net.input([1, 4])
    mean = net.node("ReduceMean", x, axes=[1])
    path = tmp_path / "mean.onnx"
    path.write_bytes(net.model(mean).SerializeToString())
    data = F32([[1, -3, 4, -2]])
    found = qops.debug(path, device={x: data, mean: F32([[off]])})
    assert [row.differ for row in found.layers] == [differ]
