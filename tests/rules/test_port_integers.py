"""`rules.add` and `mul` with the integers of a port, and clamped: Python integers compute what TFLite's code says."""

import numpy as np
import pytest

from qops import rules
from qops.rules import ADD, MUL

ZEROS = {"a_zero_point": 3, "b_zero_point": 100, "y_zero_point": 20}
SCALES = {"a_scale": 0.5, "b_scale": 0.125, "y_scale": 0.55}
OF_INTEGERS = [("add", name) for name, row in ADD.items() if row.derived]
OF_INTEGERS += [("mul", name) for name, row in MUL.items() if row.derived]
EVERY = [*(("add", name) for name in ADD), *(("mul", name) for name in MUL)]


def codes(rng, dtype, count=3000):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, (2, count)).astype(dtype)


def wrapped(x):
    return (x + 2**31) % 2**32 - 2**31


def double(x, multiplier, right_shift):
    """MultiplyByQuantizedMultiplier with two roundings."""
    high = (wrapped(x << max(31 - right_shift, 0)) * multiplier + 2**30) >> 31
    rest = max(right_shift - 31, 0)
    return (1 if high > 0 else -1) * ((abs(high) + (1 << rest >> 1)) >> rest)


def single(x, multiplier, right_shift):
    return wrapped((x * multiplier + (1 << right_shift >> 1)) >> right_shift)


@pytest.mark.parametrize(("op", "rule"), OF_INTEGERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
def test_integers_that_are_given_back_make_the_same_codes(rng, op, rule, dtype):
    row, kind = (ADD if op == "add" else MUL)[rule], getattr(rules, op.capitalize())
    if dtype == np.int16 and not row.takes_int16:
        return
    zeros = {name: 0 for name in ZEROS} if dtype == np.int16 else ZEROS
    scales = SCALES | ({"y_scale": 5000.0} if op == "mul" and dtype == np.int16 else {})
    made = kind(rule, **scales, **zeros, dtype=dtype)
    again = kind(rule, integers=made.integers, **zeros, dtype=dtype)
    assert again.integers == made.integers
    a, b = codes(rng, dtype)
    np.testing.assert_array_equal(made(a, b), again(a, b))
    assert len(np.unique(made(a, b))) > 20


@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
@pytest.mark.parametrize(("rule", "times"), [("tflite-double", double), ("tflite-single", single)])
@pytest.mark.parametrize(
    "steps",
    [
        ((2**30, 31), (1717986918, 33), (1952257862, 49)),  # as TFLite makes them: one operand is exactly a half
        ((1717986918, 33), (2**30, 31), (1952257862, 49)),
        ((2**30, 31), (2**30, 31), (1952257862, 49)),
        ((1518500250, 31), (1717986918, 32), (1952257862, 49)),  # neither is
        ((1717986919, 32), (1518500249, 62), (1952257862, 48)),
        ((1518500250, 30), (1717986918, 29), (1952257862, 50)),  # shifts to the left, which wrap
    ],
)
def test_sums_of_any_integers_are_what_tflite_computes(rng, steps, rule, times, dtype):
    zeros = {name: 0 for name in ZEROS} if dtype == np.int16 else ZEROS
    if dtype == np.int16:
        steps = (*steps[:2], (steps[2][0], steps[2][1] - 5))
    (a, b), left, info = codes(rng, dtype), 15 if dtype == np.int16 else 20, np.iinfo(dtype)
    want = []
    for p, q in zip(a.tolist(), b.tolist(), strict=True):
        x = times((p - zeros["a_zero_point"]) << left, *steps[0])
        y = times((q - zeros["b_zero_point"]) << left, *steps[1])
        want.append(times(wrapped(x + y), *steps[2]) + zeros["y_zero_point"])
    got = rules.add(a, b, rule, integers=steps, **zeros)
    np.testing.assert_array_equal(got, np.clip(want, info.min, info.max))


def test_xnnpack_takes_its_two_multipliers_and_its_shift(rng):
    a, b = codes(rng, np.int8)
    zeros = {name: 0 for name in ZEROS}
    got = rules.add(a, b, "xnnpack", integers=((1048576, 0), (-700001, 0), (1, 20)), **zeros)
    want = (a.astype(int) * 1048576 + b.astype(int) * -700001 + 2**19) >> 20
    np.testing.assert_array_equal(got, want.clip(-128, 127))


def test_a_product_takes_the_multiplier_of_its_port(rng):
    a, b = codes(rng, np.int8)
    got = rules.mul(a, b, "tflite-double", integers=(1717986918, 37), **{name: 0 for name in ZEROS})
    want = [double(p * q, 1717986918, 37) for p, q in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(got, np.clip(want, -128, 127))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("op", "rule"), EVERY)
def test_a_clamped_result_is_the_result_clamped(rng, op, rule, dtype):
    (a, b), call = codes(rng, dtype, 701), getattr(rules, op)
    free = call(a, b, rule, **SCALES, **ZEROS)
    for ends in ({"qmin": 20}, {"qmax": 90}, {"qmin": 20, "qmax": 90}, {"qmin": 5, "qmax": 5}):
        got = call(a, b, rule, **SCALES, **ZEROS, **ends)
        np.testing.assert_array_equal(got, free.clip(ends.get("qmin"), ends.get("qmax")))
    assert free.min() < 20 < 90 < free.max()


GOOD = ((2**30, 31), (2**30, 32), (2**30, 49))


@pytest.mark.parametrize(
    ("op", "changes", "text"),
    [
        ("add", {"integers": (1, 2)}, r"^integers: expected three pairs \(multiplier, right_shift\), got \(1, 2\)"),
        ("add", {"integers": (1, 2, 3)}, "^integers: expected .multiplier, right_shift., got 1"),
        ("add", {"integers": ((1, -1), *GOOD[1:])}, "^integers: expected a multiplier of 32 bits and a right shift in"),
        ("mul", {"integers": ([1, 2], [3, 4])}, "^integers: expected one multiplier and one right shift"),
        ("add", {"integers": GOOD, "b_scale": 0.5}, "^b_scale: given beside integers, got 0.5"),
        ("add", {"rule": "torch", "integers": GOOD}, "^integers: torch multiplies by the scales themselves"),
        (
            "add",
            {"rule": "xnnpack", "integers": GOOD},
            "(?s)^integers: .* are out of the range of xnnpack: a and",
        ),
        (
            "add",
            {"rule": "tflite-opt-s8", "integers": ((1, 30), *GOOD[1:])},
            "^integers: .* out of the range of tflite-opt",
        ),
        ("mul", {"integers": None, "a_scale": 1.0}, "^b_scale: missing, expected all three scales, or integers"),
        ("mul", {"integers": (1, 31), "qmin": 300}, r"^qmin: expected an integer in \[0, 255\], got 300"),
        ("mul", {"integers": (1, 31), "qmin": 30, "qmax": 20}, r"^qmax: expected an integer in \[30, 255\], got 20"),
    ],
)
def test_bad_integers_and_ends_are_named(op, changes, text):
    few = np.zeros(3, np.uint8)
    how = {"rule": "tflite-double", **ZEROS} | changes
    with pytest.raises((ValueError, TypeError), match=text):
        getattr(rules, op)(few, few, **how)


def test_what_an_op_does_not_have_is_said():
    made = rules.Mul("torch", **SCALES, **ZEROS)
    with pytest.raises(ValueError, match=r"^integers: torch multiplies by the scales themselves"):
        print(made.integers)
    with pytest.raises(ValueError, match=r"^y_scale: the op has integers, and no scales"):
        print(rules.Mul("tflm-double", integers=(2**30, 40), **ZEROS).scale)
