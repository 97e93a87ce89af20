"""Both networks that read digits, run in float and in int8 on several machines."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.network import F32, Digits, Layer, digits, learned, results, run_float
from analysis.network_int8 import EXACT, FRONT_DOOR, VARIANTS, Run, Variant, prepare, quantize, run_front_door, run_int8
from qops.onednn import unsafe_pairs

KINDS = {"plain": False, "contrast": True}
TITLES = {"plain": "plain filters", "contrast": "contrast filters"}


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
        logits = run_float(layers, test.images)[-1]
        lsb = float(np.abs(seen[-1]).max()) / 127
        coded = {v: quantize(layers, seen, v) for v in VARIANTS}
        runs = {v: run_int8(*coded[v], test.images, v) for v in VARIANTS}
        runs[FRONT_DOOR] = run_front_door(*prepare(layers, seen), test.images)
        exact = runs[EXACT].logits
        wanted, steps = results(layers, test.images), [*(float(x.max()) / 255 for x in seen[1:-1]), lsb]
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
