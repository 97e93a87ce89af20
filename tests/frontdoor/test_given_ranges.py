"""The ways to give a range: a pair, `range`, a scale, several axes, one for each row of a product; reshaped tensors."""

import numpy as np
import pytest

import qops

X = np.random.default_rng(54).normal(size=(3, 4, 16))
W = qops.quantize(np.random.default_rng(5).normal(size=(16, 5)), axis=1, dtype="int8")
SUM = qops.add(qops.quantize(X), qops.quantize(X), dtype="int32")


@pytest.mark.parametrize("op", [qops.quantize, qops.requantize, qops.requantize_32to8])
def test_a_pair_and_range_are_min_and_max(op):
    given = X if op is qops.quantize else SUM
    wanted = op(given, -1.0, 2.5)
    assert op(given, (-1.0, 2.5)) == op(given, range=(-1.0, 2.5)) == op(given, range=[-1.0, 2.5]) == wanted
    assert op(given, range=(0.0, None)) == op(given, 0.0) != wanted
    for extra in ({"min": -1.0}, {"max": 1.0}):
        with pytest.raises(ValueError, match=r"^range: give range, or min and max, not both"):
            op(given, range=(-1.0, 1.0), **extra)
    with pytest.raises((TypeError, ValueError), match=r"^range: "):
        op(given, range=1.0)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_codes_of_a_scale_stand_for_it(dtype):
    rng = np.random.default_rng(3)
    row = qops.codes.of_dtype(dtype)
    for exponent in range(-30, 30, 3):
        scale, zero = float(2.0**exponent * rng.uniform(1, 2)), int(rng.integers(row.lowest, row.highest + 1))
        x = (scale * rng.uniform(row.lowest - zero, row.highest - zero, 50)).astype(np.float32)
        t = qops.quantize(x, scale=scale, zero_point=zero, dtype=dtype)
        assert t == qops.QTensor.from_scale(t.data, scale, zero)
        off = np.abs(x.astype(np.float64) / scale + zero - t.data)
        assert off.max() <= qops.bound("quantize", dtype)


def test_a_scale_for_each_channel():
    t = qops.quantize(np.float32([[1, 2], [3, 4]]), scale=[0.5, 1.0], zero_point=[1, 2], axis=1, dtype="int8")
    assert t.data.tolist() == [[3, 4], [7, 6]]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ({"zero_point": 3}, "zero_point: needs a scale, got 3 alone"),
        ({"scale": 0.5, "range": (-1, 1)}, "scale: give scale, or a range"),
        ({"scale": 0.5, "min": 0.0}, "scale: give scale, or a range"),
        ({"scale": 0.5, "symmetric": True}, "scale: give scale, or a range"),
        ({"scale": 0.5, "axis": (0, 1)}, "axis: scales are given along one axis"),
        ({"scale": -1.0}, "scale: expected numbers"),
        ({"scale": 1.0, "zero_point": 256}, "zero_point: expected integers in"),
        ({"axis": ()}, "axis: expected at least one axis"),
        ({"axis": (0, -3)}, "axis: names an axis twice"),
        ({"axis": (0, 3)}, "axis: expected an integer in"),
    ],
)
def test_what_is_no_way_to_give_a_range_is_refused(numbers, text):
    out = np.full(X.shape, 7, np.uint8)
    with pytest.raises(ValueError, match=f"^{text}"):
        qops.quantize(X, **numbers, out=out)
    assert (out == 7).all()


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (-1, 0), [1], (0, 1, 2)])
def test_several_axes_have_a_range_for_each_choice_of_indices(axes):
    t = qops.quantize(X, axis=axes, dtype="int8")
    kept = {axis % 3 for axis in axes}
    assert t.min.shape == tuple(n if i in kept else 1 for i, n in enumerate(X.shape))
    for index in np.ndindex(t.min.shape):
        here = tuple(at if i in kept else slice(None) for i, at in enumerate(index))
        alone = qops.quantize(X[here], dtype="int8")
        assert np.array_equal(t.data[here], alone.data)
        assert (t.min[index], t.max[index]) == (alone.min, alone.max)


