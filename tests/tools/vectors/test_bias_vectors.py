"""`qops.vectors` of rules with a real bias: what is killed fails on the vectors, they are a dump, the C gives them."""

import os
import shlex
import subprocess

import numpy as np
import pytest

import qops
from qops import rules
from qops.__main__ import main
from qops.tools.vectors import formats

REAL = {"scales": (0.05, 0.0137, 0.021), "bias": 0.73}
OPENVINO = {"scales": (0.05, 0.0137, None), "range": (-1.3, 4.1), "dtype": "uint8"}
GIVEN = {rule: {"scales": REAL["scales"], "zero_point": 5} for rule in rules.REAL_BIAS}
GIVEN |= {rule: REAL | {"zero_point": 5} for rule in rules.REAL_BIAS if "bias" in rules.REAL_BIAS[rule].takes}
GIVEN |= dict.fromkeys(("ncnn", "ncnn-depthwise", "ncnn-requantize"), REAL)
GIVEN["mnn"] = {**REAL, "w_sums": 77, "x_zero_point": -7, "zero_point": 3}
GIVEN |= {rule: {**OPENVINO, "bias": 0.73} for rule in ("openvino", "openvino-one-channel")}
GIVEN["openvino-no-bias"] = OPENVINO


@pytest.mark.parametrize("rule", rules.REAL_BIAS)
def test_vectors_tell_a_rule_with_a_real_bias(rule, tmp_path):
    found = qops.vectors(rule, **GIVEN[rule])
    assert 5 <= found.acc.size <= 256
    assert np.array_equal(found.y, rules.requantize(found.acc, rule, **GIVEN[rule]))
    assert "fp32-away, the bias rounded to an integer" in found.killed or "bias" not in GIVEN[rule]
    if "bias" in GIVEN[rule]:
        assert {"bias left out", "bias added twice", "bias subtracted"} <= {*found.killed}
    for other in {*found.killed} & {*rules.REAL_BIAS}:
        how = {name: v for name, v in GIVEN[rule].items() if name != "zero_point" or rules.REAL_BIAS[other].zero_point}
        assert (rules.requantize(found.acc, other, **how) != found.y).any()
    for form in ("npz", "json"):
        formats.write(found, form, tmp_path)
        if rule != "openvino-one-channel":  # which is not tried on several channels, and this is one
            assert main(["explain", str(tmp_path / f"vectors.{form}")]) == 0, "the vectors are a dump, too"
    formats.write(found, "c", tmp_path)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    cc = [*shlex.split(os.environ.get("CC", "cc")), *flags, "-o", tmp_path / "test", tmp_path / "test_vectors.c", "-lm"]
    subprocess.run(cc, check=True)
    done = subprocess.run([tmp_path / "test"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("0 of ")


def test_numbers_that_do_not_belong_together_are_named():
    with pytest.raises(ValueError, match=r"^bias: expected none by fp32-even, which adds no real bias, got 0.5"):
        qops.vectors("fp32-even", scale=0.1, bias=0.5)
    with pytest.raises(ValueError, match=r"^bias: missing"):
        qops.vectors("ncnn", scales=(0.1, 0.1, 0.1))
    with pytest.raises(ValueError, match=r"^bias: expected the numbers of one channel"):
        qops.vectors("ncnn", scales=(0.1, 0.1, 0.1), bias=[0.1, 0.2])
    with pytest.raises(ValueError, match=r"^scale: ncnn adds a bias between its scales"):
        qops.vectors("ncnn", scale=0.1, bias=0.5)
