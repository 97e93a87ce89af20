"""softmax: every code within the bound of 40 digits, for many ranges and lengths, along any axis; what it refuses."""

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, rounded, spans
from hypothesis import given
from hypothesis import strategies as st

import qops
from qops.frontdoor.softmax import BOUND_SOFTMAX

RANGES = {f"{name} {which}": rounded(*pair[which]) for name, pair in RANGE_PAIRS.items() for which in (0, 1)}
ROWS = {"uint8": np.arange(256, dtype=np.uint8), "int8": np.arange(-128, 128).astype(np.int8)}


def check(codes, ends, dtype="uint8"):
    t = qops.softmax((codes, *ends), dtype=dtype)
    assert (t.min, t.max, t.data.dtype) == (0.0, 1.0, dtype)
    assert reference.farthest(t.data, reference.softmax(codes, *ends)) <= BOUND_SOFTMAX


@pytest.mark.parametrize("ends", RANGES.values(), ids=RANGES)
def test_softmax_of_every_code_within_bound(ends):
    check(ROWS["uint8"], ends)
    check(ROWS["int8"][::-1], ends, "int8")
    check(ROWS["int8"][100:103], ends)


@given(data=st.data(), ends=spans(100.0), dtype=st.sampled_from(["uint8", "int8"]))
def test_softmax_of_any_row_within_bound(data, ends, dtype):
    picked = data.draw(st.lists(st.integers(0, 255), min_size=1, max_size=40))
    check(ROWS[dtype][picked], ends, data.draw(st.sampled_from(["uint8", "int8"])))


@pytest.mark.parametrize("spread", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("length", [1, 1000, 2**16])
def test_softmax_of_long_rows_within_bound(length, spread):
    """Codes low in the range, and one or two high ones that have a share of the sum: so results are not all 0."""
    codes = np.random.default_rng(length).integers(0, 40, length, dtype=np.uint8)
    codes[[0, -1]] = 255, 254
    check(codes, (-spread, spread))


def test_softmax_of_shares_next_to_halves():
    """Of n equal values each share is 255 / n: 127.5, which rounds up, and 63.75."""
    got = [qops.softmax((np.full(n, 9, np.uint8), 0.0, 1.0)).data for n in (1, 2, 4, 510, 511)]
    assert [set(codes.tolist()) for codes in got] == [{255}, {128}, {64}, {1}, {0}]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_softmax_along_any_axis(axis):
    codes = np.random.default_rng(4).integers(0, 256, (5, 6, 7), dtype=np.uint8)
    wanted = np.apply_along_axis(lambda row: qops.softmax((row, -3.0, 3.0)).data, axis, codes)
    t = qops.softmax((codes, -3.0, 3.0), axis)
    np.testing.assert_array_equal(t.data, wanted)
    assert t.data.flags.c_contiguous
    out = np.empty((7, 6, 5), np.uint8).T
    assert qops.softmax((codes, -3.0, 3.0), axis, out=out).data is out
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_softmax_of_nothing(shape):
    for axis in range(len(shape)):
        assert qops.softmax((np.zeros(shape, np.uint8), 0.0, 1.0), axis).shape == shape


T = ROWS["uint8"].reshape(16, 16).copy(), -1.0, 1.0


@pytest.mark.parametrize(
    ("t", "words", "text"),
    [
        ((T[0].astype(np.int16), -1.0, 1.0), {}, "t: expected uint8 or int8 data, got int16"),
        ((np.uint8(3), 0.0, 1.0), {}, "t: expected at least one axis"),
        (qops.quantize(np.eye(3), axis=0), {}, "t: has a range per channel"),
        (T, {"axis": 2}, r"axis: expected an integer in \[-2, 1\], got 2"),
        (T, {"axis": -3}, "axis: expected an integer in"),
        (T, {"axis": None}, "axis: expected an integer, got None"),
        (T, {"dtype": np.float32}, "dtype: expected uint8 or int8"),
        (T, {"out": T[0]}, "out: shares memory"),
        (T, {"out": np.empty((16, 16), np.int8)}, "out: expected native uint8"),
        (T, {"out": np.empty((16, 15), np.uint8)}, "out: shape"),
    ],
)
def test_softmax_refuses(t, words, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.softmax(t, **words)
    np.testing.assert_array_equal(T[0].ravel(), ROWS["uint8"])
