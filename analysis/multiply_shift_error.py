"""y = (x * round(factor * 2**bits)) >> bits: the error against the bits of the multiplier."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import style
from analysis.report import Table
from analysis.summary import Line
from qops import ErrorReport, QTensor, error, multiply_shift
from qops.fixedpoint import SINGLE_ROUNDINGS, SingleRounding
from qops.frontdoor.multiply_shift import error_bound

BITS = tuple(range(17))
COLOURS = {"floor": "#cc3311", "half_up": "#0072b2"}
FACTORS = np.random.default_rng(7).uniform(0, 1, 150)
FINE = np.linspace(0, 12 / 128, 385)  # a stretch of factors: 12 steps of a 7-bit multiplier
CODES = np.arange(256, dtype=np.int32)
UNSHIFTED = 2**20  # x times this loses next to nothing in the shift: what is left is the error of the factor


class Measured(NamedTuple):
    """Errors over all uint8 codes: by rounding and bits over `FACTORS`; the largest at 7 bits over `FINE`."""

    by_bits: dict[str, Sequence[ErrorReport]]
    by_factor: dict[str, Sequence[float]]
    factor_alone: Sequence[float]


def spread(factors: NDArray[np.float64], bits: int, rounding: SingleRounding) -> ErrorReport:
    """Errors over all uint8 codes and some factors; one more in the result is an LSB."""
    y = np.stack([multiply_shift(CODES, f, bits, rounding=rounding) for f in factors])
    return error(QTensor(y, -(2.0**31), 2.0**31), CODES * factors[:, None])


def factor_error(factor: float) -> float:
    """Error of the largest code through the rounded factor alone."""
    return abs(int(multiply_shift(255 * UNSHIFTED, factor)) / UNSHIFTED - 255 * factor)


def measure() -> Measured:
    """Run all roundings with all bits over all codes."""
    return Measured(
        {r: [spread(FACTORS, bits, r) for bits in BITS] for r in SINGLE_ROUNDINGS},
        {r: [spread(f, 7, r).max for f in FINE[:, None]] for r in COLOURS},
        [factor_error(f) for f in FINE],
    )


def summary(found: Measured) -> list[Line]:
    """Give a line for each rounding, at 7 bits."""
    lines = []
    for r, at in found.by_bits.items():
        s = at[7]
        top = max([s.max, *found.by_factor.get(r, [])])
        worst, bound = f"factor {FACTORS[s.worst.index[0]]:.5f}", error_bound(255, 7, r)
        lines.append(Line("multiply and shift, 7 bits", f"qops {r}", top, s.mean, s.bias, s.sqnr, bound, worst, top))
    return lines


def draw(found: Measured) -> Drawing:
    """Error against bits, and at 7 bits against the factor."""
    figure, axes = style.lines(1, 2, height=3.9)
    left, right = axes[0]
    for r, marker in (("floor", "o"), ("half_up", "D")):
        dashed = {"color": COLOURS[r], "ls": (0, (5, 2)), "lw": 1.3}
        largest, bounds = [s.max for s in found.by_bits[r]], [error_bound(255, b, r) for b in BITS]
        left.semilogy(BITS, largest, marker, color=COLOURS[r], ms=5.5, label=f"{r}: measured", base=10)
        left.plot(BITS, bounds, label=f"{r}: bound", **dashed)
        right.plot(FINE * 128, found.by_factor[r], color=COLOURS[r], lw=1.2, label=f"{r}, factor and shift")
        right.axhline(bounds[7], **dashed)
    right.plot(FINE * 128, found.factor_alone, color=style.INK, lw=1.4, label="the rounded factor alone")
    style.bound_line(right, 255 * 0.5 / 128, "bounds (factor: 255 · 0.5/128 < 1)")
    left.axvline(7, color=style.FAINT, lw=0.8)
    left.set(
        title="all codes, by bits",
        xlabel="bits of the multiplier's fraction",
        ylabel="largest error in LSB",
        xticks=BITS[::2],
    )
    left.set(ylim=(0.4, 200), yticks=[0.5, 1, 2, 10, 100])
    left.yaxis.set_major_formatter("{x:g}")
    left.annotate("7 bits", (7, 150), (7.15, 120), color=style.FAINT, fontsize=9)
    right.set(
        title="7 bits, by factor", xlabel="factor, in 1/128", ylabel="largest error in LSB", xlim=(0, 12), ylim=(0, 2.7)
    )
    left.legend(loc="upper right")
    right.legend(loc="upper left", ncols=2, fontsize=8, handlelength=1.6, columnspacing=1.2)
    style.headline(
        figure,
        "A factor in 7 bits costs less than one LSB; from 12 bits on only the shift's rounding is left",
        "y = x · factor, every uint8 x",
    )
    return figure


def tables(found: Measured) -> list[Table]:
    """Largest error and bias of every rounding at some numbers of bits."""
    picked = (4, 7, 10, 16)
    head = ["rounding", *(f"{'max / bias, ' * (b == 4)}{b} bits" for b in picked), "bound, 7 bits"]
    rows = []
    for r in SINGLE_ROUNDINGS:
        cells = [f"{found.by_bits[r][b].max:.3f} / {found.by_bits[r][b].bias:+.3f}" for b in picked]
        rows.append([r, *cells, f"{error_bound(255, 7, r):.3f}"])
    return [Table(f"multiply_shift: error in LSB over all uint8 codes and {FACTORS.size} factors in 0..1", head, rows)]


FIGURES = {"multiply_shift": draw}
