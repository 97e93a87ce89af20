"""The C of `params` for what moves codes, for sums that stay integers or become floats, and that no kind is without."""

import numpy as np
import ported
import pytest
import streaming
import tflite_models
from onnx import TensorProto
from onnx_networks import Network

from qops.models import Operator, Tensor, load, tflite_bytes
from qops.models.onnx.kinds import KINDS as NODES
from qops.models.tflite.kinds import KINDS
from qops.tools.params.params import params

F32 = np.float32
SHAPE = (2, 4, 6, 8)
I32, I64 = np.int32, np.int64
TFLITE = {
    "RESHAPE": ([I32([8, 6, 8])], {}, [(8, 6, 8)]),
    "SQUEEZE": ([], {"SqueezeDims": []}, [SHAPE]),
    "EXPAND_DIMS": ([I32(1)], {}, [(2, 1, 4, 6, 8)]),
    "TRANSPOSE": ([I32([0, 3, 1, 2])], {}, [(2, 8, 4, 6)]),
    "PACK": ([None], {"Axis": 1}, [(2, 2, 4, 6, 8)]),
    "UNPACK": ([], {"Axis": 1, "Num": 4}, [(2, 6, 8)] * 4),
    "SPLIT": ([I32(3)], {"NumSplits": 2}, [(2, 4, 6, 4)] * 2),
    "SPLIT_V": ([I32([1, 3]), I32(1)], {"NumSplits": 2}, [(2, 1, 6, 8), (2, 3, 6, 8)]),
    "SLICE": ([I32([0, 1, 2, 3]), I32([2, 2, 3, -1])], {}, [(2, 2, 3, 5)]),
    "STRIDED_SLICE": (
        [I32([0, 0, 0, 0]), I32([2, 4, 6, 8]), I32([1, 1, 2, 3])],
        {"BeginMask": 0, "EndMask": 0, "ShrinkAxisMask": 2},
        [(2, 3, 3)],
    ),
    "GATHER": ([I32([3, 0, 0])], {"Axis": 1}, [(2, 3, 6, 8)]),
    "GATHER_ND": ([I32([[1, 3, 0], [0, 0, 5]])], {}, [(2, 8)]),
    "TILE": ([I32([1, 2, 1, 2])], {}, [(2, 8, 6, 16)]),
    "SPACE_TO_DEPTH": ([], {"BlockSize": 2}, [(2, 2, 3, 32)]),
    "DEPTH_TO_SPACE": ([], {"BlockSize": 2}, [(2, 8, 12, 2)]),
    "REVERSE_V2": ([I32([2, 1])], {}, [SHAPE]),
    "MIRROR_PAD": ([I32([[0, 0], [1, 2], [3, 0], [0, 0]])], {"Mode": 0}, [(2, 7, 9, 8)]),
}
"""More inputs (None is the data again), options and shapes of the results, of each operator that moves codes."""


def tflite(path, kind):
    more, options, shapes = TFLITE[kind]
    scale = {"scale": F32(0.1), "zero_point": np.asarray(3)}
    x = Tensor("x", SHAPE, "int8", **scale)
    fixed = [x if c is None else Tensor(f"c{i}", c.shape, "int32", data=c) for i, c in enumerate(more)]
    results = [Tensor(f"y{i}", shape, "int8", **scale) for i, shape in enumerate(shapes)]
    given = [fixed[0], x] if kind == "SPLIT" else [x, *fixed]
    held = [t for t in fixed if t is not x]
    file = tflite_bytes([x, *held, *results], [Operator(kind, given, results, options, [])], [x], results)
    path.write_bytes(file)
    return load(path, runtime="tflm")


def moved(tried, case, folder, graph, port, x):
    """Have what the C of the only op of a graph says compared with what the op gives."""
    (op,) = graph.ops
    found = params(graph, port)
    found.write(folder)
    (layer,) = found.layers
    made = graph.run(x, keep="all")
    parts = [f"_part{i}" for i in range(len(op.outputs))] if len(op.outputs) > 1 else [""]
    data = [made[name] for name in op.reads]
    for name, part in zip(op.outputs, parts, strict=True):
        tried.add(case + part, ported.placed(folder, layer, data, made[name], part), made[name])
    return layer


