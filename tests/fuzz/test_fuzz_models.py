"""A short run of `make fuzzmodels`, and that it finds what it looks for."""

import fuzz_models
import pytest

FILES = 400


@pytest.mark.long
def test_a_short_run_finds_nothing(capsys):
    found = [*fuzz_models.verdicts(7, 0, FILES)]
    assert fuzz_models.report(found, 7) == 0, capsys.readouterr().out
    assert [one["number"] for one in found] == [*range(FILES)]
    outcomes = [(one["name"], one["outcome"]) for one in found]
    assert {*outcomes} == {(name, what) for name in (".onnx", ".tflite") for what in ("read", "refused")}
    assert {one["kind"] for one in found} == {how.__name__ for row in fuzz_models.HOW.values() for how in row}


def test_a_file_is_drawn_by_its_seed_and_number():
    assert fuzz_models.drawn(3, 5) == fuzz_models.drawn(3, 5)
    assert fuzz_models.drawn(3, 5) != fuzz_models.drawn(4, 5)


@pytest.mark.parametrize(
    ("error", "wrong"),
    [
        (IndexError("list index out of range"), "IndexError: list index out of range"),
        (MemoryError(), "MemoryError: "),
        (ValueError("no name of a file"), "the error does not name the file: no name of a file"),
    ],
)
def test_other_errors_are_failures(monkeypatch, tmp_path, error, wrong):
    from qops import models

    def fails(path, runtime, gaps):
        raise error

    monkeypatch.setattr(models, "load", fails)
    assert fuzz_models.judged(1, 1, tmp_path)["wrong"] == wrong


def test_the_first_failure_of_each_kind_is_shown(capsys):
    one = {"name": ".onnx", "kind": "cut", "outcome": "read", "wrong": "IndexError: 1", "number": 3}
    assert fuzz_models.report([one, {**one, "number": 5}], 9) == 1
    text = capsys.readouterr().out
    assert "2 times, alone: make fuzzmodels SEED=9 FILE=3" in text
    assert "2 files, 2 failures of 1 kinds" in text
