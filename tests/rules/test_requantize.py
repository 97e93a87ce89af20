"""`qops.rules.requantize`: every rule against its twin, channels, integers given, bad input."""

from fractions import Fraction

import numpy as np
import pytest
import reference_rules as twin

from qops import rules

TWINS = [
    "tflite-double", "tflite-single", "half-up-double", "double-away", "fp32-even", "fp32-even-zp-inside", "fp32-away",
    "double-even-zp-inside", "rndnu", "rndna", "q31", "q31-wrap", "rndnu16", "nnlib-supernode", "textbook7-floor",
    "textbook7-half-up",
]  # fmt: skip
SCALES = [2.0**-12, 0.0033, 2.0**-7, 0.3, 0.5, 0.9999999]
EDGES = np.int32([-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 1, 2**30, -(2**30)])


def accumulators(rng, scale):
    """Around every code boundary, at random, and the extremes."""
    codes = np.arange(-300, 300) / 2 / scale
    near = np.rint(codes)[:, None] + np.arange(-1, 2)
    far = rng.integers(-(2**31), 2**31, 300)
    every = np.concatenate([near[np.abs(near) < 2**31], far, EDGES])
    return every.astype(np.int32)


def away(x):
    """Nearest integer, halves away from 0."""
    return int(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1)


@pytest.mark.parametrize("rule", TWINS)
@pytest.mark.parametrize("scale", SCALES)
def test_rules_match_their_twins(rng, rule, scale):
    x = accumulators(rng, scale)
    for dtype, zero in ((np.int8, 0), (np.int8, 7), (np.uint8, 128), (np.uint8, 3), (np.int16, -5)):
        info = np.iinfo(dtype)
        got = rules.requantize(x, rule, scale=scale, zero_point=zero, dtype=dtype)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, twin.requantize(x, rule, scale, zero, info.min, info.max))


@pytest.mark.parametrize("rule", ["tflite-single", "rndnu"])
def test_results_beyond_32_bits_wrap(rng, rule):
    x = np.concatenate([EDGES, rng.integers(-(2**31), 2**31, 500).astype(np.int32)])
    for scale in (1.0, 3.7, 100.0):
        got = rules.requantize(x, rule, scale=scale)
        np.testing.assert_array_equal(got, twin.requantize(x, rule, scale, 0, -128, 127))
    assert rules.requantize([2**24], "rndnu", scale=200.0).item() == -128, "where others saturate to 127"
    assert rules.requantize([2**24], "fp32-even", scale=200.0).item() == 127


def test_a_sum_with_a_far_zero_point_wraps_where_the_rule_says_so():
    x, far = np.int32([2**31 - 1, -(2**31), 0, 9]), 2**31 - 1
    for zero in (2**29 - 1, 2**29, far - 2**30, far):
        got = rules.requantize(x, "q31-wrap", scale=0.5, zero_point=zero, dtype=np.int32)
        near = np.int64([2**30, -(2**30), 0, 5])  # 2**30 - 1/2 and 4.5, half away
        np.testing.assert_array_equal(got, (near + zero).astype(np.int32))
        wide = np.int64([2**31 - 1, 1 - 2**31, 7])
        got = rules.requantize(2 * wide, "q31-wrap", scale=0.5, zero_point=zero, dtype=np.int32)
        np.testing.assert_array_equal(got, (wide + zero).astype(np.int32))


@pytest.mark.parametrize("sign", [1, -1])
def test_accumulators_of_48_bits_end_below_2_48(sign):
    acc = np.int64([sign * (2**48 - 1)])
    assert rules.requantize(acc, "tflite-int64acc", scale=2.0**-31, dtype=np.int32) == sign * 2**17
    with pytest.raises(ValueError, match=r"^acc: 48 bits do not hold its values"):
        rules.requantize(acc + sign, "tflite-int64acc", scale=2.0**-31, dtype=np.int32)


