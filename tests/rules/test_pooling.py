"""`qops.rules.average_pool` and its prepared op: ties of each rule by hand, scales beyond float32, images of any shape.

The golden set has the bits.
"""

import pickle

import numpy as np
import pytest
from ops import same

from qops import rules
from qops.rules.averages import reciprocal

HALVES = np.int8([[-3, -2], [0, 1], [2, 3]]).reshape(3, 1, 2, 1)  # means -2.5, 0.5, 2.5


@pytest.mark.parametrize(("rule", "want"), [("away-stored", [-3, 1, 3]), ("torch-nchw", [-2, 0, 2])])
def test_ties_go_where_the_rule_says(rule, want):
    assert rules.average_pool(HALVES, rule, kernel=(1, 2), zero_point=0).ravel().tolist() == want


def test_the_last_channels_go_by_their_codes():
    image = np.repeat(HALVES, 17, axis=3)
    found = rules.average_pool(image, "torch-nhwc", kernel=(1, 2), zero_point=1).reshape(3, 17)
    assert found[:, 0].tolist() == [-3, 1, 3], "half even of the values -3.5, -0.5, 1.5, and 1"
    assert found[:, 16].tolist() == [-2, 0, 2], "half even of the codes"


HOW = {rule: {"kernel": (2, 3), "zero_point": 9} for rule in rules.AVERAGE_POOL}
for name, row in rules.AVERAGE_POOL.items():
    HOW[name] |= {"x_scale": 0.5, "y_scale": 0.3, "y_zero_point": 3} if row.rescales else {}


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("rule", HOW)
def test_one_op_gives_what_the_function_gives_for_images_of_any_shape(rng, rule, dtype):
    op = rules.AveragePool(rule, **HOW[rule], dtype=dtype)
    other = pickle.loads(pickle.dumps(op))
    for shape in ((2, 5, 7, 19), (1, 2, 3, 64), (3, 40, 3, 1), (0, 2, 3, 4), (2, 5, 7, 19)):
        x = rng.integers(0, 256, shape, np.uint8).view(dtype)
        want, out = rules.average_pool(x, rule, **HOW[rule]), np.zeros(op.shape_of(shape)[::-1], dtype).T
        assert op.shape_of(shape) == want.shape
        same(op(x), want)
        same(other(x), want)
        assert op(x, out) is out
        same(out, want)


@pytest.mark.parametrize("rule", HOW)
def test_an_op_is_shown_as_it_is_typed(rule):
    op, x = rules.AveragePool(rule, **HOW[rule], dtype=np.int8), np.arange(-12, 12, dtype=np.int8).reshape(1, 4, 6, 1)
    same(eval(repr(op), vars(rules))(x), op(x))
    assert repr(rules.AveragePool("torch-nchw", kernel=[2, 3], zero_point=np.int8(9))) == (
        "AveragePool('torch-nchw', kernel=(2, 3), zero_point=9)"
    )
    assert (op.rule, op.kernel, op.dtype) == (rule, (2, 3), np.int8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": "no"}, "rule: "),
        ({"kernel": (2, 0)}, "kernel: "),
        ({"kernel": 2}, "kernel: expected .height, width."),
        ({"zero_point": 128, "dtype": "int8"}, "zero_point: "),
        ({"x_scale": 0}, "x_scale: expected a number above 0"),
        ({"y_scale": 1}, "y_scale, y_zero_point: torch-nchw keeps those of x"),
        ({"dtype": np.int16}, "dtype: expected uint8 or int8, or int16 by away-stored, .*truncate-stored, got int16"),
        ({"x": np.zeros((1, 4, 4, 1), np.int8)}, "x: expected uint8 data, got int8"),
        ({"x": np.zeros((4, 4, 1), np.uint8)}, "x: expected 4 dimensions"),
        ({"x": np.zeros((1, 1, 4, 1), np.uint8)}, r"x, kernel: expected a window that fits in images of \(1, 4\)"),
        (
            {"x": np.zeros((1, 4, 4, 1), np.float32)},
            "x: expected uint8 or int8, or int16 by away-stored, .*truncate-stored, got float32",
        ),
        ({"stride": 0}, "stride: "),
        ({"padding": 2}, r"padding: expected less than the kernel, \(2, 3\), got 2"),
        ({"padding": "full"}, "padding: expected 'same', 'valid' or numbers"),
        ({"count_padding": 1}, "count_padding: "),
        ({"rule": "away-stored", "count_padding": True}, "count_padding: away-stored counts taps on the image only"),
        ({"rule": "torch-qnnpack", "count_padding": False}, "count_padding: torch-qnnpack counts all taps"),
        ({"qmin": 9, "qmax": 8}, "qmax: "),
        ({"rule": "away-stored", "dtype": "int16", "kernel": (128, 129)}, "kernel: expected windows of at most 16384"),
        ({"out": np.zeros((1, 3, 2, 1), np.int8)}, "out: "),
    ],
)
def test_an_op_refuses_what_is_wrong_by_its_name(change, message):
    given = {"rule": "torch-nchw", "kernel": (2, 3), "zero_point": 9} | change
    x, out = given.pop("x", np.zeros((1, 4, 4, 1), np.uint8)), given.pop("out", None)
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        rules.AveragePool(**given)(x, out=out)


