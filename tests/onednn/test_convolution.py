import itertools
from functools import partial

import numpy as np
import onednn_twins as twins
import pytest

from qops import onednn
from qops.onednn import Attr, Eltwise, Scales, Sum, Window
from qops.onednn.convolution_weights import reorder_weights
from qops.onednn.machine import MACHINES, machine

F = np.float32
WIN = Window(stride=(2, 1), dilation=(0, 1), pad_l=(1, 2), pad_r=(1, 2))


def full_range(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.choice(np.arange(info.min, info.max + 1), shape).astype(dtype)


def twin(src, weights, m, kernel, src_zp=0):
    grouped = weights if weights.ndim == 5 else weights[None]
    halved = m.saturates and src.dtype == np.int8 and kernel != "ref"
    saturates = m.saturates and kernel not in ("ref", "depthwise")
    acc = twins.convolution(src, grouped, WIN.stride, WIN.dilation, WIN.pad_l, src_zp, saturates, halved)
    return acc * (2 if halved else 1)


ZERO_POINTS = [(np.uint8, zp) for zp in (None, 200, 255, 256, -1)]
ZERO_POINTS += [(np.int8, zp) for zp in (None, -77, -128, 127, 128)]


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize(("dtype", "src_zp"), ZERO_POINTS)
def test_accumulator_matches_the_twin(rng, version, isa, dtype, src_zp):
    src, weights = full_range(rng, dtype, 1, 3, 5, 6), full_range(rng, np.int8, 2, 3, 3, 2)
    m = machine(version, isa)
    for layout, kernel in (("nhwc", "direct"), ("nchw", "ref")):
        got = onednn.convolution(
            src, weights, window=WIN, attr=Attr(src_zp=src_zp), layout=layout, isa=isa, version=version
        )
        assert np.array_equal(got, twin(src, weights, m, kernel, src_zp or 0))


@pytest.mark.parametrize("isa", ["avx2", "avx512", "vnni"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_groups_and_depthwise_match_the_twin(rng, isa, dtype):
    src = full_range(rng, dtype, 2, 8, 4, 4)
    odd = "ref" if isa == "avx2" else "direct"
    shapes = [((2, 4, 4), "direct"), ((2, 3, 4), odd), ((4, 4, 2), odd), ((8, 1, 1), "depthwise")]
    for shape, kernel in [((*dims, 3, 2), kernel) for dims, kernel in shapes]:
        weights = full_range(rng, np.int8, *shape)
        got = onednn.convolution(src, weights, window=WIN, isa=isa)
        assert np.array_equal(got, twin(src, weights, machine("3.13", isa), kernel))


@pytest.mark.parametrize(("version", "isa"), MACHINES)
def test_padding_does_not_saturate(version, isa):
    """Bits of all three libraries, for the zero point 255."""
    src, beside = np.full((1, 2, 1, 1), 255, np.uint8), Window(pad_l=(0, 1))

    def run(code, zp, **options):
        options = {"window": beside, "isa": isa, "version": version} | options
        weights = np.full((1, 2, 1, 1), code, np.int8)
        return onednn.convolution(src, weights, attr=Attr(src_zp=zp), **options).ravel().tolist()

    saturates = machine(version, isa).saturates
    low, high = (32003, 32512) if saturates else (0, 0)
    assert run(127, 255) == [0, -low]
    assert run(-128, 255) == [0, high]
    assert run(127, 255, layout="nchw") == [0, 0]
    for zp in (127, 128, 129, 130, 256):
        assert run(-128, zp) == [0, (zp - 255) * 256 + high]


@pytest.mark.parametrize(("version", "isa"), MACHINES)
def test_odd_groups_are_exact_on_avx2(version, isa):
    """Bits of all three libraries, for groups of 2 and of 4 channels."""
    for channels, exact, lossy in ((2, 64770, 64770 if isa == "avx2" else 32767), (4, 129540, 65534)):
        src, weights = np.full((1, 2 * channels, 2, 1), 255, np.uint8), np.full((2, 4, channels, 1, 1), 127, np.int8)
        got = onednn.convolution(src, weights, isa=isa, version=version)
        assert set(got.ravel().tolist()) == {exact if isa == "vnni" else lossy}


def test_the_reference_kernel_scales_divides_and_leaves_minus_zero_in_3_13():
    """Bits of 3.2.0 and 3.13.2."""
    src, weights = np.full((1, 2, 1, 1), 50, np.uint8), np.int8([[50, 50], [-1, -1]]).reshape(2, 2, 1, 1)
    attr = Attr(src_scale=0.76, wei_scale=0.59, dst_scale=0.57, post_ops=[Eltwise()])

    def run(layout, version):
        got = onednn.convolution(src, weights, attr=attr, dst_dt="f32", layout=layout, version=version).ravel()
        return got[0].item(), str(got[1])

    assert [run(layout, "3.2") for layout in ("nhwc", "nchw")] == [(3933.332763671875, "0.0")] * 2
    assert run("nhwc", "3.13") == (3933.333251953125, "0.0")
    assert run("nchw", "3.13") == (3933.33349609375, "-0.0")


def test_halved_weights_never_saturate_and_err_by_at_most_one():
    w = np.arange(-128, 128).astype(np.int8).reshape(1, 1, -1, 1, 1)
    codes = reorder_weights(w, None, halved=True)
    error = 2 * codes.astype(int) - w
    assert np.abs(codes).max() <= 64
    assert np.array_equal(error, np.select([w % 2 == 0, w % 4 == 1], [0, -1], 1))


@pytest.mark.parametrize("version", ["2.6", "3.2"])
def test_f32_weights_are_multiplied_in_2_6_and_divided_in_3(rng, version):
    weights = rng.standard_normal((2, 3, 1, 1)).astype(F)
    scale = F([40, 50]) if version == "2.6" else F([1 / 40, 1 / 50])
    factor = scale if version == "2.6" else F(1) / scale
    codes = np.array([[twins.store(v * s, "s8") for v in row.ravel()] for row, s in zip(weights, factor, strict=True)])
    src = full_range(rng, np.uint8, 1, 3, 2, 2)
    got = onednn.convolution(src, weights, wq_scale=Scales(scale, 1), version=version)
    assert np.array_equal(got, np.einsum("nchw,oc->nohw", src.astype(int), codes))


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_halved_float_weights_saturate_beyond_64(isa):
    src, weights = np.full((1, 2, 1, 1), 127, np.int8), np.full((1, 2, 1, 1), 254, F)
    assert onednn.convolution(src, weights, wq_scale=1.0, isa=isa).item() == 2 * (32767 - 128 * 254)  # halves are 127
    assert onednn.convolution(src, (weights / 2).astype(np.int8), isa=isa).item() == 2 * 2 * 127 * 64


def test_compensation_in_f32_loses_low_bits_of_large_sums():
    k = 1300
    src = np.full((1, k, 1, 1), 127, np.int8)
    weights = np.full((1, k, 1, 1), 126, np.int8)
    weights[0, 0] = 4
    halves = 63 * (k - 1) + 2
    shifted, comp = F(255 * halves), F(-128 * halves)
    got = {isa: int(onednn.convolution(src, weights, isa=isa, version="3.2").item()) for isa in ("avx2", "vnni")}
    assert got["vnni"] == 127 * 2 * halves
    assert got["avx2"] == int((shifted + comp) * F(2))
    assert int(shifted) != 255 * halves


@pytest.mark.parametrize(("version", "isa"), MACHINES)
def test_which_kernels_keep_large_s32_sums(version, isa):
    """Bits of all three libraries: the sum 20967573 has 25 bits, and half of those of s8 sources."""

    def run(dtype, code, zp):
        src, weights = np.full((1, 1300, 1, 1), 127, dtype), np.full((1, 1300, 1, 1), code, np.int8)
        weights[0, 0] -= np.sign(code)
        attr = Attr(src_zp=zp)
        return onednn.convolution(src, weights, attr=attr, isa=isa, version=version).item()

    brg = machine(version, isa).conv_1x1 == "brg"
    assert run(np.uint8, 127, None) == (20967573 if brg else 20967572)
    assert run(np.uint8, 127, 1) == (20802474 if brg else 20802472)
    if isa == "vnni":
        assert [run(np.int8, -127, zp) for zp in (None, 1)] == [-20967572, -20802474]
    else:
        assert [run(np.int8, -127, zp) for zp in (None, 1)] == (
            [-21132546, -20966148] if brg else [-21132544, -20966146]
        )


def test_small_even_groups_and_the_reference_pass_through_f32():
    src, weights = np.full((1, 16, 7, 7), 255, np.uint8), np.full((4, 16, 7, 7), 127, np.int8)
    src[0, 0, 0, 0] = 254
    exact = 255 * 127 * 784 - 127
    rounded = int(F(exact))
    assert rounded != exact
    assert set(onednn.convolution(src, weights).ravel()) == {exact}
    assert set(onednn.convolution(src, weights, layout="nchw").ravel()) == {rounded}
    for outputs, inputs, want in ((4, 16, rounded), (3, 16, exact), (4, 20, exact)):
        x, w = np.zeros((1, 2 * inputs, 7, 7), np.uint8), np.zeros((2, outputs, inputs, 7, 7), np.int8)
        x[:, :16] = x[:, inputs : inputs + 16] = src
        w[:, :, :16] = weights[:outputs]
        assert set(onednn.convolution(x, w).ravel()) == {want}


@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_padded_images_are_compensated_in_s32_even_with_one_tap(isa):
    """Of s8 sums beyond 2**24 one tap without padding loses more bits than with it: bits of 3.2.0."""
    x, w = np.full((1, 2048, 2, 2), 127, np.int8), np.full((1, 2048, 1, 1), 126, np.int8)
    x[0, 0], w[0, 1] = 124, 2
    half = 127 * 63 * 2046 + 124 * 63 + 127
    bare = onednn.convolution(x, w, isa=isa, version="3.2")
    padded = onednn.convolution(x, w, window=Window(pad_l=(1, 1)), isa=isa, version="3.2")[:, :, 1:, 1:]
    shift = F(half + 128 * (63 * 2047 + 1)) - F(128 * (63 * 2047 + 1))
    assert set(padded.ravel()) == {int(F(half) * 2)}
    assert set(bare.ravel()) == {int(shift * 2)}
    assert int(shift) != half


@pytest.mark.parametrize("prepared", [False, True])
def test_strides_that_do_not_divide_the_image_take_another_kernel(prepared):
    """With one tap; sums beyond 2**24 tell the kernels apart, as they do with and without padding."""
    x, w = np.full((1, 2048, 3, 3), 127, np.int8), np.full((1, 2048, 1, 1), 126, np.int8)
    x[:, 0], w[0, 1] = 124, 2
    half = 127 * 63 * 2046 + 124 * 63 + 127
    shift = F(half + 128 * (63 * 2047 + 1)) - F(128 * (63 * 2047 + 1))
    how = {"window": Window(stride=(2, 2)), "isa": "avx2", "version": "3.2"}
    op = onednn.Convolution(w, **how) if prepared else partial(onednn.convolution, weights=w, **how)
    assert set(op(x[:, :, :2, :2]).ravel()) == {int(shift * 2)}
    for images in (x, x[:, :, :2], x[..., :2]):
        assert set(op(images).ravel()) == {int(F(half) * 2)}


def test_the_product_of_a_zero_point_wraps():
    """Bits of 3.2.0: 2**20 times the sum 64512 is taken modulo 2**32 before it becomes float32."""
    x, w = np.full((1, 1024, 1, 1), 200, np.uint8), np.full((1, 1024, 1, 1), 63, np.int8)
    got = onednn.convolution(x, w, attr=Attr(src_zp=2**20), isa="avx2", version="3.2").item()
    product = (2**20 * 63 * 1024 + 2**31) % 2**32 - 2**31
    assert got == int(F(200 * 63 * 1024) - F(product))


def test_bias_is_not_degraded_by_halving():
    src, weights = np.zeros((1, 2, 1, 1), np.int8), np.ones((1, 2, 1, 1), np.int8)
    for version, attr in (("2.6", Attr(oscale=0.5)), ("3.2", Attr(src_scale=0.5))):
        got = {
            i: onednn.convolution(src, weights, F([7]), dst_dt="f32", attr=attr, isa=i, version=version).item()
            for i in ("avx2", "vnni")
        }
        assert got["avx2"] == got["vnni"] == (3.5 if version == "2.6" else 7)


def test_sum_is_fused_but_in_the_reference_kernel(rng):
    src, weights = full_range(rng, np.uint8, 1, 2, 4, 4), full_range(rng, np.int8, 3, 2, 1, 1)
    old = rng.standard_normal((1, 3, 4, 4)).astype(F) * F(1000)
    attr = Attr(src_scale=0.1, post_ops=[Sum(0.3), Eltwise(alpha=0.1)])
    x = np.einsum("nchw,oc->nohw", src.astype(int), weights[..., 0, 0].astype(int)).astype(F) * F(0.1)
    for layout, fused in (("nhwc", True), ("nchw", False)):
        total = [
            twins.fma(o, F(0.3), v) if fused else v + F(0.3) * o for o, v in zip(old.ravel(), x.ravel(), strict=True)
        ]
        want = [t if t > 0 else F(0.1) * t for t in total]
        got = onednn.convolution(src, weights, dst_dt="f32", attr=attr, dst_in=old, layout=layout)
        assert got.ravel().tolist() == want


def test_versions_and_isas_differ_where_they_should(rng):
    src, weights = full_range(rng, np.int8, 1, 8, 5, 5), full_range(rng, np.int8, 4, 8, 3, 3)
    got = {
        (version, isa): onednn.convolution(src, weights, isa=isa, version=version)
        for version, isa in itertools.product(("2.6", "3.13"), ("avx2", "vnni"))
    }
    assert np.array_equal(got["2.6", "vnni"], got["3.13", "vnni"])
    assert not np.array_equal(got["2.6", "avx2"], got["2.6", "vnni"])


def test_empty_batch_and_strided_input(rng):
    weights = full_range(rng, np.int8, 2, 3, 1, 1)
    assert onednn.convolution(np.zeros((0, 3, 4, 4), np.uint8), weights).shape == (0, 2, 4, 4)
    src = full_range(rng, np.uint8, 1, 6, 4, 4)
    assert np.array_equal(onednn.convolution(src[:, ::2], weights), onednn.convolution(src[:, ::2].copy(), weights))


SRC, WEIGHTS = np.zeros((1, 4, 5, 5), np.uint8), np.zeros((2, 4, 3, 3), np.int8)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (dict(src=SRC[0]), ValueError, "src: expected 4 dimensions"),
        (dict(src=SRC.astype(np.int32)), TypeError, "src: expected uint8, int8, got int32"),
        (
            dict(weights=WEIGHTS[:, :3]),
            ValueError,
            r"shape \(2, 3, 3, 3\) is for 3 channels; src, NCHW, of shape \(1, 4, 5, 5\) has 4$",
        ),
        (
            dict(src=SRC.transpose(0, 2, 3, 1)),
            ValueError,
            r"src, NCHW, of shape \(1, 5, 5, 4\) looks like NHWC, so give its transpose \(0, 3, 1, 2\)$",
        ),
        (dict(weights=WEIGHTS[0]), ValueError, "weights: expected shape .* got"),
        (dict(weights=np.zeros((2, 4, 6, 6), np.int8)), ValueError, r"weights: .* window that fits .*got \(6, 6\)"),
        (dict(weights=WEIGHTS.astype(F)), ValueError, "wq_scale: expected the scale of float32 weights"),
        (dict(wq_scale=1.0), ValueError, "wq_scale: expected None for int8 weights, got 1.0"),
        (dict(weights=WEIGHTS.astype(F), wq_scale=Scales(np.ones(2), 3)), ValueError, "wq_scale: expected mask 0 or 1"),
        (dict(window=(1, 1)), TypeError, "window: expected a qops.onednn.Window"),
        (dict(attr=Attr(wei_zp=1)), ValueError, "wei_zp: not supported here, got 1"),
        (dict(layout="NHWC"), ValueError, "layout: expected one of"),
    ],
)
def test_rejects_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        onednn.convolution(**{"src": SRC, "weights": WEIGHTS, **options})
