"""`qops.vectors`: few accumulators that tell a rule from all others and from every small mistake, in four forms."""

import json
import os
import shlex
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import qops
from qops import rules
from qops.__main__ import main
from qops.tools.vectors import formats

RULES = [r for r in rules.TABLE if r != "gemmlowp-legacy"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scale", [0.0033, 0.5, 1.0, 3.7])
def test_what_is_not_the_same_function_is_killed(rule, scale):
    v = qops.vectors(rule, scale=scale, zero_point=5)
    assert v.acc.size <= 256
    np.testing.assert_array_equal(v.y, rules.requantize(v.acc, rule, scale=scale, zero_point=5))
    assert not set(v.killed) & set(v.alike)
    others = {r for r in RULES if r != rule}
    assert others - set(v.killed) <= set(v.alike)
    for other in others & set(v.killed):
        assert (rules.requantize(v.acc, other, scale=scale, zero_point=5) != v.y).any()


@pytest.mark.long
def test_all_codes_of_16_bits_are_looked_at():
    scale, zero = 0.4100417756276758, 26926
    v = qops.vectors("fp32-away", scale=scale, zero_point=zero, dtype=np.uint16)
    x = np.arange(-70_000, 100_000, dtype=np.int32)
    made = {r: rules.requantize(x, r, scale=scale, zero_point=zero, dtype=np.uint16) for r in RULES}
    assert {r for r in RULES if not (made[r] != made["fp32-away"]).any()} >= set(v.alike) & set(RULES)
    assert {"fp32-even", "rndnu", "tflite-single"} <= set(v.killed)


def test_ties_ends_and_the_extremes_are_among_them():
    v = qops.vectors("tflite-double", scale=0.375, zero_point=5)
    rest = np.abs(v.acc * 0.375) % 1
    assert ((rest == 0.5) & (v.acc > 0)).any()
    assert ((rest == 0.5) & (v.acc < 0)).any()
    assert {v.y.min(), v.y.max()} == {-128, 127}
    assert {-(2**31), 2**31 - 1} <= set(v.acc.tolist())
    assert {
        "no saturation",
        "zero point of the wrong sign",
        "rest rounded floor",
        "clamped before the zero point",
    } <= set(v.killed)


def test_the_c_compiles_without_a_warning_and_passes(tmp_path, capsys):
    assert (
        main(["vectors", "requantize", "--rule", "tflite-double", "--scale", "0.0033", "-o", str(tmp_path / "c")]) == 0
    )
    assert " accumulators tell it from " in capsys.readouterr().out
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    program = tmp_path / "c" / "test"
    subprocess.run(
        [*shlex.split(os.environ.get("CC", "cc")), *flags, "-o", program, tmp_path / "c/test_vectors.c", "-lm"],
        check=True,
    )
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("0 of ")


def test_integers_of_a_port_stand_for_the_scale(tmp_path):
    given = rules.integers("tflite-int64acc", 0.0033)
    found = qops.vectors("tflite-int64acc", integers=given, zero_point=3)
    want = rules.requantize(found.acc, "tflite-int64acc", integers=given, zero_point=3, dtype="int8")
    assert (found.integers, found.y.tolist()) == (given, want.tolist())
    assert found.scale == given.multiplier / 2**given.right_shift
    words = ["--rule", "tflite-int64acc", "--zero-point", "3", "--integers", *map(str, given), "--format", "json"]
    assert main(["vectors", "requantize", *words, "-o", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "vectors.json").read_text())["acc"] == found.acc.tolist()


@pytest.mark.parametrize("rule", ["rndnu", "tflite-double", "tflite-single"])
@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ((2**31 - 1, 62), {"multiplier -1", "right shift -1"}),
        ((2**30, 61), {"multiplier -1", "multiplier +1", "right shift -1", "right shift +1"}),
        ((2**30, 0), {"multiplier -1", "multiplier +1", "right shift +1"}),
    ],
)
def test_mistakes_are_integers_that_a_rule_can_have(rule, given, steps):
    found = qops.vectors(rule, integers=given)
    assert {name for name in (*found.killed, *found.alike) if name.startswith(("multiplier", "right shift"))} == steps


