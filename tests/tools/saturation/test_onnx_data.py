"""Data of an .onnx file become int8, and weights stay what they are, wherever they come from."""

import numpy as np
import pytest
from onnx_networks import Network

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
