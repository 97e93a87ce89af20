"""A float model beside a file as `quantize_static` of onnxruntime writes it: names, ReLUs that it removed."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import qops
from qops.models import load

W0, W1 = (np.random.default_rng(i).integers(-90, 91, (4, 4, 1, 1)).astype(np.int8) for i in (1, 2))
SCALES = {"x": 0.02, "r0": 0.03, "y": 0.04, "w": 0.006}


def saved(folder, name, nodes, kinds, constants):
    ends = [helper.make_tensor_value_info(n, kind, [2, 4, 6, 6]) for n, kind in zip(("x", "y"), kinds, strict=True)]
    stored = [numpy_helper.from_array(np.asarray(value), key) for key, value in constants.items()]
    graph = helper.make_graph(nodes, name, ends[:1], ends[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, folder / f"{name}.onnx")
    return folder / f"{name}.onnx"


def node(kind, inputs, output, name):
    return helper.make_node(kind, inputs, [output], name=name)


@pytest.fixture
def files(tmp_path):
    """Two convolutions, each with a ReLU: in float, as QDQ and as QOperator, where the ReLUs are removed."""
    both = [TensorProto.FLOAT] * 2
    f32 = {name: np.float32(value) for name, value in SCALES.items()}
    floats = {"w0": W0 * f32["w"], "w1": W1 * f32["w"]}
    nodes = [node("Conv", ["x", "w0"], "c0", "conv0"), node("Relu", ["c0"], "r0", "relu0")]
    nodes += [node("Conv", ["r0", "w1"], "c1", "conv1"), node("Relu", ["c1"], "y", "relu1")]
    plain = saved(tmp_path, "plain", nodes, both, floats)
    constants = {f"{name}_scale": value for name, value in f32.items()}
    constants |= {"x_zero": np.uint8(120), "r0_zero": np.uint8(0), "y_zero": np.uint8(0), "w_zero": np.int8(0)}
    constants |= {"w0_quantized": W0, "w1_quantized": W1}

    def pair(name, source):
        own = [f"{name}_scale", f"{name}_zero"]
        last = name if name == "y" else f"{name}_DequantizeLinear_Output"
        first = node("QuantizeLinear", [source, *own], f"{name}_QuantizeLinear_Output", f"{name}_QuantizeLinear")
        return [first, node("DequantizeLinear", [f"{name}_QuantizeLinear_Output", *own], last, f"{name}_Dequantize")]

    w = [
        node("DequantizeLinear", [f"w{i}_quantized", "w_scale", "w_zero"], f"w{i}_DequantizeLinear_Output", f"dw{i}")
        for i in (0, 1)
    ]
    nodes = [*w, *pair("x", "x")]
    nodes += [node("Conv", ["x_DequantizeLinear_Output", "w0_DequantizeLinear_Output"], "r0", "conv0")]
    nodes += pair("r0", "r0")
    second = ["r0_DequantizeLinear_Output", "w1_DequantizeLinear_Output"]
    nodes += [node("Conv", second, "y_QuantizeLinear_Input", "conv1"), *pair("y", "y_QuantizeLinear_Input")]
    qdq = saved(tmp_path, "qdq", nodes, both, constants)
    own = {name: [f"{name}_scale", f"{name}_zero"] for name in ("x", "r0", "y", "w")}
    nodes = [node("QuantizeLinear", ["x", *own["x"]], "x_quantized", "quantize")]
    for i, (source, before, after) in enumerate((("x", "x", "r0"), ("c0", "r0", "y"))):
        inputs = [f"{source}_quantized", *own[before], f"w{i}_quantized", *own["w"], *own[after]]
        nodes.append(node("QLinearConv", inputs, f"c{i}_quantized", f"conv{i}_quant"))
    nodes.append(node("DequantizeLinear", ["c1_quantized", *own["y"]], "y", "dequantize"))
    return plain, {"QDQ": qdq, "QOperator": saved(tmp_path, "qoperator", nodes, both, constants)}


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_every_tensor_has_its_twin(files, form, runtime):
    plain, quantized = files
    x = np.random.default_rng(3).uniform(-2.2, 2.2, (2, 4, 6, 6)).astype(np.float32)
    found = qops.debug(load(quantized[form], runtime=runtime), x, float_model=plain)
    assert not [note for note in found.notes if "no tensor in the float model" in note]
    assert len(found.layers) == {"QDQ": 4 if runtime == "ort" else 8, "QOperator": 4}[form]
    for row in found.layers:
        if not row.output.startswith("w"):
            assert row.sqnr > 25, row
            assert row.lsb is None or row.lsb < 1.5


def test_what_has_no_twin_is_said(files):
    plain, quantized = files
    model = onnx.load(quantized["QOperator"])
    for one in model.graph.node:
        for names in (one.input, one.output):
            names[:] = ["t7" if name == "c0_quantized" else name for name in names]
    onnx.save(model, quantized["QOperator"])
    x = np.random.default_rng(3).uniform(-2.2, 2.2, (2, 4, 6, 6)).astype(np.float32)
    found = qops.debug(quantized["QOperator"], x, float_model=plain)
    assert "1 of 4 results have no tensor in the float model: 't7'" in found.notes
