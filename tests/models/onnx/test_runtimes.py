"""Graphs of .onnx files: each runtime gives its own bits, tensor by tensor, and in real numbers."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator
from onnx_networks import Network, drawn, residual

from qops import onnx

F32 = np.float32


def equal(got, want):
    np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("seed", range(60))
def test_a_network_gives_the_bits_of_the_reference(load, seed):
    """Scales are such that float32 holds all sums, so their order does not matter."""
    model, x = drawn(seed)
    graph = load(model)
    with np.errstate(all="ignore"):
        (want,) = ReferenceEvaluator(model).run(None, {graph.inputs[0]: x})
    equal(graph.run(x)[graph.outputs[0]], want)


def tie():
    """Codes 1, 3, 5 of scale 0.5 by weight 1 of scale 1, to a scale of 1 with zero point 1: each sum is a tie."""
    net = Network()
    x = net.input([None, 1])
    data = net.both(x, 0.5, np.uint8(0))
    y = net.node("MatMul", data, net.dequantize(net.constant(np.int8([[1]])), 1.0, np.int8(0)))
    total = net.node("Add", data, data)
    return net.model(net.both(y, 1.0, np.uint8(1)), net.both(total, 2.0, np.uint8(1))), F32([[0.5], [1.5], [2.5]])


def test_fused_and_unfused_differ_on_ties_and_each_runtime_gives_its_own(load):
    """QLinearMatMul rounds without the zero point, as QuantizeLinear; QLinearAdd rounds with it.

    0.5 / 1 = 0.5 rounds to 0, and 0 + 1 = 1. The fused sum of 0.5 and 0.5 at scale 2 is 0.5 + 1 = 1.5, which rounds
    to 2. These are the outputs of onnxruntime 1.32.0, with all optimisations and with none.
    """
    model, x = tie()
    written, fused = load(model), load(model, "ort")
    product, total = written.outputs
    for graph in (written, fused):
        equal(graph.run(x)[product], F32([[0], [2], [2]]))
    equal(written.run(x)[total], F32([[0], [4], [4]]))
    equal(fused.run(x)[total], F32([[2], [2], [6]]))
    assert not written.fused
    assert [text.split()[0] for text in fused.fused] == ["MatMul", "Add"]
    assert all(text.endswith(("became QLinearMatMul.", "became QLinearAdd.")) for text in fused.fused)
    assert [op.kind for op in fused.ops].count("QLinearAdd") == 1
    assert (written.runtime, fused.runtime) == ("onnx", "ort")


def test_an_op_can_be_remade_for_the_other_runtime(load):
    """Codes of QLinearMatMul of the standard: the sum with the zero point is rounded."""
    net = Network()
    x = net.input([None, 1], TensorProto.UINT8)
    scales = [net.constant(F32(s)) for s in (0.5, 1.0, 1.0)]
    a_zero, zero = net.constant(np.uint8(0)), net.constant(np.uint8(1))
    b = [net.constant(np.uint8([[1]])), scales[1], a_zero]
    y = net.node("QLinearMatMul", x, scales[0], a_zero, *b, scales[2], zero)
    graph = load(net.model(y, dtype=TensorProto.UINT8))
    codes, (op,) = np.uint8([[1], [3], [5]]), graph.ops
    assert graph.run(codes)[y].ravel().tolist() == [2, 2, 4]
    assert op.remade("ort").call(codes)[0].ravel().tolist() == [1, 3, 3]
    assert isinstance(op.prepared, onnx.QLinearMatMul)
    with pytest.raises(ValueError, match=r"^runtime: expected one of onnx, ort"):
        op.remade("tflm")


def test_fusions_are_those_of_onnxruntime(load):
    """The kinds are those that onnxruntime 1.32.0 writes to its optimised model, and so are the codes, as a sum."""
    model, x = residual()
    graph = load(model, "ort")
    kinds = [op.kind for op in graph.ops]
    assert [kind for kind in kinds if kind.startswith("Q") and kind != "QuantizeLinear"] == [
        "QLinearConv",
        "QLinearAdd",
        "QLinearMatMul",
    ]
    assert "and Relu" in graph.fused[0]
    bias = next(op for op in graph.ops if op.kind == "QLinearConv").inputs[-1]
    assert graph.tensors[bias].data.tolist() == [8, -16, 2]
    everything = graph.run(x, keep="all")
    assert everything.keys() == {graph.inputs[0], *(name for op in graph.ops for name in op.outputs)}
    assert all(graph.tensors[name].dtype == y.dtype.name for name, y in everything.items())
    codes = next(op.outputs[0] for op in graph.ops if op.kind == "Transpose")
    assert everything[codes].sum() == 15997


def test_real_numbers_are_near_the_codes(load):
    """Nothing is rounded; where real 0 is the lowest code, a ReLU that the quantizer folded stays."""
    model, x = residual()
    for runtime in ("onnx", "ort"):
        graph = load(model, runtime)
        values, codes = graph.real(x.astype(float), keep="all"), graph.run(x, keep="all")
        assert values.keys() == codes.keys()
        for name, y in codes.items():
            tensor = graph.tensors[name]
            assert y.shape == values[name].shape
            assert np.abs(tensor.values(y) - values[name]).max() < 3.1, name
        relu = next(op.outputs[0] for op in graph.ops if op.outputs[0] in values and tensor_is_relu(graph, op))
        assert values[relu].min() == 0


def tensor_is_relu(graph, op):
    tensor = graph.tensors[op.outputs[0]]
    return tensor.zero_point is not None and int(tensor.zero_point) == 0 and tensor.dtype == "uint8"


def requantized(graph, x):
    """The ops of a graph whose layer requantizes sums, each checked to give the codes of the op."""
    kept = graph.run(x, keep="all")
    for op in graph.ops:
        if op.layer is not None and op.layer.kind == "requantize":
            sums = op.layer.sums(kept[op.reads[0]], op.layer.bias)
            equal(op.layer.requantize(sums.astype(np.int32)), kept[op.outputs[0]])
            yield op


def test_layers_say_their_sums_and_scales(load):
    model, x = residual()
    graph = load(model, "ort")
    assert len([*requantized(graph, x)]) == 2
    assert [op.layer.kind for op in graph.ops if op.layer is not None] == ["requantize", "add", "requantize"]


def test_layers_of_random_networks_requantize_their_sums(load):
    """Also with a scale for each channel, of an image or of a matrix."""
    seen = set()
    for seed in (0, 6, 10, 14, 15, 19):
        model, x = drawn(seed, dtype=np.uint8)
        seen |= {(op.kind, np.size(op.layer.numbers["w_scale"]) > 1) for op in requantized(load(model, "ort"), x)}
    assert seen >= {(kind, many) for kind in ("QLinearConv", "QLinearMatMul", "QGemm") for many in (True, False)}


def test_a_float_model_is_a_float_twin(load):
    """Values of a float model equal those of the reference where float32 holds them."""
    net, rng = Network(), np.random.default_rng(2)
    x = net.input([None, 4])
    w = net.constant((rng.integers(-8, 8, (4, 3)) * F32(0.25)).astype(F32))
    y = net.node("Gemm", x, w, net.constant(F32([1, 2, 3])), alpha=0.5)
    y = net.node("Clip", net.node("Mul", y, y), net.constant(F32(0)), net.constant(F32(6)))
    model = net.model(net.node("Softmax", y), y)
    graph, data = load(model), (rng.integers(-8, 8, (5, 4)) * F32(0.5)).astype(F32)
    want = ReferenceEvaluator(model).run(None, {graph.inputs[0]: data})
    got = graph.run(data)
    equal(got[graph.outputs[1]], want[1])
    np.testing.assert_allclose(got[graph.outputs[0]], want[0], rtol=1e-6)
    np.testing.assert_allclose(graph.real(data.astype(float))[graph.outputs[0]], want[0], rtol=1e-6)


def test_dynamic_quantization_and_integers(load):
    """DynamicQuantizeLinear, MatMulInteger, Cast and Mul, as exporters write dynamic models."""
    net, rng = Network(), np.random.default_rng(3)
    x = net.input([None, 6])
    q, scale, zero = net.node("DynamicQuantizeLinear", x, results=3)
    w = rng.integers(-128, 128, (6, 4)).astype(np.int8)
    acc = net.node("MatMulInteger", q, net.constant(w), zero, net.constant(np.int8(0)))
    y = net.node("Mul", net.node("Cast", acc, to=TensorProto.FLOAT), net.node("Mul", scale, net.constant(F32(0.1))))
    model, data = net.model(y), rng.normal(0, 3, (5, 6)).astype(F32)
    (want,) = ReferenceEvaluator(model).run(None, {x: data})
    equal(load(model).run(data)[y], want)
    equal(load(model, "ort").run(data)[y], onnx.dynamic_quantize_matmul(data, w, F32(0.1)))
    assert load(model).real(data.astype(float))[y].shape == (5, 4)


def test_shapes_that_are_only_known_at_run_time(load):
    """Shape, Gather, Concat, Reshape: what exporters write for a batch of any size."""
    net = Network()
    x = net.input([None, 2, 3])
    batch = net.node(
        "Unsqueeze", net.node("Gather", net.node("Shape", x), net.constant(np.array(0))), net.constant(np.array([0]))
    )
    y = net.node("Reshape", x, net.node("Concat", batch, net.constant(np.array([6])), axis=0))
    graph, data = load(net.model(y)), np.arange(30, dtype=F32).reshape(5, 2, 3)
    equal(graph.run(data)[y], data.reshape(5, 6))
    assert graph.tensors[x].shape == (None, 2, 3)


def test_scales_stand_at_tensors(load):
    """Also on inputs that are codes, and on weights with a scale for each channel."""
    model, _ = residual()
    graph = load(model, "ort")
    weights = next(t for t in graph.tensors.values() if t.axis is not None)
    assert weights.data.dtype == np.int8
    equal(weights.scale, F32([0.5, 0.25]))
    net = Network()
    x = net.input([None, 2], TensorProto.INT8)
    tensor = load(net.model(net.dequantize(x, 0.5, np.int8(3)))).tensors[x]
    assert (tensor.dtype, float(tensor.scale), int(tensor.zero_point)) == ("int8", 0.5, 3)


def test_scales_of_tensors_that_become_one(load):
    net = Network()
    parts = [net.input([2, size], TensorProto.UINT8) for size in (1, 3)]
    numbers = [[net.constant(F32(scale)), net.constant(np.uint8(zero))] for scale, zero in ((1, 0), (0.5, 3), (2, 7))]
    y = net.node(
        "QLinearConcat", *numbers[0], parts[0], *numbers[1], parts[1], *numbers[2], domain="com.microsoft", axis=1
    )
    graph = load(net.model(y, dtype=TensorProto.UINT8), "ort")
    found = [graph.tensors[name] for name in (y, *parts)]
    assert [(float(t.scale), int(t.zero_point)) for t in found] == [(1.0, 0), (0.5, 3), (2.0, 7)]
    real = graph.real({parts[0]: F32([[1], [2]]), parts[1]: F32([[3, 4, 5], [6, 7, 8]])})[y]
    assert real.tolist() == [[1, 3, 4, 5], [2, 6, 7, 8]]


@pytest.mark.parametrize(
    ("runtime", "kinds"), [("ort_avx2", ("QLinearConv", "QLinearMatMul", "QGemm")), ("ort_neon", ("QLinearConv",))]
)
def test_sums_of_layers_lose_what_pairs_lose_on_the_cpu(load, runtime, kinds):
    """Of int8, too, which onnxruntime runs as uint8 on x86. On the other columns nothing is lost."""
    lossy = set()
    for seed in (*range(24), 28, 30, 34, 36, 38):
        model, x = drawn(seed, exact=False, dtype=(np.uint8, np.int8)[seed % 2], most=200)
        graph = load(model, runtime)
        for op in requantized(graph, x):
            data = graph.run(x, keep="all")[op.reads[0]]
            ours, plain = op.layer, op.remade("ort").layer
            exact = plain.sums(data, plain.bias)
            assert plain.exact is None
            equal(plain.sums_of_weights(data), ours.sums_of_weights(data))
            if ours.exact is not None:
                equal(ours.exact(data, ours.bias), exact)
            if (ours.sums(data, ours.bias) != exact).any():
                lossy.add((op.kind, data.dtype.name))
    types = ("uint8", "int8") if runtime == "ort_avx2" else ("uint8",)
    assert lossy == {(kind, dtype) for kind in kinds for dtype in types}


def test_int8_saturates_as_uint8_on_a_cpu_without_vnni(load):
    """Onnxruntime 1.32.0 on an AMD EPYC gives these: it runs the convolutions of int8 data as uint8."""
    model, x = drawn(1419836289, exact=False, more=True)
    graph = load(model, "ort_avx2")
    (name,) = graph.outputs
    equal(graph.run(x)[name], F32([[-128, -128, 127, 127, 30]] * 2) * F32(0.011))
    assert (graph.run(x)[name] != load(model, "ort").run(x)[name]).any()
