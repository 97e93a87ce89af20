"""`Hunt.reduce`: the layer that differs first as a model of its own, which still differs, a test in C, a report."""

import json
import os
import re
import shlex
import subprocess

import numpy as np
import planted
import pytest
import small_network
import small_onnx

import qops
from qops.__main__ import main
from qops.models import Operator, Tensor, load, tflite_bytes

FILES = {"layer.tflite", "device.npz", "expected.npz", "smallest.tflite", "smallest_device.npz", "test.c", "issue.md"}


def another_rule(op, inputs, wanted):
    """A bare shift where the model rounds."""
    own = op.layer.requantize
    sums = op.layer.sums(inputs[0], op.layer.bias)
    numbers = {"scale": own.scale, "zero_point": op.layer.numbers["zero_point"], "dtype": wanted.dtype}
    ends = {"qmin": own.ends[0], "qmax": own.ends[1]}
    return qops.rules.requantize(sums, "shift-floor", **numbers, **ends, axis=own.axis)


def no_bias(op, inputs, wanted):
    return op.layer.requantize(op.layer.sums(inputs[0], None))


def some_codes(op, inputs, wanted):
    """No rule gives this."""
    got = wanted.copy()
    got.reshape(-1)[::5] ^= 3
    return got


_PRODUCTS = ("conv_2d", "depthwise_conv_2d", "conv_2d_1", "fully_connected")
FAULTS = [
    *((dtype, name, another_rule) for dtype in ("int8", "int16") for name in _PRODUCTS),
    ("int8", "depthwise_conv_2d", no_bias),
    *(
        (dtype, name, some_codes)
        for dtype in ("int8", "int16")
        for name in ("add", "average_pool_2d", "softmax", "reshape")
    ),
]


def dumped(path, dtype, layer, fault, runtime="reference"):
    """A network, and the dump of a device on which one layer has a fault."""
    _, x = small_network.file(path, dtype)
    graph = load(path, runtime=runtime)
    dump = {}
    values = {"image": x}
    for op in graph.ops:
        inputs = [values[name] for name in op.reads]
        (wanted,) = op.call(*inputs)
        values[op.outputs[0]] = fault(op, inputs, wanted) if op.name == layer else wanted
    dump.update(values)
    return graph, dump


def compiled(folder, *flags):
    compiler = shlex.split(os.environ.get("CC", "cc"))
    warn = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    subprocess.run([*compiler, *warn, *flags, "-o", folder / "test", folder / "test.c", "-lm"], check=True)


def ran(folder, **environment):
    """The exit code of the test in C, and what it printed."""
    done = subprocess.run([folder / "test"], capture_output=True, text=True, check=False, env=environment)
    return done.returncode, done.stdout.splitlines()


def both(folder):
    """Compile the test in C once, and run it on the device's codes and on the expected ones."""
    compiled(folder, "-include", "stdlib.h", '-DGOT=(getenv("EXPECTED") ? expected : device)')
    return ran(folder), ran(folder, EXPECTED="1")


@pytest.mark.parametrize(("dtype", "layer", "fault"), FAULTS)
def test_the_files_show_the_same_difference_again(dtype, layer, fault, tmp_path):
    graph, dump = dumped(tmp_path / "small.tflite", dtype, layer, fault)
    found = qops.debug(graph, device=dump)
    assert found.first.layer == layer
    folder = tmp_path / "case"
    paths = found.reduce(folder)
    wanted_files = FILES - ({"smallest.tflite", "smallest_device.npz"} if layer == "reshape" else set())
    assert {path.name for path in paths} == {path.name for path in folder.iterdir()} == wanted_files

    again = qops.debug(folder / "layer.tflite", device=folder / "device.npz")
    assert (again.first.output, again.first.cause, again.first.rules) == found.first[1:4]
    row, before = again.layers[0], next(row for row in found.layers if row.name == layer)
    assert (row.op, row.differ, row.largest, row.share) == (before.op, before.differ, before.largest, before.share)
    assert not qops.debug(folder / "layer.tflite", device=folder / "expected.npz").differs

    if layer != "reshape":
        small = qops.debug(folder / "smallest.tflite", device=folder / "smallest_device.npz")
        assert small.first.output == found.first.output
        assert small.layers[0].differ >= 1
        with np.load(folder / "device.npz") as whole, np.load(folder / "smallest_device.npz") as few:
            sizes = [sum(x.size for x in arrays.values()) for arrays in (few, whole)]
        assert sizes[0] < sizes[1] or layer == "softmax"

    (code, said), other = both(folder)
    count = min(before.differ, 64)
    assert code == 1
    assert said[-1] == f"{count} of {count} elements differ"
    assert len(said) == count + 1
    assert other == (0, [f"0 of {count} elements differ"])


