"""Packed weights and `out` of convolutions: other ways to the same bits, which other tests hold to a twin."""

import numpy as np
import pytest

from qops import onednn
from qops.onednn import Attr, Eltwise, Scales, Sum, Window, pack_convolution_weights
from qops.onednn.machine import MACHINES

WINDOW = Window(stride=(1, 2), pad_l=(1, 0), pad_r=(0, 1))
SHAPES = {"dense": (5, 6, 3, 2), "1x1": (5, 6, 1, 1), "groups": (3, 4, 2, 3, 2), "depthwise": (6, 1, 1, 3, 2)}


def codes(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.choice(np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype), shape)


def scaled(rng, version, outputs, mask):
    """Scales and post-ops, and the other arguments that go with them."""
    per_channel = Scales(rng.uniform(0.001, 0.01, outputs), 2 if version == "2.6" else mask)
    scale = (
        {"oscale": per_channel} if version == "2.6" else {"src_scale": 0.5, "wei_scale": per_channel, "dst_scale": 3}
    )
    attr = Attr(**scale, src_zp=4, dst_zp=3, post_ops=[Sum(0.5), Eltwise(alpha=0.25)])
    return {"attr": attr, "bias": rng.normal(0, 9, outputs).astype(np.float32), "dst_dt": "s8"}


def outs(want):
    """Arrays for a result: as results lie in memory, by planes, and with gaps."""
    n, c, h, w = want.shape
    yield np.zeros((n, h, w, c), want.dtype).transpose(0, 3, 1, 2)
    yield np.zeros(want.shape, want.dtype)
    yield np.zeros((n, h + 1, w, c + 3), want.dtype)[:, 1:, :, 2:-1].transpose(0, 3, 1, 2)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("kind", SHAPES)
def test_packed_weights_and_out_change_no_bit(rng, version, isa, dtype, kind):
    shape = SHAPES[kind]
    src, weights = codes(rng, dtype, 2, 6, 5, 7), codes(rng, np.int8, *shape)
    packed = pack_convolution_weights(weights, isa=isa, version=version)
    outputs, mask = int(np.prod(shape[:-3])), 1 if len(shape) == 4 else 3
    ways = [
        {},
        {"dst_dt": "f32"},
        {"attr": Attr(src_zp=100)},
        {"attr": Attr(src_zp=-200)},
        scaled(rng, version, outputs, mask),
    ]
    for way in ways:
        for layout in ("nhwc", "nchw"):
            how = {"window": WINDOW, "isa": isa, "version": version, "layout": layout, **way}
            if "bias" in way:
                how["dst_in"] = codes(rng, np.int8, 2, outputs, *WINDOW.out_size((5, 7), shape[-2:]))
            want = onednn.convolution(src, weights, **how)
            assert want.any()
            assert np.array_equal(onednn.convolution(src, packed, **how), want)
            assert np.array_equal(onednn.convolution(src, packed, num_threads=2, **how), want)
            for out in outs(want):
                for given in (weights, packed):
                    out[...] = 77
                    assert onednn.convolution(src, given, out=out, **how) is out
                    assert np.array_equal(out, want)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("dst_dt", ["u8", "s8", "s32", "f32"])
def test_a_call_again_with_other_images_has_the_bits_of_a_first_call(rng, version, isa, dtype, kind, dst_dt):
    weights = codes(rng, np.int8, *SHAPES[kind])
    packed = pack_convolution_weights(weights, isa=isa, version=version)
    scales = {"oscale": 0.003} if version == "2.6" else {"src_scale": 0.02, "wei_scale": 0.3, "dst_scale": 0.7}
    relu = [Eltwise(alpha=0.25)]
    attrs = (Attr(), Attr(src_zp=100), Attr(src_zp=-200), Attr(**scales, src_zp=4, dst_zp=3, post_ops=relu))
    for attr in attrs:
        how = {"window": WINDOW, "isa": isa, "version": version, "attr": attr, "dst_dt": dst_dt}
        out = None
        for layout in ("nhwc", "nhwc", "nchw", "nchw"):
            src = codes(rng, dtype, 2, 6, 5, 7)
            want = onednn.convolution(src, weights, layout=layout, **how)
            assert np.array_equal(onednn.convolution(src, packed, layout=layout, **how), want)
            for again in (*outs(want), out):
                got = onednn.convolution(src, packed, layout=layout, out=again, **how)
                assert got is again or again is None
                assert np.array_equal(got, want)
            out = got


