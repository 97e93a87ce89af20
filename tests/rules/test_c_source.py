"""`qops.rules.emit`: the C compiles without a warning and gives the kernels' codes, without undefined behaviour."""

import ctypes
import os
import shlex
import subprocess

import numpy as np
import pytest

from qops import rules
from qops._kernels.machine import tiers
from qops.tools.probes import boundaries

MANY = int(os.environ.get("QOPS_EXHAUSTIVE", "0"))  # accumulators a rule and scale, besides those of every run
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=fast", "-shared", "-fPIC"]
FLAGS += ["-mfma"] if "avx2" in tiers.available() else []
SCALES = {2.0**-12: 5, 0.0033: 5, 0.5: 5, 1.0: 5, 3.7: 5, 0.1: 100}
"""Scales, and the zero point for each. 0.1 times -1005 is a tie in float32, but not if it is fused with the sum."""

OF_48_BITS = ("tflite-int64acc", "cmsis-s64")


def compiled(rule, folder):
    """The function, over an array."""
    name, is_float = rule.replace("-", "_"), rules.TABLE[rule].multiplier.startswith("float")
    number = "double scale" if is_float else "int32_t multiplier, int right_shift"
    passed = "scale" if is_float else "multiplier, right_shift"
    if rules.TABLE[rule].is_stepwise:
        number, passed = "double before, double scale, double after", "before, scale, after"
    loop = f"""
void run(const int64_t *x, int32_t *y, int64_t n, {number}, int32_t zero_point, int32_t lo, int32_t hi)
{{
    for (int64_t i = 0; i < n; i++)
        y[i] = {name}(x[i], {passed}, zero_point, lo, hi);
}}
"""
    source, library = folder / "rule.c", folder / "rule.so"
    source.write_text(rules.emit(rule) + loop)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, *FLAGS, "-o", str(library), str(source), "-lm"], check=True)
    run = ctypes.CDLL(str(library)).run
    sums, codes = (np.ctypeslib.ndpointer(t, flags="C") for t in (np.int64, np.int32))
    numbers = [ctypes.c_double] * number.count("double") or [ctypes.c_int32, ctypes.c_int]
    run.argtypes = [sums, codes, ctypes.c_int64, *numbers, *[ctypes.c_int32] * 3]
    return run


def numbers_of(rule, scale):
    """What the C takes, and what `requantize` does."""
    if rules.TABLE[rule].is_stepwise:
        one, three = np.float32(1), np.float32([0.37, scale, 0.37])
        w = three[1] if rule == "torch-onednn-conv" else one / (one / three[1])
        return [one / (one / three[0]), w, one / three[2]], {"scales": three.tolist()}
    if rules.TABLE[rule].multiplier.startswith("float"):
        return [scale], {"scale": scale}
    if rule == "gemmlowp-legacy":
        given = round(scale * 2**14), 14
        return list(given), {"integers": given}
    return list(rules.integers(rule, scale)), {"scale": scale}


@pytest.mark.parametrize("rule", rules.TABLE)
def test_c_gives_the_codes_of_the_kernels(rng, rule, tmp_path):
    run, bits = compiled(rule, tmp_path), 48 if rule in OF_48_BITS else 32
    for scale, zero in SCALES.items():
        anywhere = rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), 300_000) >> rng.integers(0, bits - 8, 300_000)
        x = np.concatenate([boundaries(scale, -128, 127, zero), anywhere])
        numbers, how = numbers_of(rule, scale)
        y = np.empty(x.shape, np.int32)
        run(x, y, x.size, *numbers, zero, -128, 127)
        np.testing.assert_array_equal(y, rules.requantize(x, rule, **how, zero_point=zero), err_msg=f"scale {scale}")
        for start in range(0, MANY, 1 << 22):
            x = rng.integers(-(2**31), 2**31, 1 << 22) >> int(rng.integers(0, 20))
            y = np.empty(x.shape, np.int32)
            run(x, y, x.size, *numbers, zero, -128, 127)
            same = y == rules.requantize(x, rule, **how, zero_point=zero)
            assert same.all(), f"scale {scale}, from {start} on: {x[~same][:3]}"


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"^lang: expected one of c, got 'rust'"):
        rules.emit("rndnu", lang="rust")
    with pytest.raises(ValueError, match=r"^rule: expected one of.* got 'x'"):
        rules.emit("x")
