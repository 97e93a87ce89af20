"""`uniform_quantized_convolution`: the twin over one to three axes, groups, orders of axes, bad input."""

import numpy as np
import pytest
import reference_tensorflow_uniform as twin

from qops.tensorflow import uniform_quantized_convolution

ENDS = (-(2**31), 2**31 - 1)
# Each row: data, filters; strides, dilations of both; padding; groups of the batch, of the features.
CASES = [
    ((2, 3, 7), (4, 3, 3), ([2], [1], [2]), [(1, 2)], (1, 1)),
    ((2, 3, 5, 6), (4, 3, 3, 2), ([1, 2], [1, 1], [1, 1]), [(0, 0), (0, 0)], (1, 1)),
    ((1, 2, 4, 3), (3, 2, 2, 2), ([2, 1], [3, 2], [1, 2]), [(1, 0), (2, 3)], (1, 1)),
    ((2, 4, 4, 4), (4, 2, 2, 3), ([1, 1], [1, 1], [2, 1]), [(0, 1), (1, 1)], (1, 2)),
    ((2, 4, 4, 4), (8, 1, 2, 2), ([1, 1], [1, 1], [1, 1]), [(0, 1), (1, 1)], (1, 4)),
    ((6, 2, 3, 3), (6, 2, 2, 2), ([1, 1], [1, 1], [1, 1]), [(1, 0), (0, 0)], (3, 1)),
    ((1, 2, 3, 4, 3), (2, 1, 2, 2, 2), ([1, 2, 1], [1, 1, 2], [1, 2, 1]), [(1, 0), (0, 1), (1, 1)], (1, 2)),
    ((4, 6, 3, 3), (6, 2, 2, 2), ([1, 1], [1, 1], [1, 1]), [(1, 0), (0, 0)], (2, 3)),  # groups of both kinds
    ((4, 4, 3, 3), (8, 2, 2, 2), ([1, 2], [2, 1], [1, 1]), [(0, 0), (0, 1)], (4, 2)),
    ((1, 2, 2, 3), (2, 2, 3, 1), ([1, 1], [1, 1], [1, 1]), [(0, 0), (0, 0)], (1, 1)),  # no window fits
]


def operands(rng, x_shape, w_shape):
    return (rng.integers(-128, 128, shape).astype(np.int8) for shape in (x_shape, w_shape))


def options_of(moves, pads, groups):
    names = ("window_strides", "lhs_dilation", "rhs_dilation")
    return dict(zip(names, moves, strict=True)) | {
        "padding": "EXPLICIT",
        "explicit_padding": [n for pad in pads for n in pad],
        "batch_group_count": groups[0],
        "feature_group_count": groups[1],
    }


@pytest.mark.parametrize(("x_shape", "w_shape", "moves", "pads", "groups"), CASES, ids=str)
@pytest.mark.parametrize("zeros", [(4, -3, 9), (200, 1000, -7)], ids=str)
def test_convolution_matches_twin(rng, x_shape, w_shape, moves, pads, groups, zeros):
    x, w = operands(rng, x_shape, w_shape)
    oc = len(w)
    want = twin.convolution(
        x, w, zeros[0], [zeros[1]] * oc, [0.5 * 0.25 / 0.125] * oc, [zeros[2]] * oc, ENDS, moves, pads, groups
    )
    named = options_of(moves, pads, groups)
    got = uniform_quantized_convolution(x, w, 0.5, zeros[0], 0.25, zeros[1], 0.125, zeros[2], **named)
    np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("case", CASES[3:7], ids=str)
@pytest.mark.parametrize("out_axis", [-1, 1])
def test_convolution_of_one_scale_a_channel_matches_twin(rng, case, out_axis):
    x_shape, w_shape, moves, pads, groups = case
    x, w = operands(rng, x_shape, w_shape)
    oc = len(w)
    scales, zeros = rng.integers(1, 99, oc) / np.float32(32), rng.integers(-9, 9, oc)
    last, out_zeros = (scales[::-1], zeros[::-1]) if out_axis == 1 else (np.float32(0.75), np.int64(-4))
    factors = [0.5 * float(s) / float(y) for s, y in zip(scales, np.broadcast_to(last, oc), strict=True)]
    out_list = np.broadcast_to(out_zeros, oc).tolist()
    want = twin.convolution(x, w, 3, zeros.tolist(), factors, out_list, (-900, 900), moves, pads, groups)
    named = options_of(moves, pads, groups) | {"rhs_quantization_axis": 0, "output_quantization_axis": out_axis}
    got = uniform_quantized_convolution(
        x,
        w,
        0.5,
        3,
        scales,
        zeros,
        last,
        out_zeros,
        output_quantization_min_val=-900,
        output_quantization_max_val=900,
        **named,
    )
    np.testing.assert_array_equal(got, want, strict=True)