@pytest.mark.parametrize("size", [1, 2, 3, 1000, 65_537, 2**21 - 1, 2**21])
def test_every_mean_of_large_windows_is_exact(size):
    """Sums on both sides of where the mean changes."""
    sums = np.arange(-255, 256) * size + np.arange(-1, 2)[:, None] + np.array([0, size // 2, -size // 2])[:, None, None]
    sums = sums[abs(sums) <= 255 * size]
    want = np.where(sums > 0, (sums + size // 2) // size, -((size // 2 - sums) // size))
    assert np.array_equal(rules.requantize(sums, "rndna", integers=reciprocal(size), dtype=np.int16), want)


def test_a_rule_without_int16_refuses_x_by_its_name():
    with pytest.raises(TypeError, match=r"^x: expected uint8 or int8, .* got int16$"):
        rules.average_pool(np.zeros((1, 2, 2, 1), np.int16), "torch-nchw", kernel=(2, 2), zero_point=0)


def test_larger_windows_are_refused():
    image = np.broadcast_to(np.uint8(3), (1, 2**11, 2**10 + 1, 1))
    with pytest.raises(ValueError, match=r"^kernel: expected windows of at most 2097152 codes, got 2048 by 1025"):
        rules.average_pool(image, "away-stored", kernel=image.shape[1:3], zero_point=0)


SEVENS = np.uint8([6] * 7 + [7] * 7).reshape(1, 1, 14, 1)


def test_torch_rounds_the_mean_of_real_values():
    """Seven codes of 6 and seven of 7, of which 2 is subtracted: 4.5 times 1 / 14 in float32 is just above the tie."""
    for rule, want in (("torch-nchw", 6), ("torch-nhwc", 6), ("torch-qnnpack", 6)):
        assert rules.average_pool(SEVENS, rule, kernel=(1, 14), zero_point=2).item() == want


BLOCKS = {"torch-nchw": 99, "torch-nhwc": 16, "torch-nhwc-avx2": 8, "torch-2.14-nhwc": 1, "torch-qnnpack": 1}


@pytest.mark.parametrize("rule", BLOCKS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_means_of_torch_are_those_of_floats_one_by_one(rng, rule, dtype):
    f32 = np.float32
    for size in (2, 6, 10, 14, 24):
        zero, scale = int(rng.integers(0, 100)), f32(rng.uniform(0.01, 2))
        x = (rng.integers(0, 3, (1, 1, size + 40, 19)) + zero).astype(dtype)
        got = rules.average_pool(x, rule, kernel=(1, size), zero_point=zero, x_scale=float(scale))
        sums = np.lib.stride_tricks.sliding_window_view(x.astype(int) - zero, size, 2).sum(-1).astype(f32)
        inverse = scale / (scale * f32(size)) if rule == "torch-qnnpack" else f32(1) / f32(size)
        outside, inside = np.rint(sums * inverse) + zero, np.rint(sums * inverse + f32(zero))
        want = np.where(np.arange(19) < 19 // BLOCKS[rule] * BLOCKS[rule], outside, inside)
        np.testing.assert_array_equal(got, want)


def test_a_window_as_large_as_the_image_goes_by_the_rule_of_the_global_pool():
    how = {"zero_point": 0, "x_scale": 1.0, "y_scale": 1.0, "y_zero_point": 1}
    x = np.uint8([0, 1]).reshape(1, 2, 1, 1)
    op = rules.AveragePool("ort", kernel=(2, 1), **how)
    assert op(x).item() == 1, "0.5 is rounded, then 1 is added"
    assert op(np.concatenate([x, x], axis=1)).ravel().tolist() == [2, 2, 2], "1.5 is rounded"
    assert op(np.repeat(x, 2, axis=2)).ravel().tolist() == [2, 2]


@pytest.mark.parametrize(
    ("rule", "x_scale", "y_scale"),
    [("ort", 1e37, 1.0), ("ort", 1.0, 1e-46), ("ort", 1.0, 1e39), ("ort-global", 1e300, 1e-300)],
)
def test_scales_beyond_float32_are_refused(rule, x_scale, y_scale):
    how = {"kernel": (1, 2), "zero_point": 0, "x_scale": x_scale, "y_scale": y_scale, "y_zero_point": 0}
    with pytest.raises(
        ValueError, match=r"^x_scale, y_scale: .* are beyond what (ort computes|is computed of them) in float32$"
    ):
        rules.average_pool(np.zeros((1, 1, 3, 1), np.uint8), rule, **how)


def test_a_call_refuses_scales_by_the_rule_of_its_windows_and_an_op_by_both():
    how = {"kernel": (1, 2), "zero_point": 0, "x_scale": 1e37, "y_scale": 1e37}
    x = np.uint8([[[[3], [4]]]])
    whole = rules.average_pool(x, "ort", **how)
    np.testing.assert_array_equal(whole, rules.average_pool(x, "ort-global", **how))
    with pytest.raises(ValueError, match=r"^x_scale, y_scale: "):
        rules.AveragePool("ort", **how)
