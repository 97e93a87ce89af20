"""A dump of a device that is another column: a library on another kind of CPU."""

from pathlib import Path

import numpy as np
import pytest
from npz import read_npz

import qops
from qops import models

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
    first = qops.debug(path, device=dump, runtime=expected).first
    assert first.cause.startswith("these are the integers of onnxruntime on x86 with AVX2, without VNNI: ")
    assert first.rules[0] == "ort_avx2"
    assert qops.debug(path, device=dump, runtime="ort_avx2").first is None


def test_a_graph_without_its_file_is_made_anew_where_nodes_fuse_alike():
    path, dump = dumped("cnn_qdq_channel_u8s8.onnx", "ort_avx2")
    first = qops.debug(models.load(path, runtime="ort"), device=dump).first
    assert first.rules[0] == "ort_avx2"


def test_a_tensor_that_no_column_gives_is_explained_by_itself():
    path, dump = dumped("cnn_qdq_channel_u8s8.onnx", "ort_avx2")
    last = [name for name, value in dump.items() if value.dtype == np.uint8][-1]
    flipped = dump | {last: dump[last] ^ np.uint8(1)}
    assert "these are the integers" not in qops.debug(path, device=flipped, runtime="ort").first.cause


def test_the_report_says_which_cpu_was_expected(tmp_path):
    path, dump = dumped("mlp_qdq_tensor_u8s8.onnx", "ort_avx2")
    found = qops.debug(path, device=dump, runtime="ort")
    (report,) = (file for file in found.reduce(tmp_path / "case") if file.suffix == ".md")
    assert "values differ from onnxruntime on x86 with VNNI" in report.read_text()


def test_what_can_saturate_is_mentioned():
    path, dump = dumped("cnn_qdq_channel_u8s8.onnx", "ort_avx2")
    notes = qops.debug(path, device=dump, runtime="ort_avx2").notes
    assert "c1 (QLinearConv): 24 of 112 pairs of products can saturate in 16 bits; see qops.saturation" in notes
    assert "1 more can lose sums so" in notes
    assert not any("saturate" in note for note in qops.debug(path, device=dump, runtime="ort").notes)
