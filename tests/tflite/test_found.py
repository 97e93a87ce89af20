"""What LiteRT 2.3.0 and the tflite-micro wheel of 2026-10-23 gave in random calls and golden vectors do not tell."""

import numpy as np
import pytest

from qops import tflite

X = {"x_scale": 1.0, "x_zero_point": 0}
FOLDED = ((2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 8))


def numbers(a, b, y):
    """Scales and zero points of a, b and y."""
    each = zip("aby", (a, b, y), strict=True)
    return {f"{name}_{word}": one[i] for name, one in each for i, word in enumerate(("scale", "zero_point"))}


@pytest.mark.parametrize(
    ("x", "zeros", "want"), [([-125], (-128, 16), 17), ([-113], (-128, 16), 19), ([-41], (-128, 16), 31)]
)
def test_xnnpack_takes_the_zero_points_of_a_mean_from_the_zero_point_of_the_result(x, zeros, want):
    """In float32, so that what is nearly a tie, such as 30.5, is not rounded to even."""
    how = {"x_scale": 0.25, "x_zero_point": zeros[0], "y_scale": 1.5, "y_zero_point": zeros[1], "kernel": "xnnpack"}
    assert tflite.mean(np.int8(x), 0, **how) == want
    assert tflite.sum(np.int8(x), 0, **how) == want


@pytest.mark.parametrize(("kernel", "want"), [("reference", [10, 3, 8]), ("tflm", [11, 4, 8])])
def test_abs_of_tflm_has_a_ratio_of_double(kernel, want):
    how = {"x_scale": 14.0, "x_zero_point": 0, "y_scale": 12.0, "y_zero_point": 0, "kernel": kernel}
    assert tflite.abs(np.int8([-9, 3, 7]), **how).tolist() == want


@pytest.mark.parametrize(("kernel", "want"), [("reference", -110), ("tflm", -111)])
def test_batch_matmul_of_tflm_has_a_scale_of_double(kernel, want):
    how = numbers((9.2647123336792, -128), (0.24236667156219482, 30), (4.490914821624756, 127))
    assert tflite.batch_matmul(np.int8([[-123, -119]]), np.int8([[-20], [5]]), **how, kernel=kernel).item() == want


@pytest.mark.parametrize("kernel", ["optimized", "xnnpack"])
def test_batch_matmul_that_xnnpack_does_not_take_has_the_scale_of_the_next_kernels(kernel):
    """Matrices of 16 bits, and a zero point of the second one: XNNPACK's scale of float32 would give -60 and 4058."""
    how = numbers((0.58, 0), (0.2, 1), (19.077, 0))
    assert tflite.batch_matmul(np.int8([[127, -43]]), np.int8([[-77], [2]]), **how, kernel=kernel).item() == -61
    how = numbers((0.37, 0), (0.45, 0), (6243.01220703125, 0))
    assert tflite.batch_matmul(np.int16([[30000, 5665]]), np.int16([[5071], [1]]), **how, kernel=kernel).item() == 4057


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


def test_a_scale_near_a_power_of_two_is_taken_for_one():
    """512.34 is taken for 512, and no scale of an operand is the result's, which has to be."""
    how = numbers((512.34130859375, 0), (32789.84375, 0), (65579.6875, 0))
    with pytest.raises(ValueError, match=r"^y_scale: expected the larger of a_scale and b_scale"):
        tflite.sub(np.int16([1]), np.int16([-1178]), **how)
    assert tflite.sub(np.int16([1]), np.int16([-1178]), **how, pot_scale_int16=False).item() == 589


@pytest.mark.parametrize(("dtype", "block", "lowest"), [(np.int8, 16, -128), (np.uint8, 8, 0)])
@pytest.mark.parametrize("kernel", ["optimized", "xnnpack"])
def test_mul_wraps_in_whole_blocks(kernel, dtype, block, lowest):
    """32767 + 1 is beyond 16 bits; XNNPACK leaves this scale of 2**9 to the optimised kernel."""
    x = np.full(3 * block + block - 1, 9, dtype)
    y = tflite.mul(x, x, **numbers((1.0, 0), (2.0**9, 0), (1.0, 1)), kernel=kernel)
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


def test_gelu_of_litert_rounds_the_tanh_to_float32():
    """Of 5 the exact value is 7.4999997 steps, which is nearer to 7.5 than to its neighbours in float32."""
    how = {"x_scale": 2.5, "x_zero_point": 0, "y_scale": float(np.float32(2 / 3)), "y_zero_point": 0}
    for kernel in ("reference", "optimized", "xnnpack"):
        assert tflite.gelu(np.uint8([2]), **how, approximate=True, kernel=kernel).item() == 7


def test_scales_of_rsqrt_whose_product_vanishes_are_named():
    with pytest.raises(ValueError, match=r"^x_scale, y_scale: sqrt\(.*e-41\) \* .*e-41 is 0"):
        tflite.rsqrt(np.int8([5]), x_scale=np.float32(1e-40), x_zero_point=0, y_scale=np.float32(1e-40), y_zero_point=0)


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


