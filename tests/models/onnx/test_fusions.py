"""What onnxruntime 1.32.0 makes of pairs around operators: its own results, which say what it fused."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_networks import Network

from qops import models

F32, ZERO = np.float32, np.int8(0)
X = F32([[-3, 0, 5, 7]])


class Case(Network):
    """A network whose pairs may leave out a zero point."""

    def scale(self, value):
        return self.constant(F32(value))

    def pair(self, x, scale=1.0, zero=ZERO, *, dequantize=True):
        """Quantize with a zero point, and dequantize with it or without one."""
        s, z = self.scale(scale), self.constant(zero)
        q = self.node("QuantizeLinear", x, s, z)
        return self.node("DequantizeLinear", q, s, *([z] if dequantize else []))

    def codes(self, values, scale, *zero, **how):
        names = [self.constant(values), self.constant(np.asarray(scale, F32)), *map(self.constant, zero)]
        return self.node("DequantizeLinear", *names, **how)


def int8_without_zero_point(net):
    x = net.pair(net.input([1, 4]), dequantize=False)
    return net.pair(net.node("Add", x, x), dequantize=False)


def moved(net):
    return net.node("Transpose", net.pair(net.input([1, 4]), dequantize=False), perm=[1, 0])


def moved_in_opset_21(net):
    return moved(net)


def bias_of_32_bits(net):
    x = net.pair(net.input([1, 4]), 0.5)
    w = net.codes(np.int8([[1, -2], [3, 1], [2, 2], [-1, 4]]), 0.25, np.int8(0))
    b = net.codes(np.int32([3, -5]), 0.125, np.int32(0))
    return net.pair(net.node("Add", net.node("MatMul", x, w), b), 0.75)


def constant_behind_its_quantizer(net):
    x = net.pair(net.input([1, 4]), 0.5)
    return net.pair(net.node("Mul", x, net.pair(net.constant(F32([1.5, 0.5, 0.5, 0.5])), 0.5)), 1.0, np.int8(1))


def weights_behind_their_quantizer(net):
    x = net.pair(net.input([1, 4]), 0.5, np.uint8(100))
    s, z = net.constant(F32([0.5, 0.25])), net.constant(np.int8([0, 0]))
    w = net.constant(F32([[1, 0.5], [0.5, -0.25], [-1, 1], [2, 0.75]]))
    w = net.node("DequantizeLinear", net.node("QuantizeLinear", w, s, z, axis=1), s, z, axis=1)
    return net.pair(net.node("MatMul", x, w), 0.75, np.uint8(90))


def gemm_with_a_bias_of_floats(net):
    x = net.pair(net.input([1, 4]), 0.5, np.uint8(100))
    w = net.codes(np.int8([[1, -2], [3, 1], [2, 2], [-1, 4]]), 0.25, np.int8(0))
    return net.node("Gemm", x, w, net.constant(F32([0.3, -0.7])))


def two_readers(net):
    x = net.pair(net.input([1, 4]), 0.5, np.uint8(100))
    w = net.codes(np.int8([[1, -2], [3, 1], [2, 2], [-1, 4]]), 0.1, np.int8(0))
    y = net.node("MatMul", x, w)
    return net.node("Add", net.pair(y, 0.75, np.uint8(90)), y)


def rows_with_a_bias(net):
    x = net.pair(net.input([1, 4]), 0.5, np.uint8(100))
    rows = net.node("Unsqueeze", x, net.constant(np.array([0])))
    w = net.codes(np.int8([[1, -2], [3, 1], [2, 2], [-1, 4]]), 0.1, np.int8(0))
    y = net.node("Add", net.node("MatMul", rows, w), net.constant(F32([0.3, -0.7])))
    return net.pair(net.node("Relu", y), 0.11, np.uint8(90))


def pairs_of_16_bits(net):
    return net.pair(net.pair(net.input([1, 4]), 1.0, np.int16(0)), 0.75, np.int16(5))


def uint8_weights_of_int8_data(net):
    x = net.pair(net.input([1, 4]), 0.5)
    w = net.codes(np.uint8([[1, 2], [3, 1], [2, 2], [0, 4]]), 0.1, np.uint8(1))
    return net.node("MatMul", x, w)


Q, DQ, RESHAPE = "QuantizeLinear", "DequantizeLinear", "Reshape"
PLAIN = [Q, DQ, "Mul", Q, DQ]
CASES = {
    "int8 without zero point": (int8_without_zero_point, 19, [Q, DQ, "Add", Q, DQ], [-6, 0, 10, 14]),
    "moved": (moved, 19, [Q, DQ, "Transpose", Q, DQ], [0, 0, 5, 7]),
    "moved in opset 21": (moved_in_opset_21, 21, [Q, DQ, "Transpose"], [-3, 0, 5, 7]),
    "bias of 32 bits": (bias_of_32_bits, 19, [Q, "QGemm", DQ], [0, 10.5]),
    "constant behind its quantizer": (constant_behind_its_quantizer, 19, PLAIN, [-4, 0, 2, 4]),
    "weights behind their quantizer": (weights_behind_their_quantizer, 19, [Q, "QLinearMatMul", DQ], [6, 9]),
    "gemm with a bias of floats": (gemm_with_a_bias_of_floats, 19, [Q, DQ, "Gemm"], [0.3, 10.3]),
    "two readers": (two_readers, 19, [Q, DQ, "MatMul", Q, DQ, "Add"], [0, 8.9]),
    "rows with a bias": (
        rows_with_a_bias,
        19,
        [Q, DQ, "Unsqueeze", RESHAPE, "Gemm", RESHAPE, "Relu", Q, DQ],
        [0.32999998331069946, 3.740000009536743],
    ),
    "pairs of 16 bits": (pairs_of_16_bits, 21, [Q, DQ], [-3, 0, 5.25, 6.75]),
    "uint8 weights of int8 data": (
        uint8_weights_of_int8_data,
        19,
        [Q, "MatMulIntegerToFloat"],
        [-0.2, 2.299999952316284],
    ),
}


def model(build, opset):
    net = Case(opset)
    y = build(net)
    end = helper.make_tensor_value_info(y, TensorProto.FLOAT, None)
    graph = helper.make_graph(net.nodes, "network", net.inputs, [end], net.constants)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize("name", CASES)
def test_a_graph_gives_the_bits_of_onnxruntime(load, name):
    build, opset, kinds, want = CASES[name]
    graph = load(model(build, opset), "ort")
    assert [op.kind for op in graph.ops] == kinds
    y = graph.run(X)[graph.outputs[0]]
    np.testing.assert_array_equal(y.ravel(), F32(want))


def test_a_file_that_onnxruntime_refuses_says_so(load):
    """From opset 21 on it repeats a pair of int8 behind moves with codes of two types."""
    net = Case(21)
    graph = load(net.model(net.node("Transpose", net.pair(net.input([1, 4])), perm=[1, 0])), "ort")
    assert len(graph.fused) == 1
    assert "Transpose (Transpose_" in graph.fused[0]
    assert "onnxruntime 1.32 itself refuses the file" in graph.fused[0]


def test_scales_that_are_not_of_the_channels_are_refused_by_name(load):
    net = Case(19)
    x = net.pair(net.input([1, 4]), 0.5)
    w = net.codes(np.ones((4, 2), np.int8), [1.0, 0.5, 1.0, 0.5], np.zeros(4, np.int8), axis=0)
    proto = net.model(net.node("MatMul", x, w))
    with pytest.raises(
        ValueError, match=r"MatMul \(MatMul_\d+\): the scales of its weights are not one for each channel"
    ):
        load(proto, "ort")
    assert load(proto, "onnx").run(X)


def test_filters_with_scales_of_others_are_refused_by_name(load):
    net = Case(19)
    x = net.pair(net.input([1, 2, 1, 2]), 0.5)
    w = net.codes(np.ones((4, 2, 1, 1), np.int8), [1.0, 0.5], np.zeros(2, np.int8), axis=1)
    proto = net.model(net.pair(net.node("Conv", x, w)))
    with pytest.raises(ValueError, match=r"Conv \(Conv_\d+\): the scales of its weights are not one for each channel"):
        load(proto, "ort")
    assert load(proto, "onnx").run(X.reshape(1, 2, 1, 2))


@pytest.mark.parametrize(("axis", "kind"), [(1, "QLinearMatMul"), (-1, "QLinearMatMul"), (0, "MatMul")])
def test_a_product_to_codes_asks_along_which_axis_scales_lie(load, axis, kind):
    net = Case(19)
    x = net.pair(net.input([1, 4]), 0.5)
    w = net.codes(np.eye(4, dtype=np.int8), [1.0, 0.5, 2.0, 0.25], np.zeros(4, np.int8), axis=axis)
    graph = load(net.model(net.pair(net.node("MatMul", x, w))), "ort")
    assert kind in [op.kind for op in graph.ops]


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_products_whose_results_have_16_bits_are_refused(load, dtype):
    """Some CPUs run them as MatMulNBits."""
    net = Case(21)
    w = net.codes(np.ones((4, 2), np.int8), 0.5, np.int8(0))
    proto = net.model(net.pair(net.node("MatMul", net.input([1, 4]), w), 0.5, dtype(0)))
    with pytest.raises(ValueError, match=r"1 operator cannot be read:\n  node .*MatMulNBits"):
        load(proto, "ort")


def test_around_such_a_product_the_file_is_read(tmp_path):
    net = Case(21)
    w = net.codes(np.ones((4, 2), np.int8), 0.5, np.int8(0))
    x = net.node("Relu", net.input([1, 4]))
    y = net.node("MatMul", x, w)
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model(x, net.node("Relu", y)).SerializeToString())
    graph = models.load(path, runtime="ort", gaps=True)
    assert [op.kind for op in graph.gaps] == ["MatMul"]
    found = graph.run(np.float32([[-1, 2, 3, -4]]), given={y: np.float32([[-2, 3]])})
    assert [value.tolist() for value in found.values()] == [[[0, 2, 3, 0]], [[0, 3]]]


def test_types_that_attributes_say(load):
    net = Case(21)
    s = net.scale(0.5)
    q = net.node("QuantizeLinear", net.input([1, 4]), s, output_dtype=TensorProto.INT8)
    proto = net.model(q, dtype=TensorProto.INT8)
    for runtime in ("onnx", "ort"):
        graph = load(proto, runtime)
        assert graph.run(X)[q].tolist() == [[-6, 0, 10, 14]]
        assert graph.tensors[q].dtype == "int8"
    net = Case(23)
    q = net.node("QuantizeLinear", net.input([1, 4]), net.scale(0.5), precision=TensorProto.FLOAT)
    assert load(net.model(q, dtype=TensorProto.UINT8), "ort").run(X)[q].tolist() == [[0, 0, 10, 14]]


def test_a_slope_that_is_left_out_is_float32(load):
    """144 of 1,000 last bits are others with a slope of 0.01 in double."""
    net = Network()
    proto = net.model(net.node("LeakyRelu", net.input([1, 1000])))
    x = -np.random.default_rng(0).random((1, 1000)).astype(F32)
    graph = load(proto)
    np.testing.assert_array_equal(graph.run(x)[graph.outputs[0]], x * F32(0.01))