def test_hex_npz_and_json_hold_the_same(tmp_path):
    v = qops.vectors("fp32-even", scale=0.01, zero_point=-3, qmin=-100, qmax=90)
    numbers = ["--scale", "0.01", "--zero-point", "-3", "--qmin", "-100", "--qmax", "90"]
    for form in ("hex", "npz", "json"):
        words = ["--rule", "fp32-even", *numbers, "--format", form, "-o", str(tmp_path)]
        assert main(["vectors", "requantize", *words]) == 0
    facts, *words = (tmp_path / "acc.hex").read_text().splitlines()
    assert facts == "// kind requantize, rule fp32-even, dtype int8, scale 0.01, zero_point -3, qmin -100, qmax 90"
    assert [int(w, 16) - (int(w[0], 16) >= 8) * 2**32 for w in words] == v.acc.tolist()
    words = (tmp_path / "y.hex").read_text().splitlines()[1:]
    assert [int(w, 16) - (int(w[0], 16) >= 8) * 2**8 for w in words] == v.y.tolist()
    assert json.loads((tmp_path / "vectors.json").read_text())["acc"] == v.acc.tolist()
    for form in ("npz", "json"):
        assert main(["explain", str(tmp_path / f"vectors.{form}")]) == 0, "the vectors are a dump, too"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rule": "x"}, "^rule: expected one of.* got 'x'"),
        ({"rule": "gemmlowp-legacy"}, "^rule: gemmlowp-legacy takes no scale"),
        ({"scale": 0.0}, "^scale: 0.0 is not above 0"),
        ({"scale": None}, "^scale, integers: expected one of them"),
        ({"integers": (3, 4)}, "^scale, integers: expected one of them"),
        ({"scale": None, "integers": (0, 4)}, "^integers: 0 is not above 0"),
        ({"scale": None, "integers": ([3, 5], [4, 4])}, "^integers: expected one multiplier"),
        ({"dtype": np.int32}, "^dtype: expected codes of 8 or 16 bits"),
        ({"zero_point": 128}, "^zero_point: expected an integer in"),
        ({"rule": "rndnu", "scale": 2.0**-60}, "^scale: .* out of the range of rndnu"),
    ],
)
def test_bad_input_is_named(changes, text):
    with pytest.raises((ValueError, TypeError), match=text):
        qops.vectors(**{"rule": "fp32-even", "scale": 0.1} | changes)


@pytest.mark.parametrize("low", ["-1e-3", "-1.", "-.5", "-0.25"])
def test_negative_numbers_are_no_options(tmp_path, low):
    ranges = ["--a-range", low, "1", "--b-range", "0", "1", "--y-range", low, "2"]
    assert main(["vectors", "add", "--rule", "frontdoor", *ranges, "-o", str(tmp_path)]) == 0
    words = ["--rule", "fp32-even", "--scale", "0.5", "--zero-point", "-7", "-o", str(tmp_path)]
    assert main(["vectors", "requantize", *words]) == 0


def test_a_folder_that_cannot_be_made_is_named(tmp_path, capsys):
    (tmp_path / "file").touch()
    words = ["--rule", "fp32-even", "--scale", "0.5", "-o", str(tmp_path / "file")]
    assert main(["vectors", "requantize", *words]) == 2
    with pytest.raises(FileExistsError) as refused:  # systems have their own words
        (tmp_path / "file").mkdir()
    assert capsys.readouterr().err == f"qops: {tmp_path / 'file'}: {refused.value.strerror}\n"


def test_a_rule_without_c_writes_nothing(tmp_path):
    found = replace(qops.vectors("tosa-inexact", scale=0.0033), rule="of-my-own")
    with pytest.raises(KeyError, match="of-my-own"):
        formats.write(found, "c", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_rule_is_printed_as_c(capsys):
    assert main(["emit", "tflite-double"]) == 0
    assert capsys.readouterr().out == rules.emit("tflite-double")
