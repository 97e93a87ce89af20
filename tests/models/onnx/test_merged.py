"""Pairs that onnxruntime makes one of, and weights that it quantizes: its numbers, and its codes."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx_networks import Network

from qops import onnx

F32 = np.float32


@pytest.fixture
def load(load):
    """Loads a model as onnxruntime runs it, or as it is written."""
    return lambda model, runtime="ort": load(model, runtime)


def numbers(graph):
    """Scale and zero point of each tensor of codes."""
    found = [graph.tensors[op.outputs[0]] for op in graph.ops if op.kind == "QuantizeLinear"]
    return [(float(t.scale), int(t.zero_point)) for t in found]


@pytest.mark.parametrize(
    ("pairs", "dtype", "one"),
    [
        ([(0.5, 3), (0.25, 3)], np.uint8, (0.25, 3)),
        ([(0.5, 3), (0.25, 7)], np.uint8, (0.24901960790157318, 6)),
        ([(0.1, 100), (0.03, 7)], np.uint8, (0.030000001192092896, 7)),
        ([(0.1, -10), (0.03, 7)], np.int8, (0.029999999329447746, 7)),
        ([(0.5, 3), (0.5, 3)], np.uint8, (0.5, 3)),
    ],
)
def test_one_pair_has_the_range_that_both_have(load, pairs, dtype, one):
    """The numbers that onnxruntime 1.32.0 writes to its optimised model."""
    net = Network()
    x = net.input([None])
    for scale, zero in pairs:
        x = net.both(x, scale, dtype(zero))
    graph = load(net.model(x))
    assert numbers(graph) == [one]
    assert [op.kind for op in graph.ops] == ["QuantizeLinear", "DequantizeLinear"]
    assert len(graph.fused) == (pairs[0] != pairs[1])
    if graph.fused:
        begin = "QuantizeLinear (QuantizeLinear_0) and QuantizeLinear (QuantizeLinear_2) with their DequantizeLinear"
        assert graph.fused[0].startswith(f"{begin} became one pair of scale ")
    values = np.linspace(-30, 90, 500).astype(F32)
    codes = onnx.quantize_linear(values, F32(one[0]), dtype(one[1]), runtime="ort")
    want = onnx.dequantize_linear(codes, F32(one[0]), dtype(one[1]))
    np.testing.assert_array_equal(graph.run(values)[graph.outputs[0]], want)
    assert numbers(load(net.model(x), "onnx")) == [(float(F32(s)), z) for s, z in pairs]


def test_pairs_are_taken_two_by_two(load):
    """Of four pairs the first two and the last two become one each, and then these: the order decides the rounding."""
    each = [(0.7, 128), (0.1, 3), (0.011, 100), (0.03, 120)]
    net = Network()
    x = net.input([None])
    for scale, zero in each:
        x = net.both(x, scale, np.uint8(zero))
    graph = load(net.model(x))
    assert numbers(graph) == [(0.00786274578422308, 38)]
    assert len(graph.fused) == 3


def test_a_pair_that_others_read_stays(load):
    """Who reads the first pair needs its numbers; who reads the second one gets those of both."""
    net = Network()
    q = net.quantize(net.input([None]), 0.5, np.uint8(3))
    first, again = (net.dequantize(q, 0.5, np.uint8(3)) for _ in "ab")
    second = net.both(first, 0.25, np.uint8(7))
    assert numbers(load(net.model(again, second))) == [(0.5, 3), (0.25, 7)]
    net = Network()
    q = net.quantize(net.both(net.input([None]), 0.5, np.uint8(3)), 0.25, np.uint8(7))
    model = net.model(*(net.dequantize(q, 0.25, np.uint8(7)) for _ in "ab"))
    assert numbers(load(model)) == [(0.24901960790157318, 6)]


@pytest.mark.parametrize(
    ("again", "second", "count"),
    [((0.5, np.uint8(3)), (0.5, np.int8(3)), 2), ((0.25, np.uint8(3)),) * 2 + (1,), ((0.5, np.uint8(4)),) * 2 + (1,)],
)
def test_pairs_of_unlike_numbers_or_types_stay(load, again, second, count):
    """A DequantizeLinear of other numbers than its QuantizeLinear, or of another type: onnxruntime 1.32.0 keeps them.

    It only leaves out a DequantizeLinear and a QuantizeLinear of the same numbers that follow each other.
    """
    net = Network()
    x = net.dequantize(net.quantize(net.input([None]), 0.5, np.uint8(3)), *again)
    graph = load(net.model(net.both(x, *second)))
    assert [op.kind for op in graph.ops] == ["QuantizeLinear", "DequantizeLinear"] * count
    assert not graph.fused


PAIRS_WITHOUT_ZERO_POINTS = [
    ([(0.5, 0, False), (0.5, 0, True)], [(0.5, 0)]),
    ([(0.5, 0, False), (0.25, 0, True)], [(0.5, 0), (0.25, 0)]),
    ([(0.5, 0, False), (0.5, 0, True), (0.25, 3, True)], [(0.5, 0), (0.24705882370471954, 0)]),
    ([(0.25, 3, True), (0.5, 0, False), (0.5, 0, True)], [(0.24705882370471954, 0)]),
    ([(0.5, 0, False), (0.5, 0, True), (0.5, 0, False), (0.5, 0, True)], [(0.5, 0)]),
]


@pytest.mark.parametrize(("pairs", "want"), PAIRS_WITHOUT_ZERO_POINTS)
def test_a_pair_without_a_zero_point_is_never_merged_but_left_out_where_nothing_changes(load, pairs, want):
    """The numbers that onnxruntime 1.32.0 writes to its optimised model; an Identity stands behind the first pair."""
    net = Network()
    x = net.input([None])
    for i, (scale, zero, has_zero) in enumerate(pairs):
        x = net.quantize(x, scale, np.uint8(zero))
        zeros = [net.constant(np.uint8(zero))] * has_zero
        x = net.node("DequantizeLinear", x, net.constant(F32(scale)), *zeros)
        x = x if i else net.node("Identity", x)
    assert numbers(load(net.model(x))) == want


@pytest.mark.parametrize(("count", "want"), [(1, [(1.0, 0)]), (2, [(1.0, 0), (1.5, 0), (1.5, 0)])])
def test_a_pair_whose_values_are_read_twice_is_not_left_out(load, count, want):
    """The numbers that onnxruntime 1.32.0 writes to its optimised model, where a pair before has no zero point."""
    net = Network()
    x = net.both(net.input([None]), 1.0, np.uint8(0))
    x = net.node(
        "DequantizeLinear", net.quantize(x, 1.5, np.uint8(8)), net.constant(F32(1.5)), net.constant(np.uint8(8))
    )
    x = net.node("DequantizeLinear", net.quantize(x, 1.5, np.uint8(0)), net.constant(F32(1.5)))
    x = net.both(x, 1.5, np.uint8(0))
    assert numbers(load(net.model(*(net.node("Neg", x) for _ in range(count))))) == want


def test_an_identity_that_nobody_reads_is_a_reader(load):
    """The numbers that onnxruntime 1.32.0 writes to its optimised model."""
    for is_read in (False, True):
        net = Network()
        x = net.both(net.input([None]), 0.5, np.uint8(3))
        if is_read:
            net.node("Identity", x)
        found = numbers(load(net.model(net.both(x, 0.25, np.uint8(7)))))
        assert found == ([(0.5, 3), (0.25, 7)] if is_read else [(0.24901960790157318, 6)])


@pytest.mark.parametrize("count", [0, 1, 2])
def test_an_identity_that_nobody_reads_behind_an_output_is_left_out(load, count):
    """As onnxruntime 1.32.0 runs it: the Mul, an output, moves its pair over the Transpose and becomes QLinearMul."""
    net = Network()
    x = net.both(net.input([2, 4]), 0.5, np.uint8(3))
    y = net.node("Mul", x, x)
    for _ in range(count):
        net.node("Identity", y)
    graph = load(net.model(y, net.both(net.node("Transpose", y, perm=[1, 0]), 0.75, np.uint8(7))), "ort")
    assert "QLinearMul" in [op.kind for op in graph.ops]


def test_moves_keep_pairs_apart(load):
    net = Network()
    x = net.both(net.input([4, 4]), 0.5, np.uint8(3))
    x = net.both(net.node("Transpose", x, perm=[1, 0]), 0.25, np.uint8(7))
    assert numbers(load(net.model(x))) == [(0.5, 3), (0.25, 7)]
    y = net.both(net.node("LeakyRelu", x, alpha=0.5), 0.25, np.uint8(7))
    with pytest.raises(ValueError, match=r"QuantizeLinear_3\): onnxruntime may make one of two pairs"):
        load(net.model(net.node("Transpose", y, perm=[1, 0])))


@pytest.mark.parametrize("is_before", [True, False])
def test_three_pairs_beside_a_move_are_refused(load, is_before):
    """After its first round, onnxruntime 1.32 repeats the last pair that is left behind the move, and the first before.

    So the pair behind a Reshape keeps the numbers 0.011 and 128, while three before it have become another one.
    """
    net = Network()
    x = net.input([4, 4])
    if is_before:
        x = net.node("Transpose", x, perm=[1, 0])
    for scale, zero in [(0.125, 8), (0.011, 0), (0.011, 128)]:
        x = net.both(x, scale, np.uint8(zero))
    if not is_before:
        x = net.node("Reshape", x, net.constant(np.array([16])))
    with pytest.raises(
        ValueError, match=r"QuantizeLinear \(Quant\w+\): onnxruntime makes one of two pairs that it repeat"
    ):
        load(net.model(x))


@pytest.mark.parametrize("kind", ["Gemm", "MatMul"])
def test_weights_become_codes(load, kind):
    """Scale, zero point, bias and codes are those of onnxruntime 1.32.0."""
    net, rng = Network(), np.random.default_rng(0)
    x = net.both(net.input([2, 4]), 0.5, np.uint8(3))
    w, bias = net.constant(rng.normal(size=(4, 3)).astype(F32)), net.constant(F32([1, 2, 3]))
    y = net.node("Gemm", x, w, bias) if kind == "Gemm" else net.node("Add", net.node("MatMul", x, w), bias)
    model = net.model(net.both(y, 0.5, np.uint8(3)))
    graph = load(model)
    assert [op.kind for op in graph.ops] == ["QuantizeLinear", "QGemm", "DequantizeLinear"]
    layer = graph.ops[1].layer
    assert (layer.weights.dtype, layer.w_zero_point) == (np.int8, -2)
    assert float(layer.numbers["w_scale"]) == 0.010076162405312061
    assert layer.bias.tolist() == [198, 397, 595]
    assert "its weights of float32 became int8, with scale 0.010076162 and zero point -2." in graph.fused[0]
    got = graph.run(F32([[1, 2, 3, 4], [-1, 0.5, 7, 20]]))[graph.outputs[0]]
    assert got.tolist() == [[0.0, 1.0, 2.5], [-1.5, -1.5, -1.5]]
    assert load(model, "onnx").ops[2].kind == kind


def test_without_codes_behind_it_a_layer_keeps_its_weights(load):
    net = Network()
    x = net.both(net.input([2, 4]), 0.5, np.uint8(3))
    graph = load(net.model(net.node("Gemm", x, net.constant(np.ones((4, 3), F32)))))
    assert [op.kind for op in graph.ops] == ["QuantizeLinear", "DequantizeLinear", "Gemm"]
    assert not graph.fused


@pytest.mark.parametrize("left_out", ["data", "weights", ""])
def test_a_gemm_of_codes_needs_zero_points(load, left_out):
    """As the optimised model of onnxruntime 1.32.0 has it; a MatMul does not need them."""
    for kind, own in (("Gemm", "QGemm"), ("MatMul", "QLinearMatMul")):
        net = Network()
        x, w = net.quantize(net.input([2, 4]), 0.5, np.uint8(0)), net.constant(np.ones((4, 3), np.uint8))
        x, w = (
            net.node("DequantizeLinear", q, net.constant(F32(0.5)), *[net.constant(np.uint8(0))] * (left_out != name))
            for q, name in ((x, "data"), (w, "weights"))
        )
        graph = load(net.model(net.both(net.node(kind, x, w), 0.5, np.uint8(0))))
        assert (kind if kind == "Gemm" and left_out else own) in [op.kind for op in graph.ops]


@pytest.mark.parametrize(
    ("kind", "weights", "own"), [("Gemm", np.int8, "QGemm"), ("Gemm", np.uint8, None), ("MatMul", np.int8, None)]
)
def test_data_of_int8_are_taken_by_a_gemm_of_int8_alone(load, kind, weights, own):
    """As the optimised model of onnxruntime 1.32.0 has it."""
    net = Network()
    x = net.dequantize(net.input([2, 4], TensorProto.INT8), 0.5, np.int8(3))
    w = net.dequantize(net.constant(np.ones((4, 3), weights)), 0.5, weights(0))
    graph = load(net.model(net.quantize(net.node(kind, x, w), 0.5, np.int8(0)), dtype=TensorProto.INT8))
    assert [op.kind for op in graph.ops] == ([own] if own else ["DequantizeLinear", kind, "QuantizeLinear"])


@pytest.mark.parametrize(("how", "want"), [({"beta": 0.5}, [2.5, 3.0, 3.5]), ({"alpha": 0.5}, [2.0, 3.0, 4.0])])
def test_a_gemm_that_multiplies_its_bias_or_its_sums_stays(load, how, want):
    """The kinds and the results are those of onnxruntime 1.32.0."""
    net = Network()
    x, w = net.both(net.input([2, 4]), 0.5, np.uint8(3)), net.constant(np.ones((4, 3), np.int8))
    bias = net.dequantize(net.constant(np.int32([4, 8, 12])), 0.25, np.int32(0))
    y = net.node("Gemm", x, net.dequantize(w, 0.5, np.int8(0)), bias, **how)
    graph = load(net.model(net.both(y, 0.5, np.uint8(0))))
    assert "Gemm" in [op.kind for op in graph.ops]
    assert graph.run(np.ones((2, 4), F32))[graph.outputs[0]].tolist() == [want] * 2


def test_a_bias_beyond_int32_is_the_lowest_code(load):
    """Also one that is too high, as in the optimised model of onnxruntime 1.32.0."""
    net = Network()
    x, w = net.both(net.input([2, 4]), 0.5, np.uint8(3)), net.constant(np.ones((4, 3), np.int8))
    bias = net.constant(F32([2.0**29, 2, -1e12]))
    y = net.node("Gemm", x, net.dequantize(w, 0.5, np.int8(0)), bias)
    graph = load(net.model(net.both(y, 0.5, np.uint8(0))))
    assert graph.ops[1].layer.bias.tolist() == [-(2**31), 8, -(2**31)]


def test_codes_without_a_zero_point_have_their_own_type(load):
    """The DequantizeLinear of codes of int8 has none, and its reader gives int8: onnxruntime 1.32.0 fuses them."""
    net = Network()
    x = net.node("DequantizeLinear", net.input([4], TensorProto.INT8), net.constant(F32(0.5)))
    y = net.quantize(net.node("LeakyRelu", x, alpha=0.5), 0.5, np.int8(0))
    (op,) = load(net.model(y, dtype=TensorProto.INT8)).ops
    assert op.kind == "QLinearLeakyRelu"
    assert op.call(np.int8([-128, -4, 4, 127]))[0].tolist() == [-64, -2, 4, 127]


def test_a_softmax_between_codes(load):
    """Codes of int8 that one node writes and one reads become uint8, as onnxruntime has them; 1/256 ends at 127."""
    net = Network()
    x = net.both(net.input([None, 3]), 0.1, np.int8(-5))
    y = net.node("Softmax", x)
    graph = load(net.model(net.both(y, 2**-8, np.int8(-128))))
    assert graph.fused[0].startswith("Softmax (Softmax_2) with its DequantizeLinear and QuantizeLinear became QLinearS")
    values = F32([[0, 0, 0], [1, 2, 3], [0, 9, 0]])
    got = graph.run(values)[graph.outputs[0]] * 256
    assert got.tolist() == [[85, 85, 85], [23, 63, 170], [0, 255, 0]]


def test_codes_of_both_types(load):
    """An Add of codes of uint8 to codes of int8 that onnxruntime has as uint8."""
    net = Network()
    a, b = net.input([4], TensorProto.UINT8), net.dequantize(net.constant(np.uint8([1, 2, 3, 4])), 0.5, np.uint8(2))
    y = net.node("Add", net.dequantize(a, 0.5, np.uint8(100)), b)
    graph = load(net.model(net.both(y, 0.25, np.int8(-3))))
    assert graph.ops[0].kind == "QLinearAdd"
    made = graph.run(np.uint8([0, 99, 100, 255]), keep="all")
    assert made[graph.ops[0].outputs[0]].tolist() == [-128, -5, -1, 127]
