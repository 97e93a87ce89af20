"""`quantize_v2`: twins, ties, layouts, oneDNN, axes and the way back, bad input."""

import numpy as np
import pytest
import reference_tensorflow as twin
from reference_tensorflow import MODES, TYPES, some_ranges

from qops.tensorflow import dequantize, quantize_v2

X = np.linspace(-1, 1, 7, dtype=np.float32)


def values(rng, lo, hi):
    """Values around the range: random, at its ends and quarters, at half steps, beyond, infinite."""
    width = max(hi - lo, 0.01)
    steps = lo + width * (np.arange(512) / 2) / 255
    spread = rng.uniform(lo - width / 2, hi + width / 2, 200)
    return np.concatenate([spread, steps, [lo, hi, 0, 1e30, -1e30, np.inf, -np.inf]]).astype(np.float32)


def check(got, want):
    np.testing.assert_array_equal(got.data, want[0], strict=True)
    assert (got.min, got.max) == want[1:]


@pytest.mark.parametrize("T", TYPES)
@pytest.mark.parametrize(
    ("mode", "round_mode", "narrow"),
    [(mode, "HALF_AWAY_FROM_ZERO", False) for mode in MODES]
    + [("SCALED", "HALF_TO_EVEN", False), ("SCALED", "HALF_TO_EVEN", True), ("SCALED", "HALF_AWAY_FROM_ZERO", True)],
)
@pytest.mark.parametrize("least", [0.01, 0.5])
def test_quantize_matches_twin(T, mode, round_mode, narrow, least):
    rng = np.random.default_rng(1)
    for lo, hi in some_ranges(rng):
        x = values(rng, lo, hi)
        want = twin.quantize(x, lo, hi, TYPES[T], mode, round_mode == "HALF_TO_EVEN", narrow, least)
        got = quantize_v2(x, lo, hi, T, mode, round_mode, narrow, ensure_minimum_range=least)
        check(got, want)
        assert len(np.unique(got.data)) > 1


@pytest.mark.parametrize(("T", "mode"), [("quint8", "MIN_FIRST"), ("quint8", "SCALED"), ("qint8", "SCALED")])
def test_quantize_onednn_matches_twin(T, mode):
    rng = np.random.default_rng(2)
    round_mode = "HALF_TO_EVEN" if mode == "SCALED" else "HALF_AWAY_FROM_ZERO"
    for lo, hi in some_ranges(rng):
        x = values(rng, lo, hi)
        got = quantize_v2(x, lo, hi, T, mode, round_mode, onednn=True)
        check(got, twin.quantize_onednn(x, lo, hi, TYPES[T], mode))


def test_quantize_rounds_each_side_of_every_tie():
    ties = np.arange(-126, 126, dtype=np.float32) + np.float32(0.5)
    x = np.concatenate([np.nextafter(ties, np.float32(-200)), ties, np.nextafter(ties, np.float32(200))])
    away = quantize_v2(x, -127.0, 127.0, "qint8", "SCALED", narrow_range=True).data
    even = quantize_v2(x, -127.0, 127.0, "qint8", "SCALED", "HALF_TO_EVEN", narrow_range=True).data
    below, tie, above = np.split(away, 3)
    np.testing.assert_array_equal(below, np.floor(ties))
    np.testing.assert_array_equal(above, np.ceil(ties))
    np.testing.assert_array_equal(tie, np.sign(ties) * np.ceil(np.abs(ties)))
    np.testing.assert_array_equal(np.split(even, 3), [below, np.rint(ties), above])
    ties = np.arange(255, dtype=np.float32) + np.float32(0.5)
    x = np.concatenate([np.nextafter(ties, np.float32(-1))[1:], ties])
    up = quantize_v2(x, 0.0, 255.0).data
    np.testing.assert_array_equal(up, np.concatenate([np.floor(ties[1:]), np.ceil(ties)]))


