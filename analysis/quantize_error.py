"""Quantize, float to uint8: the errors of all values and of 0, for ranges that move 0 from one code to the next."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import style
from analysis.pictures import photograph
from analysis.report import Table
from analysis.summary import Line, errors
from analysis.systems import HEADS, cells
from qops import ErrorReport, QTensor, bound, dequantize, error, nnlib, quantize, signed_error, tensorflow

Op = Callable[[NDArray[np.float32], float, float], QTensor]
SYSTEMS: dict[str, tuple[str, Op]] = {
    "qops quantize": ("#0072b2", quantize),
    "nnlib Quantize": ("#e69f00", nnlib.quantize),
    "TensorFlow MIN_COMBINED": ("#7fd8bb", tensorflow.quantize_v2),
    "TensorFlow MIN_FIRST": ("#00664b", lambda x, lo, hi: tensorflow.quantize_v2(x, lo, hi, mode="MIN_FIRST")),
}
NESTED = (6.5, 2.0, 5.0, 1.5)  # widths of lines, so that those that coincide are seen one inside the other
ZEROS = np.linspace(99, 102, 121)  # the code, or the place between two codes, where 0 is in the range asked for


class Curve(NamedTuple):
    """One system: largest error of values in range and error of 0, by where 0 is; and the photograph, less its mean."""

    name: str
    largest: Sequence[float]
    zero: Sequence[float]
    picture: ErrorReport


class Measured(NamedTuple):
    """The curves, and the largest value that 0 comes back as from qops."""

    curves: Sequence[Curve]
    zero_back: float


def asked(zero: float) -> tuple[float, float]:
    """Give the range that begins at -1 and has 0 at that code."""
    return -1.0, float(np.float32(255 / zero - 1))


def measure() -> Measured:
    """Every system on ranges from 0 on a code to 0 on the next, and on the photograph."""
    picture = photograph()
    picture = picture - picture.mean()
    ends = float(picture.min()), float(picture.max())
    curves = []
    for name, (_, op) in SYSTEMS.items():
        largest, zero = [], []
        for z in ZEROS:
            lo, hi = asked(z)
            x = np.append(np.linspace(lo, hi, 20_000), 0).astype(np.float32)
            t = op(x, lo, hi)
            off, inside = signed_error(t, x), (x >= t.min) & (x <= t.max)
            largest.append(float(np.abs(off)[inside].max()))
            zero.append(float(off[-1]))
        curves.append(Curve(name, largest, zero, error(op(picture, *ends), picture)))
    back = max(abs(float(dequantize(quantize([0.0], *asked(z)))[0])) for z in ZEROS)
    return Measured(curves, back)


def summary(found: Measured) -> list[Line]:
    """A line a system: the largest error of all ranges, the rest of the photograph less its mean."""
    lines = []
    for c in found.curves:
        top, most = max(*c.largest, c.picture.max), bound("quantize") if c.name.startswith("qops") else None
        worst = f"range from -1 on with 0 at code {ZEROS[int(np.argmax(c.largest))]:.4g}"
        lines.append(Line("quantize", c.name, top, *errors([c.picture])[1:], most, worst, top))
    return lines


def draw(found: Measured) -> Drawing:
    """Error of 0, and the largest error of any value, by where 0 is."""
    figure, axes = style.lines(1, 2, height=3.6)
    for c, width in zip(found.curves, NESTED, strict=True):
        for ax, off in zip(axes[0], (c.zero, c.largest), strict=True):
            ax.plot(ZEROS, off, color=SYSTEMS[c.name][0], lw=width, zorder=3 - width / 10, label=c.name)
    style.bound_line(axes[0, 1], bound("quantize"), "bound of qops: 0.5 + 2⁻¹³ LSB")
    axes[0, 0].set(title="what 0.0 becomes", ylabel="value of its code, in LSB", ylim=(-0.75, 1.1))
    axes[0, 1].set(title="any value in range", ylabel="largest error in LSB", ylim=(0, 1.25))
    for ax in axes[0]:
        ax.set(
            xlabel="code of 0 in the range asked for",
            xlim=(ZEROS[0], ZEROS[-1]),
            xticks=[99, 99.5, 100, 100.5, 101, 101.5, 102],
        )
        ax.xaxis.set_major_formatter("{x:g}")
    axes[0, 1].legend(*([part[-1]] for part in axes[0, 1].get_legend_handles_labels()), loc="upper left", fontsize=8.5)
    axes[0, 0].legend(loc="upper center", fontsize=8.5, ncols=2)
    style.headline(
        figure,
        "Quantize: qops and nnlib move the range so that 0 stays 0",
        "ranges from -1 on, with 0 at a code or between two; values read as min + code * step",
    )
    return figure


def tables(found: Measured) -> list[Table]:
    """Sweep in two numbers, and the photograph."""
    head = ("system", "swept: max LSB", "0 off by", *(f"photograph: {HEADS[0]}", *HEADS[1:]), "worst pixel")
    rows = []
    for c in found.curves:
        worst = c.picture.worst
        swept = [f"{max(c.largest):.4f}", f"{max(map(abs, c.zero)):.4f}"]
        rows.append([c.name, *swept, *cells(c.picture), f"{worst.index}: {worst.value:.5f} for {worst.reference:.5f}"])
    return [Table("Quantize: ranges swept past a code, and the photograph less its mean", head, rows)]


FIGURES = {"quantize": draw}