@pytest.mark.parametrize("layer", ["conv_2d_1", "add", "reshape"])
def test_the_program_compiles_as_it_says(layer, tmp_path):
    """For the device's codes without a flag, for others with the name of their array."""
    fault = another_rule if layer == "conv_2d_1" else some_codes
    graph, dump = dumped(tmp_path / "small.tflite", "int8", layer, fault)
    qops.debug(graph, device=dump).reduce(tmp_path / "case")
    together = both(tmp_path / "case")
    compiled(tmp_path / "case")
    assert ran(tmp_path / "case") == together[0]
    compiled(tmp_path / "case", "-DGOT=expected")
    assert ran(tmp_path / "case") == together[1]
    assert [code for code, _ in together] == [1, 0]


@pytest.mark.long
def test_the_program_computes_the_rule(tmp_path):
    """With another constant, input or expected code the program says that the rule does not give it."""
    graph, dump = dumped(tmp_path / "small.tflite", "int8", "conv_2d_1", another_rule)
    qops.debug(graph, device=dump).reduce(tmp_path / "case")
    text = (tmp_path / "case/test.c").read_text()
    for pattern, said in (
        (r"(layer_output_offset = )", "the C of the rule gives"),
        (r"(expected\[64\] = \{\s*)", "the C of the rule gives"),
        (r"(x\[\d+\] = \{[^\n]*\n\s*)", "the smallest case adds up to"),
    ):
        broken, count = re.subn(pattern, r"\g<1>1 + ", text)
        assert count == 1
        (tmp_path / "case/test.c").write_text(broken)
        compiled(tmp_path / "case")
        code, lines = ran(tmp_path / "case")
        assert code == 2
        assert lines[0].startswith(said)


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize("kind", ["QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd", "Flatten"])
def test_a_network_of_onnx(runtime, kind, tmp_path):
    x = small_onnx.file(tmp_path / "small.onnx")
    graph = load(tmp_path / "small.onnx", runtime=runtime)
    wrong = next(op for op in graph.ops if op.kind == kind)
    values = {graph.inputs[0]: x}
    for op in graph.ops:
        inputs = [values[name] for name in op.reads]
        (wanted,) = op.call(*inputs)
        fault = some_codes if kind in ("QLinearAdd", "Flatten") else another_rule
        values[op.outputs[0]] = fault(op, inputs, wanted) if op is wrong else wanted
    found = qops.debug(graph, device=values)
    assert found.first.layer == wrong.name
    folder = tmp_path / "case"
    found.reduce(folder)
    again = qops.debug(folder / "layer.onnx", device=folder / "device.npz", runtime=runtime)
    assert again.first[1:4] == found.first[1:4]
    if kind != "Flatten":
        small = qops.debug(folder / "smallest.onnx", device=folder / "smallest_device.npz", runtime=runtime)
        assert small.first.output == found.first.output
    assert [code for code, _ in both(folder)] == [1, 0]
    assert "qops[onnx]" in (folder / "issue.md").read_text()


