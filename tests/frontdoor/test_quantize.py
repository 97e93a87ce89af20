"""quantize and dequantize: the twin, the bounds, exact zero, ranges, NaN and infinities."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import HUGE, RANGE_PAIRS, TINY, ends_of, reals, spans
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from ops import on_every_tier
from qops._kernels.frontdoor.quantize import dequantize_integers

import qops
from qops.frontdoor.quantize import BOUND_QUANTIZE

RANGES = sorted(
    {ends for pair in RANGE_PAIRS.values() for ends in pair} | {(-3.0, 1.0), (-1e-38, 1e-38), (-254.0, 1.0)}
)
ALL_CODES = np.arange(256, dtype=np.uint8)
S32_CODES = np.int32([-(2**31), -(2**31) + 1, -12345678, -1, 0, 1, 2, 16777217, 2**30, 2**31 - 1])


def around_ties(lo, hi):
    """float32 values on, below and above every tie between two codes, ends and zero included."""
    scale, zero_point = reference.affine_holding_zero(lo, hi)
    with np.errstate(over="ignore"):
        ties = np.float32((np.arange(-1, 257) - 0.5 - zero_point) * scale)
    zeros = np.float32([0.0, -0.0, lo, hi])
    return np.concatenate(
        [ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(-np.inf)), zeros]
    )


def check_quantize(x, lo, hi):
    t = on_every_tier(qops.quantize, x, lo, hi)
    codes, low, high = reference.quantize(x, lo, hi)
    assert (t.min, t.max) == (low, high)
    np.testing.assert_array_equal(t.data.ravel(), codes)
    return t


@pytest.mark.parametrize(("lo", "hi"), [ends for ends in RANGES if max(map(abs, ends)) < 3e38])
def test_quantize_matches_twin_within_bound(lo, hi):
    x = around_ties(lo, hi)
    t = check_quantize(x, lo, hi)
    if t.min == t.max:
        assert lo == hi == 0
        return
    inside = (x >= t.min) & (x <= t.max)
    assert inside.sum() > 2
    assert qops.error((t.data[inside], t.min, t.max), x[inside]).max <= BOUND_QUANTIZE
    assert BOUND_QUANTIZE == 0.5 + 2**-13
    assert (t.data[x < t.min] == 0).all()
    assert (t.data[x > t.max] == 255).all()


@given(ends=spans(1e38), x=hnp.arrays(np.float32, st.integers(0, 40), elements=reals(1e38)))
def test_quantize_any_range_matches_twin(ends, x):
    check_quantize(np.concatenate([x, around_ties(*ends)]), *ends)


@given(x=hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0), elements=reals(1e38)))
def test_quantize_range_comes_from_the_data_within_bound(x):
    t = check_quantize(x, None, None)
    assert t.data.shape == x.shape
    if x.size:
        assert t.min <= min(0, x.min())
        assert t.max >= max(0, x.max())
        if t.max > t.min:
            assert qops.error(t, x).max <= BOUND_QUANTIZE


@given(ends=spans(1e38))
def test_quantize_keeps_zero_exactly(ends):
    t = qops.quantize(np.float32([0.0, -0.0]), *ends)
    np.testing.assert_array_equal(qops.dequantize(t), np.float32([0.0, 0.0]))
    assert t.data[0] == t.data[1] == t.zero_point
    assert t.min <= 0 <= t.max


@given(ends=spans(1e38))
def test_quantize_range_is_kept_by_a_second_quantize(ends):
    """The range given back is a fixed point, but for float32: quantizing with it gives the same codes."""
    first = qops.quantize(np.zeros(1), *ends)
    again = qops.quantize(np.zeros(1), first.min, first.max)
    assert again.data == first.data
    width = first.max - first.min
    assert abs(again.min - first.min) <= width * 2**-21
    assert abs(again.max - first.max) <= width * 2**-21


def test_quantize_one_end_comes_from_the_data():
    x = np.float32([-1.0, 0.25, 3.0])
    assert ends_of(qops.quantize(x, max=2.0)) == ends_of(qops.quantize(x, -1.0, 2.0))
    assert ends_of(qops.quantize(x, min=-2.0)) == ends_of(qops.quantize(x, -2.0, 3.0))
    with pytest.raises(ValueError, match=r"min, max: min 4.0 > max 3.0"):
        qops.quantize(x, min=4.0)


@pytest.mark.parametrize(("ends", "text"), [({"max": -1.0}, "min 0.0 > max -1.0"), ({"min": 1.0}, "min 1.0 > max 0.0")])
def test_quantize_calls_either_zero_of_the_data_0(ends, text):
    """Which of 0.0 and -0.0 is found as an end depends on the tier."""
    for zeros in np.float32([[0.0, -0.0] * 40, [-0.0, 0.0] * 40, [-0.0] * 80]):
        with pytest.raises(ValueError, match=f"^min, max: {text}; one of them"):
            qops.quantize(zeros, **ends)


def test_quantize_of_nothing_and_of_zeros_is_zero_wide():
    for x in (np.zeros((0, 3)), np.zeros((2, 3)), []):
        t = qops.quantize(x)
        assert (t.min, t.max) == (0.0, 0.0)
        assert not t.data.any()
        assert t.data.shape == np.shape(x)


@pytest.mark.parametrize("size", [1, 63, 200])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_quantize_saturates_infinities_and_gives_nan_the_lowest_code_if_told_to(size, dtype):
    lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    zero = qops.quantize(0.0, -1.0, 1.0, dtype=dtype).data
    values = {np.inf: highest, -np.inf: lowest, np.nan: lowest, 1e38: highest, -1e38: lowest, HUGE: highest}
    for value, code in values.items():
        for at in {*range(0, size, 7), size - 1}:  # every quarter of a vector, and what is left over
            x = np.zeros(size)
            x[at] = value
            t = on_every_tier(qops.quantize, x, -1.0, 1.0, dtype=dtype, nan="lowest")
            assert t.data[at] == code
            assert (np.delete(t.data, at) == zero).all()


@pytest.mark.parametrize("size", [1, 63, 64, 200, 20001, 400003])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16])
@pytest.mark.parametrize("ends", [(-1.0, 1.0), (0.0, 0.0)])
@pytest.mark.usefixtures("tier")
def test_quantize_refuses_nan_wherever_it_is(size, dtype, ends):
    """What `out` holds after that is not defined; what lies beside it has not changed."""
    memory = np.full(size + 1, 77, dtype)
    for at in {*range(0, size, max(7, size // 3)), size - 1}:
        x = np.zeros(size, np.float32)
        x[at] = np.nan
        for out, beside in ((None, 0), (memory[1:], 0), (memory[:-1], -1), (memory[:0:-1], 0)):
            memory[beside] = 77
            with pytest.raises(ValueError, match=rf"^x: has NaN at index \({at},\); nan='lowest' gives it the lowest"):
                qops.quantize(x, *ends, dtype=dtype, out=out)
            assert memory[beside] == 77
        assert np.isnan(x[at])
        assert not np.delete(x, at).any()


@pytest.mark.parametrize("size", [1, 63, 64, 200, 20001, 400003])
@pytest.mark.parametrize("ends", [(-1.0, 1.0), (0.0, 0.0)])
@pytest.mark.usefixtures("tier")
def test_quantize_takes_infinities_that_times_0_look_like_nan(size, ends):
    zero, out = qops.quantize(0.0, *ends).data, np.empty(size, np.uint8)
    for at in {0, size // 2, size - 1}:
        x, codes = np.zeros(size, np.float32), np.full(size, zero)
        x[0], codes[0] = -np.inf, 0
        x[at], codes[at] = np.inf, 255 if ends[1] else 0
        for result in (qops.quantize(x, *ends).data, qops.quantize(x, *ends, out=out).data):
            np.testing.assert_array_equal(result, codes)


def test_quantize_refuses_another_word_for_nan():
    with pytest.raises(ValueError, match=r"^nan: 'zero' is neither 'raise' nor 'lowest'"):
        qops.quantize([0.0], 0.0, 1.0, nan="zero")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 1, 40, 99])
def test_quantize_rejects_nonfinite_data_without_a_range(value, at):
    x = np.zeros(100, np.float32)
    x[at] = value
    for ends in ({}, {"min": 0.0}, {"max": 0.0}):
        named = "NaN" if np.isnan(value) else "a value that is infinite or beyond float32"
        with pytest.raises(ValueError, match=rf"^x: has {named} at index \({at},\), so it cannot give the range"):
            on_every_tier(qops.quantize, x, **ends)


def test_quantize_an_end_that_is_given_holds_where_all_data_lie_beyond_it():
    """As after a relu, or a relu6."""
    assert ends_of(qops.quantize([-1.0, -2.0], 0.0)) == (0.0, 0.0)
    assert ends_of(qops.quantize([7.0, 8.0], None, 6.0)) == (0.0, 6.0)
    assert qops.quantize([7.0, 8.0], None, 6.0).data.tolist() == [255, 255]


def test_quantize_rejects_a_range_that_widens_beyond_float32():
    with pytest.raises(ValueError, match=r"min, max: \(-3.4e\+38, 3.4e\+38\), with 0 on a code, is beyond float32"):
        qops.quantize([0.0], -3.4e38, 3.4e38)
    assert qops.quantize([0.0], 0.0, HUGE).max == HUGE


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "i1", "u2", "i4", "i8", ">f4", ">f8", ">i2"])
def test_quantize_takes_every_real_dtype(dtype):
    x = np.array([0, 1, 2, 3, 100], dtype)
    np.testing.assert_array_equal(qops.quantize(x).data, qops.quantize(x.astype(np.float32)).data)


# --- dequantize ------------------------------------------------------------------------------------------------------


def check_dequantize(codes, lo, hi):
    """Within the bound of the exact value, and 0.0 exactly where that is 0."""
    got = on_every_tier(qops.dequantize, (codes, lo, hi))
    assert got.dtype == np.float32
    bound = reference.dequantize_bound(lo, hi)
    for value, exact in zip(got.tolist(), reference.dequantize(codes, lo, hi), strict=True):
        assert abs(Fraction(value) - exact) <= bound
        if exact == 0:
            assert value == 0


@pytest.mark.parametrize(("lo", "hi"), RANGES)
def test_dequantize_within_bound(lo, hi):
    lo, hi = float(np.float32(lo)), float(np.float32(hi))
    check_dequantize(ALL_CODES, lo, hi)
    check_dequantize(S32_CODES, -max(abs(lo), abs(hi)), max(abs(lo), abs(hi)))


@given(ends=spans(3e38))
def test_dequantize_any_range_within_bound(ends):
    check_dequantize(ALL_CODES, *ends)


@given(top=reals(HUGE).map(abs), codes=hnp.arrays(np.int32, 20))
def test_dequantize_any_int32_range_within_bound(top, codes):
    check_dequantize(np.concatenate([codes, S32_CODES]), -top, top)


@pytest.mark.parametrize("zero", [1, 64, 100, 127, 128, 200, 254])
@pytest.mark.parametrize(
    "off", [2.0**-13, 2.0**-14 * 0.99, 2.0**-15 * 1.01, 2.0**-15 * 0.99, 2.0**-17, 0.0, -(2.0**-15)]
)
def test_dequantize_within_bound_where_zero_is_almost_on_a_code(zero, off):
    lo, hi = float(np.float32(-(zero + off))), float(np.float32(255 - zero - off))
    check_dequantize(ALL_CODES, lo, hi)
    code = -Fraction(lo) * 255 / (Fraction(hi) - Fraction(lo))
    value = qops.dequantize((np.uint8([zero]), lo, hi))[0]
    assert (value == 0) == (abs(code - zero) <= Fraction(1, 2**15)), "exactly 0 where it is on a code"


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("ends", [(-HUGE, HUGE), (-HUGE, 0.0), (0.0, HUGE), (HUGE / 2, HUGE), (-HUGE, HUGE / 255)])
def test_dequantize_takes_ranges_up_to_the_end_of_float32(dtype, ends):
    codes = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, dtype=dtype)[:: 1 if dtype(0).nbytes == 1 else 255]
    step = (ends[1] - ends[0]) / (2 ** (8 * dtype(0).nbytes) - 1)
    exact = ends[0] + (codes.astype(float) - np.iinfo(dtype).min) * step
    got = on_every_tier(qops.dequantize, (codes, *ends))
    assert np.abs(got - exact).max() <= HUGE * 2.0**-21
    assert np.array_equal(qops.dequantize((codes[None], np.float32([[ends[0]]]), np.float32([[ends[1]]])))[0], got)


@pytest.mark.parametrize("ends", [(-HUGE, 0.0), (0.0, HUGE)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_dequantize_takes_what_quantize_makes(dtype, ends):
    x = np.float32(ends)
    np.testing.assert_allclose(qops.dequantize(qops.quantize(x, *ends, dtype=dtype)), x, rtol=2.0**-21)


@pytest.mark.parametrize(("dtype", "lost"), [(np.uint8, 2.0**-141), (np.uint16, 2.0**-133), (np.int16, 2.0**-133)])
@pytest.mark.parametrize(
    ("lo", "hi"), [(-2.7955346e-38, -7.361694e-40), (-1e-38, 3e-38), (0.0, TINY), (-3e-40, 2.9e-38)]
)
def test_dequantize_within_bound_of_steps_below_2_to_the_minus_126(dtype, lost, lo, hi):
    lo, hi = float(np.float32(lo)), float(np.float32(hi))
    all_codes = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    exact = lo + (all_codes - all_codes[0]) * ((hi - lo) / (len(all_codes) - 1))
    off = np.abs(qops.dequantize((all_codes.astype(dtype), lo, hi)).astype(float) - exact).max()
    assert off <= 2.0**-21 * max(-lo, hi) + lost


def test_dequantize_int32_of_a_scale_below_float32():
    np.testing.assert_array_equal(
        qops.dequantize((np.int32([2**30, -(2**31)]), -1e-36, 1e-36)), np.float32([5e-37, -1e-36])
    )
    assert qops.dequantize((np.int32([-(2**31)]), -TINY, TINY))[0] == -TINY


@given(ends=spans(1e38), x=hnp.arrays(np.float32, 30, elements=st.floats(0, 1, width=32)))
def test_quantize_then_dequantize_within_bound(ends, x):
    lo, hi = min(0.0, ends[0]), max(0.0, ends[1])
    x = (lo * (1 - x.astype(float)) + hi * x).astype(np.float32)
    t = qops.quantize(x, lo, hi)
    off = np.abs(qops.dequantize(t).astype(float) - x)
    assert (off <= BOUND_QUANTIZE * t.scale + max(-t.min, t.max) * 2**-21).all()


@pytest.mark.parametrize("ends", [(-1.0, 2.0), (0.5, 2.0), (-3.0, -1.0), (0.0, 1e-30)])
def test_dequantize_integers_are_what_the_loop_uses(ends):
    k = {name: np.float32(value) for name, value in dequantize_integers(*ends).items()}
    expected = (ALL_CODES - k["zero_point"]) * k["scale"] + k["base"]
    np.testing.assert_array_equal(qops.dequantize((ALL_CODES, *ends)), expected, strict=True)