def test_a_call_again_checks_its_images_and_out(rng):
    src, weights = codes(rng, np.uint8, 1, 6, 5, 7), codes(rng, np.int8, 5, 6, 3, 2)
    packed, how = pack_convolution_weights(weights), {"attr": Attr(src_scale=0.5, dst_zp=1), "dst_dt": "u8"}
    for _ in range(2):
        want = onednn.convolution(src, packed, **how)
        for images in (src[:, :, :4], src.view(np.int8)):
            assert np.array_equal(onednn.convolution(images, packed, **how), onednn.convolution(images, weights, **how))
        assert np.array_equal(onednn.convolution(src, packed, **how), want)
        with pytest.raises(ValueError, match=r"^out: "):
            onednn.convolution(src, packed, out=np.zeros((1, 5, 3, 5), np.uint8), **how)
        with pytest.raises(ValueError, match=r"^out: "):
            onednn.convolution(src, packed, out=src.reshape(-1)[:90].reshape(1, 5, 3, 6), **how)
        with pytest.raises(TypeError, match=r"^src: "):
            onednn.convolution(src.astype(np.int32), packed, **how)
        with pytest.raises(ValueError, match=r"^num_threads: "):
            onednn.convolution(src, packed, num_threads=0, **how)


@pytest.mark.parametrize(("shape", "size"), [((16, 8, 3, 3), 40), ((1100, 4, 1, 1), 6), ((40, 1, 1, 3, 3), 30)])
@pytest.mark.parametrize("dst_dt", ["u8", "s8", "s32"])
def test_codes_made_a_few_rows_at_a_time_are_those_of_all_sums(rng, shape, size, dst_dt):
    outputs, inputs = int(np.prod(shape[:-3])), shape[0] * shape[1] if len(shape) == 5 else shape[1]
    src, weights = codes(rng, np.uint8, 2, inputs, size, size), codes(rng, np.int8, *shape)
    attr = Attr(src_scale=0.03, wei_scale=0.1, dst_scale=0.7, src_zp=200, dst_zp=5, post_ops=[Eltwise(alpha=0.5)])
    window = Window(pad_l=(1, 1), pad_r=(1, 1))
    how = {"window": window, "attr": attr, "dst_dt": dst_dt, "bias": rng.normal(0, 9, outputs).astype(np.float32)}
    planes = np.zeros((2, outputs, *window.out_size((size, size), shape[-2:])), onednn.cast.DTYPES[dst_dt])
    want = onednn.convolution(src, weights, out=planes, **how)  # not in the order in which sums are made
    assert len(np.unique(want)) > 2
    for given in (weights, pack_convolution_weights(weights)):
        for threads in (1, 2):
            assert np.array_equal(onednn.convolution(src, given, num_threads=threads, **how), want)


def test_codes_may_take_the_place_of_their_images(rng):
    image, weights = codes(rng, np.uint8, 1, 200, 200, 8), pack_convolution_weights(codes(rng, np.int8, 8, 8, 3, 3))
    src = image.transpose(0, 3, 1, 2)
    how = {"window": Window(pad_l=(1, 1), pad_r=(1, 1)), "attr": Attr(src_scale=0.01), "dst_dt": "u8"}
    for _ in range(2):
        want = onednn.convolution(src.copy(), weights, **how)
        again = src.copy("K")
        assert np.array_equal(onednn.convolution(again, weights, out=again, **how), want)


