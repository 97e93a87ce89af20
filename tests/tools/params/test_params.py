"""`params`: the constants of a port, and that C which holds nothing else gives every code of every layer."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
import small_network
import small_onnx

from qops import rules
from qops.__main__ import main
from qops.models import Operator, Tensor, load, tflite_bytes
from qops.tools.params.params import params

SUPPORT = Path(__file__).parents[2] / "support"
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
LOOPS = {
    "CONV_2D": "CONVOLUTION",
    "DEPTHWISE_CONV_2D": "DEPTHWISE",
    "FULLY_CONNECTED": "CONNECTED",
    "ADD": "PAIR",
    "AVERAGE_POOL_2D": "AVERAGE",
    "SOFTMAX": "ROW",
}
RUNTIMES = {"tflm": "tflm", "cmsis-nn": "tflm", "xnnpack": "xnnpack"}


def ran(folder, loops, *, xnnpack=False):
    """Compile loops of port.h beside the constants as one program, run each on its codes, and give what they print."""
    blocks = [
        f"""    {{
        static int32_t in[{codes.size}];
        const int count = {codes.size};
        for (int i = 0; i < count; i++)
            if (scanf("%d", &in[i]) != 1)
                return 1;
        {loop}
        puts("end");
    }}
"""
        for loop, codes in loops
    ]
    start = "#define XNNPACK\n" * xnnpack + '#include "port.h"\nint main(void)\n{\n'
    (folder / "main.c").write_text("".join([start, *blocks, "    return 0;\n}\n"]))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    include = f"-I{SUPPORT}", f"-I{folder}"
    subprocess.run([*compiler, *FLAGS, *include, "-o", folder / "main", folder / "main.c", "-lm"], check=True)
    text = "\n".join(str(code) for _, codes in loops for code in codes.ravel().tolist())
    done = subprocess.run([folder / "main"], input=text, capture_output=True, text=True, check=True)
    *said, rest = done.stdout.split("end\n")
    assert not rest
    return [np.array(words.split(), np.int64) for words in said]


def compare(folder, loops, results, *, xnnpack):
    for (loop, _), got, wanted in zip(loops, ran(folder, loops, xnnpack=xnnpack), results, strict=True):
        np.testing.assert_array_equal(got, wanted, err_msg=loop)


def loop_of(layer):
    return f"{LOOPS[layer.op]}({layer.name})"


@pytest.mark.long
@pytest.mark.parametrize(
    ("dtype", "port"),
    [("int8", "tflm"), ("int8", "cmsis-nn"), ("int8", "xnnpack"), ("int16", "tflm"), ("int16", "cmsis-nn")],
)
def test_c_that_holds_the_constants_gives_every_code(dtype, port, tmp_path):
    _, x = small_network.file(tmp_path / "small.tflite", dtype)
    graph = load(tmp_path / "small.tflite", runtime=RUNTIMES[port])
    found = params(graph, port)
    found.write(tmp_path)
    made = graph.run(x, keep="all")
    loops, results = [], []
    for op, layer in zip(graph.ops, found.layers, strict=True):
        if op.kind == "RESHAPE":
            assert not layer.constants
            continue
        codes = np.stack([made[name] for name in op.reads])
        wanted = made[op.outputs[0]]
        if layer.rules == ["cmsis-s64"]:  # CMSIS-NN floors all but the last bit, which TFLM does not
            sums = op.layer.sums(made[op.reads[0]], op.layer.bias)
            own = op.layer.requantize
            numbers = {"scale": own.scale, "zero_point": 0, "qmin": own.ends[0], "qmax": own.ends[1]}
            wanted = rules.requantize(sums, "cmsis-s64", **numbers, dtype="int16")
        own_loops = [loop_of(layer)]
        if op.kind == "FULLY_CONNECTED":
            packed = {"kernel_sums_with_bias", "packed_bias"} & set(layer.constants)
            own_loops += [f"PACKED({layer.name}, {layer.name}_{name})" for name in packed]
        loops += [(loop, codes) for loop in own_loops]
        results += [wanted.ravel()] * len(own_loops)
    compare(tmp_path, loops, results, xnnpack=port == "xnnpack")


def test_the_constants_are_what_the_systems_derive(tmp_path):
    graph, _ = small_network.file(tmp_path / "small.tflite")
    tflm, cmsis, xnnpack = (params(graph, port) for port in ("tflm", "cmsis-nn", "xnnpack"))
    conv, image = graph.ops[0], graph.tensors["image"]
    scale = float(image.scale) * graph.tensors["conv/w"].scale.astype(float) / float(graph.tensors["conv"].scale)
    own = tflm.layers[0].constants
    pairs = [rules.tflite_multiplier(one) for one in scale]
    assert list(zip(own["multiplier"].tolist(), own["shift"].tolist(), strict=True)) == pairs
    assert own["input_offset"] == -int(image.zero_point)
    assert own["output_offset"] == int(graph.tensors["conv"].zero_point)
    np.testing.assert_array_equal(own["weights"], conv.layer.weights)
    np.testing.assert_array_equal(own["bias"], conv.layer.bias)
    theirs = xnnpack.layers[0].constants
    assert theirs["scale"].dtype == np.float32
    assert theirs["input_zero_point"] == int(image.zero_point)
    sums = conv.layer.weights.astype(int).sum((1, 2, 3))
    np.testing.assert_array_equal(theirs["packed_bias"], conv.layer.bias - int(image.zero_point) * sums)
    dense = cmsis.layers[6].constants
    np.testing.assert_array_equal(dense["kernel_sums"], graph.ops[6].layer.weights.astype(int).sum(1))
    assert str(tflm).splitlines()[1].split() == ["conv_2d", "CONV_2D:", "tflite-double,", "25", "constants"]


def test_packed_biases_of_onnx_are_the_sums_of_codes_of_0(tmp_path):
    """The weights of a convolution, and of a QGemm with transB, have the outputs on axis 0, others on the last axis."""
    x = small_onnx.file(tmp_path / "small.onnx")
    graph = load(tmp_path / "small.onnx", runtime="ort")
    made = graph.run(x, keep="all")
    layers = [
        pair
        for pair in zip(graph.ops, params(graph, "xnnpack").layers, strict=True)
        if pair[0].layer and pair[0].layer.weights is not None
    ]
    assert [op.kind for op, _ in layers] == ["QLinearConv", "QLinearConv", "QGemm", "QLinearMatMul"]
    for op, layer in layers:
        sums = op.layer.sums(np.zeros_like(made[op.reads[0]]), op.layer.bias)[0]
        of_channels = sums[:, 1, 1] if sums.ndim > 1 else sums  # at a place where no window reads a pad
        np.testing.assert_array_equal(layer.constants["packed_bias"], of_channels)


@pytest.mark.long
def test_a_network_of_onnx_as_xnnpack_has_it(tmp_path):
    """XNNPACK rounds as onnxruntime does, so C of its constants gives onnxruntime's codes."""
    x = small_onnx.file(tmp_path / "small.onnx")
    graph = load(tmp_path / "small.onnx", runtime="ort")
    found = params(graph, "xnnpack")
    found.write(tmp_path)
    made = graph.run(x, keep="all")
    loops, results = [], []
    for op, layer in zip(graph.ops, found.layers, strict=True):
        if op.layer is None or op.layer.sums is None:
            continue
        sums = op.layer.sums(made[op.reads[0]], op.layer.bias)
        axis = op.layer.requantize.axis
        channel = np.broadcast_to(np.arange(sums.shape[axis]).reshape([-1, 1, 1] if axis == 1 else [-1]), sums.shape)
        loop = f"""for (int i = 0; i < count / 2; i++)
        printf("%d\\n", {layer.name}_code(in[i], in[count / 2 + i]));"""
        loops.append((loop, np.stack([sums, channel])))
        results.append(made[op.outputs[0]].ravel())
    compare(tmp_path, loops, results, xnnpack=True)
    conv = found.layers[0].constants
    assert [conv[name] for name in ("stride_h", "stride_w", "pad_top", "pad_left")] == [2, 2, 1, 1]
    assert (conv["input_c"], conv["output_h"], conv["weights"].shape) == (3, 4, (6, 3, 3, 3))
    with pytest.raises(ValueError, match=r"onnxruntime runs no operators of TFLite"):
        params(small_network.file(tmp_path / "small.tflite")[0], "onnxruntime")
    with pytest.raises(ValueError, match=r"tflm does not have all of small.onnx:\n  QLinearConv_0 .*no uint8 CONV_2D"):
        params(graph, "tflm")


