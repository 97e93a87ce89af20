"""quantize and dequantize of all code types, and with ranges per channel."""

from fractions import Fraction

import numpy as np
import pytest
from ops import on_every_tier

import qops
from qops import QTensor
from qops.frontdoor.quantize import BOUND_QUANTIZE, BOUND_QUANTIZE_16


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize(("lo", "hi"), [(-1.0, 1.0), (0.0, 6.0), (-3.0, 0.001), (-1e-30, 7.0)])
def test_quantize_to_every_type_within_bound(dtype, lo, hi):
    x = np.linspace(lo, hi, 99_991, dtype=np.float32)
    t = on_every_tier(qops.quantize, x, lo, hi, dtype=dtype)
    assert t.data.dtype == dtype
    bound = BOUND_QUANTIZE if np.dtype(dtype).itemsize == 1 else BOUND_QUANTIZE_16
    inside = (x >= t.min) & (x <= t.max)
    assert qops.error(QTensor(t.data[inside], t.min, t.max), x[inside]).max <= bound
    assert qops.quantize(0.0, lo, hi, dtype=dtype).dequantize() == 0.0
    assert np.ptp(t.data.astype(int)) > 0.98 * (np.iinfo(dtype).max - np.iinfo(dtype).min)


def test_int8_codes_are_uint8_codes_less_128():
    x = np.linspace(-2, 1, 9999, dtype=np.float32)
    u8, s8 = (on_every_tier(qops.quantize, x, -1.7, 0.9, dtype=d) for d in (np.uint8, np.int8))
    np.testing.assert_array_equal(u8.data.astype(int) - 128, s8.data)
    assert (u8.min, u8.max, u8.scale, u8.zero_point - 128) == (s8.min, s8.max, s8.scale, s8.zero_point)
    np.testing.assert_array_equal(u8.dequantize(), s8.dequantize())


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_channels_are_quantized_as_each_is_alone(dtype, axis, rng):
    x = (rng.normal(size=(3, 4, 5)) * 10.0 ** rng.integers(-6, 6, (3, 4, 5))).astype(np.float32)
    np.moveaxis(x, axis, 0)[1] = 0
    t = qops.quantize(x, axis=axis, dtype=dtype)
    shape = [1, 1, 1]
    shape[axis] = x.shape[axis]
    assert t.min.shape == t.max.shape == t.scale.shape == tuple(shape)
    assert t.min.dtype == t.max.dtype == np.float32
    for i, part in enumerate(np.moveaxis(x, axis, 0)):
        alone = qops.quantize(part, dtype=dtype)
        np.testing.assert_array_equal(np.moveaxis(t.data, axis, 0)[i], alone.data)
        assert (t.min.flat[i], t.max.flat[i], t.scale.flat[i]) == (alone.min, alone.max, alone.scale)
        assert t.zero_point.flat[i] == alone.zero_point
        np.testing.assert_array_equal(np.moveaxis(t.dequantize(), axis, 0)[i], alone.dequantize())
    again = qops.quantize(x, t.min, t.max, dtype=dtype)
    assert again.min.shape == tuple(shape)
    out, values = np.empty(x.shape, dtype), np.empty(x.shape, np.float32)
    assert qops.quantize(x, axis=axis, dtype=dtype, out=out).data is out
    assert qops.dequantize(t, out=values) is values
    np.testing.assert_array_equal(out, t.data)


def test_ranges_per_channel_are_plain_numpy():
    t = qops.quantize(np.float32([[1, 2, 3], [-100, 0, 100]]), axis=0)
    values = t.min.astype(float) + t.data * t.scale
    np.testing.assert_allclose(values, t.dequantize(), atol=1e-5)


def test_int32_codes_per_channel_are_dequantized():
    codes, tops = np.int32([[2**30, -(2**31)], [2**31 - 1, 7]]), np.float32([[2.0], [1e-36]])
    got = qops.dequantize((codes, -tops, tops))
    for i in range(2):
        np.testing.assert_array_equal(got[i], qops.dequantize((codes[i], -float(tops[i, 0]), float(tops[i, 0]))))


def test_ends_of_channels_may_be_lists():
    x = np.float32([[-5, 1], [-1, 9]])
    lists = qops.quantize(x, [0, 0], [1, 2])
    assert lists == qops.quantize(x, np.float32([0, 0]), np.float32([1, 2]))
    assert lists == QTensor(lists.data, lists.min.tolist(), lists.max.tolist())
    np.testing.assert_array_equal(qops.dequantize((lists.data, lists.min.tolist(), [[1.0, 2.0]])), lists.dequantize())


