"""Rules of `add` and `mul` that numpy's operations make: all pairs of codes one by one, and arguments."""

import pickle

import numpy as np
import pytest

from qops import rules

F = np.float32
HOW = {"a_scale": 0.0117, "a_zero_point": 3, "b_scale": 0.0231, "b_zero_point": -9, "y_scale": 0.017, "y_zero_point": 5}
A, B = (v.ravel() for v in np.meshgrid(*[np.arange(-128, 128, dtype=np.int8)] * 2, indexing="ij"))


def fma(a, b, c):
    return (np.longdouble(a) * np.longdouble(b) + np.longdouble(c)).astype(F)


SA, SB, SY = (F(HOW[f"{name}_scale"]) for name in "aby")
X, Y = A.astype(F) - F(3), B.astype(F) + F(9)
WANTED = {
    (rules.add, "ort-arm-float"): np.rint(fma(X, SA, SB * Y) / SY + F(5)),
    (rules.add, "cadence"): np.rint((X * SA + Y * SB) * F(1 / 0.017)) + 5,
    (rules.mul, "ort-arm"): np.rint(fma(X * Y, SA * SB / SY, F(5))),
    (rules.mul, "cadence"): np.rint((X * SA) * (Y * SB) * F(1 / 0.017)) + 5,
}
ROWS = pytest.mark.parametrize(("op", "rule"), WANTED)
CLASSES = {rules.add: rules.Add, rules.mul: rules.Mul}


@ROWS
def test_all_pairs_are_as_the_formula_says(op, rule):
    want = WANTED[op, rule].clip(-128, 127).astype(np.int8)
    np.testing.assert_array_equal(op(A, B, rule, **HOW), want)
    np.testing.assert_array_equal(op(A, B, rule, qmin=-20, qmax=30, **HOW), want.clip(-20, 30))
    assert len(np.unique(want)) > 200


@ROWS
def test_prepared_op_gives_the_codes_of_the_function(op, rule):
    made = CLASSES[op](rule, dtype="int8", **HOW)
    again, out = pickle.loads(pickle.dumps(made)), np.zeros(2 * len(A), np.int8)[::2]
    assert repr(again) == repr(made)
    assert made(A, B, out) is out
    np.testing.assert_array_equal(out, op(A, B, rule, **HOW))
    assert (again.scale, again.zero_point) == (0.017, 5)
    with pytest.raises(ValueError, match=rf"^integers: {rule} multiplies by the scales"):
        _ = made.integers


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"a": A.astype(np.int16)}, "a: expected uint8 or int8"),
        ({"b": B.view(np.uint8)}, "b: expected int8 data, got uint8"),
        ({"b": B[1:]}, "a, b: expected equal shapes"),
        ({"integers": ((1, 2),) * 3}, "integers: ort-arm multiplies by the scales"),
        ({"a_scale": 1e30, "b_scale": 1e30}, "a_scale, b_scale, y_scale: 1e.30, 1e.30, 0.017 are out of the range"),
        ({"y_scale": 0}, "y_scale: expected a number above 0"),
        ({"a_zero_point": 200}, "a_zero_point: expected an integer"),
        ({"qmin": 9, "qmax": 8}, "qmax: expected"),
        ({"out": np.zeros(3, np.int8)}, "out: "),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, words):
    with pytest.raises((ValueError, TypeError), match=f"^{words}"):
        rules.mul(**{"a": A, "b": B, "rule": "ort-arm", **HOW} | change)


@pytest.mark.parametrize("rule", ["torch-acl", "torch-acl-tail"])
def test_numbers_of_no_axis_stay_so(rule):
    numbers = {"a_scale": 0.25, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 9, "y_scale": 0.35}
    codes, out = np.array(120, np.uint8), np.empty((), np.uint8)
    assert rules.add(codes, codes, rule, **numbers, y_zero_point=23, out=out) is out
    assert out == rules.add(codes[None], codes[None], rule, **numbers, y_zero_point=23)[0]


@pytest.mark.parametrize("y_scale", [2.0**40, 2.0**100, np.finfo(np.float32).max])
def test_a_sum_far_below_one_step_is_the_zero_point(y_scale):
    """The shift of its multipliers is larger than that of any integer of 64 bits."""
    zeros = {"a_zero_point": 3, "b_zero_point": 9, "y_zero_point": 20}
    op = rules.Add("xnnpack-left", a_scale=1.0, b_scale=0.1875, y_scale=y_scale, **zeros)
    codes = np.uint8([0, 3, 9, 255])
    assert op(codes, codes[::-1].copy()).tolist() == [20] * 4