def test_quantize_known_answers():
    assert quantize_v2(X, -1.0, 1.0, mode="MIN_FIRST").data.tolist() == [0, 43, 85, 128, 171, 213, 255]
    assert quantize_v2(X, -1.0, 1.0, mode="MIN_FIRST", onednn=True).data.tolist() == [0, 42, 85, 128, 170, 212, 255]
    assert quantize_v2(np.float32(0.3), -1.0, 1.0, mode="MIN_FIRST", onednn=True).data == 165


@pytest.mark.parametrize(("x", "code"), [(2, 126), (-2, 129), (1e6, 96), (1e9, 0), (-1e12, 0), (np.inf, 0)])
def test_onednn_cuts_one_number_to_its_low_bits(x, code):
    assert quantize_v2(np.float32(x), -1.0, 1.0, mode="MIN_FIRST", onednn=True).data == code


@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST"])
def test_ends_below_the_normal_float32_are_0(mode):
    assert quantize_v2(X, -3.4e38, 1e-38, mode=mode).max == 0
    assert quantize_v2(X, -1e-39, 1.0, mode=mode).min == 0
    assert quantize_v2(X, -1.0, 1.0, mode=mode).max == 1


def test_onednn_leaves_min_first_of_a_narrow_range_to_tensorflow():
    """What TensorFlow 2.21 gives with oneDNN on, for an element on which the two formulas differ."""
    x, ends = np.float32([14231.889]), (-97.884094, 42309.797)
    assert quantize_v2(x, *ends, mode="MIN_FIRST", narrow_range=True, onednn=True).data == 87
    assert quantize_v2(x, *ends, mode="MIN_FIRST", onednn=True).data == 86


def test_onednn_has_no_kernel_for_qint32_scaled_half_to_even():
    with pytest.raises(ValueError, match=r"T: TensorFlow has no kernel .NotFound. for SCALED with HALF_TO_EVEN"):
        quantize_v2(X, -1.0, 1.0, "qint32", "SCALED", "HALF_TO_EVEN", onednn=True)
    for other in ({"round_mode": "HALF_AWAY_FROM_ZERO"}, {"narrow_range": True}, {"axis": -2}):
        options = {"mode": "SCALED", "round_mode": "HALF_TO_EVEN", **other}
        plain = quantize_v2(X, -1.0, 1.0, "qint32", **options)
        np.testing.assert_array_equal(quantize_v2(X, -1.0, 1.0, "qint32", **options, onednn=True).data, plain.data)


@pytest.mark.parametrize("least", [0.0, -0.0, -(2.0**-149)])
def test_an_end_at_zero_allows_any_scale(least):
    """0 divides nothing, be it -0.0; the other end decides, or the largest float32 where that is too near to 0 too."""
    t = quantize_v2(np.float32([-1, -0.5, 0]), -1.0, least, "qint8", "SCALED", ensure_minimum_range=0.0)
    assert t.data.tolist() == [-128, -64, 0]
    t = quantize_v2(np.float32([-1, 0, 1]), -(2.0**-149), least, "qint8", "SCALED", ensure_minimum_range=0.0)
    assert t.data.tolist() == [-128, 0, 127]
    assert t.max == np.float32(127 / np.finfo(np.float32).max)


