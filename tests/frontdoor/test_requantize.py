"""requantize and requantization_range: exact but for ties, on all 8-bit codes, on int32 codes around every boundary."""

import numpy as np
import pytest
import reference
from cases import HUGE, RANGE_PAIRS, TINY, reals, spans
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from ops import on_every_tier

import qops
from qops._kernels.frontdoor import requantize as kernels
from qops.frontdoor.requantize import BOUND_REQUANTIZE

ENDS = np.array([-(2**31), -(2**31) + 1, -(2**30), -1, 0, 1, 2**30, 2**31 - 2, 2**31 - 1])
EDGES = {
    "same": (1.0, -1.0, 1.0),
    "half": (1.0, -0.5, 0.5),
    "one_sided": (6.0, 0.0, 6.0),
    "negative": (6.0, -6.0, 0.0),
    "without_zero": (10.0, 2.0, 3.0),
    "far_above_zero": (1e6, 9e5, 9.01e5),
    "far_below_zero": (1e6, -9.00001e5, -9e5),
    "beyond_what_codes_reach": (1.0, 2.0, 3.0),
    "below_what_codes_reach": (1.0, -1e6, -2.0),
    "half_beyond": (1.0, 0.9, 1.9),
    "wide": (1.0, -1e6, 1e6),
    "extremely_wide": (1e-30, -1e30, 1e30),
    "one_code_wide": (2.0**31, 99.5, 100.5),
    "ratio_100": (2.0**31, -1.0, 1.55),
    "ratio_256": (2.0**31, 7.0, 7.9970703125),
    "ratio_300": (2.0**31, -0.4, 0.45),
    "ratio_511": (2.0**31, 0.0, 255 / 511),
    "ratio_512": (2.0**31, -0.25, 255 / 512 - 0.25),
    "ratio_513": (2.0**31, -0.25, 255 / 513 - 0.25),
    "ratio_10000": (2.0**31, 4.99, 5.0155),
    "extremely_narrow": (1e30, -1e-6, 1e-6),
    "between_two_codes": (2.0**31, 0.25, 0.5),
    "denormal": (100 * TINY, -50 * TINY, 70 * TINY),
    "denormal_output": (1.0, -TINY, TINY),
    "huge": (HUGE, -HUGE, HUGE),
    "zero_input_range": (0.0, -1.0, 3.0),
    "power_of_two": (2.0**31, -128.0, 127.0),
    "power_of_two_ties": (2.0**30, -128.0, 127.0),
}


def boundary_codes(top, lo, hi):
    """int32 codes on both sides of every boundary between two output codes, around both ends, and random ones."""
    step, out_step = 2 * top / 2**32, (hi - lo) / 255
    centres = [(lo + (np.arange(-2, 259) - 0.5) * out_step) / step] if step else []
    centres = np.concatenate([*centres, [lo / step, hi / step] if step else [], ENDS])
    near = np.clip(np.round(centres), -(2**31), 2**31 - 1)[:, None] + np.arange(-2, 3)
    drawn = np.random.default_rng(1).integers(-(2**31), 2**31, 300)
    return np.clip(np.concatenate([near.ravel(), drawn]), -(2**31), 2**31 - 1).astype(np.int64).astype(np.int32)


def check_32to8(codes, top, lo, hi):
    """`check`, to the bit the row of numbers, and that the int8 codes of requantize are 128 less."""
    top, lo, hi = (float(np.float32(v)) for v in (top, lo, hi))
    t = on_every_tier(qops.requantize_32to8, (codes, -top, top), lo, hi)
    check(t, codes, (-top, top), lo, hi, 17)
    signed = on_every_tier(qops.requantize, (codes, -top, top), lo, hi, dtype=np.int8)
    np.testing.assert_array_equal(signed.data, t.data.astype(int) - 128)
    if lo < hi:
        for found, lowest in ((t, 0), (signed, -128)):
            integers = kernels.requantize_integers(2 * top / 2**32, lo, hi, lowest < 0)
            assert found.data.ravel().tolist() == reference.integer_stage(codes, integers)


def check(t, codes, in_range, lo, hi, margin):
    """Within 0.5 + 2**-margin in the range, saturated elsewhere, and exactly the nearest code but for ties."""
    assert (t.min, t.max) == (np.float32(lo), np.float32(hi))
    got = t.data.ravel().astype(int) + (128 if t.data.dtype == np.int8 else 0)
    if lo == hi:
        assert not got.any()
        return
    assert 0.5 + 2.0**-margin <= BOUND_REQUANTIZE
    nearest, position, unit = reference.requantize(codes, in_range, lo, hi)
    clamped = np.clip(position, 0, 255 * unit)
    assert (abs(got.astype(object) * unit - clamped) * 2**margin <= unit * (2 ** (margin - 1) + 1)).all()
    unlike = got != nearest
    rest = (2 * position[unlike] + unit) % (2 * unit)
    assert (np.minimum(rest, 2 * unit - rest) * 2 ** (margin - 1) <= unit).all(), "not the nearest code, far from a tie"


