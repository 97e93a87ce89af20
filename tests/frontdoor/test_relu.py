"""relu: every code of 8 and 16 bits and some of 32 within the bound, for many ranges; exact where 0 is on a code."""

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, rounded, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier

import qops
from qops.frontdoor.relu import BOUND_RELU
from qops.qtensor import read_as

EVERY = {t: np.arange(np.iinfo(t).min, np.iinfo(t).max + 1).astype(t) for t in (np.uint8, np.int8, np.uint16, np.int16)}
SOME = np.int32([-(2**31), -(2**31) + 1, -1, 0, 1, 99, 2**30, 2**31 - 2, 2**31 - 1])


def check(codes, ends, limit=None):
    """The twin, and the bound on every value; outside of the cut ends not a bit changes."""
    ends = rounded(*ends)
    t = on_every_tier(qops.relu, (codes, *ends), limit)
    wanted, lo, hi = reference.relu(codes, *ends, limit)
    assert (t.min, t.max) == (lo, hi)
    assert t.data.dtype == codes.dtype
    np.testing.assert_array_equal(t.data, wanted)
    if ends[0] < ends[1]:
        exact, step = reference.values_of(codes, *ends)
        got, _ = reference.values_of(t.data, t.min, t.max)
        cut = np.clip(exact, 0.0, np.inf if limit is None else np.float32(limit))
        assert np.abs(got - cut).max() <= BOUND_RELU * step * (1 + 1e-9)


RANGES = {f"{name} {which}": pair[which] for name, pair in RANGE_PAIRS.items() for which in (0, 1)}


@pytest.mark.parametrize("ends", RANGES.values(), ids=RANGES)
def test_relu_of_every_code_within_bound(ends):
    for codes in (EVERY[np.uint8], EVERY[np.int8]):
        for limit in (None, 0.0, 0.3 * abs(ends[1]), 2.0 * min(abs(ends[1]), 1e38)):
            check(codes, ends, limit)


@given(ends=spans(), limit=st.none() | st.floats(0, 2**100, width=32))
def test_relu_of_any_range_within_bound(ends, limit):
    for codes in (EVERY[np.uint8], EVERY[np.int8]):
        check(codes, ends, limit)
    top = max(map(abs, ends))
    check(SOME, (-top, top), limit)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_relu_of_16_bits_within_bound(dtype):
    check(EVERY[dtype], (-1.0, 2.5), 1.7)


def test_relu_is_exact_where_0_is_on_a_code():
    t = qops.quantize(np.linspace(-3, 5, 1000))
    assert (qops.relu(t).dequantize() == np.maximum(t.dequantize(), 0)).all()
    total = qops.quantized_add_8p8to32(t, t)
    assert (qops.relu(total).data == np.maximum(total.data, 0)).all()


def test_relu_of_what_is_all_cut():
    codes = EVERY[np.int8]
    for ends, limit, value in (((-3.0, -1.0), None, 0.0), ((2.0, 3.0), 1.5, 1.5), ((-1.0, -1.0), 4.0, 0.0)):
        t = qops.relu((codes, *ends), limit)
        assert (t.min, t.max) == (value, value)
        assert (t.dequantize() == value).all()


@pytest.mark.parametrize("dtype", [*EVERY, np.int32])
@pytest.mark.parametrize("own", [(7,), (5, 1, 1), (1, 1), (5, 2, 7), (2, 1)], ids=str)
def test_each_channel_is_cut_as_if_it_were_alone(dtype, own, rng):
    """The ranges of channels, of which some lie wholly outside."""
    codes = rng.choice(EVERY.get(dtype, SOME), (5, 2, 7)).astype(dtype)
    lo, hi = rng.uniform(-3, 2, own).astype(np.float32), rng.uniform(2, 3, own).astype(np.float32)
    lo, hi = (-hi, hi) if dtype == np.int32 else (lo, np.where(lo < -2, np.float32(-1), hi))
    for limit in (None, 1.5):
        t = on_every_tier(qops.relu, (codes, lo, hi), limit)
        assert t.min.shape == t.max.shape == own
        each = [np.broadcast_to(ends, codes.shape) for ends in (lo, hi, t.min, t.max)]
        for at in np.ndindex(codes.shape):
            low, high, *found = (float(ends[at]) for ends in each)
            want = qops.relu((codes[at], low, high), limit)
            assert (t.data[at], *found) == (want.data, want.min, want.max)


@pytest.mark.parametrize(
    ("t", "limit", "text"),
    [
        ((EVERY[np.uint8], 0.0, 1.0), -1.0, "limit: expected at least 0, got -1.0"),
        ((EVERY[np.uint8], 0.0, 1.0), np.inf, "limit: inf is not"),
        ((SOME, -1.0, 2.0), None, "t: the range .* is not symmetric"),
        ((np.float32([1]), 0.0, 1.0), None, "t: expected uint8, int8"),
        ((SOME, np.float32([-1] * 9), np.float32([1] * 8 + [2])), None, "t: the range .* is not symmetric"),
        (read_as("s8_narrow")(EVERY[np.int8][1:], -1.0, 1.0), None, "t: code type s8_narrow is not supported here"),
    ],
)
def test_relu_refuses(t, limit, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.relu(t, limit)
