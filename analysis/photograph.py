"""The photograph, added by every system with a good guess, a bad one and none."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import style
from analysis.pictures import Scene, scenes
from analysis.report import Figure, Section, Table
from analysis.systems import CHAIN, FUSED, Range, Sum, System, add
from qops import QTensor, error, quantize
from qops.add import BOUND_8P8TO8
from qops.error import values

TEXT = (
    "The photograph that ships with matplotlib, as two exposures (each with its own sensor noise of 1 %) and with its own "
    "blur, quantized to 8 bit and added. The error is that of the addition: against the exact sum of what the codes stand "
    "for, in steps of the output code (LSB). SQNR to float is against the float pictures, their quantization included. "
    "For 8p8to8 a guess is good (2 % wider than the sum), bad (a quarter as wide) or missing. The chain takes a given range "
    "as an order: what is beyond it saturates."
)
CAPTIONS = (
    "Every system is near the half LSB that 8 bits allow. TensorFlow turns the step of each picture into a whole number of "
    "int32 codes, here 128.5 into 129: the bright parts come out up to 0.2 LSB too high. The LSBs differ: the ranges of "
    "nnlib's fused forms are 15 and 20 % wider than the sum, which costs 1.4 and 2.1 dB of SQNR.",
    "qops writes with the guess, sees in the same pass that the sums do not fit, and writes once more with the range it "
    "found. nnlib takes two given ends as they are, in one pass, and everything above them becomes white.",
    "The spec form (nnlib's only one up to 2019, today for shapes that differ) scales to the step of the finer operand: at "
    "181 to 1 a bright pixel is 46,000 such steps, beyond int16. It wraps to a large negative number, which then also "
    "drags the range down to -0.85: highlights turn black and the shadows lose half of their codes.",
    "Ranges of both signs. quantize has put 0 exactly on a code, so no system loses anything to a shifted zero point; what "
    "is left is the arithmetic: the spec form truncates the ratio of the ranges to 7 bits, TensorFlow rounds steps to whole codes.",
    "A form that rounds once, at the end, errs by half an LSB at most. What lies beyond is rounded or truncated on the way. "
    "Combs: the steps of the ranges are in a simple proportion, so only a few errors can occur. The dashed bound is 0.6 LSB.",
)


class Result(NamedTuple):
    """One system's sum; `to_float` is its SQNR against the float pictures, their quantization included."""

    system: System
    guess: str
    sum: Sum | None
    to_float: float


class Measured(NamedTuple):
    """A scene, its pictures quantized, and what each system makes of them."""

    scene: Scene
    a: QTensor
    b: QTensor
    results: Sequence[Result]

    def of(self, name: str, guess: str = "none") -> Sum:
        """The sum of one system."""
        return next(r.sum for r in self.results if r.system.name == name and r.guess == guess)


def guesses(exact: NDArray[np.float64]) -> dict[str, Range | None]:
    """None; 2 % wider than the sum, as the frame before would give it; a quarter as wide as the sum."""
    lo, hi = min(0.0, float(exact.min())), float(exact.max())
    return {"none": None, "good": (1.02 * lo, 1.02 * hi), "bad": (lo / 4, hi / 4)}


def measure() -> list[Measured]:
    """Every scene through every system with every guess."""
    found = []
    for scene in scenes():
        a, b = quantize(scene.a), quantize(scene.b)
        real = scene.a.astype(np.float64) + scene.b
        results = []
        for system in (*FUSED, *CHAIN):
            for guess, ends in guesses(values(a)[0] + values(b)[0]).items():
                total = add(system, a, b, ends)
                results.append(Result(system, guess, total, error(total.tensor, real).sqnr if total else -np.inf))
        found.append(Measured(scene, a, b, results))
    return found


def row(r: Result) -> list[str]:
    """One row of the table."""
    if r.sum is None:
        return [r.system.name, r.guess, "refused", *"-------"]
    e, t = r.sum.report, r.sum.tensor
    y, x = e.worst.index
    worst = f"({y}, {x}): {e.worst.value:.4f} for {e.worst.reference:.4f}"
    numbers = f"{e.max:.3f} {e.mean:.3f} {e.bias:+.3f} {e.sqnr:.1f} {r.to_float:.1f} {r.sum.passes}".split()
    return [r.system.name, r.guess, f"[{t.min:.3g}, {t.max:.3g}]", *numbers, worst]


