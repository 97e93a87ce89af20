"""What results show first: at most 30 lines of 100 columns, the answer in the first one, and tables in notebooks."""

import dataclasses
import importlib
import inspect
import re
import subprocess
import sys

import numpy as np
import prepared_ops
import pytest
import small_network
from imports import ROOT
from ops import PREPARED

import qops
from qops.__main__ import main as command
from qops._readable import fitted
from qops.prepared import Prepared

ROOMS = ["affine", "codes", "fixedpoint", "isa", "models", "nnlib", "onednn", "onnx", "rules", "tensorflow", "tflite"]
X = np.arange(-2000, 2000)
WIDE = qops.saturation(np.full((300, 64), 127, np.int8))
CODES = qops.quantize(np.linspace(-3, 3, 500).reshape(5, 100), axis=1)


def classes():
    for room in (qops, *(importlib.import_module(f"qops.{name}") for name in ROOMS)):
        for name in room.__all__:
            kind = getattr(room, name)
            if inspect.isclass(kind) and not issubclass(kind, Prepared):
                yield kind


KINDS = sorted({*classes()}, key=lambda kind: (kind.__module__, kind.__name__))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A large result of each class that is no tuple."""
    path = tmp_path_factory.mktemp("network") / "small.tflite"
    graph, images = small_network.file(path)
    y = qops.rules.requantize(X, "fp32-even", scale=0.0033)
    ranges = [((-i, 1), (0, i + 3)) for i in range(1, 40)]
    adds = {"qops": qops.add, "nnlib": qops.nnlib.quantized_add_8p8to8}
    found = [
        qops.quantize_vectors("div-even", scale=0.1),
        qops.pool_vectors("away-stored", kernel=(2, 3), zero_point=5),
        qops.add_vectors("frontdoor", a_range=(-1.0, 1.0), b_range=(0.0, 3.0), y_range=(-1.0, 4.0)),
        qops.vectors("tflite-double", scale=0.0033),
        qops.error(CODES, np.zeros(100)),
        qops.explain(x=X, y=y, scale=0.0033),
        qops.debug(path, device=graph.run(images, keep="all") | {"image": images}),
        qops.Observer("all"),
        qops.params(path),
        CODES,
        qops.sweep(adds, np.add, ranges, codes=50),
        graph,
        graph.ops[0],
        graph.ops[0].layer,
        next(iter(graph.tensors.values())),
        qops.nnlib.QuantizedAdd8p8to8(0.0),
        qops.nnlib.QuantizedSub8p8to8D32(),
        qops.onednn.Attr(),
        qops.onednn.Eltwise("relu"),
        qops.onednn.Sum(0.5),
        WIDE,
        WIDE.layers[0],
        qops.saturation(path, images, machine="avx2").repairs(),
    ]
    return {type(each): each for each in found}


def check(text):
    lines = text.split("\n")
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("kind", [kind for kind in KINDS if issubclass(kind, tuple)], ids=lambda kind: kind.__name__)
def test_a_tuple_of_large_fields_is_short(kind):
    for field in (np.zeros((300, 300)), "some, words " * 500, "x" * 5000, [(1, 2.5)] * 500, {i: i for i in range(99)}):
        shown = repr(kind(*[field for _ in kind._fields]))
        check(shown)
        assert shown.startswith(f"{kind.__name__}(")


def test_every_other_result_is_short(results):
    others = {kind for kind in KINDS if not issubclass(kind, tuple)}
    assert others - set(results) <= {kind for kind in others if kind.__name__ in SMALL}
    for each in results.values():
        check(repr(each))
        assert " object at 0x" not in repr(each)


SMALL = ("Operator", "Scales", "Session", "StateQuant", "Window")
"""Classes that hold a few numbers, or an op that is tested itself."""


@pytest.mark.parametrize("name", sorted(PREPARED))
def test_prepared_ops_are_short(name):
    numbers, _ = prepared_ops.parts(name)
    check(repr(prepared_ops.kind_of(name)(**numbers)))


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Sweep", r"<Sweep: 78 rows; at most 0\.\d+ LSB of nnlib, on \(-\d+, 1\) \(0, \d+\)>"),
        ("ErrorReport", r"<ErrorReport: at most \d\S* LSB off, at \(\d+, \d+\): \S+ for 0>"),
        ("Explanation", r"<Explanation: 22 rules give all 4,000 integers>"),
        ("Hunt", r"<Hunt: no layer differs: .*>"),
        ("Params", r"<Params: \d+ layers of small.tflite for tflm, \d+ constants>"),
        ("Vectors", r"<Vectors: tflite-double, scale 0\.0033, .*"),
        ("AddVectors", r"<AddVectors: frontdoor, .*"),
    ],
)
def test_the_first_line_is_the_answer(results, name, first):
    assert re.fullmatch(first, repr(results[getattr(qops, name)]).split("\n")[0])


AS_TYPED = {
    "Attr",
    "Eltwise",
    "Layer",
    "Observer",
    "Op",
    "QTensor",
    "QuantizedAdd8p8to8",
    "QuantizedSub8p8to8D32",
    "SaturationLayer",
    "Sum",
    "Tensor",
}
"""Classes that show themselves in notebooks, too, as one types them: parts of a result, and what goes into an op."""


def test_every_other_result_has_a_table_for_notebooks(results):
    without = {kind.__name__ for kind in results if not hasattr(kind, "_repr_html_")}
    assert {name for name in without if not issubclass(named(results, name), (tuple, Prepared))} <= AS_TYPED


def named(results, name):
    return next(kind for kind in results if kind.__name__ == name)


@pytest.mark.parametrize(
    "name",
    ["Sweep", "ErrorReport", "Explanation", "Hunt", "Params", "Vectors", "AddVectors", "Graph", "Rules", "Saturation"],
)
def test_notebooks_show_tables(results, name):
    result = qops.rules.TABLE if name == "Rules" else results[named(results, name)]
    shown = result._repr_html_()
    assert shown.count("<table>") == 1
    assert shown.count("<tr>") >= 2
    assert ("<svg" in shown) == (name in ("ErrorReport", "Saturation"))
    assert "body {" not in shown  # a style that would reach the notebook


def test_text_in_html_is_escaped():
    report = qops.sweep({"<b>": qops.add}, np.add, [((-1, 1), (0, 3))], codes=5)
    assert "<b>" not in report._repr_html_()
    assert "&lt;b&gt;" in report._repr_html_()


def test_a_sweep_without_rows_and_with_refused_ones_shows_them():
    assert repr(qops.sweep(qops.add, np.add, [])) == "<Sweep: 0 rows>"

    def refuse(t):
        raise ValueError("never")

    shown = repr(qops.sweep(refuse, np.negative, [(0, 1)], codes=5))
    assert shown.split("\n")[0] == "<Sweep: 1 row, 1 refused>"
    assert "refused: never" in shown


def test_pytest_shows_the_worst_element(tmp_path):
    test = tmp_path / "test_own.py"
    test.write_text("import qops\n\n\ndef test():\n    r = qops.error(qops.quantize([0, 0.3, 1]), [0, 0.3, 1])\n"
                    "    assert r.max < 0.1\n")  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
                          capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert "<ErrorReport: at most 0.5 LSB off, at (1,): 0.298039 for 0.3>" in done.stdout


def test_a_long_text_is_wrapped_and_counted():
    assert fitted("a\nb") == "a\nb"
    check(fitted("word " * 2000))
    check(fitted("line\n" * 2000))
    assert fitted("line\n" * 50).split("\n")[-1] == "... and 22 more lines; print shows them"


def test_dataclasses_that_hide_fields_hide_them(results):
    shown = repr(results[qops.models.Graph])
    hidden = [field.name for field in dataclasses.fields(qops.models.Graph) if not field.repr]
    assert hidden
    assert not any(f"{name}=" in shown for name in hidden)


def test_a_graph_shows_how_many_ops_it_has_and_what_to_feed(results):
    shown = " ".join(repr(results[qops.models.Graph]).split())
    assert shown.startswith("Graph( 'small.tflite', runtime='reference', 8 ops, inputs={'image': int8 (1, 8, 8, 3)}, ")
    assert shown.endswith("outputs={'softmax': int8 (1, 10)} )")


COMMANDS = ["", "explain", "debug", "saturation", "params", "vectors", "emit", "selftest"]
KINDS_OF_VECTORS = ["vectors requantize", "vectors quantize", "vectors add"]


@pytest.mark.parametrize("words", COMMANDS + KINDS_OF_VECTORS)
def test_help_of_the_command_fits_80_columns(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        command([*words.split(), "--help"])
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) > 4
    assert not [line for line in lines if len(line) > 80]
    if not words:
        named = re.findall(r"^    (\w+)(?: |$)", "\n".join(lines), re.M)
        assert sorted(named) == sorted(COMMANDS[1:])


@pytest.mark.parametrize(
    ("words", "near"),
    [
        ("explan dump.npz", "explain"),
        ("saturation model.onnx --machien avx2", "--machine"),
        ("saturation model.onnx --machine avx22", "avx2"),
        ("vectors requantise", "requantize"),
        ("vectors requantize --scale 1 --rule tflite_double", "tflite-double"),
    ],
)
def test_a_misspelt_word_of_the_command_names_the_nearest(words, near, capsys):
    with pytest.raises(SystemExit) as ended:
        command(words.split())
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f". Did you mean {near!r}?\n")


def test_help_of_make_fits_80_columns():
    said = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    assert len(said) > 15
    assert max(map(len, said)) <= 80
