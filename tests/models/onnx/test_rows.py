"""What rows of ONNX's operators on codes say, all of them: attributes, runtimes, whose bits these are, and types."""

from inspect import signature

import numpy as np
import pytest
from onnx import TensorProto, defs, helper
from onnx_networks import Network
from onnx_nodes import NODES, M, of

from qops.models.onnx.kinds import KINDS, OWN_DOMAIN
from qops.onnx.runtimes import COLUMNS

F32, U8, S8 = np.float32, np.uint8, np.int8


def codes(dtype, *shape):
    """Codes of which many are near an end: sums of their products saturate where a CPU does that."""
    return np.random.default_rng(5).choice([*2 * [np.iinfo(dtype).min, np.iinfo(dtype).max], 1, 9], shape).astype(dtype)


IMAGE, FILTERS = codes(U8, 1, 4, 6, 5), codes(S8, 4, 4, 2, 3)
OF_X, OF_Y = [F32(0.5), U8(128)], [F32(0.375), U8(7)]
CONV = [IMAGE, *OF_X, FILTERS, F32(0.25), S8(0), F32(40), U8(99)]
GEMM = [codes(U8, 24, 24), *OF_X, codes(S8, 24, 24)[::-1].copy(), F32(0.25), S8(3), [], F32(200), U8(99)]
POOL, KERNEL = [IMAGE, *OF_X, *OF_Y], {"kernel_shape": [3, 2]}
VALUES = [of(6, 6), F32([0.5, 0.25, 0.125, 1, 2, 4]), U8([1, 2, 3, 4, 5, 6])]
BLOCKS = [of(4, 6), of(2, 6) + 9, U8(np.arange(12).reshape(2, 6))]
COARSE = [codes(U8, 4, 6), F32(np.arange(24).reshape(2, 12)[:, :6] + 1), U8(np.arange(12).reshape(2, 6))]
MATRIX = [codes(U8, 6, 6), *OF_X, *OF_Y]
PLAIN = {
    "QLinearConv": (CONV, {}),
    "ConvInteger": ([IMAGE, FILTERS, U8(3), S8(-2)], {}),
    "QLinearMatMul": ([*GEMM[:6], *GEMM[7:]], {}),
    "MatMulInteger": ([GEMM[0], GEMM[3], U8(3), S8(-2)], {}),
    "QGemm": (GEMM, {}),
    "MatMulIntegerToFloat": ([GEMM[0], GEMM[3], F32(0.5), F32(0.25), U8(3), S8(-2)], {}),
    "DynamicQuantizeMatMul": ([of(6, 6), codes(S8, 6, 6), F32(0.25), S8(3)], {}),
    "QLinearAdd": ([GEMM[0], *OF_X, GEMM[0].T.copy(), F32(0.3), U8(4), F32(0.7), U8(0)], {}),
    "QLinearMul": ([GEMM[0], *OF_X, GEMM[0].T.copy(), F32(0.3), U8(4), F32(0.7), U8(0)], {}),
    "QuantizeLinear": ([of(4, 6), F32(0.3), U8(3)], {}),
    "DequantizeLinear": ([codes(U8, 4, 6), F32(0.3), U8(3)], {}),
    "DynamicQuantizeLinear": ([of(4, 6)], {}),
    "QLinearSigmoid": ([codes(U8, 6, 6), F32(0.02), U8(9), F32(0.004), U8(0)], {}),
    "QLinearLeakyRelu": (MATRIX, {}),
    "QLinearSoftmax": (MATRIX, {"opset": 13}),
    "QLinearAveragePool": (POOL, KERNEL),
    "QLinearGlobalAveragePool": (POOL, {}),
    "MaxPool": ([IMAGE], KERNEL),
}
"""Inputs of each operator that a function of `qops.onnx` runs, and the attributes that it must have."""
WINDOWS = [
    ("auto_pad", "SAME_LOWER", {}),
    ("pads", [1, 0, 0, 1], {}),
    ("strides", [2, 1], {}),
    ("dilations", [2, 1], {}),
    ("kernel_shape", [2, 3], {}),
]
CEILED = {**KERNEL, "strides": [2, 2]}
POOLS = [*WINDOWS[:3], ("ceil_mode", 1, CEILED), ("kernel_shape", [2, 2], {"kernel_shape": [3, 2]})]
ATTRIBUTES = [
    *(("QLinearConv", *row, CONV) for row in WINDOWS),
    *(("ConvInteger", *row, PLAIN["ConvInteger"][0]) for row in WINDOWS),
    ("QLinearConv", "group", 2, {}, [*CONV[:3], FILTERS[:, :2], *CONV[4:]]),
    ("ConvInteger", "group", 2, {}, [IMAGE, FILTERS[:, :2], U8(3)]),
    ("QGemm", "alpha", 0.25, {}, GEMM),
    ("QGemm", "transA", 1, {}, GEMM),
    ("QGemm", "transB", 1, {}, GEMM),
    ("QuantizeLinear", "axis", 0, {}, VALUES),
    ("QuantizeLinear", "block_size", 2, {"axis": 0}, BLOCKS),
    ("QuantizeLinear", "output_dtype", TensorProto.INT16, {}, [of(4, 6), F32(0.01)]),
    ("QuantizeLinear", "precision", TensorProto.FLOAT16, {}, [of(40, 60), F32(0.013), U8(3)]),
    ("QuantizeLinear", "saturate", 0, {}, [of(4, 6), F32(0.3), U8(3)]),
    ("DequantizeLinear", "axis", 0, {}, [codes(U8, 6, 6), *VALUES[1:]]),
    ("DequantizeLinear", "block_size", 2, {"axis": 0}, COARSE),
    ("DequantizeLinear", "output_dtype", TensorProto.FLOAT16, {}, [codes(U8, 4, 6), F32(0.3), U8(3)]),
    ("QLinearLeakyRelu", "alpha", 0.5, {}, MATRIX),
    ("QLinearSoftmax", "axis", 0, {"opset": 13}, MATRIX),
    ("QLinearSoftmax", "opset", 12, {"axis": 1}, POOL),
    *(("QLinearAveragePool", name, value, {**KERNEL, **more}, POOL) for name, value, more in POOLS),
    ("QLinearAveragePool", "count_include_pad", 1, {**KERNEL, "pads": [1, 1, 1, 1]}, POOL),
    ("QLinearAveragePool", "channels_last", 1, KERNEL, POOL),
    ("QLinearGlobalAveragePool", "channels_last", 1, {}, POOL),
    *(("MaxPool", name, value, {**KERNEL, **more}, [IMAGE]) for name, value, more in [*POOLS, WINDOWS[3]]),
]
"""A value of each attribute that a function takes, other attributes, and inputs for which it counts."""
SAID_BY_INPUTS = {
    *((kind, name) for kind in ("QLinearConv", "ConvInteger") for name in ("kernel_shape", "group")),
    *((f"{word}Linear", "block_size") for word in ("Quantize", "Dequantize")),
    ("QuantizeLinear", "saturate"),
}
"""Attributes without which the function refuses these inputs, or that repeat their shapes; one is of float8 alone."""


