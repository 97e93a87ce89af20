"""Differences, products and relu of the front door, with the data and the references of the same ops of qops.nnlib."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

import qops
from benchmarks import nnlib, peak
from benchmarks.case import Candidate, Case, both, shared
from benchmarks.memcpy import BYTES
from benchmarks.nnlib import A, B, centred
from benchmarks.products import any_codes
from qops.affine import Affine
from qops.frontdoor.add import BOUND_8P8TO8, BOUND_8P8TO32
from qops.frontdoor.matmul import BOUND_MATMUL, BOUND_MATMUL_8
from qops.frontdoor.mul import BOUND_8X8TO8, BOUND_8X8TO32

Array = NDArray[Any]
SUM, PRODUCT = (
    Affine(12 / 256, 110, "u8"),
    Affine(19 / 256, 128, "u8"),
)
FARTHEST = [max(map(abs, affine.range)) for affine in (A, B)]
SUM_LEVEL = 2 * 2**17 * max(FARTHEST) / 2**32  # the output step of an add, or sub, into int32
PRODUCT_LEVEL = 2 * 2**11 * FARTHEST[0] * FARTHEST[1] / 2**32


def pair(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw two tensors of n codes."""
    return {"a": any_codes(rng, (n,), np.uint8), "b": any_codes(rng, (n,), np.uint8)}


def difference(a: Array, b: Array) -> Array:
    """Give the exact real difference."""
    return A.scale * centred(a, A) - B.scale * centred(b, B)


def product(a: Array, b: Array) -> Array:
    """Give the exact real product."""
    return A.scale * B.scale * nnlib.multiplied(a, b)


def sub_8(a: Array, b: Array) -> Array:
    """Give the real-valued codes of the difference."""
    return difference(a, b) / SUM.scale + SUM.zero_point


def sub_32(a: Array, b: Array) -> Array:
    """Give the real-valued int32 codes of the difference."""
    return difference(a, b) / SUM_LEVEL


def mul_8(a: Array, b: Array) -> Array:
    """Give the real-valued codes of the product."""
    return product(a, b) / PRODUCT.scale + PRODUCT.zero_point


def mul_32(a: Array, b: Array) -> Array:
    """Give the real-valued int32 codes of the product."""
    return product(a, b) / PRODUCT_LEVEL


def judged(call: Callable[..., Any], dtype: DTypeLike, within: float, **words: Any) -> Callable[..., Candidate]:
    """Give a maker of candidates that call qops."""

    def make(a: Array, b: Array) -> Candidate:
        x, y, out = (a, *A.range), (b, *B.range), shared(a.size, dtype).reshape(a.shape)
        return Candidate(lambda: call(x, y, out=out, **words), lambda: out, within)

    return make


def qops_sub_int8(a: Array, b: Array) -> Candidate:
    """Call qops with the int8 codes of the same values, into int8."""
    x, y = (((q ^ np.uint8(128)).view(np.int8), *affine.range) for q, affine in ((a, A), (b, B)))
    out = shared(a.size, np.int8)
    return Candidate(
        lambda: qops.sub(x, y, dtype="int8", guess=SUM.range, out=out), lambda: out.astype(np.int16) + 128, BOUND_8P8TO8
    )


def qops_relu(a: Array) -> Candidate:
    """Call qops."""
    t, out = (a, *A.range), shared(a.size, np.uint8)
    return Candidate(lambda: qops.relu(t, out=out), lambda: out, 0)


