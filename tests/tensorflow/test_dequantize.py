"""`dequantize`: the twin, oneDNN, qint32 through float32, bad input."""

import numpy as np
import pytest
import reference_tensorflow as twin
from reference_tensorflow import MODES, RANGES, TYPES, some_ranges

from qops.tensorflow import dequantize


@pytest.mark.parametrize("T", TYPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("narrow", [False, True])
def test_dequantize_matches_twin(T, mode, narrow):
    rng = np.random.default_rng(4)
    lowest, highest, count = twin.ends_of(TYPES[T])
    q = np.arange(lowest, highest + 1) if count < 2**17 else np.r_[rng.integers(lowest, highest, 5000), lowest, highest]
    q = np.r_[q, lowest, -1 if lowest else 0, 0, 1, highest - 127, highest - 64, highest - 63, highest].astype(TYPES[T])
    for lo, hi in [*some_ranges(rng), (1, -1), (7, 2)]:
        got, want = dequantize((q, lo, hi), mode, narrow), twin.dequantize(q, lo, hi, mode, narrow)
        np.testing.assert_array_equal(got.view(np.uint32), want.view(np.uint32), strict=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("narrow", [False, True])
def test_dequantize_onednn_takes_1_for_the_lowest_code_of_a_narrow_range(dtype, narrow):
    """As TensorFlow 2.21 with oneDNN on: as without, but for uint8 codes with narrow_range."""
    q = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype)
    for lo, hi in [*RANGES, (5, 1), (-3, -9)]:
        want = dequantize((q, lo, hi), "SCALED", narrow)
        if dtype == np.uint8 and narrow:
            want = q * max(np.float32(lo), np.float32(hi) / np.float32(255))
        np.testing.assert_array_equal(dequantize((q, lo, hi), "SCALED", narrow, onednn=True), want, strict=True)
    assert dequantize((np.uint8([1]), 2.5, 7.25), "SCALED", True, onednn=True) == 2.5


def test_dequantize_onednn_takes_over_scaled_of_one_range_only():
    q = np.int32([[-(2**31), 5, 2**31 - 1]])
    for options in ({"mode": "MIN_FIRST"}, {"mode": "MIN_COMBINED"}, {"mode": "SCALED", "axis": -2}):
        np.testing.assert_array_equal(dequantize((q, -1, 1), **options, onednn=True), dequantize((q, -1, 1), **options))
    np.testing.assert_array_equal(dequantize((q, [-1], [1]), "SCALED", axis=0, onednn=True)[0, 1:], [5 / 2**31, -1])
    assert dequantize((np.uint16(7), 0, 1), "SCALED", onednn=True) == np.float32(7 / 65535)


def test_dequantize_reads_qint32_through_float32():
    q = np.int32([2**31 - 1, 2**31 - 64, 2**31 - 65, -(2**31)])
    assert dequantize((q, -1.0, 1.0), "SCALED").tolist() == [-1, -1, 1 - 2.0**-24, -1]
    assert dequantize((q, [-1.0] * 4, [1.0] * 4), "SCALED", axis=0).tolist() == [1, 1, 1 - 2.0**-24, -1]
    assert dequantize((q[:1], [-1.0], [1.0]), "SCALED", axis=0).tolist() == [-1]


def test_steps_and_ends_below_the_normal_float32_are_0():
    q = np.int8([127, -128, 3])
    assert not dequantize((q, 1e-38, 1e-38), "SCALED").any()
    assert not dequantize((q, 1e30, 1e-38), "SCALED").any()
    assert not dequantize((np.uint8([7]), 1e-37, 1e-37), "SCALED").any()
    assert not dequantize((np.int32([-1357, -(2**31)]), 1e-30, -3.4e38), "SCALED", narrow_range=True).any()
    assert dequantize((np.uint8([0, 255]), 1e-38, 255e-30)).tolist() == [0, np.float32(1e-30) * np.float32(255)]
    values = dequantize((np.arange(256, dtype=np.uint8), -3.961455422835864e-36, 1.0800228775129434e-37))
    assert (values.min() < 0 < values.max(), np.abs(values[values != 0]).min() >= 2.0**-126) == (True, True)


Q = np.arange(6, dtype=np.uint8).reshape(2, 3)
BAD_DEQUANTIZE = [
    ((Q, 0.0), {}, "input: expected a .data, min, max. triple, got 2 parts"),
    ((Q.astype(np.int64), 0.0, 1.0), {}, "input: expected uint8 or int8 or uint16 or int16 or int32 data, got int64"),
    ((Q, 0.0, np.nan), {}, "input max: nan"),
    ((Q, 0.0, 1e-37), {}, "input min, input max: the range .* steps too small"),
    ((Q, [0.0] * 3, [1.0] * 3), {}, "input min: must have as many elements .* axis .-1., got 3, expected 1"),
    ((Q, [0.0] * 3, [1.0] * 3), {"axis": 0}, "got 3, expected 2"),
    ((Q, 0.0, 1.0), {"axis": 2}, "axis was 2"),
    ((Q, [0.0] * 3, [1.0] * 3), {"axis": 1, "mode": "MIN_FIRST"}, "not implemented for Dequantize"),
    ((Q, 0.0, 1.0), {"mode": "NONE"}, "mode: 'NONE'"),
    ((Q.astype(np.int32), 0.0, 1.0), {"mode": "SCALED", "onednn": True}, "input: TensorFlow has no kernel"),
    ((Q[0, 0], 0.0, 1.0), {"mode": "SCALED", "onednn": True}, "input: dims must be <= 5 and >= 1 .*got 0"),
    ((Q.reshape(1, 1, 1, 1, 2, 3), 0.0, 1.0), {"mode": "SCALED", "onednn": True}, "input: dims .*got 6"),
    ((Q[:0], 0.0, 1.0), {"mode": "SCALED", "onednn": True}, r"input: has no elements, shape \(0, 3\)"),
    ((Q, 0.0, 1.0), {"out": np.zeros((3, 2), np.float32)}, "out: shape"),
]


@pytest.mark.parametrize(("t", "options", "message"), BAD_DEQUANTIZE)
def test_dequantize_rejects(t, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        dequantize(t, **options)
