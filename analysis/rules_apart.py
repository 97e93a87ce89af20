"""Requantization rules of real systems, rule by rule: how often two give another code, where, and by how much."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import style
from analysis.network import SAME, digits, learned, run_float
from analysis.network_int8 import EXACT, VERSION, quantize
from analysis.reasons import notes
from analysis.report import Table
from qops import onednn, rules
from qops.onednn import workflow

NAMES = [name for name in rules.TABLE if name != "gemmlowp-legacy"]  # which has no rule for a scale
NEAREST = "double-away"  # the real product, rounded to nearest: what all are compared with
ZERO_POINT = 3  # odd, so that a zero point inside the rounding shows
LEAST = 1e-7  # share that is drawn in the palest colour

Codes = NDArray[np.int8]
Accumulators = NDArray[np.int32]


class Measured(NamedTuple):
    """Shares that differ: of all pairs of rules on two sets, of each rule from the nearest code by situation."""

    matrices: Mapping[str, NDArray[np.float64]]
    situations: Mapping[str, NDArray[np.float64]]
    largest: Mapping[str, NDArray[np.int64]]
    count: int


def accumulators() -> tuple[Accumulators, NDArray[np.float64]]:
    """Give the sums of the plain network's second convolution on the test images, filters first, and their scales."""
    train, test = digits()
    layers = learned(False)
    seen = run_float(layers, train.images)
    q_a, coded = quantize(layers, seen, EXACT)
    x = workflow.quantize_activations(test.images, q_a)
    attr = onednn.Attr(oscale=coded[0].scale, post_ops=[onednn.Eltwise("relu")])
    how = {"window": SAME, "isa": EXACT.isa, "version": VERSION}
    x = onednn.convolution(x, coded[0].weights, coded[0].bias, dst_dt="u8", attr=attr, **how)
    acc = onednn.convolution(x, coded[1].weights, coded[1].bias, dst_dt="s32", **how)
    scales = np.broadcast_to(np.asarray(coded[1].scale.values, np.float64), acc.shape[1])
    real = acc * scales[:, None, None]
    step = (real.max() - real.min()) / 255  # no ReLU here: the codes reach from the lowest to the highest
    return np.ascontiguousarray(acc.transpose(1, 0, 2, 3)), scales / step


def situations() -> dict[str, tuple[Accumulators, float]]:
    """Give sets of accumulators, each for one thing that rules do differently, and their scales."""
    odd = np.arange(1, 240, 2)  # halves of a code that int8 holds
    far = np.arange(2**31 - 4000, 2**31)
    edges = np.rint((np.arange(-128, 127) - ZERO_POINT + 0.5)[:, None] / 0.0033 + np.arange(-1, 2)).ravel()
    found = {
        "ties above 0": (odd * 16, 2.0**-5),
        "ties below 0": (-odd * 16, 2.0**-5),
        "just short of a tie, above 0": (odd * 16 - 1, 2.0**-5),
        "just short of a tie, below 0": (1 - odd * 16, 2.0**-5),
        "edges of codes": (edges, 0.0033),
        "no shift: scale 0.7": (np.arange(-170, 171), 0.7),
        "left shift: scale 3.3": (np.arange(-38, 38), 3.3),
        "beyond 2**24": (np.linspace(2**24, 2**31 - 1, 100_000), 2.0**-24 * 0.97),
        "saturated": (np.concatenate([far, -far]), 0.45),
        "saturated, left shift": (np.concatenate([far, -far]), 3.7),
    }
    return {name: (acc.astype(np.int64).astype(np.int32), scale) for name, (acc, scale) in found.items()}


def all_codes(acc: Accumulators, scale: float | NDArray[np.float64]) -> dict[str, Codes]:
    """Give the codes of every rule; none of one that does not take the scale."""
    found = {}
    for name in NAMES:
        try:
            found[name] = rules.requantize(acc, name, scale=scale, zero_point=ZERO_POINT, axis=0)
        except ValueError:
            continue
    return found


def shares(codes: Mapping[str, Codes]) -> NDArray[np.float64]:
    """Of all pairs of rules the share of codes that differ."""
    found = np.full((len(NAMES), len(NAMES)), np.nan)
    for i, a in enumerate(NAMES):
        for j, b in enumerate(NAMES[:i]):
            if a in codes and b in codes:
                found[i, j] = found[j, i] = np.count_nonzero(codes[a] != codes[b]) / codes[a].size
    return found


