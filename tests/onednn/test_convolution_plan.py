"""Prepared convolutions and their `out`: other ways to the same bits, which other tests hold to a twin."""

import itertools
from functools import partial

import numpy as np
import pytest
from onednn_prepared import prepare

from qops import onednn
from qops.onednn import Attr, Eltwise, Scales, Sum, Window
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
def test_prepared_ops_and_out_change_no_bit(rng, version, isa, dtype, kind):
    shape = SHAPES[kind]
    src, weights = codes(rng, dtype, 2, 6, 5, 7), codes(rng, np.int8, *shape)
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
            op, data = prepare(onednn.convolution, weights, **how)
            assert np.array_equal(op(src, **data), want)
            assert np.array_equal(op(src, num_threads=2, **data), want)
            assert np.array_equal(onednn.convolution(src, weights, num_threads=2, **how), want)
            for out in outs(want):
                for call in (partial(op, **data), partial(onednn.convolution, weights=weights, **how)):
                    out[...] = 77
                    assert call(src, out=out) is out
                    assert np.array_equal(out, want)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("dst_dt", ["u8", "s8", "s32", "f32"])
def test_one_op_takes_images_of_both_types_and_any_size(rng, version, isa, kind, dst_dt):
    weights = codes(rng, np.int8, *SHAPES[kind])
    scales = {"oscale": 0.003} if version == "2.6" else {"src_scale": 0.02, "wei_scale": 0.3, "dst_scale": 0.7}
    sizes = itertools.product((np.uint8, np.int8), ((5, 7), (4, 4), (6, 16)))
    images = [codes(rng, dtype, 2, 6, *size) for dtype, size in sizes]
    relu = [Eltwise(alpha=0.25)]
    attrs = (Attr(), Attr(src_zp=100), Attr(src_zp=-200), Attr(**scales, src_zp=4, dst_zp=3, post_ops=relu))
    windows = (WINDOW, Window(stride=(2, 2))) if kind == "1x1" else (WINDOW,)
    for attr, window, layout in itertools.product(attrs, windows, ("nhwc", "nchw")):
        how = {"window": window, "isa": isa, "version": version, "attr": attr, "dst_dt": dst_dt, "layout": layout}
        op = onednn.Convolution(weights, **how)
        for src in images:
            want = onednn.convolution(src, weights, **how)
            assert op.shape_of(src.shape) == want.shape
            for out in (None, *outs(want)):
                got = op(src, out)
                assert got is out or out is None
                assert np.array_equal(got, want)


def test_a_call_checks_its_images_and_out(rng):
    src, weights = codes(rng, np.uint8, 1, 6, 5, 7), codes(rng, np.int8, 5, 6, 3, 2)
    op = onednn.Convolution(weights, attr=Attr(src_scale=0.5, dst_zp=1), dst_dt="u8")
    with pytest.raises(ValueError, match=r"^out: "):
        op(src, out=np.zeros((1, 5, 3, 5), np.uint8))
    with pytest.raises(ValueError, match=r"^out: "):
        op(src, out=src.reshape(-1)[:90].reshape(1, 5, 3, 6))
    with pytest.raises(TypeError, match=r"^src: "):
        op(src.astype(np.int32))
    with pytest.raises(ValueError, match=r"src, NCHW, of shape .1, 5, 5, 7. has 5"):
        op(src[:, :5])
    with pytest.raises(ValueError, match=r"^weights: expected a window that fits"):
        op(src[:, :, :2])
    with pytest.raises(ValueError, match=r"^num_threads: "):
        op(src, num_threads=0)
    summing = onednn.Convolution(weights, attr=Attr(post_ops=[Sum()]))
    with pytest.raises(ValueError, match=r"^dst_in: expected the destination"):
        summing(src)
    with pytest.raises(ValueError, match=r"^dst_in: expected shape"):
        summing(src, dst_in=np.zeros((1, 5, 3, 5), np.int32))


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
    op, _ = prepare(onednn.convolution, weights, **how)
    for threads in (1, 2):
        assert np.array_equal(onednn.convolution(src, weights, num_threads=threads, **how), want)
        assert np.array_equal(op(src, num_threads=threads), want)


