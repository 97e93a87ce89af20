"""ConvInteger and QLinearConv beside their slow twins, over one to four axes, and what they refuse."""

import numpy as np
import pytest
import reference_onnx as twin
from equal import equal
from ops import on_every_tier, same

from qops import onnx

WINDOWS = {  # shape of x, shape of w, attributes
    "1-D": ((2, 3, 9), (4, 3, 3), {}),
    "1-D, all": ((1, 4, 11), (6, 2, 3), {"group": 2, "strides": [2], "dilations": [2], "pads": [1, 3]}),
    "2-D": ((2, 3, 6, 5), (4, 3, 2, 3), {}),
    "2-D, pads and strides": ((1, 2, 6, 7), (3, 2, 3, 2), {"pads": [1, 0, 2, 1], "strides": [2, 3]}),
    "2-D, dilations": ((1, 2, 9, 8), (3, 2, 3, 2), {"dilations": [2, 3], "pads": [2, 1, 0, 1]}),
    "2-D, groups": ((2, 6, 5, 5), (9, 2, 2, 2), {"group": 3}),
    "2-D, depthwise": ((1, 5, 6, 6), (5, 1, 3, 3), {"group": 5, "pads": [1, 1, 1, 1]}),
    "2-D, depthwise, two each": ((1, 3, 5, 4), (6, 1, 3, 2), {"group": 3}),
    "2-D, one filter": ((1, 3, 4, 4), (1, 3, 2, 2), {}),
    "2-D, no images": ((0, 3, 4, 4), (2, 3, 2, 2), {}),
    "same upper": ((1, 2, 6, 7), (3, 2, 4, 2), {"auto_pad": "SAME_UPPER", "strides": [3, 2]}),
    "same lower": ((1, 2, 6, 7), (3, 2, 4, 2), {"auto_pad": "SAME_LOWER", "strides": [1, 2]}),
    "same, dilated": ((1, 1, 7, 7), (2, 1, 2, 3), {"auto_pad": "SAME_LOWER", "dilations": [3, 1]}),
    "same, stride above kernel": ((1, 1, 7, 8), (2, 1, 1, 2), {"auto_pad": "SAME_UPPER", "strides": [3, 4]}),
    "valid": ((1, 2, 6, 7), (3, 2, 4, 2), {"auto_pad": "VALID", "strides": [1, 2]}),
    "3-D": ((2, 2, 5, 4, 6), (3, 2, 2, 3, 2), {"pads": [1, 0, 1, 2, 1, 0], "strides": [2, 1, 3]}),
    "3-D, groups": ((1, 4, 6, 3, 4), (4, 2, 2, 2, 2), {"group": 2, "dilations": [3, 1, 2]}),
    "3-D, same": ((1, 2, 5, 4, 6), (2, 2, 3, 2, 2), {"auto_pad": "SAME_LOWER", "strides": [2, 1, 3]}),
    "4-D": ((2, 2, 3, 4, 3, 4), (2, 2, 2, 1, 2, 2), {"pads": [0, 1, 0, 1, 1, 0, 0, 1]}),
}
TYPES = [(x, w) for x in (np.uint8, np.int8) for w in (np.uint8, np.int8)]


def codes(rng, shape, dtype):
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, endpoint=True), dtype)


@pytest.mark.parametrize(("x_type", "w_type"), TYPES)
@pytest.mark.parametrize("window", WINDOWS)
def test_conv_integer_is_its_twin(rng, window, x_type, w_type):
    x_shape, w_shape, attributes = WINDOWS[window]
    x, w = codes(rng, x_shape, x_type), codes(rng, w_shape, w_type)
    for zeros in ((), (codes(rng, (), x_type), codes(rng, (w_shape[0],), w_type))):
        want = twin.conv(x, w, *(zeros or (0, 0)), **attributes)
        same(onnx.conv_integer(x, w, *zeros, **attributes), want)
        assert want.any() or not want.size


