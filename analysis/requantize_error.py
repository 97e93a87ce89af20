"""Requantize, int32 codes to uint8: the error of codes in the output range, and of codes that must saturate."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

from analysis import style
from analysis.reasons import notes
from analysis.report import Table
from analysis.summary import Line, errors
from analysis.systems import Range
from qops import ErrorReport, QTensor, bound, error, nnlib, requantize_32to8, signed_error, tensorflow, values

Op = Callable[[QTensor, float, float], QTensor]
SYSTEMS: dict[str, tuple[str, Any, Op]] = {
    "qops requantize_32to8": ("#0072b2", (0, (1, 1.5)), requantize_32to8),
    "nnlib Requantize_32to8": ("#e69f00", "-", nnlib.requantize_32to8),
    "TensorFlow Requantize": ("#009e73", "--", tensorflow.requantize),
}
OUT: Range = (-1.0, 1.55)
RATIOS = tuple(2.0**k for k in np.arange(0, 20.1, 0.5))
COUNT, MANY = 20_001, 60
WRAPS = "multiplies before it cuts, and beyond 257 to 1 the product outgrows 64 bits"


class Curve(NamedTuple):
    """One system at all ratios: the error of codes within the output range, the largest one of codes beyond it."""

    name: str
    colour: str
    dashes: Any
    reports: Sequence[ErrorReport]
    beyond: Sequence[float]

    @property
    def within(self) -> list[float]:
        """Largest error of codes within the output range, at each ratio."""
        return [e.max for e in self.reports]


class Measured(NamedTuple):
    """The curves of one output range, and the largest errors of qops over `MANY` output ranges and all ratios."""

    curves: Sequence[Curve]
    within: float
    beyond: float


def codes(ratio: float, out: Range) -> QTensor:
    """int32 codes all over a range that reaches `ratio` times as far as the output's, and as many within that."""
    top = float(np.float32(max(map(abs, out)) * ratio))
    step = 2 * top / 2**32
    everywhere = np.linspace(-(2**31), 2**31 - 1, COUNT)
    inside = np.linspace(out[0] / step, out[1] / step, COUNT).clip(-(2**31), 2**31 - 1)
    return QTensor(np.concatenate([everywhere, inside]).astype(np.int32), -top, top)


def in_and_beyond(requantize: Op, t: QTensor, out: Range) -> tuple[ErrorReport, float]:
    """Error of values within the range of the result, and the largest one in LSB of those beyond it."""
    result = requantize(t, *out)
    true = values(t)
    fits = (true >= result.min) & (true <= result.max)
    within, beyond = (QTensor(result.data[part], result.min, result.max) for part in (fits, ~fits))
    off = signed_error(beyond, true[~fits].clip(result.min, result.max))
    return error(within, true[fits]), float(np.abs(off).max(initial=0))


def measure() -> Measured:
    """Every system at every ratio of the input range to the output range; qops for many output ranges."""
    inputs = [codes(r, OUT) for r in RATIOS]
    curves = []
    for name, (colour, dashes, requantize) in SYSTEMS.items():
        found = [in_and_beyond(requantize, t, OUT) for t in inputs]
        curves.append(Curve(name, colour, dashes, *map(list, zip(*found, strict=True))))
    ends = np.sort(np.random.default_rng(5).normal(size=(MANY, 2)) * 10.0 ** np.linspace(-6, 6, MANY)[:, None])
    outs = [(float(lo), float(hi)) for lo, hi in ends.astype(np.float32)]
    found = [in_and_beyond(requantize_32to8, codes(r, out), out) for out in outs for r in RATIOS[::5]]
    return Measured(curves, max(e.max for e, _ in found), max(beyond for _, beyond in found))


def summary(found: Measured) -> list[Line]:
    """A line a system, over all ratios."""
    lines = []
    for c in found.curves:
        top = max(c.reports, key=lambda e: e.max)
        ratio = RATIOS[c.reports.index(top)]
        worst = f"input max / output max {ratio:.4g}: {top.worst.value:.5f} for {top.worst.reference:.5f}"
        most = bound("requantize") if c.name.startswith("qops") else None
        lines.append(Line("requantize", c.name, *errors(c.reports), most, worst, max(*c.within, *c.beyond), WRAPS))
    return lines


def draw(found: Measured) -> Drawing:
    """Largest error against the ratio: within the output range, and beyond it."""
    figure, axes = style.lines(1, 2, height=3.6)
    for i, c in enumerate(found.curves):
        for ax, largest in zip(axes[0], (c.within, c.beyond), strict=True):
            ax.semilogx(RATIOS, largest, color=c.colour, label=c.name, base=2, ls=c.dashes, zorder=4 - i)
    style.bound_line(axes[0, 0], bound("requantize"), "bound of qops: 0.5 + 2⁻¹⁷ LSB")
    axes[0, 0].set(title="values within the output range", ylabel="largest error in LSB (logarithmic above 1.5)")
    axes[0, 1].set(title="values beyond it, which must saturate")
    for ax in axes[0]:
        style.lsb_scale(ax, 400)
        ax.set(xlabel="input max / output max", xlim=(1, RATIOS[-1]), xticks=[2.0**k for k in range(0, 21, 4)])
    axes[0, 0].legend(loc="upper center")
    style.headline(
        figure, "Requantize: half an LSB in range; beyond, TensorFlow's product wraps", f"output range {list(OUT)}"
    )
    return figure


def tables(found: Measured) -> list[Table]:
    """Largest errors at three ratios, and the bias at one."""
    picked = [RATIOS.index(r) for r in (1, 1024, 2**20)]
    head = [
        "system",
        "in range: max LSB, ratio 1",
        "1024",
        "2**20",
        "beyond: ratio 1",
        "1024",
        "2**20",
        "bias LSB, 1024",
    ]
    rows = []
    for c in found.curves:
        largest = [f"{e[i]:.4f}" for e in (c.within, c.beyond) for i in picked]
        rows.append([c.name, *largest, f"{round(c.reports[picked[1]].bias, 4) + 0:+.4f}"])
    far = {c.name: (max(*c.within, *c.beyond), WRAPS) for c in found.curves}
    title = f"Requantize 32to8 into {list(OUT)}: largest error in LSB by input max / output max"
    return [Table(title, head, rows, notes=notes(far))]


FIGURES = {"requantize": draw}
