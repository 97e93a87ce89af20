"""Dumps: read with the names that golden/rules has, and refused where a number or a name cannot be."""

import errno
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from adaptors.rules import row
from npz import read_npz

import qops
from qops import rules
from qops.__main__ import main

GOLDEN = Path(__file__).parents[2] / "golden" / "rules"
PAIR = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 100, "y_scale": 0.7, "y_zero_point": 30}
CODES = np.uint8([1, 2, 3])
arrays_of = cache(read_npz)
KINDS = ("requantize", "add", "mul", "quantize", "average_pool")


def kind_of(case: dict) -> str:
    """The kind that the name of a rule of the sets begins with; that of accumulators has none."""
    first = case["rule"].split("/")[0].removesuffix("-rescale") if "/" in case["rule"] else "requantize"
    return {"avgpool": "average_pool"}.get(first, first)


def respelt(names: dict) -> dict:
    """Names of the sets as dumps spell them."""
    return {re.sub("^([abxy])_zp$", r"\1_zero_point", name): value for name, value in names.items()}


def golden() -> Iterator[tuple[str, dict]]:
    """One case of each rule of each file; without those that are given integers in the place of scales, or no rule."""
    for path in sorted(GOLDEN.glob("*.json")):
        for rule, case in {case["rule"]: case for case in json.loads(path.read_text())}.items():
            names = case["attrs"].keys() | case["inputs"].keys()
            has_scales = names & {"scale", "out_scale", "y_scale", "kernel", "a_over_y"}
            if kind_of(case) in KINDS and has_scales and "y" in case["outputs"]:
                yield f"{path.stem} {rule}", case


CASES = dict(golden())


def test_golden_vectors_are_dumps():
    assert {kind_of(case) for case in CASES.values()} == set(KINDS)
    assert {"torch_add add/torch-qnnpack", "xnnpack_qnnpack_add_shim add/qnnpack"} <= CASES.keys()
    assert {"litert_requantize requantize/half-up-double", "ort_quantizelinear quantize/div-even"} <= CASES.keys()
    assert len(CASES) > 60


@pytest.mark.parametrize("name", CASES)
def test_the_rule_of_golden_vectors_is_named(tmp_path, capsys, name):
    case = CASES[name]
    arrays = arrays_of(GOLDEN / f"{name.split()[0]}.npz")
    parts = {key: arrays[value] for key, value in {**case["inputs"], **case["outputs"]}.items()}
    said = {"kind": kind_of(case), "id": case["id"], "system": case["system"], **respelt(case["attrs"])}
    np.savez(tmp_path / "dump.npz", **said, **parts)
    typed = {"dtype": str(parts["y"].dtype)} | said
    lists = {key: value.tolist() for key, value in parts.items()}
    (tmp_path / "dump.json").write_text(json.dumps(typed | lists))
    for file in ("dump.npz", "dump.json"):
        assert main(["explain", str(tmp_path / file), "--json"]) == 0
        names = {case["rule"].rpartition("/")[2], row({**case["attrs"], **case})}  # the first without a tail
        assert names & {*json.loads(capsys.readouterr().out)["exact"]}


