"""Ops of qops.tensorflow, with the data and the references of the same ops of qops.nnlib."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import nnlib, peak
from benchmarks.case import Candidate, Case, shared
from benchmarks.memcpy import BYTES
from benchmarks.nnlib import A, B
from qops import tensorflow

Array = NDArray[Any]
STRIDES = (1, 1, 1, 1)


def qops_relu(a: Array) -> Candidate:
    """Call qops."""
    t, out = (a, *A.range), shared(a.size, np.uint8)
    return Candidate(lambda: tensorflow.quantized_relu(t, out=out), lambda: out, 0)


def qops_mul(a: Array, b: Array) -> Candidate:
    """Call qops."""
    x, y, out = (a, *A.range), (b, *B.range), shared(a.size, np.int32).reshape(a.shape)
    return Candidate(lambda: tensorflow.quantized_mul(x, y, out=out), lambda: out, 0)


def qops_concat(a: Array, b: Array) -> Candidate:
    """Call qops, which rounds both the code and the lower end of the range to its steps."""
    values, out = [(a, *A.range), (b, *B.range)], shared(2 * a.size, np.uint8).reshape(len(a), -1)
    return Candidate(lambda: tensorflow.quantized_concat(1, values, out=out), lambda: out, 1.01)


def qops_matmul(a: Array, b: Array) -> Candidate:
    """Call qops."""
    x, y, out = (a, *A.range), (b, *B.range), shared(a.size, np.int32).reshape(a.shape)
    return Candidate(lambda: tensorflow.quantized_matmul(x, y, out=out), lambda: out, 0)


def qops_conv2d(x: Array, w: Array) -> Candidate:
    """Call qops."""
    t, f, out = (x, *A.range), (w, *B.range), shared(x.size, np.int32).reshape(x.shape)
    return Candidate(lambda: tensorflow.quantized_conv2d(t, f, STRIDES, "SAME", out=out), lambda: out, 0)


def of_bytes(name: str, inputs: Any, reference: Any, judged: Any, count: int) -> Case:
    """Make a row that is timed against memcpy of so many bytes an element."""
    return Case(f"tensorflow_{name}", inputs, reference, judged, lambda n: count * n, BYTES, nnlib.SIZES, nnlib.QUICK)


def of_products(name: str, inputs: Any, reference: Any, judged: Any, work: Any, sizes: tuple[int, ...]) -> Case:
    """Make a row that is timed against the peak of products."""
    return Case(f"tensorflow_{name}", inputs, reference, judged, work, peak.EXACT, sizes, sizes[:2])


SQUARE = (64, 256, 512, 1024)
TENSORFLOW = [
    of_bytes("relu", lambda rng, n: {"a": nnlib.any_codes(rng, (n,), np.uint8)}, nnlib.relu, qops_relu, 2),
    of_bytes("mul", nnlib.pair, nnlib.multiplied, qops_mul, 6),
    of_bytes("concat", nnlib.pair, nnlib.joined, qops_concat, 4),
    of_products("matmul", nnlib.matrices, nnlib.product, qops_matmul, lambda n: 2 * n**3, SQUARE),
    of_products("conv2d", nnlib.filtered, nnlib.convolved, qops_conv2d, nnlib.operations, (14, 56)),
]
