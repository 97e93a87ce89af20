"""The photograph, added by every system with a good guess, a bad one and none."""

from collections.abc import Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis import reasons, style
from analysis.pictures import Picture, Scene, scenes
from analysis.report import Table
from analysis.summary import Line, errors
from analysis.systems import CHAIN, FUSED, HEADS, Range, Sum, apply, cells, decibels
from qops import QTensor, error, quantize, values


class Result(NamedTuple):
    """One system's sum; `to_float` is its SQNR against the float pictures, their quantization included."""

    guess: str
    sum: Sum
    to_float: float

    @property
    def why(self) -> tuple[float, str]:
        """The largest error, and why it may be far off."""
        return reasons.of(self.sum, narrow=self.guess == "bad")


class Measured(NamedTuple):
    """A scene, its pictures quantized, and what each system makes of them."""

    scene: Scene
    a: QTensor
    b: QTensor
    results: Sequence[Result]

    def of(self, name: str, guess: str = "none") -> Sum:
        """Sum of one system."""
        return next(r.sum for r in self.results if r.sum.system.name == name and r.guess == guess)


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
        given = guesses(values(a) + values(b))
        sums = apply((*FUSED, *CHAIN), a, b, given.values())
        results = [Result(guess, total, error(total.tensor, real).sqnr) for guess, total in zip(cycle(given), sums)]
        found.append(Measured(scene, a, b, results))
    return found


def row(r: Result) -> list[str]:
    """One row of the table."""
    e, t = r.sum.report, r.sum.tensor
    y, x = e.worst.index
    worst = f"({y}, {x}): {e.worst.value:.4f} for {e.worst.reference:.4f}"
    ends, to_float = f"[{t.min:.3g}, {t.max:.3g}]", f"{r.to_float:.1f}"
    return [r.sum.system.name, r.guess, ends, *cells(e), to_float, str(r.sum.passes), worst]


def tables(found: list[Measured]) -> list[Table]:
    """One table a scene."""
    head = ("system", "guess", "output range", *HEADS, "to float dB", "passes", "worst element")
    made = []
    for m in found:
        title = f"{m.scene.title}: {FUSED[0].over(m.results[0].sum.ranges, '.3g')}, {m.a.data.size:,} pixels"
        notes = reasons.notes({f"{r.sum.system.name}, guess {r.guess}": r.why for r in m.results})
        made.append(Table(title, head, [row(r) for r in m.results], words=3, notes=notes))
    return made


def summary(found: Sequence[Measured]) -> list[Line]:
    """A line a system: over all scenes without a guess, and the largest error with any."""
    lines = []
    for system in (*FUSED, *CHAIN):
        free = {m.scene.title: m.of(system.name).report for m in found}
        title, top = max(free.items(), key=lambda named: named[1].max)
        worst = f"{title}, no guess, pixel {top.worst.index}: {top.worst.value:.4f} for {top.worst.reference:.4f}"
        anywhere = max((r.why for m in found for r in m.results if r.sum.system == system), key=lambda why: why[0])
        lines.append(
            Line("two pictures added", system.name, *errors(list(free.values())), system.bound, worst, *anywhere)
        )
    return lines


def show_picture(axes: Axes, picture: NDArray[Any], black: float, white: float, title: str) -> None:
    """Show every n-th pixel, so that one of them is at least as large as a pixel of the page."""
    cut = picture[:: every(picture), :: every(picture)]
    axes.imshow(cut, cmap="gray", vmin=black, vmax=max(white, black + 1e-6), interpolation="nearest")
    axes.set(xticks=[], yticks=[], title=title)


def every(picture: NDArray[Any]) -> int:
    """Tell every how many pixels, each way, one is shown."""
    return max(1, *(side // most for side, most in zip(picture.shape, (300, 256), strict=True)))


def told(total: Sum) -> str:
    """Largest error and SQNR, for a title."""
    return f"max {style.short(total.report.max)} LSB, SQNR {decibels(total.report)} dB"


def grid(m: Measured, rows: int) -> tuple[Figure, NDArray[Any]]:
    """Panels in the shape of the picture, unless that is very long."""
    height, width = m.scene.a.shape
    return style.panels(rows, 3, height=style.PANEL * min(max(height / width, 0.5), 2.0))


def draw_scene(m: Measured) -> Figure:
    """Draw the two pictures and their sum; below, the error of every system without a guess."""
    figure, axes = grid(m, 3)
    ours = m.of("qops 8p8to8")
    pictures = (*zip(m.scene.names, (m.a, m.b), strict=True), ("their sum, by qops 8p8to8", ours.tensor))
    black, white = min(t.min for _, t in pictures), max(t.max for _, t in pictures)
    for ax, (name, t) in zip(axes[0], pictures, strict=True):
        show_picture(ax, values(t), black, white, f"{name}\n[{t.min:.3g}, {t.max:.3g}]")
    for ax, system in zip(axes[1:].flat, (*FUSED, *CHAIN), strict=True):
        total = m.of(system.name)
        style.error_panel(ax, total.off, f"{system.name}\n{told(total)}")
    style.colour_bar(figure, FUSED[0].bound)
    worst = max((m.of(s.name) for s in (*FUSED, *CHAIN) if not s.name.startswith("qops")), key=lambda r: r.report.max)
    finding = f"{m.scene.title}: qops within {ours.report.max:.2f} LSB, {worst.system.name} {worst.report.max:.2f}"
    more = "above: what is added, and the sum; below: the error without a guess, magnified to LSB, the worst ringed"
    style.headline(figure, finding, more)
    return figure


def draw_results(m: Measured, guess: str) -> Figure:
    """Draw the sums of the fused forms and, below, their errors."""
    figure, axes = grid(m, 2)
    white = m.of("qops 8p8to8").tensor.max
    for (upper, lower), system in zip(axes.T, FUSED, strict=True):
        total = m.of(system.name, guess)
        t, passes = total.tensor, f"{total.passes} pass" + "es" * (total.passes > 1)
        show_picture(
            upper, values(t), 0, white, f"{system.name}\n{passes}, range [{round(t.min, 2) + 0:.2f}, {t.max:.2f}]"
        )
        style.error_panel(lower, total.off, told(total))
    style.colour_bar(figure, FUSED[0].bound)
    off = ", ".join(f"{s.name} {style.short(m.of(s.name, guess).report.max)}" for s in FUSED)
    given = "no guess" if guess == "none" else "a guess a quarter as wide as the sum"
    more = f"{m.scene.title}, {given}; above: the sums; below: their error, the worst ringed"
    style.headline(figure, f"Largest error in LSB: {off}", more)
    return figure


def draw_histograms(found: Sequence[Measured]) -> Figure:
    """How the errors of all pixels are spread, without a guess."""
    sums = {m.scene.title: [m.of(s.name) for s in (*FUSED, *CHAIN)] for m in found}
    figure = style.histograms(sums, FUSED[0].bound)
    finding = "Rounded once: half an LSB and a little. Rounded on the way: beyond"
    style.headline(figure, finding, "all pixels, no guess; dashed: the bound of qops")
    return figure


FIGURES = {
    "photograph_exposures": lambda found: draw_scene(found[0]),
    "photograph_bad_guess": lambda found: draw_results(found[0], "bad"),
    "photograph_stops": lambda found: draw_results(found[2], "none"),
    "photograph_blur": lambda found: draw_scene(found[1]),
    "photograph_histograms": lambda found: draw_histograms(found[:2]),
}