@pytest.mark.parametrize("one", [[0.375], (0.375,), np.array([0.375]), np.array(0.375)])
def test_an_array_of_one_number_is_a_number(one):
    x = np.arange(-90, 90, 7, dtype=np.int32)
    y = qops.rules.requantize(x, "rndnu", scale=0.375, zero_point=3)
    assert "rndnu" in qops.explain(x, y, scale=one, zero_point=np.array([3])).exact
    assert "rndnu" in qops.explain(x, y, in_scale=1.0, w_scale=one, out_scale=[1.0], zero_point=[3]).exact


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"a_zero_point": 300}, "^a_zero_point: 300 is no code of y, uint8"),
        ({"y_zero_point": -1}, "^y_zero_point: -1 is no code of y, uint8"),
        ({"y_zp": 30}, "^y_zp: is spelt y_zero_point"),
        ({"kind": "avgpool"}, "^kind: 'avgpool' is spelt 'average_pool'"),
        ({"y": np.int8([1, 2, 3])}, "^y: expected uint8 codes as x, got int8"),
        ({"b": np.int8([1, 2, 3])}, "^b: expected uint8 codes as x, got int8"),
        ({"x": np.int32([1, 2, 3]), "kind": "mul"}, "^x: expected int8 or uint8 or int16 codes, got int32"),
    ],
)
def test_what_cannot_be_is_refused(changes, text):
    how = {"x": CODES, "y": CODES, "b": CODES, "kind": "add", **PAIR} | changes
    with pytest.raises((ValueError, TypeError), match=text):
        qops.explain(how.pop("x"), how.pop("y"), **how)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ({"kind": "add", "b": CODES}, "^a_scale: missing, add cannot be explained without it"),
        ({"kind": "average_pool", "kernel": (1, 1)}, "^zero_point: missing, average_pool cannot"),
        (
            {"kind": "average_pool", "kernel": (1, 1), "zero_point": 0, "y_scale": 1.0},
            "^x_scale: missing, a pool that rescales has x_scale, y_scale and y_zero_point",
        ),
        ({"kind": "average_pool", "kernel": (1, 1), "zero_point": 0, "padding": "full"}, "^padding: "),
        ({"kind": "average_pool", "kernel": (1, 1), "zero_point": 0, "stride": 0}, "^stride: "),
        ({"kind": "average_pool", "kernel": (1, 1), "zero_point": 0, "count_padding": 2}, "^count_padding: "),
        ({"scale": ["a", "b"], "zero_point": 0}, "^scale: expected numbers, got <U1"),
        ({"scale": [0.5, -0.5], "zero_point": 0}, r"^scale: expected finite numbers, not negative, got \[0.5, -0.5\]"),
        ({"scale": np.ones((2, 2)), "zero_point": 0}, r"^scale: expected one number, .* got shape \(2, 2\)"),
        ({"in_scale": 0.0, "w_scale": 1.0, "out_scale": 1.0, "zero_point": 0}, "^in_scale: expected a number above 0"),
    ],
)
def test_numbers_that_cannot_be_are_refused(numbers, text):
    x = CODES if "kind" in numbers else CODES.astype(np.int32)
    with pytest.raises((ValueError, TypeError), match=text):
        qops.explain(x, CODES, **numbers)


@pytest.mark.parametrize(
    ("y", "ends", "text"),
    [(CODES, (3.0, 2.5), "^rmin: 3.0 is above rmax, 2.5"), (CODES.astype(np.uint16), (0.0, 1.0), "^y: rmin and rmax")],
)
def test_a_range_that_cannot_be_is_refused(y, ends, text):
    with pytest.raises((ValueError, TypeError), match=text):
        qops.explain(np.float32([1, 2, 3]), y, kind="quantize", rmin=ends[0], rmax=ends[1])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"y": [300, 7]}, "y: int8 does not hold its values"),
        ({"y": [0.5, 7]}, "y: int8 does not hold its values"),
        ({"dtype": "float32"}, "dtype: expected one of u8"),
        ({"kind": "conv"}, "kind: expected one of requantize"),
        ({"scale": "a"}, "scale: "),
        ({"acc": [[1], [2, 3]]}, "acc: "),
        ({"axis": 5, "scale": [0.5, 0.5]}, "axis: "),
        ({"kind": None, "acc": None, "a": [1]}, "kind: missing in dump.json, one of requantize"),
        ({"scale": 0}, "scale: expected a number above 0, got 0"),
        ({"y": None}, "y: missing in dump.json, a dump of requantize"),
        ({"dtype": None}, "y: expected codes of int8, uint8, int16, uint16 or int32, got int64; np.array(y, "),
        ({"scael": 0.5}, "scael: requantize has no such number"),
        ({"kind": "requantize", "y_zero_point": 3}, "y_zero_point: requantize has no such number"),
        ({"kind": "quantize", "acc": None, "x": [0.5], "y": [1], "x_zero_point": 3}, "x_zero_point: quantize has no"),
        ({"a_zp": 0}, "a_zp: is spelt a_zero_point"),
        ({"kind": None, "acc": None, "x": [1], "x_zp": 3}, "x_zp: is spelt x_zero_point"),
        ({"kind": "avgpool"}, "kind: 'avgpool' is spelt 'average_pool'"),
    ],
)
def test_odd_files_are_refused(tmp_path, capsys, changes, text):
    dump = tmp_path / "dump.json"
    parts = {"kind": "requantize", "acc": [1, 2], "y": [100, 7], "dtype": "s8", "scale": 0.5, "zero_point": 0} | changes
    dump.write_text(json.dumps({name: value for name, value in parts.items() if value is not None}))
    assert main(["explain", str(dump)]) == 2
    assert f"qops: {text}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("dump.npy", b"", "dump.npy: expected an .npz or a .json file"),
        ("dump.npz", b"acc = 1, 2, 3", "dump.npz: not a zip archive"),
        ("dump.npz", b"", "dump.npz: not a zip archive"),
        ("dump.json", b'{"acc": [1, 2', "dump.json: Expecting"),
        ("dump.json", b"[1, 2]", "dump.json: expected one object, got list"),
        ("dump.json", b"\xff\xfe", "dump.json: 'utf-8' codec"),
    ],
)
def test_a_file_that_is_no_dump_is_named(name, content, said, tmp_path, capsys):
    (tmp_path / name).write_bytes(content)
    assert main(["explain", str(tmp_path / name)]) == 2
    assert said in capsys.readouterr().err