@pytest.mark.parametrize("runtime", ["optimized", "xnnpack", "tflm", "single_rounding"])
@pytest.mark.parametrize("layer", ["depthwise_conv_2d", "add", "fully_connected"])
def test_other_runtimes(runtime, layer, tmp_path):
    fault = some_codes if layer == "add" else another_rule
    graph, dump = dumped(tmp_path / "small.tflite", "int8", layer, fault, runtime)
    qops.debug(graph, device=dump).reduce(tmp_path / "case")
    assert [code for code, _ in both(tmp_path / "case")] == [1, 0]
    words = {"optimized": "optimised kernels", "xnnpack": "XNNPACK"}.get(runtime, "Micro")
    report = (tmp_path / "case/issue.md").read_text()
    assert words in report.splitlines()[0]
    assert f"--runtime {runtime}" in report
    again = qops.debug(tmp_path / "case/layer.tflite", device=tmp_path / "case/device.npz", runtime=runtime)
    assert again.first.layer == layer


def test_sums_of_48_bits_of_the_reference(tmp_path):
    """Sums beyond int32: the C holds them, and what FULLY_CONNECTED of TFLite's reference makes of them."""
    graph, x = small_network.wide(tmp_path / "wide.tflite")
    op = graph.ops[1]

    def narrow(op, inputs, made):
        return planted.rounded(op, made, planted.wrapped(op.layer.sums(inputs[0], op.layer.bias), 32))

    found = qops.debug(graph, device=planted.device(graph, x, {op.outputs[0]: narrow}))
    found.reduce(tmp_path / "case")
    assert np.abs(op.layer.sums(found.case.inputs[0], op.layer.bias)).max() >= 2**31
    assert [code for code, _ in both(tmp_path / "case")] == [1, 0]
    assert "the lowest integer and wraps" in (tmp_path / "case/issue.md").read_text()


def test_the_report_says_what_a_vendor_needs(tmp_path):
    graph, dump = dumped(tmp_path / "small.tflite", "int8", "conv_2d_1", another_rule)
    found = qops.debug(graph, device=dump)
    found.reduce(tmp_path / "case")
    text = (tmp_path / "case/issue.md").read_text()
    row = found.layers[2]
    assert text.startswith(f"# CONV_2D: {row.differ} of 512 values differ from TFLite's reference kernels\n")
    for words in (
        f"{row.differ} differ ({row.share:.2%}), by at most 1.",
        "rounded by another rule: shift-floor",
        "- expected: `tflite-double`: ",
        "- gives every integer of the device: `shift-floor`: ",
        "| place | sum | channel | device | expected |",
        "were tried, fewest inputs first",
        "python -m qops debug layer.tflite --device device.npz\n",
        "cc -std=c99 -Wall -Werror test.c",
        "qops 0.",
    ):
        assert words in text
    place = tuple(map(int, re.search(r"Element \((.*?)\)", text)[1].split(",")))
    device, expected = map(int, re.search(r"- device: (-?\d+); expected: (-?\d+)", text).groups())
    assert dump["pointwise"][place] == device
    assert device != expected


def test_where_no_layer_differs_nothing_is_written(tmp_path):
    graph, dump = dumped(tmp_path / "small.tflite", "int8", "none", another_rule)
    with pytest.raises(ValueError, match="no layer differs; nothing to reduce"):
        qops.debug(graph, device=dump).reduce(tmp_path / "case")
    nchw = {**dump, "conv": np.ascontiguousarray(dump["conv"].transpose(0, 3, 1, 2))}
    with pytest.raises(ValueError, match="the dump is NCHW, the model NHWC; no layer"):
        qops.debug(graph, device=nchw).reduce(tmp_path / "case")
    other = {**dump, "image": dump["image"] + 1}
    with pytest.raises(ValueError, match=r"the inputs differ already.*nothing to reduce"):
        qops.debug(graph, dump["image"], device=other).reduce(tmp_path / "case")
    assert not (tmp_path / "case").exists()


