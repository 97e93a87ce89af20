"""Ops of nnlib and TensorFlow that compute otherwise than the front door: each beside its own formula.

Also `error`, and the sums of 16 by 8 bits.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import qops
from benchmarks import peak, products
from benchmarks.case import Candidate, Case, both, shared
from benchmarks.memcpy import BYTES
from benchmarks.nnlib import QUICK, SIZES, A, B, centred
from benchmarks.pools import Pool
from benchmarks.products import any_codes
from qops import nnlib, rules, tensorflow

Array = NDArray[Any]
CHANNELS, TAPS = 64, 2
WEIGHT = 0x7F80  # of the operand of the coarser step, in nnlib's add into int32
IN = 8.0  # int32 codes stand for -8 to 8
LEVEL = 2 * IN / 2**32
LIMIT = 4.0  # their int16 codes for -4 to 4
SUM = A.range[0] + B.range[0], A.range[1] + B.range[1]
BIAS_LEVEL = 2 * 2**17 * max(map(abs, (*A.range, *B.range))) / 2**32
FARTHEST = 2**14 * max(-min(A.range[0], B.range[0]), A.range[1], B.range[1])  # of TensorFlow's sums
ONE = 2048  # codes of TensorFlow's norms that are 1
PARAMETERS = {name: (np.arange(CHANNELS, dtype=np.uint8) + 90, 0.0, 2.0) for name in ("m", "v", "beta", "gamma")}
EPSILON = 0.5


def tensors(a: Array, b: Array) -> tuple[tuple[Array, float, float], ...]:
    """Give both operands."""
    return (a, *A.range), (b, *B.range)


def pair(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw two tensors of n codes."""
    return {"a": any_codes(rng, (n,), np.uint8), "b": any_codes(rng, (n,), np.uint8)}


