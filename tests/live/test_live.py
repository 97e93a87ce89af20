"""`make live` on systems made up for that: it counts what is equal, refused and different, and shows a difference."""

import sys

import beside
import cpus
import draws
import elsewhere
import live
import numpy as np
import pytest
import tflite_draws
from draws import Pair
from tflite_net import Net

X = np.uint8([1, 2, 3])


def refuse():
    raise ValueError("x: wrong")


CASES = {
    "equal": (X, X.copy(), "equal"),
    "two arrays": ((X, np.float32(0)), [X, np.float32(0)], "equal"),
    "not a number": (np.float32([np.nan]), np.float32([np.nan]), "equal"),
    "a code": (X, np.uint8([1, 2, 4]), "different"),
    "a type": (X, X.view(np.int8), "different"),
    "a shape": (X, X[None], "different"),
    "a sign of 0": (np.float32([0.0]), np.float32([-0.0]), "different"),
    "fewer": ((X, X), (X,), "different"),
    "both refuse": (refuse, refuse, "refused"),
    "it refuses": (refuse, X, "different"),
    "qops refuses": (X, refuse, "different"),
}


def pair(theirs, ours):
    return Pair(*(x if callable(x) else lambda x=x: x for x in (theirs, ours)), {"x": X})


@pytest.mark.parametrize(("theirs", "ours", "found"), CASES.values(), ids=CASES)
def test_results_are_compared_bit_for_bit(theirs, ours, found):
    assert beside.compare(pair(theirs, ours))[0] == found


def test_a_rule_need_not_refuse_what_a_system_does():
    assert beside.compare(draws.of_rule(refuse, lambda: X, {}))[0] == "refused"
    assert beside.compare(draws.of_rule(lambda: X, refuse, {}))[0] == "different"


def test_what_qops_says_that_it_does_not_model_is_refused():
    def unmodelled():
        raise ValueError("MatMul: onnxruntime makes another op of it, which is not modelled")

    assert beside.compare(pair(X, unmodelled))[0] == "different"
    assert beside.compare(pair(X, unmodelled)._replace(unmodelled="not modelled"))[0] == "refused"
    assert beside.compare(pair(X, refuse)._replace(unmodelled="not modelled"))[0] == "different"


@pytest.mark.parametrize(("ours", "found"), [([5], "equal"), ([6], "known"), ([7], "different"), (refuse, "different")])
def test_what_is_known_to_differ_may_differ_so_far_and_no_further(ours, found):
    near = draws.Known("sums", lambda theirs, ours: abs(int(theirs[0][0]) - int(ours[0][0])) <= 1)
    both = pair(np.uint8([5]), np.uint8(ours) if ours is not refuse else refuse)
    assert beside.compare(both._replace(known=near))[0] == found


def test_other_data_are_within_the_limits_of_the_first():
    codes, reals = np.int8([-3, 5, 5]), np.float32([0.5, -2, 7])
    found = pair(X, X)._replace(fed={"a": codes, "b": reals}).feeds(200, np.random.default_rng(1))
    assert found[0]["a"] is codes
    assert {(x["a"].min(), x["a"].max()) for x in found if len({*x["a"]}) > 2} <= {
        (low, high) for low in range(-3, 6) for high in range(low, 6)
    }
    assert {*np.concatenate([x["a"] for x in found])} == {*range(-3, 6)}
    assert {*np.concatenate([abs(x["b"]) for x in found])} == {0.25, 0.5, 1, 2, 3.5, 4, 7, 14}


def test_the_first_of_several_calls_that_differs_is_shown():
    feeds = [{"x": np.uint8([i])} for i in range(4)]
    both = Pair(lambda given: [x["x"] for x in given], lambda given: [x["x"] % 2 for x in given], {}, fed=feeds[0])
    found, theirs, ours = beside.compare(both, feeds)
    assert (found, beside.compare(both, feeds[:2])[0]) == ("different", "equal")
    assert beside.difference(both, [feeds], theirs, ours).splitlines() == [
        "1 of 1 elements, at [0]: 2, 0",
        "    x = uint8[1] [2]",
        "    system: uint8[1] [2]",
        "    qops:   uint8[1] [0]",
    ]


SERVED = """
import os
import numpy as np


def double(x):
    print("a system may print")
    return [x * 2]


def refuse():
    raise KeyError("no kernel")


def die():
    os._exit(3)
"""


