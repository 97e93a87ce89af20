"""What rows of ONNX's operators say of a node: types of results, channels, what is computed as a file is read."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx_networks import Network
from onnx_nodes import NODES, one

from qops.models.kinds import KINDS as EVERY
from qops.models.onnx.file import Node, read_onnx
from qops.models.onnx.kinds import KINDS, spec_of
from qops.models.onnx.sizes import shapes_of

F32 = np.float32
FOLDED = {
    *("Cast", "Concat", "DequantizeLinear", "Flatten", "Identity", "QuantizeLinear", "Reshape", "Slice", "Squeeze"),
    *("Transpose", "Unsqueeze"),
}
"""Operators whose results hold no more elements than what they read: few bytes of a file cannot become many."""
OTHERS = [
    ("Cast", [F32([1, 2])], {"to": TensorProto.INT32}),
    ("QuantizeLinear", [F32([1, 2]), F32(0.5), np.uint8(3)], {}),
    ("DequantizeLinear", [np.uint8([1, 2]), F32(0.5), np.uint8(3)], {}),
    ("QLinearMatMul", [*2 * [np.ones((2, 2), np.uint8), F32(0.5), np.uint8(3)], F32(0.5), np.uint8(3)], {}),
    ("ArgMax", [F32([1, 2])], {"axis": 0}),
    ("Equal", [F32([1, 2]), F32([1, 3])], {}),
]
EACH = list({node[0]: node for node in reversed((*NODES, *OTHERS))}.values())


@pytest.mark.parametrize(
    ("kind", "inputs", "dtype"),
    [
        ("ConvInteger", [np.ones((1, 1, 2, 2), np.int8)], "int32"),
        ("MatMulInteger", [np.ones((4, 3), np.int8)], "int32"),
        *((kind, [], "int64") for kind in ("Shape", "Size")),
        *((kind, [np.uint8([1])], "bool") for kind in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")),
    ],
)
def test_a_result_has_the_type_that_the_graph_says(load, kind, inputs, dtype):
    net = Network()
    x = net.input([1, 1, 4, 4], 2)  # uint8
    y = net.node(kind, x, *(net.constant(other) for other in inputs))
    graph = load(net.model(y, dtype={"int32": 6, "int64": 7, "bool": 9}[dtype]))
    assert graph.run(np.ones((1, 1, 4, 4), np.uint8))[graph.outputs[0]].dtype == dtype
    assert graph.tensors[graph.outputs[0]].dtype == dtype


@pytest.mark.parametrize(("attributes", "axis"), [({}, -1), ({"transB": 0}, -1), ({"transB": 1}, 0)])
def test_the_channels_of_a_gemm_lie_along_its_columns(attributes, axis):
    node = Node("QGemm", "com.microsoft", "one", ("",) * 9, ("y",), attributes)
    assert spec_of(node).of[1].axis == axis


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize(("kind", "inputs", "how"), EACH, ids=[node[0] for node in EACH])
def test_what_depends_on_constants_alone_is_computed_as_the_file_is_read(load, kind, inputs, how, runtime):
    """If its result is no larger; other nodes stay, and run with the graph."""
    more = dict(how)
    net, results = Network(more.pop("opset", 17)), more.pop("results", 1)
    names = [net.constant(x) if np.size(x) else "" for x in inputs]
    made = net.node(kind, *names, results=results, **more)
    y = net.node("Neg", net.input([2]))
    graph = load(net.model(*([made] if results == 1 else made), y), runtime)
    assert [op.kind for op in graph.ops] == ([] if kind in FOLDED else [kind]) + ["Neg"]


def test_no_other_operator_is_computed_as_a_file_is_read():
    assert {kind for kind, row in KINDS.items() if row.folds} == FOLDED


ONE = {
    *("AveragePool", "Clip", "GlobalAveragePool", "Identity", "LeakyRelu", "MaxPool", "Relu", "Reshape", "Sigmoid"),
    *("Slice", "Softmax", "Squeeze", "Transpose", "Unsqueeze"),
}
TWO = {"Add", "Conv", "DequantizeLinear", "Gemm", "MatMul", "Mul", "QuantizeLinear"}
"""What onnxruntime's rewriting looks at: such nodes need so many inputs before anything asks for them."""


@pytest.mark.parametrize(
    ("kind", "least"), [*((kind, 1) for kind in sorted(ONE)), *((kind, 2) for kind in sorted(TWO))]
)
def test_a_node_with_too_few_inputs_is_named(load, kind, least):
    net = Network()
    x = net.input([2])
    y = net.node(kind, *[x] * (least - 1))
    words = rf"network\.onnx: node 0, {kind} \(\w+\) has {least - 1} inputs, 1 results, which are too few$"
    with pytest.raises(ValueError, match=words):
        load(net.model(y))


def test_what_is_rounded_with_its_zero_point():
    """Onnxruntime's kernels of these add both before they round, so codes of int8 as uint8 may have other bits."""
    found = {kind for kind, row in KINDS.items() if row.rounds_zero_point}
    assert found == {"QLinearAdd", "QLinearMul", "QLinearAveragePool", "QLinearSoftmax"}


SHAPED = {
    *(
        "Add",
        "AveragePool",
        "Clip",
        "Conv",
        "DequantizeLinear",
        "Div",
        "Gelu",
        "Gemm",
        "GlobalAveragePool",
        "LeakyRelu",
    ),
    *("MatMul", "MaxPool", "Mul", "Neg", "QuantizeLinear", "Relu", "Sigmoid", "Softmax", "Sub", "Tanh"),
}
"""Whose shapes onnxruntime is thought to know before anything runs, beside those that move elements."""


@pytest.mark.parametrize("kind", sorted(kind for kind, *_ in EACH if kind in SHAPED and kind[-6:] != "Linear"))
def test_a_shape_is_known_before_anything_runs(load, tmp_path, kind):
    for _, inputs, how in (node for node in NODES if node[0] == kind):
        model, _ = one(kind, inputs, **how)
        (y,) = load(model).run(inputs[0]).values()
        (tmp_path / "one.onnx").write_bytes(model.SerializeToString())
        file = read_onnx(tmp_path / "one.onnx")
        assert shapes_of(file.nodes, file.tensors)[file.outputs[0]] == y.shape


def test_no_other_shape_is_known():
    assert {kind for kind, row in KINDS.items() if row.shape is not None} == SHAPED


def test_a_pool_of_codes_is_a_prepared_op_and_exact(load):
    x = np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4)
    (op,) = load(one("MaxPool", [x], kernel_shape=[2, 2], dtype=TensorProto.UINT8)[0]).ops
    assert op.rule == "exact"
    assert op.prepared.kernel_shape == (2, 2)


def test_quantizers_alone_take_values_to_codes():
    found = {kind for kind, row in EVERY.items() if row.recodes}
    assert found == {"QuantizeLinear", "DequantizeLinear", "QUANTIZE", "DEQUANTIZE"}
    assert {kind for kind, row in EVERY.items() if row.clamps} == {"Relu", "Clip"}
