"""LiteRT on 64-bit ARM: what is not as on x86, beside the golden vectors."""

import json
from pathlib import Path

import numpy as np
import pytest
from adaptors import tflite as golden
from npz import read_npz

from qops import isa, tflite
from qops.tflite.losses import lefts
from qops.tflite.types import ARM

ROOT = Path(__file__).parents[1] / "golden"
LAYER = {"x_scale": 0.5, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 2.0, "y_zero_point": 0}
UNIT = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 4096.0, "y_zero_point": 0}


def of_arm():
    """The cases that ARM computes otherwise, by op."""
    files = (ROOT / "tflite_arm").glob("*.json")
    return {(case["op"], case["id"]) for file in files for case in json.loads(file.read_text())}


@pytest.mark.long
@pytest.mark.parametrize("op", sorted(golden.ADAPTORS))
def test_all_other_cases_of_x86_are_those_of_arm(op):
    arrays, others, seen = read_npz(ROOT / f"tflite/{op}.npz"), of_arm(), 0
    for case in json.loads((ROOT / f"tflite/{op}.json").read_text()):
        inputs = {name: key if key is None else arrays[key] for name, key in case["inputs"].items()}
        attrs = case["attrs"] | {"steps": case.get("steps"), "options": case.get("options")}
        for x86, keys in golden.expected(case) if (op, case["id"]) not in others else ():
            want = arrays[keys["y"]]
            for kernel in [arm for arm in ARM if ARM[arm] == x86]:
                got = golden.ADAPTORS[op](inputs, attrs | {"library": kernel, "y_dtype": want.dtype})["y"]
                assert got.tobytes() == want.tobytes(), f"{case['id']} {kernel}"
                seen += 1
    assert seen > 5


@pytest.mark.parametrize("kernel", ["optimized_arm", "optimized_neon"])
@pytest.mark.parametrize(("outputs", "depth", "single"), [(4, 8, -6), (3, 8, -7), (4, 7, -7)])
def test_one_row_or_pixel_has_a_rule_of_its_own_from_4_results_and_8_products_on(kernel, outputs, depth, single):
    x, w, bias = (
        np.ones((2, depth), np.int8),
        np.ones((outputs, depth), np.int8),
        np.full(outputs, -27 - depth, np.int32),
    )
    got = [tflite.fully_connected(x[:n], w, bias, **LAYER, kernel=kernel)[0, 0] for n in (1, 2)]
    images, filters = x[:, None, None], w[:, None, None]
    conv = [tflite.conv_2d(images[:n], filters, bias, **LAYER, kernel=kernel)[0, 0, 0, 0] for n in (1, 2)]
    assert got == conv == [single, -7]
    op = tflite.FullyConnected(w, bias, **LAYER, kernel=kernel)
    assert [op.requantize_for((n, depth)).rule for n in (1, 2)] == [
        "half-up-double" if single == -6 else "tflite-single",
        "tflite-single",
    ]


@pytest.mark.parametrize("depth", [16, 33, 40])
def test_sums_on_plain_neon_are_those_of_its_instructions(depth, rng):
    x, w = (rng.choice(np.int8([-128, -128, 5]), (n, depth)) for n in (6, 5))
    sums = isa.MACHINES["neon"].dot(x[:, None], w[None])
    assert (sums != x.astype(int) @ w.T.astype(int)).any()
    for kernel in ("xnnpack_neon", "optimized_neon"):
        got = tflite.FullyConnected(w, **UNIT, kernel=kernel)
        np.testing.assert_array_equal(got(x), got.requantize(sums))
        np.testing.assert_array_equal(got.kept(x.astype(np.int32) @ w.T.astype(np.int32), x), sums)


@pytest.mark.parametrize("kernel", ["xnnpack_neon", "xnnpack_arm", "optimized_neon"])
def test_groups_lose_what_each_loses_alone(kernel, rng):
    """The library's own kernel of groups, which is not optimised, loses nothing."""
    x, w = rng.choice(np.int8([-128, -128, 5]), (2, 3, 4, 33)), rng.choice(np.int8([-128, -128, 7]), (6, 2, 2, 11))
    op = tflite.Conv2D(w, np.zeros(6, np.int32), **UNIT, groups=3, kernel=kernel)
    parts = [
        tflite.conv_2d(x[..., 11 * g : 11 * g + 11], w[2 * g : 2 * g + 2], np.zeros(2, np.int32), **UNIT, kernel=kernel)
        for g in range(3)
    ]
    exact = tflite.conv_2d(x, w, np.zeros(6, np.int32), **UNIT, groups=3, kernel="xnnpack_avx2")
    assert (op(x) != exact).any() == (kernel == "xnnpack_neon")
    if kernel.startswith("xnnpack"):
        assert np.array_equal(op(x), np.concatenate(parts, -1))
    assert op.loses == (kernel == "xnnpack_neon")


