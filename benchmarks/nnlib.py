"""Ops of qops.nnlib: element by element, and products of n by n."""

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peak
from benchmarks.case import Candidate, Case, shared
from benchmarks.memcpy import BYTES
from benchmarks.products import CHANNELS, TAPS, any_codes
from qops import nnlib
from qops.affine import Affine

Array = NDArray[Any]
A, B = Affine(5 / 256, 100, "u8"), Affine(6 / 256, 128, "u8")  # exact in float32
HULL = min(A.range[0], B.range[0]), max(A.range[1], B.range[1])
HULL_STEP = (HULL[1] - HULL[0]) / 255
SIZES, QUICK = (10_000, 100_000, 1_000_000), (100_000,)


def centred(q: Array, affine: Affine, dtype: Any = float) -> Array:
    """Take the zero point off the codes."""
    return q.astype(dtype) - dtype(affine.zero_point)


def pair(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw two tensors of n codes, in rows of up to 64."""
    shape = (-1, gcd(n, 64))
    return {"a": any_codes(rng, (n,), np.uint8).reshape(shape), "b": any_codes(rng, (n,), np.uint8).reshape(shape)}


def relu(a: Array) -> Array:
    """Give the codes, none below that of 0."""
    return np.maximum(a, np.uint8(A.zero_point))


def qops_relu(a: Array) -> Candidate:
    """Call qops."""
    t, out = (a, *A.range), shared(a.size, np.uint8)
    return Candidate(lambda: nnlib.quantized_relu_8(t, out=out), lambda: out, 0)


def multiplied(a: Array, b: Array) -> Array:
    """Give the exact products of the codes less their zero points."""
    return centred(a, A) * centred(b, B)


def qops_mul_32(a: Array, b: Array) -> Candidate:
    """Call qops."""
    x, y, out = (a, *A.range), (b, *B.range), shared(a.size, np.int32).reshape(a.shape)
    return Candidate(lambda: nnlib.quantized_mul_8x8to32(x, y, out=out), lambda: out / 128, 0)


def qops_mul_8(a: Array, b: Array) -> Candidate:
    """Call qops; its range is that of the products."""
    x, y, out = (a, *A.range), (b, *B.range), shared(a.size, np.uint8).reshape(a.shape)
    found: list[Any] = []
    products = multiplied(a, b)

    def run() -> None:
        found[:] = (nnlib.quantized_mul_8x8to8(x, y, out=out),)

    def result() -> Array:
        _, lo, hi = found[0]
        return (lo + out * ((hi - lo) / 255)) / (A.scale * B.scale)

    return Candidate(run, result, 0.52 * (max(products.max(), 0) - min(products.min(), 0)) / 254)


def joined(a: Array, b: Array) -> Array:
    """Give the real-valued codes in the range that holds both."""
    return (np.concatenate([A.scale * centred(a, A), B.scale * centred(b, B)], -1) - HULL[0]) / HULL_STEP


def qops_concat(a: Array, b: Array) -> Candidate:
    """Call qops, which rounds the offset of a part to its steps, then the code."""
    parts, out = [(a, *A.range), (b, *B.range)], shared(2 * a.size, np.uint8).reshape(len(a), -1)
    return Candidate(lambda: nnlib.quantized_concat_8(parts, out=out), lambda: out, 1.01)


def matrices(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw two factors."""
    return {"a": any_codes(rng, (n, n), np.uint8), "b": any_codes(rng, (n, n), np.uint8)}


def product(a: Array, b: Array) -> Array:
    """Multiply in float64, which holds these sums."""
    return centred(a, A) @ centred(b, B)


def qops_matmul(a: Array, b: Array) -> Candidate:
    """Call qops."""
    x, y, out = (a, *A.range), (b, *B.range), shared(a.size, np.int32).reshape(1, 1, *a.shape)
    return Candidate(lambda: nnlib.quantized_matmul_8x8to32(x, y, out=out), lambda: out[0, 0], 0)


def filtered(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw an image of n x n pixels, and filters."""
    return {
        "x": any_codes(rng, (1, n, n, CHANNELS), np.uint8),
        "w": any_codes(rng, (TAPS, TAPS, CHANNELS, CHANNELS), np.uint8),
    }


def convolved(x: Array, w: Array) -> Array:
    """Multiply windows by filters in float64; padding is a real 0."""
    padded = np.pad(centred(x, A), ((0, 0), (1, 1), (1, 1), (0, 0)))
    moved = np.lib.stride_tricks.sliding_window_view(padded, (TAPS, TAPS), axis=(1, 2))
    return np.tensordot(moved, centred(w, B), ((3, 4, 5), (2, 0, 1)))


def qops_convolution(x: Array, w: Array) -> Candidate:
    """Call qops."""
    t, f, out = (x, *A.range), (w, *B.range), shared(x.size, np.int32).reshape(x.shape)
    return Candidate(lambda: nnlib.quantized_conv2d_8x8to32(t, f, (1, 1), "SAME", out=out), lambda: out, 0)


def operations(n: int) -> int:
    """Count two operations for each multiplication."""
    return 2 * n * n * CHANNELS * CHANNELS * TAPS * TAPS


def of_bytes(name: str, inputs: Any, reference: Any, judged: Any, count: int) -> Case:
    """Make a row that is timed against memcpy of so many bytes an element."""
    return Case(f"nnlib_{name}", inputs, reference, judged, lambda n: count * n, BYTES, SIZES, QUICK)


NNLIB = [
    of_bytes("relu_8", lambda rng, n: {"a": any_codes(rng, (n,), np.uint8)}, relu, qops_relu, 2),
    of_bytes("mul_8x8to32", pair, multiplied, qops_mul_32, 6),
    of_bytes("mul_8x8to8", pair, multiplied, qops_mul_8, 3),
    of_bytes("concat_8", pair, joined, qops_concat, 4),
    Case(
        "nnlib_matmul_8x8to32",
        matrices,
        product,
        qops_matmul,
        lambda n: 2 * n**3,
        peak.EXACT,
        (64, 128, 256, 512, 1024),
        (64, 256),
    ),
    Case("nnlib_conv2d_8x8to32", filtered, convolved, qops_convolution, operations, peak.EXACT, (14, 56), (14,)),
]
