"""How every figure looks: one type size, one colour a system, one map for signed error, panels pixel on pixel."""

from collections.abc import Iterable

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

DPI = 200  # the page shows 100 pixels an inch: two image pixels a page pixel
PANEL = 2.56  # inches of a panel that is 512 pixels wide: a photograph, or 256 codes, pixel on pixel
INK, FAINT, BOUND = "#1a1a1a", "#6b6b6b", "#7b2d8b"
SCALE = 1.25  # LSB: end of the colour scale of every error map

plt.rcParams.update(
    {
        "figure.facecolor": "white",
        "font.size": 9.5,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": FAINT,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.7,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "legend.frameon": False,
        "lines.linewidth": 1.7,
        "savefig.dpi": DPI,
    }
)


def error_map() -> Colormap:
    """Blue too low, white right, red too high: safe for the colour-blind. Black: beyond the scale."""
    return mpl.colormaps["RdBu_r"].with_extremes(under="black", over="black")


def panels(rows: int, cols: int, height: float = PANEL, gap: float = 0.5, left: float = 0.2) -> tuple[Figure, NDArray]:
    """A grid of image panels of PANEL x height inches, and room for a colour bar at the right."""
    gap_x, top, bottom, right = 0.3, 1.05, 0.25, 1.1
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
    """A grid of line plots, 10 inches wide."""
    figure, axes = plt.subplots(rows, cols, figsize=(10, 0.75 + rows * height), squeeze=False, layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.62 / figure.get_figheight()), w_pad=0.12, h_pad=0.1)
    return figure, axes


def headline(figure: Figure, finding: str, more: str = "") -> None:
    """What the figure shows, as a sentence, at its upper left."""
    tall = figure.get_figheight()
    left = 0.2 / figure.get_figwidth()
    figure.text(left, 1 - 0.12 / tall, finding, fontsize=13, weight="bold", va="top")
    figure.text(left, 1 - 0.37 / tall, more, fontsize=10, color=FAINT, va="top")


def show_error(axes: Axes, off: NDArray, every: int = 1) -> AxesImage:
    """A map of signed error in LSB, of every so manieth element each way; the worst of all is ringed."""
    cut = off[::every, ::every]
    shown = axes.imshow(cut, cmap=error_map(), vmin=-SCALE, vmax=SCALE, interpolation="nearest")
    y, x = (i / every for i in np.unravel_index(np.abs(off).argmax(), off.shape))
    axes.plot(x, y, "o", mfc="none", mec="white", ms=9, mew=3.4, clip_on=False)
    axes.plot(x, y, "o", mfc="none", mec=INK, ms=9, mew=1.4, clip_on=False)
    axes.set(xticks=[], yticks=[])
    return shown


def colour_bar(figure: Figure, shown: AxesImage, bound: float) -> None:
    """The scale of the error maps at the right, with the bound drawn."""
    width, tall = figure.get_size_inches()
    axes = figure.add_axes(((width - 0.9) / width, 0.95 / tall, 0.17 / width, min(4.6, tall - 2.4) / tall))
    ticks = {-1: "−1", -bound: f"−{bound}", 0: "0", bound: f"+{bound}", 1: "+1"}
    bar = figure.colorbar(shown, cax=axes, extend="both", ticks=list(ticks))
    bar.set_ticklabels(list(ticks.values()))
    bar.outline.set_visible(False)
    axes.grid(False)
    axes.set_title("error\nin LSB", fontsize=9.5, pad=14, loc="center")
    axes.set_xlabel("black:\nbeyond", fontsize=8.5, labelpad=16, loc="center")
    for end in (-bound, bound):
        axes.axhline(end, color=BOUND, lw=2.4)
    for side in (1, 3):
        axes.get_yticklabels()[side].set(color=BOUND, weight="bold")
    axes.text(4.6, 0.3, "bound", color=BOUND, rotation=90, ha="center", va="center", fontsize=9)


def histograms(columns: dict[str, dict[str, tuple[str, NDArray]]], bound: float) -> Figure:
    """Spread of signed errors: a column a data set, a row a system, {column: {system: (colour, errors)}}."""
    rows = max(map(len, columns.values()))
    figure, axes = lines(rows, len(columns), height=0.8)
    edges = np.linspace(-SCALE, SCALE, 81)
    for column, (title, systems) in zip(axes.T, columns.items(), strict=True):
        for ax, (name, (colour, off)) in zip(column, systems.items(), strict=True):
            share = 100 * np.histogram(off.clip(-SCALE, SCALE), edges)[0] / off.size
            ax.stairs(share, edges, fill=True, color=colour, zorder=2)
            bounds(ax, bound)
            ax.set(xlim=(-SCALE, SCALE), xticks=np.linspace(-1, 1, 5), ylim=(0, 1.5 * share.max()), yticks=[0, share.max()])
            ax.set_yticklabels(["0", f"{share.max():.0f} %"])
            ax.tick_params(labelbottom=ax is column[-1])
            ax.text(1, 1, f"bias {off.mean():+.3f}", transform=ax.transAxes, va="top", ha="right", fontsize=8.5)
            if column[0] is axes[0, 0]:
                ax.set_ylabel(name, rotation=0, ha="right", va="center", labelpad=8)
        column[0].set_title(title)
        column[-1].xaxis.set_major_formatter("{x:g}")
        column[-1].set_xlabel("error in LSB")
    return figure


def short(value: float) -> str:
    """A number of LSB for a title."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def lsb_scale(axes: Axes, top: float) -> None:
    """Unsigned errors from 0 on: even up to 1.5 LSB, logarithmic above."""
    axes.set_yscale("symlog", linthresh=1.5, linscale=2.4)
    axes.set(ylim=(0, top), yticks=[0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 10, 100])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def bounds(axes: Axes, value: float, text: str = "") -> None:
    """The bound of a signed error, on both sides of 0 of the x axis."""
    for side in (-value, value):
        axes.axvline(side, color=BOUND, lw=1.5, ls=(0, (5, 2)), label=text if side > 0 else None, zorder=3)


def bound_line(axes: Axes, value: float | NDArray, text: str, x: Iterable | None = None) -> None:
    """A bound, drawn across a line plot (or over `x`) and named in its legend."""
    line = {"color": BOUND, "lw": 1.6, "ls": (0, (5, 2)), "label": text, "zorder": 1.5}
    if x is None:
        axes.axhline(value, **line)
    else:
        axes.plot(x, value, **line)
