"""Multiply, over all 65,536 pairs of codes: a map for some ranges, the largest error for many."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import error_plots, style
from analysis.ranges import many_ranges
from analysis.report import Figures, Table
from analysis.systems import HEADS, Range, all_pairs, cells
from qops import ErrorReport, QTensor, error, nnlib, quantized_mul_8x8to8, quantized_mul_8x8to32, tensorflow
from qops.frontdoor.error import values
from qops.frontdoor.mul import BOUND_8X8TO8

SHOWN: tuple[tuple[Range, Range, str], ...] = (
    ((-8.0, 12.4), (-1.0, 1.55), "0 on a code"),
    ((-8.0, 8.0), (-1.0, 1.0), "0 between two codes"),
    ((8.0, 16.0), (0.0, 1.0), "a range without 0"),
)


class Map(NamedTuple):
    """The products of one system for one pair of ranges."""

    name: str
    a: Range
    b: Range
    tensor: QTensor
    report: ErrorReport
    off: NDArray[np.float64]  # signed error of every pair, in LSB


class Measured(NamedTuple):
    """The maps; and of `many_ranges` the largest errors of qops, into 8 and 32 bits, and its most passes."""

    maps: Sequence[Map]
    largest: float
    rounded: float
    passes: int
    ranges: int  # pairs of ranges: those of `many_ranges` whose products float32 holds with the head room of 32 bits


def by_tensorflow(a: QTensor, b: QTensor) -> QTensor:
    """Multiply into int32, look at the range that the products span, requantize."""
    acc = tensorflow.quantized_mul(a, b)
    return tensorflow.requantize(acc, *tensorflow.requantization_range(acc))


SYSTEMS: dict[str, Callable[[QTensor, QTensor], QTensor]] = {
    "qops 8x8to8": quantized_mul_8x8to8,
    "nnlib 8x8to8": nnlib.quantized_mul_8x8to8,
    "TensorFlow chain": by_tensorflow,
}


def measure() -> Measured:
    """Draw up the maps of all systems, and the largest errors of the front door over many ranges."""
    maps = []
    for a, b, _ in SHOWN:
        x, y = all_pairs(a, b)
        exact = values(x)[0] * values(y)[0]
        for name, multiply in SYSTEMS.items():
            product = multiply(x, y)
            got, lsb = values(product)
            maps.append(Map(name, a, b, product, error(product, exact), (got - exact) / lsb))
    held = [(a, b) for a, b in many_ranges() if max(map(abs, a)) * max(map(abs, b)) < 2.0**116]
    largest, rounded, passes = 0.0, 0.0, 0
    for a, b in held:
        x, y = all_pairs(a, b)
        exact = values(x)[0] * values(y)[0]
        lo, hi = float(exact.min()), float(exact.max())
        for guess in (None, (lo / 4, max(lo / 4, hi / 4))):
            product, info = quantized_mul_8x8to8(x, y, guess, return_info=True)
            largest, passes = max(largest, error(product, exact).max), max(passes, info.passes)
        rounded = max(rounded, error(quantized_mul_8x8to32(x, y), exact).max)
    return Measured(maps, largest, rounded, passes, len(held))


def row(m: Map) -> list[str]:
    """One row of the table."""
    ranges = " * ".join(f"[{lo:g}, {hi:g}]" for lo, hi in (m.a, m.b))
    return [m.name, ranges, f"[{m.tensor.min:.4g}, {m.tensor.max:.4g}]", *cells(m.report)]


def tables(found: Measured) -> list[Table]:
    """All maps as numbers."""
    head = ("system", "ranges", "output range", *HEADS)
    return [Table("Multiply, all 65,536 pairs of codes, no guess", head, [row(m) for m in found.maps], words=3)]


def draw(found: Measured) -> Drawing:
    """Draw a row of maps a pair of ranges, a column a system."""
    figure, axes = style.panels(len(SHOWN), len(SYSTEMS), gap=0.62, left=0.45)
    for line, (a, b, what) in zip(axes, SHOWN, strict=True):
        for ax, m in zip(line, (m for m in found.maps if (m.a, m.b) == (a, b)), strict=True):
            shown = error_plots.show_error(ax, m.off)
            ax.set_title(f"{m.name}\nmax {style.short(m.report.max)} LSB, mean {style.short(m.report.mean)}")
        line[0].set_ylabel(f"[{a[0]:g}, {a[1]:g}] * [{b[0]:g}, {b[1]:g}]: {what}\ncode of a, 0 to 255 downward")
    for ax in axes[-1]:
        ax.set_xlabel("code of b, 0 to 255")
    error_plots.colour_bar(figure, shown, BOUND_8X8TO8)
    finding = "qops keeps the offsets of both ranges; the others round each 0 to a code"
    style.headline(figure, finding, "error of every pair of codes, no guess; the worst pair ringed")
    return figure


def figures(found: Measured) -> Figures:
    """How to draw each figure."""
    return {"mul_maps": lambda: draw(found)}
