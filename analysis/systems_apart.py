"""Where nnlib's and TensorFlow's form of each op differ on equal data, by how much, and why."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import style
from analysis.report import Table
from analysis.summary import Line
from analysis.system_pairs import Pair, Reals, Step, data, pairs
from analysis.systems import Range
from qops import values

NNLIB = "#e69f00"
LEAST = 1e-6  # LSB: end of the logarithmic scale
BINS = 160
SHOWN = ("QuantizeV2", "Requantize", "QuantizedAvgPool", "QuantizedConcat", "QuantizedAdd")


class Apart(NamedTuple):
    """How far two results are apart, in LSB of nnlib's 8-bit codes, or 255ths of what wider results span."""

    alike: str
    share: float  # of codes that differ
    largest: float
    mean: float
    lsb: float


class Compared(NamedTuple):
    """A pair of ops; the results apart as they are, and with one reason less each time."""

    pair: Pair
    apart: Sequence[Apart]

    @property
    def off(self) -> Reals:
        """Difference of every element, in LSB: above 0 where nnlib's is higher."""
        step = self.pair.steps[0]
        return (step.nnlib.reals - step.tensorflow.reals) / self.apart[0].lsb

    @property
    def same(self) -> bool:
        """Whether both stand for the same reals."""
        return self.apart[0].mean == 0

    @property
    def explained(self) -> float:
        """How much of the mean difference goes with the reasons."""
        return 1 - self.apart[-1].mean / self.apart[0].mean if not self.same else 1.0


def measure() -> list[Compared]:
    """Compare the systems, op by op."""
    return [Compared(p, [compared(step) for step in p.steps]) for p in pairs()]


def compared(step: Step) -> Apart:
    """Compare two results."""
    n, t = step.nnlib, step.tensorflow
    lsb = (n.ends[1] - n.ends[0] if n.ends and n.codes.dtype == np.uint8 else np.ptp(n.reals)) / 255
    off = np.abs(n.reals - t.reals) / lsb
    return Apart(step.alike, float(np.mean(n.codes != t.codes)), float(off.max()), float(off.mean()), float(lsb))


def number(x: float) -> str:
    """Format a difference in few letters."""
    return f"{x:.3g}"


def row(c: Compared) -> list[str]:
    """One row of the table of differences."""
    a, n, off = c.apart[0], c.pair.steps[0].nnlib, c.off
    worst = number(n.reals.flat[np.abs(off).argmax()]) if not c.same else "-"
    return [
        c.pair.name,
        c.pair.data,
        f"{off.size:,}",
        f"{100 * a.share:.2f}",
        *map(number, (a.largest, a.mean, a.largest * a.lsb, a.mean * a.lsb)),
        worst,
    ]


def range_row(n: Range, t: Range, name: str) -> list[str]:
    """One row of the table of ranges."""
    ends = ["[{:.7g}, {:.7g}]".format(*of) for of in (n, t)]
    return [name, *ends, *(f"{x - y:+.3g}" for x, y in zip(n, t, strict=True)), f"{(n[1] - n[0]) / (t[1] - t[0]):.6g}"]


def tables(found: Sequence[Compared]) -> list[Table]:
    """Differences, ranges, and reasons."""
    head = ("nnlib / TensorFlow", "data", "elements", "codes that differ, %", "largest LSB", "mean LSB")
    apart = Table(
        "How far the results are apart",
        (*head, "largest, real", "mean, real", "largest at"),
        [row(c) for c in found],
        words=2,
    )
    ranged = [(s.nnlib.ends, s.tensorflow.ends, c.pair.name) for c in found for s in c.pair.steps[:1]]
    head = (
        "nnlib / TensorFlow",
        "nnlib's range",
        "TensorFlow's",
        "min apart",
        "max apart",
        "widths, nnlib's / TensorFlow's",
    )
    ranges = Table("Output ranges", head, [range_row(n, t, name) for n, t, name in ranged if n and t], words=3)
    reasons = [
        [c.pair.name if i == 1 else "", a.alike, f"{100 * a.share:.2f}", number(a.largest), number(a.mean)]
        for c in found
        for i, a in enumerate(c.apart)
        if i
    ]
    head = ("nnlib / TensorFlow", "the reason: what is made alike", "codes that differ, %", "largest LSB", "mean LSB")
    return [apart, ranges, Table("Why: what is left once a difference is taken away", head, reasons, words=2)]


def summary(found: Sequence[Compared]) -> list[Line]:
    """One line: the largest difference, and the mean of all pairs of ops."""
    top = max(found, key=lambda c: c.apart[0].largest)
    largest, mean = top.apart[0].largest, float(np.mean([c.apart[0].mean for c in found]))
    worst = f"{len(found)} pairs of ops; {top.pair.name}, {top.pair.data}"
    return [Line("nnlib beside TensorFlow", "nnlib less TensorFlow", largest, mean, worst=worst, anywhere=largest)]


def percent_said(share: float) -> str:
    """A share in percent, in few letters."""
    said = f"{100 * share:.0f}" if share >= 0.095 else f"{100 * share:.2g}"
    return said if share else "none"


