"""The photograph, added by every system with a good guess, a bad one and none."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis import reasons
from analysis.pictures import Picture, Scene, scenes
from analysis.report import Table
from analysis.summary import Line
from analysis.systems import CHAIN, FUSED, HEADS, Range, Sum, System, apply, cells
from qops import QTensor, error, quantize, values

OP = "two pictures added"


class Result(NamedTuple):
    """One system's sum; `to_float` is its SQNR against the float pictures, their quantization included."""

    system: System
    guess: str
    sum: Sum
    to_float: float


class Measured(NamedTuple):
    """A scene, its pictures quantized, and what each system makes of them."""

    scene: Scene
    a: QTensor
    b: QTensor
    results: Sequence[Result]

    def of(self, name: str, guess: str = "none") -> Sum:
        """Sum of one system."""
        return next(r.sum for r in self.results if r.system.name == name and r.guess == guess)


def guesses(exact: NDArray[np.float64]) -> dict[str, Range | None]:
    """Give the guesses: none; 2 % wider than the sum, as from the frame before; a quarter as wide as the sum."""
    lo, hi = min(0.0, float(exact.min())), float(exact.max())
    return {"none": None, "good": (1.02 * lo, 1.02 * hi), "bad": (lo / 4, hi / 4)}


def measure(picture: Picture | None = None) -> list[Measured]:
    """Every scene of a picture, by default the photograph, through every system with every guess."""
    found = []
    for scene in scenes(picture):
        a, b = quantize(scene.a), quantize(scene.b)
        real = scene.a.astype(np.float64) + scene.b
        results = []
        for system in (*FUSED, *CHAIN):
            for guess, ends in guesses(values(a) + values(b)).items():
                total = apply(system, a, b, ends)
                results.append(Result(system, guess, total, error(total.tensor, real).sqnr))
        found.append(Measured(scene, a, b, results))
    return found


def row(r: Result) -> list[str]:
    """One row of the table."""
    e, t = r.sum.report, r.sum.tensor
    y, x = e.worst.index
    worst = f"({y}, {x}): {e.worst.value:.4f} for {e.worst.reference:.4f}"
    return [
        r.system.name,
        r.guess,
        f"[{t.min:.3g}, {t.max:.3g}]",
        *cells(e),
        f"{r.to_float:.1f}",
        str(r.sum.passes),
        worst,
    ]


def table(m: Measured) -> Table:
    """Table of a scene."""
    head = ("system", "guess", "output range", *HEADS, "to float dB", "passes", "worst element")
    ranges = " + ".join(f"[{t.min:.3g}, {t.max:.3g}]" for t in (m.a, m.b))
    title = f"{m.scene.title}: {ranges}, {m.a.data.size:,} pixels"
    far = {f"{r.system.name}, guess {r.guess}": (r.sum.report.max, why(m, r)) for r in m.results}
    return Table(title, head, [row(r) for r in m.results], words=3, notes=reasons.notes(far))


def why(m: Measured, r: Result) -> str:
    """Why a result may be far off."""
    a, b = ((t.min, t.max) for t in (m.a, m.b))
    return reasons.why(r.system.op, r.system.name, a, b, r.guess == "bad")


def summary(found: Sequence[Measured]) -> list[Line]:
    """A line a system: without a guess, and the largest error with any."""
    return [line(s, found) for s in (*FUSED, *CHAIN)]


def line(system: System, found: Sequence[Measured]) -> Line:
    """One system over all scenes."""
    free = {m.scene.title: m.of(system.name).report for m in found}
    title, top = max(free.items(), key=lambda named: named[1].max)
    bias, sqnr = max((e.bias for e in free.values()), key=abs), min(e.sqnr for e in free.values())
    worst = f"{title}, no guess, pixel {top.worst.index}: {top.worst.value:.4f} for {top.worst.reference:.4f}"
    own = [(m, r) for m in found for r in m.results if r.system == system]
    m, r = max(own, key=lambda pair: pair[1].sum.report.max)
    errors = (top.max, sum(e.mean for e in free.values()) / len(free), bias, sqnr)
    return Line(OP, system.name, *errors, system.bound, worst, r.sum.report.max, why(m, r))


def tables(found: list[Measured]) -> list[Table]:
    """One table a scene."""
    return [table(m) for m in found]
