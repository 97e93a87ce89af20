"""What LiteRT 2.3.0 and the tflite-micro wheel of 2026-10-23 gave in random calls and golden vectors do not tell."""

import numpy as np
import pytest

from qops import tflite

TIES = np.int8([2, 6, -2, -6]).reshape(1, 1, 4, 1)
AWAY, EVEN = [1, 2, -1, -2], [0, 2, 0, -2]
"""A half, one and a half, and the same below 0, rounded."""
LAYER = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 4.0, "y_zero_point": 0}
X = {"x_scale": 1.0, "x_zero_point": 0}


def numbers(a, b, y):
    """Scales and zero points of a, b and y."""
    each = zip("aby", (a, b, y), strict=True)
    return {f"{name}_{word}": one[i] for name, one in each for i, word in enumerate(("scale", "zero_point"))}


@pytest.mark.parametrize(("kernel", "zero", "want"), [("optimized", 0, 1), ("xnnpack", 0, 0), ("xnnpack", 1, 1)])
def test_xnnpack_rounds_limits_of_activations_with_the_zero_point_inside(kernel, zero, want):
    """6 is half a step of 12: half away from 0 that is one step, half to even the even code."""
    x = np.int8([100])
    how = numbers((4.0, 0), (4.0, 0), (12.0, zero))
    assert tflite.add(x, x, **how, activation="RELU6", kernel=kernel).item() - zero == want
    same = {"x_scale": 12.0, "x_zero_point": zero, "y_scale": 12.0, "y_zero_point": zero, "activation": "RELU6"}
    image = tflite.max_pool_2d(x.reshape(1, 1, 1, 1), window=(1, 1), **same, kernel=kernel)
    assert image.item() - zero == want
    how = {**LAYER, "x_scale": 12.0, "y_scale": 12.0, "y_zero_point": zero, "activation": "RELU6"}
    one, bias = np.int8([[[[1]]]]), np.int32([0])
    for op in (tflite.conv_2d, tflite.depthwise_conv_2d):
        assert op(x.reshape(1, 1, 1, 1), one, bias, **how, kernel=kernel).item() - zero == want


def test_what_xnnpack_leaves_to_the_next_kernels_has_their_limits():
    x = np.int8([[[[100], [100]]]])
    how = {"x_scale": 12.0, "x_zero_point": 0, "y_scale": 12.0, "y_zero_point": 0, "activation": "RELU6"}
    pooled = tflite.max_pool_2d(x, window=(1, 1), stride=(1, 2), **how, kernel="xnnpack")
    assert pooled.item() == 1


@pytest.mark.parametrize("op", [tflite.conv_2d, tflite.depthwise_conv_2d])
def test_xnnpack_leaves_weights_of_4_bits_to_kernels_with_other_limits(op):
    """These take a scale from 256 on, and refuse a limit of an activation that int32 does not hold."""
    x, w, bias = np.int8([[[[3]]]]), np.int8([[[[1]]]]), np.int32([0])
    how = {"x_zero_point": 0, "w_scale": 1.0, "y_zero_point": 0, "kernel": "xnnpack"}
    with pytest.raises(ValueError, match=r"^x_scale, w_scale, y_scale: xnnpack takes no scale of 512"):
        op(x, w, bias, x_scale=512.0, y_scale=1.0, **how)
    assert op(x, w, bias, x_scale=512.0, y_scale=1.0, w_type="int4", **how).item() == 127
    assert op(x, w, bias, x_scale=1e-9, y_scale=1e-9, w_type="int4", **how).item() == 3
    with pytest.raises(ValueError, match=r"^y_scale: int32 does not hold 6"):
        op(x, w, bias, x_scale=1.0, y_scale=1e-9, w_type="int4", activation="RELU6", **how)


@pytest.mark.parametrize("scales", [1.0, [1.0, 1.0]])
def test_xnnpack_leaves_an_odd_number_of_weights_of_4_bits_to_the_optimised_kernel(scales):
    for columns, want in ((1, [1, 2, 0, -1]), (2, EVEN)):
        x, w = np.zeros((4, columns), np.int8), np.ones((2, columns), np.int8)
        x[:, 0] = TIES.ravel()
        how = {**LAYER, "w_scale": scales, "w_type": "int4", "kernel": "xnnpack"}
        assert tflite.fully_connected(x, w, **how).T.tolist() == [want, want]