@pytest.mark.parametrize(("rule", "whole"), [("fp32-even", round), ("fp32-away", away), ("torch-onednn", round)])
def test_codes_that_float32_does_not_hold(rng, rule, whole):
    """float32 steps, but a zero point outside and ends that are integers, each to the last bit."""
    x = np.concatenate([EDGES, rng.integers(-(2**31), 2**31, 300).astype(np.int32)])
    for scale, zero, lo, hi in (
        (8.0, -76, None, None),
        (0.3, -999090432, -868182663, 2**31 - 2),
        (1.0, 5, None, 7),
        (0.0078, 20_000, -(2**31), 2**24 + 1),  # a scale so small that lanes do it
    ):
        how = {"zero_point": zero, "qmin": lo, "qmax": hi, "dtype": np.int32}
        got = rules.requantize(x, rule, scale=scale, **how)
        steps = x.astype(np.float32) * np.float32(scale)
        first, last = (np.float32(zero), 0) if rule == "torch-onednn" else (np.float32(0), zero)
        ends = -(2**31) if lo is None else lo, 2**31 - 1 if hi is None else hi
        want = [min(max(whole(Fraction(float(s))) + last, ends[0]), ends[1]) for s in steps + first]
        assert got.tolist() == want
        assert rules.requantize([x, x], rule, scale=[scale, scale], axis=0, **how).tolist() == [want, want]


def test_the_zero_point_may_wrap():
    scale = 1 - 2.0**-24
    both = [
        rules.requantize([2**31 - 1], r, scale=scale, zero_point=255, dtype=np.uint8).item()
        for r in ("q31-wrap", "q31")
    ]
    assert both == [0, 255]


def test_every_step_of_gemmlowp_wraps():
    """(x * 1000 + half) >> 16, all in 32 bits, though the scale is small."""
    x = np.int64([2**24, -(2**24), 12345, 2**31 - 1])
    want = np.clip((x * 1000 + 2**15).astype(np.int32) >> 16, 0, 255)
    got = rules.requantize(x.astype(np.int32), "gemmlowp-legacy", integers=(1000, 16), dtype=np.uint8)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("offset", [-(2**31), -1, 7, 2**31 - 1])
def test_what_is_subtracted_wraps_only_where_the_rule_does(offset):
    x = np.array([-(2**31), -(2**31) + 5, -9, 0, 9, 2**31 - 6, 2**31 - 1], np.int32)
    how = {"integers": (3, 16), "in_zero_point": offset, "dtype": np.int32}
    wrapped = (x - np.int64(offset)) * 3 + 2**15
    wanted = wrapped.astype(np.int32) >> 16
    np.testing.assert_array_equal(rules.requantize(x, "gemmlowp-legacy", **how), wanted)
    np.testing.assert_array_equal(rules.requantize(x.astype(np.int64), "gemmlowp-legacy", **how), wanted)
    np.testing.assert_array_equal(rules.requantize(x, "shift-half-up", **how), wrapped >> 16)


def test_accumulators_of_48_bits():
    x = [2**40 + 3, -(2**40)]
    assert rules.requantize(x, "fp32-even", scale=2.0**-30, dtype=np.int16).tolist() == [1024, -1024]
    into = {"scale": 2.0**-10, "zero_point": 5, "dtype": np.int32}  # float32 does not hold these codes
    got = rules.requantize([2**40, 2**46, -(2**46)], "fp32-even", **into)
    assert got.tolist() == [2**30 + 5, 2**31 - 1, -(2**31)]
    given = rules.integers("tflite-int64acc", 2.0**-30)
    assert rules.requantize(x, "tflite-int64acc", integers=given, dtype=np.int16).tolist() == [1024, -1024]


@pytest.mark.parametrize("shift", [0, 3, 15, -1, -20, -31])
def test_integers_of_tflite_for_48_bits_are_those_that_its_files_and_ports_hold(rng, shift):
    """Those of QuantizeMultiplier; the rule reduces them, as MultiplyByQuantizedMultiplier does."""
    acc = rng.integers(-(2**40), 2**40, 300) >> rng.integers(0, 30, 300)
    for m in (2**30, 0x7FFEFFFF, 0x7FFF0000, 2**31 - 1, 1_518_500_250, 0):
        reduced, total = (m + 2**15) >> 16 if m < 0x7FFF0000 else 0x7FFF, 15 - shift
        want = wrapped_products(acc, reduced, total)
        got = rules.requantize(acc, "tflite-int64acc", integers=(m, 31 - shift), dtype=np.int32)
        assert got.tolist() == want, m
        assert rules.Requantize("tflite-int64acc", integers=(m, 31 - shift)).integers == (m, 31 - shift)
    both = np.int32([2**30, 2**31 - 1]), np.int32([31 - shift, 31 - shift])
    got = rules.requantize(np.stack([acc, acc], 1), "tflite-int64acc", integers=both, dtype=np.int32)
    assert (
        got[:, 0].tolist()
        == rules.requantize(acc, "tflite-int64acc", integers=(2**30, 31 - shift), dtype=np.int32).tolist()
    )
    assert got[:, 1].tolist() == wrapped_products(acc, 0x7FFF, 15 - shift)