def test_one_end_may_be_given_for_all_channels():
    x = np.float32([[-5, 1], [-1, 9]])
    t = qops.quantize(x, min=0.0, axis=0)
    assert t.min.ravel().tolist() == [0.0, 0.0]
    assert t.max.ravel().tolist() == [1.0, 9.0]
    assert qops.quantize(x, -1.0, 1.0, axis=1).max.shape == (1, 2)
    assert qops.quantize(np.zeros((0, 2), np.float32), axis=1).max.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("ndim", [32, 33, 64])
def test_channels_of_arrays_with_many_axes(ndim):
    x = np.float32([[-1, 1], [0, 3]]).reshape(*[1] * (ndim - 2), 2, 2)
    t, flat = qops.quantize(x, axis=-1), qops.quantize(x.reshape(2, 2), axis=1)
    assert t.min.shape == (*[1] * (ndim - 1), 2)
    assert t.data.ravel().tolist() == flat.data.ravel().tolist()
    np.testing.assert_array_equal(qops.dequantize(t).reshape(2, 2), qops.dequantize(flat))
    assert qops.error(t, x).max == qops.error(flat, x.reshape(2, 2)).max
    assert qops.quantize(x, t.min, t.max, axis=-1) == t


def test_a_channel_may_be_wider_than_float32():
    """As a range for all channels may, and without a warning."""
    x = np.float32([[-3e38, 3e38], [1, 2]])
    t, row = qops.quantize(x, axis=0), qops.quantize(x[0])
    assert (t.min[0, 0], t.max[0, 0]) == (row.min, row.max)
    assert t.data[0].tolist() == row.data.tolist()
    np.testing.assert_array_equal(t.dequantize()[0], row.dequantize())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"axis": 2}, r"axis: expected an integer in \[-2, 1\], got 2"),
        ({"axis": 0.0}, "axis: expected an integer, got 0.0"),
        ({"min": np.zeros((2, 1))}, "axis: expected one where min or max is given per channel, and the other not"),
        (
            {"min": np.zeros(2), "max": 1.0},
            r"min, max: shapes \(2,\) and \(\) of min and max do not fit the data's \(2, 3\)",
        ),
        ({"min": np.ones((2, 1)), "max": 0.5}, "min, max: has a range with min > max"),
        ({"min": np.full((2, 1), np.nan), "max": 0.5}, "min, max: has a range that is not finite"),
        ({"min": np.full((2, 1), -3.4e38), "max": 3.4e38}, "min, max: one of the ranges, with 0 on a code, is beyond"),
        ({"dtype": np.int32}, "dtype: expected uint8, int8, uint16 or int16, got <class 'numpy.int32'>"),
        ({"dtype": "\ud800"}, "dtype: expected uint8"),
        ({"dtype": None}, "dtype: expected uint8"),
        ({"symmetric": 1}, "symmetric: "),
        ({"symmetric": "yes", "axis": 0}, "symmetric: "),
    ],
)
def test_quantize_refuses_what_it_cannot_do(arguments, text):
    out = np.full((2, 3), 77, np.uint8)
    with pytest.raises((ValueError, TypeError), match=f"^{text}"):
        qops.quantize(np.ones((2, 3)), **arguments, out=out)
    assert (out == 77).all()


def test_quantize_refuses_nan_in_channels():
    x = np.float32([[1, np.nan], [2, 3]])
    with pytest.raises(ValueError, match=r"^x: has NaN at index \(0, 1\), so it cannot give the range"):
        qops.quantize(x, axis=0)
    with pytest.raises(ValueError, match=r"^x: has NaN at index \(0, 1\); nan='lowest'"):
        qops.quantize(x, 0.0, 1.0, axis=0)
    assert qops.quantize(x, 0.0, 3.0, axis=0, nan="lowest").data.tolist() == [[85, 0], [170, 255]]


def test_numbers_are_read_before_the_array_is_looked_at():
    """An end of the range that shrinks the array when it is asked for its value: nothing beyond the end is read."""

    class Shrinking:
        def __init__(self, array):
            self.array = array

        def __float__(self):
            self.array.resize(1, refcheck=False)
            return 2.0

    x, codes = np.ones(64, np.float32), np.ones(64, np.uint8)
    assert qops.quantize(x, 0.0, Shrinking(x)).data.shape == (1,)
    assert qops.dequantize((codes, 0.0, Shrinking(codes))).shape == (1,)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
