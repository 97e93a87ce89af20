"""Operators that qops lacks are gaps of a graph: it runs around them, and behind them if it is given their results."""

import pickle

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_networks import Network

from qops import models
from qops.models import Operator, Tensor, tflite_bytes


def codes(name, shape=(1, 4), dtype="int8"):
    scale = None if dtype in ("int32", "int64") else np.float32(0.1)
    return Tensor(name, shape, dtype, scale, None if scale is None else np.int64(-3))


def relu(x, y):
    return Operator("RELU", [x], [y], {}, [])


def unknown(inputs, outputs):
    return Operator("CUMSUM", inputs, outputs, {}, [])


@pytest.fixture
def tflite(tmp_path):
    def loaded(operators, inputs, outputs, **how):
        path = tmp_path / "m.tflite"
        tensors = {t.name: t for op in operators for t in (*op.inputs, *op.outputs)}
        path.write_bytes(tflite_bytes(list(tensors.values()), operators, inputs, outputs))
        return models.load(path, **how)

    return loaded


X = np.int8([[-100, -3, 5, 90]])


def test_a_gap_at_the_end(tflite):
    x, y, z = codes("x"), codes("y"), codes("z", dtype="int32")
    ops = [relu(x, y), unknown([y], [z])]
    with pytest.raises(ValueError, match=r"operator 1, CUMSUM \(result 'z'\).*\n  load\(\.\.\., gaps=True\) reads"):
        tflite(ops, [x], [z])
    graph = tflite(ops, [x], [y, z], gaps=True)
    (gap,) = graph.gaps
    assert (gap.name, gap.kind, gap.gap, gap.reads) == ("cumsum", "CUMSUM", "qops has no such operator", ("y",))
    assert list(graph.run(X)) == ["y"]
    np.testing.assert_array_equal(graph.run(X)["y"], [[-3, -3, 5, 90]])
    assert set(graph.run(X, keep="all")) == {"x", "y"}
    given = {"z": np.int32([[1, 2, 3, 4]])}
    np.testing.assert_array_equal(graph.run(X, given=given)["z"], given["z"])


def test_gaps_in_the_middle_and_one_that_reads_another(tflite):
    x, a, b, c, d, e = (codes(name) for name in "xabcde")
    ops = [unknown([x], [a]), unknown([a], [b]), relu(b, c), relu(x, d), relu(a, e)]
    graph = tflite(ops, [x], [c, d, e], gaps=True)
    assert [gap.name for gap in graph.gaps] == ["cumsum", "cumsum_1"]
    assert list(graph.run(X)) == ["d"]
    assert list(graph.run(X, given={"b": X})) == ["c", "d"]
    found = graph.run(X, given={"a": X, "b": X[:, ::-1]})
    np.testing.assert_array_equal(found["c"], [[90, 5, -3, -3]])
    np.testing.assert_array_equal(found["e"], [[-3, -3, 5, 90]])
    values = graph.real(np.zeros((1, 4)), given={"a": [[-1.0, 0, 1, 2]]})
    assert list(values) == ["d", "e"]
    np.testing.assert_array_equal(values["e"], [[0, 0, 1, 2]])


@pytest.mark.parametrize("runtime", ["reference", "optimized", "xnnpack", "tflm"])
def test_gaps_are_pickled_and_known_to_every_runtime(tflite, runtime):
    x, a, y = codes("x"), codes("a"), codes("y")
    graph = tflite([unknown([x], [a]), relu(a, y)], [x], [y], gaps=True, runtime=runtime)
    again = pickle.loads(pickle.dumps(graph.ops))
    assert again[0].gap == graph.gaps[0].gap == again[0].remade("tflm").gap
    with pytest.raises(ValueError, match="qops has no such operator"):
        again[0].call(X)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"y": X}, r"^given\['y'\]: no gap of m\.tflite has this result, only 'a'$"),
        ({"a": X[:, :3]}, r"^given\['a'\]: expected shape \(1, 4\), got \(1, 3\)$"),
        ({"a": X.astype(np.int16)}, r"^given\['a'\]: expected int8, got int16$"),
        ([X], r"^given: expected a dict"),
    ],
)
def test_results_that_do_not_fit_are_refused(tflite, given, words):
    x, a, y = codes("x"), codes("a"), codes("y")
    graph = tflite([unknown([x], [a]), relu(a, y)], [x], [y], gaps=True)
    with pytest.raises((ValueError, TypeError), match=words):
        graph.run(X, given=given)


def test_types_without_arrays_make_a_gap_and_are_named(tflite):
    x, text, y = codes("x"), Tensor("text", (1,), "string"), codes("y")
    graph = tflite([relu(x, y), Operator("RESHAPE", [y], [text], {}, [])], [x], [y], gaps=True)
    assert graph.gaps[0].gap == "its tensor 'text' is of type string, of which qops has no arrays"
    with pytest.raises(ValueError, match=r"^m\.tflite: its input 'text' is of type string"):
        tflite([Operator("RESHAPE", [text], [y], {}, [])], [text], [y], gaps=True)