def table(m: Measured) -> Table:
    """The table of a scene."""
    head = "system|guess|output range|max LSB|mean LSB|bias LSB|SQNR dB|to float dB|passes|worst element".split("|")
    ranges = " + ".join(f"[{t.min:.3g}, {t.max:.3g}]" for t in (m.a, m.b))
    return Table(f"{m.scene.title}: {ranges}, {m.a.data.size:,} pixels", head, [row(r) for r in m.results], words=3)


def show_picture(axes: Axes, picture: NDArray[Any], black: float, white: float, title: str) -> None:
    """Every second pixel each way, so that a pixel of the data is a pixel of the page."""
    axes.imshow(picture[::2, ::2], cmap="gray", vmin=black, vmax=white, interpolation="nearest")
    axes.set(xticks=[], yticks=[], title=title)


def draw_scene(m: Measured) -> Drawing:
    """The two pictures and their sum; below, the error of every system without a guess."""
    figure, axes = style.panels(3, 3, height=3.0)
    ours = m.of("qops 8p8to8")
    pictures = (*zip(m.scene.names, (m.a, m.b), strict=True), ("their sum, by qops 8p8to8", ours.tensor))
    for ax, (name, t) in zip(axes[0], pictures, strict=True):
        show_picture(ax, t.data, 0, 255, f"{name}\n[{t.min:.3g}, {t.max:.3g}]")
    for ax, system in zip(axes[1:].flat, (*FUSED, *CHAIN), strict=True):
        total = m.of(system.name)
        shown = style.show_error(ax, total.off, every=2)
        ax.set_title(f"{system.name}\nmax {style.short(total.report.max)} LSB, SQNR {total.report.sqnr:.1f} dB")
    style.colour_bar(figure, shown, BOUND_8P8TO8)
    worst = max((m.of(s.name) for s in (*FUSED, *CHAIN) if not s.name.startswith("qops")), key=lambda r: r.report.max)
    finding = f"{m.scene.title}: qops within {ours.report.max:.2f} LSB, {worst.system.name} {worst.report.max:.2f}"
    style.headline(figure, finding, "upper row: what is added, and the sum; below: error of every pixel without a guess, magnified 200 times, the worst ringed")
    return figure


def draw_results(m: Measured, guess: str, finding: str, more: str) -> Drawing:
    """The sums of the fused forms and, below, their errors."""
    figure, axes = style.panels(2, 3, height=3.0)
    white = m.of("qops 8p8to8").tensor.max
    for (upper, lower), system in zip(axes.T, FUSED, strict=True):
        total = m.of(system.name, guess)
        t, passes = total.tensor, f"{total.passes} pass" + "es" * (total.passes > 1)
        show_picture(upper, values(t)[0], 0, white, f"{system.name}\n{passes}, range [{t.min:.2f}, {t.max:.2f}]")
        shown = style.show_error(lower, total.off, every=2)
        lower.set_title(f"max {style.short(total.report.max)} LSB, SQNR {total.report.sqnr:.1f} dB")
    style.colour_bar(figure, shown, BOUND_8P8TO8)
    style.headline(figure, finding, more)
    return figure


def draw_histograms(found: list[Measured]) -> Drawing:
    """How the errors of all pixels are spread, without a guess."""
    off = {m.scene.title: {s.name: (s.colour, m.of(s.name).off) for s in (*FUSED, *CHAIN)} for m in found}
    figure = style.histograms(off, BOUND_8P8TO8)
    style.headline(figure, "Rounded once: within half an LSB. Rounded on the way: beyond", "all pixels, no guess; dashed: the bound of qops")
    return figure


def section(found: list[Measured]) -> Section:
    """What the page shows."""
    near, blur, far = found
    clipped = "A bad guess costs qops a second pass, and nnlib the picture", "the guessed range is a quarter as wide as the sum"
    wrapped = "7.5 stops apart: int16 wraps in nnlib's spec form", "no guess; upper row: the sums; below: their error, the worst pixel ringed"
    figures = [
        Figure("photograph_exposures", CAPTIONS[0], lambda: draw_scene(near)),
        Figure("photograph_bad_guess", CAPTIONS[1], lambda: draw_results(near, "bad", *clipped)),
        Figure("photograph_stops", CAPTIONS[2], lambda: draw_results(far, "none", *wrapped)),
        Figure("photograph_blur", CAPTIONS[3], lambda: draw_scene(blur)),
        Figure("photograph_histograms", CAPTIONS[4], lambda: draw_histograms([near, blur])),
    ]
    return Section("photograph", "A photograph", TEXT, [table(m) for m in found], figures)
