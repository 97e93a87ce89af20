"""Sixty kinds of faults are planted in a convolution of each format; `debug` names each, and none by a wrong name."""

import numpy as np
import onnx
import planted_faults
import pytest
from onnx import TensorProto, helper, numpy_helper

import qops
from qops import rules
from qops.models import Operator, Tensor, load, tflite_bytes

SHAPE = (3, 8, 8, 6)
SCALES = (0.02, np.float32([0.005, 0.009, 0.004, 0.011, 0.006, 0.008, 0.01, 0.007]))
_WINDOW = {"StrideH": 1, "StrideW": 1, "Padding": 0, "DilationHFactor": 1, "DilationWFactor": 1}


def drawn():
    draw = np.random.default_rng(11)
    w = draw.integers(-100, 101, (8, 3, 3, 6))
    return draw.integers(0, 256, SHAPE), w, draw.integers(-9000, 9000, 8)


def tflite_conv(folder):
    """A conv of int8, padded: x, weights with a scale for each channel, y of zero point -7."""
    codes, w, bias = drawn()
    in_scale, w_scale = np.float32(SCALES[0]), SCALES[1]
    zero = [np.asarray(z, np.int64) for z in (11, -7)]
    x = Tensor("x", (1, *SHAPE[1:]), "int8", in_scale, zero[0])
    y = Tensor("y", (1, *SHAPE[1:3], 8), "int8", np.float32(0.05), zero[1])
    no = np.zeros(8, np.int64)
    weights = Tensor("w", w.shape, "int8", w_scale, no, 0, w.astype(np.int8))
    biases = Tensor("b", (8,), "int32", in_scale * w_scale, no, 0, bias.astype(np.int32))
    operator = Operator("CONV_2D", [x, weights, biases], [y], {**_WINDOW, "FusedActivationFunction": 0}, [])
    path = folder / "conv.tflite"
    path.write_bytes(tflite_bytes([x, weights, biases, y], [operator], [x], [y]))
    return load(path), (codes - 128).astype(np.int8)


def onnx_conv(folder, w_type=np.int8, y_scale=0.05):
    """The same as a QLinearConv; with weights of uint8, which have a zero point and one scale."""
    codes, w, bias = drawn()
    w_scale, w_zero = (SCALES[1], np.zeros(8, np.int8)) if w_type == np.int8 else (np.float32(0.008), np.uint8(120))
    weights = (w.transpose(0, 3, 1, 2) + (0 if w_type == np.int8 else 120)).astype(w_type)
    constants = {
        "x_scale": np.float32(SCALES[0]),
        "x_zero": np.int8(11),
        "w": np.ascontiguousarray(weights),
        "w_scale": w_scale,
        "w_zero": w_zero,
        "y_scale": np.float32(y_scale),
        "y_zero": np.int8(-7),
        "b": bias.astype(np.int32),
    }
    if w_type == np.uint8:
        constants |= {"x_zero": np.uint8(139), "y_zero": np.uint8(121)}
    kind = TensorProto.INT8 if w_type == np.int8 else TensorProto.UINT8
    node = helper.make_node("QLinearConv", ["x", *constants], ["y"], pads=[1, 1, 1, 1], name="conv")
    ends = [helper.make_tensor_value_info(name, kind, ["n", c, 8, 8]) for name, c in (("x", 6), ("y", 8))]
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph([node], "conv", ends[:1], ends[1:], stored)
    path = folder / f"conv_{np.dtype(w_type)}_{y_scale}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    moved = codes - 128 if w_type == np.int8 else codes
    return load(path, runtime="ort"), np.ascontiguousarray(moved.transpose(0, 3, 1, 2).astype(w_type))


@pytest.fixture(scope="module")
def layers(tmp_path_factory):
    """Graphs of one layer, what it reads and gives, by format."""
    folder = tmp_path_factory.mktemp("layers")
    made = {
        "tflite": tflite_conv(folder),
        "onnx": onnx_conv(folder),
        "onnx uint8": onnx_conv(folder, np.uint8),
        "onnx uint8 wide": onnx_conv(folder, np.uint8, 3.0),  # where no fault saturates all codes
    }
    found = {}
    for name, (graph, x) in made.items():
        dump = graph.run(x, keep="all")
        found[name] = graph, graph.ops[0], x, dump[graph.ops[0].outputs[0]]
    return found


OF_CHANNELS = [words for words in planted_faults.FAULTS if "channels" in words and "scale" in words]
ZERO_OF_WEIGHTS = ("the weights: 0", "of the weights, left out", "of the weights, of the other sign")


ALSO = {("onnx uint8", "sums kept in 13 bits, which saturate"): "clamped to codes"}
"""Where another name is as true: with one scale for all channels, sums that saturate are codes that are clamped."""


def has(words, form):
    """Whether a layer of a form can have a fault: scales of channels, or a zero point of the weights."""
    if words.endswith(ZERO_OF_WEIGHTS):
        return form == ("onnx uint8 wide" if words.startswith("both") else "onnx uint8")
    if form == "onnx uint8 wide":
        return False
    if words in ("clamped to a symmetric range", "a wrong zero point of the result (zero_point of the other sign"):
        return form != "onnx uint8"
    return form != "onnx uint8" or not (words in OF_CHANNELS or words.startswith("a wrong scale there"))


FORMS = "tflite", "onnx", "onnx uint8", "onnx uint8 wide"
CASES = [(form, words) for words in planted_faults.FAULTS for form in FORMS if has(words, form)]


def test_there_are_sixty_kinds():
    assert len(planted_faults.FAULTS) >= 60
    assert {words for _, words in CASES} == set(planted_faults.FAULTS)


@pytest.mark.parametrize(("form", "words"), CASES)
def test_a_fault_is_named(layers, form, words):
    graph, op, x, right = layers[form]
    got = planted_faults.FAULTS[words](op.layer, x, right)
    assert (got != right).any(), "the fault shows"
    found = qops.debug(graph, device={graph.inputs[0]: x, op.outputs[0]: got})
    assert ALSO.get((form, words), words) in found.first.cause, found.first


VERSIONS = {
    "onednn-2.6": "oneDNN 2.6.3, an older version",
    "onednn-3.2": "oneDNN 3.2.0, an older version",
    "onednn-3.13": "oneDNN 3.13.2",
}


@pytest.mark.parametrize("rule", VERSIONS)
def test_the_version_whose_order_of_scales_and_bias_gives_the_integers_is_named(tmp_path, rule):
    graph, x = onnx_conv(tmp_path, np.int8, 0.0512)
    op, x = graph.ops[0], np.random.default_rng(1).integers(-128, 128, (100, *x.shape[1:])).astype(np.int8)
    n = op.layer.numbers
    scales, bias = (
        (n["in_scale"], n["w_scale"], n["out_scale"]),
        op.layer.bias * np.float64(n["in_scale"]) * n["w_scale"],
    )
    how = {"bias": bias, "zero_point": n["zero_point"], "axis": 1}
    got = rules.requantize(op.layer.sums(x, None), rule, scales=scales, **how)
    found = qops.debug(graph, device={graph.inputs[0]: x, op.outputs[0]: got}).first
    assert {rule, f"{rule}-no-bias"} & {*found.rules}, found
    assert VERSIONS[rule] in found.cause, found