CODES_8 = {np.uint8: np.arange(256, dtype=np.uint8), np.int8: np.arange(-128, 128, dtype=np.int8)}
RANGES_8 = [
    *RANGE_PAIRS.values(),
    *(pair[::-1] for pair in RANGE_PAIRS.values()),
    ((1e30, float(np.nextafter(np.float32(1e30), np.float32(np.inf)))), (1e30, 1.0000002e30)),
    ((-1e30, 3e30), (-1e-6, 1e-6)),
    ((-HUGE, HUGE), (-HUGE, HUGE)),
    ((-HUGE, HUGE), (-TINY, TINY)),
    ((-TINY, TINY), (-TINY, 2 * TINY)),
    ((0.0, 255.0), (0.0, 510.0)),
    ((1.0, 1.0), (0.0, 2.0)),
    ((0.0, 1.0), (0.5, 0.5)),
]


@pytest.mark.parametrize("source", CODES_8)
@pytest.mark.parametrize("dtype", CODES_8)
def test_requantize_of_all_8_bit_codes(source, dtype):
    """The nearest code within 2**-40 of a tie, whatever the two ranges."""
    for in_range, wanted in RANGES_8:
        t = on_every_tier(qops.requantize, (CODES_8[source], *in_range), *wanted, dtype=dtype)
        assert t.data.dtype == dtype
        check(t, CODES_8[source], tuple(map(np.float32, in_range)), *wanted, 40)


@given(ends=spans(1e38), wanted=spans(1e38), signed=st.booleans())
def test_requantize_of_8_bit_codes_any_ranges(ends, wanted, signed):
    codes = CODES_8[np.int8 if signed else np.uint8]
    check(qops.requantize((codes, *ends), *wanted), codes, ends, *wanted, 40)


def test_requantize_8_bit_ties_go_up():
    """Two input steps make one of the output."""
    t = qops.requantize((np.uint8([0, 1, 2, 3, 5, 255]), 0.0, 255.0), 0.0, 510.0, dtype=np.int8)
    assert t.data.tolist() == [-128, -127, -127, -126, -125, 0]


@pytest.mark.parametrize("dtype", CODES_8)
def test_requantize_of_8_bit_codes_into_what_they_span(dtype):
    lowest = np.iinfo(dtype).min
    t = (np.array([5, 60, 200], np.uint8).astype(int) + lowest).astype(dtype), -1.0, 1.55
    found = qops.requantization_range(t)
    np.testing.assert_allclose(found, (-0.95, 1.0), atol=1e-6)
    assert qops.requantize(t, *found, dtype=dtype).data.tolist() == [lowest, 72 + lowest, 255 + lowest]
    assert qops.requantization_range((t[0][:0], -1.0, 1.0)) == (0.0, 0.0)
    assert qops.requantization_range((np.array([lowest, lowest + 255], dtype), -1.0, 1.55)) == (-1.0, np.float32(1.55))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.uint16([1]), 0.0, 1.0), {}, "t: expected uint8, int8 or int32 data, got uint16"),
        ((np.float32([1]), 0.0, 1.0), {}, "t: expected uint8, int8 or int32 data, got float32"),
        ((np.int32([1]), 0.0, 1.0), {}, "t: the range .0.0, 1.0. of int32 codes is not symmetric"),
        ((np.int8([1]), 0.0, 1.0), {"dtype": np.int16}, "dtype: expected uint8 or int8, got <class 'numpy.int16'>"),
        ((np.int8([1]), 0.0, 1.0), {"min": 2.0, "max": 1.0}, "min, max: min 2.0 > max 1.0"),
        ((np.int8([1]), 0.0, 1.0), {"dtype": np.int8, "out": np.zeros(1, np.uint8)}, "out: expected native int8"),
    ],
)
def test_requantize_rejects(arguments, options, message):
    out = options.get("out")
    with pytest.raises((TypeError, ValueError), match=message):
        qops.requantize(arguments, **options)
    assert out is None or not out.any()