@pytest.mark.parametrize("kind", TFLITE)
def test_places_of_operators_that_move_codes(kind, tmp_path, rng, tried):
    x, graph = rng.integers(-128, 128, SHAPE, np.int8), tflite(tmp_path / "one.tflite", kind)
    layer = moved(tried, kind, tmp_path / kind, graph, "tflm", x)
    size = sum(np.size(value) for value in layer.constants.values())
    assert size < 120  # numbers an axis, not one a place


ONNX = {
    "Reshape": ([I64([0, -1, 8])], {}),
    "Transpose": ([], {"perm": [0, 3, 1, 2]}),
    "Flatten": ([], {"axis": 2}),
    "Squeeze": ([I64([1])], {}),
    "Unsqueeze": ([I64([1])], {}),
    "Slice": ([I64([3, 0]), I64([0, 6]), I64([1, 2]), I64([-2, 2])], {}),
    "Gather": ([I64([3, 0, 0])], {"axis": 1}),
    "Concat": ([None], {"axis": 1}),
    "Split": ([I64([1, 3])], {"axis": 1}),
    "Expand": ([I64([3, 1, 4, 6, 8])], {}),
    "Tile": ([I64([1, 2, 1, 1])], {}),
    "Pad": ([I64([0, 1, 0, 0, 0, -1, 2, 0]), np.int8(7)], {}),
    "DepthToSpace": ([], {"blocksize": 2}),
    "SpaceToDepth": ([], {"blocksize": 2}),
    "Identity": ([], {}),
    "Dropout": ([], {}),
    "GatherND": ([I64([[1, -1], [0, 2]])], {}),
    "GatherElements": ([np.arange(-192, 192).reshape(2, 4, 6, 8) % 3], {"axis": 3}),
}


@pytest.mark.parametrize("dtype", [np.int8, F32])
@pytest.mark.parametrize("kind", ONNX)
def test_places_of_nodes_that_move_codes(kind, dtype, tmp_path, rng, tried):
    more, attributes = ONNX[kind]
    net, number = Network(), TensorProto.INT8 if dtype == np.int8 else TensorProto.FLOAT
    shape = (2, 1, 6, 8) if kind == "Squeeze" else SHAPE
    x = net.input(shape, number)
    given = [x if c is None else net.constant(dtype(7.5) if c.dtype == np.int8 else c) for c in more]
    y = net.node(kind, x, *given, results=2 if kind == "Split" else 1, **attributes)
    (tmp_path / "one.onnx").write_bytes(net.model(*np.ravel(y), dtype=number).SerializeToString())
    graph = load(tmp_path / "one.onnx", runtime="ort")
    x = rng.integers(-128, 128, shape).astype(dtype)
    moved(tried, f"{kind} {dtype.__name__}", tmp_path / kind, graph, "onnxruntime", x)


def one_node(path, kind, shapes, more=(), dtype=np.int8, out=None, domain="", **attributes):
    net = Network()
    numbers = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8, F32: TensorProto.FLOAT, bool: TensorProto.BOOL}
    inputs = [net.input(shape, numbers[dtype]) for shape in shapes]
    y = net.node(kind, *inputs, *("" if c is None else net.constant(c) for c in more), domain=domain, **attributes)
    path.write_bytes(net.model(y, dtype=out or numbers[dtype]).SerializeToString())
    return load(path, runtime="ort")