def wrapped_products(acc, multiplier, right_shift):
    exact = [(int(x) * multiplier + ((1 << right_shift) >> 1)) >> right_shift for x in acc]
    return [(y + 2**31) % 2**32 - 2**31 for y in exact]


def test_integers_of_tflite_for_48_bits_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^integers: tflite-int64acc shifts by 16 at least, got a right shift of 15"):
        rules.requantize([1], "tflite-int64acc", integers=(2**30, 15))


def test_the_table_prints_what_its_columns_mean_and_its_rows():
    words, columns, roundings, table = str(rules.TABLE).split("\n\n")
    assert words.startswith("A scale becomes an integer multiplier")
    assert [line.split()[0] for line in columns.splitlines()] == list(rules.Rule._fields)
    assert [line.split()[0] for line in table.splitlines()] == ["name", *rules.TABLE]
    used = {rounding for row in rules.TABLE.values() for rounding in (row.first, row.second)} - {""}
    assert {word.strip(",") for word in roundings.split()} >= used


@pytest.mark.parametrize("rule", ["tflite-double", "fp32-even", "rndnu16", "double-away"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_channels_are_requantized_one_by_one(rng, rule, axis):
    x = rng.integers(-20000, 20000, (3, 4, 5)).astype(np.int32)
    scales = 2.0 ** rng.uniform(-9, -5, x.shape[axis])
    got = rules.requantize(x, rule, scale=scales, zero_point=3, axis=axis)
    for i, scale in enumerate(scales):
        want = rules.requantize(np.take(x, i, axis), rule, scale=scale, zero_point=3)
        np.testing.assert_array_equal(np.take(got, i, axis), want)


@pytest.mark.parametrize("rule", ["tflite-double", "fp32-even", "double-away", "rndnu16", "tflite-int64acc"])
def test_one_accumulator_has_one_code(rule):
    for acc in (1000, np.int32(1000), np.array(1000, np.int64)):
        code = rules.requantize(acc, rule, scale=0.0033, zero_point=5)
        assert (code.shape, code.dtype, code.item()) == ((), np.int8, 8)
    if rule in ("fp32-even", "tflite-int64acc"):
        assert rules.requantize(2**40, rule, scale=2.0**-30, dtype=np.int16).item() == 1024


def test_channels_of_the_other_byte_order_keep_their_scales(rng):
    """More elements than numpy's iterator copies at a time, and no multiple of the number of channels among them."""
    acc = rng.integers(-9000, 9000, (12_000, 3)).astype(np.int32)
    swapped = acc.astype(acc.dtype.newbyteorder())
    op = rules.Requantize("tflite-double", scale=[0.01, 0.02, 0.03])
    assert np.array_equal(op(swapped), op(acc))


def test_no_accumulators_have_no_codes():
    for scale in ([], 0.5):
        assert rules.requantize(np.zeros((3, 0), np.int32), "tflite-double", scale=scale).shape == (3, 0)


def test_integers_are_those_of_the_scale():
    x = np.arange(-5000, 5000, dtype=np.int32)
    for rule in ("tflite-double", "tflite-single", "rndna", "q31", "textbook7-floor"):
        given = rules.integers(rule, 0.0133)
        a, b = (rules.requantize(x, rule, **how) for how in ({"scale": 0.0133}, {"integers": given}))
        np.testing.assert_array_equal(a, b)
    assert rules.integers("rndnu", 0.75) == (3 << 22, 24)


def test_out_is_written_and_nothing_else():
    x, out = np.arange(12, dtype=np.int32).reshape(3, 4), np.full((3, 8), 77, np.int8)
    view = out[:, ::2]
    assert rules.requantize(x, "fp32-even", scale=0.5, out=view) is view
    np.testing.assert_array_equal(out[:, ::2], [[0, 0, 1, 2], [2, 2, 3, 4], [4, 4, 5, 6]])
    assert (out[:, 1::2] == 77).all()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rule": "tflite"}, "^rule: expected one of 36 names, such as tflite-single, tflite-double"),
        ({"rule": None}, "^rule: expected one of.* got None"),
        ({"acc": [0.5]}, "^acc: expected integers, got float64"),
        ({"rule": "double-away", "acc": [2**40]}, "^acc: int32 does not hold its values"),
        ({"rule": "double-even-zp-inside", "acc": [2**40]}, "^acc: int32 does not hold its values"),
        ({"rule": "tosa-single", "acc": [2**40]}, "^acc: 64 bits do not hold"),
        ({"acc": [2**50]}, "^acc: 48 bits do not hold its values"),
        ({"acc": np.uint64([2**63])}, "^acc: 48 bits do not hold its values"),
        ({"scale": [0.5, 0.5, 0.5], "axis": 1}, "^axis: expected an integer in"),
        ({"scale": [[0.5]]}, "^scale: expected one number or one for each channel"),
        ({"scale": 1e300}, "^scale: 1e\\+300 is beyond float32"),
        ({"rule": "double-even-zp-inside", "scale": [0.5, 1e39, 0.5]}, "^scale: 1e\\+39 is beyond float32"),
        ({"rule": "cmsis-s64", "scale": None, "integers": (1, 0)}, "^integers: cmsis-s64 shifts by 1"),
        ({"scale": None}, "^scale, integers, scales: expected one of the three, got 0"),
        ({"integers": (1, 2)}, "^scale, integers, scales: expected one of the three, got 2"),
        (
            {"scale": None, "scales": (1.0, 2.0)},
            r"^scales: expected \(in_scale, w_scale, out_scale\), got \(1.0, 2.0\)",
        ),
        ({"scale": None, "scales": (1.0, 0.0, 1.0)}, "^scales: w_scale: expected finite numbers above 0, got 0.0"),
        ({"scale": None, "scales": (1.0, [1.0, np.inf], 1.0)}, "^scales: w_scale: expected finite numbers above 0"),
        (
            {"scale": None, "scales": (1.0, "x", 1.0)},
            "^scales: w_scale: expected one number or one for each channel, got <U1",
        ),
        ({"scale": None, "scales": (1.0, [1.0, 1.0], 1.0)}, "^scales: 2 of them do not fit axis -1"),
        (
            {"rule": "torch-onednn", "scale": None, "scales": (1.0, 1.0, 1e-40)},
            "^scales: floats do not hold what stepwise makes of",
        ),
        (
            {"rule": "tflite-opt-quantize", "scale": [0.5, 0.5, 0.5]},
            "^scale, integers, scales: blocks of 16 elements have one, got 3",
        ),
        ({"scale": -1.0}, "^scale: expected finite numbers, not negative"),
        ({"scale": np.nan}, "^scale: expected finite numbers"),
        ({"scale": "1"}, "^scale: expected numbers"),
        ({"scale": [0.5, 0.5]}, "^scale: 2 of them do not fit axis -1 of acc, shape \\(3,\\)"),
        ({"scale": None, "integers": (1, 63)}, "^integers: expected a multiplier of 32 bits"),
        ({"scale": None, "integers": 5}, "^integers: expected \\(multiplier, right_shift\\)"),
        ({"dtype": np.int64}, "^dtype: expected uint8"),
        ({"qmin": -200}, "^qmin: expected an integer in \\[-128, 127\\]"),
        ({"qmax": 5, "qmin": 6}, "^qmax: expected an integer in \\[6, 127\\]"),
        ({"zero_point": 0.5}, "^zero_point: expected an integer"),
        ({"zero_point": 128}, r"^zero_point: expected an integer in \[-128, 127\], got 128"),
        ({"rule": "rndnu", "scale": 2.0**-50}, "^scale: .* is out of the range of rndnu"),
        ({"rule": "gemmlowp-legacy"}, "^scale: gemmlowp-legacy makes no integers of a scale"),
        ({"rule": "gemmlowp-legacy", "scale": None, "scales": (1, 1, 1)}, "^scales: the rule makes no integers of"),
        ({"out": np.zeros(2, np.int8)}, "^out: shape"),
        ({"out": np.zeros(3, np.uint8)}, "^out: expected native int8"),
    ],
)
def test_bad_input_is_named(changes, text):
    how = {"acc": [1, 2, 3], "rule": "fp32-away", "scale": 0.5} | changes
    with pytest.raises((ValueError, TypeError), match=text):
        rules.requantize(how.pop("acc"), how.pop("rule"), **how)


