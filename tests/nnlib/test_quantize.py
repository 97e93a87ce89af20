"""`qops.nnlib` quantize and dequantize: the twins on random data and ranges, all codes, bad input."""

import numpy as np
import pytest
import reference_nnlib as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ops import on_every_tier
from qops._kernels.nnlib.quantize import quantize_integers

from qops import nnlib

many = settings(max_examples=200, deadline=None)
any_float = st.floats(width=32, allow_nan=True, allow_infinity=True)
finite = st.floats(-(2.0**90), 2.0**90, width=32)
near = st.floats(-4, 4, width=32)
values = st.lists(st.one_of(near, finite), max_size=20)
ends = st.tuples(near, near).map(sorted).map(tuple)
OPS = {"quantize": twin.quantize_mantissa, "quantize_ref": twin.quantize_rounded}


def check(t, want):
    codes, lo, hi = want
    assert t.data.tolist() == [int(c) for c in codes]
    assert (np.float32(t.min).tobytes(), np.float32(t.max).tobytes()) == (lo.tobytes(), hi.tobytes())


@pytest.mark.long
@many
@example(x=[-1e4, 1e4, -5000.0, np.inf, -np.inf, np.nan, 0.0, -0.0], r=(-1.0, 1.0))
@given(x=st.lists(any_float, max_size=20), r=ends)
def test_quantize_matches_twin(x, r):
    check(nnlib.quantize(np.float32(x), *r), twin.quantize_mantissa(np.float32(x), *r))


@pytest.mark.parametrize("exponent", range(-25, -16))
def test_a_tiny_lower_end_above_0_counts_to_its_last_bit(exponent):
    x = np.float32(np.arange(1000, 1100) * 2.0**-19)  # as fine as shifted mantissas, from code 0 to code 1
    check(nnlib.quantize(x, 1.5 * 2.0**exponent, 1.0), twin.quantize_mantissa(x, 1.5 * 2.0**exponent, 1.0))


@pytest.mark.long
@many
@given(x=st.lists(any_float, max_size=20), r=ends)
def test_quantize_ref_matches_twin(x, r):
    if r[0] > 0 or r[1] < 0 or r[1] - r[0] < 1e-8:
        with pytest.raises(ValueError, match="the original refuses"):
            nnlib.quantize_ref(np.float32(x), *r)
    else:
        check(nnlib.quantize_ref(np.float32(x), *r), twin.quantize_rounded(np.float32(x), *r))


@pytest.mark.long
@many
@example(x=[])
@example(x=[0.0, -0.0])
@given(x=values)
def test_auto_quantize_matches_twins(x):
    x = np.float32(x)
    lo, hi = np.float32(min([-0.0, *x])), np.float32(max([0.0, *x]))
    check(nnlib.auto_quantize(x), twin.quantize_mantissa(x, lo, hi))
    check(nnlib.auto_quantize_ref(x), twin.quantize_rounded(x, lo, max(hi, lo + np.float32(1e-4))))


def test_the_two_quantizers_differ_by_little():
    x = np.random.default_rng(0).uniform(-1, 1, 100_000).astype(np.float32)
    fast, ref = nnlib.quantize(x, -1, 1), nnlib.quantize_ref(x, -1, 1)
    differ = np.abs(fast.data.astype(int) - ref.data)
    assert differ.max() == 1
    assert 0 < differ.mean() < 0.004
    for t, bound in ((fast, 0.54), (ref, 0.5001)):
        assert np.abs((x - t.min) / ((t.max - t.min) / 255) - t.data).max() < bound


@pytest.mark.long
@many
@example(r=(-1.0, 1.0))
@example(r=(0.0, 0.0))
@given(r=st.one_of(ends, st.tuples(finite, finite).map(sorted).map(tuple)))
def test_dequantize_matches_twin_on_all_codes(r):
    codes = np.arange(256, dtype=np.uint8)
    got = nnlib.dequantize((codes, *r))
    np.testing.assert_array_equal(got, np.float32(twin.dequantize(codes.tolist(), *r)))
    assert not np.signbit(got[got == 0]).any()


