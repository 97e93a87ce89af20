"""qops.affine: each rule against its twin, and the way back to a range."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import RANGE_PAIRS, TINY, reals, spans
from hypothesis import given
from hypothesis import strategies as st

import qops
from qops import QTensor, affine, codes

RANGES = sorted({ends for pair in RANGE_PAIRS.values() for ends in pair})


@pytest.mark.parametrize(
    ("lo", "hi"), [*RANGES, (-254.0, 1.0), (-1.0, 254.0), (-255.0, 1e-3), (-1e-3, 255.0), (-TINY, 1.0)]
)
def test_holding_zero_matches_twin(lo, hi):
    check_holding_zero(lo, hi)


@given(ends=spans(3e38))
def test_holding_zero_any_range_matches_twin(ends):
    check_holding_zero(*ends)


def check_holding_zero(lo, hi):
    got = affine.holding_zero(lo, hi)
    assert got == (*reference.affine_holding_zero(lo, hi), "u8")
    low, high = got.range
    slack = (high - low) * 2**-50
    assert low - slack <= min(0.0, float(np.float32(lo)))
    assert high + slack >= max(0.0, float(np.float32(hi)))
    assert 0 <= got.zero_point <= 255


@given(ends=spans(1e38))
def test_holding_zero_widens_by_less_than_a_step(ends):
    lo, hi = min(0.0, ends[0]), max(0.0, ends[1])
    got = affine.holding_zero(lo, hi)
    low, high = got.range
    if hi - lo > 1e-30:
        assert high - low <= (hi - lo) * (1 + 1 / 254 + 2**-40)


@given(zero_point=st.integers(0, 255), scale=st.floats(2.0**-100, 2.0**100, width=32))
def test_exact_is_the_inverse_of_range(zero_point, scale):
    given_back = affine.exact(*affine.Affine(scale, zero_point, "u8").range)
    assert given_back.zero_point == zero_point
    assert abs(given_back.scale - scale) <= scale * 2**-21


@given(ends=spans(1e38))
def test_exact_matches_twin(ends):
    want = reference.affine_exact(*ends)
    if want is None:
        with pytest.raises(ValueError, match=r"^min, max: (in \(.*\) 0 is at code|\(.*\) does not hold 0)"):
            affine.exact(*ends)
    else:
        got = affine.exact(*ends)
        assert got.zero_point == want[1]
        assert abs(got.scale - want[0]) <= want[0] * 2**-50


@pytest.mark.parametrize("off", [2.0**-14, 2.0**-15 * 1.5, 2.0**-15 * 0.9, 2.0**-16, 0.0])
def test_exact_tolerates_a_32768th_of_a_step(off):
    lo, hi = -(64.0 + off), 191.0 - off
    if off > 2.0**-15:
        with pytest.raises(ValueError, match="not on a code"):
            affine.exact(lo, hi)
    else:
        assert affine.exact(lo, hi).zero_point == 64


@given(limit=reals(1e38).map(abs))
def test_max_abs_and_symmetric_match_twins(limit):
    assert affine.max_abs(limit) == (*reference.affine_max_abs(limit), "u8")
    assert affine.symmetric(limit) == (*reference.affine_symmetric(limit), "u8")
    assert affine.symmetric(limit).range[1] == pytest.approx(limit, rel=1e-15)
    assert affine.max_abs(limit).range == (0.0, pytest.approx(limit, rel=1e-15))


@pytest.mark.parametrize("rule", [affine.max_abs, affine.symmetric])
@pytest.mark.parametrize("limit", [-1.0, -TINY, float("nan"), float("inf"), "1", None, True])
def test_limits_are_checked(rule, limit):
    with pytest.raises((ValueError, TypeError), match=f"limit: .*{str(limit)[:4]}"):
        rule(limit)


@pytest.mark.parametrize("rule", [affine.holding_zero, affine.exact])
@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((2.0, 1.0), "min, max: min 2.0 > max 1.0"),
        ((float("nan"), 1.0), r"min, max: the range \(nan, 1.0\) is not finite"),
        ((0.0, float("inf")), r"min, max: the range \(0.0, inf\) is not finite"),
        ((0.0, "1"), "max: expected a number, got '1'"),
        ((None, 1.0), "min: expected a number, got None"),
    ],
)
def test_ranges_are_checked(rule, ends, text):
    with pytest.raises((ValueError, TypeError), match=text):
        rule(*ends)


@pytest.mark.parametrize("dtype", ["uint8", np.int8, "uint16", "int16"])
def test_codes_of_an_affine_range_have_its_scale_and_zero_point(dtype):
    """So for each type: a range of other codes would silently move the zero point."""
    row = codes.of_dtype(dtype)
    for made in (affine.holding_zero(-0.3, 2.0, dtype=dtype), affine.symmetric(0.7, dtype=dtype)):
        t = QTensor(np.array([made.zero_point], row.dtype), *made.range)
        assert t.zero_point == made.zero_point
        assert t.scale == pytest.approx(made.scale, rel=2**-22)
        assert t.dequantize().tolist() == [0.0]
        assert made.code_type == row.name
        assert affine.exact(t.min, t.max, dtype=dtype).zero_point == made.zero_point
    assert affine.holding_zero(-0.3, 2.0, dtype=dtype).range == pytest.approx(
        (qops.quantize([0.0], -0.3, 2.0, dtype=dtype).min, qops.quantize([0.0], -0.3, 2.0, dtype=dtype).max), rel=2**-22
    )


@pytest.mark.parametrize(
    "rule", [affine.holding_zero, affine.exact, lambda lo, hi, dtype: affine.symmetric(hi, dtype=dtype)]
)
@pytest.mark.parametrize("dtype", ["int32", "float32", "none"])
def test_other_types_are_refused(rule, dtype):
    with pytest.raises((ValueError, TypeError), match=r"^dtype: expected .*, got '"):
        rule(0.0, 1.0, dtype=dtype)


# --- QTensor.from_scale --------------------------------------------------------------------------------------------

U8 = np.uint8([1, 2, 255])
PLAIN = [codes.of_dtype(dtype) for dtype in ("uint8", "int8", "uint16", "int16", "int32")]


@given(row=st.sampled_from(PLAIN), scale=st.floats(2.0**-126, 1e29), share=st.floats(0, 1))
def test_from_scale_keeps_the_zero_point_and_nearly_the_scale(row, scale, share):
    zero = 0 if row.symmetric else row.lowest + round(share * (row.highest - row.lowest))
    data = np.array([row.lowest, zero, row.highest], row.dtype)
    t = QTensor.from_scale(data, scale, zero)
    assert t.data is data
    assert t.zero_point == zero
    assert t.scale == pytest.approx(scale, rel=2**-22)
    exact = [float((int(q) - zero) * Fraction(scale)) for q in data]
    np.testing.assert_allclose(t.dequantize(), exact, rtol=0, atol=max(map(abs, exact)) * 2.0**-21 + 2.0**-141)


def test_from_scale_of_channels():
    data = np.arange(6, dtype=np.int8).reshape(1, 3, 2)
    t = QTensor.from_scale(data, [0.5, 1.0, 2.0], np.int64([0, -5, 7]), axis=-2)
    assert t.min.shape == t.max.shape == (1, 3, 1)
    assert t.zero_point.ravel().tolist() == [0, -5, 7]
    assert t.dequantize().tolist() == [[[0, 0.5], [7, 8], [-6, -4]]]
    assert QTensor.from_scale(data, [0.5, 1.0, 2.0], 3, axis=1).zero_point.ravel().tolist() == [3, 3, 3]
    assert QTensor.from_scale(data, 0.5, 3, axis=1) == QTensor.from_scale(data, 0.5, 3)
    assert QTensor.from_scale(data, 0, 5).dequantize().tolist() == np.zeros(data.shape).tolist()


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        ((None, 1.0), "data: expected an array, got None"),
        ((U8, -1.0), "scale: expected numbers from 1.17.*e-38 on, or 0, got -1.0"),
        ((U8, 2.0**-127), "scale: expected numbers from"),
        ((U8, float("inf")), "scale: expected numbers from"),
        ((U8, float("nan")), "scale: expected numbers from"),
        ((U8, "1"), "scale: expected numbers from"),
        ((U8, 2e36), "scale: the range of u8 codes is beyond float32, got 2e"),
        ((U8, 1.0, 256), r"zero_point: expected integers in \[0, 255\], got 256"),
        ((U8, 1.0, 1.0), "zero_point: expected integers in"),
        ((np.int32([1]), 1.0, 1), r"zero_point: expected integers in \[0, 0\], got 1"),
        ((U8, [1.0, 2.0]), r"scale: expected one number, as axis is not given, got shape \(2,\)"),
        ((U8, 1.0, [1, 2], 0), r"zero_point: expected 3 numbers for axis 0, got shape \(2,\)"),
        ((U8, 1.0, 0, 1), r"axis: expected an integer in \[-1, 0\], got 1"),
    ],
)
def test_from_scale_refuses(given_, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        QTensor.from_scale(*given_)
