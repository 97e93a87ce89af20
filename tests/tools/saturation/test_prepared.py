"""`qops.saturation` of the prepared layers of oneDNN, `qops.rules` and the front door, beside what they compute."""

import itertools
import json
from functools import partial

import numpy as np
import pytest

import qops
from qops import onednn, rules
from qops.onednn import Attr, Window

COLUMNS = [*itertools.product(("2.6", "3.2", "3.13"), ("avx2", "avx512", "vnni"))]
TYPES = {np.uint8: onednn.GemmU8S8S32, np.int8: onednn.GemmS8S8S32}


def draw(seed=0):
    return np.random.default_rng(seed)


def extreme(shape, dtype, seed=0):
    """Codes of which most are the lowest or the highest."""
    random, ends = draw(seed), np.iinfo(dtype)
    some = random.integers(ends.min, ends.max + 1, shape)
    end = np.where(random.random(shape) < 0.7, ends.max, ends.min)
    return np.where(random.random(shape) < 0.6, end, some).astype(dtype)


def compare(make, x, isa, version):
    """What the report says of data, and what the op computes beside the same op with VNNI."""
    op, exact = (make(isa=name, version=version) for name in (isa, "vnni"))
    layer = qops.saturation(op, x).layers[0]
    if "halved" in layer.lanes:
        assert layer.safe
        return layer
    lost = np.abs(op(x).astype(np.int64) - exact(x))
    assert (layer.seen.wrong, layer.seen.largest) == (np.count_nonzero(lost), lost.max())
    assert layer.safe <= (not lost.any())
    assert (layer.witness is None) == (not layer.unsafe_groups)
    for found in (qops.saturation(op), qops.saturation(exact, machine="avx2" if isa != "vnni" else None)):
        assert found.machine == ("vnni" if isa == "vnni" else "avx2")
        assert found.runtime == "onednn"
    assert not qops.saturation(op, x[:0]).layers[0].seen.wrong
    return layer


@pytest.mark.parametrize(("version", "isa"), COLUMNS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("k", "n"), [(7, 3), (257, 4), (257, 1), (770, 2)])
def test_products_of_onednn_lose_what_the_report_says(version, isa, dtype, k, n):
    """Blocks of k, vectors without them, weights that are shifted, offsets that are exact: the choice of each one."""
    w, found = extreme((n, k), np.int8, k), []
    for rows in (1, 5):
        x = extreme((rows, k), dtype, k + rows)
        for more in ({}, {"weights_format": "oi"}):
            found.append(compare(partial(onednn.InnerProduct, w, **more), x, isa, version))
        found.append(compare(partial(onednn.MatMul, w.T.copy()), x, isa, version))
        if version != "2.6":  # whose sums of rows have a fault of their own
            found.append(compare(partial(onednn.MatMul, w.T.copy(), attr=Attr(src_zp=3)), x, isa, version))
        for more in ({}, {"ao": 5}, {"co": 7}, {"transa": "T"}):
            codes = x.T.copy() if "transa" in more else x
            op = TYPES[dtype](w.T.copy(), isa=isa, version=version, **more)
            exact = TYPES[dtype](w.T.copy(), version=version, **more)
            lost = op(codes).astype(np.int64) - exact(codes)
            layer = qops.saturation(op, codes).layers[0]
            assert layer.seen.wrong == np.count_nonzero(lost)
            assert layer.accumulator.bias_bits == (4 if "co" in more else 0)
        found.append(compare(partial(TYPES[dtype], w, transb="T"), x, isa, version))
    assert any(layer.seen.wrong for layer in found) == (isa != "vnni")