def quantized(rng, window, per, x_type, w_type, runtime):
    """Arguments of a qlinear_conv whose codes fill their range, and its result by the twin."""
    x_shape, w_shape, attributes = WINDOWS[window]
    filters = w_shape[0]
    x, w, bias = codes(rng, x_shape, x_type), codes(rng, w_shape, w_type), codes(rng, (filters,), np.int16)
    shape = (filters,) if per == "channel" else ()
    zx, zw, zy = (
        codes(rng, (), x_type),
        codes(rng, shape, w_type),
        x_type(rng.integers(100, 160) + np.iinfo(x_type).min),
    )
    acc = twin.conv(x, w, zx, zw, **attributes) + bias.reshape(-1, *(1,) * (x.ndim - 2))
    sx, sw = np.float32(0.3), np.float32(2.0 ** rng.integers(-4, 1, shape) * rng.choice([1, 1.1], shape))
    sy = np.float32(sx * np.mean(sw) * np.abs(acc).mean() / 50)
    want = np.empty(acc.shape, x_type)
    for index in np.ndindex(acc.shape):
        scale = sw[index[1]] if per == "channel" else sw
        want[index] = twin.requantized(int(acc[index]), sx, scale, sy, int(zy), x_type, runtime)
    given = (x, sx, zx, w, sw, zw, sy, zy, bias.astype(np.int32))
    return given, {**attributes, "runtime": runtime}, want


def in_any_order(shape, dtype):
    """Results in C order, with the channels last, and with room between all elements."""
    yield np.zeros(shape, dtype)
    yield np.moveaxis(np.zeros((shape[0], *shape[2:], shape[1]), dtype), -1, 1)
    yield np.zeros([2 * size for size in shape], dtype)[tuple(slice(None, None, 2) for _ in shape)]


RUN = [(window, runtime) for window in WINDOWS for runtime in ("onnx", "ort")]
RUN = [one for one in RUN if one[0] != "2-D, no images" and one != ("same, dilated", "ort")]  # which ort refuses


