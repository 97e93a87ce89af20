"""Every op that nnlib and TensorFlow both have, on the same real data, and why their results differ.

A reason is shown by taking it away: the same ops once more, with that one thing made alike.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.network import digits, features, learned, run_float
from analysis.pictures import scenes
from qops import QTensor, nnlib, quantize, quantized_add_8p8to32, tensorflow, values

Reals = NDArray[np.float64]
POOL, STRIDE = (3, 3), (2, 2)
RANGE = "TensorFlow keeps the range, nnlib moves an end to put 0 on a code: nnlib's range for both"
GAIN = "nnlib's gain has few bits: the nearest codes"


class Result(NamedTuple):
    """What an op gave: codes, what they stand for and their range; no range where it gave real numbers."""

    codes: NDArray
    reals: Reals
    ends: tuple[float, float] | None


Either = QTensor | NDArray | Result


class Step(NamedTuple):
    """The results of both systems, once the differences named in `alike` and before have been taken away."""

    alike: str
    nnlib: Result
    tensorflow: Result


class Pair(NamedTuple):
    """An op that both systems have, and its results: as they are, then with one difference less each time."""

    nnlib: str
    tensorflow: str
    data: str
    steps: Sequence[Step]

    @property
    def name(self) -> str:
        """What the op is called, by one system or by both."""
        return self.nnlib if self.nnlib == self.tensorflow else f"{self.nnlib} / {self.tensorflow}"


class Data(NamedTuple):
    """A photograph and the layers of a network, as codes."""

    picture: QTensor  # less its mean
    blur: QTensor
    images: QTensor  # what the second convolution reads, (N, H, W, C)
    filters: QTensor  # (KH, KW, C, OC)
    sums: QTensor  # what that convolution makes of them
    bias: QTensor
    features: QTensor  # what the inner product reads
    weights: QTensor
    logits: QTensor


def kept(x: ArrayLike) -> QTensor:
    """Quantize over the range of the data: 0 lies between two codes."""
    x = np.ascontiguousarray(x, np.float32)
    return tensorflow.quantize_v2(x, x.min(), x.max())


def moved(x: ArrayLike) -> QTensor:
    """Quantize with 0 on a code."""
    return quantize(np.ascontiguousarray(x, np.float32))


@cache
def data(zero_on_code: bool = False) -> Data:
    """Give the picture and its blur, and what the network with contrast filters reads of the test images."""
    code = moved if zero_on_code else kept
    _, blur, _ = scenes()
    layers = learned(True)
    _, second, last, logits = run_float(layers, digits()[1].images)
    images, filters = code(second.transpose(0, 2, 3, 1)), code(layers[1].weights.transpose(2, 3, 1, 0))
    sums = nnlib.quantized_conv2d_8x8to32(images, filters, (1, 1), "SAME")
    return Data(
        code(blur.a),
        code(blur.b),
        images,
        filters,
        code(values(sums)),
        code(layers[1].bias),
        code(features(last)),
        code(layers[2].weights.T),
        code(logits),
    )


def of(x: Either) -> Result:
    """Give a triple as a Result, or real numbers, in which they are their own codes."""
    if isinstance(x, Result):
        return x
    return Result(x.data, values(x), (x.min, x.max)) if isinstance(x, QTensor) else Result(x, np.float64(x), None)


def pair(nnlib: str, tensorflow: str, data: str, n: Either, t: Either, *alike: tuple[str, Either, Either]) -> Pair:
    """Give a pair of ops: both results as they are, and for each reason both without it."""
    return Pair(nnlib, tensorflow, data, [Step(why, of(a), of(b)) for why, a, b in (("", n, t), *alike)])


def nearest(x: Reals, like: QTensor) -> Result:
    """The codes that stand for real numbers best, in the range of a tensor."""
    lowest = np.iinfo(like.data.dtype).min
    codes = (np.rint((x - like.min) / like.scale) + lowest).clip(lowest, np.iinfo(like.data.dtype).max)
    return Result(codes, like.min + (codes - lowest) * like.scale, (like.min, like.max))


def uniform(t: QTensor) -> tuple[NDArray[np.int8], float, int]:
    """The codes as int8, with scale and zero point."""
    return (t.data ^ 128).view(np.int8), t.scale, round(-t.min / t.scale) - 128


def from_int8(codes: NDArray[np.int8], like: QTensor) -> QTensor:
    """Codes as int8, in the range of a tensor."""
    return QTensor(codes.view(np.uint8) ^ 128, like.min, like.max)


def pairs() -> list[Pair]:
    """Give every pair of ops."""
    families = (_quantize, _dequantize, _add, _bias_add, _products, _activations, _pools, _concat, _requantize, _shrink)
    return [each for family in families for each in family()]


def _quantize() -> Iterator[Pair]:
    x = scenes()[1].a
    ends = float(x.min()), float(x.max())
    n, c = nnlib.quantize(x, *ends), nnlib.quantize_ref(x, *ends)
    t = tensorflow.quantize_v2(x, n.min, n.max)
    bits = "nnlib's vector unit keeps 19 bits of a number: its plain C instead"
    whole = tensorflow.quantize_v2(x, *ends)
    yield pair("Quantize", "QuantizeV2", "picture", n, whole, (RANGE, n, t), (bits, c, t))
    _, scale, zero = uniform(n)
    t = QTensor(tensorflow.uniform_quantize(x, scale, zero + 128, "quint8"), n.min, n.max)
    yield pair("Quantize", "UniformQuantize", "picture", n, t, (bits, c, t))


def _dequantize() -> Iterator[Pair]:
    t = data().picture
    n, first = nnlib.dequantize(t), tensorflow.dequantize(t, "MIN_FIRST")
    alike = "nnlib's code of 0 is whole, TensorFlow begins at min: its mode MIN_FIRST, which rounds min to a step"
    yield pair("Dequantize", "Dequantize", "picture", n, tensorflow.dequantize(t), (alike, n, first))
    t = data(True).picture
    n = nnlib.dequantize(t)
    yield pair("Dequantize", "UniformDequantize", "picture, 0 on a code", n, tensorflow.uniform_dequantize(*uniform(t)))
    t = _sums()
    n, scaled = nnlib.dequantize_qint32_f(t), tensorflow.dequantize(t, "SCALED")
    alike = "TensorFlow begins at min, in float32: its mode SCALED, which begins at 0"
    what = "sums of the convolution"
    yield pair("Dequantize_qint32_f", "Dequantize", what, n, tensorflow.dequantize(t), (alike, n, scaled))


def _sums() -> QTensor:
    d = data()
    return nnlib.quantized_conv2d_8x8to32(d.images, d.filters, (1, 1), "SAME")


def _add() -> Iterator[Pair]:
    (a, b), (c, d) = ((x.picture, x.blur) for x in (data(), data(True)))
    n, t, on = nnlib.quantized_add_8p8to32(a, b), tensorflow.quantized_add(a, b), nnlib.quantized_add_8p8to32(c, d)
    steps = "TensorFlow's steps of an operand are whole numbers of codes: exact sums instead"
    zero = "nnlib's code of 0 is whole: ranges with 0 on a code, and exact sums"
    exact, both = nearest(values(a) + values(b), n), nearest(values(c) + values(d), on)
    yield pair("Add_8p8to32", "QuantizedAdd", "picture + blur", n, t, (steps, n, exact), (zero, on, both))


def _bias_add() -> Iterator[Pair]:
    sums, bias = data().sums, data().bias
    n, t = nnlib.quantized_bias_add_8p8to32(sums, bias), tensorflow.quantized_bias_add(sums, bias)
    terms = [(x.data - float(nnlib.quantize_int(0.0, x.min, x.max))) * (x.scale / n.scale) for x in (sums, bias)]
    codes = sum(np.copysign(np.floor(np.abs(x) + 0.5), x) for x in terms)
    alike = "nnlib truncates the sum and a half, TensorFlow rounds each term: nnlib's terms, rounded alone"
    rounded = Result(codes, codes * n.scale, (n.min, n.max))
    yield pair("BiasAdd_8p8to32", "QuantizedBiasAdd", "sums + bias", n, t, (alike, rounded, t))


def _products() -> Iterator[Pair]:
    d = data()
    n = of(nnlib.quantized_mul_8x8to32(d.picture, d.blur))
    t = of(tensorflow.quantized_mul(d.picture, d.blur))
    alike = "nnlib counts in 128ths of TensorFlow's unit: its codes / 128", n._replace(codes=n.codes / 128), t
    yield pair("Mul_8x8to32", "QuantizedMul", "picture * blur", n, t, alike)
    n = of(nnlib.quantized_matmul_8x8to32(d.features, d.weights))
    t = of(tensorflow.quantized_matmul(d.features, d.weights))
    n = Result(n.codes[0, 0], n.reals[0, 0], n.ends)
    yield pair("MatMul_8x8to32", "QuantizedMatMul", "features, weights", n, t)
    (x, x_scale, x_zero), (w, w_scale, w_zero) = uniform(d.features), uniform(d.weights)
    codes = tensorflow.uniform_quantized_dot(x, w, x_scale, x_zero, w_scale, w_zero, x_scale * w_scale, 0)
    yield pair("MatMul_8x8to32", "UniformQuantizedDot", "features, weights", n, t._replace(codes=codes))
    n, t = of(_sums()), of(tensorflow.quantized_conv2d(d.images, d.filters, (1, 1, 1, 1), "SAME"))
    yield pair("Conv2d_8x8to32", "QuantizedConv2D", "images, filters", n, t)
    (x, x_scale, x_zero), (w, w_scale, w_zero) = uniform(d.images), uniform(d.filters)
    x, w = x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1)
    codes = tensorflow.uniform_quantized_convolution(
        x, w, x_scale, x_zero, w_scale, w_zero, x_scale * w_scale, 0, "SAME"
    ).transpose(0, 2, 3, 1)
    yield pair("Conv2d_8x8to32", "UniformQuantizedConvolution", "images, filters", n, t._replace(codes=codes))


def _activations() -> Iterator[Pair]:
    sums, logits = data().sums, data().logits
    yield pair("Relu_8", "QuantizedRelu", "sums", nnlib.quantized_relu_8(sums), tensorflow.quantized_relu(sums))
    n, t = nnlib.quantized_relux_8(logits, 6.0), tensorflow.quantized_relu6(logits)
    yield pair("ReluX_8", "QuantizedRelu6", "logits", n, t)


def _pools() -> Iterator[Pair]:
    picture = data().picture
    image = QTensor(picture.data[None, :, :, None], picture.min, picture.max)
    ours, theirs = (POOL, STRIDE, "SAME"), ((1, *POOL, 1), (1, *STRIDE, 1), "SAME")
    n, t = nnlib.quantized_max_pool_8(image, *ours), tensorflow.quantized_max_pool(image, *theirs)
    yield pair("MaxPool_8", "QuantizedMaxPool", "picture, 3 x 3", n, t)
    n, t = nnlib.quantized_avg_pool_8(image, *ours), tensorflow.quantized_avg_pool(image, *theirs)
    on = tensorflow.quantized_avg_pool(image, *theirs, onednn=True)
    alike = "TensorFlow truncates the mean, nnlib rounds: oneDNN on, with which TensorFlow rounds ties to even"
    yield pair("AvgPool_8", "QuantizedAvgPool", "picture, 3 x 3", n, t, (alike, n, on))


def _concat() -> Iterator[Pair]:
    d = data(True)
    a, b = (QTensor(x.data[..., None], x.min, x.max) for x in (d.picture, d.blur))
    n, t = nnlib.quantized_concat_8([a, b]), tensorflow.quantized_concat(2, [a, b])
    exact = nearest(np.concatenate([values(a), values(b)], axis=2), n)
    alike = "nnlib moves a range by whole steps of the operand: the nearest codes"
    yield pair("Concat_8", "QuantizedConcat", "picture, blur", n, t, (alike, exact, t))


def _requantize() -> Iterator[Pair]:
    d = data(True)
    acc = quantized_add_8p8to32(d.picture, d.blur)
    ends = float(values(acc).min()), float(values(acc).max())
    n, t = nnlib.requantize_32to8(acc, *ends), tensorflow.requantize(acc, *ends)
    same = tensorflow.requantize(acc, n.min, n.max)
    exact = nearest(acc.data * acc.scale, n)
    yield pair("Requantize_32to8", "Requantize", "picture + blur", n, t, (RANGE, n, same), (GAIN, exact, same))
    t = from_int8(tensorflow.uniform_requantize(acc.data, acc.scale, 0, *uniform(n)[1:]), n)
    yield pair("Requantize_32to8", "UniformRequantize", "picture + blur", n, t, (GAIN, exact, t))
    ends = nnlib.adjust_range(0.7 * d.picture.min, 0.7 * d.picture.max)[:2]
    n = nnlib.requantize_8to8(d.picture, *ends)
    t = from_int8(tensorflow.uniform_requantize(*uniform(d.picture), *uniform(n)[1:]), n)
    yield pair("Requantize_8to8", "UniformRequantize", "picture", n, t)


def _shrink() -> Iterator[Pair]:
    acc, what = _sums(), "sums of the convolution"
    n, t = nnlib.requantization_range_32(acc), _range(tensorflow.requantization_range(acc))
    up = _range((n[0] + acc.scale / 2, n[1] + acc.scale / 2))
    alike = "TensorFlow's code 0 stands for half a step: nnlib's range, half a step up"
    yield pair("RequantizationRange_32", "RequantizationRange", what, _range(n), t, (alike, up, t))
    n, t = nnlib.quantize_down_and_shrink_range_32to8(acc), tensorflow.quantize_down_and_shrink_range(acc)
    same, exact = tensorflow.requantize(acc, n.min, n.max), nearest(acc.data * acc.scale, n)
    names = "QuantizeDownAndShrinkRange_32to8", "QuantizeDownAndShrinkRange"
    yield pair(*names, what, n, t, (RANGE, n, same), (GAIN, exact, same))


def _range(ends: tuple[float, float]) -> Result:
    return Result(np.float32(ends), np.float64(ends), ends)