@pytest.mark.parametrize(("kernel", "near", "far"), [("reference", 226, 0), ("optimized", 227, 6)])
def test_log_softmax_of_uint8_is_in_fixed_point_in_the_reference(kernel, near, far):
    """Of floats, the largest value and the logarithm of 6 are added first, so that some bits of the latter are lost."""
    how = {"x_zero_point": 0, "y_scale": 1 / 16, "y_zero_point": 255, "kernel": kernel}
    assert tflite.log_softmax(np.uint8([255, 6]), x_scale=1 / 16, **how).tolist() == [255, far]
    x = np.uint8([119] * 6 + [110])
    assert tflite.log_softmax(x, x_scale=3584.0, **how).tolist() == [near] * 6 + [0]


def test_log_softmax_of_floats_has_code_0_for_what_is_no_number():
    how = {"x_scale": 3e38, "x_zero_point": 0, "y_scale": 1 / 16, "y_zero_point": 127, "kernel": "optimized"}
    assert tflite.log_softmax(np.int8([-128, 127, 126]), **how).tolist() == [-128, 0, 0]


def test_log_softmax_in_fixed_point_takes_no_scale_whose_factor_is_0():
    given = {"x_scale": 1e-45, "x_zero_point": 0, "y_scale": 1 / 16, "y_zero_point": 127}
    with pytest.raises(ValueError, match=r"^x_scale: expected one whose factor of differences is not 0, got 1\.4"):
        tflite.log_softmax(np.int8([[1, 2]]), **given)
    assert tflite.log_softmax(np.int8([[1, 2]]), **given, kernel="optimized").tolist() == [[116, 116]]


def test_paddings_of_a_huge_shape_without_elements_are_refused_at_once():
    with pytest.raises(ValueError, match=r"^paddings: expected \(before, after\) .*shape=\(1048576"):
        tflite.pad(np.int8([1]), np.zeros((2**20, 2**20, 0, 2**18), np.int32), x_zero_point=0, y_zero_point=0)


def test_paddings_beyond_what_numpy_counts_are_named():
    with pytest.raises(ValueError, match=r"^paddings: numpy has no array of shape \(4294967295, 4294967295\) and int8"):
        tflite.pad(np.int8([[1]]), [[2**31 - 1, 2**31 - 1]] * 2, x_zero_point=0, y_zero_point=0)


@pytest.mark.parametrize(("ratio", "want"), [(2.0**-8, 0), (2.0**-8 * 0.99999, -1)])
def test_xnnpack_rounds_half_up_with_factors_from_1_256_on(ratio, want):
    """-128 / 256 is a tie; a factor below is left to the next kernel, which rounds twice."""
    x, how = np.int8([-128]), {"x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0, "kernel": "xnnpack"}
    assert tflite.quantize(x, x_scale=ratio, **how).item() == want
    assert tflite.leaky_relu(x, x_scale=1.0, alpha=ratio, **how).item() == want


def test_quantize_of_what_int32_does_not_hold_wraps_with_the_zero_point():
    x = np.float32([3e38, -3e38, np.inf, -np.inf])
    how = {"y_scale": 0.0625, "y_zero_point": -128, "dtype": "int8"}
    for kernel in ("reference", "optimized", "tflm"):
        assert tflite.quantize(x, **how, kernel=kernel).tolist() == [127] * 4
    assert tflite.quantize(x, **how, kernel="xnnpack").tolist() == [127, -128, 127, -128]


@pytest.mark.parametrize(
    ("kernel", "x", "want"),
    [("reference", [17939, 18144], [31335, 31158]), ("tflm", [18442, 26270], [30902, 25891])],
)
def test_rsqrt_of_16_bits_rounds_as_each_library_does(kernel, x, want):
    """LiteRT rounds the root and its inverse to float32; TFLM makes its scale in double."""
    how = {"x_scale": 6.100599784986116e-05, "x_zero_point": 0, "y_scale": 3.0506596885970794e-05, "y_zero_point": 0}
    assert tflite.rsqrt(np.int16(x), **how, kernel=kernel).tolist() == want


def test_svdf_of_tflm_adds_the_zero_point_of_the_state_behind_the_clamp():
    """200 is clamped to 127, and 127 + 18 wraps to -111, which is -129 steps."""
    how = {"x_scale": 1.0, "x_zero_point": 0, "feature_scale": 1.0, "time_scale": 1.0, "state_scale": 1.0}
    how |= {"y_scale": 2.0, "y_zero_point": 0, "state_zero_point": 18, "kernel": "tflm"}
    y, state = tflite.svdf(np.int8([[100]]), np.int8([[2]]), np.int8([[1]]), **how)
    assert state.tolist() == [[-111]]
    assert y.tolist() == [[-64]]
