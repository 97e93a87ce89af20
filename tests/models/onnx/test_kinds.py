"""What rows of ONNX's operators say of a node: the types of its results, and the axis of its channels."""

import numpy as np
import pytest
from onnx_networks import Network

from qops.models.onnx.file import Node
from qops.models.onnx.kinds import spec_of


@pytest.mark.parametrize(
    ("kind", "inputs", "dtype"),
    [
        ("ConvInteger", [np.ones((1, 1, 2, 2), np.int8)], "int32"),
        ("MatMulInteger", [np.ones((4, 3), np.int8)], "int32"),
        ("Shape", [], "int64"),
        ("Equal", [np.uint8([1])], "bool"),
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
