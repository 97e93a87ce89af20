"""`qops.rules.emit`: the C compiles without a warning and gives the kernels' codes, without undefined behaviour."""

import ctypes
import os
import shlex
import subprocess
from functools import cache

import numpy as np
import pytest

from qops import rules
from qops._kernels.machine import tiers
from qops.rules.c_binary import OPS
from qops.tools.explain.probes import boundaries

MANY = int(os.environ.get("QOPS_EXHAUSTIVE", "0"))  # accumulators a rule and scale, besides those of every run
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=fast", "-shared", "-fPIC"]
FLAGS += ["-mfma"] if "avx2" in tiers.available() else []
SCALES = {2.0**-12: 5, 0.0033: 5, 0.5: 5, 1.0: 5, 3.7: 5, 0.1: 100}
"""Scales, and the zero point for each. 0.1 times -1005 is a tie in float32, but not if it is fused with the sum."""

F32 = np.float32
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
        x, w = one / (one / three[0]), three[1] if "conv" in rule else one / (one / three[1])
        return [*((one, x * w) if rule.endswith("amx") else (x, w)), one / three[2]], {"scales": three.tolist()}
    if rules.TABLE[rule].multiplier.startswith("float"):
        return [scale], {"scale": scale}
    if rule == "gemmlowp-legacy":
        given = round(scale * 2**14), 14
        return list(given), {"integers": given}
    return list(rules.integers(rule, scale)), {"scale": scale}


@cache
def anywhere(bits, scale):
    """Accumulators of so many bits, small ones as well: the same for each rule."""
    rng = np.random.default_rng([bits, [*SCALES].index(scale)])
    return rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), 300_000) >> rng.integers(0, bits - 8, 300_000)


@pytest.mark.parametrize("rule", rules.TABLE)
def test_c_gives_the_codes_of_the_kernels(rng, rule, tmp_path):
    run, bits = compiled(rule, tmp_path), 48 if rule in OF_48_BITS else 32
    for scale, zero in SCALES.items():
        x = np.concatenate([boundaries(scale, -128, 127, zero), anywhere(bits, scale)])
        numbers, how = numbers_of(rule, scale)
        given = round(F32(zero) / F32(scale)) if rule == "nnlib-supernode" else zero
        y = np.empty(x.shape, np.int32)
        run(x, y, x.size, *numbers, given, -128, 127)
        np.testing.assert_array_equal(y, rules.requantize(x, rule, **how, zero_point=zero), err_msg=f"scale {scale}")
        for start in range(0, MANY, 1 << 22):
            x = rng.integers(-(2**31), 2**31, 1 << 22) >> int(rng.integers(0, 20))
            y = np.empty(x.shape, np.int32)
            run(x, y, x.size, *numbers, given, -128, 127)
            same = y == rules.requantize(x, rule, **how, zero_point=zero)
            assert same.all(), f"scale {scale}, from {start} on: {x[~same][:3]}"


@pytest.mark.parametrize("rule", [5.0, np.ones(2), ["rndnu"], None])
def test_a_rule_that_is_no_name_is_named(rule):
    with pytest.raises((TypeError, ValueError), match=r"^rule: "):
        rules.emit(rule)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"^lang: expected one of c, got 'rust'"):
        rules.emit("rndnu", lang="rust")
    with pytest.raises(ValueError, match=r"^rule: expected one of.* got 'x'"):
        rules.emit("x")


SCALES_OF = {"a_scale": 0.031, "a_zero_point": 5, "b_scale": 0.02, "b_zero_point": -7, "y_scale": 0.043}


def pairs_of(op, rule):
    """The numbers that the C of a sum or a product takes, with their types; whether it takes whole codes."""
    made = {"add": rules.Add, "mul": rules.Mul}[op](rule, **SCALES_OF, y_zero_point=3, dtype="int8")
    int32, real = ctypes.c_int32, ctypes.c_float
    a, b, y = (F32(SCALES_OF.get(f"{x}_scale")) for x in "aby")
    if op == "mul":
        is_float = rule in ("fp32-even", "ort-x86")
        return [(real, a * b / y)] if is_float else [(int32, number) for number in made.integers], False
    if rule == "ort-x86":
        inner = F32(np.float64(a / y) * 5 + np.float64(b / y * F32(-7)))
        return [(real, a / y), (real, b / y), (real, F32(3) - inner)], True
    if rule[:6] == "tflite":
        return [(int32, 20), *((int32, number) for step in made.integers for number in step)], False
    first, second, last = made.integers
    return [(int32, first.multiplier), (int32, second.multiplier), (int32, last.right_shift)], False