def place_of_data(kind):
    return 2 if kind == "QLinearConcat" else 0


def graph_of(load, kind, inputs, runtime, how, results=1, opset=23):
    """A graph of one node with these attributes, which reads its data; [] is left out."""
    net, data = Network(opset), place_of_data(kind)
    names = [net.constant(x) if np.size(x) else "" for x in inputs]
    names[data] = net.input(inputs[data].shape, helper.np_dtype_to_tensor_dtype(inputs[data].dtype))
    domain = OWN_DOMAIN if KINDS[kind].is_own else ""
    made = net.node(kind, *names, domain=domain, results=results, **how)
    return load(net.model(*([made] if results == 1 else made)), runtime)


def called(kind, inputs, **how):
    given = [None if isinstance(x, list) else x for x in inputs]
    for name in ("output_dtype", "precision"):
        if name in how:
            how[name] = helper.tensor_dtype_to_np_dtype(how[name])
    return KINDS[kind].function(*given, **how)


def results_of(value):
    return value if isinstance(value, tuple) else (value,)


def same(got, wanted):
    return all(
        a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b) for a, b in zip(got, wanted, strict=True)
    )


def test_every_operator_of_a_function_is_here():
    assert PLAIN.keys() == {kind for kind, row in KINDS.items() if row.function}
    assert {(kind, name) for kind, name, *_ in ATTRIBUTES} == {
        (kind, name) for kind, row in KINDS.items() for name in row.attributes
    }