def test_a_damaged_archive_is_named(tmp_path, capsys):
    np.savez_compressed(tmp_path / "dump.npz", acc=np.arange(100), y=np.zeros(100, np.int8), scale=0.5, zero_point=0)
    content = (tmp_path / "dump.npz").read_bytes()
    (tmp_path / "dump.npz").write_bytes(content[:60] + b"\xff" * 20 + content[80:])
    assert main(["explain", str(tmp_path / "dump.npz")]) == 2
    assert "dump.npz: Error -3 while decompressing" in capsys.readouterr().err


def test_a_zero_point_that_is_no_code_is_refused():
    with pytest.raises(ValueError, match=r"zero_point: 300 is no code of y, int8"):
        qops.explain(np.int32([1]), np.int8([1]), scale=0.5, zero_point=300)


@pytest.mark.long
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nobody_reads_what_is_printed(unbuffered, tmp_path):
    np.savez(tmp_path / "dump.npz", acc=CODES.astype(np.int32), y=CODES.astype(np.int8), scale=1.0, zero_point=0)
    words = [sys.executable, "-m", "qops", "explain", str(tmp_path / "dump.npz"), "--html"]
    assert run_without_reader(words, unbuffered) == 141


@pytest.mark.long
def test_nobody_reads_the_help():
    assert run_without_reader([sys.executable, "-m", "qops", "--help"], unbuffered="") == 141


def run_without_reader(words: list[str], unbuffered: str) -> int:
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run:
        run.stdout.close()
        assert run.stderr.read() == ""
    return run.returncode


class WindowsPipe(io.FileIO):
    """What is written to a pipe that nobody reads fails as on Windows."""

    def write(self, data):
        try:
            return super().write(data)
        except BrokenPipeError:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL)) from None


@pytest.mark.parametrize("words", [["emit", "q31"], ["vectors", "requantize", "--help"]])
def test_nobody_reads_what_is_printed_on_windows(words, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with io.TextIOWrapper(io.BufferedWriter(WindowsPipe(write, "w"))) as stdout:  # its end writes what is left: nowhere
        monkeypatch.setattr(sys, "stdout", stdout)
        assert main(words) == 141


def test_products_of_16_bits_are_explained(rng):
    a, b = rng.integers(-32768, 32768, (2, 500)).astype(np.int16)
    zeros = {f"{name}_zero_point": 0 for name in "aby"}
    numbers = {"a_scale": 0.01, "b_scale": 0.002, "y_scale": 0.5, **zeros}
    y = rules.mul(a, b, "tflite-double", **numbers)
    assert "tflite-double" in qops.explain(a, y, kind="mul", b=b, **numbers).exact


@pytest.mark.parametrize("numbers", [{}, {"zero_point": 7}])
def test_a_file_with_the_arguments_of_the_function_by_name_says_the_same(tmp_path, capsys, numbers):
    acc = np.arange(-500, 500, 7, dtype=np.int32)
    arguments = {"x": acc, "y": qops.rules.requantize(acc, "rndnu", scale=0.375, **numbers), "scale": 0.375, **numbers}
    np.savez(tmp_path / "dump.npz", **arguments)
    assert main(["explain", str(tmp_path / "dump.npz")]) == 0
    assert capsys.readouterr().out == f"{qops.explain(**arguments)}\n"
    pair = {"x": CODES, "b": CODES, "y": CODES, "kind": "add", **PAIR}
    np.savez(tmp_path / "dump.npz", **pair)
    assert main(["explain", str(tmp_path / "dump.npz")]) == 1
    assert capsys.readouterr().out == f"{qops.explain(**pair)}\n"