def test_one_scale_may_stand_in_an_array():
    acc = np.arange(-300, 300, dtype=np.int32)
    want = rules.requantize(acc, "tflite-double", scale=0.375)
    np.testing.assert_array_equal(rules.requantize(acc, "tflite-double", scale=[0.375]), want)
    numbers = rules.integers("tflite-double", 0.375)
    given = [numbers.multiplier], np.array([numbers.right_shift])
    np.testing.assert_array_equal(rules.requantize(acc, "tflite-double", integers=given), want)


@pytest.mark.parametrize("rule", [row.name for row in rules.TABLE.values() if row.beyond])
def test_rules_in_floats_take_integers_as_the_real_scale(rule):
    """Float64 holds the multiplier, and float32 does not: -5000 times the scale is a little below -16.5."""
    acc, integers = np.int32([30000, -5000, 2**31 - 1]), (1814194186, 39)
    want = rules.requantize(acc, rule, scale=1814194186 * 2.0**-39, dtype=np.int32)
    np.testing.assert_array_equal(rules.requantize(acc, rule, integers=integers, dtype=np.int32), want)
    each = tuple(np.array([part, part]) for part in integers)
    got = rules.requantize(np.stack([acc, acc]), rule, integers=each, axis=0, dtype=np.int32)
    np.testing.assert_array_equal(got, [want, want])


