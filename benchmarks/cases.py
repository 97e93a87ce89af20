"""The ops of qops: inputs, the reference straight from the formula, the public call that is timed."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import qops
from benchmarks.case import Candidate, Case, shared
from benchmarks.frontdoor import FRONTDOOR, pair
from benchmarks.frontdoor import SUM as C
from benchmarks.frontdoor import SUM_LEVEL as LEVEL
from benchmarks.layers import LAYERS
from benchmarks.memcpy import BYTES
from benchmarks.mlperf_networks import MLPERF_NETWORKS
from benchmarks.mlperf_tiny import MLPERF_TINY
from benchmarks.network import NETWORK
from benchmarks.nnlib import NNLIB, A, B
from benchmarks.nnlib_activations import NNLIB_ACTIVATIONS
from benchmarks.nnlib_nodes import NODES
from benchmarks.onnx import ONNX
from benchmarks.onnx_own import OWN
from benchmarks.pools import POOLS
from benchmarks.products import PRODUCTS
from benchmarks.quantized_convolution import QUANTIZED_CONVOLUTIONS
from benchmarks.rules import RULES
from benchmarks.rules_binary import RULES_BINARY
from benchmarks.rules_pools import RULES_POOLS
from benchmarks.rules_wide import RULES_WIDE
from benchmarks.systems import SYSTEMS
from benchmarks.tensorflow import TENSORFLOW
from benchmarks.tflite import TFLITE
from benchmarks.uniform import UNIFORM, bytes_per_element
from qops import fixedpoint
from qops.frontdoor.add import BOUND_8P8TO8, BOUND_8P8TO32
from qops.frontdoor.quantize import BOUND_QUANTIZE
from qops.frontdoor.requantize import BOUND_REQUANTIZE

Array = NDArray[Any]
WIDE = 8.0  # the int32 codes stand for -8..8
STEP = 2 * WIDE / 2**32


def codes(rng: np.random.Generator, n: int) -> Array:
    """Draw uint8 codes, all equally likely."""
    return rng.integers(0, 256, n, dtype=np.uint8)


def add_8(a: Array, b: Array) -> Array:
    """Give the real-valued code of the exact sum."""
    real = A.scale * (a.astype(float) - A.zero_point) + B.scale * (b.astype(float) - B.zero_point)
    return real / C.scale + C.zero_point


def qops_add_8(a: Array, b: Array) -> Candidate:
    """Call qops."""
    ta, tb, guess, out = (a, *A.range), (b, *B.range), C.range, shared(a.size, np.uint8)
    return Candidate(lambda: qops.quantized_add_8p8to8(ta, tb, guess, out=out), lambda: out, BOUND_8P8TO8)


def add_32(a: Array, b: Array) -> Array:
    """Give the real-valued int32 code of the exact sum."""
    return (A.scale * (a.astype(float) - A.zero_point) + B.scale * (b.astype(float) - B.zero_point)) / LEVEL


def qops_add_32(a: Array, b: Array) -> Candidate:
    """Call qops."""
    ta, tb, out = (a, *A.range), (b, *B.range), shared(a.size, np.int32)
    return Candidate(lambda: qops.quantized_add_8p8to32(ta, tb, out=out), lambda: out, BOUND_8P8TO32)


def reals(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw real values, some of them beyond the range of A."""
    return {"x": rng.normal(0, 1.2, n).astype(np.float32)}


def quantized(x: Array) -> Array:
    """Give the real-valued codes, cut to the ends."""
    return np.clip(x / A.scale + A.zero_point, 0, 255)


def qops_quantize(nan: Literal["raise", "lowest"], x: Array) -> Candidate:
    """Call qops, which refuses NaN, or gives it a code as the peers do."""
    (lo, hi), out = A.range, shared(x.size, np.uint8)
    return Candidate(lambda: qops.quantize(x, lo, hi, nan=nan, out=out), lambda: out, BOUND_QUANTIZE)


def dequantized(a: Array) -> Array:
    """Give the exact real values."""
    return A.scale * (a.astype(float) - A.zero_point)


def qops_dequantize(a: Array) -> Candidate:
    """Call qops."""
    t, out = (a, *A.range), shared(a.size, np.float32)
    return Candidate(lambda: qops.dequantize(t, out=out), lambda: out, 2**-21 * max(map(abs, A.range)))


