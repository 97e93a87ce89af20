"""`qops.rules.emit` of quantizers and of means: the C compiles without a warning and gives the codes of the rules."""

import ctypes
import os
import shlex
import subprocess

import numpy as np
import pytest

from qops import rules
from qops._kernels.machine import tiers
from qops.rules.c_pools import WHY_NO_POOL_C

F32 = np.float32
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=fast", "-shared", "-fPIC"]
FLAGS += ["-mfma"] if "avx2" in tiers.available() else []
BLOCKS = [rule for rule, row in rules.QUANTIZE.items() if row.width]
CALLS = [(0.25, 5, "int8"), (0.1, -100, "int8"), (0.3, 128, "uint8"), (0.0071, -3000, "int16")]
ENDS = (-1.3, 4.1)


def compiled(text, loop, folder, kinds):
    """The function `run` of a text of C, over arrays: what it reads, what it writes, how many, and numbers."""
    (folder / "rule.c").write_text(text + loop)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    library = folder / "rule.so"
    subprocess.run([*compiler, *FLAGS, "-o", str(library), str(folder / "rule.c"), "-lm"], check=True)
    run = ctypes.CDLL(str(library)).run
    run.argtypes = [*(np.ctypeslib.ndpointer(t, flags="C") for t in kinds[0]), ctypes.c_int64, *kinds[1]]
    return run


def values(scale, zero_point, dtype):
    """Ties and what is beside them, around every code and beyond; anything; what int32 and int64 do not hold."""
    info = np.iinfo(dtype)
    steps = np.arange(max(info.min - zero_point, -3000) - 4, min(info.max - zero_point, 3000) + 4, 0.5)
    ties = (steps * scale).astype(F32)
    draw = np.random.default_rng(5)
    any_ = (draw.normal(size=20_000) * scale * (info.max - info.min)).astype(F32)
    far = F32([2.0**e * s for e in (20, 24, 30, 31, 32, 33, 62, 63, 64, 100) for s in (scale, -scale)])
    beside = [np.nextafter(v, F32(s * np.inf)) for v in (ties, far) for s in (1, -1)]
    return np.concatenate([ties, any_, far, *beside, F32([0, -0.0, np.inf, -np.inf])])


@pytest.mark.parametrize("rule", [rule for rule in rules.QUANTIZE if rule not in BLOCKS])
def test_c_of_quantizers_gives_the_codes(rule, tmp_path):
    row, is_double = rules.QUANTIZE[rule], "in double" in rules.QUANTIZE[rule].product
    of_range = row.product == "range"
    numbers = "float a, float b, int32_t zero" if of_range else "double a, int32_t zero"
    passed = "a, b, zero" if of_range else f"{'' if is_double else '(float)'}a, zero"
    name = "quantize_" + rule.replace("-", "_")
    loop = f"""
void run(const float *x, int32_t *y, int64_t n, {numbers}, int32_t lo, int32_t hi)
{{
    for (int64_t i = 0; i < n; i++)
        y[i] = {name}(x[i], {passed}, lo, hi);
}}
"""
    reals = [ctypes.c_float] * 2 if of_range else [ctypes.c_double]
    run = compiled(rules.emit(rule, op="quantize"), loop, tmp_path, ([F32, np.int32], [*reals, *[ctypes.c_int32] * 3]))
    for scale, zero, dtype in CALLS:
        info = np.iinfo(dtype)
        x = values(scale, zero, dtype)
        y = np.empty(x.shape, np.int32)
        lowest = int(info.min) + (row.is_narrow and info.min < 0)
        if of_range:
            lo, hi = map(F32, ENDS)
            factor = F32(info.max - info.min) / (hi - lo)
            given, how = (factor, -lo * factor, int(info.min)), {"range": ENDS}
        else:
            given, how = (scale, zero), {"scale": scale, "zero_point": zero}
        run(x, y, x.size, *given, lowest, int(info.max))
        with np.errstate(all="ignore"):
            want = rules.quantize(x, rule, dtype=dtype, **how)
        np.testing.assert_array_equal(y, want)
        assert len(np.unique(y)) > 200


