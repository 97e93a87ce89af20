"""Ranges from data: the error of every clip, and where each method of range_of lands."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import style
from analysis.report import Table
from qops import error, quantize, range_of

METHODS = {  # colour, marker and size: where two coincide, one is seen around the other
    "all": ("#6b6b6b", "o", 8),
    "percentile": ("#e69f00", "s", 12),
    "mse": ("#0072b2", "D", 7),
    "entropy": ("#00664b", "^", 8),
}
COUNT = 100_000
CLIPS = np.geomspace(0.04, 1, 60)  # shares of the largest value


class Curve(NamedTuple):
    """One set of data: SQNR by clip, and the clip and SQNR of each method; in standard deviations and dB."""

    name: str
    clips: NDArray[np.float64]
    sqnr: Sequence[float]
    found: dict[str, tuple[float, float]]


def clipped(x: NDArray[np.float32], end: float) -> float:
    """SQNR of 8 bits with the range (-end, end)."""
    return error(quantize(x, -end, end), x).sqnr


def measure() -> list[Curve]:
    """Three kinds of data, all symmetric, so that a clip is one number."""
    rng = np.random.default_rng(7)
    normal, laplace = rng.normal(size=COUNT), rng.laplace(size=COUNT)
    sets = {"normal": normal, "Laplace": laplace, "normal, one value at 30": np.append(normal[1:], 30.0)}
    curves = []
    for name, data in sets.items():
        x = data.astype(np.float32)
        unit, largest = float(x.std()), float(np.abs(x).max())
        ends = {method: range_of(x, method, symmetric=True)[1] for method in METHODS}
        found = {method: (end / unit, clipped(x, end)) for method, end in ends.items()}
        curves.append(Curve(name, CLIPS * largest / unit, [clipped(x, end) for end in CLIPS * largest], found))
    return curves


def draw(curves: Sequence[Curve]) -> Drawing:
    """A panel for each set of data."""
    figure, axes = style.lines(1, len(curves), height=3.6)
    for c, ax in zip(curves, axes[0], strict=True):
        ax.plot(c.clips, c.sqnr, color=style.INK, lw=1.3)
        for method, (color, marker, size) in METHODS.items():
            ax.plot(*c.found[method], marker, color=color, ms=size, mec="white", label=method)
        ax.set(title=c.name, xlabel="clip in standard deviations", xscale="log", ylim=(12, 44))
        ax.set_xticks([1, 2, 4, 8, 16, 32], labels=["1", "2", "4", "8", "16", "32"])
        ax.minorticks_off()
        ax.set_xlim(1.2, c.clips[-1] * 1.15)
    axes[0, 0].set(ylabel="SQNR in dB")
    axes[0, 0].legend(loc="lower right", fontsize=8.5)
    style.headline(
        figure,
        "mse lands where the SQNR is highest; percentile and entropy give an outlier up",
        "8-bit codes; left of the top values saturate, right of it steps are coarse",
    )
    return figure


def tables(found: Sequence[Curve]) -> list[Table]:
    """Where each method cuts, and what is left."""
    head = ("data", *(f"{method}: {unit}" for method in METHODS for unit in ("clip", "dB")), "best dB")
    rows = [
        [c.name, *(f"{number:.2f}" for pair in c.found.values() for number in pair), f"{max(c.sqnr):.2f}"]
        for c in found
    ]
    return [Table("Ranges from data: clips in standard deviations, and SQNR", head, rows)]


FIGURES = {"observer": draw}
