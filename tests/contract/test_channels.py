"""Each op that takes ranges or scales per channel gives a channel what it gives that channel alone, on every tier."""

import numpy as np
import pytest
from equal import equal
from ops import on_every_tier

import qops

CHANNELS = 21
SHAPE = (37, CHANNELS)


def spans(rng, near_0):
    """Ranges of many widths, a channel each: around 0, or so narrow and far from it that few codes lie within."""
    width = 10.0 ** rng.uniform(-3, 1, CHANNELS)
    lo = -width * rng.uniform(0.1, 0.9, CHANNELS) if near_0 else rng.uniform(20, 900, CHANNELS)
    return np.float32(lo), np.float32(lo + (width if near_0 else np.maximum(width * 1e-2, 1e-5 * lo)))


def tensor(rng, dtype, near_0):
    """Codes of a dtype with a range for each column."""
    limits, (lo, hi) = np.iinfo(dtype), spans(rng, near_0)
    data = rng.integers(limits.min, limits.max, SHAPE, dtype, endpoint=True)
    return qops.QTensor(data, -hi, hi) if dtype == np.int32 else qops.QTensor(data, lo, hi)


def column(t, i):
    return qops.QTensor(np.ascontiguousarray(t.data[:, i : i + 1]), float(t.min[i]), float(t.max[i]))


def check(whole, alone):
    """`whole`, made of all channels, has the columns that `alone` gives for each."""
    for i in range(CHANNELS):
        got, want = whole[:, i], alone(i)
        equal(got, want[:, 0], why=f"channel {i}")


@pytest.mark.parametrize("near_0", [True, False], ids=["around 0", "far from 0"])
@pytest.mark.parametrize("to", ["one", "each"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32])
def test_requantize(dtype, to, near_0, rng):
    t, (lo, hi) = tensor(rng, dtype, near_0), spans(rng, near_0)
    if dtype == np.int32:
        t = qops.QTensor(t.data, -2 * hi, 2 * hi)
    if to == "one":
        lo, hi = np.full_like(lo, lo[3]), np.full_like(hi, hi[3])
    found = on_every_tier(qops.requantize, t, lo, hi)
    check(found.data, lambda i: qops.requantize(column(t, i), float(lo[i]), float(hi[i])).data)
    turned = qops.QTensor(np.ascontiguousarray(t.data.T), t.min[:, None], t.max[:, None])
    along = on_every_tier(qops.requantize, turned, lo[:, None], hi[:, None])
    equal(along.data.T, found.data)


@pytest.mark.parametrize("near_0", [True, False], ids=["around 0", "far from 0"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32])
def test_dequantize_relu_and_error(dtype, near_0, rng):
    t = tensor(rng, dtype, near_0)
    check(on_every_tier(qops.dequantize, t), lambda i: qops.dequantize(column(t, i)))
    check(on_every_tier(qops.relu, t).data, lambda i: qops.relu(column(t, i)).data)
    real = qops.values(t) + rng.normal(0, 1, SHAPE) * (np.float64(t.max) - t.min) / 1000
    whole = qops.signed_error(t, real)
    check(whole, lambda i: qops.signed_error(column(t, i), real[:, i : i + 1]))
    assert qops.error(t, real).max == np.abs(whole).max()


@pytest.mark.parametrize("near_0", [True, False], ids=["around 0", "far from 0"])
def test_quantize(near_0, rng):
    lo, hi = spans(rng, near_0)
    x = np.float32(rng.uniform(lo, hi, SHAPE))
    found = on_every_tier(qops.quantize, x, lo, hi)
    check(found.data, lambda i: qops.quantize(x[:, i : i + 1], float(lo[i]), float(hi[i])).data)
    found = on_every_tier(qops.quantize, x, axis=1)
    check(found.data, lambda i: qops.quantize(x[:, i : i + 1]).data)


@pytest.mark.parametrize("near_0", [True, False], ids=["around 0", "far from 0"])
@pytest.mark.parametrize(
    "words",
    [{}, {"dtype": "uint8", "range": (-3000.0, 1e6)}, {"dtype": "int8", "range": (-20.0, 80.0), "clip": (0, 60.0)}],
    ids=["int32", "uint8", "int8"],
)
@pytest.mark.parametrize("biased", [False, True])
def test_layers(words, biased, near_0, rng):
    w = tensor(rng, np.int8, near_0)
    lo, hi = w.min.copy(), w.max.copy()
    lo[:9], hi[:9] = -128 * hi[:9], 127 * hi[:9]  # these have 0 on their middle code
    w = qops.QTensor(w.data, lo[None], hi[None])
    a = qops.QTensor(rng.integers(0, 256, (19, 37), np.uint8), -0.25, 2.0)
    bias = rng.uniform(-60, 60, CHANNELS) if biased else None
    found = on_every_tier(qops.matmul, a, w, bias, **words)

    def alone(i):
        one = qops.QTensor(np.ascontiguousarray(w.data[:, i : i + 1]), float(w.min[0, i]), float(w.max[0, i]))
        return qops.matmul(a, one, bias[i : i + 1] if biased else None, **words).data

    check(found.data, alone)
    x = qops.QTensor(a.data.reshape(19, 1, 1, 37), a.min, a.max)
    filters = qops.QTensor(w.data.reshape(1, 1, 37, -1), w.min.reshape(1, 1, 1, -1), w.max.reshape(1, 1, 1, -1))
    convolved = on_every_tier(qops.conv2d, x, filters, bias, **words)
    equal(convolved.data.reshape(19, -1), found.data)


@pytest.mark.parametrize("rule", ["tflite-double", "tflite-single", "rndnu", "fp32-even", "double-away"])
def test_rules(rule, rng):
    acc = rng.integers(-(2**20), 2**20, SHAPE, np.int32)
    scales = 10.0 ** rng.uniform(-6, -3, CHANNELS)
    found = on_every_tier(qops.rules.requantize, acc, rule, scale=scales, zero_point=3)
    check(found, lambda i: qops.rules.requantize(acc[:, i : i + 1], rule, scale=float(scales[i]), zero_point=3))


def test_onnx(rng):
    scales, x = np.float32(10.0 ** rng.uniform(-3, 0, CHANNELS)), np.float32(rng.normal(0, 3, SHAPE))
    zeros = rng.integers(0, 256, CHANNELS, np.uint8)
    found = on_every_tier(qops.onnx.quantize_linear, x, scales, zeros, axis=1)
    check(found, lambda i: qops.onnx.quantize_linear(x[:, i : i + 1], scales[i], zeros[i]))
    real = on_every_tier(qops.onnx.dequantize_linear, found, scales, zeros, axis=1)
    check(real, lambda i: qops.onnx.dequantize_linear(found[:, i : i + 1], scales[i], zeros[i]))


def test_tensorflow(rng):
    t = tensor(rng, np.int32, True)
    codes = t.data.reshape(1, 1, *SHAPE)
    found = on_every_tier(qops.tensorflow.requantize_per_channel, (codes, t.min, t.max), -3.0, 3.0)

    def alone(i):
        one = codes[..., i : i + 1], t.min[i : i + 1], t.max[i : i + 1]
        return qops.tensorflow.requantize_per_channel(one, -3.0, 3.0).data[0, 0]

    check(found.data[0, 0], alone)