@pytest.mark.parametrize("T", TYPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("onednn", [False, True])
def test_a_result_knows_what_its_codes_stand_for(T, mode, narrow, onednn):
    """Its scale and range give the values back, to within what float32 loses on the way."""
    x = np.linspace(-1, 2, 31, dtype=np.float32)
    round_mode = "HALF_TO_EVEN" if mode == "SCALED" and T != "qint32" else "HALF_AWAY_FROM_ZERO"
    x = x[:-1] if T == "qint32" else x  # the top of the range wraps
    t = quantize_v2(x, -1.0, 2.0, T, mode, round_mode, narrow, onednn=onednn)
    lowest = 0 if t.code_type.symmetric else t.code_type.lowest
    values = (0 if t.code_type.symmetric else t.min) + (t.data - np.float64(lowest)) * t.scale
    assert np.abs(values - np.clip(x, t.min, t.max)).max() <= 0.51 * t.scale + 2.0**-20
    assert t.max == pytest.approx((t.code_type.symmetric and t.max) or t.min + t.code_type.steps * t.scale)


def test_min_first_does_not_bring_zero_back():
    t = quantize_v2(np.float32([0]), -1.0, 1.0, mode="MIN_FIRST")
    assert t.data.tolist() == [128]
    assert dequantize(t, mode="MIN_FIRST").tolist() == [np.float32(0.007843137)]
    assert dequantize((t.data - 1, t.min, t.max), mode="MIN_FIRST").tolist() == [0]


def test_steps_of_qint32_are_one_less_than_a_float32_says():
    """What TensorFlow 2.21 gave where 2**32 - 1 and 2**32 steps differ."""
    assert quantize_v2(np.float32(130366.13), 0.0, 344490.8, "qint32").data == -522133376


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("mode", ["MIN_COMBINED", "SCALED"])
def test_axis_is_slice_by_slice(axis, mode):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 3, 4)).astype(np.float32)
    lows = -rng.uniform(0.1, 2, x.shape[axis]).astype(np.float32)
    highs = rng.uniform(0.1, 2, x.shape[axis]).astype(np.float32)
    t = quantize_v2(x, lows, highs, "qint8", mode, axis=axis)
    back = dequantize(t, mode, axis=axis)
    assert t.min.shape == t.max.shape == (x.shape[axis], *(1,) * (2 - axis))
    assert t.min.dtype == np.float32
    for i in range(x.shape[axis]):
        alone = quantize_v2(x.take(i, axis), lows[i], highs[i], "qint8", mode)
        np.testing.assert_array_equal(t.data.take(i, axis), alone.data)
        assert (t.min.flat[i], t.max.flat[i]) == (alone.min, alone.max)
        np.testing.assert_array_equal(back.take(i, axis), dequantize(alone, mode))


def test_axis_of_size_one_and_below_minus_one():
    t = quantize_v2(np.float32([[0.5], [1.0]]), np.float32([-1]), np.float32([2]), axis=1)
    assert (t.min, t.max) == (-1, 2)
    assert isinstance(t.max, float)
    one = quantize_v2(X[None], [-1.0], [1.0], mode="MIN_FIRST", axis=0, onednn=True)
    np.testing.assert_array_equal(one.data[0], quantize_v2(X, -1.0, 1.0, mode="MIN_FIRST").data)
    np.testing.assert_array_equal(
        dequantize((one.data, np.float32([-1]), np.float32([1])), "MIN_FIRST", axis=0)[0],
        dequantize((one.data[0], -1.0, 1.0), "MIN_FIRST"),
    )
    first = quantize_v2(X, -1.0, 1.0, mode="MIN_FIRST")
    check(quantize_v2(X, -1.0, 1.0, mode="MIN_FIRST", axis=-7, onednn=True), tuple(first))


def test_any_layout_gives_the_same():
    x = np.random.default_rng(6).normal(size=(40, 50)).astype(np.float32)
    want = quantize_v2(x, -1.0, 1.0, "qint16")
    values_of = dequantize(want)
    big_endian = want.data.astype(">i2")
    frozen = x.copy()
    frozen.flags.writeable = False
    for same in (np.asfortranarray(x), x.astype(">f4"), frozen, np.repeat(x, 2, 1)[:, ::2]):
        before = same.copy()
        np.testing.assert_array_equal(quantize_v2(same, -1.0, 1.0, "qint16").data, want.data)
        np.testing.assert_array_equal(same, before)
    for same in (np.asfortranarray(want.data), big_endian, np.repeat(want.data, 3, 0)[::3]):
        np.testing.assert_array_equal(dequantize((same, want.min, want.max)), values_of)


def test_out_is_written_and_returned():
    x = np.float32([[0.5, 1.0], [0.5, 1.0]])
    codes, back = np.zeros((2, 4), np.uint8)[:, ::2], np.zeros((2, 2), np.float32, order="F")
    t = quantize_v2(x, [0.0, 0.0], [1.0, 2.0], axis=0, out=codes)
    assert t.data is codes
    assert codes.tolist() == [[128, 255], [64, 128]]
    assert dequantize(t, axis=0, out=back) is back
    np.testing.assert_allclose(back, x, atol=0.005)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_scalars_and_no_elements(shape):
    t = quantize_v2(np.ones(shape, np.float32), -1.0, 1.0)
    assert t.data.shape == shape
    assert dequantize(t).shape == shape
    assert np.all(t.data == 255)