@pytest.mark.parametrize("scale", [1e30, 2e38])
def test_a_call_again_whose_floats_overflow_saturates_as_the_first_does(scale):
    src, weights = np.full((1, 2, 2, 2), 255, np.uint8), np.full((2, 2, 1, 1), 127, np.int8)
    packed, how = pack_convolution_weights(weights), {"attr": Attr(src_scale=scale, wei_scale=scale), "dst_dt": "u8"}
    for _ in range(3):
        assert (onednn.convolution(src, packed, **how) == 255).all()


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_float32_weights_are_packed_with_their_scale(rng, version, isa, dtype):
    src, weights = codes(rng, dtype, 1, 6, 4, 4), rng.normal(0, 1, (4, 6, 3, 3)).astype(np.float32)
    scale = rng.uniform(20, 60, 4) if version == "2.6" else 1 / rng.uniform(20, 60, 4)
    for wq_scale in (float(scale[0]), Scales(scale, 1)):
        packed = pack_convolution_weights(weights, wq_scale=wq_scale, isa=isa, version=version)
        for layout in ("nhwc", "nchw"):
            how = {"isa": isa, "version": version, "layout": layout}
            want = onednn.convolution(src, weights, wq_scale=wq_scale, **how)
            assert np.array_equal(onednn.convolution(src, packed, **how), want)


def test_what_is_packed_is_a_copy(rng):
    src, weights = codes(rng, np.uint8, 1, 4, 3, 3), codes(rng, np.int8, 2, 4, 3, 3)
    want, packed = onednn.convolution(src, weights), pack_convolution_weights(weights)
    weights[:] = 0
    assert want.any()
    assert packed.shape == (1, 2, 4, 3, 3)
    assert packed.weights.any()
    assert not packed.weights.flags.writeable
    assert np.array_equal(onednn.convolution(src, packed), want)


@pytest.mark.parametrize("isa", ["avx2", "vnni"])
def test_a_result_can_be_given_again_and_may_be_what_the_sum_reads(rng, isa):
    src, weights = codes(rng, np.int8, 1, 4, 5, 5), codes(rng, np.int8, 3, 4, 3, 3)
    for dst_dt in ("s32", "f32", "u8"):
        first = onednn.convolution(src, weights, dst_dt=dst_dt, isa=isa)
        assert first.transpose(0, 2, 3, 1).flags.c_contiguous
        assert onednn.convolution(src[:, ::-1], weights, dst_dt=dst_dt, isa=isa, out=first) is first
        assert np.array_equal(first, onednn.convolution(src[:, ::-1], weights, dst_dt=dst_dt, isa=isa))
        how = {"dst_dt": dst_dt, "isa": isa, "attr": Attr(post_ops=[Sum(0.5)])}
        want = onednn.convolution(src, weights, dst_in=first.copy(), **how)
        assert onednn.convolution(src, weights, dst_in=first, out=first, **how) is first
        assert np.array_equal(first, want)