@pytest.mark.parametrize(("op", "rule"), [(op, rule) for op in ("add", "mul") for rule in OPS[op]])
def test_c_of_pairs_gives_the_codes_of_the_kernels(op, rule, tmp_path):
    """On all pairs of codes of int8."""
    if rule == "powers-of-two":  # no row of rules: `qops.tflite` has it
        assert "add_powers_of_two" in rules.emit(rule, op="add")
        return
    numbers, takes_codes = pairs_of(op, rule)
    kinds = {ctypes.c_int32: "int32_t", ctypes.c_float: "float"}
    names = ", ".join(f"{kinds[kind]} n{i}" for i, (kind, _) in enumerate(numbers))
    passed = ", ".join(f"n{i}" for i in range(len(numbers))) + ("" if takes_codes else ", 3")
    less = ("a", "b") if takes_codes else ("a - 5", "b + 7")
    loop = f"""
void run(int32_t *y, {names})
{{
    for (int a = -128; a < 128; a++)
        for (int b = -128; b < 128; b++)
            *y++ = {op}_{rule.replace("-", "_")}({less[0]}, {less[1]}, {passed}, -128, 127);
}}
"""
    (tmp_path / "rule.c").write_text(rules.emit(rule, op=op) + loop)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    library = tmp_path / "rule.so"
    subprocess.run([*compiler, *FLAGS, "-o", str(library), str(tmp_path / "rule.c"), "-lm"], check=True)
    run, got = ctypes.CDLL(str(library)).run, np.empty((256, 256), np.int32)
    run.argtypes = [np.ctypeslib.ndpointer(np.int32), *(kind for kind, _ in numbers)]
    run(got, *(number if kind is ctypes.c_int32 else float(number) for kind, number in numbers))
    a, b = np.meshgrid(*[np.arange(-128, 128).astype(np.int8)] * 2, indexing="ij")
    want = getattr(rules, op)(a.copy(), b.copy(), rule, **SCALES_OF, y_zero_point=3)
    np.testing.assert_array_equal(got, want)


REAL = {"scales": (0.05, 0.0137, 0.021), "bias": 0.73}
OPENVINO = {"scales": (0.05, 0.0137, None), "range": (-1.3, 4.1), "dtype": "uint8"}
BIASED = {
    **dict.fromkeys(("ncnn", "ncnn-depthwise", "ncnn-requantize"), REAL),
    "mnn": {**REAL, "w_sums": 77, "x_zero_point": -7, "zero_point": 3},
    **{key: {**OPENVINO, "bias": 0.73} for key in ("openvino", "openvino-one-channel")},
    "openvino-no-bias": OPENVINO,
    "torch-fbgemm-bias": REAL | {"zero_point": 3},
    "torch-onednn-groups": {"scales": REAL["scales"], "zero_point": 3},
    "cadence": {"scales": REAL["scales"], "zero_point": 3},
    **{f"onednn-{version}": REAL | {"zero_point": 3} for version in ("2.6", "3.2", "3.13")},
    **{f"onednn-{version}-no-bias": {"scales": REAL["scales"], "zero_point": 3} for version in ("2.6", "3.2", "3.13")},
}


@pytest.mark.parametrize("rule", rules.REAL_BIAS)
def test_c_of_rules_with_a_real_bias_gives_the_codes(rule, tmp_path):
    op = rules.Requantize(rule, **BIASED[rule])
    numbers = [number.item() for number in map(np.asarray, op.floats)] + (
        [3] if rule in ("cadence", "torch-fbgemm-bias") else []
    )
    kinds = ["int32_t" if isinstance(number, int) else "float" for number in numbers]
    passed = ", ".join(["x[i]", *(f"n{i}" for i in range(len(kinds))), *map(str, op.ends)])
    loop = f"""
void run(const int32_t *x, int32_t *y, int64_t n, {", ".join(f"{kind} n{i}" for i, kind in enumerate(kinds))})
{{
    for (int64_t i = 0; i < n; i++)
        y[i] = {rule.replace("-", "_").replace(".", "_")}({passed});
}}
"""
    (tmp_path / "rule.c").write_text(rules.emit(rule) + loop)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    library = tmp_path / "rule.so"
    subprocess.run([*compiler, *FLAGS, "-o", str(library), str(tmp_path / "rule.c"), "-lm"], check=True)
    run, x = ctypes.CDLL(str(library)).run, np.arange(-30_000, 30_000, dtype=np.int32)
    got, array = np.empty(x.shape, np.int32), np.ctypeslib.ndpointer(np.int32)
    run.argtypes = [array, array, ctypes.c_int64, *(getattr(ctypes, f"c_{kind.removesuffix('_t')}") for kind in kinds)]
    run(x, got, x.size, *numbers)
    np.testing.assert_array_equal(got, op(x))
    assert len(np.unique(got)) > 250


def test_ops_and_rules_that_are_not_known():
    with pytest.raises(ValueError, match=r"^rule: expected one of .*ort-global, torch-qnnpack, got 'x'"):
        rules.emit("x", op="average_pool")
    with pytest.raises(ValueError, match=r"^op: expected one of .*average_pool, quantize, got 'div'"):
        rules.emit("xnnpack", op="div")
