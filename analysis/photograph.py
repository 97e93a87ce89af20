"""The photograph: its figures; what they show is measured in `photograph_error`."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis import error_plots, style
from analysis.photograph_error import Measured, measure, summary, tables
from analysis.report import Figures
from analysis.systems import CHAIN, FUSED, decibels
from qops import values
from qops.frontdoor.add import BOUND_8P8TO8

__all__ = ["figures", "measure", "summary", "tables"]


def show_picture(axes: Axes, picture: NDArray[Any], black: float, white: float, title: str) -> None:
    """Show every n-th pixel, so that one of them is at least as large as a pixel of the page."""
    cut = picture[:: every(picture), :: every(picture)]
    axes.imshow(cut, cmap="gray", vmin=black, vmax=max(white, black + 1e-6), interpolation="nearest")
    axes.set(xticks=[], yticks=[], title=title)


def every(picture: NDArray[Any]) -> int:
    """Tell every how many pixels, each way, one is shown."""
    return max(1, *(side // most for side, most in zip(picture.shape, (300, 256), strict=True)))


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
        error_plots.panel(total.off, ax)
        ax.set_title(f"{system.name}\nmax {style.short(total.report.max)} LSB, SQNR {decibels(total.report)} dB")
    error_plots.colour_bar(figure, BOUND_8P8TO8)
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
        error_plots.panel(total.off, lower)
        lower.set_title(f"max {style.short(total.report.max)} LSB, SQNR {decibels(total.report)} dB")
    error_plots.colour_bar(figure, BOUND_8P8TO8)
    off = ", ".join(f"{s.name} {style.short(m.of(s.name, guess).report.max)}" for s in FUSED)
    given = "no guess" if guess == "none" else "a guess a quarter as wide as the sum"
    more = f"{m.scene.title}, {given}; above: the sums; below: their error, the worst ringed"
    style.headline(figure, f"Largest error in LSB: {off}", more)
    return figure


def draw_histograms(found: Sequence[Measured]) -> Figure:
    """How the errors of all pixels are spread, without a guess."""
    off = {m.scene.title: {s.name: (s.colour, m.of(s.name).off) for s in (*FUSED, *CHAIN)} for m in found}
    figure = error_plots.histograms(off, BOUND_8P8TO8)
    finding = "Rounded once: half an LSB and a little. Rounded on the way: beyond"
    style.headline(figure, finding, "all pixels, no guess; dashed: the bound of qops")
    return figure


def figures(found: list[Measured]) -> Figures:
    """How to draw each figure."""
    near, blur, far = found
    return {
        "photograph_exposures": lambda: draw_scene(near),
        "photograph_bad_guess": lambda: draw_results(near, "bad"),
        "photograph_stops": lambda: draw_results(far, "none"),
        "photograph_blur": lambda: draw_scene(blur),
        "photograph_histograms": lambda: draw_histograms([near, blur]),
    }
