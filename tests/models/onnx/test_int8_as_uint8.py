"""Graphs of int8 codes on x86: onnxruntime makes uint8 of them first, and without VNNI their products saturate."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from qops import models

WEIGHTS = {
    "Conv": np.full((4, 3, 3, 3), 127, np.int8),
    "MatMul": np.full((12, 4), 127, np.int8),
    "Gemm": np.full((12, 4), -127, np.int8),
}


def saved(path, kind, dtype, has_codes):
    """A layer between DequantizeLinear and QuantizeLinear, whose data have codes of uint8, or the same less 128."""
    zero = np.array(0 if dtype == np.uint8 else -128, dtype)
    result_zero = np.array(64 if dtype == np.uint8 else -64, dtype)
    constants = {"x_scale": np.float32(0.02), "x_zero": zero, "w": WEIGHTS[kind], "w_scale": np.float32(0.01)}
    constants |= {"w_zero": np.int8(0), "y_scale": np.float32(1.5), "y_zero": result_zero}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "x_scale", "x_zero"], ["x_codes"]),
        helper.make_node("DequantizeLinear", ["x_codes", "x_scale", "x_zero"], ["x_real"]),
        helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["w_real"]),
        helper.make_node(kind, ["x_real", "w_real"], ["y_real" if has_codes else "y"], "layer"),
    ]
    if has_codes:
        nodes.append(helper.make_node("QuantizeLinear", ["y_real", "y_scale", "y_zero"], ["y_codes"]))
        nodes.append(helper.make_node("DequantizeLinear", ["y_codes", "y_scale", "y_zero"], ["y"]))
    shapes = ([1, 3, 6, 6], [1, 4, 4, 4]) if kind == "Conv" else ([2, 12], [2, 4])
    ends = [helper.make_tensor_value_info(name, 1, shape) for name, shape in zip("xy", shapes, strict=True)]
    parts = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], parts)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return shapes[0]


@pytest.mark.parametrize(("kind", "has_codes"), [("Conv", True), ("MatMul", True), ("Gemm", True), ("Gemm", False)])
def test_both_types_saturate_alike(kind, has_codes, tmp_path):
    """As onnxruntime 1.32 does on a CPU with AVX2, where it was run; with VNNI both are exact."""
    made = {}
    for dtype in (np.uint8, np.int8):
        path = tmp_path / f"{np.dtype(dtype).name}.onnx"
        shape = saved(path, kind, dtype, has_codes)
        x = np.random.default_rng(0).uniform(2, 5.1, shape).astype(np.float32)
        for runtime in ("ort", "ort_avx2", "ort_arm"):
            graph = models.load(path, runtime=runtime)
            assert any("became" in words for words in graph.fused)
            made[np.dtype(dtype).name, runtime] = graph.run(x)["y"]
    for runtime in ("ort", "ort_avx2", "ort_arm"):
        np.testing.assert_array_equal(made["int8", runtime], made["uint8", runtime])
    assert (made["int8", "ort_avx2"] != made["int8", "ort"]).any()


def test_a_layer_is_made_anew_for_another_runtime(tmp_path):
    shape = saved(tmp_path / "net.onnx", "Conv", np.int8, True)
    x = np.random.default_rng(0).uniform(2, 5.1, shape).astype(np.float32)
    graphs = {name: models.load(tmp_path / "net.onnx", runtime=name) for name in ("ort", "ort_avx2")}
    codes = graphs["ort"].run(x, keep="all")["x_codes"]
    ops = {name: next(op for op in graph.ops if op.name == "layer") for name, graph in graphs.items()}
    for here, there in (("ort", "ort_avx2"), ("ort_avx2", "ort")):
        np.testing.assert_array_equal(ops[here].remade(there).call(codes)[0], ops[there].call(codes)[0])
    assert ops["ort"].prepared is not None
    assert ops["ort"].on_uint8 is None
    assert ops["ort_avx2"].prepared is None
    assert ops["ort_avx2"].on_uint8.w.dtype == np.int8