@pytest.mark.parametrize("per", ["tensor", "channel"])
@pytest.mark.parametrize(("x_type", "w_type"), [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
@pytest.mark.parametrize(("window", "runtime"), RUN)
def test_qlinear_conv_is_its_twin(rng, window, x_type, w_type, per, runtime):
    given, how, want = quantized(rng, window, per, x_type, w_type, runtime)
    got = onnx.qlinear_conv(*given, **how)
    same(got, want)
    assert got.flags.c_contiguous
    assert np.unique(want).size > 2
    for out in in_any_order(want.shape, x_type):
        assert onnx.qlinear_conv(*given, **how, num_threads=2, out=out) is out
        same(out, want)


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
def test_qlinear_conv_on_every_tier(rng, runtime):
    """Channels that fill lanes, and more; planes that are longer than a block, and shorter."""
    for groups, shape, size in ((1, (70, 8, 3, 3), 9), (64, (64, 1, 3, 3), 21), (2, (10, 35, 1, 1), 40)):
        x, w = codes(rng, (2, shape[1] * groups, size, size), np.uint8), codes(rng, shape, np.int8)
        scales, bias = rng.uniform(1e-4, 3e-4, shape[0]).astype(np.float32), codes(rng, (shape[0],), np.int16)
        given = (x, 1.0, 77, w, scales * (np.float32(100 / w[0].size ** 0.5)), 0, 1.0, 131, bias.astype(np.int32))
        same_on_every_tier = on_every_tier(onnx.qlinear_conv, *given, group=groups, pads=[1, 0, 1, 2], runtime=runtime)
        assert np.unique(same_on_every_tier).size > 100


@pytest.mark.parametrize("runtime", ["onnx", "ort"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_every_tie_goes_as_in_the_twin(dtype, runtime):
    """Halves on both sides of 0, to both ends; as biases of a convolution of nothing."""
    bias, info = np.arange(-600, 601, dtype=np.int32), np.iinfo(dtype)
    x, w = np.full((1, 1, 1), 7, dtype), np.ones((bias.size, 1, 1), np.int8)
    for zero in (info.min, info.min + 1, 0, 3, info.max - 1, info.max):
        want = [twin.requantized(int(v), 0.5, 1.0, 1.0, zero, dtype, runtime) for v in bias]
        got = onnx.qlinear_conv(x, 0.5, 7, w, 1.0, 0, 1.0, dtype(zero), bias, runtime=runtime)
        same(got.ravel(), dtype(want))


def test_sums_and_biases_wrap():
    x, w, bias = np.full((1, 1, 1), 255, np.uint8), np.full((1, 1, 1), 255, np.uint8), np.int32([2**31 - 1])
    one = {
        "x_scale": 1.0,
        "x_zero_point": 0,
        "w_scale": 1.0,
        "w_zero_point": 0,
        "y_scale": 2.0**24,
        "y_zero_point": 128,
    }
    y = onnx.qlinear_conv(x=x, w=w, B=bias, **one)
    assert y.item() == 0  # 65025 + 2**31 - 1 is -2**31 + 65024


def test_a_type_of_its_own_for_the_result():
    x, w = np.uint8([[[200, 100]]]), np.int8([[[1]]])
    got = onnx.qlinear_conv(x, 1.0, 150, w, 1.0, 0, 1.0, np.int8(-3))
    same(got, np.int8([[[47, -53]]]))
    same(onnx.qlinear_conv(x, 1.0, 0, w, 1.0, 0, 1.0, 0), x)


def test_no_filters_give_no_codes():
    x, w, scales = np.ones((1, 2, 3, 3), np.uint8), np.ones((0, 2, 2, 2), np.int8), np.float32([])
    for scale in (1.0, scales):
        assert onnx.qlinear_conv(x, 1.0, 0, w, scale, 0, 1.0, 0).shape == (1, 0, 2, 2)


def test_threads_and_layouts_change_nothing(rng):
    x, w = codes(rng, (2, 8, 20, 20), np.uint8), codes(rng, (16, 8, 3, 3), np.uint8)
    want = onnx.conv_integer(x, w, 3, 5, pads=[1, 1, 1, 1])
    assert want.flags.c_contiguous
    other = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    same(onnx.conv_integer(other, w[:, ::-1][:, ::-1], 3, 5, pads=(1, 1, 1, 1), num_threads=3), want)
    same(onnx.conv_integer(x, w, 3, 5, pads=np.ones(4, int), kernel_shape=(3, 3)), want)


GOOD = {"x": np.ones((1, 2, 4, 4), np.uint8), "w": np.ones((2, 2, 3, 3), np.int8)}
REFUSED = [
    ({"x": np.ones((1, 2, 4, 4))}, TypeError, "x: expected uint8, int8, got float64"),
    ({"w": np.ones((2, 2, 3, 3), np.int16)}, TypeError, "w: expected uint8, int8, got int16"),
    (
        {"x": np.ones((1, 2), np.uint8)},
        ValueError,
        r"x: expected \(N, C, one or more spatial axes\), got shape \(1, 2\)",
    ),
    ({"w": np.ones((2, 2, 3), np.int8)}, ValueError, r"x, w: shapes \(1, 2, 4, 4\) and \(2, 2, 3\) do not fit"),
    ({"w": np.ones((2, 1, 3, 3), np.int8)}, ValueError, r"x, w: .* and \(2, 1, 3, 3\) do not fit with group 1"),
    ({"group": 2}, ValueError, "x, w: shapes .* group 2"),
    ({"w": np.ones((3, 1, 3, 3), np.int8), "group": 2}, ValueError, "w: expected .* divisible by group 2, got"),
    ({"group": 0}, ValueError, "group: expected an integer in"),
    (
        {"w": np.ones((2, 2, 5, 3), np.int8)},
        ValueError,
        r"x, w: .* got \(5, 3\), which spans \(5, 3\)",
    ),
    ({"w": np.ones((2, 2, 0, 3), np.int8)}, ValueError, "w: a kernel of 0"),
    ({"dilations": [2, 1]}, ValueError, r"x, w: .* got \(3, 3\), which spans \(5, 3\)"),
    ({"dilations": [0, 1]}, ValueError, "dilations: expected an integer in"),
    ({"strides": [1]}, ValueError, r"strides: expected 2 integers, got \[1\]"),
    ({"strides": "11"}, TypeError, "strides: expected 2 integers, got '11'"),
    ({"strides": [1, 0]}, ValueError, "strides: expected an integer in"),
    ({"strides": [1, 1.0]}, TypeError, "strides: expected an integer, got 1.0"),
    ({"pads": [1, 1]}, ValueError, r"pads: expected 4 integers, got \[1, 1\]"),
    ({"pads": [0, 0, 0, -1]}, ValueError, "pads: expected an integer in"),
    ({"kernel_shape": [3, 2]}, ValueError, r"kernel_shape: expected that of w, \(3, 3\), got \[3, 2\]"),
    ({"auto_pad": "SAME"}, ValueError, "auto_pad: expected one of .* got 'SAME'"),
    ({"auto_pad": None}, ValueError, "auto_pad: expected one of NOTSET, .* got None"),
    ({"auto_pad": "VALID", "pads": [0, 0, 0, 0]}, ValueError, "pads: expected none with auto_pad 'VALID'"),
    ({"x_zero_point": -1}, ValueError, "x_zero_point: expected an integer in"),
    ({"x_zero_point": np.uint8([1, 2])}, ValueError, r"x_zero_point: expected 1 value, got shape \(2,\)"),
    ({"w_zero_point": np.int8([1, 2, 3])}, ValueError, "w_zero_point: expected 1 value, or 2, one an output channel"),
    ({"w_zero_point": np.uint8(1)}, TypeError, "w_zero_point: expected int8, got uint8"),
    ({"num_threads": 0}, ValueError, "num_threads: expected an integer in"),
]
SCALES = {"x_scale": 0.5, "x_zero_point": 0, "w_scale": 0.5, "w_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
REFUSED_SCALES = [
    ({"x_scale": np.float16(1)}, TypeError, "x_scale: expected float32, got float16"),
    ({"x_scale": np.float32([1, 1])}, ValueError, "x_scale: expected 1 value"),
    ({"w_scale": np.float32([1, 1, 1])}, ValueError, "w_scale: expected 1 value, or 2, one an output channel"),
    ({"y_scale": 0.0}, ValueError, "y_scale: expected finite numbers other than 0"),
    ({"y_scale": 1e-40}, ValueError, "x_scale, w_scale, y_scale: .* is beyond float32"),
    ({"y_zero_point": 256}, ValueError, "y_zero_point: expected an integer in"),
    ({"B": [1, 2**31]}, ValueError, "B: int32 does not hold its values, 1 to 2147483648"),
    ({"B": [1.0, 2.0]}, TypeError, "B: expected integers, got float64"),
    ({"B": np.int32([1])}, ValueError, r"B: expected 2 values, one an output channel, got shape \(1,\)"),
    ({"runtime": "ORT"}, ValueError, "runtime: expected one of"),
    ({"y_zero_point": np.int8(0), "runtime": "ort"}, TypeError, "x, w, y_zero_point: onnxruntime has no kernel for"),
    (
        {"dilations": [2, 1], "auto_pad": "SAME_UPPER", "runtime": "ort"},
        ValueError,
        r"dilations: onnxruntime takes none with auto_pad 'SAME_UPPER', got \[2, 1\]",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_both_refuse(changes, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        onnx.conv_integer(**(GOOD | changes))
    with pytest.raises(kind, match=f"^{text}"):
        onnx.qlinear_conv(**(SCALES | GOOD | changes))


@pytest.mark.parametrize(("changes", "kind", "text"), REFUSED_SCALES, ids=[text for *_, text in REFUSED_SCALES])
def test_qlinear_conv_refuses(changes, kind, text):
    with pytest.raises(kind, match=f"^{text}"):
        onnx.qlinear_conv(**(SCALES | GOOD | changes))


def test_scales_and_bias_may_be_lists():
    """They are rounded to float32, as plain numbers are."""
    x, w = np.uint8([[[1, 20, 30]]]), np.uint8([[[3]], [[5]]])
    want = onnx.qlinear_conv(x, 0.1, 0, w, np.float32([0.1, 0.3]), 0, 0.7, 1, np.int32([1, -2]))
    for scales in ([0.1, 0.3], np.float64([0.1, 0.3])):
        got = onnx.qlinear_conv(x, 0.1, 0, w, scales, 0, 0.7, 1, [1, -2])
        equal(got, want)
        equal(onnx.QLinearConv(0.1, 0, w, scales, 0, 0.7, 1, [1, -2])(x), want)


def test_onnxruntime_may_be_spelt_out():
    w = np.uint8([[[1]]])
    for one in (
        onnx.QLinearConv(0.5, 0, w, 1.0, 0, 1.0, 1, runtime="onnxruntime"),
        onnx.QLinearMatMul(0.5, 0, w[0], 1.0, 0, 1.0, 1, runtime="onnxruntime"),
        onnx.QuantizeLinear(0.5, 1, runtime="onnxruntime"),
    ):
        assert one.runtime == "ort"
        assert "runtime='ort'" in repr(one)
    zeros = np.zeros(3, np.float32)
    assert onnx.dynamic_quantize_linear(zeros, runtime="onnxruntime").y_scale == 1