def test_codes_may_take_the_place_of_their_images(rng):
    src, weights = codes(rng, np.uint8, 1, 200, 200, 8).transpose(0, 3, 1, 2), codes(rng, np.int8, 8, 8, 3, 3)
    how = {"window": Window(pad_l=(1, 1), pad_r=(1, 1)), "attr": Attr(src_scale=0.01), "dst_dt": "u8"}
    want, op = onednn.convolution(src.copy(), weights, **how), onednn.Convolution(weights, **how)
    for call in (op, partial(onednn.convolution, weights=weights, **how)):
        again = src.copy("K")
        assert call(again, out=again) is again
        assert np.array_equal(again, want)


@pytest.mark.parametrize("scale", [1e30, 2e38])
def test_floats_that_overflow_saturate(scale):
    src, weights = np.full((1, 2, 2, 2), 255, np.uint8), np.full((2, 2, 1, 1), 127, np.int8)
    how = {"attr": Attr(src_scale=scale, wei_scale=scale), "dst_dt": "u8"}
    assert (onednn.convolution(src, weights, **how) == 255).all()
    assert (onednn.Convolution(weights, **how)(src) == 255).all()


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_float32_weights_are_packed_with_their_scale(rng, version, isa, dtype):
    src, weights = codes(rng, dtype, 1, 6, 4, 4), rng.normal(0, 1, (4, 6, 3, 3)).astype(np.float32)
    scale = rng.uniform(20, 60, 4) if version == "2.6" else 1 / rng.uniform(20, 60, 4)
    for wq_scale in (float(scale[0]), Scales(scale, 1)):
        for layout in ("nhwc", "nchw"):
            how = {"wq_scale": wq_scale, "isa": isa, "version": version, "layout": layout}
            want = onednn.convolution(src, weights, **how)
            assert np.array_equal(onednn.Convolution(weights, **how)(src), want)


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
ROOM = np.full(300, 7, np.int32)
OUT = ROOM[:18].reshape(1, 2, 3, 3)
READ_ONLY = OUT[:]
READ_ONLY.flags.writeable = False
BIAS_IN_OUT = OUT.reshape(-1)[:2]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            dict(src=SRC[:, :3]),
            ValueError,
            r"weights: shape \(2, 4, 3, 3\) is for 4 channels; src, NCHW, of shape .* has 3",
        ),
        (dict(src=SRC[..., :2]), ValueError, "weights: expected a window that fits"),
        (dict(weights=[[1]]), TypeError, "weights: expected int8, float32"),
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
    with pytest.raises(ValueError, match=r"^attr: the result holds nan, which has no code in u8"):
        onednn.convolution(SRC, WEIGHTS, bias, dst_in=np.full_like(out, 255), out=out, **how)
    assert (out == 7).all()


@pytest.mark.parametrize(
    ("weights", "options", "error", "words"),
    [
        (SRC, {}, TypeError, "weights: expected int8, float32, got uint8"),
        (WEIGHTS[0], {}, ValueError, "weights: expected shape .* got"),
        (WEIGHTS[..., :0], {}, ValueError, "weights: expected at least one group and one tap"),
        (WEIGHTS, {"wq_scale": 2.0}, ValueError, "wq_scale: expected None for int8 weights"),
        (WEIGHTS.astype(np.float32), {}, ValueError, "wq_scale: expected the scale of float32 weights"),
        (WEIGHTS * np.float32(np.nan), {"wq_scale": 1.0}, ValueError, "weights: expected numbers, got nan"),
        (WEIGHTS, {"isa": "amx"}, ValueError, "isa: expected one of"),
        (WEIGHTS, {"version": "1.0"}, ValueError, "version: expected one of"),
        (WEIGHTS, {"window": (1, 1)}, TypeError, "window: expected a qops.onednn.Window"),
        (WEIGHTS, {"layout": "chwn"}, ValueError, "layout: expected one of"),
        (WEIGHTS, {"dst_dt": "s16"}, ValueError, "dst_dt: expected one of"),
        (WEIGHTS, {"attr": Attr(wei_zp=1)}, ValueError, "wei_zp: not supported here"),
        (WEIGHTS, {"attr": Attr(oscale=1.0)}, ValueError, "oscale: not known to version '3.13'"),
        (WEIGHTS, {"bias": np.float32([1, 2, 3])}, ValueError, "bias: expected 2 values, one for each channel"),
        (WEIGHTS, {"bias": np.float32([1, np.nan])}, ValueError, "bias: expected numbers, got nan"),
    ],
)
def test_rejects_what_cannot_be_prepared(weights, options, error, words):
    with pytest.raises(error, match=words):
        onednn.Convolution(weights, **options)
