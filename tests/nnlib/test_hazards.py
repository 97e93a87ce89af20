"""Where nnlib goes wrong: `qops.nnlib` gives its wrong result, the front door a right one for the same input."""

from itertools import product

import numpy as np
import pytest
from cases import ends_of

import qops
from qops import nnlib

A, B = (np.array(codes, np.uint8) for codes in zip(*product(range(256), repeat=2), strict=True))

# Each row: a, b, guess; the range that the original returns; how far it is off in LSB, at most and on average.
ROWS = {
    "x wraps": ((0, 200), (0, 1), (0, 201), (0, 201), 255, 75.5),
    "x wraps, and its minimum widens the range": ((0, 128.4), (0, 1), (None, None), (-154.2, 154.2), 212.3, 1.46),
    "kappa wraps": ((1000, 1001), (0, 1), (0, 1002), (0, 1002), 255, 254.7),
    "kappa wraps, range free": ((1000, 1001), (0, 1), (None, None), (-33.6, 0.5), 213, 205.8),
    "recip is clipped": ((-1, 1), (-1, 1), (-0.5, 0.5), (-0.502, 0.498), 64, 23.8),
    "u - offset wraps": ((0, 127), (0, 1), (-1, 0), (-1, 0), 255, 0.49),
    "a is copied, range free": ((-300, 300), (-1, 1), (None, None), (-360, 360), 21.6, 10.7),
    "a is copied, range given": ((-300, 300), (-1, 1), (-302, 300), (-302.2, 299.8), 1.35, 0.52),
}


def values(t):
    data, lo, hi = t
    lo, hi = (float(np.float32(end)) for end in (lo, hi))
    return lo + data * ((hi - lo) / 255)


def error(a, b, t, cut=True):
    """In output LSB, against the exact sum, cut to the output range or not."""
    exact = values(a) + values(b)
    exact = np.clip(exact, t.min, t.max) if cut else exact
    return np.abs(values(t) - exact) / ((t.max - t.min) / 255)


@pytest.mark.parametrize("row", ROWS)
def test_the_speculative_add_is_as_wrong_as_the_original(row):
    a_range, b_range, guess, found, most, mean = ROWS[row]
    a, b = (A, *a_range), (B, *b_range)
    t = nnlib.quantized_add_8p8to8(a, b, *guess, form="spec")
    assert (t.min, t.max) == pytest.approx(found, rel=2e-3, abs=1e-3)
    off = error(a, b, t)
    assert off.max() == pytest.approx(most, abs=0.3 if most > 2 else 0.01)
    assert off.mean() == pytest.approx(mean, abs=0.1 if mean > 2 else 0.01)


@pytest.mark.parametrize("row", ROWS)
def test_the_front_door_is_right(row):
    a_range, b_range, guess, *_ = ROWS[row]
    a, b = (A, *a_range), (B, *b_range)
    t, info = qops.quantized_add_8p8to8(a, b, guess, return_info=True)
    assert error(a, b, t, cut=False).max() <= 0.6
    assert info.passes <= 2


def test_a_given_range_0_wide_is_no_error():
    a, b = (A, -1, 1), (B, -1, 1)
    t = nnlib.quantized_add_8p8to8(a, b, 0, 0, form="spec")
    assert (t.min, t.max) == (0, 0)
    assert np.unique(t.data).size > 2  # codes that mean nothing
    with pytest.raises(ValueError, match="too narrow"):
        nnlib.quantized_add_8p8to8(a, b, 0, 0, form="flat")
    assert error(a, b, qops.quantized_add_8p8to8(a, b, (0, 0)), cut=False).max() <= 0.6


def test_two_ranges_0_wide():
    a, b = (A, 1, 1), (B, 2, 2)
    with pytest.raises(ValueError, match="0 wide"):
        nnlib.quantized_add_8p8to8(a, b, form="spec")
    flat = nnlib.quantized_add_8p8to8(a, b, form="flat")
    assert abs(values(flat)[0] - 3) > 2.5  # the offsets are lost
    t = qops.quantized_add_8p8to8(a, b)
    assert (t.min, t.max) == (3, 3)


