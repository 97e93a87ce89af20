"""Repairs: what they give is safe for every input, exact ones keep every sum, and files keep every result."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import qops
from qops import onnx
from qops.__main__ import main
from qops.isa import MACHINES

GOLDEN = Path(__file__).parents[2] / "golden/rules_avx2"
CASES = [case for case in json.loads((GOLDEN / "ort_avx2_models.json").read_text()) if "y_vnni" in case["outputs"]]


def weights(outputs=30, k=21, seed=0):
    drawn = np.random.default_rng(seed).normal(0, 45, (outputs, k))
    return drawn.clip(-127, 127).astype(np.int8)


@pytest.mark.parametrize(("outputs", "k"), [(40, 8), (30, 21), (60, 40)])
def test_new_pairs_are_safe_and_keep_the_sums(outputs, k):
    w = weights(outputs, k)
    made = qops.saturation(w).repair("pairs")
    new = made.weights.reshape(outputs, -1)
    assert qops.saturation(new).safe
    assert sorted(c for c in made.channels if c >= 0) == list(range(k))
    assert k <= len(made.channels) <= 2 * k
    assert not any(a == b == -1 for a, b in pairwise(made.channels))
    x = np.random.default_rng(1).integers(0, 256, (50, k)).astype(np.uint8)
    x[:9] = 255
    laid = np.where(made.channels < 0, np.uint8(99), x[:, made.channels])
    there = MACHINES["avx2"].dot(laid[:, None], new[None])
    np.testing.assert_array_equal(there, x.astype(int) @ w.T.astype(int))


def test_new_pairs_of_a_convolution():
    """The same order of channels serves all taps."""
    w = weights(8, 5 * 9).reshape(8, 5, 3, 3)
    made = qops.saturation(w).repair("pairs")
    assert made.weights.shape[3] == 9
    assert qops.saturation(made.weights[0].reshape(8, -1, 3, 3)).safe


def test_wider_scales_change_unsafe_rows_alone_and_as_little_as_it_takes():
    w = weights()
    w[3] = 1
    found = qops.saturation(w)
    made = found.repair("widen")
    new, unsafe = made.weights.reshape(w.shape), found.layers[0].unsafe.any(axis=1)
    assert qops.saturation(new).safe
    np.testing.assert_array_equal(made.scale != 1, unsafe)
    np.testing.assert_array_equal(new[~unsafe], w[~unsafe])
    assert made.rows == np.count_nonzero(unsafe) < len(w)
    assert made.error == np.abs(new * made.scale[:, None] - w).max() > 0
    less = np.rint(w / (made.scale / 1.002)[:, None]).astype(np.int8)
    assert qops.saturation(less).layers[0].unsafe.any(axis=1)[unsafe].all()
    assert qops.saturation(w).repair("reduce_range").rows == len(w)
    halved = qops.saturation(w).repair("reduce_range")
    assert qops.saturation(halved.weights.reshape(w.shape)).safe
    assert halved.error == np.abs(2.0 * halved.weights.reshape(w.shape) - w).max()


def test_only_rows_that_data_saturate():
    w = np.int8([[127, 127, 0, 0], [0, 0, 127, 127], [5, 5, 5, 5]])
    found = qops.saturation(w, np.uint8([[255, 255, 0, 0]]))
    made = found.repair("widen", seen=True)
    assert (made.scale != 1).tolist() == [True, False, False]
    new = qops.saturation(made.weights.reshape(w.shape), np.uint8([[255, 255, 0, 0]]))
    assert new.layers[0].seen.wrong == 0
    assert new.layers[0].channels.tolist() == [1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_file_of_other_types_gives_what_vnni_gave(case, tmp_path):
    with np.load(GOLDEN / "ort_avx2_models.npz") as arrays:
        x = {name: arrays[key] for name, key in case["inputs"].items()}
        want = arrays[case["outputs"]["y_vnni"]]
    found = qops.saturation(GOLDEN / case["attrs"]["model"])
    path = found.write(tmp_path / "new.onnx")
    new = qops.saturation(path, x)
    assert new.safe
    np.testing.assert_array_equal(new.outputs["y"], want)
    np.testing.assert_array_equal(qops.models.load(path, runtime="ort").run(x)["y"], want)
    with pytest.raises(FileExistsError):
        found.write(path)
    with pytest.raises(ValueError, match="nothing to repair"):
        new.write(tmp_path / "again.onnx")


def test_the_command_writes_the_file(tmp_path, capsys):
    path = tmp_path / "new.onnx"
    assert main(["saturation", str(GOLDEN / CASES[0]["attrs"]["model"]), "--repair", str(path)]) == 1
    assert str(path) in capsys.readouterr().out
    assert main(["saturation", str(path)]) == 0


def test_convinteger_gets_signed_weights():
    op = onnx.ConvInteger(np.full((2, 3, 3, 3), 255, np.uint8))
    made = qops.saturation(op, np.full((1, 3, 4, 4), 127, np.int8)).repair("types")
    assert (made.weights.dtype, made.weights.max(), made.zero_point) == (np.int8, 127, -128)


@pytest.mark.parametrize(
    ("what", "given", "said"),
    [
        (weights(), {"how": "cut"}, "how: expected one of types, pairs, widen, reduce_range"),
        (weights(), {"how": "types"}, "how: 'types' leaves .* unsafe on 'plain'"),
        (weights(), {"how": "pairs", "layer": "fc"}, "layer: .*fc"),
        (weights(), {"how": "widen", "seen": True}, "seen: only for 'widen', and it needs a report with data"),
        (np.ones((2, 4), np.int8), {"how": "widen"}, "layer: no lane of 'weights' can be left"),
        (GOLDEN / CASES[0]["attrs"]["model"], {"how": "widen"}, "layer: expected one of h1, h2, h3, y"),
    ],
)
def test_bad_arguments(what, given, said):
    with pytest.raises(ValueError, match=said):
        qops.saturation(what).repair(**given)


def test_what_cannot_be_written():
    with pytest.raises(ValueError, match="path: only the report"):
        qops.saturation(weights()).write("new.onnx")
