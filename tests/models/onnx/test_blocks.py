"""MatMulNBits, which onnxruntime makes of float data by dequantized weights, and which files may have.

``blocks.npz`` holds what onnxruntime 1.32.0 made of these nodes, with all optimisations, on an AMD EPYC with AVX2 and
without VNNI: the input ``x``, the result ``y``, and the constants of the node, whose kind is the first word of a name.
"""

from pathlib import Path

import numpy as np
import pytest
from onnx_networks import Network

F32 = np.float32
with np.load(Path(__file__).with_name("blocks.npz")) as held:
    CASES: dict[str, dict] = {}
    for key in held.files:
        case, _, name = key.partition("/")
        CASES.setdefault(case, {})[name] = held[key]
LEVEL_4 = {"bits": 8, "block_size": 32, "accuracy_level": 4, "domain": "com.microsoft"}


def network(kind, given, **other):
    """The node of a case, with dequantized weights, or with weights in blocks."""
    net, w = Network(21), given["w"]
    x, k, n = net.input([None, given["x"].shape[1]]), given["x"].shape[1], given["y"].shape[1]
    more = [net.constant(given[name]) for name in ("scale", "zero") if name in given]
    bias = [net.constant(given["bias"])] if "bias" in given else []
    if kind == "MatMulNBits":
        inputs = [net.constant(w), *more, *(["", *bias] if bias else [])]
        return net.model(net.node(kind, x, *inputs, **({"K": k, "N": n} | LEVEL_4 | other)))
    weights = net.node("DequantizeLinear", net.constant(w), *more, **({"axis": 1} if given["scale"].ndim else {}))
    return net.model(net.node(kind, x, weights, *bias, **other))


@pytest.mark.parametrize("case", CASES)
def test_the_bits_of_onnxruntime(load, case):
    kind, given = case.split()[0], CASES[case]
    graph = load(network(kind, given), "ort_avx2")
    assert [op.kind for op in graph.ops] == ["MatMulNBits"]
    assert bool(graph.fused) == (kind != "MatMulNBits")
    found, wanted = graph.run(given["x"])[graph.outputs[0]], given["y"]
    assert (found.dtype, found.shape, found.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
    real = graph.real(given["x"])[graph.outputs[0]]
    assert abs(real - wanted).max() < 0.02 * abs(real).max()


def test_data_of_more_axes_and_of_none(load):
    given = CASES["MatMul 1"]
    graph = load(network("MatMul", given), "ort_avx2")
    (name,) = graph.outputs
    assert graph.run(given["x"][:0])[name].shape == (0, 5)
    net = Network(21)
    weights = net.node("DequantizeLinear", net.constant(given["w"]), net.constant(given["scale"]), axis=1)
    deep = load(net.model(net.node("MatMul", net.input([1, 3, 32]), weights)), "ort_avx2")
    np.testing.assert_array_equal(deep.run(given["x"][None])[deep.outputs[0]], given["y"][None])


@pytest.mark.parametrize("runtime", ["ort", "ort_arm", "ort_neon"])
@pytest.mark.parametrize(
    ("case", "words"), [("MatMul 1", "MatMul .* makes MatMulNBits"), ("MatMulNBits 0", "not modell")]
)
def test_other_columns_have_a_gap(load, runtime, case, words):
    with pytest.raises(ValueError, match=words):
        load(network(case.split()[0], CASES[case]), runtime)


@pytest.mark.parametrize("factor", [{"alpha": 2.0}, {"beta": 0.5}])
def test_factors_of_gemm_leave_a_gap(load, factor):
    with pytest.raises(ValueError, match="makes MatMulNBits"):
        load(network("Gemm", CASES["Gemm 3"], **factor), "ort_avx2")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"bits": 4}, r"its bits is 4, and only 8 is modelled"),
        ({"block_size": 16}, r"its block_size is 16, and only 32"),
        ({"accuracy_level": 1}, r"its accuracy_level is 1, and only 4"),
        ({"K": 65}, r"its weights, of shape \(7, 2, 32\), are not those of 7 columns of 65 values"),
    ],
)
def test_forms_that_are_not_modelled_are_named(load, changed, words):
    with pytest.raises(ValueError, match=words):
        load(network("MatMulNBits", CASES["MatMulNBits 0"], **changed), "ort_avx2")


def test_zero_points_of_another_type(load):
    given = CASES["MatMulNBits 0"]
    zero = np.zeros(given["scale"].shape, F32)
    with pytest.raises(ValueError, match=r"its zero points, float32 of shape \(7, 2\), are not one of uint8"):
        load(network("MatMulNBits", given | {"zero": zero}), "ort_avx2")


def test_data_that_are_not_finite_are_refused(load):
    graph = load(network("MatMul", CASES["MatMul 1"]), "ort_avx2")
    with pytest.raises(ValueError, match=r"MatMul_1 \(MatMulNBits\): x: has NaN"):
        graph.run(np.full((1, 32), np.nan, F32))


@pytest.mark.parametrize("beside", ["relu", "quantized"])
def test_where_onnxruntime_makes_it_of_some_products_alone(load, beside):
    """A Relu with a reader keeps it a MatMul; of products beside a QuantizeLinear some stay as well."""
    given, net = CASES["MatMul 1"], Network(21)
    weights = net.node("DequantizeLinear", net.constant(given["w"]), net.constant(given["scale"]), axis=1)
    x = net.input([None, 32])
    data = net.both(x, 0.5, np.uint8(3)) if beside == "quantized" else x
    y = net.node("MatMul", net.node("Neg", data), weights)
    y = net.node("Neg", net.node("Relu", y)) if beside == "relu" else y
    with pytest.raises(ValueError, match="makes MatMulNBits of it, or may"):
        load(net.model(y), "ort_avx2")
