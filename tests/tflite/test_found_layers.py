"""What `test_found` says, of layers, windows and steps of recurrent layers."""

import numpy as np
import pytest

from qops import tflite

TIES = np.int8([2, 6, -2, -6]).reshape(1, 1, 4, 1)
AWAY, EVEN = [1, 2, -1, -2], [0, 2, 0, -2]
"""A half, one and a half, and the same below 0, rounded."""
LAYER = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 4.0, "y_zero_point": 0}
LSTM = {"x_scale": 0.1, "x_zero_point": 0, "w_scale": 0.3, "r_scale": 0.7, "hidden_scale": 1 / 127}
LSTM |= {"hidden_zero_point": 0, "cell_scale": 2.0**-4}


@pytest.mark.parametrize(("kernel", "zero", "want"), [("optimized", 0, 1), ("xnnpack", 0, 0), ("xnnpack", 1, 1)])
def test_xnnpack_rounds_limits_of_activations_with_the_zero_point_inside(kernel, zero, want):
    """6 is half a step of 12: half away from 0 that is one step, half to even the even code."""
    x = np.int8([100])
    steps = {"a_scale": 4.0, "a_zero_point": 0, "b_scale": 4.0, "b_zero_point": 0}
    how = {**steps, "y_scale": 12.0, "y_zero_point": zero}
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


@pytest.mark.parametrize("kernel", ["reference", "optimized", "xnnpack", "tflm"])
def test_fully_connected_of_16_bits_with_a_narrow_bias_and_a_small_scale(kernel):
    """The sum is 30000 * 100 - 20000 * 50 + 10000, the code 11.5013."""
    x, w, bias = np.int16([[30000, -20000]]), np.int8([[100, 50], [-100, -50]]), np.int32([10000, -10000])
    how = {**LAYER, "x_scale": 1.5 * 2.0**-18, "y_scale": 1.0}
    assert tflite.fully_connected(x, w, bias, **how, kernel=kernel).tolist() == [[12, -12]]


def test_fully_connected_of_16_by_16_bits_adds_its_bias():
    how = {**LAYER, "y_scale": 1.0, "w_type": "int16"}
    for bias in (np.int32([100]), np.int64([100])):
        assert tflite.fully_connected(np.int16([[3, -4]]), np.int16([[50, 7]]), bias, **how).item() == 150 - 28 + 100


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


@pytest.mark.parametrize(("kernel", "want"), [("reference", -118), ("tflm", -119)])
def test_svdf_of_tflm_has_ratios_of_double(kernel, want):
    how = {"x_scale": 0.0018749999580904841, "x_zero_point": -128, "feature_scale": 14.134936332702637}
    how |= {"time_scale": 5.9508387494133785e-05, "state_scale": 27.295902252197266, "state_zero_point": 0}
    how |= {"y_scale": 0.10395745187997818, "y_zero_point": -128, "rank": 1, "kernel": kernel}
    x, feature = np.int8([[34, 44, -84, -60]]), np.int8([[-3, 7, 7, 8]])
    time = np.int16([[4, 7, -4, 1, -1, 6, 2, 6, 9]])
    assert tflite.svdf(x, feature, time, np.int32([589]), **how).y.item() == want


@pytest.mark.parametrize(("kernel", "product"), [("reference", np.float32), ("tflm", np.float64)])
def test_products_of_scales_of_lstm_are_double_in_tflm(kernel, product):
    w, r, b = np.ones((4, 1, 1), np.int8), np.ones((4, 1, 1), np.int8), np.zeros((4, 1), np.int32)
    how = {**LSTM, "cell_scale": 2.0**-11}
    found = tflite.UnidirectionalSequenceLstm(w, r, b, **how, cell_clip=0.0, dtype="int8", kernel=kernel).integers
    for name, scales in (("input", ("x_scale", "w_scale")), ("recurrent", ("hidden_scale", "r_scale"))):
        x, y = (product(np.float32(how[scale])) for scale in scales)
        fraction, _ = np.frexp(float(x * y))
        assert found[f"{name}_multiplier"].tolist() == [round(float(fraction) * 2**31)] * 4
    fraction, _ = np.frexp(product(2.0**-15) / product(np.float32(how["hidden_scale"])) * product(2.0**-15))
    assert found["output_multiplier"] == round(float(fraction) * 2**31)


def test_a_clip_below_a_step_of_the_cell_makes_it_0_in_tflm():
    w, r, b = np.full((4, 1, 1), 100, np.int8), np.zeros((4, 1, 1), np.int8), np.zeros((4, 1), np.int32)
    x, how = np.int8([[[100]]]), {**LSTM, "kernel": "tflm"}
    assert tflite.unidirectional_sequence_lstm(x, w, r, b, **how, cell_clip=0.0624).cell.item() == 0
    assert tflite.unidirectional_sequence_lstm(x, w, r, b, **how, cell_clip=0.0626).cell.item() == 1
    assert tflite.unidirectional_sequence_lstm(x, w, r, b, **how).cell.item() > 1
    how |= {"kernel": "reference", "cell_scale": 2.0**-11}  # LiteRT does not clip then
    assert tflite.unidirectional_sequence_lstm(x, w, r, b, **how, cell_clip=2.0**-12).cell.item() > 1


def test_an_optimised_convolution_of_uint8_with_groups_is_that_of_the_reference():
    """LiteRT 2.3.0 has groups in its reference code only: of -4.5 that rounds half away, the optimised one half up."""
    x, w, bias = np.full((1, 1, 1, 2), 9, np.uint8), np.zeros((2, 1, 1, 1), np.uint8), np.zeros(2, np.int32)
    how = {"x_scale": 0.5, "x_zero_point": 0, "w_scale": 0.5, "y_scale": 1.0, "y_zero_point": 100}
    how |= {"w_zero_point": 2, "w_type": "uint8"}
    for kernel in ("reference", "optimized"):
        assert tflite.conv_2d(x, w, bias, groups=2, kernel=kernel, **how).ravel().tolist() == [95, 95]
    one = np.uint8([0, 2]).reshape(1, 1, 1, 2)
    assert tflite.conv_2d(x, one, bias[:1], kernel="optimized", **how).item() == 96
