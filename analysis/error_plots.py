"""What the figures of several maps or histograms of signed error share."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis.style import BOUND, lines
from qops import plot

SCALE = 1.25  # LSB: the end of the colours and of the histograms, in all figures


def panel(off: NDArray, axes: Axes) -> None:
    """Draw one of several maps, whose colours one bar explains."""
    plot.error_map(off, scale=SCALE, bar=False, ax=axes)


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


def histograms(columns: dict[str, dict[str, tuple[str, NDArray]]], bound: float) -> Figure:
    """Spread of signed errors: a column a data set, a row a system, {column: {system: (colour, errors)}}."""
    rows = max(map(len, columns.values()))
    figure, axes = lines(rows, len(columns), height=0.8)
    for column, (title, systems) in zip(axes.T, columns.items(), strict=True):
        for ax, (name, (colour, off)) in zip(column, systems.items(), strict=True):
            plot.error_histogram(off, bound=bound, scale=SCALE, colour=colour, ax=ax)
            ax.get_legend().remove()
            top = ax.dataLim.y1
            ax.set(xlabel="", ylabel="", xticks=np.linspace(-1, 1, 5), ylim=(0, 1.5 * top), yticks=[0, top])
            ax.set_yticklabels(["0", f"{top:.0f} %"])
            ax.tick_params(labelbottom=ax is column[-1])
            ax.set_title(title if ax is column[0] else "", loc="left")
            bias = f"bias {round(off.mean(), 3) + 0:+.3f}"
            ax.text(1, 1, bias, transform=ax.transAxes, va="top", ha="right", fontsize=8.5)
            if column[0] is axes[0, 0]:
                ax.set_ylabel(name, rotation=0, ha="right", va="center", labelpad=8)
        column[-1].xaxis.set_major_formatter("{x:g}")
        column[-1].set_xlabel("error in LSB")
    return figure
