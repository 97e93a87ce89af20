"""`qops.pool_vectors`: what is killed fails on the windows, they are a dump, the C gives their codes."""

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

ALONE = [rule for rule in rules.AVERAGE_POOL if not rule.startswith("torch-nhwc")]
RESCALES = [rule for rule in ALONE if rules.AVERAGE_POOL[rule].rescales]
KEPT = {"kernel": (2, 3), "zero_point": 5, "x_scale": 0.25}
RESCALED = {"kernel": (2, 2), "zero_point": 101, "x_scale": 0.25, "y_scale": 0.375, "y_zero_point": 17}


def pooled(v, rule, given, dtype):
    kernel = given["kernel"]
    return rules.average_pool(v.x.astype(dtype), rule, **given, stride=kernel)


@pytest.mark.parametrize(
    ("rule", "given", "dtype"), [(r, KEPT, "int8") for r in ALONE] + [(r, RESCALED, "uint8") for r in RESCALES]
)
def test_windows_tell_a_pool_from_all_others(rule, given, dtype, tmp_path):
    found = qops.pool_vectors(rule, **given, dtype=dtype)
    assert 8 <= found.y.size <= 256
    assert found.x.shape == (1, found.y.size * given["kernel"][0], given["kernel"][1], 1)
    assert np.array_equal(found.y, pooled(found, rule, given, dtype))
    others = [other for other in found.killed if other in rules.AVERAGE_POOL]
    assert len(others) >= (1 if given is RESCALED else 6)
    for other in others:
        assert (pooled(found, other, given, dtype) != found.y).any(), other
    for form in ("npz", "json"):
        formats.write(found, form, tmp_path)
        assert main(["explain", str(tmp_path / f"vectors.{form}")]) == 0, "the vectors are a dump, too"
    formats.write(found, "c", tmp_path)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    cc = [*shlex.split(os.environ.get("CC", "cc")), *flags, "-o", tmp_path / "test", tmp_path / "test_vectors.c", "-lm"]
    subprocess.run(cc, check=True)
    done = subprocess.run([tmp_path / "test"], capture_output=True, text=True, check=True)
    assert done.stdout == f"0 of {found.y.size} differ\n"


def test_every_mistake_of_a_port_is_found_by_some_kernel():
    """A mistake that no window shows would be one that vectors cannot find; the names say what was tried."""
    small = qops.pool_vectors("away", kernel=(2, 3), zero_point=5)
    large = qops.pool_vectors("away", kernel=(16, 16), zero_point=5, dtype="uint8")
    clamped = qops.pool_vectors("away", kernel=(2, 3), zero_point=5, qmin=5)
    killed = {*small.killed, *large.killed, *clamped.killed}
    assert {"zero point left out", "zero point of the wrong sign", "bytes of int8 read as uint8"} <= killed
    assert {"one tap too many in the count", "one tap too few in the count", "means of rows rounded first"} <= killed
    assert {"divided by the next power of two", "not clamped", "sum wraps in 16 bits"} <= killed
    assert "reciprocal of 16 bits" in killed
    rescaled = qops.pool_vectors("ort", **RESCALED, dtype="uint8")
    assert "scale and zero point of the windows kept" in rescaled.killed


def test_what_no_window_told_apart_is_the_same_on_many_windows():
    found = qops.pool_vectors("torch-nchw", **KEPT, dtype="int8")
    image = np.random.default_rng(3).integers(-128, 128, (1, 400, 400, 1)).astype(np.int8)
    want = rules.average_pool(image, "torch-nchw", **KEPT)
    alike = {*found.alike} & {*rules.AVERAGE_POOL}
    assert alike
    for other in alike:
        assert np.array_equal(rules.average_pool(image, other, **KEPT), want), other


def test_codes_of_16_bits_have_vectors():
    found = qops.pool_vectors("away-stored", kernel=(2, 2), dtype="int16")
    assert found.x.dtype == found.y.dtype == np.int16
    assert "floor" in found.killed
    told = qops.explain(found.x, found.y, kind="average_pool", kernel=(2, 2), stride=2, zero_point=0)
    assert told.exact == ["away-stored"]


def test_the_command_writes_windows(tmp_path, capsys):
    words = ["--rule", "ort", "--kernel", "2", "2", "--zero-point", "101", "--dtype", "uint8", "--x-scale", "0.25"]
    words += ["--y-scale", "0.375", "--y-zero-point", "17", "-o", str(tmp_path)]
    assert main(["vectors", "average_pool", *words, "--format", "json"]) == 0
    assert " windows tell it from " in capsys.readouterr().out
    wrote = json.loads((tmp_path / "vectors.json").read_text())
    v = qops.pool_vectors("ort", **RESCALED, dtype="uint8")
    assert wrote["x"] == v.x.tolist()
    assert (wrote["kernel"], wrote["y_scale"], wrote["y_zero_point"]) == ([2, 2], 0.375, 17)
    assert main(["vectors", "average_pool", *words, "--format", "hex"]) == 0
    assert [int(w, 16) for w in (tmp_path / "x.hex").read_text().splitlines()[1:]] == v.x.reshape(-1).tolist()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rule": "x"}, "^rule: expected one of.* got 'x'"),
        ({"rule": "torch-nhwc"}, "^rule: torch-nhwc computes blocks of 16 .* make vectors of these two"),
        ({"kernel": (0, 2)}, "^kernel: "),
        ({"kernel": 2}, "^kernel: "),
        ({"zero_point": 128}, "^zero_point: "),
        ({"x_scale": 0.0}, "^x_scale: "),
        ({"y_scale": 0.5}, "^y_scale, y_zero_point: away keeps those of x"),
        ({"dtype": "int16"}, "^dtype: "),
        ({"qmin": 5, "qmax": 3}, "^qmax: "),
        ({"stride": 2}, "stride"),
    ],
)
def test_bad_input_is_named(changes, text):
    with pytest.raises((ValueError, TypeError), match=text):
        qops.pool_vectors(**{"rule": "away", "kernel": (2, 2)} | changes)
