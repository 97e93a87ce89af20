"""The networks in int8: by the workflow of DNNL 1.2 on qops' model of oneDNN, in variants; and by the front door."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import qops
from analysis.network import F32, HALVES, POOL, SAME, Digits, Layer, digits, features, learned, results, run_float
from qops import onednn
from qops.onednn import Attr, Eltwise, Saturation, Scales, saturated_pairs, unsafe_pairs, workflow

KINDS = {"plain": False, "contrast": True}
VERSION = "2.6"  # scales as in DNNL 1.2: oscale = Q_dst / (Q_a * Q_w), after a bias in s32
ZERO = -128  # the s8 code of 0, where the source of a convolution is s8


class Variant(NamedTuple):
    """A machine, and how weights and activations are made int8 for it."""

    name: str
    colour: str
    isa: str
    activation_bits: int = 8
    weight_bits: int = 8
    signed: bool = False  # convolutions read s8 codes, zero point -128: the same activations, in the same 8 bits


EXACT = Variant("exact", "#0072b2", "vnni")
SATURATING = Variant("saturating", "#cc3311", "avx2")
VARIANTS = (
    EXACT,
    SATURATING,
    Variant("halved weights", "#cc79a7", "avx2", signed=True),
    Variant("7-bit weights", "#e69f00", "avx2", weight_bits=7),
    Variant("7-bit activations", "#009e73", "avx2", activation_bits=7),
)
FRONT_DOOR = Variant("front door", "#56b4e9", "any")
"""Not oneDNN: prepared ops of qops, with a range for each output channel of the weights."""


class Quantized(NamedTuple):
    """A layer in int8: codes, bias in steps of the accumulator, and what takes the accumulator to the next codes."""

    name: str
    weights: NDArray[np.int8]
    bias: NDArray[np.int32]
    scale: Scales
    factor: Scales | None
    """Codes a real unit of the result; None for the last layer, whose results are real."""


class Run(NamedTuple):
    """What a variant makes of images."""

    values: Sequence[F32]
    """The real values that each layer gave; the last are the logits."""
    saturated: Sequence[Saturation | None]
    """The pairs that saturated on the way, by layer; None where none can."""

    @property
    def logits(self) -> F32:
        """What the last layer gave."""
        return self.values[-1]


def quantize(layers: Sequence[Layer], seen: Sequence[F32], v: Variant) -> tuple[Scales, list[Quantized]]:
    """Quantize by R = max|T|: Q_a of the images, and all layers; `seen` is what each layer read in float."""
    factors = [workflow.activations_factor(x, v.activation_bits) for x in seen[: len(layers)]]
    quantized = []
    for layer, q_a, q_next in zip(layers, factors, [*factors[1:], None], strict=True):
        q_w = workflow.weights_factor(layer.weights, 1 << 0, v.weight_bits)
        bias = workflow.quantize_bias(layer.bias, q_a, q_w)
        scale = workflow.output_scale(q_a, q_w, q_next)
        quantized.append(Quantized(layer.name, workflow.quantize_weights(layer.weights, q_w), bias, scale, q_next))
    return factors[0], quantized


def run_int8(q_a: Scales, layers: Sequence[Quantized], images: F32, v: Variant) -> Run:
    """Run images through the convolutions, the pooling and the inner product; logits in float32."""
    x = workflow.quantize_activations(images, q_a)
    zero = ZERO if v.signed else None
    if v.signed:
        x = (x ^ 128).view(np.int8)
    saturated, values = [], []
    for i, layer in enumerate(layers[:-1]):
        saturated.append(saturated_pairs(x, layer.weights, window=SAME) if v.isa != "vnni" else None)
        signed = v.signed and i < len(layers) - 2  # an inner product knows no zero point: it reads u8
        attr = Attr(oscale=layer.scale, src_zp=zero, dst_zp=ZERO if signed else None, post_ops=[Eltwise("relu")])
        dst_dt = "s8" if signed else "u8"
        x = onednn.convolution(
            x, layer.weights, layer.bias, window=SAME, dst_dt=dst_dt, attr=attr, isa=v.isa, version=VERSION
        )
        assert layer.factor is not None
        values.append((x.astype(np.float32) - (ZERO if signed else 0)) / np.float32(layer.factor.values))
    last, x = layers[-1], features(onednn.pooling(x, "max", POOL, window=HALVES, isa=v.isa, version=VERSION))
    saturated.append(saturated_pairs(x, last.weights) if v.isa != "vnni" else None)
    attr = Attr(oscale=last.scale)
    values.append(onednn.inner_product(x, last.weights, last.bias, dst_dt="f32", attr=attr, isa=v.isa, version=VERSION))
    return Run(values, saturated)


def prepare(layers: Sequence[Layer], seen: Sequence[F32]) -> tuple[list[qops.Conv2D], qops.MatMul]:
    """Make the front door's ops: ranges of the results from what each layer read in float, and one of each channel."""
    convolutions = []
    for layer, values in zip(layers[:-1], seen[1:], strict=False):
        w = qops.quantize(layer.weights.transpose(2, 3, 1, 0), axis=3, dtype="int8")
        ends = (0.0, float(values.max()))
        convolutions.append(qops.Conv2D(w, layer.bias, padding="same", dtype="uint8", range=ends, clip=(0, None)))
    last = layers[-1]
    return convolutions, qops.MatMul(qops.quantize(last.weights.T, axis=1, dtype="int8"), last.bias)