def _draw_shares(ax: Axes, shares: Sequence[float]) -> None:
    ax.barh(range(len(shares)), [100 * s for s in shares], color=style.FAINT, height=0.6)
    for y, s in enumerate(shares):
        x, side, colour = (100 * s - 1, "right", "white") if s > 0.5 else (100 * s + 1, "left", style.INK)
        ax.text(x, y, percent_said(s), ha=side, color=colour, va="center", fontsize=8)
    ax.set(xlim=(0, 100), xlabel="codes that differ, %")


def _draw_sizes(ax: Axes, found: Sequence[Compared]) -> None:
    unlike = [(y, c.apart) for y, c in enumerate(found) if not c.same]
    mark = {"ls": "", "marker": "|", "ms": 9, "mew": 2}
    rows = [y for y, _ in unlike]
    ax.plot([a[0].largest for _, a in unlike], rows, "o", color=style.INK, label="largest")
    ax.plot([a[0].mean for _, a in unlike], rows, color=style.INK, label="mean", **mark)
    ax.plot([max(a[-1].mean, LEAST) for _, a in unlike], rows, color=NNLIB, label="mean, made alike", **mark)
    for y in set(range(len(found))).difference(rows):
        ax.text(LEAST * 1.3, y, "the same reals", va="center", fontsize=8, color=style.FAINT)
    ax.set(xscale="log", xlim=(LEAST * 0.8, 2), xlabel="apart, in LSB; left end: a millionth or less")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, fontsize=8, handletextpad=0.2, columnspacing=1)


def draw_overview(found: Sequence[Compared]) -> Drawing:
    """Draw how many codes differ, and by how much, before and after the reasons are taken away."""
    figure, axes = style.lines(1, 2, height=0.29 * len(found))
    _draw_shares(axes[0, 0], [c.apart[0].share for c in found])
    _draw_sizes(axes[0, 1], found)
    for ax in axes[0]:
        ax.set(yticks=range(len(found)), ylim=(len(found) - 0.4, -0.6))
        ax.grid(axis="y", visible=False)
    axes[0, 0].set_yticklabels([c.pair.name for c in found], fontsize=8)
    axes[0, 1].set_yticklabels([])
    alike = sum(c.same for c in found)
    finding = f"{alike} of {len(found)} pairs of ops give the same reals, the others nearly so"
    style.headline(
        figure, finding, "on the same data; orange: what is left once the reasons in the table below are taken away"
    )
    return figure


def draw_maps(found: Sequence[Compared]) -> Drawing:
    """Draw the picture, and where the codes of it differ."""
    figure, axes = style.panels(2, 3, height=3.0)
    first, *rest = axes.flat
    first.imshow(values(data().picture), cmap="gray", interpolation="nearest")
    first.set(xticks=[], yticks=[], title="the picture\n")
    by_name = {c.pair.tensorflow: c for c in found}
    for ax, name in zip(rest, SHOWN, strict=True):
        c = by_name[name]
        off = c.off.reshape(*c.pair.steps[0].nnlib.codes.squeeze().shape[:2], -1)[..., -1]
        size = np.abs(off)
        title = f"{c.pair.nnlib}, {name}\nmax {number(size.max())} LSB, mean {number(size.mean())}"
        style.error_panel(ax, off, title)
    style.colour_bar(figure, None, "apart\nin LSB")
    more = "nnlib's result less TensorFlow's, the largest difference ringed; of Concat the blur"
    style.headline(figure, "On the picture: steps where a rounding differs, tints where a range is moved", more)
    return figure


def along(ax: Axes, reals: NDArray, off: NDArray) -> None:
    """Draw the lowest, mean and highest difference along the real value."""
    edges = np.linspace(reals.min(), reals.max(), BINS + 1)
    places = np.digitize(reals.ravel(), edges[1:-1]).astype(np.uint8)
    order = np.argsort(places, kind="stable")
    filled, starts = np.unique(places[order], return_index=True)
    sorted_off = off.ravel()[order]
    low, high = (f.reduceat(sorted_off, starts) for f in (np.minimum, np.maximum))
    mean = np.add.reduceat(sorted_off, starts) / np.diff([*starts, off.size])
    middle = (edges[filled] + edges[filled + 1]) / 2
    ax.fill_between(middle, low, high, color=NNLIB, alpha=0.35, lw=0, step="mid")
    ax.plot(middle, mean, color=style.INK, lw=1)


def draw_values(found: Sequence[Compared]) -> Drawing:
    """Draw every pair that differs along the real value."""
    chosen = [c for c in found if not c.same and c.off.size > 2]
    figure, axes = style.lines(-(-len(chosen) // 3), 3, height=1.9)
    for ax in axes.flat[len(chosen) :]:
        ax.remove()
    for ax, c in zip(axes.flat, chosen, strict=False):
        along(ax, c.pair.steps[0].nnlib.reals, c.off)
        ax.set_title(f"{c.pair.nnlib}\n{c.pair.tensorflow}: {c.pair.data}", fontsize=8)
        ax.ticklabel_format(axis="y", style="sci", scilimits=(-3, 3))
    for line in axes:
        line[0].set_ylabel("LSB")
    more = "nnlib's result less TensorFlow's along the real value: lowest to highest, and mean (black)"
    style.headline(figure, "Along the real value: a moved range makes a slope, a rounding a band", more)
    return figure


FIGURES = {"systems_overview": draw_overview, "systems_maps": draw_maps, "systems_values": draw_values}
