"""requantize with ranges per channel: each channel gives the codes that it gives alone; layouts, limits, bad input."""

import numpy as np
import pytest
from cases import lay_out
from ops import on_every_tier

import qops
from qops.frontdoor.requantize import BOUND_REQUANTIZE

SHAPES = {"last": (1, 1, 1, 19), "first": (3, 1, 1, 1), "inner": (5, 1, 1), "two": (4, 19), "apart": (3, 1, 1, 19)}
SHAPES |= {"every": (3, 5, 4, 19), "one": (1, 1, 1, 1), "few axes": (1,)}
DTYPES = (np.uint8, np.int8, np.int32)


def codes_of(dtype, rng, shape=(3, 5, 4, 19)):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def ends_of(dtype, shape, rng):
    """Ranges of many widths, some without 0, one 0 wide."""
    wide = 10.0 ** rng.uniform(-3, 3, shape)
    lo, hi = rng.uniform(-1, 0.5, shape) * wide, wide
    lo.flat[-1] = hi.flat[-1]
    hi.flat[-1] = 0 if dtype == np.int32 else hi.flat[-1]
    return (np.float32(-hi), np.float32(hi)) if dtype == np.int32 else (np.float32(lo), np.float32(hi))


def alone(codes, ends, wanted, at, dtype):
    """The code of one element, by the op for one range."""
    lo, hi, low, high = (float(np.broadcast_to(end, codes.shape)[at]) for end in (*ends, *wanted))
    return qops.requantize((codes[at], lo, hi), low, high, dtype=dtype).data


