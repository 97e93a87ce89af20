"""The layers of the networks of MLPerf Tiny, as XNNPACK computes them: no result may differ by anything.

n is the number of images. The prepared op is timed, as a network prepares its layers once: a call from Python with
data and `out`. LiteRT's and TFLite Micro's time is that of ``invoke()`` from Python of a file of one layer. Its tensors
are set before, and its result is read later, so neither time has a copy or an allocation. Both have their checks.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import peak, products
from benchmarks.case import Candidate, Case, blank
from benchmarks.memcpy import BYTES
from benchmarks.products import any_codes
from qops import tflite

Array = NDArray[Any]
F32 = np.float32
X, Y = (0.05, -3), (0.3, -128)
A, B, TOTAL = (0.05, -3), (0.07, 5), (0.11, 1)


class Layer(NamedTuple):
    """Layers of one shape of a network: relu, a scale for each output channel, but for dense ones."""

    network: str
    count: int
    """How many of them the network has."""
    kind: str
    size: tuple[int, int]
    """Of the image; dense layers have one pixel."""
    channels: int
    outputs: int
    window: tuple[int, int] = (1, 1)
    stride: int = 1
    padding: str = "SAME"

    @property
    def name(self) -> str:
        """The name of its row."""
        (h, w), (down, across) = self.size, self.window
        how = f"_{down}x{across}" if down > 1 else ""
        how += f"_by_{self.stride}" if down > 1 or self.stride > 1 else ""
        return f"mlperf_{self.network}_{self.kind}_{h}x{w}x{self.channels}_to_{self.outputs}{how}"

    @property
    def weights(self) -> tuple[int, ...]:
        """The shape of the weights, as TFLite has them."""
        if self.kind == "dense":
            return self.outputs, self.channels
        if self.kind == "depthwise":
            return 1, *self.window, self.outputs
        return self.outputs, *self.window, self.channels


TAPS, PIXEL = (3, 3), (1, 1)


def separable(
    network: str, count: int, size: tuple[int, int], channels: int, outputs: int, stride: int = 1
) -> tuple[Layer, Layer]:
    """Give a depthwise layer, and the layer of one pixel that mixes its channels."""
    depthwise = Layer(network, count, "depthwise", size, channels, channels, TAPS, stride)
    return depthwise, Layer(network, count, "conv", (size[0] // stride, size[1] // stride), channels, outputs)


LAYERS = [
    *(
        Layer("keywords", 1, "conv", (49, 10), 1, 64, (10, 4), 2),
        *separable("keywords", 4, (25, 5), 64, 64),
        Layer("keywords", 1, "dense", PIXEL, 64, 12),
    ),
    *(
        Layer("images", 1, "conv", (32, 32), 3, 16, TAPS),
        Layer("images", 2, "conv", (32, 32), 16, 16, TAPS),
        Layer("images", 1, "add", (32, 32), 16, 16),
        Layer("images", 1, "conv", (32, 32), 16, 32, TAPS, 2),
        Layer("images", 1, "conv", (16, 16), 32, 32, TAPS),
        Layer("images", 1, "conv", (32, 32), 16, 32, PIXEL, 2),
        Layer("images", 1, "add", (16, 16), 32, 32),
        Layer("images", 1, "conv", (16, 16), 32, 64, TAPS, 2),
        Layer("images", 1, "conv", (8, 8), 64, 64, TAPS),
        Layer("images", 1, "conv", (16, 16), 32, 64, PIXEL, 2),
        Layer("images", 1, "add", (8, 8), 64, 64),
        Layer("images", 1, "dense", PIXEL, 64, 10),
    ),
    *(
        Layer("persons", 1, "conv", (96, 96), 3, 8, TAPS, 2),
        *separable("persons", 1, (48, 48), 8, 16),
        *separable("persons", 1, (48, 48), 16, 32, 2),
        *separable("persons", 1, (24, 24), 32, 32),
        *separable("persons", 1, (24, 24), 32, 64, 2),
        *separable("persons", 1, (12, 12), 64, 64),
        *separable("persons", 1, (12, 12), 64, 128, 2),
        *separable("persons", 5, (6, 6), 128, 128),
        *separable("persons", 1, (6, 6), 128, 256, 2),
        *separable("persons", 1, (3, 3), 256, 256),
        Layer("persons", 1, "dense", PIXEL, 256, 2),
    ),
    *(
        Layer("anomalies", 1, "dense", PIXEL, 640, 128),
        Layer("anomalies", 6, "dense", PIXEL, 128, 128),
        Layer("anomalies", 1, "dense", PIXEL, 128, 8),
        Layer("anomalies", 1, "dense", PIXEL, 8, 128),
        Layer("anomalies", 1, "dense", PIXEL, 128, 640),
    ),
]
"""The layers of the networks for keyword spotting, image classification, visual wake words and anomaly detection.

