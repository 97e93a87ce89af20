"""`qops.rules.requantize` with a real bias: exact cases by fractions, arguments. Golden sets have the bits."""

import pickle
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

from qops import rules

HALF = Fraction(1, 2)
SCALES = {rule: (0.5, [0.25, 0.5, 1.0], 2.0) for rule in rules.REAL_BIAS}
OTHER = {rule: {"bias": [0.25, -1.5, 3.0]} for rule in rules.REAL_BIAS}
OTHER["mnn"] |= {"w_sums": [0, 64, -32], "x_zero_point": -3, "zero_point": 5}
OTHER["cadence"] = {"zero_point": 5}
OTHER["torch-fbgemm-bias"] |= {"zero_point": 5}
OTHER["torch-onednn-groups"] = {"zero_point": 4}
for version in ("2.6", "3.2", "3.13"):
    OTHER[f"onednn-{version}"] |= {"zero_point": 4}
    OTHER[f"onednn-{version}-no-bias"] = {"zero_point": 4}
OTHER["openvino"] |= {"range": (-31.875, 31.875), "dtype": "uint8"}  # steps of 1 / 4
OTHER["openvino-one-channel"] |= {"range": (-31.875, 31.875), "dtype": "uint8", "bias": 0.25}
OTHER["openvino-no-bias"] = {"range": (-31.875, 31.875), "dtype": "uint8"}
for name in ("openvino", "openvino-no-bias", "openvino-one-channel"):
    SCALES[name] = 0.5, [0.25, 0.5, 1.0], None
SCALES["openvino-one-channel"] = 0.5, 0.25, None


def given(rule):
    return {"scales": SCALES[rule], **OTHER[rule]}


def half_away(q):
    return ceil(q - HALF) if q < 0 else floor(q + HALF)


@pytest.mark.parametrize("rule", rules.REAL_BIAS)
def test_codes_are_the_exact_ones_where_floats_are_exact(rule, rng):
    """Powers of two, so that no operation rounds but the last."""
    acc = rng.integers(-700, 700, (50, 3)) if "openvino" not in rule else rng.integers(-120, 120, (90, 3))
    got = rules.requantize(acc, rule, **given(rule))
    (a, ws, y), bias = SCALES[rule], np.broadcast_to(OTHER[rule].get("bias", 0.0), 3)
    want = np.zeros(acc.shape, int)
    for i, channel in np.ndindex(acc.shape):
        w = np.broadcast_to(ws, 3)[channel]
        real = Fraction(a) * Fraction(w) * int(acc[i, channel]) + Fraction(bias[channel])
        if y is None:
            code = round((real + Fraction(31.875)) * 4)
            want[i, channel] = min(max(code, 0), 255)
        else:
            zero = OTHER[rule].get("zero_point", 0)
            lowest = -127 if "ncnn" in rule else -128
            to_even = rule in ("cadence", "torch-fbgemm-bias") or "onednn" in rule
            code = round(real / Fraction(y)) + zero if to_even else half_away(real / Fraction(y) + zero)
            want[i, channel] = min(max(code, lowest), 127)
    np.testing.assert_array_equal(got, want)
    assert len(np.unique(want)) > 60


@pytest.mark.parametrize("rule", rules.REAL_BIAS)
def test_prepared_op_gives_the_codes_of_the_function(rule, rng):
    acc = rng.integers(-700, 700, (4, 3))
    op, want = rules.Requantize(rule, **given(rule)), rules.requantize(acc, rule, **given(rule))
    again = pickle.loads(pickle.dumps(op))
    assert repr(again) == repr(op)
    assert repr(eval(repr(op), {"Requantize": rules.Requantize, "np": np})) == repr(op)
    out = np.zeros((3, 4), want.dtype).T
    for each in (op, again):
        np.testing.assert_array_equal(each(acc), want)
        assert each(acc.astype(np.int32)[::-1], out) is out
        np.testing.assert_array_equal(out, want[::-1])
    scale = np.broadcast_to(np.float64(SCALES[rule][1]), 3) * 0.5 / (SCALES[rule][2] or 0.25)
    np.testing.assert_array_equal(np.broadcast_to(op.scale, 3), scale)
    assert op.ends == ((0, 255) if "openvino" in rule else (-127, 127) if "ncnn" in rule else (-128, 127))
    with pytest.raises(ValueError, match=r"^rule: .* it has no integers"):
        _ = op.integers


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_channels_lie_along_the_axis(axis, rng):
    acc = rng.integers(-700, 700, (3, 3, 3))
    got = rules.requantize(acc, "ncnn", axis=axis, **given("ncnn"))
    for i in range(3):
        how = {"scales": (0.5, SCALES["ncnn"][1][i], 2.0), "bias": OTHER["ncnn"]["bias"][i]}
        np.testing.assert_array_equal(np.take(got, i, axis), rules.requantize(np.take(acc, i, axis), "ncnn", **how))