@pytest.mark.parametrize("scales", [256.0, [1.0, 256.0]])
def test_xnnpack_takes_no_layer_with_a_scale_from_256_on(scales):
    """It leaves an odd number of weights of 4 bits, and windows smaller than the stride, to kernels that do."""
    x, w, why = np.int8([[3, 0]]), np.int8([[1, 0], [1, 0]]), r"^x_scale, w_scale, y_scale: xnnpack takes no scale of"
    below = {**LAYER, "y_scale": 1.0, "w_scale": np.float32(scales) * np.float32(0.999), "kernel": "xnnpack"}
    how = {**below, "w_scale": scales}
    for more in ({}, {"w_type": "int4"}):
        with pytest.raises(ValueError, match=why):
            tflite.fully_connected(x, w, **how, **more)
        assert tflite.fully_connected(x, w, **below, **more).shape == (1, 2)
    assert tflite.fully_connected(x[:, :1], w[:, :1], **how, w_type="int4").tolist()[0][1] == 127
    x, w, shape = x.reshape(1, 1, 2, 1), w.reshape(2, 1, 2, 1), [1, 1, 4, 2]
    with pytest.raises(ValueError, match=why):
        tflite.transpose_conv(x, shape, w, **how, stride=(1, 2))
    assert tflite.transpose_conv(x, shape, w, **below, stride=(1, 2)).shape == (1, 1, 4, 2)
    assert tflite.transpose_conv(x, shape, w[:, :, :1], **how, stride=(1, 2), padding="SAME")[0, 0, 0, 1] == 127


@pytest.mark.parametrize(("padding", "sizes"), [("SAME", (5, 6)), ("VALID", (6, 7))])
def test_litert_takes_no_output_shape_of_other_images(padding, sizes):
    x, w, how = np.int8([[[[1], [2], [3]]]]), np.int8([[[[1], [10]]]]), {**LAYER, "y_scale": 1.0, "stride": (1, 2)}
    for size in range(4, 9):
        assert tflite.transpose_conv(x, [1, 1, size, 1], w, **how, padding=padding, kernel="tflm").shape[2] == size
        for kernel in ("reference", "optimized", "xnnpack"):
            if size in sizes:
                assert tflite.transpose_conv(x, [1, 1, size, 1], w, **how, padding=padding, kernel=kernel)[0, 0, 0] == 1
            else:
                with pytest.raises(ValueError, match=r"^x, output_shape: .* is made of images of \(1, "):
                    tflite.transpose_conv(x, [1, 1, size, 1], w, **how, padding=padding, kernel=kernel)


