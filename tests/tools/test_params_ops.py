"""The C of `params` for every operator: compiled, it gives the codes of the op, of golden models and of ONNX nodes."""

import os
import shlex
import subprocess

import numpy as np
import pytest
import tflite_models
from onnx import TensorProto
from onnx_networks import Network

from qops.models import load
from qops.tools.params import params

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-ffp-contract=off", "-O1"]
RUNTIMES = {"tflm": "tflm", "xnnpack": "xnnpack"}
F32 = np.float32
ONLY_CONSTANTS = {"PAD", "PADV2", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM"}
"""What has no C: codes that are moved, and ops of many steps."""
KINDS = [kind for kind in tflite_models.kinds() if kind not in ONLY_CONSTANTS]


def calls(layer, op, inputs, wanted):
    """What the function of a layer takes for each element of the result, by the names of its arguments."""
    given = [x.astype(np.int64) if x.dtype.kind in "iu" else x for x in inputs]
    if layer.arguments == ("sum", "channel") and op.layer is not None:
        sums = op.layer.sums(inputs[0], op.layer.bias)
        axis = op.layer.requantize.axis
        shape = [-1 if i == axis % sums.ndim else 1 for i in range(sums.ndim)]
        return [sums, np.broadcast_to(np.arange(sums.shape[axis]).reshape(shape), sums.shape)]
    if layer.arguments == ("sum", "channel"):  # BATCH_MATMUL
        a, b = (x - int(t.zero_point) for x, t in zip(both(layer, op, inputs), layer.reads, strict=False))
        how = op.options
        a, b = (x.swapaxes(-1, -2) if how.get(key) else x for x, key in ((a, "AdjX"), (b, "AdjY")))
        return [a @ b, np.zeros((a @ b).shape, int)]
    if layer.arguments in (("a", "b"), ("x", "alpha")):
        a, b = both(layer, op, inputs)
        if layer.arguments[1] == "alpha":
            b = layer.constants["alpha"].astype(np.int64)
        return [np.broadcast_to(x, wanted.shape) for x in (a, b)]
    if layer.arguments == ("x", "input"):
        axis = next(i for i in range(wanted.ndim) if inputs[0].shape[i] != wanted.shape[i] or len(inputs) == 1)
        numbers = [np.full(x.shape, i) for i, x in enumerate(given)]
        return [np.concatenate(part, axis) for part in (given, numbers)]
    return [given[0]]


def both(layer, op, inputs):
    data = iter(inputs)
    places = layer.reads[::3][:2] if op.kind.startswith("QLinear") else layer.reads[:2]
    return [(next(data) if t.data is None else t.data).astype(np.int64) for t in places]


def program(layer, arguments, is_float):
    """A program that reads the arguments of each call, and prints what the function gives."""
    what = f"{layer.name}_code({', '.join(f'in[{i} * count + i0]'.replace('i0', 'i') for i in range(len(arguments)))})"
    kind, form = ("float", "%a") if arguments[0].dtype.kind == "f" else ("long long", "%lld")
    shown = f'printf("%a\\n", {what});' if is_float else f'printf("%d\\n", {what});'
    scan = "%f" if kind == "float" else form
    return f"""#include "params.h"
#include <stdio.h>
static {kind} in[{max(1, sum(x.size for x in arguments))}];
int main(void)
{{
    const int count = {arguments[0].size};
    for (int i = 0; i < {len(arguments)} * count; i++)
        if (scanf("{scan}", &in[i]) != 1)
            return 1;
    for (int i = 0; i < count; i++)
        {shown.replace("in[", "(in[").replace(" + i]", " + i])") if kind == "float" else shown}
    return 0;
}}
"""


def rows_program(layer, x):
    """A program that reads rows of codes, and prints those of the results."""
    count = x.shape[-1]
    return f"""#include "params.h"
#include <stdio.h>
static int32_t in[{x.size}], out[{x.size}];
int main(void)
{{
    for (int i = 0; i < {x.size}; i++)
        if (scanf("%d", &in[i]) != 1)
            return 1;
    for (int i = 0; i < {x.size}; i += {count})
        {layer.name}_row(in + i, out + i, {count});
    for (int i = 0; i < {x.size}; i++)
        printf("%d\\n", out[i]);
    return 0;
}}
"""


def ran(folder, text, values):
    """Compile a program beside the constants, feed it values, and give the words that it prints."""
    (folder / "main.c").write_text(text)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, *FLAGS, f"-I{folder}", "-o", folder / "main", folder / "main.c", "-lm"], check=True)
    told = "\n".join(float(v).hex() if isinstance(v, float) else str(v) for v in values)
    return subprocess.run([folder / "main"], input=told, capture_output=True, text=True, check=True).stdout.split()


def reduced(layer, op, x, wanted):
    """Sums of all codes that make one, largest and smallest ones; the axes that are left in the order of the result."""
    axes = op.prepared._taken(x.shape)
    by = {"sum": np.sum, "largest": np.max, "smallest": np.min}[layer.arguments[0]]
    return by(x.astype(np.int64), axes).reshape(wanted.shape)


