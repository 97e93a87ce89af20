"""`qops.add_vectors`: pairs of codes that no other add and no mistake gets right, in the forms of the others."""

import json
import os
import shlex
import subprocess

import numpy as np
import pytest

import qops
from qops.__main__ import main
from qops.tools.vectors import formats
from qops.tools.vectors.add_forms import FORMS

RANGES = [
    ((-5.0, 3.0), (-1.0, 1.0), (-6.0, 4.0)),
    ((-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0)),
    ((0.0, 100.0), (0.0, 1.0), (0.0, 101.0)),
    ((-1.7, 3.1), (-0.3, 2.2), (-0.5, 2.0)),
]


def made(rule, a, b, ranges):
    x, y = (a, *ranges[0]), (b, *ranges[1])
    if rule == "frontdoor":
        return qops.quantized_add_8p8to8(x, y, range=ranges[2]).data
    return qops.nnlib.quantized_add_8p8to8(x, y, *ranges[2], form=rule.removeprefix("nnlib-")).data


@pytest.mark.parametrize("rule", FORMS)
@pytest.mark.parametrize("ranges", RANGES)
def test_they_are_what_the_op_gives_and_tell_the_others(rule, ranges):
    v = qops.add_vectors(rule, **dict(zip(("a_range", "b_range", "y_range"), ranges, strict=True)))
    assert 0 < v.a.size <= 256
    np.testing.assert_array_equal(made(rule, v.a, v.b, ranges), v.y)
    x, y = FORMS[rule].run(v.integers, v.a, v.b)
    assert (x.tolist(), y.tolist()) == (v.x.tolist(), v.y.tolist())
    assert not set(v.killed) & set(v.alike)
    every = np.arange(256, dtype=np.uint8)
    pairs = np.repeat(every, 256), np.tile(every, 256)
    for other in set(FORMS) - {rule}:
        same = np.array_equal(made(other, *pairs, ranges), made(rule, *pairs, ranges))
        assert other in (v.alike if same else v.killed)
        assert same or (made(other, v.a, v.b, ranges) != v.y).any()
    assert {"right_shift -1", "right_shift +1"} <= set(v.killed)


def test_mistakes_are_killed_or_change_nothing():
    ranges = dict(zip(("a_range", "b_range", "y_range"), RANGES[3], strict=True))
    assert {"ka -1", "ka +1", "offset +1"} <= set(qops.add_vectors("frontdoor", **ranges).killed)
    flat = qops.add_vectors("nnlib-flat", **ranges)
    assert {"ka +1", "kb -1", "no half", "not saturated", "first_shift -1"} <= set(flat.killed)
    spec = qops.add_vectors("nnlib-spec", **ranges)
    assert {"ialpha +1", "ikappa -1", "no first_half", "no half", "shifts toward zero"} <= set(spec.killed)


@pytest.mark.parametrize("rule", FORMS)
def test_the_c_compiles_without_a_warning_and_passes(tmp_path, capsys, rule):
    words = ["--a-range", "-5", "3", "--b-range", "-1", "1", "--y-range", "-6", "4", "-o", str(tmp_path)]
    assert main(["vectors", "add", "--rule", rule, *words]) == 0
    assert " pairs of codes tell it from " in capsys.readouterr().out
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, *flags, "-o", tmp_path / "test", tmp_path / "test_vectors.c"], check=True)
    done = subprocess.run([tmp_path / "test"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("0 of ")
    header = tmp_path / "vectors.h"
    header.write_text(header.read_text().replace("QOPS_OFFSET (", "QOPS_OFFSET (64 + "))
    subprocess.run([*compiler, "-o", tmp_path / "test", tmp_path / "test_vectors.c"], check=True)
    assert subprocess.run([tmp_path / "test"], capture_output=True).returncode == 1


def test_npz_and_json_hold_the_same(tmp_path):
    v = qops.add_vectors("frontdoor", a_range=(0.0, 2.0), b_range=(0.0, 1.0), y_range=(0.0, 3.0))
    for form in ("npz", "json"):
        formats.write(v, form, tmp_path)
    said = json.loads((tmp_path / "vectors.json").read_text())
    with np.load(tmp_path / "vectors.npz") as file:
        for name, values in v.columns.items():
            assert said[name] == file[name].tolist() == values.tolist()
    assert (said["ka"], said["y_max"], said["killed"]) == (v.integers["ka"], 3.0, v.killed)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rule": "d32"}, "^rule: expected one of.* got 'd32'"),
        ({"a_range": (1.0, 1.0)}, r"^a_range: \(1.0, 1.0\) is 0 wide"),
        ({"b_range": 1.0}, "^b_range: expected"),
        ({"y_range": (2.0, 1.0)}, "^y_range: min 2.0 > max 1.0"),
        ({"y_range": (0.0, 1e-5)}, "^y_range: .* is too narrow for the 16-bit loop"),
        ({"rule": "nnlib-spec", "b_range": (0.0, 9.0)}, "^b_range: .* nnlib exchanges such operands first"),
        ({"rule": "nnlib-spec", "a_range": (0.0, 900.0)}, "^a_range: .* copies a"),
    ],
)
def test_bad_input_is_named(changes, text):
    how = {"rule": "frontdoor", "a_range": (0.0, 2.0), "b_range": (0.0, 1.0), "y_range": (0.0, 3.0)}
    with pytest.raises((ValueError, TypeError), match=text):
        qops.add_vectors(**how | changes)
