"""add, sub and mul: uint8 and int8 codes, in and out, against their twins; 0 on a code; ranges kept and watched."""

from itertools import cycle

import numpy as np
import pytest
import reference
from cases import HUGE, RANGE_PAIRS, A, B, codes, reals, rounded, shape_pairs, spans
from hypothesis import assume, given
from hypothesis import strategies as st
from ops import on_every_tier, same
from reference_mul import product_positions

import qops
from qops.frontdoor.add import BOUND_8P8TO8, BOUND_8P8TO32
from qops.frontdoor.mul import BOUND_8X8TO8, BOUND_8X8TO32

TYPES = ("uint8", "int8")
SIGNS = [(a, b, c) for a in TYPES for b in TYPES for c in TYPES]
BOUNDS = {"add": BOUND_8P8TO8, "sub": BOUND_8P8TO8, "mul": BOUND_8X8TO8}
SEEDS = {
    "add": (qops.quantized_add_8p8to8, qops.quantized_add_8p8to32),
    "sub": (qops.quantized_sub_8p8to8, qops.quantized_sub_8p8to32),
    "mul": (qops.quantized_mul_8x8to8, qops.quantized_mul_8x8to32),
}
TWINS = {
    "add": lambda *call: reference.add(*call),
    "sub": lambda *call: reference.sub(*call),
    "mul": lambda *call: reference.mul(*call),
}
LARGEST = {"add": HUGE, "sub": HUGE, "mul": 1e19}
CASES = [
    (name, pair, signs)
    for name in BOUNDS
    for pair, signs in zip(RANGE_PAIRS.values(), cycle(SIGNS), strict=False)
    if pair != RANGE_PAIRS["largest"] and max(map(abs, sum(pair, ()))) < LARGEST[name]
]
EVERY = pytest.mark.parametrize(("name", "pair", "signs"), CASES)
KINDS = st.tuples(*[st.sampled_from(TYPES)] * 3)


def typed(q, dtype):
    """uint8 codes, or the int8 codes 128 lower: the same values."""
    return q if dtype == "uint8" else (q.astype(np.int16) - 128).astype(np.int8)


def counted(t):
    """The codes counted from the lowest."""
    return t.data.astype(int) - np.iinfo(t.data.dtype).min


def exact_positions(name, a, b, lo, hi):
    """Exact results of all pairs of codes in steps above lo; a range that is 0 wide is no matter of steps."""
    if name == "mul":
        return product_positions(a, b, lo, (hi - lo) / 255).ravel().astype(float)
    if name == "add":
        return reference.positions(a, b, (lo, hi)).ravel()
    return reference.positions(a, (-b[1], -b[0]), (lo, hi))[:, ::-1].ravel()


def check(name, a, b, signs, guess=None, kept=None):
    """All pairs of codes: the twin, the bound, and 0 on a code unless the caller says otherwise."""
    a, b = rounded(*a), rounded(*b)
    x, y, dtype = (typed(A, signs[0]), *a), (typed(B, signs[1]), *b), signs[2]
    words = {"guess": guess} if kept is None else {"range": kept}
    t, info = on_every_tier(getattr(qops, name), x, y, dtype=dtype, return_info=True, **words)
    twin = TWINS[name](x, y, dtype, guess, kept)
    assert (t.min, t.max) == twin.range
    assert info == (twin.passes, *twin.found)
    assert t.data.dtype == dtype
    np.testing.assert_array_equal(t.data, twin.codes)
    if t.min < t.max:
        exact = exact_positions(name, a, b, t.min, t.max)
        within = exact if kept is None else exact.clip(0, 255)
        assert np.abs(counted(t) - within).max() <= BOUNDS[name]
    if kept is None and (guess is None or None in guess or (t.min, t.max) != rounded(*guess)):
        assert has_zero(t)
    return t, info