def test_a_system_in_another_process_gives_refuses_and_ends(tmp_path, monkeypatch):
    (tmp_path / "served.py").write_text(SERVED)
    monkeypatch.setattr(cpus, "command", lambda name: [sys.executable])
    monkeypatch.setattr(cpus, "environment", lambda name: {"PYTHONPATH": ":".join([str(tmp_path), *sys.path])})
    there = elsewhere.Emulated("a72")
    assert there.call("served", "double", X)[0].tolist() == [2, 4, 6]
    with pytest.raises(RuntimeError, match="KeyError: 'no kernel'"):
        there.call("served", "refuse")
    assert there.call("served", "double", X)[0].dtype == np.uint8
    with pytest.raises(SystemExit, match="ended, 3"):
        there.call("served", "die")


@pytest.mark.parametrize(
    ("flags", "column", "is_haswell"),
    [
        ("avx2 fma", "ort_avx2", True),
        ("avx2 avx_vnni", "ort", False),
        ("avx2 avx512f", "ort_avx2", False),
        ("sse4_2", "ort", False),
    ],
)
def test_a_cpu_is_known_by_its_flags(flags, column, is_haswell, monkeypatch):
    assert cpus.column("x86_64", flags) == column
    monkeypatch.setattr(cpus, "Path", lambda path: path_of(flags))
    monkeypatch.setattr(cpus.platform, "machine", lambda: "x86_64")
    assert [cpus.is_here(name) for name in ("haswell", "a72")] == [is_haswell, False]
    emulated = {} if is_haswell else {"QOPS_LIVE_CPU": "haswell"}
    assert cpus.variables("onnxruntime", "haswell") == emulated
    assert cpus.variables("tensorflow", "haswell") == (cpus.CAPPED if emulated else {})
    assert cpus.variables("tflm", "a72") is None
    assert cpus.variables("litert", "n1") == {"QOPS_LIVE_CPU": "n1"}
    assert cpus.variables("litert", "") == {}


def path_of(text):
    return type("Info", (), {"read_text": lambda self: text})()


def test_arm_with_and_without_dot_products():
    found = {name: cpus.column("aarch64", cpu.cpuinfo) for name, cpu in cpus.CPUS.items() if cpu.is_arm}
    assert found == {"a72": "ort_neon", "n1": "ort_arm", "i8mm": "ort_arm"}


SYSTEM = """
import os
import numpy as np
from draws import Known, Pair

VERSION, X = "1.0", np.uint8([1, 2, 3])


def good(rng):
    return Pair(lambda: X, lambda: X, {"x": X})


def bad(rng):
    theirs, ours = X, X + rng.integers(2, dtype=np.uint8)
    return Pair(lambda: os.abort() if rng.random() < 0.1 else theirs, lambda: ours, {"x": X})


def near(rng):
    return Pair(lambda: X, lambda: X + rng.integers(2, dtype=np.uint8), {"x": X}, known=Known("why", lambda x, y: True))


def undrawn(rng):
    raise KeyError("shape")


def many(rng):
    return Pair(lambda feeds: [x["x"] for x in feeds], lambda feeds: [x["x"] for x in feeds], {}, fed={"x": X})


OPS = {"Good": good, "Bad": bad, "Near": near, "Good too": good, "Undrawn": undrawn, "Many": many}
"""


@pytest.fixture
def system(tmp_path, monkeypatch):
    (tmp_path / "made_up_.py").write_text(SYSTEM)
    monkeypatch.syspath_prepend(tmp_path.parent)  # the first entry is the folder of the script that is run
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.path", [sys.path[0], *sys.path])
    return "made_up"


@pytest.mark.long
def test_the_table_counts_and_the_first_difference_is_shown(system, capsys):
    assert live.main(["--systems", "no_such_system", system, "--calls", "20", "--seed", "3", "--data", "7"]) == 1
    head, missing, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["system", "version", "op", *live.COLUMNS]
    assert missing == "without no_such_system: ModuleNotFoundError: No module named 'no_such_system_'"
    assert rows[0].split() == ["made_up", "1.0", "Good", "20", "0", "0", "0", "0"]
    equal, refused, ended, known, different = map(int, rows[1].split()[3:])
    assert (equal + ended + different, refused, known) == (20, 0, 0)
    assert min(equal, ended, different) > 0
    equal, _, _, known, different = map(int, rows[2].split()[3:])
    assert (equal + known, different, rows[3]) == (20, 0, "    known: why")
    assert min(equal, known) > 0
    assert rows[4].split() == ["made_up", "1.0", "Good", "too", "20", "0", "0", "0", "0"]
    assert rows[5].split() == ["made_up", "1.0", "Undrawn", "0", "0", "0", "0", "20"]
    assert rows[6].split() == ["made_up", "1.0", "Many", "140", "0", "0", "0", "0"]
    text = "\n".join(rows[7:])
    assert "made_up Bad, call " in text
    assert (
        "of seed 3: 3 of 3 elements, at [0]: 1, 2; [1]: 2, 3; [2]: 3, 4\n    x = uint8[3] [1 2 3]\n    system: " in text
    )
    assert text.endswith("call 0 of seed 3: cannot be drawn: KeyError('shape')\n\n2 ops differ")


