"""`requantize`, `requantization_range`, `quantize_down_and_shrink_range`: twins, the wrap, bad input."""

import numpy as np
import pytest
import reference_tensorflow as twin
from qops._kernels.tensorflow.requantize import requantize_integers

from qops.tensorflow import quantize_down_and_shrink_range, requantization_range, requantize

TWINS = {"quint8": twin.requantize_u8, "qint8": twin.requantize_s8}
EDGES = [0, 1, -1, 2**24 + 1, 2**31 - 1, 2**31 - 64, 2**31 - 65, -(2**31), -(2**31) + 64, -(2**31) + 65]
Q = np.int32([-4, 0, 4])


def some_codes(rng, count=300):
    wide = rng.integers(-(2**31), 2**31, count)
    return np.concatenate([wide, wide >> 8, wide >> 16, EDGES]).astype(np.int32)


def random_range(rng, widest=4):
    return tuple(np.sort(rng.normal(0, 10.0 ** rng.integers(-3, widest), 2)).tolist())


@pytest.mark.parametrize("out_type", TWINS)
def test_requantize_matches_twin(out_type):
    rng = np.random.default_rng(1)
    for _ in range(60):
        q, in_range, (lo, hi) = some_codes(rng), random_range(rng, 7), random_range(rng)
        lo = min(lo, 0.0)
        got = requantize((q, *in_range), lo, hi, out_type)
        np.testing.assert_array_equal(got.data, TWINS[out_type](q, *in_range, lo, hi), strict=True)
        assert (got.min, got.max) == (np.float32(lo), np.float32(hi))


@pytest.mark.parametrize("out_type", TWINS)
@pytest.mark.parametrize("in_range", [(1.0, -1.0), (3.0, 3.0), (0.0, 6.0), (-9.0, -4.5), (-1e30, 1e30), (0.0, 1e-28)])
@pytest.mark.parametrize("out_range", [(-1.0, 1.0), (-1.0, -0.5), (0.0, 0.0), (-0.01, 0.02)])
def test_requantize_accepts_odd_ranges(out_type, in_range, out_range):
    q = some_codes(np.random.default_rng(2), 50)
    want = TWINS[out_type](q, *in_range, *out_range)
    np.testing.assert_array_equal(requantize((q, *in_range), *out_range, out_type).data, want)


def test_requantize_product_wraps_and_integers():
    q = np.int32([2**28, 2**30, 2**31 - 1])
    p = requantize_integers(-900, 900, -1, 1)
    assert p == {"range_scale": 900 * 255 * 65536, "input_offset": 0, "output_offset": -255 * 32768}
    assert 2**30 * p["range_scale"] > 2**63 > 2**28 * p["range_scale"]
    assert requantize((q, -900.0, 900.0), -1.0, 1.0).data.tolist() == [255, 0, 0]
    assert requantize((q, -900.0, 900.0), -1.0, 1.0, "qint8").data.tolist() == [127, 127, 127]


def test_requantize_rounds_half_up():
    """255/256 of an output step is 2**24 codes of this range; half steps of it are ties."""
    p = requantize_integers(-128, 128, -127.5, 127.5)
    assert p["range_scale"] == 2**24
    ties = np.arange(-127, 128) * 2**24
    centred = requantize((ties.astype(np.int32), -128.0, 128.0), -127.5, 127.5).data
    np.testing.assert_array_equal(centred, np.floor(np.arange(-127, 128) + 127.5 + 0.5))
    below = requantize((ties.astype(np.int32) - 256, -128.0, 128.0), -127.5, 127.5).data
    np.testing.assert_array_equal(below, np.arange(-127, 128) + 127)


