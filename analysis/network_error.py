"""A network that reads digits, in float and in int8 on several machines: misread digits, errors, saturated pairs."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from analysis import network_pictures as pictures
from analysis.network_int8 import EXACT, FRONT_DOOR, SATURATING, VARIANTS, Variant
from analysis.network_runs import TITLES, Measured, measure
from analysis.reasons import notes
from analysis.report import Figures, Table
from analysis.summary import Line

__all__ = ["figures", "measure", "summary", "tables"]

SHORT = ("conv 1", "conv 2", "inner")  # names of the layers in a table
WHY = {v.name: "a bit less, of weights or activations, moves every logit" for v in VARIANTS} | {
    EXACT.name: "rounding to 8 bits, in every layer",
    FRONT_DOOR.name: "rounding to 8 bits, in every layer; weights have a range for each output channel",
    SATURATING.name: "sums of two products leave int16, and saturate",
}


def table(m: Measured) -> Table:
    """Table of a network."""
    head = ["variant", "ISA", "misread", "accuracy", "unlike float", "to float: max LSB", "mean", "to exact: max LSB"]
    head += ["mean", *(f"{name} ppm" for name in SHORT)]
    float_read, count = m.logits.argmax(axis=1), len(m.test.labels)
    wrong = m.misread(float_read)
    rows = [["float32", "", str(wrong), f"{1 - wrong / count:.2%}", "0", *["-"] * (len(head) - 5)]]
    for r in m.results:
        wrong, unlike = m.misread(r.read), int((r.read != float_read).sum())
        errors = [*_errors(r.off), *_errors(r.moved)]
        shares = ["cannot" if s is None else pictures.per_million(s.share) for s in r.run.saturated]
        rows.append(
            [r.variant.name, r.variant.isa, str(wrong), f"{1 - wrong / count:.2%}", str(unlike), *errors, *shares]
        )
    could = ", ".join(f"{name} {share:.2%}" for name, share in zip(SHORT, m.unsafe, strict=True))
    title = f"Digits, {TITLES[m.kind]}, {count} test images: logits; ppm: pairs that saturated, per million"
    far = {r.variant.name: (np.abs(r.off).max(), WHY[r.variant.name]) for r in m.results}
    return Table(f"{title} (pairs of weights that could: {could})", head, rows, words=2, notes=notes(far))


def layer_table(found: Sequence[Measured]) -> Table:
    """Table of the error of each layer, oneDNN's machines and the front door."""
    head = ["variant", "ISA", *(f"{TITLES[m.kind]}: {name}" for m in found for name in SHORT)]
    rows = []
    for i, r in enumerate(found[0].results):
        errors = [e for m in found for e in m.results[i].by_layer]
        rows.append([r.variant.name, r.variant.isa, *(f"{rms:.2f} ({most:.1f})" for most, rms in errors)])
    return Table("Digits, error of each layer against float in LSB of the layer: rms (largest)", head, rows, words=2)


def summary(found: Sequence[Measured]) -> list[Line]:
    """A line a variant, over both networks."""
    return [line(r.variant, found) for r in found[0].results]


def line(v: Variant, found: Sequence[Measured]) -> Line:
    """Logits of one variant against those in float."""
    results = [(m, m.of(v.name)) for m in found]
    m, r = max(results, key=lambda pair: np.abs(pair[1].off).max())
    image, digit = np.unravel_index(np.abs(r.off).argmax(), r.off.shape)
    worst = f"{TITLES[m.kind]}, image {image}, digit {digit}: {r.run.logits[image, digit]:.2f}"
    worst += f" for {m.logits[image, digit]:.2f}"
    off = np.concatenate([r.off for _, r in results])
    sqnr = min(10 * np.log10((m.logits**2).mean() / ((r.run.logits - m.logits) ** 2).mean()) for m, r in results)
    top = float(np.abs(off).max())
    errors = (top, float(np.abs(off).mean()), float(off.mean()), float(sqnr))
    return Line("digits in int8", v.name, *errors, worst=worst, anywhere=top, why=WHY[v.name])


def _errors(off: NDArray[np.float64]) -> list[str]:
    return [f"{np.abs(off).max():.2f}", f"{np.abs(off).mean():.3f}"]


def tables(found: list[Measured]) -> list[Table]:
    """One table a network, and one of the layers of both."""
    return [*(table(m) for m in found), layer_table(found)]


def figures(found: list[Measured]) -> Figures:
    """How to draw each figure."""
    return {
        "network_filters": partial(pictures.draw_filters, found),
        "network_results": partial(pictures.draw_results, found),
        "network_layers": partial(pictures.draw_layers, found),
        "network_saturation": partial(pictures.draw_saturation, found),
        "network_logits": partial(pictures.draw_logits, found),
        "network_misread": partial(pictures.draw_misread, found),
    }
