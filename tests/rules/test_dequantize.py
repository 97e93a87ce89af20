"""`qops.rules.dequantize`: exact cases by fractions, where each rule rounds, arguments. Golden sets have the bits."""

from fractions import Fraction

import numpy as np
import pytest

from qops import rules

F = np.float32


@pytest.mark.parametrize("rule", [rule for rule in rules.DEQUANTIZE if rule != "bitsandbytes"])
def test_values_are_exact_where_floats_are(rule, rng):
    acc = rng.integers(-(2**12), 2**12, (5, 3), np.int32)
    a, w, bias = 2.0 ** rng.integers(-4, 4, (5, 1)), 2.0 ** rng.integers(-4, 4, 3), np.float32([0.5, 0, -3])
    of_zero = {"w_sums": np.array([-300, 0, 77]), "x_zero_point": 3} if rules.DEQUANTIZE[rule].splits else {}
    got = rules.dequantize(acc, rule, in_scale=a, w_scale=w, bias=bias, **of_zero)
    assert got.dtype == F
    for i, j in np.ndindex(5, 3):
        assert Fraction(float(got[i, j])) == int(acc[i, j]) * Fraction(a[i, 0]) * Fraction(w[j]) + Fraction(
            float(bias[j])
        )
    np.testing.assert_array_equal(rules.dequantize(acc, rule, in_scale=a, w_scale=w, **of_zero), acc * a * w)


def test_each_rule_rounds_where_its_formula_says(rng):
    acc = rng.integers(-(2**24), 2**24, 3000).astype(np.int32)
    a, w, b = 0.0173, 0.7, 0.2507
    of_zero = {rule: {"w_sums": 77, "x_zero_point": 3} if row.splits else {} for rule, row in rules.DEQUANTIZE.items()}
    got = {rule: rules.dequantize(acc, rule, in_scale=a, w_scale=w, bias=b, **more) for rule, more in of_zero.items()}
    x, inverse = acc.astype(F), F(1) / (F(1 / a) * F(1 / w))
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(got["multiply-add"], x * (F(a) * F(w)) + F(b))
    taken, scale = (3 - 128) * 77, F(a) * F(w)
    first = rules.dequantize(acc + taken, "fma", in_scale=a, w_scale=w, bias=b)
    fused = [float(F(float(Fraction(-taken) * Fraction(float(scale)) + Fraction(float(v))))) for v in first[:50]]
    assert got["torch-onednn-arm"][:50].tolist() == fused
    np.testing.assert_array_equal(got["ncnn-no-fma"], x * inverse + F(b))
    np.testing.assert_array_equal(got["ct2"], x * (F(1) / F(1 / a)) / F(1 / w) + F(b))
    np.testing.assert_array_equal(got["bitsandbytes"], x * (F(127 * a) * F(127 * w)) * F(6.200124e-05) + F(b))
    for rule, scale in (("fma", F(a) * F(w)), ("ncnn", inverse)):
        exact = np.array([Fraction(float(v)) * Fraction(float(scale)) + Fraction(float(F(b))) for v in wide])
        near = got[rule].astype(np.float64)
        for way in (-np.inf, np.inf):  # no other float32 is nearer
            other = np.nextafter(got[rule], F(way)).astype(np.float64)
            off = [(abs(Fraction(n) - e), abs(Fraction(o) - e)) for n, o, e in zip(near, other, exact, strict=True)]
            assert all(mine <= theirs for mine, theirs in off)
    assert len({values.tobytes() for values in got.values()}) == len(got)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rule": "none"}, "rule: expected one of multiply-add"),
        ({"acc": [0.5]}, "acc: expected integers"),
        ({"acc": [2**31]}, "acc: int32 does not hold"),
        ({"in_scale": 0}, "in_scale: expected numbers above 0"),
        ({"w_scale": [1.0, 2.0]}, r"w_scale: shape \(2,\) does not broadcast against acc, shape \(3,\)"),
        ({"w_scale": [[1.0]]}, r"w_scale: shape \(1, 1\) does not broadcast"),
        ({"w_scale": "1"}, "w_scale: expected numbers"),
        ({"bias": np.nan}, "bias: expected finite float32 numbers"),
        ({"in_scale": 1e39}, "in_scale: expected finite float32 numbers"),
        ({"out": np.zeros(3)}, "out: "),
        ({"w_sums": 3}, "w_sums: given, fma takes none"),
        ({"x_zero_point": 3}, "x_zero_point: given, fma takes none"),
        ({"rule": "torch-onednn-arm"}, "w_sums: missing"),
        ({"rule": "torch-onednn-arm", "w_sums": 5}, "x_zero_point: missing"),
        ({"rule": "torch-onednn-arm", "w_sums": 0.5, "x_zero_point": 3}, "w_sums: expected integers"),
        ({"rule": "torch-onednn-arm", "w_sums": [1, 2], "x_zero_point": 3}, "w_sums: shape"),
        ({"rule": "torch-onednn-arm", "w_sums": 5, "x_zero_point": 256}, "x_zero_point: "),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, words):
    how = {"acc": [1, 2, 3], "rule": "fma", "in_scale": 1.0, "w_scale": 1.0} | change
    with pytest.raises((ValueError, TypeError), match=f"^{words}"):
        rules.dequantize(how.pop("acc"), how.pop("rule"), **how)