def qops_matmul(a: Array, b: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs `b` in each call, or the prepared op."""
    x, y, out = (a, *A.range), (b, *B.range), shared(a.size, np.int32).reshape(a.shape)
    if prepared:
        op = qops.MatMul(y)
        return Candidate(lambda: op(x, out), lambda: out, BOUND_MATMUL)
    return Candidate(lambda: qops.matmul(x, y, out=out), lambda: out, BOUND_MATMUL)


def qops_conv2d(x: Array, w: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs the filters in each call, or the prepared op."""
    t, f, out = (x, *A.range), (w, *B.range), shared(x.size, np.int32).reshape(x.shape)
    if prepared:
        op = qops.Conv2D(f, padding="SAME")
        return Candidate(lambda: op(t, out), lambda: out, BOUND_MATMUL)
    return Candidate(lambda: qops.conv2d(t, f, padding="SAME", out=out), lambda: out, BOUND_MATMUL)


def layer_range(weights: Array) -> Affine:
    """Give the steps of the results of a layer, whose products deviate by about 73 * 73 steps: most are within two."""
    return Affine(2 * A.scale * B.scale * 73**2 * math.sqrt(weights.size // weights.shape[-1]) / 255, 0, "u8")


def layer_codes(results: Callable[..., Array], **inputs: Array) -> Array:
    """Give the real-valued codes of a layer with a bias of 1, 2, ... steps and a relu."""
    sums, weights = results(**inputs), [*inputs.values()][1]
    y = layer_range(weights)
    values = A.scale * B.scale * sums + y.scale * np.arange(1, sums.shape[-1] + 1)
    return np.clip(values / y.scale, 0, 255)


def qops_layer(
    function: Callable[..., Any], kind: Callable[..., Any], prepared: bool = False, **inputs: Array
) -> Candidate:
    """Call qops: a layer into 8 bits whose weights have a range for each output channel."""
    (t, w), words = inputs.values(), {"padding": "same"} if function is qops.conv2d else {}
    y, n, out = layer_range(w), w.shape[-1], shared(t.size, np.uint8).reshape(t.shape)
    ends = [np.full((1,) * (w.ndim - 1) + (n,), end, np.float32) for end in B.range]
    bias = y.scale * np.arange(1, n + 1)
    words |= {"dtype": "uint8", "range": y.range, "clip": (0, None)}
    if prepared:
        op = kind((w, *ends), bias, **words)
        return Candidate(lambda: op((t, *A.range), out), lambda: out, BOUND_MATMUL_8)
    return Candidate(lambda: function((t, *A.range), (w, *ends), bias, **words, out=out), lambda: out, BOUND_MATMUL_8)


def layer(case: Case, results: Callable[..., Array], function: Callable[..., Any], kind: Callable[..., Any]) -> Case:
    """Make a row of a whole layer of a row's data, whose sums of products `results` gives."""
    judged = partial(qops_layer, function, kind)
    return replace(case, name=f"{case.name}_layer", reference=partial(layer_codes, results), qops=judged)


def of_bytes(name: str, inputs: Any, reference: Any, candidate: Any, count: int) -> Case:
    """Make a row that is timed against memcpy of so many bytes an element."""
    return Case(name, inputs, reference, candidate, lambda n: count * n, BYTES)


SUB_8 = judged(qops.quantized_sub_8p8to8, np.uint8, BOUND_8P8TO8, guess=SUM.range)
SUB_32 = judged(qops.quantized_sub_8p8to32, np.int32, BOUND_8P8TO32)
MUL_8 = judged(qops.quantized_mul_8x8to8, np.uint8, BOUND_8X8TO8, guess=PRODUCT.range)
MUL_32 = judged(qops.quantized_mul_8x8to32, np.int32, BOUND_8X8TO32)
MATMUL = Case(
    "matmul", nnlib.matrices, nnlib.product, qops_matmul, lambda n: 2 * n**3, peak.EXACT, (64, 256, 1024), (64, 256)
)
CONV2D = Case("conv2d", nnlib.filtered, nnlib.convolved, qops_conv2d, nnlib.operations, peak.EXACT, (14, 56), (14,))
LAYERS = [
    layer(MATMUL, nnlib.product, qops.matmul, qops.MatMul),
    layer(CONV2D, nnlib.convolved, qops.conv2d, qops.Conv2D),
]
FRONTDOOR = [
    of_bytes("quantized_sub_8p8to8", pair, sub_8, SUB_8, 3),
    of_bytes("sub_int8", pair, sub_8, qops_sub_int8, 3),
    of_bytes("quantized_sub_8p8to32", pair, sub_32, SUB_32, 6),
    of_bytes("quantized_mul_8x8to8", pair, mul_8, MUL_8, 3),
    of_bytes("quantized_mul_8x8to32", pair, mul_32, MUL_32, 6),
    of_bytes("relu", lambda rng, n: {"a": any_codes(rng, (n,), np.uint8)}, nnlib.relu, qops_relu, 2),
    *both(MATMUL),
    *both(CONV2D),
    *both(LAYERS[0]),
    *both(LAYERS[1]),
]