def test_gaps_is_a_truth_value(tmp_path):
    with pytest.raises(TypeError, match=r"^gaps: "):
        models.load(tmp_path / "m.tflite", gaps="yes")


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
def test_gaps_of_onnx(tmp_path, runtime):
    net = Network()
    x = net.input([None, 4])
    top, places = net.node("TopK", x, net.constant(np.int64([2])), results=2)
    y = net.node("Relu", top)
    z = net.node("Relu", x)
    w = net.node("Gather", z, places, axis=1)
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model(y, z, w).SerializeToString())
    with pytest.raises(ValueError, match=r"1 operator cannot be read:\n  node 0, TopK"):
        models.load(path, runtime=runtime)
    graph = models.load(path, runtime=runtime, gaps=True)
    data = np.float32([[3, -1, 2, -5]])
    assert list(graph.run(data)) == [z]
    found = graph.run(data, given={top: np.float32([[3, 2]]), places: np.int64([[0, 2]])})
    np.testing.assert_array_equal(found[y], [[3, 2]])
    np.testing.assert_array_equal(found[w].ravel(), [3, 2])


def test_a_gap_whose_type_the_file_tells(tmp_path):
    net = Network()
    x = net.input([1, 4], TensorProto.UINT8)
    a = net.node("Bernoulli", x)
    y = net.node("DequantizeLinear", a, net.constant(np.float32(0.5)), net.constant(np.uint8(2)))
    path, model = tmp_path / "m.onnx", net.model(y)
    model.graph.value_info.append(helper.make_tensor_value_info(a, TensorProto.UINT8, [1, 4]))
    path.write_bytes(model.SerializeToString())
    graph = models.load(path, gaps=True)
    with pytest.raises(TypeError, match=r"expected uint8, got int64"):
        graph.run(np.uint8([[1, 2, 3, 4]]), given={a: np.int64([[0, 2, 4, 6]])})
    found = graph.run(np.uint8([[1, 2, 3, 4]]), given={a: np.uint8([[0, 2, 4, 6]])})
    np.testing.assert_array_equal(found[y], [[-1, 0, 1, 2]])


def test_a_constant_that_cannot_be_computed(tmp_path):
    """A constant is computed before nodes are fused; one that is refused is told with its node, as any other is."""
    net = Network()
    x = net.node("QuantizeLinear", net.constant(np.float32([1, 2])), net.constant(np.uint8(3)))
    y = net.node("Relu", net.input([2]))
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model(y, x, dtype=TensorProto.UINT8).SerializeToString())
    for runtime in ("onnx", "ort"):
        with pytest.raises(ValueError, match=r"node \d, QuantizeLinear \(QuantizeLinear_0\): y_scale: expected"):
            models.load(path, runtime=runtime)
        assert list(models.load(path, runtime=runtime, gaps=True).run(np.float32([-1, 3]))) == [y]


def branch(name, kind, reads, **how):
    end = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    return helper.make_graph([helper.make_node(kind, reads, [name], **how)], name, [], [end])


def with_branches(reads):
    """A convolution of codes, and an If whose branches read a tensor of the graph around them."""
    net = Network(17)
    x, flag = net.input([1, 2, 3, 3]), net.input([], TensorProto.BOOL)
    scale, zero = net.constant(np.float32(0.5)), net.constant(np.uint8(3))
    data = net.node("DequantizeLinear", net.node("QuantizeLinear", x, scale, zero), scale, zero)
    codes = net.constant((np.arange(6) - 2).astype(np.int8).reshape(3, 2, 1, 1))
    sums = net.node("Conv", data, net.node("DequantizeLinear", codes, net.constant(np.float32(0.3))))
    made = net.node("DequantizeLinear", net.node("QuantizeLinear", sums, scale, zero), scale, zero)
    read = {"data": data, "sums": sums, "result": made}[reads]
    inner = {"then_branch": branch("a", "Neg", [read]), "else_branch": branch("b", "Abs", [read])}
    outer = {"then_branch": branch("c", "If", [flag], **inner), "else_branch": branch("d", "Identity", [read])}
    y = net.node("If", flag, **outer)
    return net, (x, flag, read, y, made), net.node("Neg", y)


@pytest.mark.parametrize("reads", ["data", "sums", "result"])
@pytest.mark.parametrize("runtime", ["onnx", "ort"])
def test_what_branches_read_is_what_their_if_reads(tmp_path, reads, runtime):
    """A tensor that a branch reads has one reader more, and onnxruntime then leaves the sums as they are."""
    net, (x, flag, read, y, made), z = with_branches(reads)
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model(made, z).SerializeToString())
    with pytest.raises(ValueError, match=r"If \(.*\): qops has no such operator"):
        models.load(path, runtime=runtime)
    graph = models.load(path, runtime=runtime, gaps=True)
    (gap,) = graph.gaps
    assert (gap.kind, gap.reads) == ("If", (flag, read))
    assert bool(graph.fused) == (runtime == "ort" and reads != "sums")
    data = {x: np.float32([[[[0.5, -3, 7]] * 3] * 2]), flag: np.array(True)}
    assert list(graph.run(data)) == [made]
    result = np.float32([1, -2])
    np.testing.assert_array_equal(graph.run(data, given={y: result})[z], -result)


def test_a_branch_that_reads_what_nothing_writes(tmp_path):
    net, _, z = with_branches("data")
    path, model = tmp_path / "m.onnx", net.model(z)
    node = next(node for node in model.graph.node if node.op_type == "If")
    node.attribute[0].g.node[0].input[0] = "nowhere"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match=r"^m\.onnx: node .*, If .* reads 'nowhere', which nothing before it writes"):
        models.load(path, gaps=True)


def test_a_known_operator_with_a_subgraph(tmp_path):
    net = Network()
    x = net.input([1, 4])
    y = net.node("Relu", x, more=branch("a", "Neg", [x]))
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model(y).SerializeToString())
    with pytest.raises(ValueError, match=r"Relu_0\): its attribute 'more' is a subgraph, or of another type"):
        models.load(path)
