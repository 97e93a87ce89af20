"""Rules by their sources alone: what they compute, in Python's integers, and how `explain` names them."""

import numpy as np
import pytest

import qops
from qops import rules

X = np.random.default_rng(6).integers(-3_000_000, 3_000_000, 4000)


def half_away(v, n):
    return (abs(v) + (1 << n >> 1) >> n) * (1 if v >= 0 else -1)


def half_even(v, n):
    whole, twice = v >> n, 2 * (v & ((1 << n) - 1))
    return whole + (twice > 1 << n or (twice == 1 << n and whole % 2 == 1))


def half_down(v, n):
    return v + (1 << n >> 1) - 1 >> n


def half_toward_zero(v, n):
    return (abs(v) + (1 << n >> 1) - 1 >> n) * (1 if v >= 0 else -1)


BY_SOURCE = {
    "nvdla": lambda v, m, n: half_away(v * m, n),
    "gemmini-shift": lambda v, m, n: half_even(v, n),
    "xuantie": lambda v, m, n: (v * m >> 32) + (1 << (n - 32) >> 1) >> (n - 32),
    "tpu-mlir-half-away": lambda v, m, n: half_away(v * m, n),
    "tpu-mlir-half-even": lambda v, m, n: half_even(v * m, n),
    "tpu-mlir-half-down": lambda v, m, n: half_down(v * m, n),
    "tpu-mlir-half-toward-zero": lambda v, m, n: half_toward_zero(v * m, n),
    "tpu-mlir-qdm-half-down": lambda v, m, n: half_down(v * m + (1 << 30) >> 31, n - 31),
    "tpu-mlir-qdm-half-even": lambda v, m, n: half_even(v * m + (1 << 30) >> 31, n - 31),
}


@pytest.mark.parametrize("rule", BY_SOURCE)
def test_rules_are_what_the_sources_say(rule):
    row = rules.READ_RULES[rule]
    m, n = (1, 9) if rule == "gemmini-shift" else rules.Requantize(row.rule, scale=0.00371).integers
    got = rules.requantize(X, row.rule, integers=(m, n), zero_point=3, dtype="int16")
    want = [min(max(BY_SOURCE[rule](v, m, n) + 3, -(2**15)), 2**15 - 1) for v in X.tolist()]
    assert got.tolist() == want
    assert "static int32_t" in rules.emit(row.rule)


@pytest.mark.parametrize(("rounding", "rounded"), [("half-even", np.rint), ("half-away", None)])
def test_the_float_form_for_cv18xx(rounding, rounded):
    """Each product is a float32, also of accumulators and multipliers that float32 does not hold."""
    rule = rules.READ_RULES[f"tpu-mlir-cv18xx-{rounding}"]
    x = np.concatenate([np.random.default_rng(3).integers(-(2**31), 2**31, 20_000), np.arange(-3000, 3000)])
    for m, n in ((1717986919, 30), (1073741827, 38), (5, 3)):
        steps = x.astype(np.float32) * np.float32(m) / np.float32(2**n)
        near = rounded(steps) if rounded else np.trunc(steps) + np.trunc(2 * (steps - np.trunc(steps)))
        want = np.clip(near.astype(np.float64), -(2**15), 2**15 - 1)
        got = rules.requantize(x, rule.rule, integers=(m, n), dtype="int16")
        assert np.array_equal(got, want)
    told = qops.explain(x, got, integers=(5, 3))
    assert any("CV18xx" in systems for systems in told.systems.values())


@pytest.mark.parametrize("rounding", ["half-down", "half-toward-zero"])
def test_ties_of_tpu_mlir_go_where_the_mode_says(rounding):
    x = np.arange(-400, 400)
    row = rules.READ_RULES[f"tpu-mlir-{rounding}"].rule
    got = rules.requantize(x, row, scale=0.25, dtype="int16")
    down = np.ceil(x / 4 - 0.5)
    want = down if rounding == "half-down" else np.sign(x) * np.ceil(np.abs(x) / 4 - 0.5)
    assert np.array_equal(got, want)
    assert f"tpu-mlir-{rounding}" in qops.explain(x, got, scale=0.25).exact


@pytest.mark.parametrize("rule", rules.READ_RULES)
def test_every_row_says_that_it_was_not_run(rule):
    assert rules.READ_RULES[rule].systems.endswith("read on 2026-11-28, not run")


def test_explain_names_what_was_only_read():
    """Where a rule that was run gives the same integers, that one is named, and a source beside it."""
    shl = rules.READ_RULES["xuantie"].rule
    y = rules.requantize(X, shl, scale=0.37, zero_point=3, dtype="int32")
    assert "shift-floor" in qops.explain(X, y, scale=0.37, zero_point=3).exact, "a right shift of 32 leaves no rest"
    given = (1717986919, 33)
    y = rules.requantize(X, shl, integers=given, dtype="int16")
    assert np.array_equal(y, rules.requantize(X, "shift-half-up", integers=given, dtype="int16"))
    even = np.array([half_even(v * 5, 4) for v in X.tolist()], np.int32)
    assert "Gemmini" in qops.explain(X, even, scale=0.3125).systems["fp32-even"]
    qdm = rules.requantize(X, rules.READ_RULES["tpu-mlir-qdm-half-even"].rule, scale=0.0123, dtype="int16")
    found = qops.explain(X, qdm, scale=0.0123)
    assert found.exact == ["tpu-mlir-qdm-half-even"]
    assert "not run" in str(found)
