"""How every figure looks: one type size, one colour a system, one map for signed error, panels pixel on pixel."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from qops.plot import BOUND_COLOUR as BOUND
from qops.plot import STYLE

DPI = 200  # the page shows 100 pixels an inch: two image pixels a page pixel
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


def lsb_scale(axes: Axes, top: float) -> None:
    """Unsigned errors from 0 on: even up to 1.5 LSB, logarithmic above."""
    axes.set_yscale("symlog", linthresh=1.5, linscale=2.4)
    axes.set(ylim=(0, top), yticks=[0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 10, 100])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def bound_line(axes: Axes, value: float, text: str) -> None:
    """Draw a bound across a line plot and name it in its legend."""
    axes.axhline(value, color=BOUND, lw=1.4, ls=(0, (5, 3)), label=text, zorder=6)
