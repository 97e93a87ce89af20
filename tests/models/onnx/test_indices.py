"""ArgMax, ArgMin and Scatter on codes, what they refuse, and the numbers of what they move."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator
from onnx_networks import Network

F32, INT = np.float32, np.int64
CODES = np.int8([[3, -1, 3, -1], [-128, 127, 127, -128]])


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize(
    "how", [{}, {"axis": 1}, {"axis": -1, "keepdims": 0}, {"axis": 1, "select_last_index": 1}, {"select_last_index": 1}]
)
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_places_of_ends(load, kind, how, dtype):
    net = Network()
    x = net.input(CODES.shape, {np.int8: TensorProto.INT8, np.float32: TensorProto.FLOAT}[dtype])
    model = net.model(net.node(kind, x, **how), dtype=TensorProto.INT64)
    (want,) = ReferenceEvaluator(model).run(None, {x: CODES.astype(dtype)})
    graph = load(model)
    (got,) = graph.run(CODES.astype(dtype)).values()
    np.testing.assert_array_equal(got, want, strict=True)
    assert graph.tensors[graph.outputs[0]].dtype == "int64"


def test_what_is_scattered_keeps_its_scale_where_all_have_it(load):
    for scale, kept in ((0.5, 0.5), (0.25, None)):
        net = Network()
        x, other = net.quantize(net.input([4]), 0.5, np.int8(0)), net.quantize(net.input([2]), scale, np.int8(0))
        y = net.node("ScatterND", x, net.constant(INT([[1], [3]])), other)
        graph = load(net.model(y, *(net.dequantize(q, s, np.int8(0)) for q, s in ((x, 0.5), (other, scale)))))
        found = graph.tensors[y].scale
        assert (None if found is None else float(found)) == kept


@pytest.mark.parametrize(
    ("kind", "inputs", "how", "text"),
    [
        ("ScatterND", [INT([[4]]), F32([1])], {}, "indices: expected -4 to 3, got 4 to 4"),
        ("ScatterND", [INT([[1]]), F32([1, 2])], {}, r"updates: shape \(2,\) does not fit indices of shape \(1, 1\)"),
        ("ScatterND", [INT([[1, 2]]), F32([1])], {}, "indices: expected at most 1 in the last axis"),
        ("ScatterND", [INT([[1]]), F32([1])], {"reduction": "sub"}, "its reduction is sub"),
        ("ScatterElements", [INT([1]), F32([1, 2])], {}, r"updates: shape \(2,\) is not that of indices, \(1,\)"),
        ("GatherElements", [INT([[1]])], {}, r"indices: shape \(1, 1\) does not fit data of shape \(4,\)"),
        ("GatherND", [INT([[1]])], {"batch_dims": 2}, "batch_dims: 2 does not fit"),
    ],
)
def test_what_does_not_fit_is_refused(load, kind, inputs, how, text):
    net = Network(18)
    x = net.input([4])
    graph = load(net.model(net.node(kind, x, *map(net.constant, inputs), **how)))
    with pytest.raises(ValueError, match=text):
        graph.run(F32([1, 2, 3, 4]))