def has_zero(t):
    """Whether 0 is exactly on a code."""
    lowest = np.iinfo(t.data.dtype).min
    where = np.array([t.zero_point], t.data.dtype)
    return lowest <= t.zero_point < lowest + 256 and qops.dequantize((where, t.min, t.max))[0] == 0


@EVERY
def test_results_match_their_twins_within_the_bound(name, pair, signs):
    t, info = check(name, *pair, signs)
    assert info.passes == 1, "all codes are used, so the range of the results is what the ranges allow"
    if t.min < t.max:
        needed = max(info.found_max, 0) - min(info.found_min, 0)
        assert t.max - t.min <= max(needed * 255 / 254 * (1 + 1e-6), 1e-35)


@EVERY
@pytest.mark.parametrize("share", [0.9, 0.1, 1e-6])
def test_guesses_match_their_twins_within_the_bound(name, pair, signs, share):
    ends = [float(np.clip(end * share, -HUGE / 4, HUGE / 4)) for end in (pair[0][0] - 0.1, pair[1][1] + 0.2)]
    for guess in ((min(ends), max(ends)), (min(ends), None), (None, max(ends))):
        check(name, *pair, signs, guess)


@pytest.mark.long
@pytest.mark.parametrize("name", BOUNDS)
@given(data=st.data(), signs=KINDS)
def test_any_ranges_match_their_twins_within_the_bound(name, data, signs):
    largest = 1e17 if name == "mul" else 1e30
    a, b = data.draw(spans(largest)), data.draw(spans(largest))
    one_end = st.tuples(reals(), st.none()) | st.tuples(st.none(), reals(1.0))
    check(name, a, b, signs, data.draw(st.none() | spans() | one_end))


@pytest.mark.long
@pytest.mark.parametrize("name", BOUNDS)
@given(a=spans(100), b=spans(100), kept=spans(300), signs=KINDS)
def test_ranges_are_kept_and_saturate(name, a, b, kept, signs):
    assume(kept[1] - kept[0] > 1e-3)
    t, info = check(name, a, b, signs, kept=rounded(*kept))
    assert (t.min, t.max, info.passes) == (*rounded(*kept), 1)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("signs", SIGNS)