def test_in_zero_point_and_ends():
    how = {"scales": (1.0, 1.0, 1.0), "bias": 0.5}
    assert rules.requantize([-300, 7, 300], "ncnn", in_zero_point=7, **how).tolist() == [-127, 1, 127]
    assert rules.requantize([-300, 7, 300], "ncnn", qmin=-128, qmax=6, **how).tolist() == [-128, 6, 6]


@pytest.mark.parametrize(
    ("rule", "change", "words"),
    [
        ("fp32-even", {"bias": 0.5, "scale": 1.0, "scales": None}, "bias: fp32-even adds no real bias; add it to acc"),
        ("fp32-even", {"bias": None, "range": (0, 1)}, "range: expected none by fp32-even"),
        ("fp32-even", {"bias": None, "x_zero_point": 3}, "x_zero_point: expected none by fp32-even"),
        ("ncnn", {"bias": None}, "bias: missing"),
        ("ncnn", {"scale": 0.5}, "scale: ncnn adds a bias between its scales"),
        ("ncnn", {"scales": None}, r"scales: expected \(in_scale, w_scale, out_scale\)"),
        ("ncnn", {"scales": (1.0, 0.0, 1.0)}, "scales: w_scale: expected finite numbers above 0"),
        ("ncnn", {"scales": (1.0, 1.0, None)}, "scales: out_scale: expected a number"),
        (
            "ncnn",
            {"scales": (1e-300, 1.0, 1.0), "acc": [0]},
            "scales: in_scale: expected finite numbers above 0, also in float32",
        ),
        ("ncnn", {"zero_point": 3}, "zero_point: ncnn has none, got 3"),
        ("ncnn", {"bias": [1.0, 2.0]}, r"bias: 2 of them do not fit axis -1 of acc, shape \(3,\)"),
        ("ncnn", {"bias": ["a"]}, "bias: expected numbers"),
        ("ncnn", {"bias": np.inf}, "bias: expected finite numbers"),
        ("ncnn", {"acc": [0.5]}, "acc: expected integers"),
        ("ncnn", {"acc": [2**31]}, "acc: int32 does not hold"),
        ("ncnn", {"range": (0, 1)}, "range: given, ncnn takes none"),
        ("ncnn", {"out": np.zeros(2, np.int8)}, "out: shape"),
        ("mnn", {}, "w_sums: missing"),
        ("mnn", {"w_sums": [0.5]}, "w_sums: expected integers"),
        ("openvino", {"range": (1, 1), "scales": (1, 1, None), "dtype": "uint8"}, "range: expected min < max"),
        ("openvino", {"range": (0, 1), "scales": (1, 1, None)}, "dtype: a range is one of uint8 codes"),
        ("openvino", {"range": (0, 1), "dtype": "uint8"}, "scales: out_scale: expected None beside a range"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(rule, change, words):
    how = {"acc": [1, 2, 3], "scales": (1.0, 1.0, 1.0), "bias": 0.5} | change
    if rule == "fp32-even":
        how |= {"scale": 1.0, "scales": None}
    with pytest.raises((ValueError, TypeError), match=f"^{words}"):
        rules.requantize(how.pop("acc"), rule, **how)
