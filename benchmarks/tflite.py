"""Ops of qops.tflite, as XNNPACK and TFLite's reference compute them: exact, so no result may differ by anything.

Each op has two rows: the function, which prepares in each call, and the prepared op. Images have their channels last.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peak, products
from benchmarks.case import Candidate, Case, both, shared
from benchmarks.memcpy import BYTES
from benchmarks.products import CHANNELS, TAPS, any_codes
from qops import tflite

Array = NDArray[Any]
F32 = np.float32
X, Y = {"x_scale": 0.05, "x_zero_point": -8}, {"y_scale": 2.0, "y_zero_point": 3}
SCALES = np.linspace(0.01, 0.02, CHANNELS, dtype=F32)
SQUARE = (64, 256, 1024)
FACTOR = F32(0.05) * SCALES / F32(2.0)
TANH = {"x_scale": 0.03, "x_zero_point": -8, "y_scale": 1 / 128, "y_zero_point": 0}


def rounded(acc: Array) -> Array:
    """Make codes of sums, their channels last, as XNNPACK does: each operation is rounded to float32."""
    return np.clip(np.rint(acc.astype(F32) * FACTOR[: acc.shape[-1]]) + 3, -128, 127)


def image(inputs: int, rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw an image of n x n pixels, filters of so many input channels, and biases."""
    shape = (CHANNELS, TAPS, TAPS, CHANNELS) if inputs > 1 else (1, TAPS, TAPS, CHANNELS)
    return {
        "x": any_codes(rng, (1, n, n, CHANNELS), np.int8),
        "w": any_codes(rng, shape, np.int8),
        "bias": rng.integers(-100_000, 100_000, CHANNELS, np.int32),
    }


def convolved(x: Array, w: Array, bias: Array) -> Array:
    """Multiply windows by filters in float64, add the biases, and make codes; padding is a real 0."""
    planes = np.pad(x.transpose(0, 3, 1, 2).astype(float) + 8, ((0, 0), (0, 0), (1, 1), (1, 1)))
    if len(w) == 1:
        acc = products.convolved_by_channel(planes, w.transpose(3, 0, 1, 2)[:, np.newaxis])
    else:
        acc = products.convolved(planes, w.transpose(0, 3, 1, 2))
    return rounded(acc.transpose(0, 2, 3, 1) + bias)


def qops_filtered(x: Array, w: Array, bias: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs the weights in each call, or the prepared op."""
    kind, function = (
        (tflite.Conv2D, tflite.conv_2d) if len(w) > 1 else (tflite.DepthwiseConv2D, tflite.depthwise_conv_2d)
    )
    out, how = shared(x.size, np.int8).reshape(x.shape), {**X, **Y, "w_scale": SCALES, "padding": "SAME"}
    op = kind(w, bias, **how, kernel="xnnpack")
    if prepared:
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: function(x, w, bias, **how, kernel="xnnpack", out=out), lambda: out, 0)


def matrices(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw rows and weights, as many of each."""
    return {"x": any_codes(rng, (n, n), np.int8), "w": any_codes(rng, (n, n), np.int8)}


def multiplied(x: Array, w: Array) -> Array:
    """Multiply in float64, which holds these sums, and make codes."""
    acc = (x.astype(float) + 8) @ w.T.astype(float)
    return np.clip(np.rint(acc.astype(F32) * (F32(0.05) * F32(0.01) / F32(2.0))) + 3, -128, 127)


def qops_rows(x: Array, w: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which packs the weights in each call, or the prepared op."""
    out, how = shared(x.size, np.int8).reshape(x.shape), {**X, **Y, "w_scale": 0.01, "kernel": "xnnpack"}
    op = tflite.FullyConnected(w, **how)
    if prepared:
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: tflite.fully_connected(x, w, **how, out=out), lambda: out, 0)


def values(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw codes."""
    return {"x": any_codes(rng, (n,), np.int8)}


def tanh(x: Array) -> Array:
    """Round half away from 0; no value of these scales is near a tie."""
    real = np.tanh(float(F32(0.03)) * (x.astype(float) + 8)) * 128
    return np.clip(np.trunc(real + np.copysign(0.5, real)), -128, 127)


def qops_tanh(x: Array, prepared: bool = False) -> Candidate:
    """Call qops: the function, which makes a table of 256 codes, or the prepared op."""
    out, op = shared(x.size, np.int8), tflite.Tanh(**TANH)
    if prepared:
        return Candidate(lambda: op(x, out), lambda: out, 0)
    return Candidate(lambda: tflite.tanh(x, **TANH, out=out), lambda: out, 0)


def of_images(name: str, inputs: int) -> Case:
    """Make a row of convolutions with so many input channels for each output channel."""
    return products.of_images(f"tflite_{name}", partial(image, inputs), convolved, qops_filtered, channels=inputs)


CONNECTED = Case(
    "tflite_fully_connected", matrices, multiplied, qops_rows, lambda n: 2 * n**3, peak.EXACT, SQUARE, SQUARE[:2]
)
TFLITE = [
    *both(of_images("conv_2d", CHANNELS)),
    *both(of_images("depthwise_conv_2d", 1)),
    *both(CONNECTED),
    *both(Case("tflite_tanh", values, tanh, qops_tanh, lambda n: 2 * n, BYTES)),
]