def integers(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Draw int32 codes of -2 to 2, some of them beyond the range of A."""
    return {"x": rng.integers(-(2**29), 2**29, n, dtype=np.int32)}


def requantized(x: Array) -> Array:
    """Give the real-valued codes, cut to the ends."""
    return np.clip(x * (STEP / A.scale) + A.zero_point, 0, 255)


def qops_requantize(x: Array) -> Candidate:
    """Call qops."""
    t, (lo, hi), out = (x, -WIDE, WIDE), A.range, shared(x.size, np.uint8)
    return Candidate(lambda: qops.requantize_32to8(t, lo, hi, out=out), lambda: out, BOUND_REQUANTIZE)


SHARES = np.float32([1, 0.5, 2, 0.75, 1.5, 0.25, 1.25, 0.125])  # of the widest range, by channel


def requantized_channels(x: Array) -> Array:
    """Give the real-valued codes of eight channels, one after the other, cut to the ends."""
    return np.clip(x * (np.resize(SHARES, x.size) * (STEP / A.scale)) + A.zero_point, 0, 255)


def qops_requantize_channels(x: Array) -> Candidate:
    """Call qops."""
    t, (lo, hi), out = (x.reshape(-1, 8), -WIDE * SHARES, WIDE * SHARES), A.range, shared(x.size, np.uint8)
    whole = out.reshape(-1, 8)
    return Candidate(lambda: qops.requantize_32to8(t, lo, hi, out=whole), lambda: out, BOUND_REQUANTIZE)


def spanned(x: Array) -> Array:
    """Give the lowest and the highest code."""
    return np.array([x.min(), x.max()], float)


def qops_range(x: Array) -> Candidate:
    """Call qops."""
    t, found = (x, -WIDE, WIDE), []

    def run() -> None:
        found[:] = qops.requantization_range(t)

    return Candidate(run, lambda: np.array(found) / STEP, 2.0**-23 * 2**29)  # ends are rounded outward to float32


FACTOR = 0.3
MULTIPLIER, RIGHT_SHIFT = fixedpoint.quantize_multiplier(FACTOR)


def shifted(x: Array) -> Array:
    """Multiply by 7 fractional bits, and drop the low bits."""
    return x.astype(np.int64) * round(FACTOR * 2**7) >> 7


def qops_multiply_shift(x: Array) -> Candidate:
    """Call qops."""
    out = shared(x.size, np.int32)
    return Candidate(lambda: qops.multiply_shift(x, FACTOR, out=out), lambda: out, 0)


def half_up(x: Array) -> Array:
    """Multiply by 31 fractional bits, and round once, half up."""
    return (x.astype(np.int64) * MULTIPLIER + (1 << (RIGHT_SHIFT - 1))) >> RIGHT_SHIFT


def qops_half_up(x: Array) -> Candidate:
    """Call qops."""
    out = shared(x.size, np.int32)
    return Candidate(lambda: fixedpoint.apply_multiplier(x, MULTIPLIER, RIGHT_SHIFT, out=out), lambda: out, 0)


def gemmlowp(x: Array) -> Array:
    """Multiply by 31 fractional bits and round half up, then shift right and round half away from 0."""
    high = (x.astype(np.int64) * MULTIPLIER + 2**30) >> 31
    right = RIGHT_SHIFT - 31
    return (high + (1 << right >> 1) - (high < 0)) >> right


def qops_gemmlowp(x: Array) -> Candidate:
    """Call qops."""
    out = shared(x.size, np.int32)
    call = fixedpoint.apply_multiplier
    return Candidate(lambda: call(x, MULTIPLIER, RIGHT_SHIFT, rounding="gemmlowp", out=out), lambda: out, 0)


QUANTIZE = Case("quantize", reals, quantized, partial(qops_quantize, "raise"), bytes_per_element(5), BYTES)
CASES = [
    Case("quantized_add_8p8to8", pair, add_8, qops_add_8, bytes_per_element(3), BYTES),
    Case("quantized_add_8p8to32", pair, add_32, qops_add_32, bytes_per_element(6), BYTES),
    QUANTIZE,
    replace(QUANTIZE, name="quantize_nan_lowest", qops=partial(qops_quantize, "lowest"), beside="quantize"),
    Case("dequantize", lambda rng, n: {"a": codes(rng, n)}, dequantized, qops_dequantize, bytes_per_element(5), BYTES),
    Case("requantize_32to8", integers, requantized, qops_requantize, bytes_per_element(5), BYTES),
    Case(
        "requantize_32to8_channels",
        integers,
        requantized_channels,
        qops_requantize_channels,
        bytes_per_element(5),
        BYTES,
    ),
    Case("requantization_range", integers, spanned, qops_range, bytes_per_element(4), BYTES),
    Case("multiply_shift", integers, shifted, qops_multiply_shift, bytes_per_element(8), BYTES),
    Case("multiply_shift_half_up", integers, half_up, qops_half_up, bytes_per_element(8), BYTES),
    Case("multiply_shift_gemmlowp", integers, gemmlowp, qops_gemmlowp, bytes_per_element(8), BYTES),
    *FRONTDOOR,
    *NETWORK,
    *RULES,
    *RULES_BINARY,
    *RULES_POOLS,
    *RULES_WIDE,
    *UNIFORM,
    *PRODUCTS,
    *QUANTIZED_CONVOLUTIONS,
    *LAYERS,
    *NNLIB,
    *NODES,
    *NNLIB_ACTIVATIONS,
    *TENSORFLOW,
    *ONNX,
    *OWN,
    *TFLITE,
    *MLPERF_TINY,
    *MLPERF_NETWORKS,
    *POOLS,
    *SYSTEMS,
]