@pytest.mark.parametrize("code", ["i", "l", "q"])
def test_accumulators_of_each_integer_of_c(code):
    """Two of them are of one size, and are one dtype to numpy, with two numbers."""
    acc = np.array([2**31 - 1, -(2**20), 5, 2**40, -(2**35)][: 3 if np.dtype(code).itemsize == 4 else 5], code)
    want = twin.requantize(acc, "fp32-even", 2.0**-34, 3, -128, 127)
    assert rules.requantize(acc, "fp32-even", scale=2.0**-34, zero_point=3).tolist() == want.tolist()


PREPARED = [
    {"scale": 0.0033},
    {"scale": [0.01, 0.02, 0.5, 2.0]},
    {"integers": (1 << 30, 33)},
    {"integers": ([1 << 30, 3], [33, 20]), "axis": 0},
    {"scales": (0.37, 0.01, 0.9)},
    {"scales": (0.37, [0.01, 0.02, 0.5, 2.0], 0.9)},
    {"scale": 0.5, "in_zero_point": 7, "zero_point": -3, "dtype": np.int16, "qmin": -100, "qmax": 2000},
]


@pytest.mark.parametrize(
    "rule",
    ["tflite-double", "rndnu", "fp32-even", "double-away", "rndnu16", "q31-wrap", "torch-onednn", "torch-qnnpack"],
)
@pytest.mark.parametrize("how", PREPARED, ids=str)
def test_prepared_op_gives_the_codes_of_the_function(rng, rule, how):
    op = rules.Requantize(rule, **how)
    for shape in ((2, 4), (2, 5, 4), (2, 4)):
        acc = rng.integers(-(2**20), 2**20, shape).astype(np.int32)
        want = rules.requantize(acc, rule, **how)
        np.testing.assert_array_equal(op(acc), want)
        np.testing.assert_array_equal(op(np.asfortranarray(acc)), want)
        out = np.zeros((*shape, 2), want.dtype)[..., 0]
        assert op(acc, out) is out
        np.testing.assert_array_equal(out, want)


def test_prepared_op_has_numbers_of_its_own():
    scales = np.array([0.01, 0.02])
    op, acc = rules.Requantize("rndnu", scale=scales), np.int32([[1000, 1000]])
    scales[:] = 1
    assert op(acc).tolist() == [[10, 20]]
    assert op.scale.tolist() == [0.01, 0.02]
    with pytest.raises(ValueError, match="read-only"):
        op.scale[0] = 1


@pytest.mark.parametrize("rule", ["tflite-double", "fp32-even"])
def test_a_scale_of_minus_zero_is_that_of_zero(rule):
    acc = np.arange(-9, 9, dtype=np.int32)
    want = rules.requantize(acc, rule, scale=0.0, zero_point=3)
    np.testing.assert_array_equal(rules.requantize(acc, rule, scale=-0.0, zero_point=3), want)
    np.testing.assert_array_equal(rules.requantize(acc, rule, scale=np.full(18, -0.0), zero_point=3), want)


def test_a_rule_of_too_many_digits_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^rule: expected one of 34 names.* got an integer of 16610 bits"):
        rules.integers(10**5000, 0.3)