def test_json_and_npz_hold_the_same(tmp_path):
    graph, _ = small_network.file(tmp_path / "small.tflite")
    found = params(graph, "cmsis-nn")
    (json_file,) = found.write(tmp_path / "out", "json")
    (npz_file,) = found.write(tmp_path / "out", "npz")
    read = json.loads(json_file.read_text())
    assert [layer["op"] for layer in read["layers"]] == [op.kind for op in graph.ops]
    assert read["layers"][0]["reads"][0] == {
        **{"name": "image", "dtype": "int8", "shape": [1, 8, 8, 3]},
        **{"scale": float(graph.tensors["image"].scale), "zero_point": -1},
    }
    assert "static int32_t tflite_double" in read["rules"]
    with np.load(npz_file) as arrays:
        for layer in read["layers"]:
            for name, values in layer["constants"].items():
                np.testing.assert_array_equal(arrays[f"{layer['name']}.{name}"], values)
        assert len(arrays) == sum(len(layer["constants"]) for layer in read["layers"])


def one_op(path, kind, shape, options, dtype="int8", name="y"):
    x = Tensor("x", shape, dtype, np.float32(0.1), np.asarray(0))
    y = Tensor(name, shape, dtype, np.float32(1 / 256), np.asarray(-128))
    path.write_bytes(tflite_bytes([x, y], [Operator(kind, [x], [y], options, [])], [x], [y]))
    return load(path)


