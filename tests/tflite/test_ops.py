"""TFLite's ops against slow twins in Python's integers, where golden vectors are few."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from equal import equal

from qops import tflite
from qops.tflite.kernels import KERNELS

EVERY = np.arange(-128, 128).astype(np.int8)
A, B = (x.ravel() for x in np.meshgrid(EVERY, EVERY, indexing="ij"))
PAIR = {"a_scale": 0.11, "a_zero_point": 3, "b_scale": 0.07, "b_zero_point": -5, "y_scale": 0.13, "y_zero_point": 9}


def half_up(x, over=1):
    return (2 * x + over) // (2 * over)


def half_away(x, over=1):
    return half_up(x, over) if x >= 0 else -half_up(-x, over)


def multiplier(scale):
    m, e = math.frexp(scale)
    q = half_away(Fraction(m) * 2**31)
    return (q // 2, e + 1) if q == 2**31 else (q, e)


def scaled(x, by):
    """MultiplyByQuantizedMultiplier."""
    m, e = by
    return half_away(half_up((x << max(e, 0)) * m, 2**31), 2 ** max(-e, 0))


def clamp(x):
    return max(-128, min(127, x))


def f32(x):
    return float(np.float32(x))


@pytest.mark.long
def test_add_of_all_pairs_is_the_reference():
    a, b, y = (f32(PAIR[f"{name}_scale"]) for name in "aby")
    twice = 2 * max(a, b)
    by = [multiplier(scale) for scale in (a / twice, b / twice, twice / (2**20 * y))]
    left = {q: scaled((q - 3) << 20, by[0]) for q in EVERY.tolist()}
    right = {q: scaled((q + 5) << 20, by[1]) for q in EVERY.tolist()}
    want = [clamp(scaled(left[p] + right[q], by[2]) + 9) for p, q in product(EVERY.tolist(), repeat=2)]
    for kernel in ("reference", "tflm"):
        assert tflite.add(A, B, **PAIR, kernel=kernel).tolist() == want
    got = tflite.add(A.reshape(256, 256), B.reshape(256, 256)[:1], **PAIR)
    equal(got, np.int8(want).reshape(256, 256)[np.ix_(range(256), range(256))])


@pytest.mark.long
def test_mul_of_all_pairs_is_the_reference():
    a, b, y = (np.float32(PAIR[f"{name}_scale"]) for name in "aby")
    by = {"reference": multiplier(float(np.float32(a * b) / y)), "tflm": multiplier(float(a) * float(b) / float(y))}
    for kernel, factor in by.items():
        products = [(p - 3) * (q + 5) for p, q in product(EVERY.tolist(), repeat=2)]
        code = {x: clamp(scaled(x, factor) + 9) for x in {*products}}
        want = [code[x] for x in products]
        assert tflite.mul(A, B, **PAIR, kernel=kernel).tolist() == want


def twin_of_conv(x, w, bias, zero, stride, dilation, groups):
    """Sums of a convolution without padding, in Python's integers."""
    n, height, width, _ = x.shape
    count, kh, kw, depth = w.shape
    axes = zip((height, width), (kh, kw), stride, dilation, strict=True)
    oh, ow = ((size - (k - 1) * d - 1) // s + 1 for size, k, s, d in axes)
    made = np.empty((n, oh, ow, count), object)
    for at in np.ndindex(made.shape):
        first, total = at[3] // (count // groups) * depth, int(bias[at[3]])
        for i, j, c in np.ndindex(kh, kw, depth):
            pixel = x[at[0], at[1] * stride[0] + i * dilation[0], at[2] * stride[1] + j * dilation[1], first + c]
            total += (int(pixel) - zero) * int(w[at[3], i, j, c])
        made[at] = total
    return made


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("groups", [1, 2])
def test_conv_is_the_sum_of_products(dtype, groups):
    rng = np.random.default_rng(7)
    top = np.iinfo(dtype).max
    x = rng.integers(-top - 1, top, (2, 5, 6, 4)).astype(dtype)
    w, bias = rng.integers(-128, 128, (6, 2, 3, 4 // groups)).astype(np.int8), rng.integers(-9999, 9999, 6)
    zero = 7 if dtype == np.int8 else 0
    scales, y_scale = np.float32(rng.random(6) + 0.1), f32(300.0 if dtype == np.int8 else 2000.0)
    sums = twin_of_conv(x, w, bias, zero, (2, 1), (1, 2), groups)
    given = {"x_scale": 0.5, "x_zero_point": zero, "w_scale": scales, "y_scale": y_scale, "y_zero_point": 0}
    how = {"stride": (2, 1), "dilation": (1, 2), "groups": groups}
    got = tflite.conv_2d(x, w, bias.astype(np.int32 if dtype == np.int8 else np.int64), **given, **how)
    for at in np.ndindex(got.shape):
        m, e = multiplier(0.5 * float(scales[at[3]]) / y_scale)
        if dtype == np.int8:
            want = clamp(scaled(sums[at], (m, e)))
        else:
            reduced = min((m + 2**15) >> 16, 0x7FFF)
            want = max(-top - 1, min(top, half_up(sums[at] * reduced, Fraction(2) ** (15 - e))))
        assert got[at] == want, at
    assert len({*got.ravel().tolist()}) > 20


def test_the_last_channels_of_an_optimised_depthwise_are_the_references():
    rng = np.random.default_rng(8)
    x, w = rng.integers(-128, 128, (1, 9, 9, 7)).astype(np.int8), rng.integers(-128, 128, (1, 3, 3, 21)).astype(np.int8)
    given = {"x_scale": 0.5, "x_zero_point": 3, "w_scale": 1.0, "y_scale": 40.0, "y_zero_point": 0}
    how = given | {"depth_multiplier": 3}
    every = {k: tflite.depthwise_conv_2d(x, w, np.zeros(21, np.int32), **how, kernel=k) for k in KERNELS}
    equal(every["optimized"][..., 16:], every["reference"][..., 16:])
    assert (every["optimized"][..., :16] != every["reference"][..., :16]).any()
    equal(every["tflm"], every["reference"])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [(1, 1), (2, 3), (4, 2)])
def test_transpose_conv_scatters(padding, stride):
    rng = np.random.default_rng(9)
    x, w = rng.integers(-9, 9, (2, 3, 4, 2)).astype(np.int8), rng.integers(-9, 9, (3, 3, 2, 2)).astype(np.int8)
    size = [n * s if padding == "SAME" else (n - 1) * s + k for n, s, k in zip((3, 4), stride, (3, 2), strict=True)]
    before = [max((n - 1) * s + k - o, 0) // 2 for n, s, k, o in zip((3, 4), stride, (3, 2), size, strict=True)]
    want = np.zeros((2, *size, 3), int)
    for n, i, j in np.ndindex(2, 3, 4):
        for o, p, q in np.ndindex(3, 3, 2):
            at = i * stride[0] + p - before[0], j * stride[1] + q - before[1]
            if 0 <= at[0] < size[0] and 0 <= at[1] < size[1]:
                want[n, at[0], at[1], o] += int((x[n, i, j].astype(int) - 2) @ w[o, p, q].astype(int))
    given = {"x_scale": 1.0, "x_zero_point": 2, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 0}
    got = tflite.transpose_conv(x, np.int32([2, *size, 3]), w, stride=stride, padding=padding, **given)
    equal(got, np.clip(want, -128, 127))
    made = tflite.TransposeConv(np.int32([2, *size, 3]), w, stride=stride, padding=padding, **given)
    cut = dict(zip(("pad_top", "pad_left"), before, strict=True))
    assert made.integers == {"stride_h": stride[0], "stride_w": stride[1], **cut}


def test_sums_of_16_by_8_bits_that_do_not_fit_are_refused():
    given = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 0}
    w = np.full((1, 65794), -128, np.int8)
    most = np.full((1, 65793), 32767, np.int16)
    assert tflite.fully_connected(most, w[:, :-1], **given, kernel="tflm").tolist() == [[-32768]]
    with pytest.raises(ValueError, match=r"^w: expected at most 65793 products"):
        tflite.fully_connected(np.zeros((1, 65794), np.int16), w, **given)


UNARY = {
    "tanh": (math.tanh, {"y_scale": 1 / 128}),
    "exp": (math.exp, {}),
    "log": (lambda v: math.log(v) if v > 0 else -99, {}),
    "elu": (lambda v: v if v >= 0 else math.expm1(v), {"kernel": "optimized"}),
    "gelu": (lambda v: 0.5 * v * math.erfc(-v / math.sqrt(2)), {}),
    "logistic": (lambda v: 1 / (1 + math.exp(-v)), {"y_scale": 1 / 256, "y_zero_point": -128}),
    "hard_swish": (lambda v: v * min(max(v + 3, 0), 6) / 6, {}),
    "relu6": (lambda v: min(max(v, 0), 6), {}),
    "abs": (abs, {}),
}


@pytest.mark.parametrize("name", UNARY)
def test_tables_are_within_a_step_of_the_real_function(name):
    function, changes = UNARY[name]
    how = {"x_scale": 0.04, "x_zero_point": 5, "y_scale": 0.05, "y_zero_point": -20} | changes
    got = getattr(tflite, name)(EVERY, **how)
    for code, made in zip(EVERY.tolist(), got.tolist(), strict=True):
        want = function((code - 5) * f32(0.04)) / f32(how["y_scale"]) + how["y_zero_point"]
        assert abs(made - min(max(want, -128), 127)) <= (0.51 if name != "hard_swish" else 1.5), code


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_softmax_is_near_and_sums_to_one(kernel, dtype):
    x = np.random.default_rng(5).integers(-99, 99, (40, 30)).astype(dtype)
    y_scale, zero = (1 / 256, -128) if dtype == np.int8 else (2.0**-15, 0)
    got = tflite.softmax(x, x_scale=0.02, x_zero_point=0, y_scale=y_scale, y_zero_point=zero, kernel=kernel)
    real = np.exp(f32(0.02) * x) / np.exp(f32(0.02) * x).sum(1, keepdims=True)
    assert np.abs((got - float(zero)) * y_scale - real).max() <= (1.01 if dtype == np.int8 else 3) * y_scale


def test_a_hazard_of_fully_connected():
    """Only the reference gives the lowest code to sums that are far too large."""
    given = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 0.004, "y_zero_point": 0}
    x = np.full((1, 1000), 127, np.int8)
    for kernel, code in (("reference", -128), ("xnnpack", 127)):
        assert tflite.fully_connected(x, x, **given, kernel=kernel).tolist() == [[code]]


def test_the_state_of_svdf_goes_on():
    given = {"x_scale": 1.0, "x_zero_point": 0, "feature_scale": 1.0, "time_scale": 1.0, "state_scale": 1.0}
    op = tflite.Svdf(
        np.int8([[1], [2]]), np.int16([[1, 10, 100], [0, 0, 1]]), **given, y_scale=1.0, y_zero_point=0, rank=2
    )
    state, made = None, []
    for x in (1, 0, 0, 0):
        y, state = op(np.int8([[x]]), state)
        made.append(y.item())
    assert made == [102, 10, 1, 0]


@pytest.mark.parametrize("bits", [20, 31, 40])
def test_sums_of_48_bits_of_a_fully_connected_are_rounded_whatever_the_scale(bits):
    """The scale of the result is that of the largest sum: a small scale must not make sums narrow."""
    w, x = np.full((1, 2**9), 127, np.int8), np.full((1, 2**9), 32767, np.int16)
    acc, y_scale = 127 * 32767 * 2**9, 2.0 ** (bits - 20)
    got = tflite.fully_connected(x, w, x_scale=1.0, x_zero_point=0, w_scale=2.0**-12, y_scale=y_scale, y_zero_point=0)
    exact = Fraction(acc, 2**12) / Fraction(y_scale)
    assert got.item() == min(32767, math.floor(exact + Fraction(1, 2)))
