"""`qops.rules.quantize`: ties of each rule by hand, and scales without a reciprocal. The golden set has the bits."""

from fractions import Fraction
from math import ceil, floor, trunc

import numpy as np
import pytest

from qops import rules

HALF = Fraction(1, 2)
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
        ("inv-even-zp-inside", [2, 4, 4, 6, 6, 8]),
        ("div-half-up", [3, 4, 5, 6, 7, 8]),
        ("div-half-down", [2, 3, 4, 5, 6, 7]),
        ("div-half-toward-zero", [3, 4, 5, 5, 6, 7]),
        ("div-floor", [2, 3, 4, 5, 6, 7]),
        ("div-ceil", [3, 4, 5, 6, 7, 8]),
        ("div-truncate", [3, 4, 5, 5, 6, 7]),
        ("inv-away", [2, 3, 4, 6, 7, 8]),
        ("div-away-zp-inside", [3, 4, 5, 6, 7, 8]),  # of positive sums
        ("div-truncate-zp-inside", [2, 3, 4, 5, 6, 7]),
        ("div-outward-zp-inside", [3, 4, 5, 6, 7, 8]),
        ("div-half-toward-zero-zp-inside", [2, 3, 4, 5, 6, 7]),
        ("div-even-or-up-zp-inside", [2, 4, 4, 6, 6, 8]),
        ("ncnn", [2, 3, 4, 6, 7, 8]),
        ("mnn", [3, 4, 5, 6, 7, 8]),
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


NUMBERS = {rule: {"range": (0.0, 255.0)} if rule == "openvino" else {"scale": 1.0} for rule in rules.QUANTIZE}
INFINITE = {"saturates": [5, 255, 0], "cut, wraps": [5, 255, 0], "cast": [5, 5, 5], "lowest of int64": [5, 0, 0]}


@pytest.mark.parametrize("rule", rules.QUANTIZE)
def test_nan_is_refused_wherever_it_is_and_infinities_are_what_the_row_says(rule):
    x, how = np.tile(np.float32([0, np.inf, -np.inf]), 40), dict(NUMBERS[rule])
    zero, high, low = INFINITE[rules.QUANTIZE[rule].beyond] if "scale" in how else [0, 255, 0]
    how |= {"zero_point": 5} if "scale" in how else {}
    assert rules.quantize(x, rule, **how).tolist() == [zero, high, low] * 40
    assert rules.quantize(x[::-2], rule, **how).tolist() == [low, zero, high] * 20
    for where in (0, 50, -1):
        bad = x.copy()
        bad[where] = np.nan
        with pytest.raises(ValueError, match=r"^x: has NaN"):
            rules.quantize(bad, rule, **how)


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
    numbers = {"range": (-1.5, 2.0)} if rule == "openvino" else {"scale": 0.037, "zero_point": 3}
    how = {**numbers, "dtype": np.int8}
    op = rules.Quantize(rule, **how)
    said = "dtype='int8', range=(-1.5, 2.0)" if rule == "openvino" else "scale=0.037, zero_point=3, dtype='int8'"
    assert repr(op) == f"Quantize({rule!r}, {said})"
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


ROUNDINGS = {  # a rounding -> the code of a quotient, as an exact fraction
    "floor": floor,
    "ceil": ceil,
    "truncate": trunc,
    "outward": lambda q: floor(q) if q < 0 else ceil(q),
    "half_up": lambda q: floor(q + HALF),
    "half_down": lambda q: ceil(q - HALF),
    "half_away": lambda q: ceil(q - HALF) if q < 0 else floor(q + HALF),
    "half_toward_zero": lambda q: floor(q + HALF) if q < 0 else ceil(q - HALF),
    "half_even": round,
    "half_even_or_up": lambda q: floor(q + HALF) if q < 0 else round(q),
}
ROUNDINGS["half_added"] = ROUNDINGS["half_away"]
DEFINED = [rule for rule, row in rules.QUANTIZE.items() if row.beyond in ("saturates", "cast") and not row.tail]


