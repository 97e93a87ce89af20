"""`quantized_add` and `quantized_bias_add`: twins on all code pairs, the lone element, broadcasting, bad input."""

import numpy as np
import pytest
import reference_tensorflow as twin
from qops._kernels.tensorflow.add import quantized_add_integers

from qops.tensorflow import quantized_add, quantized_bias_add

X, Y = (codes.astype(np.uint8) for codes in np.divmod(np.arange(65536), 256))
RANGES = [(-1, 1), (-6.5, 6.5), (0, 6), (-3, 0), (0, 1e-6), (-1e6, 1e6), (2.5, 7.25), (-9, -4.5), (-12.625, 3.3)]
RANGES += [(1e6, 1e6 + 0.0625), (1.0, 1.0 + 2**-23), (0, 1e-34)]
R, S = (-1.0, 1.0), (-12.625, 3.3)


def random_ranges(count):
    rng = np.random.default_rng(1)
    return [tuple(np.sort(rng.normal(0, 10.0 ** rng.integers(-3, 4), 2)).tolist()) for _ in range(count)]


@pytest.mark.parametrize("x_range", RANGES)
def test_add_matches_twin_on_all_code_pairs(x_range):
    for y_range in RANGES + random_ranges(4):
        z_max = twin.add_max(x_range, y_range)
        want = twin.add_terms(*x_range, z_max)[X] + twin.add_terms(*y_range, z_max)[Y]
        z = quantized_add((X, *x_range), (Y, *y_range))
        np.testing.assert_array_equal(z.data, want)
        assert (z.min, z.max) == (-z_max, z_max)


@pytest.mark.long
def test_add_matches_twin_for_a_lone_element():
    for x_range, y_range in zip(RANGES + random_ranges(20), RANGES[::-1] + random_ranges(20)[::-1], strict=True):
        z_max = twin.add_max(x_range, y_range)
        x, y = twin.add_terms(*x_range, z_max), twin.add_terms(*y_range, z_max)
        few = (0, 1, 100, 255)
        alone = (twin.add_terms(*ends, z_max, True, few) for ends in (x_range, y_range))
        for code, x_alone, y_alone in zip(few, *alone, strict=True):
            one, codes = np.uint8([code]), np.arange(256, dtype=np.uint8)
            np.testing.assert_array_equal(quantized_add((codes, *x_range), (one, *y_range)).data, x + y_alone)
            np.testing.assert_array_equal(quantized_add((one, *x_range), (codes, *y_range)).data, x_alone + y)
            both = quantized_add((one, *x_range), (one, *y_range)).data
            assert both.tolist() == [x_alone + y[code]]


def test_add_known_answers():
    z = quantized_add((np.uint8([0, 255]), 0.0, 6.0), (np.uint8([255, 255]), -3.0, 0.0))
    assert (z.min, z.max) == (-6.0 * 2**14, 6.0 * 2**14)
    np.testing.assert_allclose(z.data * z.scale, [0, 6], atol=z.scale * 255)
    column = quantized_add((np.zeros((2, 3), np.uint8), 0.0, 1.0), (np.uint8([[0], [255]]), 0.0, 1.0))
    np.testing.assert_array_equal(np.rint(column.data * column.scale), [[0, 1, 0], [1, 0, 1]])


def test_add_operand_vanishes_when_1029_times_narrower():
    codes = np.arange(256, dtype=np.uint8)
    assert quantized_add_integers((0, 1028), (0, 1))["y"]["step"] == 1
    assert quantized_add_integers((0, 1029), (0, 1))["y"]["step"] == 0  # 2**18 / 255 = 1028.02
    assert not quantized_add((codes * 0, 0.0, 1029.0), (codes, 0.0, 1.0)).data.any()


def test_add_lone_element_differs_from_a_tensor_full_of_it():
    x, codes = np.zeros(2, np.uint8), np.arange(256)
    furthest = {}
    for y_range in (S, R):
        lone = np.array([quantized_add((x, *R), (np.uint8(c), *y_range)).data[0] for c in codes])
        full = np.array([quantized_add((x, *R), (np.full(2, c, np.uint8), *y_range)).data[0] for c in codes])
        furthest[y_range] = int(np.abs(lone - full).max())
    assert furthest == {S: 92, R: 4}


