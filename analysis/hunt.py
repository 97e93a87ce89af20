"""Faults planted in a device that runs the network in int8, and what `qops.debug` says of each."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

import qops
from analysis import style
from analysis.network import F32, Layer, digits, learned, results
from analysis.report import Table
from qops.models import Graph, Op, Operator, Tensor, load, tflite_bytes

IMAGES = 20  # that the device runs
LEAST = 1e-3  # share that is drawn in the palest colour
NAMES = ("conv 1", "conv 2", "pool", "flatten", "inner")
WINDOW = {"StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1, "Padding": 0}

Codes = NDArray[Any]


class Fault(NamedTuple):
    """What a device does wrong: in which layer, and what it gives there of its inputs and the right codes."""

    words: str
    layer: int
    device: Callable[[Op, list[Codes], Codes], Codes]


class Found(NamedTuple):
    """One fault, and the hunt for it."""

    fault: Fault
    hunt: qops.Hunt

    @property
    def named(self) -> int:
        """The number of the layer that is named."""
        assert self.hunt.first is not None
        return [row.name for row in self.hunt.layers].index(self.hunt.first.layer)


def requantized(op: Op, sums: Codes, rule: str, shift: int = 0) -> Codes:
    """Give the codes of sums by some rule, with the scales of channels so many places away."""
    assert op.layer is not None
    assert op.layer.requantize is not None
    scale = np.roll(op.layer.requantize.scale, shift)
    return qops.rules.requantize(sums, rule, scale=scale, zero_point=op.layer.numbers["zero_point"])


def sums_of(op: Op, x: Codes, *, bias: bool = True) -> Codes:
    """Give the exact sums of a layer."""
    assert op.layer is not None
    assert op.layer.sums is not None
    return op.layer.sums(x, op.layer.bias if bias else None)


FAULTS = (
    Fault("bits below the point cut off", 1, lambda op, x, y: requantized(op, sums_of(op, x[0]), "shift-floor")),
    Fault("rounds as XNNPACK", 1, lambda op, x, y: requantized(op, sums_of(op, x[0]), "fp32-even")),
    Fault("scales one channel off", 0, lambda op, x, y: requantized(op, sums_of(op, x[0]), "tflite-double", 1)),
    Fault("bias left out", 4, lambda op, x, y: requantized(op, sums_of(op, x[0], bias=False), "double-away")),
    Fault("dumped as NCHW", 1, lambda op, x, y: np.ascontiguousarray(y.transpose(0, 3, 1, 2))),
)


def codes(name: str, shape: tuple[int, ...], low: float, high: float) -> Tensor:
    """A tensor of int8 codes for a range that holds 0."""
    scale = np.float32((max(high, 0) - min(low, 0)) / 255)
    return Tensor(name, shape, "int8", scale, np.asarray(round(-128 - min(low, 0) / float(scale))))


def weighted(kind: str, x: Tensor, y: Tensor, layer: Layer, weights: F32, **options: Any) -> Operator:
    """A layer with a scale for each output channel, which is the first axis of its weights."""
    scale = np.abs(weights.reshape(len(weights), -1)).max(1).astype(np.float32) / np.float32(127)
    whole = np.rint(weights / scale.reshape(-1, *[1] * (weights.ndim - 1))).astype(np.int8)
    zero = np.zeros(len(scale), np.int64)
    w = Tensor(f"{y.name}/w", whole.shape, "int8", scale, zero, 0, whole)
    step = (x.scale * scale).astype(np.float32)
    bias = np.rint(layer.bias / step).astype(np.int32)
    return Operator(kind, [x, w, Tensor(f"{y.name}/b", bias.shape, "int32", step, zero, 0, bias)], [y], options, [])


def model(layers: list[Layer], seen: list[F32]) -> bytes:
    """The network as a .tflite file; `seen` is what each layer gives for the training images, before the pool."""
    image = codes("image", (1, 8, 8, 1), 0, 1)
    first, second = (codes(f"conv{i + 1}", (1, 8, 8, len(layers[i].bias)), 0, seen[i].max()) for i in range(2))
    pooled = Tensor("pool", (1, 4, 4, second.shape[3]), "int8", second.scale, second.zero_point)
    size = int(np.prod(pooled.shape))
    flat = Tensor("flat", (1, size), "int8", second.scale, second.zero_point)
    shape = Tensor("shape", (2,), "int32", data=np.int32([-1, size]))
    last = codes("logits", (1, len(layers[2].bias)), seen[2].min(), seen[2].max())
    convolved = {**WINDOW, "FusedActivationFunction": 1}
    halves = {"StrideH": 2, "StrideW": 2, "FilterHeight": 2, "FilterWidth": 2, "Padding": 1}
    ops = [
        weighted("CONV_2D", image, first, layers[0], layers[0].weights.transpose(0, 2, 3, 1), **convolved),
        weighted("CONV_2D", first, second, layers[1], layers[1].weights.transpose(0, 2, 3, 1), **convolved),
        Operator("MAX_POOL_2D", [second], [pooled], {**halves, "FusedActivationFunction": 0}, []),
        Operator("RESHAPE", [pooled, shape], [flat], {}, []),
        weighted("FULLY_CONNECTED", flat, last, layers[2], layers[2].weights, FusedActivationFunction=0),
    ]
    tensors = {t.name: t for op in ops for t in (*op.inputs, *op.outputs) if t is not None}
    return tflite_bytes(list(tensors.values()), ops, [image], [last])


def network() -> tuple[Graph, Codes]:
    """The learned network, read from its file, and codes of test images."""
    train, test = digits()
    layers = learned(True)
    content = model(layers, results(layers, train.images))
    with TemporaryDirectory() as folder:
        path = Path(folder, "digits.tflite")
        path.write_bytes(content)
        graph = load(path)
    return graph, graph.tensors["image"].codes(test.images[:IMAGES].transpose(0, 2, 3, 1))


def measure() -> list[Found]:
    """Run the network on a device with each fault, and look for it."""
    graph, x = network()
    found = []
    for fault in FAULTS:
        values, dump = {"image": x}, {"image": x}
        for i, op in enumerate(graph.ops):
            inputs = [values[name] for name in op.reads]
            (right,) = op.call(*inputs)
            given = fault.device(op, inputs, right) if i == fault.layer else right
            dump[op.outputs[0]] = given
            values[op.outputs[0]] = given if given.shape == right.shape else right  # of another layout the dump alone
        found.append(Found(fault, qops.debug(graph, device=dump)))
    return found


def tables(found: list[Found]) -> list[Table]:
    """What was planted, and what is said."""
    rows = []
    for one in found:
        row, first = one.hunt.layers[one.named], one.hunt.first
        assert first is not None
        rows.append([one.fault.words, NAMES[one.fault.layer], NAMES[one.named], first.cause, f"{row.share or 0:.2%}"])
    head = ("planted", "in", "named", "cause", "differ")
    return [Table("Faults planted, and what qops.debug says of them", head, rows, words=4)]


def draw_strips(found: list[Found]) -> Drawing:
    """A row a fault: the share of codes of each layer that differ, fed what the device fed it."""
    figure, axes = style.lines(1, 1, height=2.6)
    ax = axes[0, 0]
    shares = np.array([[row.share or 0 for row in one.hunt.layers] for one in found])
    cells = ax.imshow(np.where(shares > 0, shares, np.nan), norm=LogNorm(LEAST, 1), cmap="Oranges", aspect="auto")
    for (i, j), share in np.ndenumerate(shares):
        colour = style.readable(cells.to_rgba(share)) if share else style.INK
        ax.text(j, i, f"{share:.2%}" if share else "same", ha="center", va="center", color=colour)
    for i, one in enumerate(found):
        ax.add_patch(style.plt.Rectangle((one.named - 0.48, i - 0.46), 0.96, 0.92, fill=False, lw=2.5, ec=style.INK))
    ax.set_xticks(range(len(NAMES)), NAMES)
    ax.set_yticks(range(len(found)), [one.fault.words for one in found])
    ax.grid(visible=False)
    right = sum(one.named == one.fault.layer for one in found)
    style.headline(
        figure, f"{right} of {len(found)} faults are found in the layer that has them", "framed: the layer named"
    )
    return figure


def draw_worst(found: list[Found]) -> Drawing:
    """How far the codes of the worst layer of the first fault are off, and where in the image."""
    one, worst = found[0], found[0].hunt.worst
    assert worst is not None
    figure, axes = style.lines(1, 2, height=2.8)
    values, counts = np.unique(worst.off[worst.off != 0], return_counts=True)
    axes[0, 0].bar(values, counts, color=style.BOUND)
    axes[0, 0].set(xlabel="device less model, codes", ylabel="codes", xlim=(-4.5, 4.5))
    places = axes[0, 1].imshow((worst.off != 0).mean((0, 3)), cmap="Oranges", vmin=0)
    axes[0, 1].set(xlabel="column", ylabel="row")
    axes[0, 1].grid(visible=False)
    figure.colorbar(places, ax=axes[0, 1], label="share that differs")
    style.headline(figure, f"{one.fault.words}: every difference is {values.min():+.0f}", NAMES[one.named])
    return figure


FIGURES = {"hunt_strip": draw_strips, "hunt_worst": draw_worst}
