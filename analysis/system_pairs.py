"""Every op that nnlib and TensorFlow both have, on the same data, and why their results differ.

A reason is shown by taking it away: the same ops once more, with that one thing made alike.
"""

from collections.abc import Iterator

import numpy as np

from analysis.pictures import scenes
from analysis.system_data import Pair, Result, Step, data, from_int8, nearest, of, plain, uniform
from qops import QTensor, nnlib, quantized_add_8p8to32, tensorflow, values

POOL, STRIDE = (3, 3), (2, 2)
RANGE = "TensorFlow keeps the range, nnlib moves an end to put 0 on a code: nnlib's range for both"
GAIN = "nnlib's gain has few bits: the nearest codes"


def pairs() -> list[Pair]:
    """Give every pair of ops."""
    families = (_quantize, _dequantize, _add, _bias_add, _products, _activations, _pools, _concat, _requantize, _shrink)
    return [pair for family in families for pair in family()]


def _quantize() -> Iterator[Pair]:
    x = scenes()[1].a
    ends = float(x.min()), float(x.max())
    n, c = nnlib.quantize(x, *ends), nnlib.quantize_ref(x, *ends)
    t = of(tensorflow.quantize_v2(x, n.min, n.max))
    bits = "nnlib's vector unit keeps 19 bits of a number: its plain C instead"
    steps = [
        Step("", of(n), of(tensorflow.quantize_v2(x, *ends))),
        Step(RANGE, of(n), t),
        Step(bits, of(c), t),
    ]
    yield Pair("Quantize", "QuantizeV2", "picture", steps)
    _, scale, zero = uniform(n)
    t = of(QTensor(tensorflow.uniform_quantize(x, scale, zero + 128, "quint8"), n.min, n.max))
    yield Pair("Quantize", "UniformQuantize", "picture", [Step("", of(n), t), Step(bits, of(c), t)])


def _dequantize() -> Iterator[Pair]:
    t = data().picture
    n = plain(nnlib.dequantize(t))
    steps = [
        Step("", n, plain(tensorflow.dequantize(t))),
        Step(
            "nnlib's code of 0 is whole, TensorFlow begins at min: its mode MIN_FIRST, which rounds min to a step",
            n,
            plain(tensorflow.dequantize(t, "MIN_FIRST")),
        ),
    ]
    yield Pair("Dequantize", "Dequantize", "picture", steps)
    t = data(True).picture
    steps = [Step("", plain(nnlib.dequantize(t)), plain(tensorflow.uniform_dequantize(*uniform(t))))]
    yield Pair("Dequantize", "UniformDequantize", "picture, 0 on a code", steps)
    t = _sums()
    n = plain(nnlib.dequantize_qint32_f(t))
    steps = [
        Step("", n, plain(tensorflow.dequantize(t))),
        Step(
            "TensorFlow begins at min, in float32: its mode SCALED, which begins at 0",
            n,
            plain(tensorflow.dequantize(t, "SCALED")),
        ),
    ]
    yield Pair("Dequantize_qint32_f", "Dequantize", "sums of the convolution", steps)


def _sums() -> QTensor:
    d = data()
    return nnlib.quantized_conv2d_8x8to32(d.images, d.filters, (1, 1), "SAME")


def _add() -> Iterator[Pair]:
    (a, b), (c, d) = ((x.picture, x.blur) for x in (data(), data(True)))
    n, t, on = nnlib.quantized_add_8p8to32(a, b), tensorflow.quantized_add(a, b), nnlib.quantized_add_8p8to32(c, d)
    steps = [
        Step("", of(n), of(t)),
        Step(
            "TensorFlow's steps of an operand are whole numbers of codes: exact sums instead",
            of(n),
            nearest(values(a) + values(b), n),
        ),
        Step(
            "nnlib's code of 0 is whole: ranges with 0 on a code, and exact sums",
            of(on),
            nearest(values(c) + values(d), on),
        ),
    ]
    yield Pair("Add_8p8to32", "QuantizedAdd", "picture + blur", steps)


