"""TensorFlow's Uniform* ops: codes of scales and zero points."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Candidate, Case, shared
from benchmarks.memcpy import BYTES
from qops import tensorflow

Array = NDArray[Any]
SCALE, ZERO = 2.0**-6, -9
WIDE, WIDE_ZERO = 2.0**-30, 1000  # of int32 codes
FINE = 2.0**-28  # of their sums


def reals(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw real values, some of them beyond the codes."""
    return {"x": rng.normal(0, 1.2, n).astype(np.float32)}


def codes_8(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw int8 codes, all equally likely."""
    return {"q": rng.integers(-128, 128, n, dtype=np.int8)}


def codes_32(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw int32 codes of 24 bits, times 128: float32 holds them, and int32 holds them less the zero point."""
    return {"q": rng.integers(-(2**24) + WIDE_ZERO, 2**24, n, dtype=np.int32) * 128}


def pairs_32(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw two tensors of int32 codes."""
    return {"a": codes_32(rng, n)["q"], "b": codes_32(rng, n)["q"]}


def quantized(x: Array) -> Array:
    """Round half up, and cut to the codes."""
    return np.clip(np.floor(x / np.float32(SCALE) + np.float32(0.5)) + ZERO, -128, 127)


def dequantized(q: Array) -> Array:
    """Give the exact real values."""
    return (q.astype(float) - ZERO) * SCALE


def scaled(q: Array, zero: int, factor: float) -> Array:
    """Scale the codes, and round half up."""
    return np.floor((q.astype(float) - zero) * factor + 0.5)


def requantized_8(q: Array) -> Array:
    """Requantize int8 codes to another scale: a step of theirs is three quarters of a new one."""
    return np.clip(scaled(q, ZERO, 0.75) + 5, -128, 127)


def requantized_32(q: Array) -> Array:
    """Requantize int32 codes to int8 codes of the usual scale."""
    return np.clip(scaled(q, WIDE_ZERO, WIDE / SCALE) + ZERO, -128, 127)


def added(a: Array, b: Array) -> Array:
    """Add at a scale four times as wide; TensorFlow reads int32 codes as float32, and so the terms."""
    terms = scaled(a, WIDE_ZERO, WIDE / FINE), scaled(b, ZERO, WIDE / FINE)
    return sum(term.astype(np.float32).astype(float) for term in terms) + 7


def qops_quantize(x: Array) -> Candidate:
    """Call qops."""
    out = shared(x.size, np.int8)
    return Candidate(lambda: tensorflow.uniform_quantize(x, SCALE, ZERO, out=out), lambda: out, 0)


def qops_dequantize(q: Array) -> Candidate:
    """Call qops."""
    out = shared(q.size, np.float32)
    return Candidate(lambda: tensorflow.uniform_dequantize(q, SCALE, ZERO, out=out), lambda: out, 0)


def qops_requantize_8(q: Array) -> Candidate:
    """Call qops."""
    out = shared(q.size, np.int8)
    return Candidate(lambda: tensorflow.uniform_requantize(q, 0.75, ZERO, 1.0, 5, out=out), lambda: out, 0)


def qops_requantize_32(q: Array) -> Candidate:
    """Call qops."""
    out = shared(q.size, np.int8)
    return Candidate(lambda: tensorflow.uniform_requantize(q, WIDE, WIDE_ZERO, SCALE, ZERO, out=out), lambda: out, 0)


def qops_add(a: Array, b: Array) -> Candidate:
    """Call qops."""
    out, scales = shared(a.size, np.int32), (WIDE, WIDE_ZERO, WIDE, ZERO, FINE, 7)
    return Candidate(lambda: tensorflow.uniform_quantized_add(a, b, *scales, out=out), lambda: out, 0)


def bytes_per_element(count: int):
    """Give the work of n elements, if so many bytes of each are read and written."""
    return lambda n: count * n


UNIFORM = [
    Case("uniform_quantize", reals, quantized, qops_quantize, bytes_per_element(5), BYTES),
    Case("uniform_dequantize", codes_8, dequantized, qops_dequantize, bytes_per_element(5), BYTES),
    Case("uniform_requantize_8to8", codes_8, requantized_8, qops_requantize_8, bytes_per_element(2), BYTES),
    Case("uniform_requantize_32to8", codes_32, requantized_32, qops_requantize_32, bytes_per_element(5), BYTES),
    Case("uniform_quantized_add", pairs_32, added, qops_add, bytes_per_element(12), BYTES),
]