@pytest.mark.long
def test_without_a_difference_it_is_content(system, capsys):
    assert live.main(["--systems", system, "--calls", "5", "--ops", "^Good"]) == 0
    assert capsys.readouterr().out.endswith("\n0 ops differ\n")


@pytest.mark.parametrize(("dtype", "kinds"), [("int8", 2), ("int16", 1)])
def test_a_graph_ends_with_codes_of_another_type(dtype, kinds):
    """TFLite Micro would read codes of int16 as int8, and qops refuses them."""

    def softmax(net):
        fixed = {"int8": (1 / 256, -128), "int16": (2.0**-16, -32768)}
        net.op("SOFTMAX", [net.x or net.input((2, 3), s=0.5, z=0)], net.tensor(dtype, *fixed[dtype]), Beta=1.0)

    drawn = tflite_draws.compared("tflm", [softmax] * 2, Net(np.random.default_rng(1), "tflm", "int8"))
    assert len([name for name in drawn.arguments if name.startswith("op ")]) == kinds
    assert drawn.qops([drawn.fed])[0].dtype == dtype


def test_a_pool_of_xnnpack_in_a_graph_keeps_the_scale_of_the_layer_that_it_may_be_fused_with():
    for kernel, differs in (("xnnpack", False), ("reference", True)):
        net = Net(np.random.default_rng(1), kernel, "int8")
        net.x = net.input((1, 9, 9, 2))
        net.results = [net.x]
        for _ in range(99):
            tflite_draws.DRAWN["MAX_POOL_2D"](net)
            net.x = net.results[0]
        assert (len({float(op.outputs[0].scale) for op in net.operators}) > 1) == differs


def test_the_file_says_the_shape_of_a_result_though_no_kernels_take_the_whole_graph():
    """Only XNNPACK takes the scale of the LOGISTIC, and all but XNNPACK that of the convolution, 512."""
    net = Net(np.random.default_rng(1), "xnnpack", "int8")
    net.op("LOGISTIC", [net.input((1, 4, 6, 4), s=0.5, z=0)], net.tensor("int8", 0.5, 127))
    net.shaped()
    weights, bias = net.constant(np.ones((8, 2, 1, 4), np.int8), 1024.0), net.constant(np.ones(8, np.int32), 512.0)
    moves = {"StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}
    net.op("CONV_2D", [net.x, weights, bias], net.tensor("int8", 1.0, 0), Padding=1, **moves)
    assert net.finished() == net.bytes({net.x.name: (1, 3, 6, 8)}) != net.bytes({})


def test_a_call_is_drawn_by_its_seed_op_and_number():
    def make(rng):
        drawn = draws.values(rng, 9, 0.5)
        return Pair(None, None, {"codes": draws.quantized(rng, 9, np.int8)}, fed={"x": drawn})

    assert repr(beside.drawn(make, "a", 1, 2, 3)) == repr(beside.drawn(make, "a", 1, 2, 3))
    assert len(beside.drawn(make, "a", 1, 2, 3)[1][0]) == 3
    others = [beside.drawn(make, *which) for which in (("b", 1, 2), ("a", 2, 2), ("a", 1, 3))]
    assert all(repr(other) != repr(beside.drawn(make, "a", 1, 2)) for other in others)


def test_values_hold_ties_and_their_neighbours():
    x = draws.values(np.random.default_rng(1), 1000, 0.25) / np.float32(0.125)
    assert 500 < (x % 2 == 1).sum() + (x % 2 == 0).sum() < 900
    assert ((x % 1 != 0) & (abs(x - np.rint(x)) < 1e-4)).sum() > 50
