"""The layers of the networks of MLPerf Tiny, as XNNPACK computes them: no result may differ by anything.

n is the number of images. The prepared op is timed: a network prepares its layers once.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import peak, products
from benchmarks.case import Candidate, Case, shared
from benchmarks.memcpy import BYTES
from benchmarks.products import any_codes
from qops import tflite

Array = NDArray[Any]
F32 = np.float32
X, Y = (0.05, -3), (0.3, -128)
A, B, TOTAL = (0.05, -3), (0.07, 5), (0.11, 1)


class Layer(NamedTuple):
    """One layer: SAME padding, relu, a scale for each output channel, but for dense ones."""

    network: str
    kind: str
    size: tuple[int, int]
    """Of the image; dense layers have one pixel."""
    channels: int
    outputs: int
    window: tuple[int, int] = (1, 1)
    stride: int = 1

    @property
    def name(self) -> str:
        """The name of its row."""
        (h, w), (down, across) = self.size, self.window
        how = f"_{down}x{across}_by_{self.stride}" if down > 1 else ""
        return f"mlperf_{self.network}_{self.kind}_{h}x{w}x{self.channels}_to_{self.outputs}{how}"

    @property
    def weights(self) -> tuple[int, ...]:
        """The shape of the weights, as TFLite has them."""
        if self.kind == "dense":
            return self.outputs, self.channels
        if self.kind == "depthwise":
            return 1, *self.window, self.outputs
        return self.outputs, *self.window, self.channels


LAYERS = [
    Layer("keywords", "conv", (49, 10), 1, 64, (10, 4), 2),
    Layer("keywords", "depthwise", (25, 5), 64, 64, (3, 3)),
    Layer("keywords", "conv", (25, 5), 64, 64),
    Layer("keywords", "dense", (1, 1), 64, 12),
    Layer("images", "conv", (32, 32), 3, 16, (3, 3)),
    Layer("images", "conv", (32, 32), 16, 16, (3, 3)),
    Layer("images", "conv", (16, 16), 32, 32, (3, 3)),
    Layer("images", "conv", (8, 8), 64, 64, (3, 3)),
    Layer("images", "add", (32, 32), 16, 16),
    Layer("persons", "conv", (96, 96), 3, 8, (3, 3), 2),
    Layer("persons", "depthwise", (48, 48), 8, 8, (3, 3)),
    Layer("persons", "conv", (48, 48), 8, 16),
    Layer("persons", "depthwise", (48, 48), 16, 16, (3, 3), 2),
    Layer("persons", "depthwise", (12, 12), 64, 64, (3, 3)),
    Layer("persons", "conv", (6, 6), 128, 128),
    Layer("persons", "depthwise", (3, 3), 256, 256, (3, 3)),
    Layer("persons", "conv", (3, 3), 256, 256),
    Layer("anomalies", "dense", (1, 1), 640, 128),
    Layer("anomalies", "dense", (1, 1), 128, 8),
    Layer("anomalies", "dense", (1, 1), 128, 640),
]
"""Kinds of layers of the networks for keyword spotting, image classification, visual wake words, anomaly detection."""


def scales(layer: Layer) -> Array:
    """Give the scales of the weights."""
    return np.array(0.004, F32) if layer.kind == "dense" else np.linspace(0.002, 0.01, layer.outputs, dtype=F32)


def inputs(layer: Layer, rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw images, weights and biases."""
    shape = (n, layer.channels) if layer.kind == "dense" else (n, *layer.size, layer.channels)
    x = any_codes(rng, shape, np.int8)
    if layer.kind == "add":
        return {"a": x, "b": any_codes(rng, shape, np.int8)}
    bias = rng.integers(-5000, 5000, layer.outputs, np.int32)
    return {"x": x, "w": any_codes(rng, layer.weights, np.int8), "bias": bias}


