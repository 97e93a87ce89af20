"""``python -m qops saturation``: its exit codes and what it prints."""

import json
from pathlib import Path

import numpy as np
import pytest

from qops.__main__ import main

MODELS = Path(__file__).parents[2] / "golden/rules_avx2/ort_avx2_models"
UNSAFE, SAFE = (str(MODELS / name) for name in ("cnn_qdq_channel_u8s8.onnx", "cnn_qdq_tensor_u8u8.onnx"))


def test_the_exit_code_says_whether_it_is_safe(capsys):
    assert main(["saturation", UNSAFE]) == 1
    assert "4 of 4 layers can saturate" in capsys.readouterr().out
    assert main(["saturation", SAFE]) == 0
    assert main(["saturation", UNSAFE, "--machine", "vnni"]) == 0
    assert main(["saturation", UNSAFE, "--runtime", "plain", "--machine", "s32"]) == 0
    assert main(["saturation", SAFE, "--runtime", "plain"]) == 1


def test_data_json_and_a_page(capsys, tmp_path):
    x = np.random.default_rng(0).uniform(-2, 2, (1, 3, 6, 6)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    words = ["saturation", UNSAFE, "--data", str(tmp_path / "x.npz"), "--json", "--html", str(tmp_path / "page")]
    assert main(words) == 1
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["layers"][0]["seen"]["sums"] == 8 * 36
    assert said.err.strip().endswith("saturation.html")
    assert "can saturate" in (tmp_path / "page/saturation.html").read_text()
    assert main(words) == 2
    assert "saturation.html" in capsys.readouterr().err


def test_repairs_and_a_repaired_file(capsys, tmp_path):
    x = np.random.default_rng(0).uniform(-2, 2, (4, 3, 6, 6)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    np.save(tmp_path / "labels.npy", np.arange(4) % 2)
    data = ["--data", str(tmp_path / "x.npz")]
    assert main(["saturation", UNSAFE, *data, "--repairs", "--labels", str(tmp_path / "labels.npy")]) == 1
    said = capsys.readouterr().out
    assert "widen, seen" in said
    assert "data is refused: 'data' leaves layers" in said
    assert main(["saturation", UNSAFE, *data, "--repairs", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["repairs"]
    assert [one["error"] for one in told if one["name"] in ("exact", "types", "pairs")] == [0, 0, 0]
    path = str(tmp_path / "new.onnx")
    assert main(["saturation", UNSAFE, *data, "--repair", path, "--how", "widen", "--seen"]) == 1
    assert path in capsys.readouterr().out
    assert main(["saturation", path]) == 1
    path = str(tmp_path / "pairs.onnx")
    assert main(["saturation", UNSAFE, "--repair", path, "--how", "pairs", "--runtime", "ort_avx2"]) == 1
    assert main(["saturation", path, "--runtime", "ort_avx2"]) == 0
    assert main(["saturation", SAFE, "--repair", str(tmp_path / "no.onnx")]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.onnx"], "none.onnx"),
        ([UNSAFE, "--repairs"], "data: repairs are compared on data"),
        ([UNSAFE, "--repair", "no.onnx", "--seen", "--how", "widen"], "seen: only for 'widen' and 'reduce_range'"),
        ([UNSAFE, "--runtime", "ort", "--machine", "hvx"], "machine: 'ort' is known on avx2, vnni, amx"),
    ],
)
def test_bad_input(words, said, capsys):
    assert main(["saturation", *words]) == 2
    assert said in capsys.readouterr().err