def test_xnnpack_pools_only_codes_of_one_scale():
    x, how = np.int8([[[[1]]]]), {"x_scale": 0.5, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    for more in ({"window": (1, 1)}, {"window": (1, 2), "padding": "SAME", "activation": "RELU"}):
        with pytest.raises(ValueError, match=r"^y_scale, y_zero_point: xnnpack expects those of x"):
            tflite.max_pool_2d(x, **more, **how, kernel="xnnpack")
    assert tflite.max_pool_2d(x, window=(1, 1), stride=(2, 2), **how, kernel="xnnpack").item() == 1


@pytest.mark.parametrize(
    ("dtype", "zero", "activation", "want"),
    [
        ("int8", 0, "RELU", [0, 0, 0, 2, 2, 4]),
        ("int8", 1, "RELU6", [1, 1, 1, 2, 2, 2]),
        ("uint8", 5, "RELU_N1_TO_1", [4, 4, 5, 6, 6, 6]),
    ],
)
def test_xnnpack_only_cuts_the_values_of_windows_of_one_tap(dtype, zero, activation, want):
    """Steps of a half of the result, some of which are ties; the zero point counts before they are rounded."""
    middle = 0 if dtype == "int8" else 128
    x = (np.array([-9, -2, 0, 3, 5, 8]) + middle).astype(dtype).reshape(1, 1, 2, 3)
    y_scale = 1.0 if activation == "RELU_N1_TO_1" else 4.0
    how = {"x_scale": y_scale / 2, "x_zero_point": middle, "y_scale": y_scale, "y_zero_point": zero}
    op = tflite.MaxPool2D(window=(1, 1), activation=activation, dtype=dtype, kernel="xnnpack", **how)
    assert op(x).ravel().tolist() == want
    assert op.integers["table"][x.ravel().astype(int) - np.iinfo(dtype).min].tolist() == want


@pytest.mark.parametrize(
    ("x", "zeros", "want"), [([-125], (-128, 16), 17), ([-113], (-128, 16), 19), ([-41], (-128, 16), 31)]
)
def test_xnnpack_takes_the_zero_points_of_a_mean_from_the_zero_point_of_the_result(x, zeros, want):
    """In float32, so that what is nearly a tie, such as 30.5, is not rounded to even."""
    how = {"x_scale": 0.25, "x_zero_point": zeros[0], "y_scale": 1.5, "y_zero_point": zeros[1], "kernel": "xnnpack"}
    assert tflite.mean(np.int8(x), 0, **how) == want
    assert tflite.sum(np.int8(x), 0, **how) == want


@pytest.mark.parametrize(
    ("kernel", "padding", "stride", "eighth", "ninth"),
    [
        ("reference", "SAME", 1, AWAY, AWAY),
        ("optimized", "SAME", 1, [1, 2, 0, -1], AWAY),
        ("optimized", "VALID", 2, [1, 2, 0, -1], AWAY),
        ("xnnpack", "SAME", 1, EVEN, EVEN),
        ("xnnpack", "SAME", 2, [1, 2, 0, -1], AWAY),
        ("xnnpack", "VALID", 2, EVEN, EVEN),
    ],
)
def test_transpose_conv_takes_blocks_of_eight_channels(kernel, padding, stride, eighth, ninth):
    shape, w = [1, stride, 4 * stride, 9], np.ones((9, 1, 1, 1), np.int8)
    how = {**LAYER, "stride": (stride, stride), "padding": padding, "kernel": kernel}
    y = tflite.transpose_conv(TIES, shape, w, **how)[0, 0, ::stride]
    assert [y[:, 7].tolist(), y[:, 8].tolist()] == [eighth, ninth]


@pytest.mark.parametrize(("kernel", "eighth"), [("reference", AWAY), ("optimized", [1, 2, 0, -1])])
def test_transpose_conv_of_16_bits_with_a_narrow_bias_takes_blocks(kernel, eighth):
    w, bias = np.ones((9, 1, 1, 1), np.int8), np.zeros(9, np.int32)
    y = tflite.transpose_conv(TIES.astype(np.int16), [1, 1, 4, 9], w, bias, **LAYER, padding="SAME", kernel=kernel)
    assert [y[0, 0, :, 7].tolist(), y[0, 0, :, 8].tolist()] == [eighth, AWAY]


@pytest.mark.parametrize(("groups", "want"), [(1, [1, 2, 0, -1]), (2, AWAY)])
def test_conv_2d_of_16_bits_with_a_narrow_bias_and_groups(groups, want):
    x, w = np.repeat(TIES, 2, -1).astype(np.int16), np.zeros((2, 1, 1, 2 // groups), np.int8)
    w[..., 0] = 1
    y = tflite.conv_2d(x, w, np.zeros(2, np.int32), **LAYER, groups=groups, kernel="optimized")
    assert y[0, 0, :, 0].tolist() == want


def test_depthwise_of_16_bits_needs_no_bias():
    y = tflite.depthwise_conv_2d(TIES.astype(np.int16), np.int8([[[[1]]]]), **LAYER, kernel="optimized")
    assert y.ravel().tolist() == [1, 2, 0, -1]


@pytest.mark.parametrize(
    ("kernel", "want"), [("reference", [1, 2, -1, -2]), ("optimized", [1, 2, 0, -1]), ("tflm", [1, 2, 0, -1])]
)
def test_fully_connected_of_16_bits_without_a_bias(kernel, want):
    x, how = np.int16([[1], [3], [-1], [-3]]), {**LAYER, "y_scale": 2.0}
    assert tflite.fully_connected(x, np.int8([[1]]), **how, kernel=kernel).ravel().tolist() == want


@pytest.mark.parametrize(("kernel", "want"), [("reference", [10, 3, 8]), ("tflm", [11, 4, 8])])
def test_abs_of_tflm_has_a_ratio_of_double(kernel, want):
    how = {"x_scale": 14.0, "x_zero_point": 0, "y_scale": 12.0, "y_zero_point": 0, "kernel": kernel}
    assert tflite.abs(np.int8([-9, 3, 7]), **how).tolist() == want


@pytest.mark.parametrize(("kernel", "want"), [("reference", -110), ("tflm", -111)])
def test_batch_matmul_of_tflm_has_a_scale_of_double(kernel, want):
    how = numbers((9.2647123336792, -128), (0.24236667156219482, 30), (4.490914821624756, 127))
    assert tflite.batch_matmul(np.int8([[-123, -119]]), np.int8([[-20], [5]]), **how, kernel=kernel).item() == want


@pytest.mark.parametrize(("kernel", "want"), [("reference", 22981), ("tflm", 22982)])
def test_prelu_of_tflm_has_ratios_of_double(kernel, want):
    how = {"alpha_scale": 0.6882286071777344, "alpha_zero_point": 0, "y_scale": 2.4, "y_zero_point": 0}
    x, alpha = np.int16([-12389]), np.int8([-69])
    assert tflite.prelu(x, alpha, x_scale=0.09375, x_zero_point=0, **how, kernel=kernel).item() == want


def test_sub_of_tflm_has_ratios_of_double():
    how = numbers((1.152626633644104, 0), (136.5639190673828, 0), (3.851715326309204, 0))
    a, b = np.int16([-26603, -30411, -4447, 25667]), np.int16([-1, 0, 6, -8])
    assert tflite.sub(a, b, **how, kernel="tflm").tolist() == [-7925, -9100, -1543, 7964]


@pytest.mark.parametrize("kernel", ["reference", "optimized", "xnnpack", "tflm"])
def test_hard_swish_of_tiny_codes_is_a_step_off(kernel):
    how = {"x_scale": 0.00078125, "x_zero_point": 0, "y_scale": 4.0, "y_zero_point": 0, "kernel": kernel}
    assert tflite.hard_swish(np.int8([-9, 0, 9]), **how).tolist() == [-1, 1, 1]


@pytest.mark.parametrize("kernel", ["reference", "optimized", "xnnpack", "tflm"])
def test_logistic_of_16_bits_wraps_at_large_scales(kernel):
    how = {"x_scale": 8.0, "x_zero_point": 0, "y_scale": 2.0**-15, "y_zero_point": 0, "kernel": kernel}
    assert tflite.logistic(np.int16([-5190, -22915, 21268, 1]), **how).tolist() == [1, 32767, 32767, 32757]


@pytest.mark.parametrize(("kernel", "want"), [("reference", [0, 1, 2, 8]), ("optimized", [1, 2, 3, 8])])
def test_a_negative_slope_of_leaky_relu_is_a_negative_multiplier_in_16_bits(kernel, want):
    got = tflite.leaky_relu(np.int16([-1, -3, -5, 8]), **X, y_scale=1.0, y_zero_point=0, alpha=-0.5, kernel=kernel)
    assert got.tolist() == want


@pytest.mark.parametrize(("kernel", "want"), [("reference", 120), ("optimized", 119)])
def test_resize_bilinear_of_uint8_multiplies_weights_first(kernel, want):
    x = np.uint8([151, 202, 217, 46, 122, 89, 67, 101, 99, 225, 169, 158]).reshape(1, 3, 4, 1)
    assert tflite.resize_bilinear(x, (7, 9), half_pixel_centers=True, kernel=kernel).ravel()[46] == want


@pytest.mark.parametrize(("kernel", "want"), [("reference", 23558), ("optimized", 23559)])
def test_softmax_of_8_to_16_bits_has_a_table_of_floats(kernel, want):
    how = {"x_scale": 0.25, "x_zero_point": 0, "y_scale": 2.0**-16, "y_zero_point": -32768, "y_dtype": "int16"}
    assert tflite.softmax(np.int8([[113, 114, 125, 113]]), **how, kernel=kernel)[0, 2] == want


def test_tflm_does_not_look_at_the_scale_of_a_normalized_result():
    got = tflite.l2_normalization(np.int8([[3, 4]]), **X, y_scale=0.5, y_zero_point=0, kernel="tflm")
    assert got.tolist() == [[77, 102]]


def test_fully_connected_of_16_bits_with_a_wide_bias_has_a_scale_of_double():
    """In float32 the scale is 0.5, in double a little less."""
    how = {"x_scale": 0.05000000074505806, "x_zero_point": 0, "w_scale": 27.12230110168457}
    how |= {"y_scale": 2.7122302055358887, "y_zero_point": 0}
    got = [
        tflite.fully_connected(np.int16([[3]]), np.int8([[1]]), bias, **how, kernel="optimized").item()
        for bias in (np.int64([0]), np.int32([0]))
    ]
    assert got == [1, 2]


def test_pools_of_tflm_demand_one_zero_point():
    x, how = np.int8([[[[1]]]]), {"x_scale": 1.0, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 1}
    for pool in (tflite.average_pool_2d, tflite.max_pool_2d):
        with pytest.raises(ValueError, match=r"^y_zero_point: expected x_zero_point, 0, got 1"):
            pool(x, window=(1, 1), **how, kernel="tflm")


def test_a_scale_near_a_power_of_two_is_taken_for_one():
    """512.34 is taken for 512, and no scale of an operand is the result's, which has to be."""
    how = numbers((512.34130859375, 0), (32789.84375, 0), (65579.6875, 0))
    with pytest.raises(ValueError, match=r"^y_scale: expected the larger of a_scale and b_scale"):
        tflite.sub(np.int16([1]), np.int16([-1178]), **how)
    assert tflite.sub(np.int16([1]), np.int16([-1178]), **how, pot_scale_int16=False).item() == 589


@pytest.mark.parametrize(("kernel", "want"), [("reference", -118), ("tflm", -119)])
def test_svdf_of_tflm_has_ratios_of_double(kernel, want):
    how = {"x_scale": 0.0018749999580904841, "x_zero_point": -128, "feature_scale": 14.134936332702637}
    how |= {"time_scale": 5.9508387494133785e-05, "state_scale": 27.295902252197266, "state_zero_point": 0}
    how |= {"y_scale": 0.10395745187997818, "y_zero_point": -128, "rank": 1, "kernel": kernel}
    x, feature = np.int8([[34, 44, -84, -60]]), np.int8([[-3, 7, 7, 8]])
    time = np.int16([[4, 7, -4, 1, -1, 6, 2, 6, 9]])
    assert tflite.svdf(x, feature, time, np.int32([589]), **how).y.item() == want


@pytest.mark.parametrize(("dtype", "block", "lowest"), [(np.int8, 16, -128), (np.uint8, 8, 0)])
@pytest.mark.parametrize("kernel", ["optimized", "xnnpack"])
def test_mul_wraps_in_whole_blocks(kernel, dtype, block, lowest):
    """32767 + 9 is beyond 16 bits; XNNPACK leaves this scale of 2**9 to the optimised kernel."""
    x = np.full(3 * block + block - 1, 9, dtype)
    y = tflite.mul(x, x, **numbers((1.0, 0), (2.0**9, 0), (1.0, 9)), kernel=kernel)
    assert y.tolist() == [lowest] * 3 * block + [np.iinfo(dtype).max] * (block - 1)


@pytest.mark.parametrize(("zero", "want"), [(0, 0), (1, 2)])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_xnnpack_rounds_tables_half_to_even_with_the_zero_point_inside(dtype, zero, want):
    """0.5 and 1 in steps of 1 and 2 are ties."""
    x = dtype([0])
    assert tflite.logistic(x, **X, y_scale=1.0, y_zero_point=zero, kernel="xnnpack").item() == want
    many = dtype([100])
    how = {"y_scale": 2.0, "y_zero_point": zero}
    assert tflite.tanh(many, **X, **how, kernel="xnnpack").item() == want
    assert tflite.tanh(many, **X, **how, kernel="optimized").item() == 1 + zero


@pytest.mark.parametrize(("x", "scale", "zero", "want"), [(33, 2 / 239, 82, 202), (59, 2 / 23, 114, 125)])
def test_xnnpack_rounds_the_sigmoid_itself_once(x, scale, zero, want):
    """Of 16.5 / 2 the sum 1 + exp(-x) of float32 is off; 59 / 4 is 14.75."""
    step = 0.5 if x == 33 else 0.25
    how = {"x_scale": step, "x_zero_point": 0, "y_scale": float(np.float32(scale)), "y_zero_point": zero}
    assert tflite.logistic(np.uint8([x]), **how, kernel="xnnpack").item() == want


FOLDED = ((2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 8))


@pytest.mark.parametrize("kernel", ["optimized", "xnnpack"])
@pytest.mark.parametrize(
    ("op", "dtype", "by_row", "by_one"),
    [
        (tflite.mul, np.uint8, [0] * 40 + [255] * 7, [9] * 40 + [255] * 7),
        (tflite.mul, np.int8, [-128] * 32 + [127] * 15, [-128] * 32 + [127] * 15),
        (tflite.add, np.uint8, [0] * 40 + [255] * 7, [0] * 40 + [255] * 7),
        (tflite.add, np.int8, [-128] * 32 + [127] * 15, [-128] * 40 + [127] * 7),
    ],
)
def test_shapes_that_broadcast_have_blocks_in_each_row(kernel, op, dtype, by_row, by_one):
    """16 by 16 and 2**8 is 2**16, which one number makes 0 in 16 bits; 32 times 2**10 and 9 more is beyond them."""
    scales = [(1.0, 0), (256.0, 0), (1.0, 9)] if op is tflite.mul else [(1024.0, 0), (1024.0, 0), (1.0, 9)]
    how = {**numbers(*scales), "kernel": kernel}

    def made(a, b):
        return op(np.full(a, 16, dtype), np.full(b, 16, dtype), **how).tolist()

    assert made((2, 47), (1, 47)) == made((1, 47), (2, 47)) == [by_row] * 2
    assert made((2, 1), (1, 47)) == made((47,), (2, 1)) == [by_one] * 2
    assert np.all(made(*FOLDED) == np.int64(np.iinfo(dtype).max))


def test_paddings_beyond_what_numpy_counts_are_named():
    with pytest.raises(ValueError, match=r"^paddings: numpy has no array of shape \(4294967295, 4294967295\) and int8"):
        tflite.pad(np.int8([[1]]), [[2**31 - 1, 2**31 - 1]] * 2, x_zero_point=0, y_zero_point=0)


def test_gelu_of_litert_rounds_the_tanh_to_float32():
    """Of 5 the exact value is 7.4999997 steps, which is nearer to 7.5 than to its neighbours in float32."""
    how = {"x_scale": 2.5, "x_zero_point": 0, "y_scale": float(np.float32(2 / 3)), "y_zero_point": 0}
    for kernel in ("reference", "optimized", "xnnpack"):
        assert tflite.gelu(np.uint8([2]), **how, approximate=True, kernel=kernel).item() == 7


def test_scales_of_rsqrt_whose_product_vanishes_are_named():
    with pytest.raises(ValueError, match=r"^x_scale, y_scale: sqrt\(.*e-41\) \* .*e-41 is 0 in float32"):
        tflite.rsqrt(np.int8([5]), x_scale=np.float32(1e-40), x_zero_point=0, y_scale=np.float32(1e-40), y_zero_point=0)


LSTM = {"x_scale": 0.1, "x_zero_point": 0, "w_scale": 0.3, "r_scale": 0.7, "hidden_scale": 1 / 127}
LSTM |= {"hidden_zero_point": 0, "cell_scale": 2.0**-4}


@pytest.mark.parametrize(("kernel", "product"), [("reference", np.float32), ("tflm", np.float64)])
def test_products_of_scales_of_lstm_are_double_in_tflm(kernel, product):
    w, r, b = np.ones((4, 1, 1), np.int8), np.ones((4, 1, 1), np.int8), np.zeros((4, 1), np.int32)
    how = {**LSTM, "cell_scale": 2.0**-11}
    found = tflite.UnidirectionalSequenceLstm(w, r, b, **how, cell_clip=0.0, dtype="int8", kernel=kernel).integers
    for name, scales in (("input", ("x_scale", "w_scale")), ("recurrent", ("hidden_scale", "r_scale"))):
        x, y = (product(np.float32(how[scale])) for scale in scales)
        fraction, _ = np.frexp(float(x * y))
        assert found[f"{name}_multiplier"].tolist() == [round(float(fraction) * 2**31)] * 4


def test_a_clip_below_a_step_of_the_cell_makes_it_0_in_tflm():
    w, r, b = np.full((4, 1, 1), 100, np.int8), np.zeros((4, 1, 1), np.int8), np.zeros((4, 1), np.int32)
    x, how = np.int8([[[100]]]), {**LSTM, "kernel": "tflm"}
    assert tflite.unidirectional_sequence_lstm(x, w, r, b, **how, cell_clip=0.0624).cell.item() == 0
    assert tflite.unidirectional_sequence_lstm(x, w, r, b, **how, cell_clip=0.0626).cell.item() == 1
    assert tflite.unidirectional_sequence_lstm(x, w, r, b, **how).cell.item() > 1


def test_an_optimised_convolution_of_uint8_with_groups_is_that_of_the_reference():
    """LiteRT 2.3.0 has groups in its reference code only: of -4.5 that rounds half away, the optimised one half up."""
    x, w, bias = np.full((1, 1, 1, 2), 9, np.uint8), np.zeros((2, 1, 1, 1), np.uint8), np.zeros(2, np.int32)
    how = {"x_scale": 0.5, "x_zero_point": 0, "w_scale": 0.5, "y_scale": 1.0, "y_zero_point": 100}
    how |= {"w_zero_point": 2, "w_type": "uint8"}
    for kernel in ("reference", "optimized"):
        assert tflite.conv_2d(x, w, bias, groups=2, kernel=kernel, **how).ravel().tolist() == [95, 95]
    one = np.uint8([0, 2]).reshape(1, 1, 1, 2)
    assert tflite.conv_2d(x, one, bias[:1], kernel="optimized", **how).item() == 96


@pytest.mark.parametrize("kernel", ["reference", "optimized", "xnnpack"])
def test_gelu_rounds_each_step_to_float32(kernel):
    """5.13 is 85.5 steps, and its GELU in double is less than that."""
    how = {"x_scale": 0.03, "x_zero_point": -97, "y_scale": 0.06, "y_zero_point": 0}
    assert tflite.gelu(np.int8([74]), **how, kernel=kernel) == 86


@pytest.mark.parametrize(
    ("kernel", "want"),
    [
        *((kernel, [12480, 12480, 7810]) for kernel in ("reference", "optimized", "xnnpack")),
        ("tflm", [12479, 12479, 7809]),
    ],
)
def test_litert_makes_the_tables_of_a_softmax_of_16_bits_in_double(kernel, want):
    how = {"x_scale": 2.0**-5, "x_zero_point": 0, "y_scale": 2.0**-15, "y_zero_point": 0}
    assert tflite.softmax(np.int16([0, 0, -15]), **how, kernel=kernel).tolist() == want


def test_log_softmax_in_fixed_point_takes_no_scale_whose_factor_is_0():
    given = {"x_scale": 1e-45, "x_zero_point": 0, "y_scale": 1 / 16, "y_zero_point": 127}
    with pytest.raises(ValueError, match=r"^x_scale: expected one whose factor of differences is not 0, got 1\.4"):
        tflite.log_softmax(np.int8([[1, 2]]), **given)
    assert tflite.log_softmax(np.int8([[1, 2]]), **given, kernel="optimized").tolist() == [[116, 116]]