@pytest.mark.parametrize("wanted", ["one", "own", "other"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("source", DTYPES)
def test_each_element_has_the_code_that_it_has_alone(source, shape, wanted, rng):
    codes, ends = codes_of(source, rng), ends_of(source, SHAPES[shape], rng)
    to = {"one": (-0.5, 3.0), "own": ends_of(np.uint8, SHAPES[shape], rng)}
    to["other"] = ends_of(np.uint8, (5, 1, 1), rng)
    for dtype in (np.uint8, np.int8):
        t = on_every_tier(qops.requantize, (codes, *ends), *to[wanted], dtype=dtype)
        assert t.data.dtype == dtype
        np.testing.assert_array_equal(t.min, np.float32(to[wanted][0]))
        np.testing.assert_array_equal(t.max, np.float32(to[wanted][1]))
        places = [tuple(rng.integers(0, codes.shape)) for _ in range(60)]
        want = [alone(codes, ends, to[wanted], at, dtype) for at in places]
        assert [t.data[at] for at in places] == want


@pytest.mark.parametrize("channels", [1, 2, 3, 16, 17, 64])
def test_many_pixels_of_few_and_many_channels(channels, rng):
    """As a convolution returns them: the channel is the last axis, or the second."""
    acc = codes_of(np.int32, rng, (1, 37, 5, channels)) >> 8
    tops = np.float32(rng.uniform(1e-3, 5, channels)).reshape(1, 1, 1, -1)
    t = on_every_tier(qops.requantize, (acc, -tops, tops), -0.01, 0.013)
    for i in range(channels):
        top = float(tops[0, 0, 0, i])
        want = qops.requantize((acc[..., i], -top, top), -0.01, 0.013)
        np.testing.assert_array_equal(t.data[..., i], want.data)
    ahead, tops = np.moveaxis(acc, 3, 1), np.moveaxis(tops, 3, 1)
    for view in (ahead, np.ascontiguousarray(ahead)):
        moved = on_every_tier(qops.requantize, (view, -tops, tops), -0.01, 0.013)
        np.testing.assert_array_equal(np.moveaxis(moved.data, 1, 3), t.data)


def test_narrow_ranges_far_from_0_are_each_cut_where_they_end(rng):
    """Each channel then has a stretch of codes of its own, outside of which all codes saturate."""
    acc = codes_of(np.int32, rng, (100, 6))
    tops, far = np.float32([[1, 0.8, 0.5, 2, 0.015, 0.3]]), np.float32([[0.7, 0.6, 0.4, 1.1, 0.0127, 0.25]])
    t = on_every_tier(qops.requantize, (acc, -tops, tops), far, far * np.float32(1.0002))
    for i in range(6):
        one = acc[:, i], -float(tops[0, i]), float(tops[0, i])
        want = qops.requantize(one, float(t.min[0, i]), float(t.max[0, i]))
        np.testing.assert_array_equal(t.data[:, i], want.data)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("way", ["fortran", "reversed", "strided", "swapped", "misaligned", "read_only"])
def test_codes_and_outputs_may_lie_in_any_way(source, way, rng):
    codes, ends = codes_of(source, rng), ends_of(source, (1, 1, 1, 19), rng)
    want = qops.requantize((codes, *ends), -1.0, 1.0)
    got = qops.requantize((lay_out(codes, way), *(lay_out(end, way) for end in ends)), -1.0, 1.0)
    np.testing.assert_array_equal(got.data, want.data)
    if way != "read_only":
        out = lay_out(np.full(codes.shape, 77, np.uint8), way)
        assert qops.requantize((codes, *ends), -1.0, 1.0, out=out).data is out
        np.testing.assert_array_equal(out, want.data)


@pytest.mark.parametrize("source", DTYPES)
def test_error_and_range_of_channels(source, rng):
    """The range that is not given holds all channels, so the error is within the bound."""
    codes = codes_of(source, rng, (40, 3))
    lo, hi = np.float32([-1, -4, 0.5]), np.float32([1, 2, 2])
    t = (codes, -hi, hi) if source == np.int32 else (codes, lo, hi)
    ranges = [qops.requantization_range((codes[:, i], float(t[1][i]), float(t[2][i]))) for i in range(3)]
    lows, highs = zip(*ranges, strict=True)
    assert qops.requantization_range(t) == (min(lows), max(highs))
    found = qops.requantize(t)
    assert qops.error(found, qops.values(t)).max <= BOUND_REQUANTIZE
    assert qops.requantization_range((codes[:0], *t[1:])) == (0.0, 0.0)
    assert qops.requantize((codes[:0], *t[1:])).shape == (0, 3)
    assert qops.requantize((codes[:, :0], t[1][:0], t[2][:0]), -1.0, 1.0).shape == (40, 0)


def test_the_ends_of_the_result_are_its_own():
    lo, hi = np.float32([-1, -2]), np.float32([1, 2])
    t = qops.requantize((np.int8([3, 4]), -1.0, 1.0), lo, hi)
    lo[:] = 9
    assert t.min.tolist() == [-1.0, -2.0]


@pytest.mark.parametrize(
    ("ends", "options", "text"),
    [
        ((np.zeros(2), np.ones(2)), {}, r"t: shapes \(2,\) and \(2,\) of min and max do not fit the data's \(4, 3\)"),
        ((np.zeros(3), -np.ones(3)), {}, "t: has a range with min > max"),
        ((np.zeros(3), np.ones(3)), {"min": np.zeros(3)}, "min, max: expected both ends, as one is given per channel"),
        ((0.0, 1.0), {"max": np.zeros(3)}, "min, max: expected both ends, as one is given per channel"),
        ((0.0, 1.0), {"min": 0.0, "max": np.full(3, np.inf)}, "min, max: has a range that is not finite"),
        ((0.0, 1.0), {"min": 0.0, "max": np.ones(4)}, "min, max: shapes"),
        ((0.0, 1.0), {"min": np.ones(3), "max": 0.0}, "min, max: has a range with min > max"),
        ((0.0, 1.0), {"min": np.array(["a"]), "max": 0.0}, "min: expected real numbers"),
        ((np.zeros(3), np.ones(3)), {"out": np.zeros(3, np.uint8)}, "out: shape"),
    ],
)
def test_what_is_refused(ends, options, text):
    codes = np.ones((4, 3), np.uint8)
    out = options.setdefault("out", np.full((4, 3), 77, np.uint8))
    before = out.copy()
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.requantize((codes, *ends), **options)
    np.testing.assert_array_equal(out, before)


def test_int32_ranges_must_be_symmetric_in_each_channel():
    with pytest.raises(ValueError, match=r"^t: the range .* of int32 codes is not symmetric"):
        qops.requantize((np.int32([[1, 2]]), np.float32([-1, -1]), np.float32([1, 2])))