def judged(folder, layer, op, inputs, wanted):
    """What the C of a layer gives for the inputs of its op."""
    if layer.arguments == ("row",):
        return ran(folder, rows_program(layer, inputs[0]), inputs[0].ravel().tolist())
    if layer.arguments in (("sum",), ("largest",), ("smallest",)):
        arguments = [reduced(layer, op, inputs[0], wanted)]
    else:
        arguments = calls(layer, op, inputs, wanted)
    is_float = wanted.dtype.kind == "f"
    return ran(folder, program(layer, arguments, is_float), np.concatenate([x.ravel() for x in arguments]).tolist())


def numbers_of(words, wanted):
    return np.array([float.fromhex(w) if wanted.dtype.kind == "f" else int(w) for w in words]).reshape(wanted.shape)


@pytest.mark.parametrize("port", RUNTIMES)
@pytest.mark.parametrize("kind", KINDS)
def test_c_gives_the_codes_of_every_operator(kind, port, tmp_path):
    """Of a golden case of each combination of types that the port has."""
    found, arrays = tflite_models.cases(kind)
    seen, tried = {}, 0
    for case in found[:: max(1, len(found) // 30)]:
        file, inputs = tflite_models.model(case, arrays)
        (tmp_path / "one.tflite").write_bytes(file)
        try:
            graph = load(tmp_path / "one.tflite", runtime=RUNTIMES[port])
            made = graph.run(inputs, keep="all")
        except ValueError:
            continue
        (op,) = graph.ops
        types = tuple(graph.tensors[name].dtype for name in (*op.reads, *op.outputs))
        seen[types] = seen.get(types, 0) + 1
        if seen[types] > 1 or (port == "xnnpack" and types[0] == "int16"):
            continue
        (layer,) = params(graph, port).layers
        if not layer.code or "POOL" in kind:
            continue
        if kind == "BATCH_MATMUL":
            object.__setattr__(op, "options", case.get("options", {}))
            op.options.update({key[0].upper() + key[1:]: value for key, value in op.options.items()})
        folder = tmp_path / f"{port}{tried}"
        params(graph, port).write(folder)
        wanted = made[op.outputs[0]]
        if wanted.size:
            got = numbers_of(judged(folder, layer, op, [made[name] for name in op.reads], wanted), wanted)
            np.testing.assert_array_equal(got, wanted, err_msg=str((case["id"], types)))
            tried += 1
    assert tried or "POOL" in kind or (kind, port) in NOT_THERE


NOT_THERE = {(kind, "tflm") for kind in ("EXP", "GELU", "NEG", "RELU_0_TO_1", "RELU_N1_TO_1", "SQRT")}
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


NODES = {
    "QLinearAdd": {},
    "QLinearMul": {},
    "QLinearSigmoid": {},
    "QLinearLeakyRelu": {"alpha": 0.3},
    "QLinearConcat": {"axis": 1},
    "QLinearSoftmax": {"axis": -1, "opset": 13},
    "QLinearGlobalAveragePool": {},
    "QLinearAveragePool": {"kernel_shape": [2, 3]},
    "MaxPool": {"kernel_shape": [2, 3]},
}


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("kind", NODES)
def test_c_gives_the_codes_of_every_node_of_onnxruntime(kind, dtype, tmp_path):
    shape = (2, 3, 4, 5)
    (tmp_path / "one.onnx").write_bytes(of_one(kind, shape, dtype=dtype, **NODES[kind]).SerializeToString())
    graph = load(tmp_path / "one.onnx", runtime="ort")
    info = np.iinfo(dtype)
    x = np.random.default_rng(7).integers(info.min, info.max, shape, dtype, endpoint=True)
    (op,), wanted = graph.ops, graph.run(x)[graph.outputs[0]]
    found = params(graph, "onnxruntime")
    found.write(tmp_path)
    (layer,) = found.layers
    wide = x.astype(np.int64)
    if kind in ("QLinearAveragePool", "MaxPool"):
        windows = np.lib.stride_tricks.sliding_window_view(wide, (2, 3), (2, 3)).reshape(-1, 6)
        if kind == "MaxPool":
            got = ran(tmp_path, program(layer, [windows.max(1)], False), windows.max(1).tolist())
        else:
            got = ran(tmp_path, taps_program(layer, windows), windows.ravel().tolist())
    elif kind == "QLinearGlobalAveragePool":
        sums = wide.sum((2, 3))
        got = ran(tmp_path, program(layer, [sums], False), sums.ravel().tolist())
    elif kind == "QLinearConcat":
        got = judged(tmp_path, layer, op, [x, x], wanted)
    else:
        got = judged(tmp_path, layer, op, [x], wanted)
    np.testing.assert_array_equal(numbers_of(got, wanted), wanted)


def taps_program(layer, windows):
    """A program that reads windows of codes, and prints their means."""
    count = windows.shape[1]
    return f"""#include "params.h"
#include <stdio.h>
static int32_t in[{windows.size}];
int main(void)
{{
    for (int i = 0; i < {windows.size}; i++)
        if (scanf("%d", &in[i]) != 1)
            return 1;
    for (int i = 0; i < {windows.size}; i += {count})
        printf("%d\\n", {layer.name}_code(in + i, {count}));
    return 0;
}}
"""


def test_a_graph_between_codes_and_floats(tmp_path):
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
        got = numbers_of(judged(tmp_path, layer, op, [data], wanted), wanted)
        np.testing.assert_array_equal(got.astype(wanted.dtype), wanted)
