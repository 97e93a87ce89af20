"""What saturation without VNNI costs a network in onnxruntime, and what each repair of `qops.saturation` costs."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as Drawing

import qops
from analysis import style
from analysis.network import digits, learned, run_float
from analysis.network_file import save
from analysis.report import Table

__all__ = ["FIGURES", "Network", "measure", "tables"]

IMAGES = 300
"""How many test images are run; the network did not learn from them."""
NETWORKS = {
    "plain filters, a scale for each channel": (False, True),
    "contrast filters, a scale for each layer": (True, False),
}
EXACT, AS_IT_IS = "exact", "as it is"


class Network(NamedTuple):
    """A network, and its repairs."""

    name: str
    accuracy: float  # in float
    unsafe: Sequence[tuple[int, int]]  # pairs that can saturate and all pairs, by layer
    repairs: qops.Repairs


def measure() -> list[Network]:
    """Write both networks as files, look at them, and try all repairs on the test images."""
    train, test = digits()
    images, labels = test.images[:IMAGES], test.labels[:IMAGES]
    found = []
    for name, (contrast, per_channel) in NETWORKS.items():
        layers = learned(contrast)
        with TemporaryDirectory() as folder:
            path = Path(folder, "digits.onnx")
            save(layers, run_float(layers, train.images), path, per_channel=per_channel)
            report = qops.saturation(path, images)
            repairs = report.repairs(labels)
        read = run_float(layers, images)[-1].argmax(axis=1)
        unsafe = [(layer.unsafe_groups, layer.groups) for layer in report.layers]
        found.append(Network(name, float(np.mean(read == labels)), unsafe, repairs))
    return found


def table(network: Network) -> Table:
    """Table of a network."""
    head = ["repair", "changes", "largest error", "mean error", "accuracy"]
    rows = [["float32", "", "-", "-", f"{network.accuracy:.2%}"]]
    for one in network.repairs.tried:
        assert one.accuracy is not None or one.refused
        numbers = [f"{one.error:.3f}", f"{one.mean:.4f}", f"{one.accuracy or 0:.2%}"]
        rows.append([one.name, one.changes, *(["-"] * 3 if one.refused else numbers)])
    could = ", ".join(f"{part} of {whole}" for part, whole in network.unsafe)
    title = f"Digits on {network.repairs.machine}, {network.name}: error of the logits against exact int8"
    return Table(f"{title} (pairs that could saturate, by layer: {could})", head, rows, words=2)


def tables(found: Sequence[Network]) -> list[Table]:
    """One table a network."""
    return [table(network) for network in found]


def draw_errors(found: Sequence[Network]) -> Drawing:
    """Draw the largest error of the logits of each repair, beside that of saturation itself."""
    figure, axes = style.lines(1, len(found), height=3.3)
    for ax, network in zip(axes[0], found, strict=True):
        shown = [one for one in network.repairs.tried if not one.refused and one.name != EXACT]
        errors = [one.error for one in shown]
        colours = ["#b3261e" if one.name == AS_IT_IS else "#0072b2" for one in shown]
        bars = ax.barh(range(len(shown)), errors, 0.7, color=colours)
        ax.bar_label(bars, [f"{one.error:.2g}, {one.accuracy:.1%}" for one in shown], padding=3, fontsize=8.5)
        ax.set(yticks=range(len(shown)), ylim=(len(shown) - 0.5, -0.5), xlabel="largest error of a logit")
        ax.set_yticklabels([one.name for one in shown])
        ax.set_title(network.name, fontsize=9.5)
        ax.margins(x=0.3)
        ax.grid(axis="y", visible=False)
    exact = "Other types and other pairs repair all; 7 bits in all weights may cost more than saturation"
    style.headline(figure, exact, f"onnxruntime without VNNI, {IMAGES} test images; behind each bar error and accuracy")
    return figure


FIGURES = {"repairs_errors": draw_errors}
