"""The node tests that the `onnx` package carries for the seven operators, bit for bit."""

from importlib import import_module

import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case import node as node_tests

from qops import onnx

OPERATORS = {
    "QuantizeLinear": onnx.quantize_linear,
    "DequantizeLinear": onnx.dequantize_linear,
    "DynamicQuantizeLinear": onnx.dynamic_quantize_linear,
    "QLinearMatMul": onnx.qlinear_matmul,
    "QLinearConv": onnx.qlinear_conv,
    "MatMulInteger": onnx.matmul_integer,
    "ConvInteger": onnx.conv_integer,
}
for name in OPERATORS:
    import_module(f"{node_tests.__name__}.{name.lower()}")
CASES = {case.name: case for case in node_tests._NodeTestCases if case.name.split("_")[1] in map(str.lower, OPERATORS)}
EXPANDED = "_expanded"  # the same data; the model spells the operator out


def array(value):
    """Types that numpy lacks come as `TensorProto`."""
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def attribute(proto):
    value = helper.get_attribute_value(proto)
    return helper.tensor_dtype_to_np_dtype(value) if proto.name == "output_dtype" else value


def test_the_package_has_all_cases():
    assert len(CASES) >= 45
    assert {CASES[name.removesuffix(EXPANDED)].model.graph.node[0].op_type for name in CASES} == set(OPERATORS)


@pytest.mark.parametrize("name", CASES)
def test_node(name):
    (node,) = CASES[name.removesuffix(EXPANDED)].model.graph.node
    for inputs, wanted in CASES[name].data_sets:
        assert len(inputs) == len(node.input), "no input is left out in the middle"
        attributes = {proto.name: attribute(proto) for proto in node.attribute}
        got = OPERATORS[node.op_type](*map(array, inputs), **attributes)
        results = got if isinstance(got, tuple) else (got,)
        for result, want in zip(results, map(array, wanted), strict=True):
            assert result.dtype == want.dtype
            assert result.shape == want.shape
            assert result.tobytes() == want.tobytes()
