"""lookup: each result of a function rounded once, for every code of many ranges, and what it refuses."""

from functools import cache

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, case, reals, rounded, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier

import qops
from qops.frontdoor.lookup import BOUND_LOOKUP

EVERY = {np.uint8: np.arange(256, dtype=np.uint8), np.int8: np.arange(-128, 128).astype(np.int8)}
FUNCTIONS = {
    "same": lambda x: x,
    "negated": np.negative,
    "halved": lambda x: x / 2,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sign": lambda x: np.sign(x).astype(np.int8),
    "root": lambda x: np.sqrt(np.abs(x)),
    "seven": lambda x: np.full(x.shape, np.float32(7)),
}
RANGES = {f"{name} {which}": rounded(*pair[which]) for name, pair in RANGE_PAIRS.items() for which in (0, 1)}


@cache
def line(ends):
    """The exact values of the codes of a range, each rounded once to a double."""
    return np.array(reference.line(*ends), float)


def check(codes, ends, function, range=None, dtype="uint8"):
    """The values that the function gets, the range, and every code against the exact position of its result."""
    seen = []

    def watched(x):
        seen.append((x.copy(), np.float64(function(x))))
        return function(x)

    t = on_every_tier(qops.lookup, (codes, *ends), watched, range, dtype=dtype)
    values, results = seen[0]
    exact = np.roll(line(ends), int(codes.min()))  # in the order of bytes, codes below 0 last
    assert np.abs(exact - values).max() <= max(map(abs, ends)) * 2.0**-50
    np.testing.assert_array_equal(values == 0, exact == 0)
    assert t.data.dtype == dtype
    assert (t.min, t.max) == (range or reference.range_of_all(results.min(), results.max()))
    assert reference.farthest(t.data, reference.lookup(codes, results, t.min, t.max)) <= BOUND_LOOKUP


@pytest.mark.parametrize("ends", RANGES.values(), ids=RANGES)
def test_lookup_of_every_code_within_bound(ends):
    for name, function in FUNCTIONS.items():
        with case(name):
            check(EVERY[np.uint8], ends, function, dtype="int8")
            check(EVERY[np.int8], ends, function, (-0.5, 1.25))


@given(ends=spans(), kept=st.none() | spans(), slope=reals(100.0), dtype=st.sampled_from(["uint8", "int8"]))
def test_lookup_of_any_range_within_bound(ends, kept, slope, dtype):
    check(EVERY[np.uint8], ends, lambda x: x * slope + 1, kept, dtype)


def test_lookup_keeps_a_range_that_has_0_on_a_code():
    """So a relu by lookup gives the bits of `relu` where both ends stay."""
    t = qops.QTensor(EVERY[np.uint8], -1.0, 1.0078740119934082)
    assert qops.lookup(t, lambda x: x) == t
    assert qops.lookup(t, lambda x: np.maximum(x, 0), (t.min, t.max)) == qops.relu(t)


@pytest.mark.parametrize("ends", [(1e-9, 1.0), (-1.0, -1e-9), (2.0, 3.0), (-3.0, -2.0), (-1e-9, 1.0), (0.0, 0.0)])
def test_lookup_finds_a_range_that_holds_0(ends):
    check(EVERY[np.uint8], (0.0, 1.0), lambda x: np.where(x == 0, *ends))


def test_lookup_rounds_ties_to_even():
    t = EVERY[np.uint8], 0.0, 255.0
    assert qops.lookup(t, lambda x: x / 2, (0.0, 255.0)).data[:8].tolist() == [0, 0, 1, 2, 2, 2, 3, 4]


def test_lookup_function_may_change_its_argument():
    def clear(x):
        x[x < 0] = 0
        return x

    t = EVERY[np.int8], -128.0, 127.0
    assert qops.lookup(t, clear) == qops.lookup(t, lambda x: np.maximum(x, 0))


T = EVERY[np.uint8], -1.0, 1.0


@pytest.mark.parametrize(
    ("function", "words", "text"),
    [
        (None, {}, "function: expected a callable, got None"),
        (np.log, {}, r"function: expected finite results, got nan for code 0, whose value is -1"),
        (
            lambda x: 1 / np.round(x),
            {},
            "function: expected finite results, got -inf for code 64, whose value is -0.49",
        ),
        (lambda x: x.__imul__(0) / 0, {}, "function: expected finite results, got nan for code 0, whose value is -1"),
        (lambda x: x[:9], {}, r"function: expected real numbers of the shape .* \(256,\), got float64 of shape \(9,\)"),
        (lambda x: 1.0, {}, r"function: expected real numbers .* float64 of shape \(\)"),
        (lambda x: x > 0, {}, "function: expected real numbers .* got bool"),
        (lambda x: x * 1j, {}, "function: expected real numbers .* got complex128"),
        (lambda x: None, {}, "function: expected an array, got None"),
        (lambda x: x * 1e39, {}, r"function min: -1e\+39 is not a finite float32"),
        (lambda x: x * 3.4e38, {}, "function: the range of all results, with 0 on a code, is beyond float32"),
        (np.tanh, {"range": 1.0}, "range: expected .min, max., got 1.0"),
        (np.tanh, {"range": (1.0, 0.0)}, "range: min 1.0 > max 0.0"),
        (np.tanh, {"range": (0.0, None)}, "range max: expected a number"),
        (np.tanh, {"dtype": "int32"}, "dtype: expected uint8 or int8, got 'int32'"),
    ],
)
def test_lookup_refuses(function, words, text):
    out = np.full(256, 77, np.uint8)
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.lookup(T, function, out=out, **words)
    assert (out == 77).all()


def test_lookup_passes_on_what_the_function_raises():
    with pytest.raises(ZeroDivisionError):
        qops.lookup(T, lambda x: 1 // 0)