def test_axes_in_another_order_are_only_moved(rng):
    x, w = operands(rng, (2, 3, 5, 6), (4, 3, 3, 2))
    numbers = {
        "input_batch_dimension": 3,
        "input_feature_dimension": 1,
        "input_spatial_dimensions": [2, 0],
        "kernel_output_feature_dimension": 2,
        "kernel_input_feature_dimension": 0,
        "kernel_spatial_dimensions": [3, 1],
        "output_feature_dimension": 1,  # the batch is 0, as what is left out
        "output_spatial_dimensions": [3, 2],
    }
    rest = (0.5, 4, 0.25, -3, 0.125, 9, "SAME")
    want = uniform_quantized_convolution(x, w, *rest, window_strides=[1, 2])
    moved = x.transpose(3, 1, 2, 0), w.transpose(1, 3, 0, 2)
    out = np.zeros((2, 4, 3, 5), np.int32)
    got = uniform_quantized_convolution(*moved, *rest, window_strides=[1, 2], dimension_numbers=numbers, out=out)
    assert got is out
    np.testing.assert_array_equal(got.transpose(0, 1, 3, 2), want)


@pytest.mark.parametrize(("size", "stride", "pad"), [(5, 1, (1, 1)), (5, 2, (1, 1)), (6, 4, (0, 1)), (4, 3, (1, 1))])
def test_same_pads_the_end_by_the_odd_one(rng, size, stride, pad):
    x, w = operands(rng, (1, 2, size), (3, 2, 3))
    rest, named = (0.5, 4, 0.25, -3, 0.125, 9), {"window_strides": [stride]}
    same = uniform_quantized_convolution(x, w, *rest, "SAME", **named)
    explicit = uniform_quantized_convolution(x, w, *rest, "EXPLICIT", explicit_padding=[*pad], **named)
    np.testing.assert_array_equal(same, explicit)
    assert same.shape[2] == -(-size // stride)


X, W = np.ones((2, 4, 5, 5), np.int8), np.ones((4, 4, 3, 3), np.int8)
ONE = [1.0, 0, 1.0, 0, 1.0, 0]
BAD = [
    ((X, W[0], *ONE, "SAME"), {}, r"lhs, rhs: lhs and rhs must have same dims. .*\[2,4,5,5\]\[4,3,3\]"),
    ((X[0, 0], W[0, 0], *ONE, "SAME"), {}, "lhs, rhs: .* at least 3. Given: 2"),
    ((X, W[:, :3], *ONE, "SAME"), {}, "rhs: rhs input feature dimension must divide"),
    ((X, W[:, :2], *ONE, "SAME"), {}, "feature_group_count: lhs feature dimension size divided"),
    ((X, W[:, :0], *ONE, "SAME"), {}, "rhs: has no input features"),
    ((X, W, *ONE, "SAME"), {"feature_group_count": 3}, "feature_group_count: .* must divide lhs"),
    ((X, W[:3, :1], *ONE, "SAME"), {"feature_group_count": 4}, "feature_group_count: rhs output dimension"),
    ((X, W, *ONE, "SAME"), {"batch_group_count": 4}, "batch_group_count: .* must divide lhs batch"),
    ((X, W[:3], *ONE, "SAME"), {"batch_group_count": 2}, "batch_group_count: rhs output dimension"),
    ((X, W, *ONE, "HALF"), {}, "padding: 'HALF' is not in the list"),
    ((X, W, *ONE, "SAME"), {"explicit_padding": [1, 1, 1, 1]}, "explicit_padding: Size of explicit_padding"),
    ((X, W, *ONE, "EXPLICIT"), {"explicit_padding": [1, 1, 1]}, "explicit_padding: Size of explicit_padding"),
    ((X, W, *ONE, "EXPLICIT"), {"explicit_padding": [1, 1, 1, -1]}, "explicit_padding: expected an integer"),
    ((X, W, *ONE, "SAME"), {"window_strides": [1]}, "window_strides: Size of window_strides Attr must be 2"),
    ((X, W, *ONE, "SAME"), {"rhs_dilation": [0, 1]}, "rhs_dilation: expected an integer"),
    ((X, W, *ONE, "SAME"), {"lhs_dilation": "12"}, "lhs_dilation: expected 2 integers"),
    ((X[:, :, :1], W, *ONE, "VALID"), {}, "rhs: a kernel of 3, dilation 1, does not fit 1"),
    ((X[:, :, :0], W, *ONE, "EXPLICIT"), {"explicit_padding": [9, 9, 0, 0]}, "lhs: has no elements"),
    ((X, W, *ONE, "SAME"), {"dimension_numbers": {}}, "dimension_numbers: expected each of 4 axes of the input once"),
    ((X, W, *ONE, "SAME"), {"dimension_numbers": 5}, "dimension_numbers: expected a mapping"),
    ((X, W, *ONE, "SAME"), {"dimension_numbers": {"lhs_batch": 0}}, "dimension_numbers: expected .* got .*lhs_batch"),
    ((X, W, *ONE, "SAME"), {"lhs_quantization_axis": 0}, "lhs_quantization_axis: lhs_quantization_axis Attr"),
    ((X, W, *ONE, "SAME"), {"rhs_quantization_axis": 1}, "rhs_quantization_axis: must be -1 .* or 0"),
    ((X, W, 0.0, *ONE[1:], "SAME"), {}, "lhs_scales: lhs scales elements must be all positive"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD)
def test_convolution_rejects(arguments, options, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        uniform_quantized_convolution(*arguments, **options)