@pytest.mark.parametrize("wide", [(1, 1, 4, 64), (1, 3, 1, 64), (2, 1, 1, 64), (1, 4, 64)])
def test_an_operand_is_expanded_along_the_last_axis_only(wide):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 256, wide, np.uint8), rng.integers(0, 256, 64, np.uint8)
    for pair in (((a, -1, 1), (b, -1, 1)), ((b, -1, 1), (a, -1, 1))):
        with pytest.raises(ValueError, match="reads beyond the end"):
            nnlib.quantized_add_8p8to8(*pair)
        assert error((a, -1, 1), (b, -1, 1), qops.quantized_add_8p8to8(*pair), cut=False).max() <= 0.6
    column = (a[..., :1].copy(), -1, 1)
    op, spec = (nnlib.quantized_add_8p8to8((a, -1, 1), column, form=form) for form in ("op", "spec"))
    np.testing.assert_array_equal(op.data, spec.data)
    assert (op.min, op.max) == (spec.min, spec.max)


def test_the_retry_rules_need_not_settle():
    a, b = (np.uint8([128]), -24.254631, 20.347172), (np.uint8([255]), -0.9, 0.1)
    node = nnlib.QuantizedAdd8p8to8(form="spec")
    before = node(a, (b[0], -6.0, 0.0))
    out = np.uint8([77])
    with pytest.raises(ValueError, match="guess_min None and guess_max None, the output range never settles"):
        nnlib.quantized_add_8p8to8(a, b, form="spec", out=out)
    assert out == 77
    assert ends_of(node(a, (b[0], -6.0, 0.0))) == (before.min, before.max)
    assert qops.quantized_add_8p8to8(a, b, return_info=True)[1].passes <= 2


def test_flat_loses_the_offset_of_a_range_without_0():
    a, b = (A, 1, 2), (B, 0, 1)
    t = nnlib.quantized_add_8p8to8(a, b, form="flat")
    assert error(a, b, t).max() == pytest.approx(98.3, abs=0.1)
    assert error(a, b, qops.quantized_add_8p8to8(a, b), cut=False).max() <= 0.6


def test_flat_with_a_given_maximum_never_looks():
    a, b = (A, -1, 1), (B, -1, 1)
    node = nnlib.QuantizedAdd8p8to8(guess_max=2, form="flat")
    t = node(a, b)
    assert (t.min, t.max, node.passes) == (0, 2, 1)
    assert np.all(t.data[values(a) + values(b) < -0.01] == 0)
    d32 = nnlib.QuantizedAdd8p8to8(guess_max=2, form="d32")
    assert d32(a, b).min < -1.9
    assert d32.passes == 2


@pytest.mark.parametrize(
    ("a", "b", "form", "given", "most", "mean"),
    [
        ((-1, 1), (-1, 1), "spec", True, 0.5, 0.25),
        ((-1, 1), (-1, 1), "flat", True, 1.0, 0.75),
        ((-10, 10), (-1, 1), "flat", True, 0.96, 0.5),
        ((-200, 200), (-1, 1), "spec", False, 1.67, 0.57),
        ((-200, 200), (-1, 1), "spec", True, 0.52, 0.26),
        ((0, 6), (0, 6), "spec", False, 0.5, 0.25),
        ((-5, 0), (-3, 0), "spec", True, 1.0, 0.36),
        ((-256 / 255, 254 / 255), (-1, 1), "flat", False, 0.7, 0.29),
    ],
)
def test_error_where_nothing_wraps(a, b, form, given, most, mean):
    guess = (a[0] + b[0], a[1] + b[1]) if given else (None, None)
    off = error((A, *a), (B, *b), nnlib.quantized_add_8p8to8((A, *a), (B, *b), *guess, form=form))
    assert (off.max(), off.mean()) == pytest.approx((most, mean), abs=0.015)
