"""Every column has one name, which all tools take: a library on a kind of CPU."""

from pathlib import Path

import numpy as np
import pytest
import small_network

import qops
from qops import models, onnx, tflite
from qops.__main__ import main
from qops.models.lanes.route import TFLITE_KERNELS
from qops.onnx.runtimes import COLUMNS, RUNTIMES
from qops.tflite.kernels import KERNELS
from qops.tools.debug.columns import WHOSE

ONNX = Path(__file__).parents[1] / "golden/rules_avx2/ort_avx2_models/mlp_qdq_tensor_u8s8.onnx"
PORT = {"tflite": "tflm", "onnx": "onnxruntime"}
WITHOUT_C = ("ort_avx2", "ort_arm", "ort_neon")
"""Columns of which `params` says that it has no C, and what has."""
NAMES = [*((name, "tflite") for name in KERNELS), *((name, "onnx") for name in RUNTIMES)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model of each format, and codes of its input."""
    path = tmp_path_factory.mktemp("columns") / "small.tflite"
    _, x = small_network.file(path)
    graph = models.load(ONNX)
    (name,) = graph.inputs
    return {
        "tflite": (path, {models.load(path).inputs[0]: x}),
        "onnx": (ONNX, {name: np.zeros([n or 1 for n in graph.tensors[name].shape], np.float32)}),
    }


def test_each_column_is_in_words_and_the_names_are_one_set():
    assert {*WHOSE} == {*KERNELS, *COLUMNS} == {*KERNELS, *RUNTIMES}
    assert {*TFLITE_KERNELS} == {*KERNELS}
    assert all(("AVX2" in WHOSE[name]) == name.endswith("_avx2") for name in WHOSE)
    assert all(("64-bit ARM" in WHOSE[name]) == name.endswith(("_arm", "_neon")) for name in WHOSE)
    assert all(("without dot products" in WHOSE[name]) == name.endswith("_neon") for name in WHOSE)


@pytest.mark.parametrize(("name", "form"), NAMES)
def test_models_debug_and_params_take_it(files, name, form):
    path, x = files[form]
    graph = models.load(path, runtime=name)
    assert graph.runtime == name
    dump = graph.run(x, keep="all") | x
    assert qops.debug(path, device=dump, runtime=name).first is None
    if name in WITHOUT_C:
        with pytest.raises(ValueError, match=f"^model: read as runtime '{name}', .*read it as 'ort'$"):
            qops.params(graph, PORT[form])
    else:
        assert qops.params(graph, PORT[form]).layers


@pytest.mark.parametrize(("name", "form"), NAMES)
def test_the_command_line_takes_it(files, name, form, tmp_path, capsys):
    path, x = files[form]
    np.savez(tmp_path / "dump.npz", **models.load(path, runtime=name).run(x, keep="all") | x)
    assert main(["debug", str(path), "--device", str(tmp_path / "dump.npz"), "--runtime", name]) == 0
    port = ["--port", PORT[form], "-o", str(tmp_path / "port")]
    assert main(["params", str(path), "--runtime", name, *port]) == (2 if name in WITHOUT_C else 0)
    if name != "onnx":  # which is no library on a CPU
        assert main(["saturation", str(path), "--runtime", name]) in (0, 1)
    assert capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["debug", "--help"])
    assert name in capsys.readouterr().out


def test_ops_take_it():
    x, w = np.ones((2, 16), np.int8), np.ones((4, 16), np.int8)
    how = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 16.0, "y_zero_point": 0}
    for name in KERNELS:
        assert tflite.fully_connected(x, w, np.zeros(4, np.int32), **how, kernel=name).tolist() == [[1] * 4] * 2
    for name in COLUMNS:
        assert onnx.matmul_integer(x, w.T.copy(), runtime=name).tolist() == [[16] * 4] * 2
    with pytest.raises(ValueError, match=r"^kernel: .*xnnpack_neon"):
        tflite.fully_connected(x, w, np.zeros(4, np.int32), **how, kernel="xnnpack_n")
    with pytest.raises(ValueError, match=r"^runtime: .*ort_neon"):
        onnx.matmul_integer(x, w.T.copy(), runtime="ort_neo")
