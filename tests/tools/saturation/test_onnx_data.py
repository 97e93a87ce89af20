"""Data of an .onnx file become int8, and weights stay what they are, wherever they come from."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx_networks import Network

import qops
from qops import models
from qops.tools.saturation.onnx_data import with_signed_data
from qops.tools.saturation.onnx_model import OnnxModel

F32, U8 = np.float32, np.uint8
W = U8([[3, 200, 90], [128, 7, 255]])


@pytest.mark.parametrize("is_moved", [False, True])
def test_weights_keep_their_zero_point(tmp_path, is_moved):
    net = Network()
    scale, x_zero, w_zero, y_zero = (net.constant(value) for value in (F32(0.5), U8(9), U8(130), U8(77)))
    x = net.node("QuantizeLinear", net.input([2, 2]), scale, x_zero)
    w = net.node("Transpose", net.constant(W.T.copy()), perm=[1, 0]) if is_moved else net.constant(W)
    y = net.node("QLinearMatMul", x, scale, x_zero, w, scale, w_zero, scale, y_zero)
    path, data = tmp_path / "m.onnx", F32([[-3, 8], [20, 0.5]])
    path.write_bytes(net.model(net.node("DequantizeLinear", y, scale, y_zero)).SerializeToString())
    (wanted,) = models.load(path).run(data).values()
    changed = OnnxModel(path)
    with_signed_data(changed)
    path.write_bytes(changed.data())
    graph = models.load(path)
    (found,) = graph.run(data).values()
    np.testing.assert_array_equal(found, wanted)
    codes = graph.run(data, keep="all")
    assert (codes[x].dtype, codes[y].dtype) == (np.int8, np.int8)
    assert len(np.unique(wanted)) > 1


def two_tensors_of_data(is_moved=False):
    """A product of two inputs that become codes of uint8, the second through a Transpose or straight."""
    net = Network()
    scale, zeros = net.constant(F32(0.5)), [net.constant(U8(zero)) for zero in (9, 130, 77)]
    a, b = (net.node("QuantizeLinear", net.input([2, 2]), scale, zero) for zero in zeros[:2])
    b = net.node("Transpose", b, perm=[1, 0]) if is_moved else b
    y = net.node("QLinearMatMul", a, scale, zeros[0], b, scale, zeros[1], scale, zeros[2])
    return net.model(net.node("DequantizeLinear", y, scale, zeros[2]))


@pytest.mark.parametrize("is_moved", [False, True])
def test_both_tensors_of_data_change_their_type(tmp_path, is_moved):
    path = tmp_path / "m.onnx"
    path.write_bytes(two_tensors_of_data(is_moved).SerializeToString())
    data = {"input_0": F32([[-3, 8], [20, 0.5]]), "input_1": F32([[7, -2], [3.5, -9]])}
    (wanted,) = models.load(path).run(data).values()
    changed = OnnxModel(path)
    with_signed_data(changed)
    path.write_bytes(changed.data())
    product = next(node for node in changed.graph.node if node.op_type == "QLinearMatMul")
    zeros = [changed.array(product.input[place]) for place in (2, 5, 7)]
    assert [(zero.dtype, int(zero)) for zero in zeros] == [(np.int8, -119), (np.int8, 2), (np.int8, -51)]
    graph = models.load(path)
    (found,) = graph.run(data).values()
    np.testing.assert_array_equal(found, wanted)
    assert graph.run(data, keep="all")[product.input[3]].dtype == np.int8
    assert len(np.unique(wanted)) > 1


def test_weights_that_the_file_quantizes_change_with_the_data(tmp_path):
    net = Network()
    scale, x_zero, w_zero = (net.constant(value) for value in (F32(0.5), U8(9), U8(130)))
    x = net.node("QuantizeLinear", net.input([2, 2]), scale, x_zero)
    w = net.node("QuantizeLinear", net.constant(F32([[3, -7], [2.5, 30]])), scale, w_zero)
    y = net.node("QLinearMatMul", x, scale, x_zero, w, scale, w_zero, scale, x_zero)
    path, data = tmp_path / "m.onnx", F32([[-3, 8], [20, 0.5]])
    path.write_bytes(net.model(net.node("DequantizeLinear", y, scale, x_zero)).SerializeToString())
    (wanted,) = models.load(path).run(data).values()
    changed = OnnxModel(path)
    with_signed_data(changed)
    path.write_bytes(changed.data())
    np.testing.assert_array_equal(next(iter(models.load(path).run(data).values())), wanted)


def test_constants_beside_data_change_with_them(tmp_path):
    """Both operands of QLinearAdd have one type, also where one of them stands in the file."""
    net = Network()
    scale, x_zero, c_zero, y_zero = (net.constant(value) for value in (F32(0.5), U8(9), U8(130), U8(77)))
    x = net.node("QuantizeLinear", net.input([2, 3]), scale, x_zero)
    y = net.node("QLinearAdd", x, scale, x_zero, net.constant(W), scale, c_zero, scale, y_zero, domain="com.microsoft")
    path, data = tmp_path / "m.onnx", F32([[-3, 8, 1], [20, 0.5, -0.5]])
    path.write_bytes(net.model(net.node("DequantizeLinear", y, scale, y_zero)).SerializeToString())
    (wanted,) = models.load(path, runtime="ort").run(data).values()
    changed = OnnxModel(path)
    with_signed_data(changed)
    add = changed.graph.node[1]
    assert [changed.array(add.input[place]).dtype for place in (2, 3, 5, 7)] == [np.int8] * 4
    path.write_bytes(changed.data())
    (found,) = models.load(path, runtime="ort").run(data).values()
    np.testing.assert_array_equal(found, wanted)
    assert len(np.unique(wanted)) > 1


def test_a_result_of_floats_gets_no_zero_point(tmp_path):
    net = Network()
    scale, x_zero, w_zero = (net.constant(value) for value in (F32(0.5), U8(9), np.int8(2)))
    x = net.node("QuantizeLinear", net.input([2, 2]), scale, x_zero)
    y = net.node("QGemm", x, scale, x_zero, net.constant(W.view(np.int8)), scale, w_zero, domain="com.microsoft")
    path, data = tmp_path / "m.onnx", F32([[-3, 8], [20, 0.5]])
    path.write_bytes(net.model(y).SerializeToString())
    (wanted,) = models.load(path, runtime="ort").run(data).values()
    changed = OnnxModel(path)
    with_signed_data(changed)
    assert [len(node.input) for node in changed.graph.node] == [3, 6]
    path.write_bytes(changed.data())
    (found,) = models.load(path, runtime="ort").run(data).values()
    np.testing.assert_array_equal(found, wanted)


def with_a_cast(to):
    """A layer that can saturate, and a Cast of its result."""
    net = Network()
    scale, zero, w_zero = (net.constant(value) for value in (F32(0.5), U8(9), np.int8(0)))
    w = net.constant(np.full((2, 2), 127, np.int8))
    x = net.node("QuantizeLinear", net.input([2, 2]), scale, zero)
    y = net.node("QLinearMatMul", x, scale, zero, w, scale, w_zero, net.constant(F32(200)), zero)
    y = net.node("DequantizeLinear", y, scale, zero)
    return net.model(net.node("Cast", net.node("Cast", y, to=to), to=TensorProto.FLOAT))


def test_only_a_cast_to_uint8_makes_uint8(tmp_path):
    path, data = tmp_path / "m.onnx", F32([[-3, 8], [20, 0.5]])
    path.write_bytes(with_a_cast(TensorProto.INT64).SerializeToString())
    made = qops.saturation(path, data).write(tmp_path / "new.onnx", "data")
    wanted, found = (models.load(one, runtime="ort").run(data) for one in (path, made))
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value)
    changed = OnnxModel(path)
    changed.graph.node[-2].attribute[0].i = TensorProto.UINT8
    with pytest.raises(ValueError, match=r"how: Cast 'Cast_\d' makes codes of uint8 alone"):
        with_signed_data(changed)


def test_noise_that_the_model_cannot_run(tmp_path):
    """Sizes that are left open are 1 in noise; the words say whose fault it is, and data help."""
    net = Network()
    scale, zero, w_zero = (net.constant(value) for value in (F32(0.5), U8(9), np.int8(0)))
    x = net.node("QuantizeLinear", net.input([None, 2]), scale, zero)
    w = net.constant(np.full((2, 2), 127, np.int8))
    y = net.node("QLinearMatMul", x, scale, zero, w, scale, w_zero, net.constant(F32(200)), zero)
    y = net.node("DequantizeLinear", net.node("Reshape", y, net.constant(np.int64([4]))), scale, zero)
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model(y).SerializeToString())
    with pytest.raises(ValueError, match=r"data: 'types' is compared on noise, which .* cannot run: give the"):
        qops.saturation(path).write(tmp_path / "new.onnx", "types")
    found = qops.saturation(path, F32([[-3, 8], [20, 0.5]]))
    assert qops.saturation(found.write(tmp_path / "new.onnx", "types")).safe