@pytest.mark.long
def test_no_file_is_written_over_and_none_is_left_behind(tmp_path):
    graph, dump = dumped(tmp_path / "small.tflite", "int8", "conv_2d_1", another_rule)
    found = qops.debug(graph, device=dump)
    (tmp_path / "case").mkdir()
    (tmp_path / "case/issue.md").write_text("mine")
    with pytest.raises(FileExistsError, match=r"issue\.md: is there already"):
        found.reduce(tmp_path / "case")
    assert [path.name for path in (tmp_path / "case").iterdir()] == ["issue.md"]
    assert (tmp_path / "case/issue.md").read_text() == "mine"
    with pytest.raises(OSError, match=r"issue\.md"):
        found.reduce(tmp_path / "case/issue.md/folder")


def test_an_op_of_two_results(tmp_path):
    """The second result differs: it is the one that is written and told of."""
    x, *parts = (
        Tensor(name, (1, n), "int8", np.float32(0.1), np.asarray(0)) for name, n in (("x", 8), ("a", 4), ("b", 4))
    )
    axis = Tensor("axis", (), "int32", data=np.int32(1))
    operator = Operator("SPLIT", [axis, x], parts, {"NumSplits": 2}, [])
    (tmp_path / "two.tflite").write_bytes(tflite_bytes([axis, x, *parts], [operator], [x], parts))
    graph = load(tmp_path / "two.tflite")
    codes = np.arange(8, dtype=np.int8)[None]
    made = graph.run(codes)
    found = qops.debug(graph, codes, device={"a": made["a"], "b": made["b"] + np.int8(2)})
    assert found.first.output == "b"
    paths = found.reduce(tmp_path / "case")
    assert "smallest.tflite" not in {path.name for path in paths}
    assert qops.debug(tmp_path / "case/layer.tflite", device=tmp_path / "case/device.npz").first == found.first
    assert both(tmp_path / "case")[0] == (
        1,
        [f"element {i}: {6 + i}, expected {4 + i}" for i in range(4)] + ["4 of 4 elements differ"],
    )
    assert "- writes `b`: int8" in (tmp_path / "case/issue.md").read_text()


def test_hostile_names(tmp_path):
    """What a file calls its tensors is neither C nor Markdown of the report."""
    names = "*/ int main(void){return 0;} /*\n#error", "`\n# Injected\n<script>|x|"
    ends = [Tensor(name, (1, 20), "int8", np.float32(0.1), np.asarray(0)) for name in names]
    operator = Operator("RELU", [ends[0]], [ends[1]], {}, [])
    (tmp_path / "hostile.tflite").write_bytes(tflite_bytes(ends, [operator], ends[:1], ends[1:]))
    graph = load(tmp_path / "hostile.tflite")
    x = np.arange(-10, 10, dtype=np.int8)[None]
    made = graph.run(x)[names[1]]
    found = qops.debug(graph, x, device={names[1]: np.maximum(made, 3)})
    found.reduce(tmp_path / "case")
    assert both(tmp_path / "case")[0][0] == 1
    lines = (tmp_path / "case/issue.md").read_text().splitlines()
    assert [line for line in lines if line.startswith("# ")] == [lines[0]]
    assert qops.debug(tmp_path / "case/layer.tflite", device=tmp_path / "case/device.npz").first.output == names[1]


@pytest.mark.long
def test_the_command_line(tmp_path, capsys):
    graph, dump = dumped(tmp_path / "small.tflite", "int8", "conv_2d_1", another_rule)
    np.savez(tmp_path / "dump.npz", **dump)
    np.savez(tmp_path / "right.npz", **graph.run(dump["image"], keep="all"))
    words = ["debug", str(tmp_path / "small.tflite"), "--reduce", str(tmp_path / "case"), "--device"]
    assert main([*words, str(tmp_path / "right.npz")]) == 0
    assert capsys.readouterr().out.endswith("no layer differs by itself: nothing is written\n")
    assert not (tmp_path / "case").exists()
    assert main([*words, str(tmp_path / "dump.npz"), "--json"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["first"]["layer"] == "conv_2d_1"
    assert {line.rpartition(os.sep)[2] for line in printed.err.splitlines()} == FILES
    assert main([*words, str(tmp_path / "dump.npz")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""  # refused before the run
    assert "is there already" in printed.err
