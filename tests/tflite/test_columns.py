"""Versions and builds of TFLite Micro: what their columns rest on."""

import json
from pathlib import Path

import numpy as np
import pytest

from qops import tflite
from qops.tflite import arithmetic
from qops.tflite.kernels import _AS_TFLM

RULES = Path(__file__).parents[1] / "golden/rules"
UNIT = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 2.0**17, "y_zero_point": 0}


def cases(name, rule):
    with np.load(RULES / f"{name}.npz") as arrays:
        for case in json.loads((RULES / f"{name}.json").read_text()):
            if case["rule"] == rule:
                yield case, {key: arrays[at] for key, at in (case["inputs"] | case["outputs"]).items()}


def test_multipliers_round_once_as_the_function_of_a_build_with_single_rounding():
    seen = 0
    for case, given in cases("fixedpoint_single", "tflite-single"):
        by = given.get("multiplier", case["attrs"].get("multiplier")), case["attrs"]["shift"]
        assert arithmetic.scaled_once(given["acc"], by).tolist() == given["y"].tolist(), case["id"]
        seen += given["y"].size
    assert seen > 1000


@pytest.mark.parametrize("op", ["add", "mul"])
@pytest.mark.parametrize(("rule", "kernel"), [("tflite-single", "single_rounding"), ("tflite-double", "tflm")])
def test_add_and_mul_are_those_of_cmsis_nn(op, rule, kernel):
    seen = 0
    for case, given in cases(f"cmsis_{op}", f"{op}/{rule}"):
        how = {key.replace("_zp", "_zero_point"): value for key, value in case["attrs"].items() if key != "dtype"}
        got = getattr(tflite, op)(given["a"], given["b"], **how, kernel=kernel)
        assert got.tolist() == given["y"].tolist(), case["id"]
        seen += 1
    assert seen > 5


def test_single_rounding_differs_where_two_roundings_do():
    x, w = np.int8([[1], [2], [3], [-1], [-2], [-3]]), np.int8([[1]])
    how = {**UNIT, "y_scale": 4.0}
    got = [tflite.fully_connected(x, w, **how, kernel=k).ravel().tolist() for k in ("tflm", "single_rounding")]
    assert got == [[1, 1, 1, 0, -1, -1], [0, 1, 1, 0, 0, -1]]


def test_codes_of_16_bits_with_a_wide_bias_do_not_depend_on_the_build():
    x, w = np.int16([[7, -9], [32767, 3]]), np.int8([[3, 5], [-7, 127]])
    columns = ["tflm", *_AS_TFLM]
    got = [tflite.fully_connected(x, w, np.int64([5, -1]), **UNIT, kernel=kernel).tolist() for kernel in columns]
    assert got[0] == got[1] == got[2]


@pytest.mark.parametrize("kernel", ["tflm", "tflm_until_2026_06", "optimized"])
def test_sums_without_a_bias_wrapped_to_32_bits(kernel):
    """600 products of 32767 and 127 are 2496845400, which 32 bits hold as a negative number."""
    x, w = np.full((1, 600), 32767, np.int16), np.full((1, 600), 127, np.int8)
    total = 600 * 32767 * 127
    want = (total if kernel == "tflm" else total - 2**32) / 2**17
    assert tflite.fully_connected(x, w, **UNIT, kernel=kernel).item() == round(want)
    if kernel != "optimized":
        image = tflite.conv_2d(x.reshape(1, 1, 1, 600), w.reshape(1, 1, 1, 600), **UNIT, kernel=kernel)
        assert image.item() == round(want)