def _bias_add() -> Iterator[Pair]:
    sums, bias = data().sums, data().bias
    n, t = nnlib.quantized_bias_add_8p8to32(sums, bias), tensorflow.quantized_bias_add(sums, bias)
    terms = [(x.data - float(nnlib.quantize_int(0.0, x.min, x.max))) * (x.scale / n.scale) for x in (sums, bias)]
    codes = sum(np.copysign(np.floor(np.abs(x) + 0.5), x) for x in terms)
    alike = "nnlib truncates the sum and a half, TensorFlow rounds each term: nnlib's terms, rounded alone"
    steps = [Step("", of(n), of(t)), Step(alike, Result(codes, codes * n.scale, (n.min, n.max)), of(t))]
    yield Pair("BiasAdd_8p8to32", "QuantizedBiasAdd", "sums + bias", steps)


def _products() -> Iterator[Pair]:
    d = data()
    n = of(nnlib.quantized_mul_8x8to32(d.picture, d.blur))
    t = of(tensorflow.quantized_mul(d.picture, d.blur))
    alike = "nnlib counts in 128ths of TensorFlow's unit: its codes / 128"
    steps = [Step("", n, t), Step(alike, n._replace(codes=n.codes / 128), t)]
    yield Pair("Mul_8x8to32", "QuantizedMul", "picture * blur", steps)
    n = of(nnlib.quantized_matmul_8x8to32(d.features, d.weights))
    t = of(tensorflow.quantized_matmul(d.features, d.weights))
    n = Result(n.codes[0, 0], n.reals[0, 0], n.ends)
    yield Pair("MatMul_8x8to32", "QuantizedMatMul", "features, weights", [Step("", n, t)])
    (x, x_scale, x_zero), (w, w_scale, w_zero) = uniform(d.features), uniform(d.weights)
    codes = tensorflow.uniform_quantized_dot(x, w, x_scale, x_zero, w_scale, w_zero, x_scale * w_scale, 0)
    yield Pair("MatMul_8x8to32", "UniformQuantizedDot", "features, weights", [Step("", n, t._replace(codes=codes))])
    n, t = of(_sums()), of(tensorflow.quantized_conv2d(d.images, d.filters, (1, 1, 1, 1), "SAME"))
    yield Pair("Conv2d_8x8to32", "QuantizedConv2D", "images, filters", [Step("", n, t)])
    (x, x_scale, x_zero), (w, w_scale, w_zero) = uniform(d.images), uniform(d.filters)
    x, w = x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1)
    t = t._replace(
        codes=tensorflow.uniform_quantized_convolution(
            x, w, x_scale, x_zero, w_scale, w_zero, x_scale * w_scale, 0, "SAME"
        ).transpose(0, 2, 3, 1)
    )
    yield Pair("Conv2d_8x8to32", "UniformQuantizedConvolution", "images, filters", [Step("", n, t)])


def _activations() -> Iterator[Pair]:
    sums, logits = data().sums, data().logits
    steps = [Step("", of(nnlib.quantized_relu_8(sums)), of(tensorflow.quantized_relu(sums)))]
    yield Pair("Relu_8", "QuantizedRelu", "sums", steps)
    steps = [Step("", of(nnlib.quantized_relux_8(logits, 6.0)), of(tensorflow.quantized_relu6(logits)))]
    yield Pair("ReluX_8", "QuantizedRelu6", "logits", steps)


