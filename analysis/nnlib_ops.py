"""Ops of nnlib that networks run, each beside exact arithmetic on the values of its codes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis import nnlib_products as p
from analysis.ops import Reals, Tried, drawn, tried
from analysis.systems import Range
from qops import QTensor, nnlib, values

SLOPES = np.float32([0.25, -0.5, 0.9, 0.01])
SIDE, CHANNELS, WINDOW = 8, 4, 3
BIAS, ALPHA, BETA = 1.0, 0.1, 0.75


class Op(NamedTuple):
    """An op of nnlib; `run` tries it on codes that `rng` draws, of a range."""

    name: str
    claim: str  # its key in claims.toml
    run: Callable[[np.random.Generator, Range], Tried]
    signed: bool = True  # it takes ranges that begin below 0
    why: str = ""  # its errors are large where 0 is on a code of the input


def _images(rng: np.random.Generator, ends: Range) -> QTensor:
    return drawn(rng, (1, SIDE, SIDE, CHANNELS), ends)


def _each(op: Callable[[QTensor], QTensor], exact: Callable[[Reals], Reals]) -> Callable[..., Tried]:
    def run(rng: np.random.Generator, ends: Range) -> Tried:
        x = _images(rng, ends)
        return tried(op(x), exact(values(x)))

    return run


def _shares(x: Reals) -> Reals:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _softmax(rng: np.random.Generator, ends: Range) -> Tried:
    x = drawn(rng, (60, 10), ends)
    return tried(nnlib.quantized_softmax_8(x), _shares(values(x)))


def _normalized(x: Reals) -> Reals:
    around = np.pad(x**2, ((0, 0),) * 3 + ((WINDOW // 2, WINDOW // 2),))
    sums = np.lib.stride_tricks.sliding_window_view(around, WINDOW, axis=3).sum(-1)
    return x / (BIAS + ALPHA * sums) ** BETA


def _lerp(size: int, wanted: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Reals]:
    at = np.arange(wanted) * size / wanted
    lower = np.floor(at).astype(np.intp)
    return lower, np.minimum(lower + 1, size - 1), at - lower


def _resized(times: int) -> Callable[[Reals], Reals]:
    def exact(x: Reals) -> Reals:
        lower, upper, share = _lerp(SIDE, times * SIDE)
        part = share[:, np.newaxis]
        tall = x[:, lower] * (1 - part[..., np.newaxis]) + x[:, upper] * part[..., np.newaxis]
        return np.asarray(tall[:, :, lower] * (1 - part) + tall[:, :, upper] * part)

    return exact


def _resize(times: int) -> Callable[..., Tried]:
    return _each(lambda x: nnlib.quantized_resize_bilinear_8(x, (times * SIDE,) * 2), _resized(times))


def _mean(rng: np.random.Generator, ends: Range) -> Tried:
    x = _images(rng, ends)
    return tried(nnlib.quantized_mean_8(x, [1, 2], *ends), values(x).mean((1, 2), keepdims=True))


def _recip(rng: np.random.Generator, ends: Range) -> Tried:
    x = QTensor(rng.integers(30, 256, (1, 5, 5, 4)).astype(np.uint8), *ends)
    return tried(nnlib.quantized_recip_8(x), 1 / values(x))


def _div(rng: np.random.Generator, ends: Range) -> Tried:
    x = _images(rng, ends)
    by = QTensor(np.array([50, 90, 130, 255], np.uint8), 0.0, 5.1)
    return tried(nnlib.quantized_div_8(x, by), values(x) / values(by))


def _sum(rng: np.random.Generator, ends: Range) -> Tried:
    x = _images(rng, ends)
    return tried(nnlib.quantized_sum_8to32(x, [1, 2]), values(x).sum((1, 2), keepdims=True))


def _batch_norm(op: Callable[..., QTensor], bias: QTensor) -> Callable[..., Tried]:
    def run(rng: np.random.Generator, ends: Range) -> Tried:
        x, top = _images(rng, ends), 4 * max(map(abs, ends))
        scale = QTensor(np.array([200, 0, 160, 128], np.uint8), -1.28, 1.27)
        return tried(op(x, scale, bias, -top * 128 / 127, top), values(x) * values(scale) + values(bias))

    return run


def _instance_norm(rng: np.random.Generator, ends: Range) -> Tried:
    x = QTensor(rng.integers(0, 256, (1, 16, 16, 32)).astype(np.uint8), *ends)
    real = values(x)
    exact = (real - real.mean((1, 2), keepdims=True)) / real.std((1, 2), keepdims=True)
    return tried(nnlib.quantized_instance_norm_8(x), exact)


def _sloped(x: Reals) -> Reals:
    return np.where(x < 0, x * SLOPES, x)


def _lrn(x: QTensor) -> QTensor:
    return nnlib.quantized_lrn_8(x, WINDOW, BIAS, ALPHA, BETA)


def _sigmoid(x: Reals) -> Any:
    return 1 / (1 + np.exp(-x))


BIAS_8 = QTensor(np.array([255, 0, 100, 200], np.uint8), -1.28, 1.27)
BIAS_32 = QTensor(np.array([2**30, -(2**30), -(2**27), 2**29], np.int32), -2.0, 2.0)
SHORT = "computes the mean and the spread in floats of 15 bits, and has a whole number as gain"
RESCALED = "multiplies weights that are 129 codes or more from their zero, and drops a bit of each"
OPS = (
    Op("supernode, weights with 0 on code 128", "nnlib_supernode", p.convolved("v65", p.MIDDLE, p.FULL)),
    Op("supernode on a v60, weights with 0 on code 0", "nnlib_v60", p.convolved("v60", p.POSITIVE, p.NARROW)),
    Op("supernode on a v65, the same", "nnlib_v65", p.convolved("v65", p.POSITIVE, p.NARROW), why=RESCALED),
    Op("depthwise_supernode", "nnlib_depthwise", p.convolved_by_channel),
    Op("input_supernode", "nnlib_input", p.first_layer),
    Op("supernode3322", "nnlib_3322", p.of_two_channels),
    Op("transpose_conv2d_8x8p32to8", "nnlib_transposed", p.transposed),
    Op("depthwise_conv2d_8x8to32, int32", "nnlib_depthwise_sums", p.summed_by_channel),
    Op("super_fc", "nnlib_super_fc", p.connected),
    Op("l2_pool_8", "nnlib_l2_pool", p.pooled),
    Op("tanh_8", "nnlib_tanh", _each(nnlib.quantized_tanh_8, np.tanh)),
    Op("sigmoid_8", "nnlib_sigmoid", _each(nnlib.quantized_sigmoid_8, _sigmoid)),
    Op("softmax_8, 10 codes a row", "nnlib_softmax", _softmax),
    Op("prelu_8", "nnlib_prelu", _each(lambda x: nnlib.quantized_prelu_8(x, SLOPES), _sloped)),
    Op("lrn_8", "nnlib_lrn", _each(_lrn, _normalized)),
    Op("resize_bilinear_8, three times the size", "nnlib_resize", _resize(3)),
    Op("resize_bilinear_8, twice the size", "nnlib_doubled", _resize(2)),
    Op("mean_8, range of the input", "nnlib_mean", _mean),
    Op("sum_8to32, int32", "nnlib_sum", _sum),
    Op("sqrt_8", "nnlib_sqrt", _each(nnlib.quantized_sqrt_8, np.sqrt), signed=False),
    Op("recip_8", "nnlib_recip", _recip, signed=False),
    Op("div_8 by channels", "nnlib_div", _div),
    Op(
        "batch_norm_8x8p8to8, range given",
        "nnlib_batch_norm",
        _batch_norm(nnlib.quantized_batch_norm_8x8p8to8, BIAS_8),
    ),
    Op(
        "batch_norm_8x8p32to8, range given",
        "nnlib_batch_norm_32",
        _batch_norm(nnlib.quantized_batch_norm_8x8p32to8, BIAS_32),
    ),
    Op("instance_norm_8, codes of all sizes", "nnlib_instance_norm", _instance_norm, why=SHORT),
)