def test_a_nan_is_refused_with_its_index_along_several_axes():
    bad = X.copy()
    bad[2, 1, 7] = np.nan
    with pytest.raises(ValueError, match=r"^x: has NaN at index \(2, 1, 7\)"):
        qops.quantize(bad, axis=(0, 1))


@pytest.mark.parametrize(
    "options", [{}, {"dtype": "uint8"}, {"dtype": "int8", "range": (-3.0, 4.0)}, {"clip": (0, None), "bias": [1.0] * 5}]
)
def test_each_row_with_a_range_is_a_product_of_its_own(options):
    a = qops.quantize(X, axis=(0, 1), dtype="int8")
    out = np.zeros((3, 4, 5), options.get("dtype", "int32"))
    t = qops.matmul(a, W, **options, out=out)
    assert t.data is out
    assert t == qops.MatMul(W, **options)((a.data, a.min, a.max))
    for i, j in np.ndindex(3, 4):
        row = qops.matmul((a.data[i, j], float(a.min[i, j, 0]), float(a.max[i, j, 0])), W, **options)
        ends = (np.broadcast_to(np.ravel(end), t.min.shape[-1:]) for end in (row.min, row.max))
        assert np.array_equal(t.data[i, j], row.data)
        assert all(np.array_equal(*pair) for pair in zip((t.min[i, j], t.max[i, j]), ends, strict=True))
    if not options:
        assert np.abs(t.dequantize() - a.dequantize() @ W.dequantize()).max() < 1e-5


def test_no_rows_with_ranges_give_no_rows():
    t = qops.matmul((np.zeros((0, 16), np.int8), np.zeros((0, 1)), np.zeros((0, 1))), W)
    assert t.shape == (0, 5)
    assert t.dequantize().shape == (0, 5)


def test_rows_whose_ranges_do_not_fit_are_refused():
    out = np.full((4, 5), 7, np.int32)
    for codes, ends, text in (
        (np.zeros((4, 16), np.int8), np.ones((1, 16)), r"a: expected one range or ends of shape \(4, 1\)"),
        (np.zeros((4, 16), np.int16), np.ones((4, 1)), "a: expected"),
        (np.zeros((4, 9), np.int8), np.ones((4, 1)), "a"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{text}"):
            qops.matmul((codes, -ends, ends), W, out=out)
    with pytest.raises((TypeError, ValueError), match=r"^out: "):
        qops.matmul((np.zeros((4, 16), np.int8), -np.ones((4, 1)), np.ones((4, 1))), W, out=out[:3])
    assert (out == 7).all()


def test_reshape_keeps_values():
    t = qops.quantize(X, dtype="int8")
    assert t.reshape(-1).shape == (192,)
    assert np.array_equal(t.reshape((12, 16)).dequantize(), t.dequantize().reshape(12, 16))
    assert np.shares_memory(t.reshape(12, -1).data, t.data)
    narrow = qops.QTensor(np.int8([[1, -127]]), -1.0, 1.0, "s8_narrow")
    assert narrow.reshape(2).code_type == narrow.code_type


def test_reshape_keeps_a_range_for_each_channel():
    t = qops.quantize(X, axis=0)
    for shape in ((3, 64), (3, 2, 2, 16), (3, 1, 64)):
        assert np.array_equal(t.reshape(shape).dequantize(), t.dequantize().reshape(shape))
        assert t.reshape(shape).min.size == 3
    assert np.array_equal(qops.quantize(X, axis=(0, 1)).reshape(12, 16).dequantize(), qops.quantize(
        X.reshape(12, 16), axis=0).dequantize())  # fmt: skip
    with pytest.raises(ValueError, match=r"^shape: \(192,\) mixes the channels of \(3, 4, 16\)"):
        t.reshape(-1)
    with pytest.raises(ValueError, match="reshape"):
        t.reshape(5)
