"""concat: every code of many pairs of ranges within the bound, along any axis, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import HUGE, RANGE_PAIRS, rounded, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier

import qops
from qops.frontdoor.concat import BOUND_CONCAT

U8, S8 = np.arange(256, dtype=np.uint8), np.arange(-128, 128).astype(np.int8)


def check(tensors, axis=-1, range=None, dtype="uint8"):
    """The range, and every code against its exact position."""
    t = on_every_tier(qops.concat, tensors, axis, range=range, dtype=dtype)
    lows, highs = zip(*(ends for _, *ends in tensors), strict=True)
    assert (t.min, t.max) == (range or reference.range_of_all(min(lows), max(highs)))
    assert t.data.dtype == dtype
    wanted = reference.concat(tensors, axis, t.min, t.max)
    assert t.shape == wanted.shape
    assert reference.farthest(t.data, wanted) <= BOUND_CONCAT


def test_the_twin_tells_the_farthest_code_exactly():
    """Distances that one float64 stands for, on both sides, in any order."""
    third, least = Fraction(1, 3), Fraction(1, 2**70)
    found = {-128: third, 5: 133 + third + least, 6: 134 - third, 127: Fraction(255)}
    for some in ([*found], [*found][::-1]):
        codes, exact = np.int8(some), [found[q] for q in some]
        assert reference.farthest(codes, exact) == third + least
        assert reference.farthest((codes.astype(int) + 128).astype(np.uint8), exact) == third + least
    assert reference.farthest(U8[7:8], [Fraction(15, 2)]) == reference.farthest(U8[8:9], [Fraction(15, 2)]) == 0.5
    assert reference.farthest(U8[:0], []) == 0


PAIRS = {name: (rounded(*a), rounded(*b)) for name, (a, b) in RANGE_PAIRS.items()}


@pytest.mark.parametrize(("a", "b"), PAIRS.values(), ids=PAIRS)
def test_concat_of_every_code_within_bound(a, b):
    check([(U8, *a), (S8, *b)])
    check([(U8, *a), (U8, *b)], range=(-0.5, 1.25), dtype="int8")
    check([(S8, *b), (S8, *a), (U8, *b)], range=b, dtype="int8")


@given(
    ends=st.lists(spans(), min_size=1, max_size=3), kept=st.none() | spans(), dtype=st.sampled_from(["uint8", "int8"])
)
def test_concat_of_any_ranges_within_bound(ends, kept, dtype):
    check([((U8, S8)[i % 2], *pair) for i, pair in enumerate(ends)], range=kept, dtype=dtype)


@pytest.mark.parametrize("lengths", [(1, 1), (3, 0, 5), (200, 1), (700, 600)])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_concat_along_any_axis(axis, lengths):
    """Short and long rows, which the kernel takes in other ways; ranges that differ, and that do not."""
    rng, tensors = np.random.default_rng(5), []
    for i, length in enumerate(lengths):
        shape = [2, 3, 4]
        shape[axis] = length
        tensors.append((rng.integers(0, 256, shape, dtype=np.uint8), 0.0, (255.0, 510.0)[i % 2]))
    check(tensors, axis)
    check([(codes, 0.0, 255.0) for codes, _, _ in tensors], axis)


def test_concat_leaves_codes_of_the_output_range_alone():
    a, b = (U8, -1.0, 1.5), (U8[::-1], -1.0, 1.5)
    t = qops.concat([a, b], range=(-1.0, 1.5))
    np.testing.assert_array_equal(t.data, [*U8, *U8[::-1]])
    signed = qops.concat([a, b], range=(-1.0, 1.5), dtype=np.int8)
    np.testing.assert_array_equal(signed.data.astype(int) + 128, t.data)


def test_concat_saturates_outside_a_given_range():
    t = qops.concat([(U8, 0.0, 255.0), (U8, -255.0, 0.0)], range=(10.0, 20.0))
    assert t.data[[9, 10, 20, 21, 256, 511]].tolist() == [0, 0, 255, 255, 0, 0]


A = U8[:6].reshape(2, 3), 0.0, 1.0


@pytest.mark.parametrize(
    ("tensors", "words", "text"),
    [
        (None, {}, "tensors: expected a sequence of tensors, got None"),
        ([], {}, "tensors: expected at least one"),
        (A, {}, r"tensors\[0\]: expected a \(data, min, max\) triple, got ndarray"),
        ([A, (A[0].astype(np.int32), -1.0, 1.0)], {}, r"tensors\[1\]: expected uint8 or int8 data, got int32"),
        ([A, (A[0], 1.0, 0.0)], {}, r"tensors\[1\]: min 1.0 > max 0.0"),
        ([A, qops.quantize(np.eye(3), axis=0)], {}, r"tensors\[1\]: has a range per channel"),
        ([(np.uint8(3), 0.0, 1.0)], {}, r"tensors\[0\]: expected at least one axis"),
        (
            [A, (A[0].T, 0.0, 1.0)],
            {},
            r"tensors: expected shapes that differ along axis 1 only, .*\(2, 3\), \(3, 2\)",
        ),
        ([A, (U8, 0.0, 1.0)], {}, "tensors: expected shapes"),
        (
            [A, (A[0], -HUGE, 0.0), (A[0], 0.0, HUGE)],
            {},
            "tensors: the range of all results, with 0 on a code, is beyond",
        ),
        ([A], {"axis": 2}, r"axis: expected an integer in \[-2, 1\], got 2"),
        ([A], {"axis": -3}, "axis: expected"),
        ([A], {"axis": None}, "axis: expected"),
        ([A], {"range": 5}, "range: expected .min, max., got 5"),
        ([A], {"range": (2.0, 1.0)}, "range: min"),
        ([A], {"dtype": np.uint16}, "dtype: expected uint8 or int8"),
        ([A], {"out": np.empty((2, 3), np.int8)}, "out: expected native uint8"),
        ([A], {"out": np.empty((3, 2), np.uint8)}, "out: shape"),
        ([A], {"out": A[0]}, "out: shares memory"),
    ],
)
def test_concat_refuses(tensors, words, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.concat(tensors, **words)
    np.testing.assert_array_equal(A[0].ravel(), range(6))
