"""States of TFLite files: variables, and the memories of SVDF and LSTM, from one call to the next."""

import numpy as np
import pytest
import streaming
import tflite_models
from tflite_models import SYSTEMS

from qops import models

WANTED = [[13, -2, 32], [-48, -30, -95], [-51, 29, -13], [69, -5, 111], [41, -128, -40], [-45, 14, 88]]
"""What LiteRT 2.3 (all three sets of kernels) and TFLite Micro gave for the file and the data of `streaming`."""


@pytest.mark.parametrize("runtime", SYSTEMS.values())
def test_variables_as_four_runtimes_keep_them(tmp_path, runtime):
    graph, steps = streaming.file(tmp_path / "s.tflite", runtime)
    session = graph.session()
    np.testing.assert_array_equal(session.state["memory"], streaming.START)
    got = [session(x)["y"].ravel().tolist() for x in steps]
    assert got == WANTED
    np.testing.assert_array_equal(session.state["memory"], steps[-3:, 0])
    session.reset()
    assert session(steps[0])["y"].ravel().tolist() == WANTED[0]
    assert graph.run(steps[1])["y"].ravel().tolist() != WANTED[1]  # each run starts anew
    assert graph.run(steps[0])["y"].ravel().tolist() == WANTED[0]


def test_a_session_goes_on_from_a_state(tmp_path):
    graph, steps = streaming.file(tmp_path / "s.tflite")
    first = graph.session()
    for x in steps[:3]:
        first(x)
    held = first.state
    second = graph.session(held)
    held["memory"][...] = 0  # a copy
    assert [second(x)["y"].ravel().tolist() for x in steps[3:]] == WANTED[3:]
    second.reset(first.state)
    kept = second(steps[3], keep="all")
    assert kept["y"].ravel().tolist() == WANTED[3]
    for array in kept.values():
        array[...] = 0  # what a caller does with results changes no state
    assert second(steps[4])["y"].ravel().tolist() == WANTED[4]
    second.reset()
    for array in second(steps[0].copy(), keep="all").values():
        array[...] = 0
    second.reset()
    assert second(steps[0])["y"].ravel().tolist() == WANTED[0]


def test_an_error_leaves_the_state(tmp_path):
    graph, steps = streaming.file(tmp_path / "s.tflite")
    session = graph.session()
    session(steps[0])
    before = session.state["memory"]
    with pytest.raises(ValueError, match=r"^x: "):
        session(steps[0][:, :1])
    for state, words in (
        ({"other": before}, r"^state: the graph has no 'other', only 'memory'$"),
        ({"memory": before.astype(np.int16)}, r"^state\['memory'\]: expected int8, got int16$"),
        ({"memory": before[:, :1]}, r"^state\['memory'\]: expected shape \(3, 2\), got \(3, 1\)$"),
        ([before], r"^state: expected a dict"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            session.reset(state)
    np.testing.assert_array_equal(session.state["memory"], before)


def test_variables_without_a_name_or_a_start_are_gaps(tmp_path):
    path = tmp_path / "s.tflite"
    for arguments, why in (({"start": False}, "no CALL_ONCE gives"), ({"name": b""}, "no VAR_HANDLE names")):
        path.write_bytes(streaming.model(**arguments))
        with pytest.raises(ValueError, match=why):
            models.load(path)
        graph = models.load(path, gaps=True)
        assert [op.kind for op in graph.gaps] == ["READ_VARIABLE", "ASSIGN_VARIABLE"]
        assert graph.run(np.int8([[1, 2]])) == {}


def steps_of(kind):
    found, arrays = tflite_models.cases(kind)
    return [(case, arrays) for case in found if "steps" in case]


@pytest.mark.parametrize("case", steps_of("SVDF"), ids=lambda one: one[0]["id"])
def test_all_steps_of_svdf(tmp_path, case):
    case, arrays = case
    file, _ = tflite_models.model(case, arrays)
    path = tmp_path / "m.tflite"
    path.write_bytes(file)
    for system in case["systems"]:
        session = models.load(path, runtime=SYSTEMS[system]).session()
        wanted = arrays[case.get(f"outputs{tflite_models.SUFFIXES[system]}", case["outputs"])["y"]]
        got = [session(x)["y"] for x in arrays[case["inputs"]["x"]]]
        np.testing.assert_array_equal(got, wanted, err_msg=system)


def test_two_calls_of_an_lstm_are_one_of_twice_as_many_steps(tmp_path):
    found, arrays = tflite_models.cases("UNIDIRECTIONAL_SEQUENCE_LSTM")
    path, tried = tmp_path / "m.tflite", set()
    for case in found:
        (x,) = tflite_models.model(case, arrays)[1].values()
        axis = 0 if case["attrs"].get("time_major") else 1
        for system in case["systems"]:
            path.write_bytes(tflite_models.model(case, arrays)[0])
            session = models.load(path, runtime=SYSTEMS[system]).session()
            first, second = session(x)["y"], session(x)["y"]
            (op,) = models.load(path, runtime=SYSTEMS[system]).ops
            whole = op.prepared(np.concatenate([x, x], axis)).y
            np.testing.assert_array_equal(np.concatenate([first, second], axis), whole)
            np.testing.assert_array_equal(first, tflite_models.wanted(case, arrays, system))
            tried.add(system)
    assert tried >= {"ref", "tflm"}