def added(a: Array, b: Array) -> Array:
    """Add as XNNPACK does: two factors of 21 bits, one shift, a half rounded up."""
    ratios = F32(A[0]) / F32(TOTAL[0]), F32(B[0]) / F32(TOTAL[0])
    shift = 21 - int(np.frexp(max(ratios))[1])
    first, second = (int(np.rint(ratio * F32(2.0**shift))) for ratio in ratios)
    total = first * (a.astype(int) - A[1]) + second * (b.astype(int) - B[1])
    return np.clip(((total + (1 << (shift - 1))) >> shift) + TOTAL[1], TOTAL[1], 127)


def summed(layer: Layer, x: Array, w: Array) -> Array:
    """Multiply windows by weights in float64; padding is a real 0, and an odd row or column of it comes last."""
    near = x.astype(float) - X[1]
    if layer.kind == "dense":
        return near @ w.T.astype(float)
    pads = []
    for size, taps in zip(layer.size, layer.window, strict=True):
        total = max((-(-size // layer.stride) - 1) * layer.stride + taps - size, 0)
        pads.append((total // 2, total - total // 2))
    planes = np.pad(near.transpose(0, 3, 1, 2), ((0, 0), (0, 0), *pads))
    if layer.kind == "depthwise":
        made = products.convolved_by_channel(planes, w.transpose(3, 0, 1, 2)[:, np.newaxis])
    else:
        made = products.convolved(planes, w.transpose(0, 3, 1, 2))
    return made[:, :, :: layer.stride, :: layer.stride].transpose(0, 2, 3, 1)


def computed(layer: Layer, x: Array, w: Array, bias: Array) -> Array:
    """Make codes of sums as XNNPACK does: each operation is rounded to float32."""
    factor = F32(X[0]) * scales(layer) / F32(Y[0])
    return np.clip(np.rint((summed(layer, x, w) + bias).astype(F32) * factor) + Y[1], -128, 127)


def qops_layer(layer: Layer, x: Array, w: Array, bias: Array) -> Candidate:
    """Call the prepared op."""
    how: dict[str, Any] = {"x_scale": X[0], "x_zero_point": X[1], "y_scale": Y[0], "y_zero_point": Y[1]}
    how |= {"w_scale": scales(layer), "activation": "RELU", "kernel": "xnnpack"}
    if layer.kind == "dense":
        op: Any = tflite.FullyConnected(w, bias, **how)
    else:
        kind = tflite.DepthwiseConv2D if layer.kind == "depthwise" else tflite.Conv2D
        op = kind(w, bias, **how, stride=(layer.stride, layer.stride), padding="SAME")
    shape = op.shape_of(x.shape)
    out = shared(int(np.prod(shape)), np.int8).reshape(shape)
    return Candidate(lambda: op(x, out), lambda: out, 0)


def qops_add(a: Array, b: Array) -> Candidate:
    """Call the prepared op."""
    numbers = {"a_scale": A[0], "a_zero_point": A[1], "b_scale": B[0], "b_zero_point": B[1]}
    op = tflite.Add(**numbers, y_scale=TOTAL[0], y_zero_point=TOTAL[1], activation="RELU", kernel="xnnpack")
    out = shared(a.size, np.int8).reshape(a.shape)
    return Candidate(lambda: op(a, b, out), lambda: out, 0)


def operations(layer: Layer, n: int) -> int:
    """Count multiplications and additions of n images."""
    pixels = int(np.prod([-(-size // layer.stride) for size in layer.size]))
    return 2 * n * pixels * int(np.prod(layer.weights))


def case(layer: Layer) -> Case:
    """Make the row of a layer."""
    if layer.kind == "add":
        count = int(np.prod(layer.size)) * layer.channels
        return Case(layer.name, partial(inputs, layer), added, qops_add, lambda n: 3 * n * count, BYTES, (1,), (1,))
    made, judged, work = (partial(function, layer) for function in (computed, qops_layer, operations))
    return Case(layer.name, partial(inputs, layer), made, judged, work, peak.EXACT, (1,), (1,))


MLPERF_TINY = [case(layer) for layer in LAYERS]
