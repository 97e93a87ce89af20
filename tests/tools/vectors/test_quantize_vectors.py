"""`qops.quantize_vectors`: what is killed fails on the values, they are a dump, the C gives them."""

import json
import os
import shlex
import subprocess

import numpy as np
import pytest

import qops
from qops import rules
from qops.__main__ import main
from qops.tools.vectors import formats

ALONE = [rule for rule, row in rules.QUANTIZE.items() if not row.width]
GIVEN = {"scale": 0.07, "zero_point": 3, "dtype": "int8"}


def given(rule):
    return {"range": (-1.3, 4.1), "dtype": "uint8"} if rule == "openvino" else GIVEN


@pytest.mark.parametrize("rule", ALONE)
def test_values_tell_a_quantizer_from_all_others(rule, tmp_path):
    found = qops.quantize_vectors(rule, **given(rule))
    assert 5 <= found.x.size <= 256
    assert found.x.dtype == np.float32
    assert np.array_equal(found.y, rules.quantize(found.x, rule, **given(rule)))
    others = [other for other in found.killed if other in rules.QUANTIZE]
    assert len(others) > 25
    if rule != "openvino":
        for other in others:
            assert (rules.quantize(found.x, other, **GIVEN) != found.y).any(), other
        assert {"zero point left out", "zero point of the wrong sign", "zero point +1"} <= {*found.killed}
        assert {"scale of 127 steps for 127.5", "scale of 255 steps for 256"} <= {*found.killed}
    for form in ("npz", "json"):
        formats.write(found, form, tmp_path)
        if rule != "double-div-away":  # which `explain` takes for the tail of another rule alone
            assert main(["explain", str(tmp_path / f"vectors.{form}")]) == 0, "the vectors are a dump, too"
    formats.write(found, "c", tmp_path)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    cc = [*shlex.split(os.environ.get("CC", "cc")), *flags, "-o", tmp_path / "test", tmp_path / "test_vectors.c", "-lm"]
    subprocess.run(cc, check=True)
    done = subprocess.run([tmp_path / "test"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("0 of ")


def test_what_no_value_told_apart_is_the_same_on_many_values():
    """Truncation after the division and after the product with the reciprocal, and a power of two for the scale."""
    found = qops.quantize_vectors("div-even", scale=0.25, zero_point=3)
    x = (np.random.default_rng(1).normal(size=200_000) * 20).astype(np.float32)
    want = rules.quantize(x, "div-even", scale=0.25, zero_point=3, dtype="int8")
    assert "inv-even" in found.alike
    for other in {*found.alike} & {*rules.QUANTIZE}:
        assert np.array_equal(rules.quantize(x, other, scale=0.25, zero_point=3, dtype="int8"), want), other


def test_the_command_writes_values_and_their_bits(tmp_path, capsys):
    words = ["--rule", "inv-even", "--scale", "0.07", "--zero-point", "-3", "--format", "hex", "-o", str(tmp_path)]
    assert main(["vectors", "quantize", *words]) == 0
    assert " values tell it from " in capsys.readouterr().out
    v = qops.quantize_vectors("inv-even", scale=0.07, zero_point=-3)
    bits = [int(word, 16) for word in (tmp_path / "x.hex").read_text().splitlines()[1:]]
    assert np.uint32(bits).view(np.float32).tolist() == v.x.tolist()
    words = ["--rule", "openvino", "--range", "-1", "2", "--dtype", "uint8", "--format", "json", "-o", str(tmp_path)]
    assert main(["vectors", "quantize", *words]) == 0
    assert json.loads((tmp_path / "vectors.json").read_text())["rmin"] == -1
    words = ["--rule", "ncnn", "--scales", "0.05", "0.0137", "0.021", "--bias", "0.73", "-o", str(tmp_path)]
    assert main(["vectors", "requantize", *words]) == 0
    words = ["--rule", "openvino-no-bias", "--scales", "0.05", "0.02", "--range", "-1", "2", "--dtype", "uint8"]
    assert main(["vectors", "requantize", *words, "-o", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rule": "x"}, "^rule: expected one of.* got 'x'"),
        (
            {"rule": "tflite-opt"},
            "^rule: tflite-opt computes whole blocks of 8 .* double-div-away does; make vectors of",
        ),
        ({"scale": 0.0}, "^scale: "),
        ({"scale": [0.1, 0.2]}, "^scale: "),
        ({"scale": None}, "^scale: "),
        ({"range": (0.0, 1.0)}, "^range: "),
        ({"dtype": np.int32}, "^dtype: "),
        ({"zero_point": 128}, "^zero_point: "),
        ({"qmin": 5, "qmax": 3}, "^qmax: "),
        ({"steps": 5}, "steps"),
    ],
)
def test_bad_input_is_named(changes, text):
    with pytest.raises((ValueError, TypeError), match=text):
        qops.quantize_vectors(**{"rule": "div-even", "scale": 0.1} | changes)