@pytest.mark.parametrize(
    "kind",
    [*(kind for kind, row in NODES.items() if row.rule == "exact" and row.result == "bool"), "Where", "Cast"],
)
def test_nodes_that_c_has_itself(kind, tmp_path, rng, tried):
    is_truth = kind in ("And", "Or", "Not")
    dtype, out = (bool, TensorProto.BOOL) if is_truth else (np.int8, TensorProto.BOOL)
    how = {"to": TensorProto.INT32} if kind == "Cast" else {}
    count = 1 if kind in ("Not", "Cast") else 2
    more = [rng.integers(0, 2, 50).astype(bool)] if kind == "Where" else []
    data = [rng.integers(0, 2, 50).astype(bool) if is_truth else rng.integers(-3, 4, 50, np.int8) for _ in range(count)]
    if kind == "Where":
        net = Network()
        condition, data = net.constant(more[0]), data[:2]
        y = net.node("Where", condition, *(net.input([50], TensorProto.INT8) for _ in data))
        (tmp_path / "one.onnx").write_bytes(net.model(y, dtype=TensorProto.INT8).SerializeToString())
        graph = load(tmp_path / "one.onnx", runtime="ort")
    else:
        out = TensorProto.INT32 if kind == "Cast" else out
        graph = one_node(tmp_path / "one.onnx", kind, [[50]] * count, dtype=dtype, out=out, **how)
    wanted = graph.run(dict(zip(graph.inputs, data, strict=True)))[graph.outputs[0]]
    (layer,) = params(graph, "onnxruntime").layers
    params(graph, "onnxruntime").write(tmp_path / kind)
    text, values = ported.each(layer, [x.astype(np.int64) for x in (*more, *data)], wanted)
    tried.add(kind, ported.Program(tmp_path / kind, text, values, ported.numbers_like(wanted)), wanted)


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
def test_places_of_ends_of_nodes(kind, last, tmp_path, rng, tried):
    how = {"axis": 1, "select_last_index": last}
    graph = one_node(tmp_path / "one.onnx", kind, [[5, 7]], out=TensorProto.INT64, **how)
    data = rng.integers(-3, 3, (5, 7), np.int8)
    wanted = graph.run(data)[graph.outputs[0]]
    found = params(graph, "onnxruntime")
    found.write(tmp_path / kind)
    program = ported.program(tmp_path / kind, found.layers[0], graph.ops[0], [data], wanted)
    tried.add(f"{kind} {last}", program, wanted)


def test_what_shapes_tell_is_a_constant(tmp_path):
    graph = one_node(tmp_path / "one.onnx", "Shape", [SHAPE], out=TensorProto.INT64)
    (layer,) = params(graph, "onnxruntime").layers
    assert layer.constants["values"].tolist() == list(SHAPE)


A, B = np.uint8, np.int8
BIAS = F32([0.25, -3.5, 1000])
SUMS = {
    "MatMulInteger": ([A(7), B([1, 2, -3])], {}),
    "ConvInteger": ([A(7), B(2)], {}),
    "MatMulIntegerToFloat": ([F32(0.037), F32([0.1, 0.2, 0.013]), A(7), B(5), BIAS], {}),
    "DynamicQuantizeMatMul": ([F32([0.1, 0.2, 0.013]), B(5), BIAS], {}),
    "QGemm": ([F32(0.1), B(5), I32([4, -9, 70])], {"alpha": 0.3}),
}
"""The inputs behind the matrix."""
ZEROS = {
    "MatMulInteger": (7, [1, 2, -3]),
    "ConvInteger": (7, 2),
    "MatMulIntegerToFloat": (7, 5),
    "DynamicQuantizeMatMul": (None, 5),
    "QGemm": (7, 5),
}
"""The zero points of data and weights."""


def sums_of(kind, x, w, more):
    """The exact sums of codes less their zero points, (rows, columns)."""
    x_zero, w_zero = (np.asarray(zero, np.int64) for zero in ZEROS[kind])
    if kind == "ConvInteger":
        return (x.astype(np.int64) - x_zero).reshape(4, 6) @ (w.astype(np.int64) - w_zero).reshape(3, 6).T
    sums = (x.astype(np.int64) - x_zero) @ (w.astype(np.int64) - w_zero)
    return sums + more[-1] if kind == "QGemm" else sums


