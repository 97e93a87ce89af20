"""The operators of the networks of MLPerf Tiny, in the order in which they run."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from benchmarks import mlperf_tiny as tiny
from benchmarks.mlperf_tiny import PIXEL, TAPS, Layer, separable


class NetworkStep(NamedTuple):
    """One operator of a network: a layer of products, or "add", "pool", "flat" or "softmax"."""

    kind: str
    layer: Layer | None = None
    sources: tuple[int, ...] = (-1,)
    """Which results it reads: 0 is the image, 1 the first step's; -1 the last one's."""
    relu: bool = True


def _layers(*layers: Layer, relu: bool = True) -> list[NetworkStep]:
    return [NetworkStep(layer.kind, layer, relu=relu) for layer in layers]


def _dense(name: str, inputs: int, outputs: int, relu: bool = False) -> list[NetworkStep]:
    return _layers(Layer(name, 1, "dense", PIXEL, inputs, outputs), relu=relu)


def _keywords() -> list[NetworkStep]:
    first = Layer("keywords", 1, "conv", (49, 10), 1, 64, (10, 4), 2)
    middle = separable("keywords", 1, (25, 5), 64, 64)
    return [
        *_layers(first, *4 * middle),
        NetworkStep("pool"),
        NetworkStep("flat"),
        *_dense("keywords", 64, 12),
        NetworkStep("softmax"),
    ]


def _residual(name: str, width: int) -> list[NetworkStep]:
    """Three blocks of two convolutions, whose sum with the data of the block is the block's result."""
    steps = _layers(Layer(name, 1, "conv", (32, 32), 3, width, TAPS))
    size, channels = 32, width
    for stride in (1, 2, 2):
        outputs, made = channels * stride, size // stride
        start = len(steps)
        steps += _layers(Layer(name, 1, "conv", (size, size), channels, outputs, TAPS, stride))
        steps += _layers(Layer(name, 1, "conv", (made, made), outputs, outputs, TAPS), relu=False)
        if stride > 1:
            shortcut = Layer(name, 1, "conv", (size, size), channels, outputs, PIXEL, stride)
            steps.append(NetworkStep("conv", shortcut, (start,), relu=False))
        ends = (len(steps), start) if stride == 1 else (len(steps), len(steps) - 1)
        steps.append(NetworkStep("add", None, ends))
        size, channels = made, outputs
    return [*steps, NetworkStep("pool"), NetworkStep("flat"), *_dense(name, channels, 10), NetworkStep("softmax")]


def _persons() -> list[NetworkStep]:
    layers = [one for one in tiny.LAYERS if one.network == "persons" and one.kind != "dense"]
    each: list[Layer] = []
    for i, one in enumerate(layers):
        pair = layers[i : i + 2] if one.kind == "depthwise" else [one] if i == 0 else []
        each += one.count * pair
    return [
        *_layers(*each),
        NetworkStep("pool"),
        NetworkStep("flat"),
        *_dense("persons", 256, 2),
        NetworkStep("softmax"),
    ]


def _anomalies() -> list[NetworkStep]:
    widths = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640]
    return [step for k, o in pairwise(widths) for step in _dense("anomalies", k, o, relu=o != 640)]


def _wake_word() -> list[NetworkStep]:
    steps, time, channels = [], 30, 40
    for taps, outputs in ((3, 128), (5, 64), (10, 64), (15, 32)):
        depthwise = Layer("wake_word", 1, "depthwise", (time, 1), channels, channels, (taps, 1), 1, "VALID")
        time -= taps - 1
        steps += _layers(depthwise, relu=False)
        steps += _layers(Layer("wake_word", 1, "conv", (time, 1), channels, outputs))
        channels = outputs
    return [*steps, NetworkStep("flat"), *_dense("wake_word", 32, 3)]


NETWORKS: dict[str, Callable[[], list[NetworkStep]]] = {
    "keywords": _keywords,
    "images": partial(_residual, "images", 16),
    "images_large": partial(_residual, "images_large", 26),
    "persons": _persons,
    "anomalies": _anomalies,
    "wake_word": _wake_word,
}
"""DS-CNN, ResNet-8 of 16 and of 26 filters, a quarter of MobileNetV1, an autoencoder, a network of separable
convolutions along time; read in the models' definitions of MLPerf Tiny."""
