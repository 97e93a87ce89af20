"""Numbers of float16 in .onnx files: in what type QuantizeLinear divides, and scales of QLinearMatMul."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator
from onnx_networks import Network

X = np.array([0.45, 2.25, 1.005, 7.35, 10.05, 13.65, 0.15, 19.95], np.float32)
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}
QUOTIENTS = [
    ("float32", "float32", 0, [4, 10, 6, 27, 37, 48, 3, 69]),
    ("float32", "float32", 1, [4, 10, 6, 27, 37, 48, 3, 69]),
    ("float32", "float32", 10, [5, 11, 6, 27, 36, 49, 3, 69]),
    ("float32", "float16", 0, [5, 11, 6, 27, 36, 49, 3, 69]),
    ("float32", "float16", 1, [4, 10, 6, 27, 36, 48, 3, 69]),
    ("float32", "float16", 10, [5, 11, 6, 27, 36, 49, 3, 69]),
    ("float16", "float32", 0, [4, 10, 6, 28, 36, 48, 4, 70]),
    ("float16", "float32", 1, [4, 10, 6, 28, 36, 48, 4, 70]),
    ("float16", "float32", 10, [5, 11, 6, 27, 36, 49, 3, 69]),
    ("float16", "float16", 0, [5, 11, 6, 27, 36, 49, 3, 69]),
    ("float16", "float16", 1, [4, 10, 6, 28, 36, 48, 3, 69]),
    ("float16", "float16", 10, [5, 11, 6, 27, 36, 49, 3, 69]),
]
"""The types of data and scale, the number of the attribute `precision`, and the codes of onnxruntime 1.32.0."""


@pytest.mark.parametrize(("data", "scale", "precision", "codes"), QUOTIENTS)
def test_a_quantizer_divides_in_the_type_that_it_says_or_in_that_of_its_scale(load, data, scale, precision, codes):
    net = Network(23)
    x = net.input([8], TYPES[data])
    numbers = net.constant(np.dtype(scale).type(0.3)), net.constant(np.uint8(3))
    q = net.node("QuantizeLinear", x, *numbers, **({"precision": precision} if precision else {}))
    model, values = net.model(q, dtype=TensorProto.UINT8), X.astype(data)
    assert load(model, "ort").run(values)[q].tolist() == codes
    (want,) = ReferenceEvaluator(model).run(None, {x: values})
    assert load(model).run(values)[q].tolist() == want.tolist()


def test_before_opset_23_onnxruntime_divides_in_float32(load):
    net = Network(21)
    x = net.input([8], TensorProto.FLOAT16)
    q = net.node("QuantizeLinear", x, net.constant(np.float16(0.3)), net.constant(np.uint8(3)))
    model = net.model(q, dtype=TensorProto.UINT8)
    assert load(model, "ort").run(X.astype(np.float16))[q].tolist() == [4, 10, 6, 28, 36, 48, 3, 69]


def test_a_precision_that_qops_lacks_is_named(load):
    net = Network(25)
    q = net.node("QuantizeLinear", net.input([8]), net.constant(np.float32(0.3)), precision=16)
    with pytest.raises(ValueError, match="its precision is BFLOAT16"):
        load(net.model(q, dtype=TensorProto.UINT8))


@pytest.mark.parametrize("runtime", ["onnx", "ort", "ort_avx2"])
def test_a_product_may_have_scales_of_float16(load, runtime):
    """Onnxruntime 1.32.0 casts them to float32. The reference gives the same codes."""
    net = Network(21)
    c, a = net.constant, net.input([2, 3], TensorProto.UINT8)
    b = c(np.uint8([[1, 2], [3, 4], [250, 6]])), c(np.float16([0.07, 0.1])), c(np.uint8([120, 120]))
    y = net.node("QLinearMatMul", a, c(np.float16(0.3)), c(np.uint8(100)), *b, c(np.float16(9.7)), c(np.uint8(128)))
    graph = load(net.model(y, dtype=TensorProto.UINT8), runtime)
    assert graph.run(np.uint8([[101, 77, 3], [200, 255, 0]]))[y].tolist() == [[106, 170], [35, 71]]
