"""What the reader of .onnx files refuses: damaged, hostile and unknown files, each with one error that names it."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_networks import Network, drawn

from qops import models

F32 = np.float32


@pytest.fixture
def refused(tmp_path):
    """Gives the error with which a model, or its bytes, is refused."""

    def refusal(model, runtime="onnx"):
        path = tmp_path / "network.onnx"
        path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        with pytest.raises(ValueError, match=r"^network\.onnx: ") as error:
            models.load(path, runtime=runtime)
        return str(error.value).removeprefix("network.onnx: ")

    return refusal


@pytest.fixture
def small():
    """A network of one node, to be spoilt."""
    net = Network()
    x = net.input([None, 2])
    return net.model(net.node("Add", x, net.constant(F32([1, 2]))))


def test_what_is_no_model_is_refused(refused):
    assert "damaged protobuf" in refused(b"\x07" * 50)
    assert "not an ONNX model" in refused(b"")


def test_a_cut_file_is_refused(refused):
    data = drawn(0)[0].SerializeToString()
    for size in range(0, len(data), 97):
        refused(data[:size])


def test_a_file_that_is_not_there_and_other_suffixes(tmp_path):
    with pytest.raises(FileNotFoundError):
        models.load(tmp_path / "none.onnx")
    with pytest.raises(ValueError, match=r"^path: expected a .tflite or an .onnx file"):
        models.load(tmp_path / "network.pb")
    with pytest.raises(ValueError, match=r"^runtime: expected one of onnx, ort"):
        models.load(tmp_path / "none.onnx", runtime="reference")


def test_unknown_operators_are_named_with_their_places(refused):
    net = Network()
    x = net.input([None, 2])
    y = net.node("Relu", x)
    made = [net.node("NonZero", y), net.node("Tan", x), net.node("QAttention", x, domain="com.microsoft")]
    made.append(net.node("RandomNormal", shape=[2]))
    text = refused(net.model(*made))
    assert text.startswith("4 operators cannot be read:")
    for words in ("node 1, NonZero (NonZero_1)", "node 2, Tan (Tan_2)", "node 3, QAttention (QA", "node 4, RandomNorm"):
        assert words in text


def test_operators_of_another_domain_are_unknown(refused, small):
    small.graph.node[0].domain = "com.example"
    assert "qops has no such operator of 'com.example'" in refused(small)


def test_a_graph_inside_of_a_node_is_refused(refused):
    net = Network()
    x = net.input([], TensorProto.BOOL)
    branch = helper.make_graph([], "branch", [], [])
    y = net.node("If", x, then_branch=branch, else_branch=branch)
    assert "node 0, If (If_0): qops has no such operator" in refused(net.model(y))


def spoilt(name, change):
    return pytest.param(name, change, id=name)


def _announce(tensor):
    tensor.dims[0] = 2**40


def _negative(tensor):
    tensor.dims[0] = -2


def _external(tensor):
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")


def _typed(tensor):
    tensor.data_type = TensorProto.STRING


def _many_axes(tensor):
    tensor.dims.extend([1] * 100)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        spoilt("of shape (1099511627776,), float32, has 2 elements", _announce),
        spoilt("announces shape (-2,)", _negative),
        spoilt("is stored in another file", _external),
        spoilt("is of type STRING, which qops does not read", _typed),
        spoilt("announces shape", _many_axes),
    ],
)
def test_spoilt_constants_are_refused(refused, small, words, change):
    change(small.graph.initializer[0])
    assert words in refused(small)


def test_spoilt_graphs_are_refused(refused, small):
    node = small.graph.node[0]

    def with_change(change):
        other = type(small).FromString(small.SerializeToString())
        change(other.graph)
        return refused(other)

    assert "reads 'Add_0', which nothing before it writes" in with_change(lambda g: g.node[0].input.append("Add_0"))
    twice = with_change(lambda g: g.node.append(node))
    assert "writes 'Add_0', which stands already" in twice
    assert "two inputs or two constants have one name" in with_change(lambda g: g.input.append(g.input[0]))
    assert "two inputs or two constants" in with_change(lambda g: g.initializer.append(g.initializer[0]))
    assert "nothing writes the output 'other'" in with_change(lambda g: setattr(g.output[0], "name", "other"))
    assert "announces a size of -3" in with_change(
        lambda g: setattr(g.input[0].type.tensor_type.shape.dim[1], "dim_value", -3)
    )
    assert "is no tensor" in with_change(lambda g: g.input[0].type.sequence_type.SetInParent())
    assert "says no shape" in with_change(lambda g: g.input[0].type.tensor_type.ClearField("shape"))
    assert "sparse constants" in with_change(lambda g: g.sparse_initializer.add())
    assert "which are too few" in with_change(lambda g: g.node[0].input.pop())


def test_a_loop_of_nodes_is_refused(refused):
    net = Network()
    x = net.input([2])
    net.node("Add", x, "Add_1")
    net.node("Add", "Add_0", x)
    assert "node 0, Add (Add_0) reads 'Add_1', which nothing before it writes" in refused(net.model("Add_1"))


@pytest.mark.long
def test_few_bytes_do_not_describe_much_work(refused):
    """Many nodes that all pack one constant would take far more memory than the file."""
    net = Network()
    x = net.input([None, 1024], TensorProto.UINT8)
    numbers = [net.constant(F32(1)), net.constant(np.uint8(0))]
    b = [net.constant(np.zeros((1024, 1024), np.int8)), numbers[0], net.constant(np.int8(0))]
    ends = [net.node("QLinearMatMul", x, *numbers, *b, *numbers) for _ in range(200)]
    assert "pack far more than the file holds" in refused(net.model(*ends, dtype=TensorProto.UINT8))


@pytest.mark.long
def test_chains_of_constants_are_not_all_kept(tmp_path):
    """What depends on constants alone is computed once, but no more than a share of the file's size."""
    net = Network()
    y = net.constant(np.zeros((512, 512), np.int8))
    for _ in range(1000):
        y = net.node("Transpose", y)
    path = tmp_path / "network.onnx"
    path.write_bytes(net.model(y, dtype=TensorProto.INT8).SerializeToString())
    graph = models.load(path)
    held = sum(t.data.nbytes for t in graph.tensors.values() if t.data is not None)
    assert held < 2**24 + 16 * path.stat().st_size
    assert graph.run({})[y].shape == (512, 512)


