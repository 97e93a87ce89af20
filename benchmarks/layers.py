"""Layers of the front door beside those of frameworks: 8-bit codes times constant weights, into 8-bit codes of a range.

The convolutions are those of `quantized_convolution`, 3 x 3 of 64 channels without padding; the products are n x n.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import qops
from benchmarks import peak
from benchmarks import quantized_convolution as conv
from benchmarks.case import Candidate, Case, shared
from benchmarks.products import any_codes
from qops.affine import Affine
from qops.frontdoor.layer import BOUND_LAYER_8

Array = NDArray[Any]
X, W = conv.X, Affine(conv.W_SCALE, 0, "s8")


def result(w: Array) -> Affine:
    """Give the steps of the result: products of so many terms deviate by the root of their number."""
    return Affine(2.0 ** round(np.log2(2 * (len(w) / 576) ** 0.5)), 128, "u8")


def matrices(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw two square factors."""
    return {"x": any_codes(rng, (n, n), np.uint8), "w": any_codes(rng, (n, n), np.int8)}


def real_codes(x: Array, w: Array) -> Array:
    """Give the real-valued codes of the exact sums, cut to the ends."""
    y = result(w)
    sums = (x.astype(float) - X.zero_point) @ w.astype(float)
    return np.clip(sums * (X.scale * W.scale / y.scale) + y.zero_point, 0, 255)


def qops_matmul(x: Array, w: Array) -> Candidate:
    """Call a prepared op of qops."""
    out = shared(x.size, np.uint8).reshape(x.shape)
    op, a = qops.MatMul((w, *W.range), dtype="uint8", range=result(w).range), (x, *X.range)
    return Candidate(lambda: op(a, out), lambda: out, BOUND_LAYER_8)


def qops_convolution(x: Array, w: Array) -> Candidate:
    """Call a prepared op of qops; its images have the channels of a pixel side by side, as these are in memory."""
    filters = np.ascontiguousarray(conv.plain(w).transpose(2, 3, 1, 0))
    op = qops.Conv2D((filters, *W.range), groups=conv.groups(x, w), dtype="uint8", range=conv.result(w).range)
    image = x.transpose(0, 2, 3, 1), *X.range
    shape = op.shape_of(image[0].shape)
    out = shared(int(np.prod(shape)), np.uint8).reshape(shape)
    return Candidate(lambda: op(image, out), lambda: out.transpose(0, 3, 1, 2), BOUND_LAYER_8)


def convolution(case: Case) -> Case:
    """Make a row beside a row of frameworks' convolutions."""
    return replace(case, name=f"layer_{case.name}", qops=qops_convolution, beside=case.name)


PRODUCT = Case(
    "layer_matmul_u8", matrices, real_codes, qops_matmul, lambda n: 2 * n**3, peak.EXACT, (64, 256, 1024), (64, 256)
)
LAYERS = [PRODUCT, convolution(conv.DENSE), convolution(conv.DEPTHWISE)]