@pytest.mark.parametrize("kind", SUMS)
def test_sums_that_become_floats_or_stay_integers(kind, tmp_path, rng, tried):
    more, how = SUMS[kind]
    domain = "" if kind in ("MatMulInteger", "ConvInteger") else "com.microsoft"
    w = rng.integers(-128, 128, (3, 6, 1, 1) if kind == "ConvInteger" else (6, 3), B)
    x = rng.integers(0, 256, (4, 6, 1, 1) if kind == "ConvInteger" else (4, 6), A)
    dtype, before = A, []
    if kind == "DynamicQuantizeMatMul":
        x, dtype = rng.normal(0, 2, (4, 6)).astype(F32), F32
    if kind == "QGemm":
        before = [F32(0.037), A(7)]
    out = TensorProto.INT32 if domain == "" else TensorProto.FLOAT
    path = tmp_path / "one.onnx"
    graph = one_node(path, kind, [x.shape], [*before, w, *more], dtype=dtype, out=out, domain=domain, **how)
    wanted = graph.run(x)[graph.outputs[0]]
    found = params(graph, "onnxruntime")
    found.write(tmp_path / kind)
    (layer,) = found.layers
    if kind == "DynamicQuantizeMatMul":
        name = layer.name
        body = f"""static int32_t codes[24];
    float scale;
    const int32_t zero = dynamic_u8(in, codes, 24, 255, &scale);
    for (int row = 0; row < 4; row++)
        for (int o = 0; o < 3; o++) {{
            int64_t sum = 0;
            for (int k = 0; k < 6; k++)
                sum += (codes[row * 6 + k] - zero) * ({name}_weights[k * 3 + o] - {name}_kernel_zero_point);
            printf("%a\\n", {name}_code(sum, o, scale));
        }}"""
        text, values = ported.reading(x, body), x
    else:
        sums = sums_of(kind, x, w, more).reshape(wanted.shape)
        channel = np.broadcast_to(np.arange(3), (4, 3)).reshape(wanted.shape)
        text, values = ported.each(layer, [sums, channel][: len(layer.arguments)], wanted)
    tried.add(kind, ported.Program(tmp_path / kind, text, values, ported.numbers_like(wanted)), wanted)
    np.testing.assert_array_equal(layer.constants["weights"], w)
    x_zero, w_zero = (layer.constants.get(name) for name in ("input_zero_point", "kernel_zero_point"))
    np.testing.assert_array_equal(w_zero, ZEROS[kind][1])
    assert x_zero == ZEROS[kind][0]


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize("values", [[-1.5, 0.0, 3.25, 1e-3], [0.0, 0.0], [2.0, 5.0], [-7.0, -0.1]])
def test_ranges_of_floats(runtime, values, tmp_path, tried):
    net, x = Network(), F32(values)
    y = net.node("DynamicQuantizeLinear", net.input([len(x)]), results=3)
    (tmp_path / "one.onnx").write_bytes(net.model(*y).SerializeToString())
    graph = load(tmp_path / "one.onnx", runtime=runtime)
    codes, scale, zero = graph.run(x).values()
    found = params(graph, "onnxruntime" if runtime == "ort" else "xnnpack")
    found.write(tmp_path)
    body = f"""static int32_t codes[{x.size}];
    float scale;
    printf("%d\\n", {found.layers[0].name}_row(in, codes, {x.size}, &scale));
    printf("%a\\n", scale);
    for (int i = 0; i < {x.size}; i++)
        printf("%d\\n", codes[i]);"""
    program = ported.Program(tmp_path, ported.reading(x, body), x, zero_scale_and_codes)
    tried.add((runtime, values), program, [int(zero), float(scale), *codes.tolist()])


def zero_scale_and_codes(words):
    return [int(words[0]), float.fromhex(words[1]), *map(int, words[2:])]