@pytest.mark.parametrize(("version", "isa"), COLUMNS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("shape", "window"),
    [
        ((4, 3, 3, 3), Window(pad_l=(1, 1), pad_r=(1, 1))),
        ((4, 1, 3, 3), Window()),
        ((4, 1, 3, 3), Window(pad_l=(1, 1), dilation=(1, 0))),
        ((4, 2, 1, 1), Window(stride=(2, 2))),
        ((2, 4, 4, 3, 3), Window()),
        ((3, 1, 1, 3, 3), Window()),
        ((2, 3, 2, 3, 3), Window(pad_l=(1, 0))),
    ],
    ids=str,
)
def test_convolutions_of_onednn_lose_what_the_report_says(version, isa, dtype, shape, window):
    """Channels of a tap, taps of images of one channel, the exact kernels, padding beside a zero point."""
    w, channels = extreme(shape, np.int8), shape[-3] * (shape[0] if len(shape) == 5 else 1)
    for size, layout in itertools.product(((6, 7), (9, 4)), ("nhwc", "nchw")):
        x = extreme((2, channels, *size), dtype)
        more = {"window": window, "layout": layout, "attr": Attr(src_zp=2)}
        layer = compare(partial(onednn.Convolution, w, **more), x, isa, version)
        if layout == "nchw" or isa == "vnni":
            assert layer.safe
        if len(shape) == 4 and shape[1] == 3 and layout == "nhwc" and isa != "vnni":
            assert layer.safe == (dtype == np.int8)
            assert layer.groups == 4 * 9 * 2 if dtype == np.uint8 else "halved" in layer.lanes


def test_ends_and_zero_points_beyond_the_codes():
    w = np.full((1, 2, 3, 3), 127, np.int8)
    op = onednn.Convolution(w, isa="avx2", window=Window(pad_l=(1, 1)), attr=Attr(src_zp=-300))
    assert not qops.saturation(op).safe
    assert qops.saturation(op, ends=(0, 127)).safe
    seen = qops.saturation(op, np.full((1, 2, 3, 3), 255, np.uint8)).layers[0].seen
    assert (seen.wrong, seen.highest) == (4, 18 * 555 * 127)
    assert qops.saturation(op, runtime="plain", machine="avx2").runtime == "plain"
    made = qops.saturation(op).repair("widen")
    assert qops.saturation(onednn.Convolution(made.weights.reshape(w.shape), isa="avx2")).safe


def test_batches_of_weights():
    w = np.full((3, 4, 2), 1, np.int8)
    w[1] = 127
    op = onednn.MatMul(w, isa="avx2")
    assert qops.saturation(op).layers[0].channels.tolist() == [2, 3]
    with pytest.raises(ValueError, match="data: no data are read for a batch of weights"):
        qops.saturation(op, np.ones((3, 1, 4), np.uint8))


@pytest.mark.parametrize("rule", rules.ACCUMULATE)
def test_sums_of_a_rule_lose_what_it_says(rule):
    """On the machine of the rule, unless another one is asked for."""
    w, x = extreme((257, 5), np.int8), extreme((9, 257), np.uint8)
    filters, image = extreme((104, 1, 3, 3), np.int8), extreme((1, 104, 6, 6), np.uint8)
    moves = {"pads": (1, 1, 1, 1), "groups": 104, "x_zero_point": 200}
    wrong = 0
    for op, exact, data in (
        (rules.Accumulate(w, rule=rule), rules.Accumulate(w), x),
        (rules.AccumulateConv(filters, rule=rule, **moves), rules.AccumulateConv(filters, **moves), image),
    ):
        lost = np.abs(op(data) - exact(data))
        layer = qops.saturation(op, data).layers[0]
        assert (layer.seen.wrong, layer.seen.largest) == (np.count_nonzero(lost), lost.max())
        assert layer.accumulator.has == (64 if rule == "exact" or not layer.unsafe_groups else 32)
        wrong += layer.seen.wrong
    assert bool(wrong) == (rule != "exact")
    assert not qops.saturation(exact, machine="avx2").safe