def from_nearest(codes: Mapping[str, Codes]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Of every rule the share of codes that are not the nearest one, and by how much at most."""
    share, largest = np.full(len(NAMES), np.nan), np.zeros(len(NAMES), np.int64)
    for i, name in enumerate(NAMES):
        if name in codes:
            where = codes[name] != codes[NEAREST]
            off = codes[name][where].astype(np.int64) - codes[NEAREST][where]
            share[i], largest[i] = where.mean(), np.abs(off).max(initial=0)
    return share, largest


def measure() -> Measured:
    """Run every rule on the network's accumulators, with its scales and with powers of two, and on the situations."""
    acc, scales = accumulators()
    sets = {
        "network": all_codes(acc, scales),
        "network, powers of two": all_codes(acc, 2.0 ** np.rint(np.log2(scales))),
    }
    by_place = {name: all_codes(*s) for name, s in situations().items()}
    apart = {name: from_nearest(codes) for name, codes in {**sets, **by_place}.items()}
    return Measured(
        {name: shares(codes) for name, codes in sets.items()},
        {name: share for name, (share, _) in apart.items()},
        {name: largest for name, (_, largest) in apart.items()},
        acc.size,
    )


def said(share: float) -> str:
    """Format a share in few letters; an empty text if all codes are the same."""
    if np.isnan(share):
        return "-"
    if share == 0:
        return ""
    percent = 100 * share
    return f"{percent:.0f}" if percent >= 9.5 else f"{percent:.1g}" if percent >= 0.01 else "<"


def _squares(ax: Axes, values: NDArray[np.float64], across: list[str], size: float) -> None:
    ax.imshow(np.where(values > 0, values, np.nan), cmap="YlOrRd", norm=LogNorm(LEAST, 1), aspect="auto")
    for (i, j), share in np.ndenumerate(values):
        colour = "white" if share > 0.015 else style.INK
        if told := said(share):
            ax.text(j, i, told, ha="center", va="center", fontsize=size, color=colour, in_layout=False)
    ax.set(xticks=range(len(across)), yticks=range(len(NAMES)))
    ax.set_xticklabels(across, rotation=55, ha="right", rotation_mode="anchor", fontsize=8)
    ax.set_yticklabels(NAMES, fontsize=8)
    ax.grid(False)
    ax.tick_params(length=0)


def draw_matrix(found: Measured, name: str) -> Drawing:
    """Draw how often two rules differ, rule by rule."""
    figure, axes = style.lines(1, 1, height=8.2)
    _squares(axes[0, 0], found.matrices[name], NAMES, 6.5)
    more = f"{found.count:,} accumulators of a convolution that reads digits: percent of codes that differ"
    finding = "On ordinary scales two roundings in a row stand apart from one"
    if "powers" in name:
        finding = "On powers of two every tie rule stands apart"
    style.headline(figure, finding, f"{more}; < under 0.01, blank: none")
    return figure


def draw_situations(found: Measured) -> Drawing:
    """Draw how often every rule misses the nearest code, by situation."""
    figure, axes = style.lines(1, 1, height=7.4)
    values = np.stack(list(found.situations.values()), axis=1)
    _squares(axes[0, 0], values, list(found.situations), 7.5)
    more = f"percent of codes that differ from {NEAREST}: the nearest, ties away from 0; < under 0.01, blank: none"
    style.headline(figure, "Where rules differ: on ties, where a float32 ends, and where something wraps", more)
    return figure


def why(name: str) -> str:
    """Why a rule is far from the nearest code."""
    bits = rules.TABLE[name].multiplier
    if bits in ("7 bits", "8 bits"):
        return (
            f"{bits} of the scale, in steps that are the same for every scale: little or nothing is left of a small one"
        )
    if rules.TABLE[name].beyond == "lowest":
        return "a float beyond int32 becomes the lowest code"
    return "a left shift, for scales above 1, wraps in 32 bits"


def tables(found: Measured) -> list[Table]:
    """Every rule against the nearest code: shares, and by how much at most."""
    head = ["rule", *(f"{name}, %" for name in found.situations), "by at most, network", "by at most"]
    network = next(iter(found.largest))
    rows, far = [], {}
    for i, name in enumerate(NAMES):
        percent = ["-" if np.isnan(v[i]) else f"{100 * v[i]:.4g}" for v in found.situations.values()]
        most = max(int(v[i]) for v in found.largest.values())
        rows.append([name, *percent, str(found.largest[network][i]), str(most)])
        far[name] = most, why(name)
    title = f"Codes that are not the nearest, of {found.count:,} accumulators of a network and of situations"
    return [Table(title, head, rows, notes=notes(far))]


FIGURES = {
    "rules_matrix": partial(draw_matrix, name="network"),
    "rules_matrix_powers": partial(draw_matrix, name="network, powers of two"),
    "rules_where": draw_situations,
}