BAD_QUANTIZE = [
    ({"input": X.astype(float)}, "input: expected float32"),
    ({"input": np.float32([0, np.nan])}, "input: holds NaN"),
    ({"min_range": 2.0}, "input_max_range must be larger than input_min_range, got min 2.0, max 1.0"),
    ({"min_range": np.nan}, "min_range: nan"),
    ({"max_range": np.inf}, "max_range: inf"),
    ({"max_range": "1"}, "max_range: expected a number, got .*'1'"),
    ({"min_range": -3e38, "max_range": 3e38}, "wider than float32"),
    (
        {"min_range": 1e38, "max_range": 3.4028235e38, "T": "qint8", "mode": "SCALED", "round_mode": "HALF_TO_EVEN"},
        "min_range, max_range: .* is too narrow or wide",
    ),
    ({"min_range": [-1.0, -1.0]}, "min_range must contain a single float element, but it contains 2"),
    ({"T": "quint4"}, "T: 'quint4'"),
    ({"mode": "MIN_LAST"}, "mode: 'MIN_LAST' is not in the list"),
    ({"round_mode": "UP"}, "round_mode: 'UP'"),
    ({"round_mode": "HALF_TO_EVEN"}, "only supported for mode 'SCALED', but mode is 'MIN_COMBINED'"),
    ({"axis": 0, "mode": "MIN_FIRST"}, "axis: MIN_FIRST mode is not implemented for Quantize"),
    ({"axis": 1}, "axis was 1"),
    ({"axis": 0}, "min_range must be a 1-D tensor"),
    ({"axis": 0.5}, "axis: expected an integer, got 0.5"),
    ({"axis": 0, "input": np.zeros((0, 2), np.float32)}, "axis 0 of the input has size 0"),
    ({"min_range": 0.0, "max_range": 0.0, "ensure_minimum_range": 0.0}, "too narrow"),
    ({"ensure_minimum_range": 3e38, "max_range": 2e6}, "too narrow or wide"),
    ({"ensure_minimum_range": [[1], [1, 2]]}, "^ensure_minimum_range: expected an array, got list: .*inhomogeneous"),
    ({"max_range": [[1], [1, 2]]}, "^max_range: expected an array, got list: .*inhomogeneous"),
    ({"max_range": [10**5000]}, "^max_range: an integer of 16610 bits is beyond every float"),
    ({"ensure_minimum_range": [10**5000]}, "^ensure_minimum_range: must be rank 0 but is rank 1, got"),
    ({"out": np.zeros(7, np.int8)}, "out: expected native uint8"),
    ({"out": np.zeros(6, np.uint8)}, "out: shape"),
    ({"out": X.view(np.uint8)[:7]}, "out: shares memory"),
    ({"input": X[0], "mode": "SCALED", "round_mode": "HALF_TO_EVEN", "onednn": True}, "Scalar calculation"),
    ({"input": X.reshape(1, 1, 1, 1, 1, 7), "mode": "MIN_FIRST", "onednn": True}, "dims must be <= 5"),
]


@pytest.mark.parametrize(("change", "message"), BAD_QUANTIZE)
def test_quantize_rejects(change, message):
    before = X.copy()
    with pytest.raises((ValueError, TypeError), match=message):
        quantize_v2(**{"input": X, "min_range": -1.0, "max_range": 1.0, **change})
    np.testing.assert_array_equal(X, before)


def test_a_range_that_becomes_infinite_is_refused_before_out_is_written():
    """SCALED keeps the step of the wider end: -128/127 of the largest float32 is -inf."""
    out = np.full(7, 77, np.int8)
    with pytest.raises(ValueError, match=r"^min_range, max_range: \(-inf, 3.4028\d*e\+38\) is too narrow or wide"):
        quantize_v2(X, 1e38, 3.4028235e38, "qint8", "SCALED", "HALF_TO_EVEN", out=out)
    assert (out == 77).all()