SRC, WEIGHTS = np.zeros((1, 4, 5, 5), np.uint8), np.ones((2, 4, 3, 3), np.int8)
PACKED, ROOM = pack_convolution_weights(WEIGHTS), np.full(300, 7, np.int32)
OUT = ROOM[:18].reshape(1, 2, 3, 3)
READ_ONLY = OUT[:]
READ_ONLY.flags.writeable = False
BIAS_IN_OUT = OUT.reshape(-1)[:2]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            dict(weights=PACKED, isa="avx2"),
            ValueError,
            "weights: packed for isa 'vnni' of version '3.13', expected isa",
        ),
        (dict(weights=PACKED, version="2.6"), ValueError, "weights: packed for .* isa 'vnni' of version '2.6'"),
        (dict(weights=PACKED, wq_scale=1.0), ValueError, "wq_scale: expected None for packed weights, got 1.0"),
        (
            dict(weights=PACKED, src=SRC[:, :3]),
            ValueError,
            r"weights: shape \(2, 4, 3, 3\) is for 4 channels; src, NCHW, of shape .* has 3",
        ),
        (dict(weights=PACKED, src=SRC[..., :2]), ValueError, "weights: expected a window that fits"),
        (
            dict(weights=onednn.pack_weights(WEIGHTS[0, 0])),
            TypeError,
            "weights: expected int8 or float32 data, got object",
        ),
        (dict(out=[[0]]), TypeError, "out: expected an ndarray, got list"),
        (dict(out=OUT.view(np.float32)), TypeError, "out: expected native int32, got dtype"),
        (dict(out=OUT.view(">i4")), TypeError, "out: expected native int32, got dtype"),
        (dict(out=OUT, dst_dt="f32"), TypeError, "out: expected native float32, got dtype"),
        (dict(out=OUT.reshape(1, 3, 3, 2)), ValueError, r"out: shape \(1, 3, 3, 2\), expected \(1, 2, 3, 3\)"),
        (dict(out=READ_ONLY), ValueError, "out: is read-only"),
        (dict(out=OUT, src=ROOM.view(np.uint8)[:100].reshape(SRC.shape)), ValueError, "out: shares memory"),
        (dict(out=OUT, weights=ROOM.view(np.int8)[:72].reshape(WEIGHTS.shape)), ValueError, "out: shares memory"),
        (dict(out=OUT, bias=BIAS_IN_OUT), ValueError, "out: shares memory"),
        (dict(out=OUT, dst_in=ROOM[1:19].reshape(1, 2, 3, 3)), ValueError, "out: shares memory"),
        (
            dict(out=OUT, weights=WEIGHTS.astype(np.float32)),
            ValueError,
            "wq_scale: expected the scale of float32 weights",
        ),
        (dict(out=OUT, num_threads=0), ValueError, "num_threads: expected an integer in .*, got 0"),
    ],
)
def test_rejects_bad_input_and_changes_nothing(options, error, words):
    with pytest.raises(error, match=words):
        onednn.convolution(**{"src": SRC, "weights": WEIGHTS, **options})
    assert (ROOM == 7).all()


def test_nan_on_its_way_to_codes_leaves_out_as_it_was():
    bias, out = np.float32([0, -np.inf]), np.full((1, 2, 3, 3), 7, np.uint8)
    how = {"attr": Attr(post_ops=[Sum(3e38)]), "layout": "nchw", "dst_dt": "u8"}
    with pytest.raises(ValueError, match="dst: nan has no code in u8"):
        onednn.convolution(SRC, WEIGHTS, bias, dst_in=np.full_like(out, 255), out=out, **how)
    assert (out == 7).all()


@pytest.mark.parametrize(
    ("weights", "options", "error", "words"),
    [
        (SRC, {}, TypeError, "weights: expected int8 or float32 data, got uint8"),
        (WEIGHTS[0], {}, ValueError, "weights: expected shape .* got"),
        (WEIGHTS[..., :0], {}, ValueError, "weights: expected at least one group and one tap"),
        (WEIGHTS, {"wq_scale": 2.0}, ValueError, "wq_scale: expected None for int8 weights"),
        (WEIGHTS.astype(np.float32), {}, ValueError, "wq_scale: expected the scale of float32 weights"),
        (WEIGHTS * np.float32(np.nan), {"wq_scale": 1.0}, ValueError, "weights: expected numbers, got nan"),
        (WEIGHTS, {"isa": "amx"}, ValueError, "isa: expected one of"),
        (WEIGHTS, {"version": "1.0"}, ValueError, "version: expected one of"),
    ],
)
def test_rejects_what_cannot_be_packed(weights, options, error, words):
    with pytest.raises(error, match=words):
        pack_convolution_weights(weights, **options)