@pytest.mark.parametrize("kernel", ["xnnpack_neon", "xnnpack_arm"])
@pytest.mark.parametrize(("size", "lost"), [((3, 3), 4), ((2, 5), 5), ((1, 1), 0), ((5, 5), 12), ((13, 2), 0)])
def test_depthwise_kernels_of_xnnpack_add_two_taps_of_a_column_in_16_bits(kernel, size, lost):
    """A window of lowest codes loses 65536 for each pair; more than 25 taps have another kernel."""
    taps = size[0] * size[1]
    x, w = np.full((1, *size, 3), -128, np.int8), np.full((1, *size, 3), -128, np.int8)
    how = UNIT | {"y_scale": 65536.0}
    op = tflite.DepthwiseConv2D(w, np.zeros(3, np.int32), **how, kernel=kernel)
    want = np.clip(np.rint(taps / 4 - lost), -128, 127)
    assert op(x).ravel().tolist() == [want] * 3
    grouped = tflite.conv_2d(x, w.transpose(3, 1, 2, 0), np.zeros(3, np.int32), **how, groups=3, kernel=kernel)
    assert np.array_equal(grouped, op(x))
    narrow = np.maximum(w, -127)
    assert op.kept(np.full((1, 1, 1, 3), 7), x, narrow).tolist() == [[[[7] * 3]]]
    assert op.kept(np.full((1, 1, 1, 3), 7), x, w).ravel()[0] == 7 - lost * 65536
    assert tflite.depthwise_conv_2d(x, narrow, np.zeros(3, np.int32), **how, kernel=kernel).min() >= 0


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "lost"),
    [
        ("xnnpack_neon", 1, "VALID", [3, 3, 3]),
        ("xnnpack_neon", 2, "VALID", [2, 1, 2]),
        ("xnnpack_neon", 4, "VALID", [3, 3, 3]),
        ("xnnpack_neon", 4, "SAME", [1, 1, 1]),
        ("optimized_neon", 1, "VALID", [1, 1, 1]),
        ("optimized_neon", 4, "VALID", [1, 1, 1]),
        ("xnnpack_arm", 1, "VALID", [0, 0, 0]),
    ],
)
def test_transposed_convolutions_of_xnnpack_count_the_zero_point_around_the_image_on_plain_neon(
    kernel, stride, padding, lost
):
    """A pixel of lowest codes, which are the zero point too, under three taps of lowest codes."""
    x, w = np.full((1, 1, 1, 16), -128, np.int8), np.full((1, 1, 3, 16), -128, np.int8)
    how = UNIT | {"x_zero_point": -128, "y_scale": 65536.0, "stride": (1, stride), "padding": padding}
    bias, size = np.zeros(1, np.int32), [1, 1, max(3, stride), 1]
    op = tflite.TransposeConv(size, w, bias, **how, kernel=kernel)
    assert (-op(x)).ravel()[:3].tolist() == [8 * n for n in lost]
    assert op.loses == kernel.endswith("_neon")
    sums = np.zeros((1, 1, size[2], 1), np.int64)
    assert op.kept(sums, x, np.maximum(w, -127)).any() == 0
    assert (op.kept(sums, x, w)[0, 0, :3, 0] // -65536).tolist() == [8 * n for n in lost]


@pytest.mark.parametrize(("size", "lost"), [(15, 0), (16, 8), (25, 8), (31, 8), (32, 16)])
@pytest.mark.parametrize("kernel", ["reference_arm", "optimized_arm", "xnnpack_neon", "reference"])
def test_gates_of_an_lstm_lose_pairs_of_whole_blocks_of_16_on_every_core_of_arm(kernel, size, lost):
    """A bias that makes up for the loss gives what x86 gives without it."""
    x, w = np.full((1, 1, size), -128, np.int8), np.full((4, 1, size), -128, np.int8)
    how = {"x_scale": 0.1, "x_zero_point": 0, "w_scale": 1e-7, "r_scale": 0.01, "hidden_scale": 1 / 32768}
    how |= {"hidden_zero_point": 0, "cell_scale": 2.0**-11}
    both = [
        tflite.unidirectional_sequence_lstm(
            x, w, np.zeros((4, 1, 1), np.int8), np.full((4, 1), bias, np.int32), **how, kernel=k
        )
        for k, bias in ((kernel, lost * 65536 * kernel.endswith(("_arm", "_neon"))), ("reference", 0))
    ]
    assert both[0].cell == both[1].cell


def test_one_channel_of_data_with_two_results_is_no_depthwise_kernel_of_xnnpack():
    x, w = np.full((1, 2, 2, 1), -128, np.int8), np.full((1, 2, 2, 2), -128, np.int8)
    for each, want in ((2, 1), (1, -1)):
        given = (x if each == 2 else x.repeat(2, 3)), w, np.zeros(2, np.int32)
        how = UNIT | {"y_scale": 65536.0, "depth_multiplier": each}
        assert tflite.depthwise_conv_2d(*given, **how, kernel="xnnpack_arm").ravel().tolist() == [want] * 2


def test_a_shift_to_the_left_before_the_product_is_by_the_exponent_and_one():
    assert lefts(0.4999).tolist() == [0]
    assert lefts(np.array([0.5, 1.0, 2.0**7])).tolist() == [1, 2, 9]


@pytest.mark.parametrize(
    ("kernel", "image", "size", "aligns", "place", "code"),
    [
        ("reference_arm", [[124, 127], [120, 126], [125, 119]], (8, 7), True, (2, 1), 123),
        ("optimized_arm", [[86, 88]], (3, 8), False, (1, 1), 87),
    ],
)
def test_the_second_pixel_of_a_place_is_rounded_alone_on_arm(kernel, image, size, aligns, place, code):
    """Elements that LiteRT 2.3.0 gave on a Neoverse N1: one step less if the first pixel is rounded alone."""
    x = np.uint8(image)[np.newaxis, :, :, np.newaxis]
    y = tflite.resize_bilinear(x, size, align_corners=aligns, kernel=kernel)
    assert y[0, :, :, 0][place] == code


def test_a_concatenation_rounds_once_on_arm():
    """A code that LiteRT 2.3.0 computes otherwise on a Neoverse N1 than on x86."""
    how = {"x_scale": 0.02417195588350296, "x_zero_point": 31, "y_scale": 0.04834391176700592, "y_zero_point": 0}
    each = [
        tflite.concatenation([np.uint8([36])], axis=0, **how, kernel=k).item() for k in ("optimized", "optimized_arm")
    ]
    assert each == [2, 3]


@pytest.mark.parametrize(
    ("w_type", "bias", "codes"), [("int8", -(2**30), (127, -128)), ("int4", 140_000_000, (-128, 127))]
)
def test_xnnpack_on_avx2_differs_beyond_int32(w_type, bias, codes):
    """With weights of int8 AVX-512 wraps far below int32; with those of int4 it keeps 16 times the sum in int32."""
    x, w, how = (
        np.full((1, 8), -128, np.int8),
        np.full((1, 8), 7, np.int8),
        UNIT | {"y_scale": 0.25, "y_zero_point": -3},
    )
    given = (x, w, np.int32([bias]))
    each = [tflite.fully_connected(*given, **how, w_type=w_type, kernel=k).item() for k in ("xnnpack", "xnnpack_avx2")]
    assert tuple(each) == codes


def test_weights_of_4_bits_lose_as_the_bytes_that_kernels_make_of_them():
    """XNNPACK multiplies codes of 4 bits by 16: -8 is the lowest code of int8, and two of them wrap."""
    w, x = np.full((4, 32), -8, np.int8), np.full((2, 32), -128, np.int8)
    scales = {"x_scale": 1.0, "w_scale": 0.01, "y_scale": 1.0}
    how = {"x_zero_point": 0, "y_zero_point": 0, "w_type": "int4", "kernel": "xnnpack_neon"}
    op, sums = tflite.FullyConnected(w, **scales, **how), x.astype(np.int64) @ w.T.astype(np.int64)
    for given in (None, w):
        assert (op.kept(sums, x, given) == sums - 65536).all()
    assert (op.kept(sums, x, w + 1) == sums).all()
