"""A dump of a device that is another column: a library on another kind of CPU."""

import json
import re
from html import escape
from pathlib import Path

import numpy as np
import pytest
import streaming
from npz import read_npz

import qops
from qops import models
from qops.__main__ import main
from qops.models import Operator, Tensor, tflite_bytes

GOLDEN = Path(__file__).parents[2] / "golden/rules_avx2"
MODELS = GOLDEN / "ort_avx2_models"


def dumped(file, runtime):
    """The file, an input on which both kinds of x86 differ, and all tensors of a run on one of them."""
    graph = models.load(MODELS / file, runtime=runtime)
    (name,) = graph.inputs
    x = read_npz(GOLDEN / "ort_avx2_models.npz")[{"mlp": "000.in.x", "cnn": "006.in.x"}[file[:3]]]
    return MODELS / file, graph.run({name: x}, keep="all") | {name: x}


@pytest.mark.parametrize("file", ["mlp_qdq_tensor_u8s8.onnx", "cnn_qdq_channel_u8s8.onnx"])
@pytest.mark.parametrize("expected", ["ort", "onnx"])
def test_a_machine_without_vnni_is_named_first_of_all(file, expected):
    path, dump = dumped(file, "ort_avx2")
    found = qops.debug(path, device=dump, runtime=expected)
    words = (
        "these are the integers of onnxruntime on x86 with AVX2, without VNNI: runtime 'ort_avx2' gives every tensor"
    )
    assert str(found).startswith(f"{words}\n{path.name}\n  layer ")
    assert repr(found).replace("\n    ", " ").startswith(f"<Hunt: {words}>\n{path.name}\n")
    assert found._repr_html_().index(escape(words)) < found._repr_html_().index(path.name)
    assert re.search(r"<h\d[^>]*>(.*?)</h", found.page())[1] == escape(words[0].upper() + words[1:])
    assert next(iter(found.as_dict().items())) == ("column", found.column._asdict())
    assert found.column.runtimes == ["ort_avx2"]
    assert found.first.cause.startswith("as the runtime 'ort_avx2' computes it")
    assert qops.debug(path, device=dump, runtime="ort_avx2").first is None


def test_the_command_line_says_it_first(tmp_path, capsys):
    path, dump = dumped("mlp_qdq_tensor_u8s8.onnx", "ort_avx2")
    np.savez(tmp_path / "dump.npz", **dump)
    words = ["debug", str(path), "--device", str(tmp_path / "dump.npz"), "--runtime"]
    assert main([*words, "ort"]) == 1
    assert capsys.readouterr().out.startswith("these are the integers of onnxruntime on x86 with AVX2, without VNNI")
    assert main([*words, "ort", "--json"]) == 1
    assert capsys.readouterr().out.startswith('{"column": {"words": "these are the integers of')
    assert main([*words, "ort_avx2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["column"] is None


def test_a_graph_without_its_file_is_made_anew_where_nodes_fuse_alike():
    path, dump = dumped("cnn_qdq_channel_u8s8.onnx", "ort_avx2")
    assert qops.debug(models.load(path, runtime="ort"), device=dump).column.runtimes[0] == "ort_avx2"


def test_a_tensor_that_no_column_gives_is_explained_by_itself():
    path, dump = dumped("cnn_qdq_channel_u8s8.onnx", "ort_avx2")
    last = [name for name, value in dump.items() if value.dtype == np.uint8][-1]
    flipped = dump | {last: dump[last] ^ np.uint8(1)}
    found = qops.debug(path, device=flipped, runtime="ort")
    assert found.column is None
    assert "these are the integers" not in str(found)


def test_the_report_says_which_cpu_was_expected(tmp_path):
    path, dump = dumped("mlp_qdq_tensor_u8s8.onnx", "ort_avx2")
    found = qops.debug(path, device=dump, runtime="ort")
    (report,) = (file for file in found.reduce(tmp_path / "case") if file.suffix == ".md")
    assert "values differ from onnxruntime on x86 with VNNI" in report.read_text()
    assert "Of the whole network, these are the integers of onnxruntime on x86 with AVX2" in report.read_text()


def test_what_can_saturate_is_mentioned():
    path, dump = dumped("cnn_qdq_channel_u8s8.onnx", "ort_avx2")
    notes = qops.debug(path, device=dump, runtime="ort_avx2").notes
    assert "c1 (QLinearConv): 24 of 112 pairs of products can saturate in 16 bits; see qops.saturation" in notes
    assert "1 more can lose sums so" in notes
    assert not any("saturate" in note for note in qops.debug(path, device=dump, runtime="ort").notes)


def saturated_network(tmp_path, gap):
    """Two layers of int8 whose lowest codes lose 65,536 on plain NEON, with a gap between them or a RELU."""
    x, a, b, y = (Tensor(name, (2, 16), "int8", np.float32(0.1), np.int64(0)) for name in "xaby")
    lowest = np.full((16, 16), -128, np.int8)
    w = Tensor("w", lowest.shape, "int8", np.float32(0.003), np.int64(0), data=lowest)
    layer = {"FusedActivationFunction": 0, "KeepNumDims": False}
    ops = [
        Operator("FULLY_CONNECTED", [x, w], [a], layer, []),
        Operator("CUMSUM" if gap else "RELU", [a], [b], {}, []),
        Operator("FULLY_CONNECTED", [b, w], [y], layer, []),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(tflite_bytes([x, w, a, b, y], ops, [x], [y]))
    return path, np.full((2, 16), -128, np.int8)


@pytest.mark.parametrize("gap", [False, True])
def test_a_column_is_named_around_a_gap(tmp_path, gap):
    path, x = saturated_network(tmp_path, gap)
    device = models.load(path, runtime="xnnpack_neon", gaps=True)
    given = {"b": np.full((2, 16), -128, np.int8)} if gap else {}
    dump = device.run(x, keep="all", given=given) | {"x": x}
    found = qops.debug(path, device=dump, runtime="xnnpack")
    assert "xnnpack_neon" in found.column.runtimes
    wrong = dump | {"y": dump["y"] ^ np.int8(1)}
    assert qops.debug(path, device=wrong, runtime="xnnpack").column is None
    if gap:  # without its result nothing behind it is made
        without = {name: codes for name, codes in dump.items() if name != "b"}
        assert "xnnpack_neon" in qops.debug(path, device=without, runtime="xnnpack").column.runtimes


def test_a_column_is_named_in_a_later_step(tmp_path):
    """Its network keeps a variable; the fourth step is the first in which optimised kernels give another code."""
    path = tmp_path / "s.tflite"
    streaming.file(path)
    data = np.random.default_rng(1).integers(-128, 128, (104, 1, 2)).astype(np.int8)[100:]
    session = models.load(path, runtime="optimized").session()
    found = qops.debug(path, device=[session(x, keep="all") | {"x": x} for x in data])
    assert found.notes[0] == "step 3, counted from 0, of 4: the first that differs"
    assert found.column.runtimes[0] == "optimized"