@pytest.mark.parametrize("kind", ["Expand", "Tile", "Pad", "ConstantOfShape"])
def test_gigabytes_of_results_are_refused_when_they_are_made(tmp_path, kind):
    net = Network()
    x, large = net.input([1]), net.constant(np.array([2**40]))
    y = {
        "Expand": lambda: net.node("Expand", x, large),
        "Tile": lambda: net.node("Tile", x, large),
        "Pad": lambda: net.node("Pad", x, net.constant(np.array([0, 2**40]))),
        "ConstantOfShape": lambda: net.node("ConstantOfShape", large),
    }[kind]()
    path = tmp_path / "network.onnx"
    path.write_bytes(net.model(y).SerializeToString())
    with pytest.raises(ValueError, match=rf"^network\.onnx: {kind}_0 \({kind}\): a result of shape .* is too large"):
        models.load(path).run(np.zeros(1, F32))


def test_what_onnxruntime_fuses_and_qops_does_not_have_is_named(refused):
    net = Network()
    w = net.dequantize(net.constant(np.ones((4, 3), np.int8)), 0.5, np.int8(0))
    model = net.model(net.node("MatMul", net.input([2, 4]), w))
    assert "node 1, MatMul (MatMul_1): onnxruntime makes MatMulNBits" in refused(model, "ort")
    net = Network()
    x = net.both(net.input([2, 2]), 0.5, np.uint8(3))
    for scale in (0.25, 0.75):
        x = net.both(net.node("Transpose", x), scale, np.uint8(3))
    assert "QuantizeLinear (QuantizeLinear_3): onnxruntime may make one of two pairs" in refused(net.model(x), "ort")
    net = Network()
    x = net.both(net.both(net.input([2]), 0.5, np.uint8(0)), 0.5, np.uint8(255))
    assert "QuantizeLinear (QuantizeLinear_2): onnxruntime makes one of two pairs, whose ranges" in refused(
        net.model(x), "ort"
    )


def test_four_bits_are_read_from_weights(tmp_path):
    net = Network(opset=21)
    tensor = helper.make_tensor("w", TensorProto.INT4, [3], [-8, 7, 3])
    net.constants.append(tensor)
    zero = helper.make_tensor("z", TensorProto.INT4, [], [1])
    net.constants.append(zero)
    y = net.node("Mul", net.input([3]), net.node("DequantizeLinear", "w", net.constant(F32(0.5)), "z"))
    path = tmp_path / "network.onnx"
    path.write_bytes(net.model(y).SerializeToString())
    assert models.load(path).run(F32([1, 1, 2]))[y].tolist() == [-4.5, 3.0, 2.0]


def test_constants_of_every_kind_are_read(tmp_path):
    """As bytes, and as lists of numbers; Constant nodes as well."""
    kinds = [np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.bool_]
    for dtype in kinds:
        data = np.array([0, 1, 1], dtype)
        net = Network()
        net.constants.append(helper.make_tensor("listed", helper.np_dtype_to_tensor_dtype(data.dtype), [3], data))
        held = net.node("Constant", value=numpy_helper.from_array(data))
        ends = [net.node("Concat", net.constant(data), "listed", held, axis=0)]
        path = tmp_path / "network.onnx"
        path.write_bytes(net.model(*ends).SerializeToString())
        got = models.load(path).run({})[ends[0]]
        np.testing.assert_array_equal(got, np.tile(data, 3), strict=True)


def test_the_package_is_an_extra(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r"qops\[onnx\]"):
        models.load(tmp_path / "network.onnx")


def test_a_size_of_minus_1_is_known_at_run_time_alone(tmp_path):
    net = Network()
    x = net.input([None, 3])
    model = net.model(net.node("Relu", x))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    path = tmp_path / "network.onnx"
    path.write_bytes(model.SerializeToString())
    graph = models.load(path)
    assert graph.tensors[graph.inputs[0]].shape == (None, 3)
    (y,) = graph.run(F32([[1, -2, 3], [-4, 5, 6]])).values()
    assert y.tolist() == [[1, 0, 3], [0, 5, 6]]