def test_dequantize_rounds_ties_away():
    step = np.float32(1 + 3 * 2.0**-23)  # 3 * step needs 25 bits, and the even neighbour is the lower one
    got = on_every_tier(nnlib.dequantize, (np.full(70, 3, np.uint8), 0.0, float(step) * 255))
    exact = 3 * float(step)
    assert (got == np.float32(exact + 2.0**-23)).all()
    assert got[0] > np.float32(exact)


def test_dequantize_qint32_f():
    x = np.random.default_rng(0).integers(-(2**31), 2**31, 99, np.int32)
    got = nnlib.dequantize_qint32_f((x, -3.0, 3.0))
    np.testing.assert_array_equal(got, x.astype(np.float32) * np.float32(6 / 2**32))


X = np.zeros(3, np.float32)
CODES = np.zeros(3, np.uint8)
BAD = [
    (lambda: nnlib.quantize(["0"], 0, 1), "x: expected real numbers, got <U1"),
    (lambda: nnlib.quantize(X, 1, 0), "min, max: min 1"),
    (lambda: nnlib.quantize(X, -3e38, 3e38), "wider than float32"),
    (lambda: nnlib.quantize_ref(X, -3e38, 3e38), "wider than float32"),
    (lambda: nnlib.auto_quantize(np.float32([-3e38, 3e38])), "x: its range .* is wider than float32"),
    (lambda: nnlib.quantize_ref(X, 0, 1e-9), "narrower than 1e-8"),
    (lambda: nnlib.quantize_ref(X, 1, 2), "does not hold 0"),
    (lambda: nnlib.auto_quantize(np.float32([1, np.inf])), "infinite"),
    (lambda: nnlib.auto_quantize_ref(np.float32([np.nan])), "NaN"),
    (lambda: nnlib.quantize(X, 0, 1, out=np.zeros(3, np.int8)), "out: expected native uint8"),
    (lambda: nnlib.dequantize((CODES.astype(np.int8), 0, 1)), "t: expected uint8"),
    (lambda: nnlib.dequantize((CODES, -3e38, 3e38)), "wider than float32"),
    (lambda: nnlib.dequantize_qint32_f((np.int32([1]), -1, 2)), "not symmetric"),
    (lambda: nnlib.dequantize_qint32_f((np.int32([1]), -3e38, 3e38)), "wider than float32"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("ends", [(-1.0, 2.0), (0.0, 100.0), (-3.0, 0.0)])
def test_integers_are_what_the_loop_uses(ends):
    k = quantize_integers(*ends)
    x = np.linspace(*ends, 1001, dtype=np.float32)
    exponents = x.view(np.uint32) >> 23 & 0xFF
    mantissas = np.int64(x.view(np.uint32) & 0x7FFFFF | 0x800000) >> np.minimum(k["common_exponent"] - exponents, 31)
    codes = np.minimum((np.where(x < 0, -mantissas, mantissas) + k["offset"]) * k["scaling"] >> 16, 65535) >> 8
    t = nnlib.quantize(x, *ends)
    np.testing.assert_array_equal(t.data, codes)
    assert (t.min, t.max) == (k["min"], k["max"])


@pytest.mark.parametrize("op", [nnlib.quantize, nnlib.quantize_ref, nnlib.quantize_int32])
def test_data_are_read_as_float32(op):
    x = [0.1, -0.7, 3, 1e39]
    want = op(np.float32([0.1, -0.7, 3, np.inf]), -1.0, 2.0)
    assert op(x, -1.0, 2.0) == op(np.float64(x), -1.0, 2.0) == want
    assert nnlib.auto_quantize(x[:3]) == nnlib.auto_quantize(np.float32(x[:3]))
