"""The whole networks of MLPerf Tiny as .tflite files: a call of `qops.models.Graph.run` beside LiteRT's ``invoke()``.

n is the number of images. LiteRT is timed on a file whose batch is n, and where n is more than 1 on n calls for one
image. All layers, pools and softmax included, have drawn weights, and scales that fit their sums. The codes are those
of XNNPACK, bit for bit. `run` checks its input and makes arrays for its results; LiteRT's input is set before.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import mlperf_tiny as tiny
from benchmarks import peak
from benchmarks.case import Candidate, Case
from benchmarks.mlperf_steps import NETWORKS, NetworkStep
from benchmarks.products import any_codes
from qops.models import Operator, Tensor, load, tflite_bytes

Array = NDArray[Any]
F32 = np.float32
SEED = 31
KINDS = {"conv": "CONV_2D", "depthwise": "DEPTHWISE_CONV_2D", "dense": "FULLY_CONNECTED"}
DEPTHWISE = 3  # the axis of output channels of such weights; that of others is the first


class GrownStep(NamedTuple):
    """A step: the tensors that it adds, its operator, its codes as XNNPACK makes them, and where its data stand."""

    tensors: list[Tensor]
    operator: Operator
    computed: Callable[..., Array]
    places: tuple[int, ...] = ()


def _tensor(name: str, shape: tuple[int, ...], scale: Any, zero: int, data: Array | None = None) -> Tensor:
    steps = np.asarray(scale, F32)
    dtype = "int8" if data is None else data.dtype.name
    axis = None if not steps.ndim else DEPTHWISE if len(shape) == 4 and shape[0] == 1 else 0
    return Tensor(name, shape, dtype, steps, np.full(steps.shape, zero, np.int64), axis, data)


def _scale_and_zero(tensor: Tensor) -> tuple[float, int]:
    assert tensor.scale is not None
    assert tensor.zero_point is not None
    return float(tensor.scale), int(tensor.zero_point)


def _range(real: Array, relu: bool) -> tuple[float, int]:
    """Give a scale and a zero point for these values."""
    low, high = (0.0 if relu else min(0.0, float(real.min()))), max(float(real.max()), 1e-3)
    scale = float(F32((high - low) / 255))
    return scale, int(np.clip(round(-128 - low / scale), -128, 127))


def _product(rng: np.random.Generator, i: int, step: NetworkStep, x: Tensor, codes: Array) -> tuple[GrownStep, Array]:
    """Make a layer whose scale fits the sums of these codes."""
    layer = step.layer
    assert layer is not None
    assert x.scale is not None
    assert x.zero_point is not None
    w = any_codes(rng, layer.weights, np.int8)
    bias = rng.integers(-5000, 5000, layer.outputs, np.int32)
    by, zero = tiny.scales(layer), int(x.zero_point)
    sums = tiny.summed(layer, codes, w, zero) + bias
    y_scale, y_zero = _range(sums * (float(x.scale) * by.astype(float)), step.relu)
    factor = x.scale * by / F32(y_scale)
    lowest = y_zero if step.relu else -128

    def computed(x: Array) -> Array:
        values = (tiny.summed(layer, x, w, zero) + bias).astype(F32) * factor
        return np.clip(np.rint(values) + y_zero, lowest, 127).astype(np.int8)

    weights, biases = _tensor(f"w{i}", w.shape, by, 0, w), _tensor(f"bias{i}", bias.shape, x.scale * by, 0, bias)
    y = _tensor(f"y{i}", sums.shape, y_scale, y_zero)
    options = {} if layer.kind == "dense" else {"StrideH": layer.stride, "StrideW": layer.stride}
    options |= {} if layer.kind == "dense" else {"Padding": ("SAME", "VALID").index(layer.padding)}
    options |= {} if layer.kind == "dense" else {"DilationHFactor": 1, "DilationWFactor": 1}
    options |= {"DepthMultiplier": 1} if layer.kind == "depthwise" else {}
    options["FusedActivationFunction"] = int(step.relu)
    operator = Operator(KINDS[layer.kind], [x, weights, biases], [y], options, [])
    made = GrownStep([weights, biases, y], operator, computed)
    return made, computed(codes)


def _sum(i: int, a: Tensor, b: Tensor, codes: tuple[Array, Array]) -> tuple[GrownStep, Array]:
    total = sum(t.values(one) for t, one in zip((a, b), codes, strict=True))
    y = _tensor(f"y{i}", a.shape, *_range(np.asarray(total), True))
    numbers = [_scale_and_zero(t) for t in (a, b, y)]
    computed = partial(tiny.added, numbers=numbers)
    operator = Operator("ADD", [a, b], [y], {"FusedActivationFunction": 1, "PotScaleInt16": False}, [])
    return GrownStep([y], operator, lambda *x: computed(*x).astype(np.int8)), computed(*codes).astype(np.int8)


def _mean(x: Array) -> Array:
    """Average over the image as TFLite does: a half is rounded away from code 0."""
    sums, count = x.astype(int).sum((1, 2), keepdims=True), x.shape[1] * x.shape[2]
    return (np.sign(sums) * ((np.abs(sums) + count // 2) // count)).astype(np.int8)


def _shares(scale: float, x: Array) -> Array:
    """Give the softmax of rows by a table, each step rounded to float32."""
    table = np.exp((-F32(scale) * np.arange(256, dtype=F32)).astype(float)).astype(F32)
    parts = table[x.max(-1, keepdims=True).astype(int) - x]
    total = np.add.accumulate(parts, -1, dtype=F32)[..., -1:]
    values = parts * (F32(1) / (total * F32(2**-8)))
    return np.minimum(np.floor(values + F32(0.5)) - 128, 127).astype(np.int8)


def _other(i: int, step: NetworkStep, x: Tensor, codes: Array) -> tuple[GrownStep, Array]:
    """Make a pool over the whole image, a RESHAPE or a softmax."""
    batch, channels, scale = len(codes), codes.shape[-1], _scale_and_zero(x)[0]
    if step.kind == "softmax":
        y = _tensor(f"y{i}", codes.shape, 1 / 256, -128)
        return _made(Operator("SOFTMAX", [x], [y], {"Beta": 1.0}, []), [y], partial(_shares, scale), codes)
    if step.kind == "flat":
        count = int(np.prod(codes.shape[1:]))
        shape = Tensor(f"shape{i}", (2,), "int32", data=np.int32([batch, count]))
        y = Tensor(f"y{i}", (batch, count), "int8", x.scale, x.zero_point)
        operator = Operator("RESHAPE", [x, shape], [y], {}, [])
        return _made(operator, [shape, y], lambda x: x.reshape(len(x), -1), codes)
    height, width = codes.shape[1:3]
    y = Tensor(f"y{i}", (batch, 1, 1, channels), "int8", x.scale, x.zero_point)
    options = {"FilterHeight": height, "FilterWidth": width, "StrideH": height, "StrideW": width, "Padding": 1}
    operator = Operator("AVERAGE_POOL_2D", [x], [y], {**options, "FusedActivationFunction": 0}, [])
    return _made(operator, [y], _mean, codes)


def _made(
    operator: Operator, tensors: list[Tensor], computed: Callable[..., Array], x: Array
) -> tuple[GrownStep, Array]:
    return GrownStep(tensors, operator, computed), computed(x)


@cache
def grown(network: str) -> tuple[GrownStep, ...]:
    """Draw the network for one image."""
    rng, steps = np.random.default_rng(SEED), NETWORKS[network]()
    shape = image_shape(network)
    tensors, codes, made = [_tensor("x", (1, *shape), *tiny.X)], [any_codes(rng, (1, *shape), np.int8)], []
    for i, step in enumerate(steps):
        places = tuple(s if s >= 0 else i for s in step.sources)
        read, data = [tensors[s] for s in places], [codes[s] for s in places]
        if step.layer is not None:
            one, y = _product(rng, i, step, read[0], data[0])
        elif step.kind == "add":
            one, y = _sum(i, read[0], read[1], (data[0], data[1]))
        else:
            one, y = _other(i, step, read[0], data[0])
        made.append(one._replace(places=places))
        tensors.append(one.operator.outputs[0])
        codes.append(y)
    return tuple(made)


def image_shape(network: str) -> tuple[int, ...]:
    """Give the shape of one image."""
    layer = NETWORKS[network]()[0].layer
    assert layer is not None
    return (layer.channels,) if layer.kind == "dense" else (*layer.size, layer.channels)


def content(network: str, batch: int) -> bytes:
    """Give the bytes of the file for so many images."""
    steps = grown(network)
    image = _tensor("x", (1, *image_shape(network)), *tiny.X)
    named = {t.name: _of_batch(t, batch) for t in [image, *(t for one in steps for t in one.tensors)]}

    def again(tensors: Any) -> list[Any]:
        return [named[t.name] for t in tensors]

    operators = [
        replace(one.operator, inputs=again(one.operator.inputs), outputs=again(one.operator.outputs)) for one in steps
    ]
    return tflite_bytes([*named.values()], operators, [named["x"]], operators[-1].outputs)


def _of_batch(tensor: Tensor, batch: int) -> Tensor:
    """Give a tensor of so many images, or the shape that RESHAPE makes of these."""
    if tensor.data is None:
        return replace(tensor, shape=(batch, *tensor.shape[1:]))
    return replace(tensor, data=np.int32([batch, tensor.data[1]])) if tensor.name.startswith("shape") else tensor


def inputs(network: str, rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Draw images."""
    return {"x": any_codes(rng, (n, *image_shape(network)), np.int8)}


def computed(network: str, x: Array) -> Array:
    """Compute all steps."""
    found = [x]
    for one in grown(network):
        found.append(one.computed(*(found[place] for place in one.places)))
    return found[-1]


def qops_graph(network: str, x: Array) -> Candidate:
    """Run the graph of the file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{network}.tflite"
        path.write_bytes(content(network, 1))
        graph = load(path, runtime="xnnpack")
    (name,), made = graph.outputs, {}

    def run() -> None:
        made.update(graph.run(x))

    return Candidate(run, lambda: made[name], 0)


def operations(network: str, n: int) -> int:
    """Count multiplications and additions of n images."""
    return sum(tiny.operations(step.layer, n) for step in NETWORKS[network]() if step.layer is not None)


def case(network: str) -> Case:
    """Make the row of a network."""
    drawn, made, judged, work = (partial(f, network) for f in (inputs, computed, qops_graph, operations))
    return Case(f"mlperf_{network}_network", drawn, made, judged, work, peak.EXACT, (1, 256), (1,))


MLPERF_NETWORKS = [case(network) for network in NETWORKS]
