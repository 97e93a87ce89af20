"""How every figure looks: one type size, one colour a system, one scale for signed errors, panels pixel on pixel."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis.systems import Sum
from qops import plot
from qops.plot import BOUND_COLOUR as BOUND
from qops.plot import STYLE

DPI = 200  # the page shows 100 pixels an inch: two image pixels a page pixel
SCALE = 1.25  # LSB: the end of the colours and of the histograms
PANEL = 2.56  # inches of a panel that is 512 pixels wide: a photograph, or 256 codes, pixel on pixel
INK, FAINT = STYLE["text.color"], STYLE["axes.edgecolor"]

plt.rcParams.update(STYLE)
plt.rcParams["axes.titlepad"] = 8.5  # clear of a ring around a pixel of the first row
plt.rcParams["figure.dpi"] = DPI
plt.rcParams["text.hinting"] = "none"  # at so many pixels letters need none, and fitting them takes time


def panels(
    rows: int, cols: int, height: float = PANEL, gap: float = 0.56, left: float = 0.06
) -> tuple[Figure, NDArray]:
    """Make a grid of image panels of PANEL x height inches, and room for a colour bar at the right."""
    gap_x, top, bottom, right = 0.3, 1.08, 0.32, 1.1
    width = left + cols * PANEL + (cols - 1) * gap_x + right
    tall = top + rows * height + (rows - 1) * gap + bottom
    figure = plt.figure(figsize=(width, tall))
    axes = np.empty((rows, cols), object)
    for r, c in np.ndindex(rows, cols):
        x, y = left + c * (PANEL + gap_x), bottom + (rows - 1 - r) * (height + gap)
        axes[r, c] = figure.add_axes((x / width, y / tall, PANEL / width, height / tall))
        axes[r, c].grid(False)
    return figure, axes


def lines(rows: int, cols: int, height: float = 3.6) -> tuple[Figure, NDArray]:
    """Make a grid of line plots, 10 inches wide."""
    figure, axes = plt.subplots(rows, cols, figsize=(10, 0.75 + rows * height), squeeze=False, layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.62 / figure.get_figheight()), w_pad=0.12, h_pad=0.1)
    return figure, axes


def headline(figure: Figure, finding: str, more: str = "") -> None:
    """Write what the figure shows, as a sentence, at its upper left."""
    tall = figure.get_figheight()
    left = 0.04 / figure.get_figwidth()
    figure.text(left, 1 - 0.12 / tall, finding, fontsize=13, weight="bold", va="top")
    figure.text(left, 1 - 0.37 / tall, more, fontsize=10, color=FAINT, va="top")


def short(value: float) -> str:
    """Format a number of LSB for a title."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}" if value < 1e4 else f"{value:.2g}"


def luminance(colour: Sequence[float]) -> float:
    """Relative luminance of a colour, by WCAG 2."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour[:3]]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


def readable(colour: Sequence[float]) -> str:
    """Black or white, whichever stands out more from a colour: the contrast is 4.5 at least."""
    behind = luminance(colour)
    return "white" if 1.05 / (behind + 0.05) > (behind + 0.05) / 0.05 else "black"


def lsb_scale(axes: Axes, top: float) -> None:
    """Unsigned errors from 0 on: even up to 1.5 LSB, logarithmic above."""
    axes.set_yscale("symlog", linthresh=1.5, linscale=2.4)
    axes.set(ylim=(0, top), yticks=[0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 10, 100])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def bound_line(axes: Axes, value: float, text: str) -> None:
    """Draw a bound across a line plot and name it in its legend."""
    axes.axhline(value, color=BOUND, lw=1.4, ls=(0, (5, 3)), label=text, zorder=6)


def error_panel(axes: Axes, off: NDArray, title: str) -> None:
    """Draw one of several maps, whose colours one bar explains."""
    plot.error_map(off, scale=SCALE, bar=False, ax=axes).set_title(title)


def colour_bar(figure: Figure, bound: float | None, what: str = "error\nin LSB") -> None:
    """Draw the scale of the maps at the right, with the bound, if there is one."""
    shown = figure.axes[-1].images[0]
    width, tall = figure.get_size_inches()
    axes = figure.add_axes(((width - 0.9) / width, 0.95 / tall, 0.17 / width, min(4.6, tall - 2.4) / tall))
    ticks = {-1: "-1", 0: "0", 1: "+1"} | ({-bound: f"-{bound:.3g}", bound: f"+{bound:.3g}"} if bound else {})
    bar = figure.colorbar(shown, cax=axes, extend="both", ticks=list(ticks))
    bar.set_ticklabels(list(ticks.values()))
    bar.outline.set_visible(False)
    axes.grid(False)
    axes.set_title(what, fontsize=9.5, pad=14, loc="center")
    axes.set_xlabel("black:\nbeyond", fontsize=8.5, labelpad=16, loc="center")
    if bound:
        for end in (-bound, bound):
            axes.axhline(end, color=BOUND, lw=2.4)
        for side in (3, 4):
            axes.get_yticklabels()[side].set(color=BOUND, weight="bold")
        axes.text(4.6, 0.3, "bound", color=BOUND, rotation=90, ha="center", va="center", fontsize=9)


def histograms(columns: Mapping[str, Sequence[Sum]], bound: float | None) -> Figure:
    """Spread of signed errors: a column a data set, a row a system."""
    rows = max(map(len, columns.values()))
    figure, axes = lines(rows, len(columns), height=0.8)
    for column, (title, sums) in zip(axes.T, columns.items(), strict=True):
        for ax, total in zip(column, sums, strict=True):
            off = total.off
            plot.error_histogram(off, bound=bound, scale=SCALE, colour=total.system.colour, ax=ax)
            ax.get_legend().remove()
            top = ax.dataLim.y1
            ax.set(xlabel="", ylabel="", xticks=np.linspace(-1, 1, 5), ylim=(0, 1.5 * top), yticks=[0, top])
            ax.set_yticklabels(["0", f"{top:.0f} %"])
            ax.tick_params(labelbottom=ax is column[-1])
            ax.set_title(title if ax is column[0] else "", loc="left")
            bias = f"bias {round(off.mean(), 3) + 0:+.3f}"
            ax.text(1, 1, bias, transform=ax.transAxes, va="top", ha="right", fontsize=8.5)
            if column[0] is axes[0, 0]:
                ax.set_ylabel(total.system.name, rotation=0, ha="right", va="center", labelpad=8)
        column[-1].xaxis.set_major_formatter("{x:g}")
        column[-1].set_xlabel("error in LSB")
    return figure
