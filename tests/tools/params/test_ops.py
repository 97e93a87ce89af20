"""The C of `params` for every operator: compiled, it gives the codes of the op, of golden models and of ONNX nodes."""

from collections import Counter

import numpy as np
import ported
import pytest
import tflite_models
from onnx import TensorProto
from onnx_networks import Network

from qops.models import load
from qops.tools.params.params import params

PORTS = {"tflm": "tflm", "xnnpack": "xnn"}  # and what golden cases call the runtimes of these names
F32 = np.float32
MANY_FORMS = (
    *("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
    *("MEAN", "SUM", "TRANSPOSE_CONV"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", tflite_models.kinds())
def test_c_gives_the_codes_of_every_operator(kind, tmp_path, tried):
    """Of a golden case of each combination of types that each port has."""
    found, arrays = tflite_models.cases(kind)
    seen, of_ports, most = Counter(), set(), 5 if kind in MANY_FORMS else 1
    for case in found[:: max(1, len(found) // 30)]:
        for port, system in PORTS.items():
            types = port, *tflite_models.types(case, arrays)
            if system not in case["systems"] or seen[types] >= most or (port == "xnnpack" and types[1] == "int16"):
                continue
            file, inputs = tflite_models.model(case, arrays)
            (tmp_path / "one.tflite").write_bytes(file)
            graph = load(tmp_path / "one.tflite", runtime=port)
            (op,), made = graph.ops, graph.run(inputs, keep="all")
            seen[types] += 1
            constants, wanted = params(graph, port), made[op.outputs[0]]
            if not constants.layers[0].code or not wanted.size:
                continue
            if kind == "BATCH_MATMUL":
                object.__setattr__(op, "options", case.get("options", {}))
                op.options.update({key[0].upper() + key[1:]: value for key, value in op.options.items()})
            of_ports.add(port)
            folder = tmp_path / f"{kind} {case['id']} {port}"
            constants.write(folder)
            program = ported.program(folder, *constants.layers, op, [made[name] for name in op.reads], wanted)
            tried.add((kind, case["id"], types), program, wanted)
    assert {(kind, port) for port in PORTS if port not in of_ports} <= NOT_THERE


def test_c_of_a_pool_of_one_tap_takes_codes_to_another_scale(tmp_path, tried):
    """XNNPACK computes such a pool, so its C is a table of all codes."""
    case, *_ = tflite_models.cases("MAX_POOL_2D")[0]
    x = np.arange(-128, 128, dtype=np.int8).reshape(1, 16, 16, 1)
    numbers = {"kernel": [1, 1], "stride": [1, 1], "x_scale": 0.05, "y_scale": 0.02, "x_zp": -12, "y_zp": 3}
    options = {**case["options"], "filterWidth": 1, "filterHeight": 1, "strideW": 1, "strideH": 1}
    case = {**case, "attrs": {**case["attrs"], **numbers}, "options": options}
    arrays = {case["inputs"]["x"]: x, case["outputs"]["y"]: x}
    (tmp_path / "one.tflite").write_bytes(tflite_models.model(case, arrays)[0])
    graph = load(tmp_path / "one.tflite", runtime="xnnpack")
    ((op,), (layer,)) = graph.ops, params(graph, "xnnpack").layers
    params(graph, "xnnpack").write(tmp_path / "port")
    wanted = op.call(x)[0]
    assert len(np.unique(wanted)) > 40
    tried.add("a pool of one tap", ported.program(tmp_path / "port", layer, op, [x], wanted), wanted)


@pytest.mark.long
@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("kind", ["SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"])
def test_c_of_steps_keeps_the_state(kind, port, tmp_path, rng, tried):
    found, arrays = tflite_models.cases(kind)
    count = 0
    for case in found[::5]:
        if PORTS[port] not in case["systems"]:
            continue
        (tmp_path / "one.tflite").write_bytes(tflite_models.model(case, arrays)[0])
        graph = load(tmp_path / "one.tflite", runtime=port)
        (op,), x = graph.ops, graph.tensors[graph.inputs[0]]
        info = np.iinfo(x.dtype)
        data = rng.integers(info.min, info.max, (3, 40, x.shape[-1]), x.dtype, endpoint=True)
        data[1:] //= 16  # gates that do not saturate
        if kind == "SVDF":
            state, made = None, []
            for i in range(40):
                y, state = op.prepared(np.ascontiguousarray(data[:, i]), state)
                made.append(y)
            wanted = np.stack(made, 1)
        else:
            wanted = op.prepared(data).y
        try:
            constants = params(graph, port)
        except ValueError:
            continue
        count += 1
        folder = tmp_path / f"{kind} {case['id']}"
        constants.write(folder)
        tried.add((kind, case["id"], port), ported.program(folder, *constants.layers, op, [data], wanted), wanted)
    assert count > 1


NOT_THERE = {(kind, "tflm") for kind in ("EXP", "GELU", "LOG", "NEG", "RELU_0_TO_1", "RELU_N1_TO_1", "SQRT")}
"""TFLM has none of these."""


def of_one(kind, shape, *more, dtype=np.uint8, **attributes):
    """A model of one node of onnxruntime's own, whose numbers are constants."""
    net = Network()
    x = net.input(shape, TensorProto.UINT8 if dtype == np.uint8 else TensorProto.INT8)
    info = np.iinfo(dtype)
    numbers = [net.constant(F32(0.0371)), net.constant(dtype(info.min + 101))]
    result = [net.constant(F32(0.0517)), net.constant(dtype(info.min + 3))]
    if kind in ("QLinearSigmoid", "QLinearSoftmax"):
        result = [net.constant(F32(1 / 256)), net.constant(dtype(info.min))]
    second = []
    if kind in ("QLinearAdd", "QLinearMul"):
        codes = np.random.default_rng(1).integers(info.min, info.max, shape, dtype, endpoint=True)
        second = [net.constant(codes), net.constant(F32(0.0233)), net.constant(dtype(info.min + 90))]
    inputs = [*result, x, *numbers, x, *result] if kind == "QLinearConcat" else [x, *numbers, *second, *result]
    if kind == "MaxPool":
        inputs = [x]
    domain = "" if kind == "MaxPool" else "com.microsoft"
    y = net.node(kind, *inputs, domain=domain, **attributes)
    return net.model(y, dtype=TensorProto.UINT8 if dtype == np.uint8 else TensorProto.INT8)


def of_node(kind, dtype, folder):
    """The program of a node on codes of a type, and what it must give."""
    shape = (2, 3, 24, 25)
    folder.mkdir()
    (folder / "one.onnx").write_bytes(of_one(kind, shape, dtype=dtype, **ported.NODES[kind]).SerializeToString())
    graph = load(folder / "one.onnx", runtime="ort")
    info = np.iinfo(dtype)
    x = np.random.default_rng(7).integers(info.min, info.max, shape, dtype, endpoint=True)
    (op,), wanted = graph.ops, graph.run(x)[graph.outputs[0]]
    found = params(graph, "onnxruntime")
    found.write(folder)
    (layer,) = found.layers
    inputs = [x, x] if kind == "QLinearConcat" else [x]
    if kind in ("QLinearAveragePool", "MaxPool"):
        windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (2, 3)).reshape(-1, 6)
        inputs = [windows.max(1) if kind == "MaxPool" else windows]
    elif kind == "QLinearGlobalAveragePool":
        inputs = [x.astype(np.int64).sum((2, 3))]
    if layer.arguments in (("sum",), ("largest",)):
        return ported.Program(folder, *ported.each(layer, inputs, wanted), ported.numbers_like(wanted)), wanted
    return ported.program(folder, layer, op, inputs, wanted), wanted


@pytest.mark.parametrize("kind", ported.NODES)
def test_c_gives_the_codes_of_every_node_of_onnxruntime(kind, tmp_path, tried):
    for dtype in (np.uint8, np.int8):
        tried.add((kind, dtype), *of_node(kind, dtype, tmp_path / f"{kind} {dtype.__name__}"))


def test_c_of_a_mean_counts_the_pixels_of_an_image(tmp_path):
    for shape, how in (((2, 3, 4, 5), {}), ((2, 4, 5, 3), {"channels_last": 1})):
        (tmp_path / "one.onnx").write_bytes(of_one("QLinearGlobalAveragePool", shape, **how).SerializeToString())
        (layer,) = params(load(tmp_path / "one.onnx", runtime="ort"), "onnxruntime").layers
        assert layer.constants["count"] == 20


def test_a_graph_between_codes_and_floats(tmp_path, tried):
    """QuantizeLinear and DequantizeLinear: C of floats gives onnxruntime's."""
    net = Network()
    x = net.input([None])
    model = net.model(net.both(x, 0.0371, np.int8(-9)))
    (tmp_path / "one.onnx").write_bytes(model.SerializeToString())
    graph = load(tmp_path / "one.onnx", runtime="ort")
    values = np.random.default_rng(3).normal(0, 3, 500).astype(F32)
    made = graph.run(values, keep="all")
    found = params(graph, "onnxruntime")
    found.write(tmp_path)
    for layer, op in zip(found.layers, graph.ops, strict=True):
        data, wanted = made[op.reads[0]], made[op.outputs[0]]
        tried.add(op.kind, ported.program(tmp_path, layer, op, [data], wanted), wanted)