@pytest.mark.parametrize("kind", [kind for kind in PLAIN if not KINDS[kind].is_own])
def test_a_function_takes_every_attribute_of_the_standard(kind):
    """But for the order in which MaxPool stores indices, which qops does not give."""
    assert {*KINDS[kind].attributes} == {*defs.get_schema(kind, 23).attributes} - {"storage_order"}


@pytest.mark.parametrize(
    ("kind", "name", "value", "more", "inputs"), ATTRIBUTES, ids=[f"{kind}-{name}" for kind, name, *_ in ATTRIBUTES]
)
def test_an_attribute_of_a_node_is_that_of_the_function(load, kind, name, value, more, inputs):
    graph = graph_of(load, kind, inputs, "onnx", {**more, name: value})
    (got,), op = graph.run(inputs[0]).values(), graph.ops[-1].prepared
    assert op is None or name in ("output_dtype", "precision") or np.array_equal(getattr(op, name), value)
    wanted = called(kind, inputs, **{**more, name: bool(value) if name == "saturate" else value})
    np.testing.assert_array_equal(got, wanted, strict=True)
    if (kind, name) not in SAID_BY_INPUTS:
        assert not same([got], [called(kind, inputs, **more)])


def column_of(kind, runtime):
    """Onnxruntime's own operators are those of onnxruntime for the standard too, which has none."""
    return "ort" if KINDS[kind].is_own and runtime == "onnx" else runtime


@pytest.mark.parametrize("runtime", COLUMNS)
@pytest.mark.parametrize("kind", PLAIN)
def test_a_node_gives_the_bits_of_its_runtime(load, kind, runtime):
    """By a prepared op, if the operator has one, as all but its data are constants here."""
    (inputs, how), row = PLAIN[kind], KINDS[kind]
    takes = "runtime" in signature(row.function).parameters
    wanted = results_of(called(kind, inputs, **how, **({"runtime": column_of(kind, runtime)} if takes else {})))
    graph = graph_of(load, kind, inputs, runtime, how, len(wanted))
    assert same(graph.run(inputs[0]).values(), wanted)
    assert (graph.ops[-1].prepared is None) == (row.prepared is None)


LOSE = ("QLinearConv", "QLinearMatMul", "MatMulInteger", "QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul")


@pytest.mark.parametrize("kind", LOSE)
def test_sums_of_these_codes_are_not_the_same_on_every_cpu(kind):
    inputs, how = PLAIN[kind]
    each = [called(kind, inputs, **how, runtime=runtime) for runtime in ("ort", "ort_avx2")]
    assert not np.array_equal(*each)


