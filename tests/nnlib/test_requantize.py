"""`qops.nnlib` requantizers: the twins on random codes and ranges, every rule, bad input."""

import numpy as np
import pytest
import reference_nnlib as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st
from qops._kernels.nnlib.recode import requantize_8_integers
from qops._kernels.nnlib.requantize import requantize_32_integers

from qops import nnlib

F = np.float32
many = settings(max_examples=200, deadline=None)
ends = st.tuples(*[st.floats(-64, 64, width=32)] * 2).map(sorted).map(tuple)
levels = st.one_of(st.just(0.0), st.floats(2.0**-40, 8, width=32))
sizes = st.sampled_from([0, 1, 7, 127, 128, 129])
seeds = st.integers(0, 2**32 - 1)


def codes(n, seed):
    rng = np.random.default_rng(seed)
    x = (rng.integers(-(2**31), 2**31, n) >> rng.integers(0, 32)).astype(np.int32)
    x[: n // 8] = rng.choice([-(2**31), 2**31 - 1, 0], n // 8)
    return x


@pytest.mark.long
@many
@given(level=levels, r=ends, n=sizes, seed=seeds)
def test_requantize_i32_matches_twin(level, r, n, seed):
    x = codes(n, seed)
    assert nnlib.requantize_i32(x, level, *r).tolist() == twin.requantize_s32(x.tolist(), level, *r)
    assert nnlib.requantize_i32_scalar(x, level, *r).tolist() == twin.requantize_s32(x.tolist(), level, *r, True)


@pytest.mark.long
@many
@given(half=levels, r=ends, n=sizes, seed=seeds)
def test_requantize_32to8_matches_twin(half, r, n, seed):
    half *= 2.0**30
    x = codes(n, seed)
    level = (F(half) - F(-half)) * F(2.0**-32)
    with np.errstate(all="ignore"):
        wanted = twin.adjust_range(*r)
    t = nnlib.requantize_32to8((x, -half, half), *r)
    assert t.data.tolist() == twin.requantize_s32(x.tolist(), level, wanted["min"], wanted["max"])
    assert (t.min, t.max) == (wanted["min"], wanted["max"])
    found = level * F(min([0, *x])), level * F(max([0, *x]))
    assert nnlib.requantization_range_32((x, -half, half)) == found
    shrunk = twin.adjust_range(*found)
    t = nnlib.quantize_down_and_shrink_range_32to8((x, -half, half))
    assert t.data.tolist() == twin.requantize_s32(x.tolist(), level, shrunk["min"], shrunk["max"])
    assert (t.min, t.max) == (shrunk["min"], shrunk["max"])


def test_every_rule_is_reached():
    rules = [
        requantize_32_integers(2.0, 0, 255, 1, False)["rule"],
        requantize_32_integers(0.5, 0, 255, 128, True)["rule"],
        requantize_32_integers(0.5, 0, 255, 128, False)["rule"],
        requantize_32_integers(0.5, 0, 255, 127, False)["rule"],
        requantize_32_integers(1024 * 2.0**-31, 0, 255, 128, False)["rule"],
        requantize_32_integers(1023 * 2.0**-31, 0, 255, 128, False)["rule"],
    ]
    assert rules == ["real", "scalar", "whole_vectors", "short", "whole_vectors", "short"]


@pytest.mark.long
@many
@example(gain=1 + 2.0**-15, in_zero=3, out_zero=9)
@example(gain=32767.998046875, in_zero=-40000, out_zero=40000)
@given(
    gain=st.one_of(st.floats(0, 4, width=32), st.floats(0, 32767, width=32)),
    in_zero=st.integers(-40000, 40000),
    out_zero=st.integers(-300, 300),
)
def test_requantize_u8_matches_twin_on_all_codes(gain, in_zero, out_zero):
    x = np.arange(256, dtype=np.uint8)
    assert nnlib.requantize_u8(x, gain, in_zero, out_zero).tolist() == twin.requantize_u8(
        x.tolist(), gain, in_zero, out_zero
    )


@pytest.mark.long
@many
@given(r=ends, wanted=ends)
def test_requantize_8to8_matches_twin(r, wanted):
    x = np.arange(256, dtype=np.uint8)
    lo, hi = map(F, wanted)
    with np.errstate(all="ignore"):
        adjusted = twin.adjust_range(lo, hi)
        lo, hi = adjusted["min"], adjusted["max"]
        settled = twin.adjust_range(lo, hi)
        gain = (F(r[1]) - F(r[0])) / (hi - lo)
        zeros = [twin.sat8(twin.rnd(F(-255) * F(a) / (F(b) - F(a)))) for a, b in (r, (lo, hi))]
    if (settled["min"], settled["max"]) != (lo, hi) or not gain < 2**15:
        with pytest.raises(ValueError, match=r"^min, max: "):
            nnlib.requantize_8to8((x, *r), float(lo), float(hi))
        return
    t = nnlib.requantize_8to8((x, *r), float(lo), float(hi))
    assert t.data.tolist() == twin.requantize_u8(x.tolist(), gain, *zeros)


def test_prepare_gives_the_integers():
    assert requantize_8_integers(0.75, 3, 9) == {
        "offset": -3,
        "wraps": True,
        "multiplier": 24576,
        "right_shift": 15,
        "zero": 9,
    }
    assert requantize_8_integers(3.0, 0, 0)["right_shift"] == 13
    moved = requantize_8_integers(1.00001, 3, 9)
    assert (moved["offset"], moved["multiplier"], moved["right_shift"], moved["zero"]) == (0, 2**14, 14, 6)


T = (np.int32([1]), -1.0, 1.0)
U = (np.uint8([1]), -1.0, 1.0)
BAD = [
    (lambda: nnlib.requantize_32to8(T, 1, 0), "min, max: min 1"),
    (lambda: nnlib.requantize_32to8((T[0], -1, 2), 0, 1), "not symmetric"),
    (lambda: nnlib.requantize_32to8((T[0], -3e38, 3e38), 0, 1), "wider than float32"),
    (lambda: nnlib.requantize_32to8(T, -3e38, 3e38), "wider than float32"),
    (lambda: nnlib.requantize_32to8(U, 0, 1), "t: expected int32"),
    (lambda: nnlib.requantization_range_32((T[0], -3e38, 3e38)), "wider than float32"),
    (lambda: nnlib.requantize_8to8(U, -1, 1), "the original refuses"),
    (lambda: nnlib.requantize_8to8(U, 0, 1e-9), "too small for the input range"),
    (lambda: nnlib.requantize_8to8(U, 0, 0), "too small for the input range"),
    (lambda: nnlib.requantize_8to8((U[0], 0, 2**15), 0, 1), "too small for the input range"),
    (lambda: nnlib.requantize_8to8(T, 0, 1), "t: expected uint8"),
    (lambda: nnlib.requantize_i32(T[0], -1, 0, 1), "level: -1"),
    (lambda: nnlib.requantize_i32(T[0].astype(np.int64), 1, 0, 1), "x: expected int32"),
    (lambda: nnlib.requantize_u8(U[0], 2**15, 0, 0), "gain"),
    (lambda: nnlib.requantize_u8(U[0], -1, 0, 0), "gain"),
    (lambda: nnlib.requantize_u8(U[0], 1, 2**31, 0), "in_zero"),
    (lambda: nnlib.requantize_u8(U[0], 1, 0, 1.5), "out_zero: expected an integer"),
    (lambda: nnlib.requantize_u8(U[0], 1, 0, 0, out=U[0]), "out: shares memory"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[f"{i}-{message}" for i, (_, message) in enumerate(BAD)])
def test_bad_input_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


REFUSED = [
    (nnlib.requantize_32to8, ((T[0], -3e38, 3e38), 0, 1), np.uint8),
    (nnlib.requantize_32to8, (T, -3e38, 3e38), np.uint8),
    (nnlib.quantize_down_and_shrink_range_32to8, ((T[0], -1, 2),), np.uint8),
    (nnlib.requantize_8to8, (U, 0, 1e-9), np.uint8),
    (nnlib.requantize_i32, (T[0], -1, 0, 1), np.uint8),
    (nnlib.requantize_i32_scalar, (T[0], 1, 1, 0), np.uint8),
    (nnlib.requantize_u8, (U[0], 2**15, 0, 0), np.uint8),
    (nnlib.mul_by_quantized_multiplier, (T[0], 2**31, 0), np.int32),
    (nnlib.rounding_divide_by_pot, (T[0], 63), np.int32),
]


@pytest.mark.parametrize(("op", "arguments", "dtype"), REFUSED, ids=[op.__name__ for op, *_ in REFUSED])
def test_a_refusal_leaves_out_as_it_is(op, arguments, dtype):
    out = np.full(1, 77, dtype)
    with pytest.raises(ValueError, match=r": "):
        op(*arguments, out=out)
    assert out.tolist() == [77]


@pytest.mark.filterwarnings("ignore:Setting the dtype")  # numpy 2.5 would rather not
def test_a_number_that_retypes_the_array_is_harmless():
    """The array is looked at last."""

    class Number:
        def __float__(self):
            x.dtype = np.float32
            return 1.0

    for op, arguments in (
        (nnlib.requantize_32to8, ((T[0].copy(), -1.0, 1.0), Number(), 1.0)),
        (nnlib.requantize_32to8, ((T[0].copy(), -1.0, Number()), -1.0, 1.0)),
    ):
        x = arguments[0][0]
        with pytest.raises(TypeError, match="expected int32"):
            op(*arguments)
    for op, rest in ((nnlib.requantize_i32, (Number(), 0.0, 1.0)), (nnlib.requantize_i32_scalar, (1.0, Number(), 2.0))):
        x = T[0].copy()
        with pytest.raises(TypeError, match="x: expected int32"):
            op(x, *rest)