def run_front_door(convolutions: Sequence[qops.Conv2D], last: qops.MatMul, images: F32) -> Run:
    """Run images through prepared ops; logits from int32 codes."""
    t, values = qops.quantize(images.transpose(0, 2, 3, 1), 0, 1), []
    for op in convolutions:
        t = op(t)
        values.append(t.dequantize().transpose(0, 3, 1, 2))
    pooled = qops.max_pool(t, POOL)
    logits = last((pooled.data.reshape(len(images), -1), pooled.min, pooled.max))
    return Run([*values, logits.dequantize()], [None] * (len(values) + 1))


class Result(NamedTuple):
    """One variant; errors in LSB, a 127th of the largest logit of the training images."""

    variant: Variant
    run: Run
    off: NDArray[np.float64]  # from the float logits
    by_layer: Sequence[tuple[float, float]]  # largest and rms error of each layer, in LSB of the layer
    moved: NDArray[np.float64]  # from the logits of exact int8

    @property
    def read(self) -> NDArray[np.int64]:
        """What each image was read as."""
        return self.run.logits.argmax(axis=1)

    def shares(self) -> list[float]:
        """Share of pairs that saturated, by layer; 0 on a machine where none can."""
        return [0.0 if s is None else s.share for s in self.run.saturated]


class Measured(NamedTuple):
    """One network on the test images."""

    kind: str
    layers: Sequence[Layer]
    test: Digits
    logits: F32
    unsafe: Sequence[float]  # share of pairs of weights that could saturate, by layer
    results: Sequence[Result]

    def of(self, name: str) -> Result:
        """Find the result of one variant."""
        return next(r for r in self.results if r.variant.name == name)

    def misread(self, read: NDArray[np.int64]) -> int:
        """How many digits were read as another."""
        return int((read != self.test.labels).sum())

    def lost(self, r: Result) -> float:
        """Accuracy that a variant loses to float, in percentage points; negative if it is the better one."""
        return 100 * (self.misread(r.read) - self.misread(self.logits.argmax(axis=1))) / len(self.test.labels)


def measure() -> list[Measured]:
    """Learn both networks, run every variant on the test images."""
    train, test = digits()
    found = []
    for kind, contrast in KINDS.items():
        layers = learned(contrast)
        seen = run_float(layers, train.images)
        wanted = results(layers, test.images)
        logits = wanted[-1]
        lsb = float(np.abs(seen[-1]).max()) / 127
        coded = {v: quantize(layers, seen, v) for v in VARIANTS}
        runs = {v: run_int8(*coded[v], test.images, v) for v in VARIANTS}
        runs[FRONT_DOOR] = run_front_door(*prepare(layers, seen), test.images)
        exact = runs[EXACT].logits
        steps = [*(float(x.max()) / 255 for x in seen[1:-1]), lsb]
        rows = [
            Result(v, r, _steps(r.logits, logits, lsb), _layers(r, wanted, steps), _steps(r.logits, exact, lsb))
            for v, r in runs.items()
        ]
        unsafe = [float(unsafe_pairs(layer.weights).mean()) for layer in coded[EXACT][1]]
        found.append(Measured(kind, layers, test, logits, unsafe, rows))
    return found


def _layers(run: Run, wanted: Sequence[F32], steps: Sequence[float]) -> list[tuple[float, float]]:
    """Give the largest and the rms error of each layer."""
    errors = [_steps(got, want, step) for got, want, step in zip(run.values, wanted, steps, strict=True)]
    return [(float(np.abs(e).max()), float(np.sqrt(np.mean(e**2)))) for e in errors]


def _steps(got: F32, wanted: F32, lsb: float) -> NDArray[np.float64]:
    return (got.astype(np.float64) - wanted) / lsb