SAID = {
    "exact": {"DequantizeLinear", "MaxPool"},
    "ort": {"QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "QLinearGlobalAveragePool"},
}
"""Rules of operators that round nothing, or by one rule on every CPU; others have that of the runtime, or of a pair."""
SUMS = "ConvInteger", "MatMulInteger"
"""Whose sums are exact or those of the runtime, which depends on types and CPU."""


@pytest.mark.parametrize("runtime", COLUMNS)
@pytest.mark.parametrize("kind", [kind for kind in PLAIN if kind not in SUMS])
def test_whose_bits_these_are(load, kind, runtime):
    inputs, how = PLAIN[kind]
    op = graph_of(load, kind, inputs, runtime, how, 3 if kind == "DynamicQuantizeLinear" else 1).ops[-1]
    rule = next((rule for rule, kinds in SAID.items() if kind in kinds), "")
    assert op.rule == (rule or getattr(op.prepared, "rule", column_of(kind, runtime)))


@pytest.mark.parametrize("kind", sorted({*SAID["exact"], *SAID["ort"]}))
def test_one_rule_gives_the_same_bits_on_every_runtime(load, kind):
    inputs, how = PLAIN[kind]
    first, *others = (graph_of(load, kind, inputs, runtime, how).run(inputs[0]).values() for runtime in COLUMNS)
    assert all(same(first, other) for other in others)


LOSSY = {
    ("MatMulInteger", "ort_avx2", U8, S8),
    ("MatMulInteger", "ort_neon", U8, S8),
    ("MatMulInteger", "ort_neon", S8, S8),
    ("ConvInteger", "ort_avx2", S8, U8),
    ("ConvInteger", "ort_neon", S8, U8),
    ("ConvInteger", "ort_neon", S8, S8),
}
"""Where products of data and weights of these types share words; ConvInteger multiplies filters by data."""


@pytest.mark.parametrize("is_constant", [True, False], ids=["constant", "read"])
@pytest.mark.parametrize("x_type", [U8, S8])
@pytest.mark.parametrize("w_type", [U8, S8])
@pytest.mark.parametrize("runtime", COLUMNS)
@pytest.mark.parametrize("kind", SUMS)
def test_sums_are_called_exact_where_they_are(load, kind, runtime, x_type, w_type, is_constant):
    """Rows and columns of the lowest and of the highest codes lose something wherever products share words."""
    x, w = (np.array([[info.min] * 16, [info.max] * 16], info.dtype) for info in map(np.iinfo, (x_type, w_type)))
    x, w = (x[:, :, np.newaxis], w[:, :, np.newaxis]) if kind == "ConvInteger" else (x, w.T.copy())
    net = Network()
    data, weights = (net.input(each.shape, helper.np_dtype_to_tensor_dtype(each.dtype)) for each in (x, w))
    weights = net.constant(w) if is_constant else weights
    (op,) = load(net.model(net.node(kind, data, weights)), runtime).ops
    (got,), is_lossy = op.call(*([x] if is_constant else [x, w])), (kind, runtime, x_type, w_type) in LOSSY
    assert np.array_equal(got, called(kind, [x, w])) != is_lossy
    may_lose = is_lossy if is_constant else COLUMNS[runtime].pairs  # without a prepared op nothing says more
    assert op.rule == (runtime if may_lose else "exact")


COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
MOVES = [
    *(pytest.param(*node, "", id=f"{i}-{node[0]}") for i, node in enumerate(NODES)),
    *(pytest.param("Cast", [M], {"to": n}, "moves codes", id=f"Cast-{n}") for n in (6, 7, 9, 10, 11)),
    *(pytest.param(kind, [M, M + 1], {}, "exact", id=kind) for kind in COMPARISONS),
    *(pytest.param(kind, [M > 0, M > 1], {}, "exact", id=kind) for kind in ("And", "Or")),
    pytest.param("Not", [M > 0], {}, "exact", id="Not"),
    pytest.param("QGemm", GEMM[:7], {}, "ort_avx2", id="QGemm of floats"),
    pytest.param("QLinearConcat", [*CONV[6:], *POOL[:3]], {"axis": 1}, "ort", id="QLinearConcat"),
    *(pytest.param(kind, [M], {"axis": 1}, "exact", id=kind) for kind in ("ArgMax", "ArgMin")),
    *(pytest.param(kind, inputs, how, "?", id=kind) for kind, (inputs, how) in PLAIN.items()),
]


@pytest.mark.parametrize(("kind", "inputs", "how", "rule"), MOVES)
def test_results_have_the_types_that_the_graph_says(load, kind, inputs, how, rule):
    """What has no rule on codes is computed in float32, or only moves what it reads."""
    how = dict(how)
    results = 3 if kind == "DynamicQuantizeLinear" else how.pop("results", 1)
    opset = 17 if kind == "QLinearSoftmax" else how.pop("opset", 17)  # the former has an attribute of that name
    graph = graph_of(load, kind, inputs, "ort_avx2", how, results, opset)
    for name, y in graph.run(inputs[place_of_data(kind)], keep="all").items():
        assert graph.tensors[name].dtype == y.dtype, name
    if rule != "?":
        default = "float32" if KINDS[kind].real else "moves codes"
        assert graph.ops[-1].rule == (rule or default)