Read in the models' definitions of MLPerf Tiny: DS-CNN, ResNet-8, MobileNetV1 of a quarter, and an autoencoder. Pools
and softmax are left out.
"""


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


Numbers = tuple[float, int]
"""A scale and a zero point."""


def added(a: Array, b: Array, numbers: tuple[Numbers, Numbers, Numbers] = (A, B, TOTAL)) -> Array:
    """Add as XNNPACK does, with relu: two factors of 21 bits, one shift, a half rounded up."""
    (a_scale, a_zero), (b_scale, b_zero), (y_scale, y_zero) = numbers
    ratios = F32(a_scale) / F32(y_scale), F32(b_scale) / F32(y_scale)
    shift = 21 - int(np.frexp(max(ratios))[1])
    first, second = (int(np.rint(ratio * F32(2.0**shift))) for ratio in ratios)
    total = first * (a.astype(int) - a_zero) + second * (b.astype(int) - b_zero)
    return np.clip(((total + (1 << (shift - 1))) >> shift) + y_zero, y_zero, 127)


def summed(layer: Layer, x: Array, w: Array, x_zero: int = X[1]) -> Array:
    """Multiply windows by weights in float64; padding is a real 0, and an odd row or column of it comes last."""
    near = x.astype(float) - x_zero
    if layer.kind == "dense":
        return near @ w.T.astype(float)
    pads = []
    for size, taps in zip(layer.size, layer.window, strict=True):
        total = max((-(-size // layer.stride) - 1) * layer.stride + taps - size, 0) * (layer.padding == "SAME")
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
    out = blank(int(np.prod(shape)), np.int8).reshape(shape)
    return Candidate(partial(op, x, out), lambda: out, 0)


def qops_add(a: Array, b: Array) -> Candidate:
    """Call the prepared op."""
    numbers = {"a_scale": A[0], "a_zero_point": A[1], "b_scale": B[0], "b_zero_point": B[1]}
    op = tflite.Add(**numbers, y_scale=TOTAL[0], y_zero_point=TOTAL[1], activation="RELU", kernel="xnnpack")
    out = blank(a.size, np.int8).reshape(a.shape)
    return Candidate(partial(op, a, b, out), lambda: out, 0)


def operations(layer: Layer, n: int) -> int:
    """Count multiplications and additions of n images."""
    lost = [taps - 1 if layer.padding == "VALID" else 0 for taps in layer.window]
    pixels = int(np.prod([-(-(size - less) // layer.stride) for size, less in zip(layer.size, lost, strict=True)]))
    return 2 * n * pixels * int(np.prod(layer.weights))


def case(layer: Layer) -> Case:
    """Make the row of a layer."""
    if layer.kind == "add":
        count = int(np.prod(layer.size)) * layer.channels
        return Case(layer.name, partial(inputs, layer), added, qops_add, lambda n: 3 * n * count, BYTES, (1,), (1,))
    made, judged, work = (partial(function, layer) for function in (computed, qops_layer, operations))
    return Case(layer.name, partial(inputs, layer), made, judged, work, peak.EXACT, (1,), (1,))


def kinds(network: str) -> list[Layer]:
    """Give the layers of a network, each shape once."""
    return [layer for layer in LAYERS if layer.network == network]


def all_inputs(network: str, rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw the inputs of each layer, named by it."""
    return {f"{one.name} {key}": x for one in kinds(network) for key, x in inputs(one, rng, n).items()}


def by_layer(network: str, arrays: dict[str, Array]) -> list[tuple[Layer, dict[str, Array]]]:
    """Give each layer with its own of these inputs."""
    named = [(key.split(), x) for key, x in arrays.items()]
    return [(one, {key: x for (name, key), x in named if name == one.name}) for one in kinds(network)]


def all_computed(network: str, **arrays: Array) -> Array:
    """Compute all layers; the results stand one behind the other."""
    each = by_layer(network, arrays)
    return np.concatenate([(added(**own) if one.kind == "add" else computed(one, **own)).ravel() for one, own in each])


def one_by_one(made: list[tuple[Layer, Candidate]]) -> Candidate:
    """Run layers one after the other, each as often as the network has it."""
    runs = [one.run for layer, one in made for _ in range(layer.count)]

    def run() -> None:
        for one in runs:
            one()

    within = max(one.within for _, one in made)
    return Candidate(run, lambda: np.concatenate([np.ravel(one.result()) for _, one in made]), within)


def all_of_qops(network: str, **arrays: Array) -> Candidate:
    """Call the prepared ops of a network."""
    each = by_layer(network, arrays)
    return one_by_one([(one, qops_add(**own) if one.kind == "add" else qops_layer(one, **own)) for one, own in each])


def whole(network: str) -> Case:
    """Make the row of the layers of a network, each as often as it is there, without pools and softmax."""
    drawn, made, judged = (partial(function, network) for function in (all_inputs, all_computed, all_of_qops))
    sums = [layer for layer in kinds(network) if layer.kind != "add"]
    name = f"mlperf_{network}_all_layers"

    def work(n: int) -> int:
        return sum(layer.count * operations(layer, n) for layer in sums)

    return Case(name, drawn, made, judged, work, peak.EXACT, (1,), (1,))


NETWORKS = list(dict.fromkeys(layer.network for layer in LAYERS))
MLPERF_TINY = [*map(case, LAYERS), *map(whole, NETWORKS)]