@pytest.mark.long
def test_range_matches_twin():
    rng = np.random.default_rng(3)
    for _ in range(100):
        q, (lo, hi) = some_codes(rng, 20) >> np.int32(rng.integers(0, 30)), random_range(rng, 7)
        for codes in (q, np.abs(q // 2), -np.abs(q // 2), q[:1], q[:0]):
            want = twin.real_range(codes, lo, hi)
            assert requantization_range((codes, lo, hi)) == want
            t = quantize_down_and_shrink_range((codes, lo, hi))
            assert (t.min, t.max) == want
            np.testing.assert_array_equal(t.data, twin.requantize_u8(codes, lo, hi, *want), strict=True)


def test_range_known_answers():
    assert requantization_range((np.int32([2**29, 2**30]), -1.0, 1.0)) == (0.0, 0.5)
    assert requantization_range((np.int32([-(2**30), -(2**29)]), -1.0, 1.0)) == (-0.5, -0.25)
    assert requantization_range((np.int32([]), -5000.0, 5000.0)) == (0.0, -5000.0)
    assert requantization_range((Q, 3.0, 3.0)) == (0.0, 3.0)
    assert requantization_range((Q, np.float32([-1, -2]), 1.0)) == requantization_range((Q, -1.0, 1.0))


def test_any_layout_gives_the_same():
    q = np.random.default_rng(4).integers(-(2**31), 2**31, (30, 40)).astype(np.int32)
    want, shrunk = requantize((q, -1.0, 1.0), -1.0, 2.0).data, quantize_down_and_shrink_range((q, -1.0, 1.0))
    for same in (np.asfortranarray(q), q.astype(">i4"), np.repeat(q, 2, 1)[:, ::2]):
        before, out = same.copy(), np.zeros((40, 30), np.uint8).T
        assert requantize((same, -1.0, 1.0), -1.0, 2.0, out=out).data is out
        np.testing.assert_array_equal(out, want)
        t = quantize_down_and_shrink_range((same, -1.0, 1.0), out=out)
        np.testing.assert_array_equal(t.data, shrunk.data)
        assert (t.min, t.max) == (shrunk.min, shrunk.max)
        np.testing.assert_array_equal(same, before)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_scalars_and_no_elements(shape):
    q = np.zeros(shape, np.int32)
    assert requantize((q, -1.0, 1.0), -1.0, 1.0).data.shape == shape
    assert quantize_down_and_shrink_range((q, -1.0, 1.0)).data.shape == shape


BAD = [
    ((Q, -1.0, 1.0), (0.5, 1.0), {}, "requested_output_min must be <= 0, but got 0.5"),
    ((Q, -1.0, 1.0), (-0.5, -1.0), {}, "requested_output_max must be >= requested_output_min, but got -1.0 and -0.5"),
    ((Q, -1.0, 1.0), (np.nan, 1.0), {}, "requested_output_min: nan"),
    ((Q, -1.0, 1.0), (-1.0, np.inf), {}, "requested_output_max: inf"),
    ((Q, np.float32([-1, -1]), 1.0), (-1.0, 1.0), {}, "input min: must be rank 0 but is rank 1"),
    ((Q, -1.0, np.nan), (-1.0, 1.0), {}, "input max: nan"),
    ((Q, 0.0, 1e-30), (-1.0, 1.0), {}, "steps too small"),
    ((Q, -1.0, 1.0), (0.0, 1e-36), {}, "requested_output_max: the range .* steps too small"),
    ((Q, -3e38, 3e38), (-1.0, 1.0), {}, "wider than float32"),
    ((Q.astype(np.uint8), -1.0, 1.0), (-1.0, 1.0), {}, "input: expected int32 data, got uint8"),
    ((Q, -1.0, 1.0), (-1.0, 1.0), {"out_type": "qint32"}, "out_type: 'qint32' is not in the list"),
    ((Q, -1.0, 1.0), (-1.0, 1.0), {"out": np.zeros(3, np.int8)}, "out: expected native uint8"),
    ((Q, -1.0, 1.0), (-1.0, 1.0), {"out": Q.view(np.uint8)[:3]}, "out: shares memory"),
]


@pytest.mark.parametrize(("t", "ends", "options", "message"), BAD)
def test_requantize_rejects(t, ends, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        requantize(t, *ends, **options)
    assert Q.tolist() == [-4, 0, 4]


BAD_RANGE = [
    ((Q, 0.0), "input: expected a .data, min, max. triple"),
    ((Q.astype(np.uint8), -1.0, 1.0), "input: expected int32 data, got uint8"),
    ((Q, 0.0, 1e-30), "steps too small"),
    ((Q, 0.0, np.nan), "input max: nan"),
]


@pytest.mark.parametrize(("t", "message"), BAD_RANGE)
def test_range_rejects(t, message):
    for op in (requantization_range, quantize_down_and_shrink_range):
        with pytest.raises((ValueError, TypeError), match=message):
            op(t)
    with pytest.raises(ValueError, match="must have an element"):
        requantization_range((Q, [], 1.0))
    with pytest.raises(ValueError, match="input min: must be rank 0"):
        quantize_down_and_shrink_range((Q, [-1.0, -2.0], 1.0))
