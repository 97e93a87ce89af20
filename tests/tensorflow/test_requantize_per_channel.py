"""`requantize_per_channel`, `requantization_range_per_channel`: twins, ties, bad input."""

import numpy as np
import pytest
import reference_tensorflow_uniform as twin

from qops.tensorflow import requantization_range_per_channel, requantize_per_channel

Q = np.int32([-(2**30), 2**30, 5, 2**29, -7, 2**31 - 65]).reshape(1, 1, 2, 3)
ENDS = np.float32([-1, -2, -0.5]), np.float32([1, 0.25, 3])


@pytest.mark.parametrize("out_type", ["quint8", "qint8"])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 1, 1, 1), (1, 2, 0, 3)])
def test_requantize_per_channel_matches_twin(rng, out_type, shape):
    q = (rng.integers(-(2**31), 2**31, shape) >> rng.integers(0, 20)).astype(np.int32)
    lows, highs = rng.normal(0, 3, (2, shape[-1])).astype(np.float32)
    for out_min, out_max in ((-1.0, 2.0), (-5.0, -9.0), (-0.25, 0.125)):
        want = twin.requantize_per_channel(q, lows, highs, out_min, out_max, out_type)
        t = requantize_per_channel((q, lows, highs), out_min, out_max, out_type)
        np.testing.assert_array_equal(t.data, want, strict=True)
        assert (t.min, t.max) == (out_min, out_max)


def test_one_range_is_that_of_all_channels_and_more_than_channels_do_not_count():
    want = requantize_per_channel((Q, ENDS[0][[1, 1, 1]], ENDS[1][[1, 1, 1]]), -1.0, 1.0).data
    one = requantize_per_channel((Q, ENDS[0][1:2], ENDS[1][1:2]), -1.0, 1.0).data
    np.testing.assert_array_equal(one, want)
    longer = [np.append(end, np.float32(9)) for end in ENDS]
    got, want = (requantize_per_channel((Q, *ends), -1.0, 1.0).data for ends in (longer, ENDS))
    np.testing.assert_array_equal(got, want)


def test_one_range_of_16_channels_is_the_most():
    q = np.full((1, 1, 1, 16), 2**30, np.int32)
    assert (requantize_per_channel((q, *ONE), -3.0, 3.0, "qint8").data == 64).all()


def test_an_end_below_the_normal_numbers_is_0():
    tiny = np.float32([1e-39] * 3)
    assert (requantize_per_channel((Q, -tiny, tiny), -2e-38, 2e-38, "qint8").data == 0).all()


def test_requantize_per_channel_rounds_half_to_even():
    """A code is 2**24 codes of this range: odd multiples of 2**23 are ties."""
    q = np.arange(-9, 10, 2, dtype=np.int32).reshape(1, 1, 10, 1) * 2**23
    t = requantize_per_channel((q, [-127.0], [128.0]), -127.0, 127.0, "qint8")
    assert t.data.ravel().tolist() == [-4, -4, -2, -2, 0, 0, 2, 2, 4, 4]


@pytest.mark.parametrize("clip", [1e9, 6.0, 0.01])
def test_range_matches_twin(rng, clip):
    for shift in (0, 9, 31):
        q = (rng.integers(-(2**31) + 65, 2**31 - 64, (2, 3, 4, 5)) >> shift).astype(np.int32)
        lows, highs = rng.normal(0, 30, (2, 5)).astype(np.float32)
        for codes in (q, np.abs(q)):
            want = twin.range_per_channel(codes, lows, highs, clip)
            assert requantization_range_per_channel((codes, lows, highs), clip) == want


def test_range_refuses_what_has_no_absolute_value():
    for code in (-(2**31), -(2**31) + 64, 2**31 - 64, 2**31 - 1):
        with pytest.raises(ValueError, match=r"^input: has a code whose absolute value"):
            requantization_range_per_channel((np.full((1, 1, 1, 3), code, np.int32), *ENDS), 6.0)
    for code in (-(2**31) + 65, 2**31 - 65):
        low, high = requantization_range_per_channel((np.full((1, 1, 1, 3), code, np.int32), *ENDS), 6.0)
        assert high == pytest.approx(3)
        assert low == (-high if code < 0 else 0)


WIDE = np.float32([-1e3] * 3), np.float32([1e3] * 3)
MANY, ONE = np.zeros((1, 1, 2, 17), np.int32), (np.float32([-2]), np.float32([3]))
BAD = [
    ((Q[0], *ENDS), -1.0, 1.0, "input: RequantizePerChannel supports 4D tensors only"),
    ((Q, ENDS[0][:2], ENDS[1]), -1.0, 1.0, "input: input_min and input_max has incorrect size, got 2 and 3"),
    ((Q, ENDS[0][:2], ENDS[1][:2]), -1.0, 1.0, "input: input_min has 2 elements for 3 channels"),
    ((Q, *ENDS), 0.0, 1.0, "requested_output_min: If out_type is QINT8"),
    ((Q, *ENDS), np.nan, 1.0, "requested_output_min: nan"),
    ((Q, *ENDS), -1e-40, 1e-30, "requested_output_min: If out_type is QINT8, .* must be non negative, got"),
    ((Q, *WIDE), -1.2e-38, 0.0, "requested_output_min, requested_output_max: .* too narrow"),
    ((MANY, *ONE), -1.0, 1.0, "input: input_min has 1 elements for 17 channels; TensorFlow reads beyond"),
    ((Q, [np.inf] * 3, ENDS[1]), -1.0, 1.0, "input min: inf"),
    ((Q.astype(np.int8), *ENDS), -1.0, 1.0, "input: expected int32 data, got int8"),
]


@pytest.mark.parametrize(("t", "low", "high", "message"), BAD)
def test_requantize_per_channel_rejects(t, low, high, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        requantize_per_channel(t, low, high, "qint8")
    with pytest.raises(ValueError, match=r"^requested_output_min, requested_output_max: .* too narrow"):
        requantize_per_channel((Q, *ENDS), 0.0, 0.0)


def test_range_rejects():
    for t, message in ((Q[0], "NHWC"), (Q[:0], "must not be empty"), (Q[..., :2], "same number of channels")):
        with pytest.raises(ValueError, match=rf"^input: .*{message}"):
            requantization_range_per_channel((t, *ENDS), 6.0)
    with pytest.raises(ValueError, match=r"^clip_value_max: inf"):
        requantization_range_per_channel((Q, *ENDS), np.inf)
