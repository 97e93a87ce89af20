"""Requantize, int32 codes to uint8: the error, and what becomes of codes that must saturate."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import style
from analysis.report import Figure, Section, Table
from analysis.systems import Range
from qops import QTensor, nnlib, requantize_32to8, tensorflow
from qops.error import values
from qops.requantize import BOUND_32TO8

SYSTEMS: dict[str, tuple[str, Any, Callable[[QTensor, float, float], QTensor]]] = {
    "nnlib Requantize_32to8": ("#e69f00", "-", nnlib.requantize_32to8),
    "TensorFlow Requantize": ("#009e73", "--", tensorflow.requantize),
    "qops requantize_32to8": ("#0072b2", (0, (1, 1.5)), requantize_32to8),
}
OUT: Range = (-1.0, 1.55)
RATIOS = tuple(2.0**k for k in np.arange(0, 20.1, 0.5))
COUNT = 40_001


class Curve(NamedTuple):
    """One system at all ratios: the largest error of codes within the output range, and of codes beyond it."""

    name: str
    colour: str
    dashes: Any
    within: Sequence[float]
    beyond: Sequence[float]
    bias: float
    off: NDArray[np.float64]  # signed error of the codes within, at a ratio of 1024


def codes(ratio: float) -> tuple[QTensor, NDArray[np.bool_]]:
    """int32 codes all over a range `ratio` times the output's, as many again within it, and which those are."""
    top = OUT[1] * ratio
    step = 2 * top / 2**32
    everywhere = np.linspace(-(2**31), 2**31 - 1, COUNT).astype(np.int64)
    inside = np.linspace(OUT[0] / step, OUT[1] / step, COUNT).astype(np.int64).clip(-(2**31), 2**31 - 1)
    x = np.concatenate([everywhere, inside])
    fits = (x * step >= OUT[0]) & (x * step <= OUT[1])
    return QTensor(x.astype(np.int32), -float(np.float32(top)), float(np.float32(top))), fits


def signed_error(result: QTensor, t: QTensor) -> NDArray[np.float64]:
    """Against the value cut to the output range, in LSB."""
    got, lsb = values(result)
    return (got - values(t)[0].clip(result.min, result.max)) / lsb


def measure() -> list[Curve]:
    """Every system at every ratio of the input range to the output range."""
    inputs = [codes(r) for r in RATIOS]
    curves = []
    for name, (colour, dashes, requantize) in SYSTEMS.items():
        errors = [(signed_error(requantize(t, *OUT), t), fits) for t, fits in inputs]
        within = [float(np.abs(off[fits]).max()) for off, fits in errors]
        beyond = [float(np.abs(off[~fits]).max()) if not fits.all() else 0.0 for off, fits in errors]
        off = errors[RATIOS.index(1024)][0][inputs[RATIOS.index(1024)][1]]
        curves.append(Curve(name, colour, dashes, within, beyond, float(off.mean()), off))
    return curves


def draw(curves: list[Curve]) -> Drawing:
    """Largest error against the ratio: within the output range, and beyond it."""
    figure, axes = style.lines(1, 2, height=3.6)
    for c in curves:
        for ax, errors in zip(axes[0], (c.within, c.beyond), strict=True):
            ax.semilogx(RATIOS, errors, color=c.colour, label=c.name, base=2, ls=c.dashes)
    style.bound_line(axes[0, 0], BOUND_32TO8, "bound of qops: 0.5 + 2⁻¹⁷ LSB")
    axes[0, 0].set(title="values within the output range", ylabel="largest error in LSB (logarithmic above 1.5)")
    axes[0, 1].set(title="values beyond it, which must saturate")
    for ax in axes[0]:
        style.lsb_scale(ax, 400)
        ax.set(xlabel="input range / output range", xlim=(1, RATIOS[-1]), xticks=[2.0**k for k in range(0, 21, 4)])
    axes[0, 0].legend(loc="upper center")
    style.headline(figure, "Requantize: half an LSB in range; beyond, TensorFlow's product wraps", f"output range {list(OUT)}")
    return figure


def draw_histograms(curves: list[Curve]) -> Drawing:
    """Spread of the error within the output range."""
    figure = style.histograms({"input range 1,024 times the output range": {c.name: (c.colour, c.off) for c in curves}}, BOUND_32TO8)
    style.headline(figure, "All round to nearest: flat over half an LSB each side", f"{COUNT:,} codes; dashed: the bound of qops")
    return figure


TEXT = (
    "The second half of the chain: int32 codes of a wide range to uint8 codes of a narrow one. Values within the output range "
    "are rounded; those beyond it must come out as code 0 or 255, whatever the ratio of the ranges."
)
CAPTIONS = (
    "qops cuts codes that must saturate before it multiplies, so nothing can wrap. TensorFlow multiplies first: from a ratio of "
    "some 257 on the product outgrows 64 bits, and the brightest values come out black.",
    "Values all over the output range, at a ratio where 22 bits of the int32 codes are left.",
)


def section(curves: list[Curve]) -> Section:
    """What the page shows."""
    picked = [RATIOS.index(r) for r in (1, 1024, 2**20)]
    rows = [[c.name, *(f"{e[i]:.4f}" for e in (c.within, c.beyond) for i in picked), f"{c.bias:+.4f}"] for c in curves]
    head = "system|in range: max LSB, ratio 1|1024|2**20|beyond: ratio 1|1024|2**20|bias LSB, 1024".split("|")
    table = Table(f"Requantize 32to8 into {list(OUT)}: largest error in LSB by the ratio of the ranges", head, rows)
    figures = [
        Figure("requantize", CAPTIONS[0], lambda: draw(curves)),
        Figure("requantize_histograms", CAPTIONS[1], lambda: draw_histograms(curves)),
    ]
    return Section("requantize_error", "Requantize", TEXT, [table], figures)