@pytest.mark.parametrize("op", [qops.requantize, qops.requantize_32to8])
@pytest.mark.parametrize("at", ["t", "min", "max"])
@pytest.mark.filterwarnings("ignore:Setting the dtype")  # numpy 2.5 would rather not
def test_a_number_that_retypes_the_array_is_harmless(op, at):
    """The array is looked at last: its codes are then of another type."""

    class Number:
        def __float__(self):
            x.dtype = np.float32
            return -1.0 if at != "max" else 1.0

    x = np.int32([1, 2, 3])
    t = (x, Number() if at == "t" else -1.0, 1.0)
    ends = {"min": -1.0, "max": 1.0} | ({at: Number()} if at != "t" else {})
    with pytest.raises(TypeError, match=r"t: expected .*int32 data, got float32"):
        op(t, **ends)


@pytest.mark.filterwarnings("ignore:Setting the dtype")  # numpy 2.5 would rather not
def test_a_range_that_retypes_the_array_is_harmless():
    class Number:
        def __float__(self):
            x.dtype = np.float32
            return -1.0

    x = np.int32([1, 2, 3])
    with pytest.raises(TypeError, match=r"t: expected .*int32 data, got float32"):
        qops.requantization_range((x, Number(), 1.0))


@pytest.mark.parametrize(("top", "lo", "hi"), EDGES.values(), ids=EDGES)
def test_requantize_32to8_around_every_boundary(top, lo, hi):
    check_32to8(boundary_codes(top, lo, hi), top, lo, hi)


@given(top=reals(1e38).map(abs), ends=spans(1e38))
def test_requantize_32to8_any_ranges(top, ends):
    check_32to8(boundary_codes(top, *ends) if ends[0] < ends[1] else ENDS.astype(np.int32), top, *ends)


@given(exponent=st.integers(-12, 40), place=st.floats(-1.2, 1.2), share=st.floats(0, 1))
def test_requantize_32to8_any_ratio(exponent, place, share):
    """Output ranges of every width within what the codes reach."""
    width = 2.0 * 2.0 ** -(exponent + share)
    check_32to8(boundary_codes(1.0, place, place + width), 1.0, place, place + width)


def test_requantize_32to8_rounds_ties_up():
    """Two codes make an output step: -1.5, -0.5, 0.5 ... above the code of 0, 128."""
    codes = np.int32([-3, -1, 1, 3, 5, 7] * 20)
    t = qops.requantize_32to8((codes, -(2.0**30), 2.0**30), -128.0, 127.0)
    np.testing.assert_array_equal(t.data, [127, 128, 129, 130, 131, 132] * 20)


@given(top=reals(1e38).map(abs), codes=hnp.arrays(np.int32, hnp.array_shapes(min_dims=0, min_side=0)))
def test_requantization_range_matches_twin(top, codes):
    found = on_every_tier(qops.requantization_range, (codes, -top, top))
    assert found == reference.requantization_range(codes, top)


@given(top=reals(1e38).map(abs), codes=hnp.arrays(np.int32, st.integers(1, 90)))
def test_requantize_32to8_range_from_the_codes_loses_nothing(top, codes):
    lo, hi = qops.requantization_range((codes, -top, top))
    t = qops.requantize_32to8((codes, -top, top), lo, hi)
    assert (lo, hi) == reference.requantization_range(codes, top)
    check_32to8(codes, top, lo, hi)
    if t.min < t.max:
        _, position, unit = reference.requantize_32to8(codes, (-top, top), lo, hi)
        assert -unit < 2**20 * position.min()
        assert 2**20 * (position.max() - 255 * unit) < unit


def test_requantization_range_of_each_extreme_alone():
    """The extreme may sit at any place of a vector, or beyond the last whole one."""
    for size in (1, 15, 64, 130):
        for at in range(size):
            codes = np.zeros(size, np.int32)
            codes[at] = 2**31 - 1
            assert on_every_tier(qops.requantization_range, (codes, -1.0, 1.0))[1] == 1.0
            codes[at] = -(2**31)
            lowest = on_every_tier(qops.requantization_range, (codes, -1.0, 1.0))
            assert lowest == (-1.0, -1.0 if size == 1 else 0.0)


def test_requantize_after_add_8p8to32_equals_the_sum():
    """The long road: add to 32 bit, find the range, requantize to 8."""
    a, b = (np.arange(256, dtype=np.uint8), -128.0, 127.0), (np.arange(256, dtype=np.uint8)[::-1].copy(), 0.0, 510.0)
    total = qops.requantize_32to8(qops.quantized_add_8p8to32(a, b))
    exact = np.arange(256) - 128.0 + 2.0 * np.arange(256)[::-1]
    assert qops.error(total, exact).max <= BOUND_REQUANTIZE + 1.6 * total.scale**-1 / 64
