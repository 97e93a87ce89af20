"""Assertions for test suites: what passes, and what the message of a failure says."""

import subprocess
import sys

import numpy as np
import pytest

import qops
from qops.testing import assert_codes, assert_within


def message(call):
    with pytest.raises(AssertionError) as info:
        call()
    return str(info.value)


def test_equal_codes_of_any_type_pass():
    for wanted in (np.int8([-128, 127]), np.uint64([2**64 - 1, 0]), [1, 2], np.empty((0, 3), np.int32), 5):
        assert_codes(wanted, wanted)
    assert_codes(np.int8([1, 2]), np.int64([1, 2]))
    assert_codes(np.uint8([3, 250]), np.uint8([4, 249]), off_by=1)


def test_a_failure_says_how_many_how_far_and_where():
    wanted = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
    got = wanted.copy()
    got[:, :, 2] += np.arange(1, 13, dtype=np.uint8).reshape(3, 4)
    said = message(lambda: assert_codes(got, wanted)).split("\n")
    assert said[0] == "12 of 60 codes differ, 20 %; 12 is the most"
    assert said[1] == "worst at (2, 3, 2): got 69, wanted 57"
    assert said[2].startswith("first: (0, 0, 2) 3 for 2, (0, 1, 2) 9 for 7, ")
    assert said[2].count(" for ") == 10
    assert said[3:] == ["where: only index 2 of axis 2, and all of it"]
    said = message(lambda: assert_codes(got, wanted, off_by=10)).split("\n")
    assert said[0] == "2 of 60 codes differ by more than 10, 3.33 %; 12 is the most"
    assert "for 2," not in said[2]


def test_differences_of_the_widest_integers_are_exact():
    said = message(lambda: assert_codes(np.uint64([2**64 - 1]), np.uint64([0])))
    assert said.startswith(f"1 of 1 codes differ, 100 %; {2**64 - 1} is the most")
    said = message(lambda: assert_codes(np.int32([2**31 - 1]), np.int32([-(2**31)])))
    assert f"{2**32 - 1} is the most" in said


def test_the_rule_of_wrong_codes_is_named():
    acc = np.arange(-200, 200, dtype=np.int32)
    got, wanted = (qops.rules.requantize(acc, rule, scale=0.25) for rule in ("rndnu", "fp32-even"))
    said = message(lambda: assert_codes(got, wanted, rule={"x": acc, "scale": 0.25})).split("\n")
    assert said[-3].startswith("rule of what it got: ")
    assert "rndnu" in said[-3]
    assert said[-2].startswith("rule of what is wanted: fp32-even, ")
    assert said[-2].endswith(" more")
    assert said[-1] == "the two rules differ here in ties only"
    got[::7] ^= 1
    assert "rule of what it got: no known one" in message(
        lambda: assert_codes(got, wanted, rule={"x": acc, "scale": 0.25})
    )


def test_a_tensor_within_its_bound_passes_and_beyond_it_says_where():
    x = np.linspace(-1, 1, 101)
    t = qops.quantize(x)
    assert_within(t, x, op="quantize")
    assert_within(tuple(t), x, lsb=0.51)
    wrong = x.copy()
    wrong[90:] += 3 * (t.max - t.min) / 255
    said = message(lambda: assert_within(t, wrong, op="quantize")).split("\n")
    assert said[0].startswith(
        f"11 of 101 elements are more than {qops.bound('quantize'):g} LSB off, the bound of quant"
    )
    assert " LSB too low" in said[1]
    assert said[-1] == "where: only elements 90 to 100, the last 11, and all of it"
    assert "the bound" not in message(lambda: assert_within(t, wrong, lsb=1)).split("\n")[0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: assert_codes([0.5], [1]),
            TypeError,
            "got: expected integers, got float64; qops.testing.assert_within",
        ),
        (lambda: assert_codes([1], [0.5]), TypeError, "wanted: expected integers"),
        (lambda: assert_codes([1], [1], off_by=-1), ValueError, "off_by: "),
        (lambda: assert_codes([1], [1, 2]), AssertionError, r"got has shape \(1,\), wanted \(2,\)"),
        (lambda: assert_within(qops.quantize([1.0]), [1.0]), ValueError, "op, lsb: give one of them"),
        (lambda: assert_within(qops.quantize([1.0]), [1.0], op="add", lsb=1), ValueError, "op, lsb: give one of them"),
        (lambda: assert_within(qops.quantize([1.0]), [1.0], op="nothing"), ValueError, "op: expected one of"),
        (lambda: assert_within(qops.quantize([1.0]), [1.0], lsb="much"), TypeError, "lsb: "),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.long
def test_it_needs_no_pytest_and_pytest_shows_the_line_that_called(tmp_path):
    run = "import sys, qops.testing; qops.testing.assert_codes([1], [1]); assert 'pytest' not in sys.modules"
    subprocess.run([sys.executable, "-c", run], check=True)
    test = tmp_path / "test_port.py"
    test.write_text("from qops.testing import assert_codes\n\n\ndef test_port():\n    assert_codes([1, 2], [1, 3])\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(test)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "E       AssertionError: 1 of 2 codes differ, 50 %; 1 is the most" in done.stdout
    assert ">   " in done.stdout.partition("assert_codes([1, 2], [1, 3])")[0].rpartition("\n")[2]
    assert "raise AssertionError" not in done.stdout