@pytest.mark.parametrize("rule", [rule for rule in DEFINED if rule != "openvino"])
@pytest.mark.parametrize(("dtype", "zero"), [(np.uint8, 5), (np.int8, -3), (np.int16, 7)])
def test_each_rounding_is_the_exact_one_where_floats_are_exact(rule, dtype, zero):
    """Quarters with a scale of 1/2: no operation rounds, so words alone decide. What a cast drops wraps."""
    row, info = rules.QUANTIZE[rule], np.iinfo(dtype)
    x = (np.arange(-40_000 * (dtype == np.int16) - 700, 701, dtype=np.float32) / 4)[:: 1 + 60 * (dtype == np.int16)]
    lowest = info.min + (row.is_narrow and info.min < 0)
    want = []
    for q in (Fraction(float(v)) * 2 for v in x):
        inside = row.zero_point == "inside"
        code = ROUNDINGS[row.rounding](q + zero) if inside else ROUNDINGS[row.rounding](q) + zero
        cast = (code - info.min) % (info.max - info.min + 1) + info.min
        want.append(cast if row.beyond == "cast" else min(max(code, lowest), info.max))
    got = rules.quantize(x, rule, scale=0.5, zero_point=zero, dtype=dtype)
    assert len(set(want)) > 100
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("rule", [rule for rule, row in rules.QUANTIZE.items() if not row.width and rule != "openvino"])
def test_channels_rows_and_blocks_are_as_parts_by_themselves(rng, rule):
    x = (rng.integers(-60, 60, (5, 7, 6)) * np.float32(0.035)).astype(np.float32)
    scales, zeros = rng.uniform(0.01, 0.2, 7), rng.integers(0, 9, 7)
    got = rules.quantize(x, rule, scale=scales, zero_point=zeros, dtype="int8", axis=1)
    for i in range(7):
        part = rules.quantize(x[:, i], rule, scale=scales[i], zero_point=int(zeros[i]), dtype="int8")
        np.testing.assert_array_equal(got[:, i], part)
    of_blocks = rng.uniform(0.01, 0.2, (5, 7, 2))
    op = rules.Quantize(rule, scale=of_blocks, zero_point=3, dtype="int8", axis=-1, block=4)
    for i, (first, end) in enumerate(((0, 4), (4, 6))):
        for row, column in np.ndindex(5, 7):
            how = {"scale": of_blocks[row, column, i], "zero_point": 3, "dtype": "int8"}
            want = rules.quantize(x[row, column, first:end], rule, **how)
            np.testing.assert_array_equal(op(x)[row, column, first:end], want)


@pytest.mark.parametrize("rule", ["div-even", "inv-away-zp-inside", "fma-zp-inside", "div-truncate-cast", "div-floor"])
def test_the_loop_and_numpy_give_the_same_codes(rng, rule, tier):
    x = np.concatenate([rng.normal(0, 5, 3000), rng.integers(-900, 900, 3000) * 0.05, [1e30, -1e30, 3e9, -0.0]])
    for scale, zero, dtype in ((0.1, 3, "int8"), (0.037, 200, "uint8"), (2.0**-7, -9, "int16")):
        how = {"scale": scale, "zero_point": zero, "dtype": dtype}
        want = rules.quantize(x, rule, **(how | {"scale": np.full(len(x), scale), "axis": 0}))
        np.testing.assert_array_equal(rules.quantize(x, rule, **how), want)


def test_qmin_and_qmax_are_the_ends():
    x = np.arange(-300.0, 300.0)
    for rule in ("div-even", "tflite-opt", "mnn"):
        for scale in (1.0, np.ones(600)):
            if rule != "tflite-opt" or np.ndim(scale) == 0:
                how = {"scale": scale, "dtype": "int8", "axis": 0 if np.ndim(scale) else None}
                got = rules.quantize(x, rule, qmin=-8, qmax=7, **how)
                assert got.tolist() == np.clip(x, -8, 7).tolist()
    ends = {"range": (-128.0, 127.0), "dtype": "int8"}
    assert rules.quantize(x, "openvino", qmin=-8, qmax=7, **ends).tolist() == np.clip(x, -8, 7).tolist()
    assert rules.quantize([-500.0], "mnn", scale=1.0, dtype="int8").item() == -127
    assert rules.quantize([-500.0], "ncnn", scale=1.0, dtype="int8", qmin=-128).item() == -128


@pytest.mark.parametrize(
    ("rule", "how", "words"),
    [
        ("div-even", {}, "scale: missing"),
        ("div-even", {"scale": [1.0, 2.0]}, "scale: expected one number where no axis is given"),
        ("div-even", {"scale": [1.0, 2.0], "axis": 1}, r"axis: expected an integer in \[-1, 0\], got 1"),
        ("div-even", {"scale": [1.0, 2.0], "axis": 0}, r"scale: shape \(2,\) does not fit axis 0 of x, shape \(3,\)"),
        ("div-even", {"scale": [1.0, 2.0, 3.0], "axis": 0, "block": 2}, r"scale: expected shape \(2,\), blocks of 2"),
        ("div-even", {"scale": [1.0, 2.0, 0.0], "axis": 0}, "scale: expected numbers above 0"),
        ("div-even", {"scale": 1.0, "block": 2}, "axis: missing"),
        ("div-even", {"scale": 1.0, "range": (0, 1)}, "range: div-even takes a scale"),
        ("div-even", {"scale": [1.0] * 3, "axis": 0, "zero_point": [0, 300, 0]}, "zero_point: expected codes of uint8"),
        ("tflite-opt", {"scale": [1.0] * 3, "axis": 0}, "axis: blocks of 8 elements of tflite-opt have one scale"),
        ("openvino", {"scale": 1.0}, r"range: openvino takes \(min, max\)"),
        ("openvino", {"range": (1.0, 1.0)}, "range: expected min < max"),
        ("div-even-cast", {"scale": 1.0, "qmin": 0}, "qmin, qmax: div-even-cast clamps to nothing"),
        ("div-even", {"scale": 1.0, "qmin": 5, "qmax": 4}, r"qmax: expected an integer in \[5, 255\], got 4"),
        ("div-evn", {"scale": 1.0}, "rule: expected one of .* names, such as div-even"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(rule, how, words):
    with pytest.raises((ValueError, TypeError), match=f"^{words}"):
        rules.quantize(np.zeros(3), rule, **how)