@pytest.mark.parametrize("rule", BLOCKS)
def test_a_quantizer_of_blocks_tells_which_two_rules_it_is(rule):
    tail = rules.QUANTIZE[rule].tail
    with pytest.raises(
        ValueError, match=rf"^rule: {rule} has no C of its own: .*blocks of 8 .*as inv-even .*as {tail} "
    ):
        rules.emit(rule, op="quantize")
    assert "quantize_inv_even(" in rules.emit("inv-even", op="quantize")
    assert f"quantize_{tail.replace('-', '_')}(" in rules.emit(tail, op="quantize")


def images(dtype):
    """Windows of 2 x 3 with all sums, and a column more, so that no window is the whole image."""
    info, draw = np.iinfo(dtype), np.random.default_rng(4)
    base = draw.integers(info.min, info.max + 1, (3000, 1, 1, 1))
    near = base + draw.integers(-3, 4, (3000, 2, 4, 1))
    return near.clip(info.min, info.max).astype(dtype)


STORED = ("away-stored", "half-up", "floor", "truncate-stored")
OF_TAPS = ("ort", "ort-arm")
POOLS = [rule for rule in rules.AVERAGE_POOL if rule not in WHY_NO_POOL_C]


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("rule", POOLS)
def test_c_of_means_gives_the_codes(rule, dtype, tmp_path):
    """Sums of the stored codes, or of the codes less their zero points, as the formula says; or codes."""
    zero = {"int8": -7, "uint8": 121}[dtype]
    x = images(dtype)
    windows = np.lib.stride_tricks.sliding_window_view(x[..., 0], (2, 3), axis=(1, 2)).reshape(-1, 6).astype(np.int32)
    how = {"kernel": (2, 3), "zero_point": zero}
    info = np.iinfo(dtype)
    own = {"x_scale": 0.03}
    numbers: list[float] = [] if rule in STORED else [zero]
    if rules.AVERAGE_POOL[rule].rescales:
        own |= {"y_scale": 0.021, "y_zero_point": zero + 4}
        numbers = [0.03, zero, 0.021, zero + 4]
    if rule in ("ort-global", "torch-qnnpack"):
        y_scale = own.get("y_scale", 0.03)
        numbers = [F32(F32(0.03) / F32(F32(y_scale) * 6)), own.get("y_zero_point", zero)]
    passed = ", ".join(f"n{i}" for i in range(len(numbers)))
    source = (
        "&x[6 * i], 6"
        if rule in OF_TAPS
        else "x[6 * i]"
        if numbers[:1] and numbers[0] < 1 and numbers[0] > 0
        else ("x[6 * i], 6")
    )
    kinds = ["int32_t" if isinstance(v, int) else "float" for v in numbers]
    name = "average_pool_" + rule.replace("-", "_").replace(".", "_")
    loop = f"""
void run(const int32_t *x, int32_t *y, int64_t n{"".join(f", {k} n{i}" for i, k in enumerate(kinds))})
{{
    for (int64_t i = 0; i < n; i++)
        y[i] = {name}({source}{", " if passed else ""}{passed}, {info.min}, {info.max});
}}
"""
    given = [ctypes.c_int32 if isinstance(v, int) else ctypes.c_float for v in numbers]
    run = compiled(rules.emit(rule, op="average_pool"), loop, tmp_path, ([np.int32, np.int32], given))
    sums = np.ascontiguousarray(windows)
    if rule not in OF_TAPS:
        less = 0 if rule in STORED else zero
        sums[:, 0] = (windows - less).sum(axis=1)
    y = np.empty(len(windows), np.int32)
    run(sums, y, len(windows), *numbers)
    want = rules.average_pool(
        x,
        rule,
        **how,
        **(own if rules.AVERAGE_POOL[rule].rescales else {}),
        **({"x_scale": 0.03} if rule == "torch-qnnpack" else {}),
    )
    np.testing.assert_array_equal(y, want.reshape(-1))
    assert len(np.unique(y)) > 200


@pytest.mark.parametrize("rule", WHY_NO_POOL_C)
def test_a_mean_of_blocks_tells_which_two_rules_it_is(rule):
    with pytest.raises(
        ValueError, match=rf"^rule: {rule} has no C of its own: .* as torch-2.14-nhwc .* as torch-nchw "
    ):
        rules.emit(rule, op="average_pool")
