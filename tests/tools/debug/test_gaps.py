"""`debug` on graphs with gaps, and on dumps of several steps."""

import json

import numpy as np
import pytest
import streaming
from onnx_networks import Network

import qops
from qops import models
from qops.__main__ import main
from qops.models import Operator, Tensor, tflite_bytes


def codes(name, dtype="int8"):
    scale = None if dtype == "int32" else np.float32(0.1)
    return Tensor(name, (1, 4), dtype, scale, None if scale is None else np.int64(-3))


X = np.int8([[-100, -3, 5, 90]])


@pytest.fixture
def net(tmp_path):
    """x, RELU, a gap, RELU6, a gap that reads this and the first gap, and a RELU behind that; with a device's dump."""
    x, a, b, c, d, y = (codes(name) for name in "xabcdy")
    ops = [
        Operator("RELU", [x], [a], {}, []),
        Operator("CUMSUM", [a], [b], {}, []),
        Operator("RELU6", [b], [c], {}, []),
        Operator("SCATTER_ND", [c, b], [d], {}, []),
        Operator("RELU", [d], [y], {}, []),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(tflite_bytes([x, a, b, c, d, y], ops, [x], [y]))
    graph = models.load(path, gaps=True)
    dump = graph.run(X, keep="all", given={"b": np.int8([[100, -128, 4, 7]]), "d": np.int8([[-5, 0, 99, 1]])})
    return path, dump


def test_a_walk_goes_on_behind_gaps(net):
    path, dump = net
    found = qops.debug(path, device=dump)
    assert [row.unchecked for row in found.layers] == [
        None,
        "not checked: CUMSUM",
        None,
        "not checked: SCATTER_ND",
        None,
    ]
    assert [row.differ for row in found.layers] == [0, None, 0, None, 0]
    assert [row.lsb is None for row in found.layers] == [False, True, False, True, False]
    assert not found.differs
    text = str(found)
    assert "cumsum      CUMSUM      not checked: CUMSUM\n" in text
    assert "not checked: CUMSUM: qops has no such operator" in text
    assert text.endswith("every integer of the model that was checked; 2 layers were not checked")
    page = found.page()
    assert "<td>not checked: CUMSUM</td>" in page
    assert "Not checked: CUMSUM: qops has no such operator." in page
    assert page.count("2. cumsum, CUMSUM: not checked") == 2  # the label of its box
    assert "2 layers were not checked</h1>" in page


def test_a_gap_of_complex_numbers_is_walked_around(tmp_path):
    """As the spectrum in front of a network of sounds: nothing takes its numbers for real ones."""
    x, m = (Tensor(name, (1, 4), "float32") for name in "xm")
    spectrum, q, y = Tensor("f", (1, 4), "complex64"), codes("q"), codes("y")
    ops = [
        Operator("RFFT2D", [x], [spectrum], {}, []),
        Operator("COMPLEX_ABS", [spectrum], [m], {}, []),
        Operator("QUANTIZE", [m], [q], {}, []),
        Operator("RELU", [q], [y], {}, []),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(tflite_bytes([x, spectrum, m, q, y], ops, [x], [y]))
    f = np.complex64([[3 + 4j, 1j, -2, 0]])
    dump = {"x": np.float32([[1, 2, 3, 4]]), "f": f, "m": np.abs(f)}
    graph = models.load(path, gaps=True)
    dump |= graph.run(dump["x"], keep="all", given={"f": f, "m": dump["m"]})
    found = qops.debug(path, device=dump)
    assert [row.unchecked for row in found.layers] == ["not checked: RFFT2D", "not checked: COMPLEX_ABS", None, None]
    assert dump["q"].tolist() == [[47, 7, 17, -3]]
    assert not found.differs


def test_what_differs_behind_a_gap_is_found(net):
    path, dump = net
    wrong = {**dump, "y": dump["y"] ^ 1}
    found = qops.debug(path, device=wrong)
    assert (found.first.layer, found.first.output) == ("relu_1", "y")
    assert "gap" not in found.first.cause


def test_behind_a_gap_that_is_not_dumped_nothing_is_checked(net):
    path, dump = net
    for left_out, unchecked in (("b", [1, 2, 3]), ("d", [1, 3, 4])):
        rows = qops.debug(path, device={name: x for name, x in dump.items() if name != left_out}).layers
        assert [i for i, row in enumerate(rows) if row.unchecked] == unchecked
    rows = qops.debug(path, device={"x": dump["x"], "a": dump["a"]}).layers
    assert rows[2].unchecked == "not checked: what it reads is a gap's, and not in the dump"
    assert [i for i, row in enumerate(rows) if row.unchecked] == [1, 2, 3, 4]
    rows = qops.debug(path).layers  # without a device
    assert [i for i, row in enumerate(rows) if row.unchecked] == [1, 2, 3, 4]


def test_the_command_line(net, tmp_path, capsys):
    path, dump = net
    np.savez(tmp_path / "dump.npz", **dump)
    assert main(["debug", str(path), "--device", str(tmp_path / "dump.npz"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["layers"]
    assert [row["unchecked"] for row in rows][1] == "not checked: CUMSUM"


def test_gaps_of_onnx(tmp_path):
    net = Network()
    x = net.input([1, 4])
    top, places = net.node("TopK", net.node("Relu", x), net.constant(np.int64([2])), results=2)
    y = net.node("Neg", top)
    path = tmp_path / "m.onnx"
    path.write_bytes(net.model(y, places).SerializeToString())
    dump = {x: np.float32([[1, -2, 3, 0]]), top: np.float32([3, 1]), places: np.int64([2, 0]), y: np.float32([-3, -1])}
    found = qops.debug(path, device=dump)
    assert [row.differ for row in found.layers] == [None, None, 0]
    assert [row.unchecked for row in found.layers] == [None, "not checked: TopK", None]
    found = qops.debug(path, device={**dump, y: np.float32([-3, -7])})
    assert found.first.output == y


def test_constants_of_a_port_with_gaps(net):
    found = qops.params(net[0])
    assert [layer.gap for layer in found.layers][:2] == ["", "qops has no such operator"]
    assert "cumsum      CUMSUM: a gap, qops has no such operator\n" in str(found)
    assert "no C: qops has no such operator" in found.header()
    assert found.as_dict()["layers"][1]["gap"] == "qops has no such operator"


@pytest.fixture
def steps(tmp_path):
    path = tmp_path / "s.tflite"
    graph, data = streaming.file(path)
    session = graph.session()
    return path, data, [session(x, keep="all") for x in data]


def test_dumps_of_steps_without_a_fault(steps):
    path, data, dumps = steps
    found = qops.debug(path, device=dumps)
    assert not found.differs
    assert found.notes[0] == "step 5, counted from 0, of 6: the last; no step differs"
    assert not qops.debug(path, list(data), device=dumps).differs
    assert [row.op for row in found.layers] == [  # a row each but for what has no result
        *("READ_VARIABLE", "CONCATENATION", "STRIDED_SLICE", "RESHAPE", "FULLY_CONNECTED"),
    ]


def test_the_first_step_that_differs_is_told(steps):
    path, _, dumps = steps
    dumps[2] = {**dumps[2], "y": dumps[2]["y"] ^ 1}
    found = qops.debug(path, device=dumps)
    assert (found.first.layer, found.first.output) == ("fully_connected", "y")
    assert found.notes[0] == "step 2, counted from 0, of 6: the first that differs"


def test_a_variable_that_was_not_kept(steps):
    path, _, dumps = steps
    held = {**dumps[3], "held": dumps[2]["held"]}
    found = qops.debug(path, device=[*dumps[:3], held])
    assert (found.first.layer, found.first.output) == ("read_variable", "held")
    assert found.first.cause == (
        "the variable 'memory' does not hold what the device wrote in the step before, or its first value"
    )
    found = qops.debug(path, device=dumps[1])  # one dump, of a later step
    assert found.first.layer == "read_variable"
    assert found.notes[-1] == "the model keeps states: the dump is taken for that of the first step"


def test_steps_in_files(steps, tmp_path, capsys):
    path, _, dumps = steps
    files = [str(tmp_path / f"{i}.npz") for i in range(len(dumps))]
    for file, dump in zip(files, dumps, strict=True):
        np.savez(file, **dump)
    assert main(["debug", str(path), "--device", *files]) == 0
    assert "step 5, counted from 0, of 6" in capsys.readouterr().out
    assert main(["debug", str(path), "--device", files[0], files[2]]) == 1
    assert "first: read_variable" in capsys.readouterr().out


def test_steps_that_do_not_fit_are_refused(steps):
    path, data, dumps = steps
    with pytest.raises(ValueError, match=r"^device: expected a dump for each step"):
        qops.debug(path, device=[])
    with pytest.raises(ValueError, match=r"^data: expected a list of 6, one for each dump"):
        qops.debug(path, data[0], device=dumps)


def test_a_float_model_keeps_its_states_from_step_to_step(steps):
    path, _, dumps = steps

    def near(**how):
        found = qops.debug(path, **how)
        return {row.output: (row.lsb, row.sqnr) for row in found.layers}

    kept = near(device=dumps, float_model=path)
    assert kept == near(device=dumps)
    assert kept["held"][0] <= 0.5
    assert near(device=dumps[-1:], float_model=path)["held"][0] > 2, "the memory of a first step"


def test_what_the_dump_has_of_a_type_without_arrays_is_left_alone(tmp_path):
    x, a, y = codes("x"), Tensor("a", (1, 4), "variant"), codes("y")
    ops = [Operator("CAST", [x], [a], {}, []), Operator("CUMSUM", [a], [y], {}, [])]
    path = tmp_path / "m.tflite"
    path.write_bytes(tflite_bytes([x, a, y], ops, [x], [y]))
    found = qops.debug(path, device={"x": X, "a": np.zeros(4, np.uint16), "y": X})
    assert [row.unchecked for row in found.layers] == ["not checked: CAST", "not checked: CUMSUM"]


def float16_weights(path):
    """x, and two weights of float16 that DEQUANTIZE makes wider: y = (x + w) + b, where b is 0."""
    x, wide, bias, s, y = (Tensor(name, (1, 4), "float32") for name in ("x", "wide", "bias", "s", "y"))
    w = Tensor("w", (1, 4), "float16", data=np.float16([[1, -2, 0.5, 3]]))
    b = Tensor("b", (1, 4), "float16", data=np.zeros((1, 4), np.float16))
    ops = [
        Operator("DEQUANTIZE", [w], [wide], {}, []),
        Operator("DEQUANTIZE", [b], [bias], {}, []),
        Operator("ADD", [x, wide], [s], {}, []),
        Operator("ADD", [s, bias], [y], {}, []),
    ]
    path.write_bytes(tflite_bytes([x, w, b, wide, bias, s, y], ops, [x], [y]))
    return path


@pytest.mark.parametrize("memory", [[0, 0, 0, 0], [7, np.nan, -1e30, 3]])
def test_weights_that_a_runtime_never_wrote_are_no_fault(tmp_path, memory):
    path = float16_weights(tmp_path / "m.tflite")
    dump = models.load(path).run(np.float32([[1, 2, 3, 4]]), keep="all")
    folded = {**dump, "wide": np.float32([memory])}
    found = qops.debug(path, device=folded)
    assert [row.differ for row in found.layers] == [None, 0, 0, 0]
    assert not found.differs
    assert "1 results of constants alone, the first 'wide', are other numbers in the dump" in str(found)
    assert "never written" not in str(qops.debug(path, device=dump))
    found = qops.debug(path, device={**dump, "bias": np.float32([[0, 5, 0, 0]])})
    assert [row.differ for row in found.layers] == [0, None, 0, 0]


def test_weights_that_a_device_wrote_otherwise_are_a_fault(tmp_path):
    path = float16_weights(tmp_path / "m.tflite")
    dump = models.load(path).run(np.float32([[1, 2, 3, 4]]), keep="all")
    found = qops.debug(path, device={**dump, "wide": np.float32([[1, -2, 0.25, 3]])})
    assert found.first.layer == "dequantize"