def test_codes_of_channels_to_floats(tmp_path, rng, tried):
    x = rng.integers(-128, 128, (5, 3), B)
    numbers = [F32([0.1, 0.2, 0.013]), B([0, 4, -9])]
    graph = one_node(tmp_path / "one.onnx", "DequantizeLinear", [x.shape], numbers, out=TensorProto.FLOAT, axis=1)
    wanted = graph.run(x)[graph.outputs[0]]
    found = params(graph, "onnxruntime")
    found.write(tmp_path)
    text, values = ported.each(found.layers[0], [x, np.broadcast_to(np.arange(3), x.shape)], wanted)
    tried.add("channels", ported.Program(tmp_path, text, values, ported.numbers_like(wanted)), wanted)


def test_a_float_op_on_codes_is_a_table(tmp_path):
    codes = np.arange(-128, 128, dtype=B)
    graph = one_node(tmp_path / "one.onnx", "Relu", [codes.shape])
    (layer,) = params(graph, "onnxruntime").layers
    np.testing.assert_array_equal(layer.constants["table"], np.maximum(codes, 0))
    graph = one_node(tmp_path / "one.onnx", "Relu", [[4]], dtype=F32)
    assert params(graph, "onnxruntime").layers[0].code == ""


PLACES, VARIABLES = ("ARG_MAX", "ARG_MIN"), ("READ_VARIABLE", "ASSIGN_VARIABLE")


@pytest.mark.parametrize("kind", PLACES)
def test_places_of_ends(tmp_path, rng, tried, kind):
    x = Tensor("x", (5, 7), "int8", F32(0.1), np.asarray(3))
    axis, y = Tensor("axis", (), "int32", data=I32(1)), Tensor("y", (5,), "int32")
    path = tmp_path / "m.tflite"
    path.write_bytes(tflite_bytes([x, axis, y], [Operator(kind, [x, axis], [y], {"OutputType": 2}, [])], [x], [y]))
    graph, data = load(path), rng.integers(-3, 3, (5, 7), B)
    wanted = graph.run(data)["y"]
    found = params(graph)
    found.write(tmp_path)
    tried.add(kind, ported.program(tmp_path, found.layers[0], graph.ops[0], [data], wanted), wanted)


def test_variables(tmp_path, tried):
    graph, _ = streaming.file(tmp_path / "s.tflite")
    found = params(graph)
    found.write(tmp_path)
    read, assign = (next(one for one in found.layers if one.op == kind) for kind in VARIABLES)
    np.testing.assert_array_equal(read.constants["start"], streaming.START)
    x = np.arange(6, dtype=B)
    held = f"static int32_t variable[{x.size}];"
    body = f"""for (int i = 0; i < {x.size}; i++)
        {assign.name}_step(in[i], variable, i);
    for (int i = 0; i < {x.size}; i++)
        printf("%d\\n", {read.name}_code(variable, i));"""
    tried.add("variables", ported.Program(tmp_path, ported.reading(x, body, held), x, ported.numbers_like(x)), x)


def test_each_kind_that_can_be_loaded_has_c_or_is_one_of_floats():
    """What is not tried here is tried in test_ops.py, with golden models and nodes."""
    made = {kind for kind, row in KINDS.items() if row.make}
    without_c = {"CAST", "DIV", "FLOOR_DIV", "RANGE", "REDUCE_PROD", "SHAPE", "TFLite_Detection_PostProcess", "POW"}
    truths = {"LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"}
    logic = {"LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT", "SELECT", "SELECT_V2"}
    assert made == {*tflite_models.kinds(), *PLACES, *VARIABLES, *without_c, *truths, *logic}
    assert {kind for kind, row in KINDS.items() if row.moves} == TFLITE.keys()
    assert all(row.code for row in KINDS.values())
    told = {"Shape", "Size", "ConstantOfShape", "Range"}
    moving = {kind for kind, row in NODES.items() if row.rule == "moves codes" and row.moves}
    assert moving == {*ONNX, *told, "Where", "ScatterND", "ScatterElements"}  # the last two have no C
    by_other_tests = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"}
    of_codes = {kind for kind, row in NODES.items() if row.function}
    assert of_codes | {"QLinearConcat"} == {*SUMS, *ported.NODES, *by_other_tests}
    assert all(row.code for row in NODES.values())