def test_narrow_ranges_are_kept_and_saturate(name, signs):
    """So far in steps from the results at both ends that the loops count in 64 bits."""
    t, _ = check(name, (0.0, 1.0), (0.0, 1.0), signs, kept=rounded(0.5, 0.55))
    assert len(np.unique(t.data)) > 10


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("signs", SIGNS)
def test_ties_go_up_on_both_sides_of_0(name, signs):
    """Steps of 1 into steps of 2: every second result is a tie, and every integer of the loops is exact."""
    a = b = (-128.0, 127.0)
    t, _ = check(name, a, b, signs, kept=(-256.0, 254.0))
    x, y = A.astype(int) - 128, B.astype(int) - 128
    exact = {"add": x + y, "sub": x - y, "mul": x * y}[name]
    np.testing.assert_array_equal(counted(t), ((exact + 256 + 1) // 2).clip(0, 255))


@pytest.mark.parametrize(("name", "pair", "signs"), [case for case in CASES if max(map(abs, sum(case[1], ()))) < 1e17])
def test_int32_codes_are_those_of_the_seeds_op(name, pair, signs):
    """The seed's op is compared with its own twin; int8 codes are the uint8 codes 128 higher."""
    a, b = (rounded(*ends) for ends in pair)
    got = on_every_tier(getattr(qops, name), (typed(A, signs[0]), *a), (typed(B, signs[1]), *b), dtype="int32")
    same(got, SEEDS[name][1]((A, *a), (B, *b)))
    assert got.max == -got.min
    if got.max:
        exact = exact_positions(name, a, b, 0.0, got.max * 255 / 2**31)
        assert np.abs(got.data - exact).max() <= {"mul": BOUND_8X8TO32}.get(name, BOUND_8P8TO32) * (1 + 1e-9)


@pytest.mark.parametrize("name", BOUNDS)
def test_the_seeds_ops_are_these_with_the_dtype_fixed(name):
    """The same codes where the range is the caller's; where it is found, the seed's op draws it in to the results."""
    a, b = (A, -1.03, 2.0), (B, 0.5, 3.0)
    eight, wide = SEEDS[name]
    for words in ({"range": (-1.0, 0.5)}, {"guess": (-10.0, 9.0)}, {"range": (1.0, 1.0), "return_info": True}):
        same(getattr(qops, name)(a, b, **words), eight(a, b, **words))
    same(getattr(qops, name)(a, b, dtype=np.dtype("i4")), wide(a, b))
    drawn_in, held = eight(a, b), getattr(qops, name)(a, b)
    assert not has_zero(drawn_in)
    assert has_zero(held)
    for op, words in ((eight, {}), (wide, {})):
        with pytest.raises(TypeError, match=r"^b: expected uint8 data, got int8"):
            op(a, (typed(B, "int8"), 0.5, 3.0), **words)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("dtype", TYPES)
def test_results_that_are_0_stay_0(name, dtype):
    """The pairs of codes whose exact result is 0, in ranges with 0 on a code and steps in no simple proportion."""
    a, b = qops.affine.holding_zero(-0.7, 1.0), qops.affine.holding_zero(-0.3, 0.45)
    x, y = A.astype(int) - a.zero_point, B.astype(int) - b.zero_point
    zero = x * y == 0 if name == "mul" else (x == 0) & (y == 0)
    for few in (slice(None), np.flatnonzero(zero | (A + B < 20))):
        t = getattr(qops, name)((A[few], *a.range), (B[few], *b.range), dtype=dtype)
        assert zero[few].any()
        assert not t.dequantize()[zero[few]].any()


def test_a_range_that_the_results_leave_half_empty_is_drawn_in_with_0_on_a_code():
    few = np.uint8([100, 101, 102])
    for dtype in TYPES:
        t, info = qops.add((few, 0.0, 255.0), (typed(few, "int8"), 0.0, 255.0), dtype=dtype, return_info=True)
        assert info.passes == 2
        assert (t.min, 204.0 <= t.max < 204.5) == (0.0, True)
        t, info = qops.sub((few, -300.0, -45.0), (few, 0.0, 255.0), dtype=dtype, return_info=True)
        assert (info.passes, t.max, -300.5 < t.min <= -300.0) == (2, 0.0, True)


def test_a_guess_is_the_range_if_it_holds_and_a_part_of_it_if_not():
    a, b = (np.int8([-128, 0, 127]), 0.0, 1.0), (np.uint8([0, 0, 255]), 0.0, 1.0)
    t, info = qops.add(a, b, guess=(-1.0, 4.0), return_info=True)
    assert (t.min, t.max, info.passes) == (-1.0, 4.0, 1)
    t, info = qops.add(a, b, guess=(-1.0, 1.5), return_info=True)
    assert info.passes == 2
    assert -1.01 < t.min <= -1.0
    assert 2.0 <= t.max < 2.02
    assert has_zero(t)


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("n", [0, 1])
def test_no_code_and_one(name, n):
    a, b = (typed(A[:n] + np.uint8(200), "int8"), -1.0, 2.0), (B[:n] + np.uint8(9), 0.5, 3.0)
    for dtype in TYPES:
        t = getattr(qops, name)(a, b, dtype=dtype)
        assert (t.data.shape, has_zero(t)) == ((n,), True)
    assert getattr(qops, name)(a, b, dtype="int32").data.shape == (n,)


def test_one_value_has_the_lowest_code_if_that_is_all_there_is():
    zeros = np.zeros(3, np.uint8)
    for dtype in TYPES:
        lowest = np.iinfo(dtype).min
        t = qops.add((zeros, 0.0, 0.0), (zeros, 0.0, 0.0), dtype=dtype)
        assert (t.min, t.max, t.data.tolist()) == (0.0, 0.0, [lowest] * 3)
        t = qops.add((zeros, 1.0, 1.0), (zeros, 2.0, 2.0), dtype=dtype, range=(3.0, 3.0))
        assert (t.min, t.max, t.data.tolist()) == (3.0, 3.0, [lowest] * 3)
        t = qops.add((zeros, 1.0, 1.0), (zeros, 2.0, 2.0), dtype=dtype)
        assert (t.min, t.max, t.data.tolist()) == (0.0, 3.0, [lowest + 255] * 3)


@pytest.mark.parametrize("name", BOUNDS)
@given(data=st.data(), shapes=shape_pairs())
def test_int8_broadcasts_as_numpy_does(name, data, shapes):
    x, y = (data.draw(codes(np.int8, shape)) for shape in shapes)
    wide_x, wide_y = np.broadcast_arrays(x, y)
    op = getattr(qops, name)
    for dtype in (*TYPES, "int32"):
        want = op((wide_x.copy(), -1.0, 2.0), (wide_y.copy(), 0.0, 3.0), dtype=dtype)
        same(op((x, -1.0, 2.0), (y, 0.0, 3.0), dtype=dtype), want)


INT32 = {"dtype": "int32"}
REFUSED = [
    ({"dtype": "int16"}, r"dtype: expected uint8, int8 or int32, got 'int16'"),
    ({"dtype": ">i4"}, r"dtype: expected uint8, int8 or int32, got '>i4'"),
    ({"dtype": None}, r"dtype: expected uint8, int8 or int32, got None"),
    (INT32 | {"range": (0.0, 1.0)}, r"range: int32 codes have the op's own range, got \(0.0, 1.0\)"),
    (INT32 | {"guess": (0.0, None)}, r"guess: int32 codes have the op's own range, got \(0.0, None\)"),
    (INT32 | {"return_info": True}, r"return_info: int32 codes have the op's own range, got True"),
    (INT32 | {"return_info": 1}, r"return_info: expected a bool, got 1"),
    (INT32 | {"out": np.zeros(3, np.uint8)}, r"out: expected native int32, got"),
    ({"dtype": "int8", "out": np.zeros(3, np.uint8)}, r"out: expected native int8, got"),
    ({"range": (0.0, 1.0), "guess": (0.0, 2.0)}, r"range: give range or guess, not both"),
    ({"range": (1.0, 0.0)}, r"range: min 1.0 > max 0.0"),
    ({"guess": (0.0, "1")}, r"guess max: expected a number, got '1'"),
    ({"a": (np.zeros(3, np.int16), 0.0, 1.0)}, r"a: expected uint8 or int8 data, got int16"),
    ({"b": (np.zeros(3, np.int32), -1.0, 1.0)}, r"b: expected uint8 or int8 data, got int32"),
    ({"b": (np.zeros(2, np.int8), -1.0, 1.0)}, r"a, b: shapes \(3,\) and \(2,\) do not broadcast"),
]


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize(("change", "text"), REFUSED)
def test_bad_input_is_refused_by_name(name, change, text):
    good = {"a": (A[:3], 0.0, 1.0), "b": (typed(B[:3], "int8"), 0.0, 1.0)}
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        getattr(qops, name)(**good | change)


def test_ranges_end_with_float32():
    a, b = (A, -HUGE / 3, HUGE / 3), (B, -HUGE / 7, HUGE / 7)
    for op in (qops.add, qops.sub):
        assert np.isfinite(op(a, b).max)
        assert op(a, b, range=(-HUGE, HUGE)).max == HUGE
        with pytest.raises(ValueError, match=r"^a, b: .* beyond float32"):
            op(a, (B, -HUGE, HUGE))
    with pytest.raises(ValueError, match=r"^guess: .* with 0 on a code, is beyond float32"):
        qops.add((A, 0.0, HUGE / 2), (B, 0.0, HUGE / 2), guess=(-HUGE, None))