def test_an_op_of_one_code_is_a_table(tmp_path):
    graph = one_op(tmp_path / "one.tflite", "LOGISTIC", (1, 4), {})
    table = params(graph, "tflm").layers[0].constants["table"]
    codes = np.arange(-128, 128).astype(np.int8).reshape(64, 4)
    made = load(tmp_path / "one.tflite", runtime="tflm").run(codes)["y"]
    np.testing.assert_array_equal(table, made.ravel())


def test_weights_of_4_bits_are_packed_as_cmsis_nn_has_them(tmp_path, rng):
    """Two codes a byte, the first in the low half; C that unpacks them gives the codes of the layer."""
    codes = rng.integers(-7, 8, (3, 5)).astype(np.int8)
    x = Tensor("x", (1, 5), "int8", np.float32(0.1), np.asarray(-3))
    w = Tensor("w", (3, 5), "int4", np.float32(0.05), np.asarray(0), data=codes)
    y = Tensor("y", (1, 3), "int8", np.float32(0.03), np.asarray(4))
    layer = Operator("FULLY_CONNECTED", [x, w, None], [y], {"FusedActivationFunction": 0}, [])
    (tmp_path / "one.tflite").write_bytes(tflite_bytes([x, w, y], [layer], [x], [y]))
    graph = load(tmp_path / "one.tflite", runtime="tflm")
    found = params(graph, "cmsis-nn")
    found.write(tmp_path)
    packed = found.layers[0].constants["packed_weights"]
    assert packed.shape == (8,)
    data = rng.integers(-128, 128, (1, 5)).astype(np.int8)
    loop = """for (int o = 0; o < 3; o++) {
        int64_t sum = 0;
        for (int c = 0; c < 5; c++) {
            const int at = o * 5 + c, half = fully_connected_packed_weights[at / 2] >> 4 * (at % 2) & 15;
            sum += (in[c] + fully_connected_input_offset) * (half < 8 ? half : half - 16);
        }
        printf("%d\\n", fully_connected_code(sum, o));
    }"""
    compare(tmp_path, [(loop, data)], [graph.run(data)["y"].ravel()], xnnpack=False)


