"""Instructions: every formula against Python integers, at the edges and at random."""

import itertools
import sys

import numpy as np
import pytest

from qops import isa

S16_EDGES = np.int16([-32768, -32767, -16384, -1, 0, 1, 2, 16383, 16384, 32766, 32767])


def pairs_of(edges):
    left, right = zip(*itertools.product(edges, edges), strict=True)
    return np.array(left, edges.dtype), np.array(right, edges.dtype)


def test_vpmaddubsw_matches_integers_on_edges():
    codes = list(itertools.product([0, 1, 127, 128, 255], [-128, -127, -1, 0, 1, 127]))
    for (a0, b0), (a1, b1) in itertools.product(codes, codes):
        got = isa.vpmaddubsw(np.uint8([a0, a1]), np.int8([b0, b1]))[0]
        assert got == max(-32768, min(32767, a0 * b0 + a1 * b1))


def test_vpmaddwd_wraps_only_for_four_times_the_minimum(rng):
    a, b = (rng.integers(-32768, 32768, 1000).astype(np.int16) for _ in range(2))
    a[:2] = b[:2] = -32768
    want = a[0::2].astype(np.int64) * b[0::2] + a[1::2].astype(np.int64) * b[1::2]
    got = isa.vpmaddwd(a, b)
    assert got[0] == -(2**31)
    assert want[0] == 2**31
    assert np.array_equal(got[1:], want[1:])


def test_vpmulhrsw_and_hvx_vmpy_differ_in_one_input():
    a, b = pairs_of(S16_EDGES)
    want = (a.astype(np.int64) * b + 0x4000) >> 15
    got, hvx = isa.vpmulhrsw(a, b), isa.hvx_vmpy_h_s1_rnd_sat(a, b)
    overflow = (a == -32768) & (b == -32768)
    assert np.array_equal(got[~overflow], want[~overflow])
    assert np.array_equal(hvx[~overflow], want[~overflow])
    assert set(got[overflow]) == {-32768}
    assert set(hvx[overflow]) == {32767}


def test_vmpye_vmpyo_rounds_half_up_exactly(rng):
    u, v = (rng.integers(-(2**31), 2**31, 5000).astype(np.int32) for _ in range(2))
    u[:3], v[:3] = (-(2**31), -(2**30), 2**30), (-(2**31), 1, 1)
    want = [min((int(x) * int(y) + 2**30) >> 31, 2**31 - 1) for x, y in zip(u, v, strict=True)]
    assert isa.hvx_vmpye_vmpyo_s1_rnd_sat(u, v).tolist() == want


@pytest.mark.parametrize(("dtype", "source", "count"), [(np.uint8, np.int16, 8), (np.int16, np.int32, 16)])
def test_vasr_masks_its_shift_and_rounds_half_up(dtype, source, count, rng):
    x = rng.integers(-30000, 30000, 500).astype(source)
    info = np.iinfo(dtype)
    for shift in range(2 * count):
        n = shift % count
        want = [max(info.min, min(info.max, (int(v) + (1 << n >> 1)) >> n)) for v in x]
        assert isa.hvx_vasr_rnd_sat(x, shift, dtype).tolist() == want


def test_vmpa_wraps_and_vavg_floors():
    a, b = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    for scale_a, scale_b in ((-128, 127), (-128, -128), (127, 127)):
        want = (a.astype(int) * scale_a + b.astype(int) * scale_b + 2**15) % 2**16 - 2**15
        assert np.array_equal(isa.hvx_vmpa(a, b, scale_a, scale_b), want)
    assert isa.hvx_vavg(np.int16([-3, 3]), np.int16([0, 0])).tolist() == [-2, 1]


def test_sequences_agree_where_no_pair_saturates_and_differ_where_one_does(rng):
    a = rng.integers(0, 256, (500, 8)).astype(np.uint8)
    b = rng.integers(-128, 128, (500, 8)).astype(np.int8)
    c = rng.integers(-(2**31), 2**31, (500, 2)).astype(np.int32)
    exact, saturated = isa.vpdpbusd(c, a, b), isa.dot4_maddubs(c, a, b)
    assert np.array_equal(exact, isa.dot4_widened(c, a, b))
    sums = (a.astype(int) * b).reshape(500, 4, 2).sum(-1)
    fits = (np.clip(sums, -32768, 32767) == sums).reshape(500, 2, 2).all(-1)
    assert 0 < fits.sum() < fits.size
    assert np.array_equal(exact == saturated, fits)


def test_accumulators_wrap():
    top = np.int32([2147483647])
    a, b = np.uint8([1, 0, 0, 0]), np.int8([1, 0, 0, 0])
    for run in (isa.vpdpbusd, isa.dot4_maddubs, isa.dot4_widened):
        assert run(top, a, b).tolist() == [-(2**31)]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: isa.vpmaddubsw(np.int8([1, 2]), np.int8([1, 2])), TypeError, "a: expected uint8 data, got int8"),
        (
            lambda: isa.vpmaddubsw(np.uint8([1, 2, 3]), np.int8([1, 2, 3])),
            ValueError,
            r"a: expected .* multiple of 2, got shape \(3,\)",
        ),
        (lambda: isa.vpdpbusd(np.int64([0]), np.uint8([0] * 4), np.int8([0] * 4)), TypeError, "c: expected int32 data"),
        (lambda: isa.hvx_vmpa(np.uint8([1]), np.uint8([1]), 128, 0), ValueError, "scale_a: expected .*got 128"),
        (lambda: isa.hvx_vmpa(np.uint8([1]), np.uint8([1]), 1, 1.5), TypeError, "scale_b: expected an integer"),
        (lambda: isa.hvx_vasr_rnd_sat(np.int16([1]), 1.5, np.uint8), TypeError, "shift: expected an integer"),
        (lambda: isa.hvx_vasr_rnd_sat(np.int16([1]), 1, np.int32), ValueError, "dtype: expected"),
    ],
)
def test_rejects_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


NO_INTEGER_TYPES = {"surrogate": "\udc80", "long": "x" * 9000, "none": None, "float": float, "object": object()}


@pytest.mark.parametrize("dtype", NO_INTEGER_TYPES.values(), ids=NO_INTEGER_TYPES)
def test_what_is_no_integer_type_is_named_in_short(dtype):
    for narrow in (lambda: isa.saturate(np.int32([1]), dtype), lambda: isa.hvx_vasr_rnd_sat(np.int16([1]), 1, dtype)):
        with pytest.raises(TypeError, match=r"^dtype: expected an integer type, got ") as info:
            narrow()
        assert len(str(info.value)) < 130


def test_shapes_that_numpy_does_not_count_are_refused_by_name():
    most = (sys.maxsize + 1) // 2  # elements of one byte
    x = np.empty((0, most), np.int8)
    for call, name in ((lambda: isa.vpmovsxbw(x), "a"), (lambda: isa.saturate(x, np.int64), "x")):
        with pytest.raises(ValueError, match=rf"^{name}: numpy has no array of shape \(0, {most}\) and int"):
            call()