def test_a_bias_beyond_its_type():
    """It is said of the layer, in the text, on the page and to programs."""
    w, bias = np.full((4, 3), -1, np.int8), np.int64([5, 2**31, -(2**40)])
    found = qops.saturation(rules.Accumulate(w, bias, dtype="int32"))
    acc = found.layers[0].accumulator
    assert (acc.bias_bits, acc.has, acc.bias_channels.tolist()) == (41, 32, [1, 2])
    assert not found.safe
    said = "the bias needs 41 bits and is stored in 32: 2 of 3 channels, the first 1"
    assert found.layers[0].notes == (said,)
    for text in (str(found), found.page(), found._repr_html_()):
        assert f"Accumulate: {said}" in text
    told = json.loads(json.dumps(found.as_dict()))["layers"][0]
    assert told["notes"] == [said]
    assert told["accumulator"]["bias_channels"] == [1, 2]
    wide = qops.saturation(rules.Accumulate(w, bias))
    assert wide.safe
    assert wide.layers[0].accumulator.has == 64
    assert "bias" not in str(wide)


def test_a_bias_that_alone_does_not_fit():
    """Though no sum with it leaves the accumulator."""
    op = rules.Accumulate(np.full((2, 1), -128, np.int8), np.int64([2**31]), dtype="int32")
    found = qops.saturation(op, ends=(1, 127))
    assert found.layers[0].accumulator.channels.size == 0
    assert found.layers[0].accumulator.bias_channels.tolist() == [0]
    assert not found.safe


def test_sums_of_16_bit_data_in_64_bits():
    op = qops.tflite.FullyConnected(
        np.full((1, 1000), 127, np.int8),
        np.array([2**33]),
        **{"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 0, "dtype": "int16"},
    )
    assert qops.saturation(op).safe
    found = qops.saturation(op, machine="s32_16x8")
    assert found.layers[0].unsafe_groups == 1
    assert found.layers[0].accumulator.bias_channels.tolist() == [0]


@pytest.mark.parametrize("is_image", [False, True])
def test_a_float_bias_of_the_front_door(is_image):
    """Its codes count the steps of the accumulator, which data with their range tell."""
    codes = np.full((1, 1, 2, 3) if is_image else (2, 3), 1, np.int8)
    make = qops.Conv2D if is_image else qops.MatMul
    op = make((codes, -1.28e-6, 1.27e-6), [0.0, 20.0, 21.0])
    unknown = qops.saturation(op, machine="vnni")
    assert unknown.layers[0].accumulator.bias_bits is None
    assert unknown.safe
    assert "the bias is real values" in str(unknown)
    x = np.ones((1, 1, 1, 2) if is_image else (1, 2), np.uint8)
    for data in (qops.QTensor(x, 0.0, 255.0), (x, 0.0, 255.0)):
        assert qops.saturation(op, data, machine="vnni").safe  # 21 / 1e-8 is below 2**31, 21.47e8
        small = (x, 0.0, 255e-2)
        acc = qops.saturation(op, small, machine="vnni").layers[0].accumulator
        assert (acc.bias_bits, acc.bias_channels.tolist()) == (39, [1, 2])
    exact = make((codes, -1.28e-6, 1.27e-6), np.int32([0, 2**31 - 1, -(2**31)]))
    assert qops.saturation(exact, data, machine="vnni").layers[0].accumulator.bias_bits == 32


def test_what_is_no_layer_is_named():
    with pytest.raises(TypeError, match=r"what: expected .* Convolution, .* Accumulate, .*; got QuantizeLinear"):
        qops.saturation(qops.onnx.QuantizeLinear(0.1))
    op = onednn.GemmU8S8S32(np.ones((2, 2), np.int8), offsetc="C", co=np.int32([1, 2]))
    with pytest.raises(ValueError, match="what: an offset for each row"):
        qops.saturation(op)
    with pytest.raises(ValueError, match="what: MatMul has no weights"):
        qops.saturation(onednn.MatMul(np.ones((0, 2), np.int8)))
    with pytest.raises(ValueError, match="machine: 'onednn' is known on avx2, vnni, amx, got 'neon'"):
        qops.saturation(onednn.MatMul(np.ones((2, 2), np.int8)), machine="neon")