@pytest.mark.parametrize("ends", [(None, None), (-0.75, None), (None, 2.5), (-3.0, 1.0)])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_symmetric_codes_have_0_in_the_middle_and_the_larger_end_on_the_last(dtype, ends, axis, rng):
    """Against exact fractions: `half` codes on each side of the middle, the larger end on the highest."""
    x = (rng.normal(size=(5, 7)) * 10.0 ** rng.integers(-3, 3, (5, 1))).astype(np.float32)
    t = on_every_tier(qops.quantize, x, *ends, axis=axis, dtype=dtype, symmetric=True)
    info = np.iinfo(dtype)
    middle, half = (info.min + info.max + 1) // 2, (info.max - info.min) // 2
    assert np.all(t.zero_point == middle)
    rows = {None: x.reshape(1, -1), 0: x, -1: x.T}[axis]
    for row, lo, hi, codes in zip(
        rows,
        np.ravel(t.min),
        np.ravel(t.max),
        {None: t.data.reshape(1, -1), 0: t.data, -1: t.data.T}[axis],
        strict=True,
    ):
        given = [min(row.min(), 0) if ends[0] is None else ends[0], max(row.max(), 0) if ends[1] is None else ends[1]]
        limit = Fraction(float(max(map(abs, given))))
        assert hi == np.float32(limit)
        assert lo == np.float32(-limit * (half + 1) / half)
        exact = [max(min(Fraction(float(v)) * half / limit, half), -half - 1) for v in row]
        off = [abs(int(code) - middle - want) for code, want in zip(codes, exact, strict=True)]
        assert max(off) <= (BOUND_QUANTIZE if info.bits == 8 else BOUND_QUANTIZE_16)


@pytest.mark.parametrize("limit", [2.0**-149, 1e-40, 2.0**-126, 1e-30, 3.0, 3e38])
def test_symmetric_ranges_of_any_width_have_0_in_the_middle(limit):
    for dtype, middle in ((np.uint8, 128), (np.int8, 0), (np.uint16, 32768), (np.int16, 0)):
        for x in ([limit], [-limit]):
            t = qops.quantize(x, dtype=dtype, symmetric=True)
            assert t.zero_point == middle
            assert t.max >= limit
            assert qops.quantize([x], axis=1, dtype=dtype, symmetric=True).max.item() == t.max
    assert qops.quantize([0.0], symmetric=True) == qops.quantize([0.0])
    with pytest.raises(ValueError, match=r"^min, max: .* beyond float32"):
        qops.quantize([3.4e38], symmetric=True)


def test_a_range_in_the_place_of_the_data_is_named():
    for ends in ((1.0, np.zeros(4)), (np.zeros(4), 1.0)):
        with pytest.raises(ValueError, match=r"^x: is one number, .* the order is x, min, max"):
            qops.quantize(-1.0, *ends)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("axis", "block"), [(-1, 16), (1, 10), (0, 2), (1, 64), (0, 1)])
def test_quantize_gives_each_block_a_range(axis, block, symmetric):
    """As each block by itself; the last one of an axis may be shorter."""
    x = np.random.default_rng(9).normal(size=(5, 32)).astype(np.float32) * np.float32([[1], [9], [0.1], [3], [0.02]])
    t = qops.quantize(x, axis=axis, block=block, dtype="int8", symmetric=symmetric)
    assert t.data.shape == x.shape
    rows, codes = np.moveaxis(x, axis, -1), np.moveaxis(t.data, axis, -1)
    ends = [np.moveaxis(np.broadcast_to(end, x.shape), axis, -1) for end in (t.min, t.max)]
    for i, row in enumerate(rows):
        for start in range(0, row.size, block):
            at = slice(start, start + block)
            one = qops.quantize(row[at], dtype="int8", symmetric=symmetric)
            assert np.array_equal(codes[i, at], one.data)
            assert (ends[0][i, at] == np.float32(one.min)).all()
            assert (ends[1][i, at] == np.float32(one.max)).all()


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"block": 2}, r"^axis: expected the one along which the blocks lie, got None"),
        ({"block": 2, "axis": (0, 1)}, r"^axis: expected the one"),
        ({"block": 0, "axis": 1}, r"^block: "),
        ({"block": 2, "axis": 2}, r"^axis: "),
        ({"block": 2, "axis": 1, "min": 0.0}, r"^block: ranges of blocks come from the data, got min, 0.0"),
        ({"block": 2, "axis": 1, "scale": 0.5}, r"^block: ranges of blocks come from the data, got scale"),
    ],
)
def test_blocks_that_cannot_be_are_named(how, text):
    with pytest.raises((ValueError, TypeError), match=text):
        qops.quantize(np.ones((2, 4), np.float32), **how)
    with pytest.raises(ValueError, match=r"^x: .*NaN|^x: .*nan"):
        qops.quantize(np.float32([[1, np.nan]]), axis=1, block=2)