def _pools() -> Iterator[Pair]:
    picture = data().picture
    image = QTensor(picture.data[None, :, :, None], picture.min, picture.max)
    ours, theirs = (POOL, STRIDE, "SAME"), ((1, *POOL, 1), (1, *STRIDE, 1), "SAME")
    n, t = nnlib.quantized_max_pool_8(image, *ours), tensorflow.quantized_max_pool(image, *theirs)
    yield Pair("MaxPool_8", "QuantizedMaxPool", "picture, 3 x 3", [Step("", of(n), of(t))])
    n, t = nnlib.quantized_avg_pool_8(image, *ours), tensorflow.quantized_avg_pool(image, *theirs)
    on = tensorflow.quantized_avg_pool(image, *theirs, onednn=True)
    alike = "TensorFlow truncates the mean, nnlib rounds: oneDNN on, with which TensorFlow rounds ties to even"
    steps = [Step("", of(n), of(t)), Step(alike, of(n), of(on))]
    yield Pair("AvgPool_8", "QuantizedAvgPool", "picture, 3 x 3", steps)


def _concat() -> Iterator[Pair]:
    d = data(True)
    a, b = (QTensor(x.data[..., None], x.min, x.max) for x in (d.picture, d.blur))
    n, t = nnlib.quantized_concat_8([a, b]), tensorflow.quantized_concat(2, [a, b])
    exact = nearest(np.concatenate([values(a), values(b)], axis=2), n)
    alike = "nnlib moves a range by whole steps of the operand: the nearest codes"
    yield Pair("Concat_8", "QuantizedConcat", "picture, blur", [Step("", of(n), of(t)), Step(alike, exact, of(t))])


def _requantize() -> Iterator[Pair]:
    d = data(True)
    acc = quantized_add_8p8to32(d.picture, d.blur)
    ends = float(values(acc).min()), float(values(acc).max())
    n, t = nnlib.requantize_32to8(acc, *ends), tensorflow.requantize(acc, *ends)
    same = of(tensorflow.requantize(acc, n.min, n.max))
    exact = nearest(acc.data * acc.scale, n)
    steps = [Step("", of(n), of(t)), Step(RANGE, of(n), same), Step(GAIN, exact, same)]
    yield Pair("Requantize_32to8", "Requantize", "picture + blur", steps)
    t = tensorflow.uniform_requantize(acc.data, acc.scale, 0, *uniform(n)[1:])
    steps = [Step("", of(n), from_int8(t, n)), Step(GAIN, exact, from_int8(t, n))]
    yield Pair("Requantize_32to8", "UniformRequantize", "picture + blur", steps)
    ends = nnlib.adjust_range(0.7 * d.picture.min, 0.7 * d.picture.max)[:2]
    n = nnlib.requantize_8to8(d.picture, *ends)
    t = from_int8(tensorflow.uniform_requantize(*uniform(d.picture), *uniform(n)[1:]), n)
    yield Pair("Requantize_8to8", "UniformRequantize", "picture", [Step("", of(n), t)])


def _shrink() -> Iterator[Pair]:
    acc = _sums()
    n, t = nnlib.requantization_range_32(acc), tensorflow.requantization_range(acc)
    half = acc.scale / 2
    steps = [
        Step("", _range(n), _range(t)),
        Step(
            "TensorFlow's code 0 stands for half a step: nnlib's range, half a step up",
            _range((n[0] + half, n[1] + half)),
            _range(t),
        ),
    ]
    yield Pair("RequantizationRange_32", "RequantizationRange", "sums of the convolution", steps)
    down, shrunk = nnlib.quantize_down_and_shrink_range_32to8(acc), tensorflow.quantize_down_and_shrink_range(acc)
    same = of(tensorflow.requantize(acc, down.min, down.max))
    exact = nearest(acc.data * acc.scale, down)
    steps = [Step("", of(down), of(shrunk)), Step(RANGE, of(down), same), Step(GAIN, exact, same)]
    yield Pair("QuantizeDownAndShrinkRange_32to8", "QuantizeDownAndShrinkRange", "sums of the convolution", steps)


def _range(ends: tuple[float, float]) -> Result:
    return Result(np.float32(ends), np.float64(ends), ends)