@pytest.mark.parametrize(
    ("x_shape", "y_shape"),
    [
        ((3, 8), (8,)),
        ((2, 3, 4, 8), (4, 8)),
        ((1, 8), (3, 8)),
        ((3, 8), (1, 1, 8)),
        ((1, 3), (3,)),
    ],
)
def test_add_repeats_trailing_axes_as_numpy_does(x_shape, y_shape):
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 256, x_shape, np.uint8), rng.integers(0, 256, y_shape, np.uint8)
    x_all, y_all = np.broadcast_arrays(x, y)
    want = quantized_add((x_all.copy(), *R), (y_all.copy(), *S)).data
    np.testing.assert_array_equal(quantized_add((x, *R), (y, *S)).data, want, strict=True)
    np.testing.assert_array_equal(quantized_add((y, *S), (x, *R)).data, want, strict=True)


@pytest.mark.parametrize("shape", [(0,), (2, 0), ()])
def test_add_scalars_and_no_elements(shape):
    z = quantized_add((np.zeros(shape, np.uint8), *R), (np.uint8(7), *S))
    assert z.data.shape == shape
    assert z.max == 12.625 * 2**14


def test_any_layout_gives_the_same():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 256, (2, 60, 70), np.uint8)
    want = quantized_add((x, *R), (y, *S)).data
    bias = quantized_bias_add((x, *R), (y[0], *S)).data
    for strided in (np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2], x[::-1][::-1]):
        before, out = strided.copy(), np.zeros((70, 60), np.int32).T
        assert quantized_add((strided, *R), (y, *S), out=out).data is out
        np.testing.assert_array_equal(out, want)
        np.testing.assert_array_equal(quantized_bias_add((strided, *R), (y[0], *S)).data, bias)
        np.testing.assert_array_equal(strided, before)
    np.testing.assert_array_equal(
        quantized_add((x, *R), (y[0], *S), out=out).data[1], quantized_add((x[1], *R), (y[0], *S)).data
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_bias_add_matches_twin(dtype):
    codes = np.arange(256).astype(dtype)
    ranges = [*RANGES, *random_ranges(20), (1.5, 1.5), (1, -1), (0, 0)]
    pairs = [*zip(ranges, ranges[7:] + ranges[:7], strict=True), ((1.0, -2.0), (3.0, -0.5))]
    for x_range, b_range in pairs:
        grid = np.repeat(codes[:, None], 256, 1)
        want, t_max = twin.bias_add(grid, x_range, codes, b_range)
        t = quantized_bias_add((grid, *x_range), (codes, *b_range))
        np.testing.assert_array_equal(t.data, want)
        assert (t.min, t.max) == (-t_max, t_max)


def test_bias_add_known_answers():
    far = (np.int8([[-128]]), -441.57788, -168.16493), (np.int8([1]), 117.35851, 436.27783)
    assert quantized_bias_add(*far).data == -6298  # TensorFlow 2.21, with 2**32 - 1 steps; 2**32 would give -6042
    t = quantized_bias_add((np.uint8([[0, 255]]), 0.0, 6.0), (np.uint8([0, 255]), -3.0, 0.0))
    assert (t.min, t.max) == (-6.0 * 2**17, 6.0 * 2**17)
    assert t.data.tolist() == [[-8192, 16384]]
    zeros = np.zeros((1, 2), np.uint8)
    assert quantized_bias_add((zeros, 0.0, 0.0), (zeros[0], 0.0, 0.0)).data.tolist() == [[-(2**31)] * 2]


def test_bias_add_reads_ends_below_the_normal_float32_as_0():
    t = quantized_bias_add((A, 2.0, -2.0), (B, 1.0, 1e-45))
    assert (t.min, t.max) == (0, 0)
    assert (t.data == -(2**31)).all()


A, B = np.zeros((2, 3), np.uint8), np.zeros(3, np.uint8)
BAD_ADD = [
    ((A, 1.0, 1.0), (B, *R), "x: max_x must be larger than min_x, got min 1.0, max 1.0"),
    ((A, *R), (B, 1.0, 0.0), "y: max_y must be larger than min_y"),
    ((A, np.nan, 1.0), (B, *R), "x min: nan"),
    ((A, *R), (B, 0.0, np.inf), "y max: inf"),
    ((A, np.float32([-1]), 1.0), (B, *R), "x min: must be rank 0 but is rank 1"),
    ((A, *R), (B, 0.0, 1e-37), "y min, y max: the range .* steps too small"),
    *(((A, *wide), (B, *R), "x, y: the output range .* is beyond") for wide in ((0.0, 2.0**113), (-(2.0**113), 0.0))),
    *(((A, *R), (B, *wide), "x, y: the output range .* is beyond") for wide in ((0.0, 2.0**113), (-(2.0**113), 0.0))),
    ((A, *R), (B[:2], *R), r"Incompatible shapes: \[2,3\] vs. \[2\]"),
    ((A[:, :1], *R), (B, *R), r"Broadcast between \[2,1\] and \[3\] is not supported"),
    ((np.zeros((2, 1, 3), np.uint8), *R), (np.zeros((2, 4, 3), np.uint8), *R), r"\[2,4,3\] is not supported"),
    ((A[:0], *R), (B, *R), r"Must have some elements to add, got shapes \[0,3\] and \[3\]"),
    ((A.astype(np.int8), *R), (B, *R), "x: expected uint8 data, got int8"),
    (A, (B, *R), "x: expected a .data, min, max. triple"),
]


@pytest.mark.parametrize(("x", "y", "message"), BAD_ADD)
def test_add_rejects(x, y, message):
    out = np.full((2, 3), 7, np.int32)
    with pytest.raises((ValueError, TypeError), match=message):
        quantized_add(x, y, out=out)
    assert np.all(out == 7)


def test_out_that_does_not_fit_is_rejected():
    for wrong in (np.zeros((2, 3), np.int64), np.zeros((3, 2), np.int32), [0]):
        with pytest.raises((ValueError, TypeError), match="out: "):
            quantized_add((A, *R), (B, *R), out=wrong)
        with pytest.raises((ValueError, TypeError), match="out: "):
            quantized_bias_add((A, *R), (B, *R), out=wrong)


BAD_BIAS_ADD = [
    ((B, *R), (B, *R), r"input: Input tensor must be at least 2D: \[3\]"),
    ((A, *R), (A[:1], *R), r"bias: Biases must be 1D: \[1,3\]"),
    ((A, *R), (B[:1], *R), r"as the last dimension of the input tensor: \[1\] vs. \[2,3\]"),
    ((A[:, :0], *R), (B[:0], *R), r"bias: Must provide at least 1 bias, got shape \[0\]"),
    ((A, *R), (B.astype(np.int8), *R), "bias: expected uint8 data like the input, got int8"),
    ((A.astype(np.int32), *R), (B, *R), "input: expected uint8 or int8 data, got int32"),
    ((A, *R), (B, [0.0, 1.0], 1.0), "bias min: must be rank 0 but is rank 1"),
    ((A, np.nan, 1.0), (B, *R), "input min: nan"),
    ((A, 0.0, 2.0**111), (B, *R), "beyond float32"),
    ((A, 0.0, 1.3e33), (B, *R), "input, bias: the output range .* is beyond float32"),
    ((A, 0.0, 1e-40), (B, *R), "steps too small"),
    ((A, -3e38, 3e38), (B, *R), "wider than float32"),
]


@pytest.mark.parametrize(("x", "bias", "message"), BAD_BIAS_ADD)
def test_bias_add_rejects(x, bias, message):
    with pytest.raises((ValueError, TypeError), match=message):
        quantized_bias_add(x, bias)
