"""`quantized_concat` against its twin: every code, ranges of any kind, and tensors without elements."""

import numpy as np
import pytest
import reference_tensorflow as twin

from qops.tensorflow import quantized_concat

f32 = np.float32
CODES = {np.uint8: np.arange(256, dtype=np.uint8), np.int32: np.arange(-(2**31), 2**31, 2**24 + 1).astype(np.int32)}
RANGES = [*twin.RANGES, (2.0, -1.0)]


def expected(values, dtype):
    """Codes and range, the ranges taken in turn by what has elements."""
    lowest, highest = f32(min(lo for _, lo, _ in values)), f32(max(hi for _, _, hi in values))
    widest = max(abs(lowest), abs(highest))
    ends = (-widest, widest) if dtype == np.int32 else (min(f32(0), lowest), highest)
    parts = []
    for codes, (_, lo, hi) in zip([codes for codes, _, _ in values if codes.size], values, strict=False):
        same = (f32(lo), f32(hi)) == ends
        value = twin.eigen_value(codes, f32(lo), f32(hi), dtype)
        parts.append(codes if same else twin.eigen_code(value, *ends, dtype))
    return np.concatenate(parts), *ends


@pytest.mark.parametrize("dtype", CODES)
def test_matches_twin(dtype):
    codes = CODES[dtype]
    for i, one in enumerate(RANGES):
        for other in (RANGES[i], RANGES[i - 1], RANGES[i - 5]):
            values = [(codes, *one), (codes[::-3], *other)]
            want, *ends = expected(values, dtype)
            t = quantized_concat(0, values)
            np.testing.assert_array_equal(t.data, want, strict=True)
            assert [t.min, t.max] == ends


def test_along_any_axis_into_any_out(rng):
    x, y = rng.integers(0, 256, (2, 3, 4, 5), np.uint8)
    recoded, _, _ = expected([(x.ravel(), -1.0, 2.0), (y.ravel(), -1.0, 3.0)], np.uint8)
    for axis in range(3):
        want = np.concatenate([part.reshape(x.shape) for part in np.split(recoded, 2)], axis)
        out = np.zeros(want.shape[::-1], np.uint8).T
        assert quantized_concat(axis, [(x, -1.0, 2.0), (y, -1.0, 3.0)], out=out).data is out
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("dtype", CODES)
def test_what_follows_a_tensor_without_elements_takes_its_range(dtype):
    codes = CODES[dtype][::5]
    values = [(codes, 0.0, 4.0), (codes[:0], 0.0, 1.0), (codes, -8.0, 4.0), (codes[:0], 0.0, 1.0)]
    want, *ends = expected(values, dtype)
    t = quantized_concat(0, values)
    np.testing.assert_array_equal(t.data, want)
    assert [t.min, t.max] == ends
    assert quantized_concat(0, [values[1], values[3]]).data.size == 0


T = np.zeros((2, 3), np.uint8), 0.0, 1.0


@pytest.mark.parametrize(
    ("axis", "values", "message"),
    [
        (2, [T, T], r"concat_dim: Expected concatenating dimensions in the range \[0, 2\), but got 2"),
        (-1, [T, T], r"concat_dim: Expected concatenating dimensions"),
        (0.0, [T, T], r"concat_dim: expected an integer"),
        (0, [(np.uint8(1), 0.0, 1.0)] * 2, r"concat_dim: Expected concatenating dimensions in the range \[0, 0\)"),
        (0, [T, (T[0][0], 0.0, 1.0)], r"values: Ranks of all .* shape\[0\] = \[2,3\] vs. shape\[1\] = \[3\]"),
        (0, [T, (T[0].T, 0.0, 1.0)], r"values: Dimensions of inputs should match: shape\[0\] = \[2,3\] vs."),
        (0, [T], r"values: Value for attr 'N' of 1 must be at least minimum 2"),
        (0, [], r"values: Value for attr 'N' of 0"),
        (0, T, r"values\[0\]: expected a .data, min, max. triple"),
        (0, None, r"values: expected a sequence of tensors, got NoneType"),
        (0, [T, (T[0].astype(np.int32), 0.0, 1.0)], r"values\[1\]: expected uint8 data like the first, got int32"),
        (0, [T, (T[0], 0.0, 1e-37)], r"values\[1\] min, max: the range .* steps too small"),
        (0, [(T[0].astype(np.int32), 0.0, 1e-29)] * 2, r"values\[0\] min, max: the range .* steps too small"),
        (0, [(T[0], -2e38, 0.0), (T[0], 0.0, 2e38)], r"values: the range .* is wider than float32"),
        (0, [T, (T[0], np.nan, 1.0)], r"values\[1\] min: nan"),
    ],
)
def test_rejects(axis, values, message):
    out = np.full((4, 3), 7, np.uint8)
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        quantized_concat(axis, values, out=out)
    assert (out == 7).all()


def test_ends_below_the_normal_float32_are_0():
    t = quantized_concat(0, [(np.uint8([9]), 1.0, 1e-38), (np.uint8([7]), -4.0, 0.0)])
    assert (t.min, t.max) == (-4, 0)
    assert t.data.tolist() == [255, 7]


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
@pytest.mark.parametrize("width", [1, 7, 64, 700, 5000])
def test_rows_of_any_width_are_each_recoded(rng, dtype, width):
    info = np.iinfo(dtype)
    a, b = (rng.integers(info.min, info.max, (9, n), endpoint=True).astype(dtype) for n in (width, 3))
    t = quantized_concat(1, [(a, -1.0, 3.0), (b, -4.0, 2.0)])
    for i in range(9):
        row = quantized_concat(0, [(a[i], -1.0, 3.0), (b[i], -4.0, 2.0)])
        np.testing.assert_array_equal(t.data[i], row.data)


@pytest.mark.parametrize("number", [float, f32])
def test_the_order_of_bytes_makes_no_difference(number):
    codes, ends = CODES[np.int32], (number(-2), number(3))
    want = quantized_concat(0, [(codes, *ends), (codes, -1.0, 1.0)])
    for first, second in ((codes, codes.astype(">i4")), (codes.astype(">i4"), codes)):
        got = quantized_concat(0, [(first, *ends), (second, -1.0, 1.0)])
        assert got.data.dtype == np.int32
        np.testing.assert_array_equal(got.data, want.data)
