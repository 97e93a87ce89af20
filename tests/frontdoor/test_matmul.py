"""matmul: all pairs of codes, and sums of many, within the bound of the exact sum, whatever the ranges."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, rounded, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier
from reference_mul import product_positions

import qops
from qops.frontdoor.matmul import BOUND_MATMUL

CODES = {np.uint8: np.arange(256, dtype=np.uint8), np.int8: np.arange(-128, 128).astype(np.int8)}
PAIRS = {name: pair for name, pair in RANGE_PAIRS.items() if max(map(abs, pair[0])) * max(map(abs, pair[1])) < 1e32}


def check(a, b):
    """The bound of small tensors, every value an exact fraction; the range is the twin's."""
    a, b = ((t[0], *rounded(*t[1:])) for t in (a, b))
    t = on_every_tier(qops.matmul, a, b)
    exact, top = reference.matmul(a, b)
    assert (t.min, t.max) == (-top, top)
    step = Fraction(top) / 2**31 or Fraction(1)
    off = [abs(int(code) - value / step) for code, value in zip(t.data.flat, exact, strict=True)]
    assert max(off, default=0) <= BOUND_MATMUL
    return t


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("types", [(np.uint8, np.uint8), (np.int8, np.uint8)])
def test_matmul_of_all_pairs_of_codes_within_bound(pair, types):
    """An outer product: K = 1."""
    a, b = (rounded(*ends) for ends in pair)
    column, row = CODES[types[0]].reshape(256, 1), CODES[types[1]].reshape(1, 256)
    t = qops.matmul((column, *a), (row, *b))
    if t.max:
        assert np.abs(t.data - product_positions(a, b, 0, t.max / 2**31)).max() <= BOUND_MATMUL


@given(a=spans(1e15), b=spans(1e15), data=st.data())
def test_matmul_of_any_ranges_within_bound(a, b, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    m, k, n = (data.draw(st.integers(0, most)) for most in (3, 9, 3))
    types = [data.draw(st.sampled_from([np.uint8, np.int8])) for _ in "ab"]
    x, y = (
        rng.integers(0, 256, shape).astype(np.uint8).view(t) for t, shape in zip(types, ((m, k), (k, n)), strict=True)
    )
    check((x, *a), (y, *b))


@pytest.mark.parametrize("k", [1, 4, 33026, 65536, 65537, 131071])
def test_matmul_of_long_rows_within_bound(k):
    """All at the far end: 2**31 is passed where the codes are not centred, and the last code nearly reached."""
    for ends in ((-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0), (3.0, 3.1)):
        for code in (0, 255):
            row = np.full((1, k), code, np.uint8)
            t = qops.matmul((row, *ends), (row.T.copy(), *ends))
            exact, top = reference.matmul((row[:, :1], *rounded(*ends)), (row[:, :1], *rounded(*ends)), k)
            assert t.max == top
            assert abs(int(t.data[0, 0]) - exact[0] * k / (Fraction(top) / 2**31)) <= BOUND_MATMUL


@pytest.mark.parametrize("k", [60, 333])
@pytest.mark.parametrize("types", [(np.uint8, np.int8), (np.int8, np.uint8)])
def test_matmul_is_the_plain_integers_where_0_is_on_codes(k, types):
    rng = np.random.default_rng(5)
    a = qops.quantize(rng.normal(1, 1, (5, k)), dtype=types[0])
    b = qops.quantize(rng.normal(-1, 2, (k, 7)), dtype=types[1])
    sums = (a.data.astype(int) - a.zero_point) @ (b.data.astype(int) - b.zero_point)
    np.testing.assert_array_equal(on_every_tier(qops.matmul, a, b).data, sums)


def test_matmul_takes_stacks_vectors_and_out():
    rng = np.random.default_rng(6)
    x, w = rng.integers(0, 256, (2, 3, 4, 9), np.uint8), (rng.integers(0, 256, (9, 5), np.uint8), -1.0, 2.0)
    whole = qops.matmul((x, -1.0, 1.5), w)
    assert whole.data.shape == (2, 3, 4, 5)
    np.testing.assert_array_equal(qops.matmul((x[1, 2, 3], -1.0, 1.5), w).data, whole.data[1, 2, 3])
    out = np.empty((2, 3, 4, 10), np.int32)[..., ::2]
    t = qops.matmul((x, -1.0, 1.5), w, out=out, num_threads=2)
    assert t.data is out
    np.testing.assert_array_equal(out, whole.data)


@pytest.mark.parametrize(
    ("a", "b", "more", "text"),
    [
        (
            np.zeros((2, 3), np.uint8),
            np.zeros((4, 2), np.uint8),
            {},
            r"a: expected shape \(..., 4\) for a b of shape \(4, 2\), got \(2, 3\)",
        ),
        (np.zeros((2, 3), np.uint8), np.zeros(3, np.uint8), {}, r"b: expected a matrix \(K, N\), got shape \(3,\)"),
        (np.zeros((1, 2**17), np.uint8), np.zeros((2**17, 1), np.uint8), {}, "b: sums of 131072 products"),
        (np.zeros((1, 1), np.int32), np.zeros((1, 1), np.uint8), {}, "a: expected uint8 or int8 data"),
        (np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.int16), {}, "b: expected uint8 or int8 data"),
        (np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.uint8), {"num_threads": 0}, "num_threads: expected"),
        (np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.uint8), {"out": np.zeros((1, 2), np.int32)}, "out: shape"),
    ],
)
def test_matmul_refuses(a, b, more, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.matmul((a, -1.0, 1.0), (b, -1.0, 1.0), **more)
    with pytest.raises(ValueError, match=r"^a, b: sums of 2 products .* beyond float32"):
        qops.matmul((np.zeros((1, 2), np.uint8), 0.0, 1e30), (np.zeros((2, 1), np.uint8), 0.0, 1e30))


def test_matmul_of_no_products_is_0_in_any_range():
    t = qops.matmul((np.zeros((2, 0), np.uint8), -1.0, 1.0), (np.zeros((0, 3), np.uint8), -3e38, 0.0))
    assert (t.data.tolist(), t.min, t.max) == ([[0] * 3] * 2, 0.0, 0.0)
