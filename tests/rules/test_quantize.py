"""`qops.rules.quantize`: ties of each rule by hand, and scales without a reciprocal. The golden set has the bits."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from qops import rules

TIES = np.float32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])


@pytest.mark.parametrize(
    ("rule", "want"),
    [
        ("div-away", [2, 3, 4, 6, 7, 8]),
        ("inv-even", [3, 3, 5, 5, 7, 7]),
        ("tflite-opt", [2, 3, 4, 6, 7, 8]),  # fewer than 8: all of them are the tail
        ("double-div-away", [2, 3, 4, 6, 7, 8]),
        ("div-even", [3, 3, 5, 5, 7, 7]),
        ("fma-zp-inside", [2, 4, 4, 6, 6, 8]),
        ("inv-even-wraps", [3, 3, 5, 5, 7, 7]),
    ],
)
def test_ties_go_where_the_rule_says(rule, want):
    assert rules.quantize(TIES, rule, scale=1.0, zero_point=5).tolist() == want


def test_a_scale_without_a_reciprocal_is_refused_where_one_is_taken():
    assert rules.quantize([0.0], "div-even", scale=1e-45).tolist() == [0]
    with pytest.raises(ValueError, match=r"^scale: 1e-45 has no reciprocal"):
        rules.quantize([0.0], "inv-even", scale=1e-45)


@pytest.mark.parametrize("zero", [0, 3, 127, -3, -128])
def test_what_int32_does_not_hold_is_cut_and_wraps(tier, zero):
    x = np.tile(np.float32([2.0**31, -(2.0**31), 3e9, -3e9, np.inf, -np.inf, 2.0**31 - 128, 1, -1]), 20)
    cut = np.clip(x.astype(np.float64), -(2.0**31), 2.0**31 - 128)
    want = np.clip((cut + zero + 2**31) % 2**32 - 2**31, -128, 127)
    np.testing.assert_array_equal(rules.quantize(x, "inv-even-wraps", scale=1.0, zero_point=zero, dtype=np.int8), want)


@pytest.mark.parametrize("rule", rules.QUANTIZE)
def test_nan_is_refused_wherever_it_is_and_infinities_saturate(rule):
    x = np.tile(np.float32([0, np.inf, -np.inf]), 40)
    assert rules.quantize(x, rule, scale=1.0, zero_point=5).tolist() == [5, 255, 0] * 40
    assert rules.quantize(x[::-2], rule, scale=1.0, zero_point=5).tolist() == [0, 5, 255] * 20
    for where in (0, 50, -1):
        bad = x.copy()
        bad[where] = np.nan
        with pytest.raises(ValueError, match=r"^x: has NaN"):
            rules.quantize(bad, rule, scale=1.0)


def test_a_scale_that_was_taken_is_still_refused_with_other_values():
    assert rules.quantize([1.0], "inv-even", scale=1e-45).tolist() == [255]
    with pytest.raises(ValueError, match=r"^scale: 1e-45 has no reciprocal"):
        rules.quantize([1.0, 0.0], "inv-even", scale=1e-45)


@pytest.mark.parametrize("scale", [2.0**-70, 2.0**-60, 0.0123, 1 / 3, 1.0000001, 2.0**59, 3e38])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16])
def test_a_quotient_is_rounded_as_a_division_rounds_it(rng, scale, dtype):
    info, step = np.iinfo(dtype), np.float32(scale)
    with np.errstate(all="ignore"):
        ties = (rng.integers(-70_000, 70_000, 20_000) + np.float32(0.5)).astype(np.float32) * step
        near = [np.nextafter(ties, np.float32(end)) for end in (-np.inf, np.inf)]
        x = np.concatenate([ties, *near, np.float32([3e38, -3e38, np.inf, -np.inf, 1e-45, -0.0])])
        x = x[~np.isnan(x)]
        want = np.clip(np.rint(np.clip(x / step, -1e6, 1e6)) + np.float32(5), info.min, info.max)
    np.testing.assert_array_equal(rules.quantize(x, "div-even", scale=scale, zero_point=5, dtype=dtype), want)


@pytest.mark.parametrize("n", [100, 300_000])
def test_nan_is_found_wherever_it_is(n):
    x, out = np.zeros(n, np.float32), np.full(n, 7, np.uint8)
    for place in (0, n // 2, n - 1):
        x[:] = 0
        x[place] = np.nan
        with pytest.raises(ValueError, match=r"^x: has NaN"):
            rules.quantize(x, "div-even", scale=1.0, out=out)
        assert np.isnan(x[place])


@pytest.mark.parametrize("rule", rules.QUANTIZE)
def test_prepared_op_gives_the_codes_of_the_function(rng, rule):
    how = {"scale": 0.037, "zero_point": 3, "dtype": np.int8}
    op = rules.Quantize(rule, **how)
    assert repr(op) == f"Quantize({rule!r}, scale=0.037, zero_point=3, dtype='int8')"
    for n in (7, 1000, 7):
        x = rng.normal(size=n).astype(np.float32)
        want = rules.quantize(x, rule, **how)
        np.testing.assert_array_equal(op(x), want)
        np.testing.assert_array_equal(op(x.tolist()), want)
        out = np.zeros((n, 2), np.int8)[:, 0]
        assert op(x, out) is out
        np.testing.assert_array_equal(out, want)
    with pytest.raises(ValueError, match=r"^x: has NaN"):
        op([1.0, np.nan])


@pytest.mark.parametrize("shape", [(), (7,), (8,), (9,), (3, 21), (3, *(1,) * 62, 7)])
def test_the_last_elements_go_by_another_rule(rng, shape):
    x = (rng.integers(-60, 60, shape) + np.float32(0.5)).astype(np.float32)
    got = rules.quantize(np.asfortranarray(x), "tflite-opt", scale=1.0, zero_point=5, dtype=np.int8)
    parts = [rules.quantize(x, r, scale=1.0, zero_point=5, dtype=np.int8).ravel() for r in ("inv-even", "div-away")]
    cut = x.size // 8 * 8
    np.testing.assert_array_equal(got.ravel(), np.concatenate([parts[0][:cut], parts[1][cut:]]))


@pytest.mark.parametrize("scale", [0.1, 1 / 3, 0.7853981, 2.0**-20])
def test_quotients_in_double_are_rounded_as_exact_ones(rng, scale):
    step = np.float32(scale)
    ties = np.float32((rng.integers(-140, 140, 400) + 0.5) * float(step))
    x = np.concatenate([ties, np.nextafter(ties, np.float32(9)), np.nextafter(ties, np.float32(-9))])
    exact = [Fraction(float(v)) / Fraction(float(step)) for v in x]
    want = [min(max((1 if q > 0 else -1) * floor(abs(q) + Fraction(1, 2)) + 3, -128), 127) for q in exact]
    assert rules.quantize(x, "double-div-away", scale=scale, zero_point=3, dtype=np.int8).tolist() == want