def test_names_of_a_hostile_file_are_no_c(tmp_path):
    graph = one_op(tmp_path / "one.tflite", "LOGISTIC", (1, 4), {}, name='*/ #error "\n#include </etc/passwd> ??/')
    found = params(graph, "tflm")
    found.write(tmp_path)
    ((code,),) = ran(tmp_path, [('printf("%d\\n", (int)logistic_table[in[0] + 128]);', np.int8([3]))])
    assert code == found.layers[0].constants["table"][131]


def test_what_a_port_lacks_is_named(tmp_path):
    graph, _ = small_network.file(tmp_path / "small.tflite", "int16")
    with pytest.raises(
        ValueError, match=r"model: xnnpack does not have all of small.tflite:\n  conv_2d \(CONV_2D\): .*16 bits"
    ):
        params(graph, "xnnpack")
    with pytest.raises(ValueError, match="port: expected"):
        params(graph, "esp-nn")


def test_no_file_is_written_over(tmp_path):
    graph = one_op(tmp_path / "one.tflite", "LOGISTIC", (1, 4), {})
    (tmp_path / "rules.h").write_text("mine")
    with pytest.raises(FileExistsError, match=r"rules\.h: is there already"):
        params(graph).write(tmp_path)
    assert (tmp_path / "rules.h").read_text() == "mine"
    assert not (tmp_path / "params.h").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        params(graph).write(tmp_path / "file")
    with pytest.raises(ValueError, match="form: expected"):
        params(graph).write(tmp_path / "new", "xml")
    assert not (tmp_path / "new").exists()


def test_the_command_line_writes_and_says_what(tmp_path, capsys):
    small_network.file(tmp_path / "small.tflite")
    words = ["params", str(tmp_path / "small.tflite"), "--port", "cmsis-nn", "-o", str(tmp_path / "out")]
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "small.tflite for cmsis-nn"
    assert said[-2:] == [str(tmp_path / "out" / name) for name in ("params.h", "rules.h")]
    assert main(words) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize("runtime", ["ort_avx2", "ort_arm", "ort_neon"])
def test_a_runtime_on_a_cpu_that_no_port_is_for_is_refused_by_name(runtime):
    path = Path(__file__).parents[2] / "golden/rules_avx2/ort_avx2_models/cnn_qdq_channel_u8s8.onnx"
    with pytest.raises(ValueError, match=f"^model: read as runtime '{runtime}', and onnxruntime has .* of 'ort'"):
        params(load(path, runtime=runtime), "onnxruntime")
    assert params(load(path, runtime="ort"), "onnxruntime").layers


@pytest.mark.parametrize("scale", [np.float32(0.5), np.float32([0.5, 0.25])])
def test_what_is_made_of_constants_alone_needs_no_code(tmp_path, scale):
    zero = np.zeros(scale.shape, np.int64)
    w = Tensor("w", (2, 2), "int8", scale, zero, 0 if scale.ndim else None, np.int8([[1, 2], [3, 4]]))
    wide, x, y = Tensor("wide", (2, 2), "float32"), Tensor("x", (1, 2), "float32"), Tensor("y", (1, 2), "float32")
    ops = [Operator("DEQUANTIZE", [w], [wide], {}, []), Operator("FULLY_CONNECTED", [x, wide, None], [y], {}, [])]
    path = tmp_path / "m.tflite"
    path.write_bytes(tflite_bytes([w, wide, x, y], ops, [x], [y]))
    graph = load(path)
    assert graph.run(np.float32([[1, 10]]))["y"].tolist() == (np.float32([[21, 43]]) * scale).tolist()
    layers = params(path).layers
    assert [layer.code for layer in layers] == ["", ""]
