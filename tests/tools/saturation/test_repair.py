"""Repairs: what they give is safe for every input, exact ones keep every sum, and files keep every result."""

import json
from importlib.util import find_spec
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


MODELS = [
    "cnn_qdq_channel_u8s8",
    "residual_qoperator_channel_u8s8",
    "mlp_qoperator_channel_u8s8",
    "taps_qdq_channel_u8s8",
]


@pytest.fixture(scope="module", params=MODELS)
def looked_at(request):
    """A report with data."""
    case = next(case for case in CASES if request.param in case["attrs"]["model"])
    with np.load(GOLDEN / "ort_avx2_models.npz") as arrays:
        x = {name: arrays[key] for name, key in case["inputs"].items()}
    return qops.saturation(GOLDEN / case["attrs"]["model"], x), x


@pytest.mark.parametrize("how", ["types", "data", "pairs", "widen", "reduce_range", "data_7_bits"])
def test_each_repair_as_a_file(looked_at, how, tmp_path):
    """No input saturates the new file; exact ones keep every result. onnxruntime was run on such files beside qops."""
    found, x = looked_at
    path = tmp_path / "new.onnx"
    if how == "data" and "qdq" in found.name:
        with pytest.raises(ValueError, match=r"how: 'data' leaves layers .* onnxruntime on x86 makes uint8 of int8"):
            found.write(path, how)
        assert not path.exists()
        return
    new = qops.saturation(found.write(path, how), x)
    assert new.safe
    assert new.errors == {"y": 0}
    off = np.abs(new.outputs["y"] - found.exact["y"]).max()
    before = np.abs(found.outputs["y"] - found.exact["y"]).max()
    assert (off == 0) == (how in ("types", "data", "pairs"))
    assert off < before
    there = qops.models.load(path, runtime="ort_avx2")
    assert there.hazards == ()
    np.testing.assert_array_equal(there.run(x)["y"], new.outputs["y"])


@pytest.mark.parametrize("how", ["widen", "reduce_range"])
def test_rows_that_data_saturate_as_a_file(looked_at, how, tmp_path):
    found, x = looked_at
    new = qops.saturation(found.write(tmp_path / "new.onnx", how, seen=True), x)
    assert not any(layer.seen.wrong for layer in new.layers)
    assert not new.safe
    assert 0 < np.abs(new.outputs["y"] - found.exact["y"]).max() < found.errors["y"]


def test_all_repairs_beside_each_other(looked_at):
    found, _ = looked_at
    labels = found.exact["y"].reshape(len(found.exact["y"]), -1).argmax(axis=1)
    tried = found.repairs(labels)
    names = [one.name for one in tried.tried]
    assert names[:2] == ["exact", "as it is"]
    assert names[2:] == [
        *("types", "data", "pairs", "widen", "widen, seen", "reduce_range", "reduce_range, seen", "data_7_bits"),
    ]
    assert tried["exact"].accuracy == tried["pairs"].accuracy == 1
    assert tried["as it is"].error == found.errors["y"]
    assert tried["types"].error == tried["pairs"].error == 0
    assert 0 < tried["widen, seen"].error <= tried["as it is"].error
    assert tried["pairs"].changes.startswith("channels ")
    assert bool(tried["data"].refused) == ("qdq" in found.name)
    assert json.loads(json.dumps(tried.as_dict()))["tried"][0]["name"] == "exact"
    assert max(map(len, str(tried).splitlines())) <= 160
    assert "as it is" in repr(tried)
    assert "<table>" in tried._repr_html_()
    with pytest.raises(ValueError, match="labels: expected one for each of"):
        found.repairs(labels[:-1])
    with pytest.raises(TypeError, match="labels: expected integers"):
        found.repairs(labels + 0.5)


def test_a_cure_that_is_worse_than_the_disease(tmp_path):
    """Where data hardly saturate, 7 bits in all weights move results farther, and the table says so."""
    from qops.tools.saturation.repairs import Repairs, RepairTried

    rows = RepairTried("exact"), RepairTried("as it is", error=0.05), RepairTried("reduce_range", error=0.53)
    made = Repairs("net", "avx2, ort", rows)
    assert made.worse == ("reduce_range",)
    assert "farther from exact than the saturation itself: reduce_range" in str(made)


@pytest.mark.parametrize("groups", [1, 2])
def test_pairs_in_groups(groups):
    """Each group has an order of its own, with as many places."""
    w = np.random.default_rng(3).integers(-127, 128, (8, 6 // groups, 3, 3)).astype(np.int8)
    found = qops.saturation(onnx.ConvInteger(w, group=groups), machine="avx2", runtime="fbgemm")
    made = found.repair("pairs")
    places = made.channels.reshape(groups, -1)
    assert places.shape[1] == made.weights.shape[2] <= 12 // groups
    for g, row in enumerate(places):
        assert sorted(row[row >= 0]) == list(range(g * 6 // groups, (g + 1) * 6 // groups))
    new = onnx.ConvInteger(made.weights.reshape(8, -1, 3, 3), group=groups)
    assert qops.saturation(new, machine="avx2", runtime="fbgemm").safe


def test_the_largest_matching_leaves_fewest_over():
    """A path of four channels: taking the largest first may leave two over, a matching of networkx none."""
    from qops.tools.saturation.matching import pairs_of

    fits = np.zeros((4, 4), bool)
    for a, b in ((0, 1), (1, 2), (2, 3)):
        fits[a, b] = fits[b, a] = True
    made = pairs_of(fits, np.array([1, 0, 3, 2]))
    if find_spec("networkx") is None:
        assert sorted(made)[:2] == [-1, -1]
    else:
        assert -1 not in made


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
        (weights(), {"how": "cut"}, "how: expected one of types, data, pairs, widen, reduce_range, data_7_bits"),
        (weights(), {"how": "types"}, "how: 'types' leaves .* unsafe on 'plain'"),
        (weights(), {"how": "pairs", "layer": "fc"}, "layer: .*fc"),
        (weights(), {"how": "widen", "seen": True}, "seen: only for 'widen' and 'reduce_range', and it needs a report"),
        (weights(), {"how": "data"}, "how: 'data' leaves .* unsafe on 'plain'"),
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