def integers(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw int32 codes within the range of the results."""
    return {"x": rng.integers(-(2**28), 2**28, n, dtype=np.int32)}


def half_up(x: Array, bits: int) -> Array:
    """Divide by 2**bits and round, ties up."""
    return (x + (1 << bits >> 1)) >> bits


def half_away(x: Any) -> Array:
    """Round, ties away from zero."""
    return np.trunc(x + np.copysign(0.5, x))


def real_sum(a: Array, b: Array) -> Array:
    """Give the exact sum in steps of the 8-bit result."""
    return (A.scale * centred(a, A) + B.scale * centred(b, B)) * (255 / (SUM[1] - SUM[0]))


def add_8(a: Array, b: Array) -> Candidate:
    """Call qops.nnlib. Its weights have 15 bits, its zero points are whole codes: 1 LSB."""
    (x, y), out, found = tensors(a, b), shared(a.size, np.uint8), list[qops.QTensor]()

    def run() -> None:
        found[:] = [nnlib.quantized_add_8p8to8(x, y, *SUM, out=out)]

    return Candidate(run, lambda: qops.values(found[0]) * (255 / (SUM[1] - SUM[0])), 1)


def weighted(a: Array, b: Array) -> Array:
    """Give ka * (a - za) + kb * (b - zb), where B has the coarser step."""
    finer = np.floor(A.scale * WEIGHT / B.scale + 0.5)
    return finer * centred(a, A) + WEIGHT * centred(b, B)


def add_32(a: Array, b: Array) -> Candidate:
    """Call qops.nnlib."""
    (x, y), out = tensors(a, b), shared(a.size, np.int32)
    return Candidate(lambda: nnlib.quantized_add_8p8to32(x, y, out=out), lambda: out, 0)


def biased(a: Array, b: Array) -> Array:
    """Give the exact sum in steps of the int32 result."""
    return (A.scale * centred(a, A) + B.scale * centred(b, B)) / BIAS_LEVEL


def bias_add(a: Array, b: Array) -> Candidate:
    """Call qops.nnlib, which truncates."""
    (x, y), out = tensors(a, b), shared(a.size, np.int32)
    return Candidate(lambda: nnlib.quantized_bias_add_8p8to32(x, y, out=out), lambda: out, 1.5 + 2**-6)


def converted(q: Array, low: float, scale: float) -> Array:
    """Give TensorFlow's term of an operand: codes 0 and 1 are converted, the others follow in whole steps."""
    first, second = half_away(np.array([low, low + scale]) / (2 * FARTHEST / 2**32))
    return first + q.astype(float) * (second - first)


def terms(a: Array, b: Array) -> Array:
    """Add the terms."""
    return converted(a, A.range[0], A.scale) + converted(b, B.range[0], B.scale)


def tensorflow_add(a: Array, b: Array) -> Candidate:
    """Call qops.tensorflow."""
    (x, y), out = tensors(a, b), shared(a.size, np.int32)
    return Candidate(lambda: tensorflow.quantized_add(x, y, out=out), lambda: out, 0)


def reals(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw real values, some of them beyond the range of A."""
    return {"x": rng.normal(0, 1.2, n).astype(np.float32)}


def quantized(x: Array) -> Array:
    """Give the real-valued codes, cut to the ends."""
    return np.clip(x / A.scale + A.zero_point, 0, 255)


def nnlib_quantize(x: Array) -> Candidate:
    """Call qops.nnlib, whose integers have 19 bits."""
    out = shared(x.size, np.uint8)
    return Candidate(lambda: nnlib.quantize(x, *A.range, out=out), lambda: out, 0.53)


def quantize_v2(x: Array) -> Candidate:
    """Call qops.tensorflow, which multiplies in float32."""
    out = shared(x.size, np.uint8)
    return Candidate(lambda: tensorflow.quantize_v2(x, *A.range, out=out), lambda: out, 0.5 + 2**-13)


def to_8(x: Array) -> Array:
    """Give the codes in the range of A, by the formula for multipliers of few bits; the zero point is whole."""
    multiplier = round(LEVEL / A.scale * 2**31)
    return np.clip(half_up(x.astype(np.int64) * multiplier, 31) + A.zero_point, 0, 255)


def requantize_8(x: Array) -> Candidate:
    """Call qops.nnlib."""
    out = shared(x.size, np.uint8)
    return Candidate(lambda: nnlib.requantize_32to8((x, -IN, IN), *A.range, out=out), lambda: out, 0)


def to_16(x: Array) -> Array:
    """Round twice, as both shifts of the formula do; the gain is 2**-15, so e = -14."""
    shift = 14
    multiplier = round(LEVEL / (LIMIT / 2**15) * 2 ** (31 + shift))
    return np.clip(half_up(half_up(x.astype(np.int64) * multiplier, 31), shift), -(2**15), 2**15 - 1)


def requantize_16(x: Array) -> Candidate:
    """Call qops.nnlib."""
    out = shared(x.size, np.int16)
    return Candidate(lambda: nnlib.requantize_32to16((x, -IN, IN), -LIMIT, LIMIT, out=out), lambda: out, 0)


def images(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw one image."""
    return Pool(TAPS, TAPS, CHANNELS).image(rng, n)


def fixed(x: Array) -> Array:
    """Give TensorFlow's int32 codes of the range from -2**20 to 2**20."""
    return half_away(np.float64(x) * ONE * (1 - 2.0**-32)).astype(np.int64)


def parameters(channels: int) -> dict[str, tuple[Array, float, float]]:
    """Give mean, variance, offset and factor of each channel."""
    return {name: (codes[:channels], lo, hi) for name, (codes, lo, hi) in PARAMETERS.items()}


def normalized(x: Array) -> Array:
    """Multiply and add the integers of each channel; the division truncates."""
    m, v, beta, gamma = (np.float32(q) * np.float32(hi / 255) for q, _, hi in parameters(x.shape[-1]).values())
    scale = np.float32(1) / np.sqrt(v + np.float32(EPSILON)) * gamma
    product = fixed(A.scale * centred(x, A)) * fixed(scale)
    return np.trunc(product / ONE) + fixed(-m * scale + beta)


def batch_norm(x: Array) -> Candidate:
    """Call qops.tensorflow."""
    t, out, more = (x, *A.range), shared(x.size, np.int32).reshape(x.shape), parameters(x.shape[-1])
    op = tensorflow.quantized_batch_norm_with_global_normalization
    return Candidate(
        lambda: op(t, **more, variance_epsilon=EPSILON, scale_after_normalization=True, out=out), lambda: out, 0
    )


def doubled(x: Array) -> Array:
    """Put pixels between the pixels, those of rows first; both means are rounded by the formula of integers."""
    x = x.astype(np.int64)
    beside, bits = np.concatenate([x[:, :, 1:], x[:, :, -1:]], 2), 7
    rows = np.stack([x << bits, (x << bits) + (beside - x) * 64], 3).reshape(1, x.shape[1], -1, x.shape[3])
    below = np.concatenate([rows[:, 1:], rows[:, -1:]], 1)
    moved = np.stack([rows, rows + np.trunc((below - rows) / 2**bits).astype(np.int64) * 64], 2)
    return np.trunc((moved + 64) / 2**bits).reshape(1, -1, *rows.shape[2:])


def resize(x: Array) -> Candidate:
    """Call qops.tensorflow, for twice the height and width."""
    height, width = 2 * x.shape[1], 2 * x.shape[2]
    t, out = (x, *A.range), shared(4 * x.size, np.uint8).reshape(1, height, width, -1)
    return Candidate(lambda: tensorflow.quantized_resize_bilinear(t, (height, width), out=out), lambda: out, 0)


def measured(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw codes, and what they should be."""
    a = any_codes(rng, (n,), np.uint8)
    return {"a": a, "x": (A.scale * centred(a, A) + rng.normal(0, 0.01, n)).astype(np.float32)}


def off(a: Array, x: Array) -> Array:
    """Give the largest, mean and mean signed error in LSB."""
    error = centred(a, A) - x.astype(float) / A.scale
    return np.array([np.abs(error).max(), np.abs(error).mean(), error.mean()])


def error(a: Array, x: Array) -> Candidate:
    """Call qops, whose sums are exact."""
    t, found = (a, *A.range), list[qops.ErrorReport]()

    def run() -> None:
        found[:] = [qops.error(t, x)]

    return Candidate(run, lambda: np.array([found[0].max, found[0].mean, found[0].bias]), 2**-30)


def accumulate(a: Array, b: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, or the prepared op."""
    out, op = shared(a.size, np.int64).reshape(a.shape), rules.Accumulate(b)
    run = partial(op, a, out) if prepared else partial(rules.accumulate, a, b, out=out)
    return Candidate(run, lambda: out, 0)


def accumulate_conv(a: Array, b: Array, prepared: bool = False) -> Candidate:
    """Call qops, as a convolution with one tap for each place of an image one pixel high."""
    image, filters = np.ascontiguousarray(a.T).reshape(1, len(b), -1), np.ascontiguousarray(b.T)[:, :, np.newaxis]
    out, op = shared(a.size, np.int64).reshape(1, b.shape[1], -1), rules.AccumulateConv(filters)
    run = partial(op, image, out) if prepared else partial(rules.accumulate_conv, image, filters, out=out)
    return Candidate(run, lambda: out[0].T, 0)


def row(name: str, inputs: Callable[..., Any], reference: Any, judged: Any, count: int) -> Case:
    """Make a row that is timed against memcpy of so many bytes an element."""
    return Case(name, inputs, reference, judged, lambda n: count * n, BYTES, SIZES, QUICK)


SQUARE = (64, 256, 1024)
SUMS = Case(
    "rules_accumulate",
    partial(products.matrices, None, np.int16),
    products.exact,
    accumulate,
    lambda n: 2 * n**3,
    peak.EXACT,
    SQUARE,
    SQUARE[:2],
)
CONV_SUMS = replace(SUMS, name="rules_accumulate_conv", qops=accumulate_conv)
SYSTEMS = [
    row("nnlib_add_8p8to8", pair, real_sum, add_8, 3),
    row("nnlib_add_8p8to32", pair, weighted, add_32, 6),
    row("nnlib_bias_add_8p8to32", pair, biased, bias_add, 6),
    row("nnlib_quantize", reals, quantized, nnlib_quantize, 5),
    row("nnlib_requantize_32to8", integers, to_8, requantize_8, 5),
    row("nnlib_requantize_32to16", integers, to_16, requantize_16, 6),
    row("tensorflow_add", pair, terms, tensorflow_add, 6),
    row("tensorflow_quantize_v2", reals, quantized, quantize_v2, 5),
    row("tensorflow_batch_norm", images, normalized, batch_norm, 5),
    row("tensorflow_resize_bilinear", images, doubled, resize, 5),
    row("error", measured, off, error, 5),
    *both(SUMS),
    *both(CONV_SUMS),
]
