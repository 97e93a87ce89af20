"""Models whose data are quantized at run time: DynamicQuantizeLinear, MatMulInteger, Cast, Mul."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import qops


@pytest.fixture
def model(tmp_path):
    random = np.random.default_rng(0)
    constants = {"w": random.integers(-127, 128, (12, 5)).astype(np.int8), "w_zero": np.int8(0)}
    constants["w_scale"] = np.float32(0.01)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["codes", "scale", "zero"]),
        helper.make_node("MatMulInteger", ["codes", "w", "zero", "w_zero"], ["acc"], "layer"),
        helper.make_node("Cast", ["acc"], ["sums"], to=1),
        helper.make_node("Mul", ["scale", "w_scale"], ["scales"]),
        helper.make_node("Mul", ["sums", "scales"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, 1, [8, n]) for name, n in (("x", 12), ("y", 5))]
    parts = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], parts)
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path, random.uniform(-0.1, 1, (8, 12)).astype(np.float32)


def test_what_the_column_gives(model):
    path, x = model
    found = qops.saturation(path, x)
    assert not found.safe
    assert found["layer"].seen.wrong
    there = qops.models.load(path, runtime="ort_avx2")
    assert "layer (MatMulInteger)" in there.hazards[0]
    np.testing.assert_array_equal(there.run(x)["y"], found.outputs["y"])
    exact = qops.models.load(path, runtime="ort").run(x)["y"]
    np.testing.assert_array_equal(exact, found.exact["y"])
    assert found.errors["y"] == np.abs(found.outputs["y"].astype(float) - exact).max() > 0


def test_the_accumulator_holds_all_zero_points(model):
    """The zero point may be each code, so sums reach as far as with the worst of them."""
    path, _ = model
    w = next(t.data for t in qops.models.load(path).tensors.values() if t.name == "w").astype(int)
    acc = qops.saturation(path)["layer"].accumulator
    assert acc.highest == 255 * max(np.maximum(w, 0).sum(0).max(), -np.minimum(w, 0).sum(0).min())


@pytest.mark.parametrize("how", ["types", "pairs", "widen", "reduce_range"])
def test_repairs(model, tmp_path, how):
    """The scale of the weights stands behind a Cast, multiplied by that of the data. onnxruntime gave these bits."""
    path, x = model
    found = qops.saturation(path, x)
    new = qops.saturation(found.write(tmp_path / "new.onnx", how), x)
    assert new.safe
    off = np.abs(new.outputs["y"] - found.exact["y"]).max()
    assert (off == 0) == (how in ("types", "pairs"))
    assert off < found.errors["y"] / 10


@pytest.mark.parametrize(
    ("how", "why"),
    [("data", "DynamicQuantizeLinear .* makes codes of uint8"), ("data_7_bits", "does not say the scale")],
)
def test_refused(model, tmp_path, how, why):
    path, x = model
    with pytest.raises(ValueError, match=f"how: .*{why}"):
        qops.saturation(path, x).write(tmp_path / "new.onnx", how)
    assert not (tmp_path / "new.onnx").exists()


def test_a_layer_that_quantizes_its_data_itself(tmp_path):
    """DynamicQuantizeMatMul reads no scale of its data, so there is none to widen; its channels can be moved."""
    random = np.random.default_rng(0)
    x = random.uniform(-0.1, 1, (8, 12)).astype(np.float32)
    w = random.integers(-127, 128, (12, 5)).astype(np.int8)
    weights = {"w": w, "w_scale": np.float32([0.01]), "w_zero": np.zeros(1, np.int8)}
    node = helper.make_node("DynamicQuantizeMatMul", ["x", *weights], ["y"], "layer", domain="com.microsoft")
    ends = [helper.make_tensor_value_info(name, 1, [8, n]) for name, n in (("x", 12), ("y", 5))]
    parts = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph([node], "net", ends[:1], ends[1:], parts)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    found = qops.saturation(path, x)
    assert not found.safe
    with pytest.raises(ValueError, match=r"how: .*does not say the scale"):
        found.write(tmp_path / "new.onnx", "data_7_bits")
    new = qops.saturation(found.write(tmp_path / "new.onnx", "pairs"), x)
    assert new.safe
    np.testing.assert_array_equal(new.outputs["y"], found.exact["y"])
