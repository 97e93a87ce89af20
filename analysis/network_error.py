"""A network that reads digits, in float and in int8 on several machines: misread digits, errors, saturated pairs."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from numpy.typing import NDArray

from analysis import style
from analysis.network import convolved
from analysis.network_int8 import EXACT, FRONT_DOOR, SATURATING, VARIANTS, Measured, measure
from analysis.reasons import notes
from analysis.report import Table
from analysis.summary import Line

__all__ = ["FIGURES", "measure", "summary", "tables"]

TITLES = {"plain": "plain filters", "contrast": "contrast filters"}
SHORT = ("conv 1", "conv 2", "inner")  # names of the layers in a table
SHOWN = 6  # digits that are drawn, of each network
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
        shares = ["cannot" if s is None else per_million(s.share) for s in r.run.saturated]
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
    """A line a variant, over both networks: its logits against those in float."""
    lines = []
    for v in (r.variant for r in found[0].results):
        results = [(m, m.of(v.name)) for m in found]
        m, r = max(results, key=lambda pair: np.abs(pair[1].off).max())
        image, digit = np.unravel_index(np.abs(r.off).argmax(), r.off.shape)
        worst = f"{TITLES[m.kind]}, image {image}, digit {digit}: {r.run.logits[image, digit]:.2f}"
        worst += f" for {m.logits[image, digit]:.2f}"
        off = np.concatenate([r.off for _, r in results])
        sqnr = min(10 * np.log10((m.logits**2).mean() / ((r.run.logits - m.logits) ** 2).mean()) for m, r in results)
        top = float(np.abs(off).max())
        errors = (top, float(np.abs(off).mean()), float(off.mean()), float(sqnr))
        lines.append(Line("digits in int8", v.name, *errors, worst=worst, anywhere=top, why=WHY[v.name]))
    return lines


def _errors(off: NDArray[np.float64]) -> list[str]:
    return [f"{np.abs(off).max():.2f}", f"{np.abs(off).mean():.3f}"]


def tables(found: list[Measured]) -> list[Table]:
    """One table a network, and one of the layers of both."""
    return [*(table(m) for m in found), layer_table(found)]


def per_million(share: float) -> str:
    """A share as a number per million."""
    return f"{1e6 * share:.0f}" if share > 1e-5 else f"{1e6 * share:.2g}"


def draw_results(found: Sequence[Measured]) -> Drawing:
    """Misread digits, and the error of logits, by variant."""
    figure, axes = style.lines(1, 3, height=3.0)
    variants = [r.variant for r in found[0].results]
    names = ["float32", *(v.name for v in variants)]
    colours = [style.FAINT, *(v.colour for v in variants)]
    for i, m in enumerate(found):
        y = np.arange(len(names)) + 0.4 * i - 0.2
        misread = [m.misread(read) for read in (m.logits.argmax(axis=1), *(r.read for r in m.results))]
        off = [np.abs(r.off) for r in m.results]
        values = misread, [0, *(e.mean() for e in off)], [0, *(e.max() for e in off)]
        for ax, x, form in zip(axes[0], values, ("{:.0f}", "{:.2f}", "{:.1f}"), strict=True):
            bars = ax.barh(y, x, 0.36, color=colours, alpha=1 - 0.5 * i)
            ax.bar_label(bars, [form.format(value) if value else "" for value in x], padding=3, fontsize=8.5)
    titles = "digits misread", "logits, mean error in LSB", "logits, largest error in LSB"
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set(title=title, yticks=range(len(names)), ylim=(len(names) - 0.5, -0.6))
        ax.margins(x=0.16)
        ax.set_yticklabels(names if ax is axes[0, 0] else [])
        ax.grid(axis="y", visible=False)
    more = f"{len(found[0].test.labels)} test images; upper bar: plain filters, lower, pale: contrast filters"
    worst = max(np.abs(m.of(SATURATING.name).off).max() for m in found)
    style.headline(figure, f"Saturation moves a logit by up to {worst:.0f} LSB, and accuracy does not show it", more)
    return figure


def draw_layers(found: Sequence[Measured]) -> Drawing:
    """Error of each layer, by variant."""
    figure, axes = style.lines(1, len(found), height=3.3)
    end = max(rms for m in found for r in m.results for _, rms in r.by_layer)
    for ax, m in zip(axes[0], found, strict=True):
        for i, r in enumerate(m.results):
            at = np.arange(len(m.layers)) + (i - (len(m.results) - 1) / 2) * 0.14
            ax.bar(at, [rms for _, rms in r.by_layer], 0.13, color=r.variant.colour, label=r.variant.name)
        ax.set(xticks=range(len(m.layers)), title=TITLES[m.kind], ylim=(0, 1.05 * end))
        ax.set_xticklabels([layer.name for layer in m.layers])
        ax.grid(axis="x", visible=False)
    axes[0, 0].set_ylabel("rms error in LSB of the layer")
    axes[0, -1].legend(loc="upper right", fontsize=8)
    mine, exact = (max(m.of(v.name).by_layer[-1][1] for m in found) for v in (FRONT_DOOR, EXACT))
    finding = (
        f"Logits are off by {mine:.2f} LSB rms with a range for each channel, by {exact:.2f} with one for each layer"
    )
    style.headline(figure, finding, "errors against float, by layer; front door: prepared ops of qops, the rest oneDNN")
    return figure


def draw_saturation(found: Sequence[Measured]) -> Drawing:
    """Share of pairs that saturate, by layer and variant, beside the share that could."""
    figure, axes = style.lines(1, len(found), height=3.3)
    floor, width = 0.1, 0.17
    for ax, m in zip(axes[0], found, strict=True):
        for x, share in enumerate(m.unsafe):
            allowed = 1e6 * share or np.nan
            ax.hlines(
                allowed, x - 0.42, x + 0.42, style.INK, ls=(0, (3, 2)), label="pairs of weights that could" * (x == 0)
            )
        onednn = [r for r in m.results if r.variant in VARIANTS]
        for i, r in enumerate(onednn):
            at = np.arange(len(m.layers)) + (i - (len(onednn) - 1) / 2) * width
            height = np.maximum(1e6 * np.array(r.shares()), floor)
            bars = ax.bar(at, height - floor, width * 0.9, floor, color=r.variant.colour, label=r.variant.name)
            ax.bar_label(bars, map(per_million, r.shares()), color=r.variant.colour, padding=2, fontsize=7.5)
        ax.set(yscale="log", ylim=(floor, 1e6), xticks=range(len(m.layers)), title=TITLES[m.kind])
        ax.set_xticklabels([layer.name for layer in m.layers])
        ax.grid(axis="x", visible=False)
    axes[0, 0].set_ylabel("pairs that saturated, per million")
    axes[0, 0].legend(loc="upper left", fontsize=8)
    finding = "Plain filters saturate, contrast filters hardly; the 7-bit variants never did"
    style.headline(figure, finding, "pairs of products, by layer; exact: a machine where none can")
    return figure


def draw_logits(found: Sequence[Measured]) -> Drawing:
    """How far each variant moves every logit from exact int8, by the exact logit."""
    others = [v for v in VARIANTS if v != EXACT]
    figure, axes = style.lines(len(found), len(others), height=2.3)
    end = max(np.abs(r.moved).max() for m in found for r in m.results)
    for line, m in zip(axes, found, strict=True):
        exact = m.of(EXACT.name)
        for ax, v in zip(line, others, strict=True):
            r = m.of(v.name)
            ax.plot(exact.run.logits.ravel(), r.moved.ravel(), ".", ms=2.2, color=v.colour, alpha=0.5, mew=0)
            ax.set(ylim=(-1.1 * end, 1.75 * end), title=v.name if m is found[0] else "")
            by = np.abs(r.moved)
            told = f"max {by.max():.1f}, mean {by.mean():.2f} LSB\n{(by > 0).any(axis=1).mean():.0%} of the images"
            ax.text(0.02, 0.99, told, transform=ax.transAxes, va="top", fontsize=8.5)
            ax.tick_params(labelleft=ax is line[0])
        line[0].set_ylabel(f"{TITLES[m.kind]}\nmoved by, in LSB")
    for ax in axes[-1]:
        ax.set_xlabel("logit of exact int8")
    finding = "Saturation hits some images hard; a lost bit moves every logit a little"
    style.headline(
        figure,
        finding,
        "every logit of the test images, against exact int8, and the share of images that are moved at all",
    )
    return figure


def draw_filters(found: Sequence[Measured]) -> Drawing:
    """Show the filters of the first convolutions, and below what each answers to one digit."""
    image = found[0].test.images[:1]
    figure, axes = style.lines(2 * len(found), 1, height=0.66)
    for m, upper, lower in zip(found, axes[::2, 0], axes[1::2, 0], strict=True):
        weights, answers = m.layers[0].weights[:, 0], convolved(image, m.layers[0])[0]
        end = np.abs(weights).max()
        _picture(upper, _beside(weights.repeat(8, 1).repeat(8, 2)), "RdBu_r", -end, end)
        _picture(lower, _beside(answers), "gray", 0, answers.max())
        upper.set_ylabel(f"{m.kind}\nfilters")
        lower.set_ylabel("answers")
        for ax in (upper, lower):
            ax.spines[:].set_visible(False)
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.05)
    more = "filters of the first convolution, red adds, blue subtracts; below each, its answer to one digit"
    style.headline(figure, "Plain filters only add; contrast filters compare", more)
    return figure


def _beside(squares: NDArray) -> NDArray:
    """Put square pictures side by side, a gap of an eighth of a side behind each: a single one is drawn far sooner."""
    gap = squares.shape[2] // 8
    return np.hstack(np.pad(squares, ((0, 0), (0, 0), (0, gap)), constant_values=np.nan))


def disputed(m: Measured) -> NDArray[np.int64]:
    """Order the digits. First are those that variants read differently, then those whose logits moved most."""
    reads = np.stack([m.logits.argmax(axis=1), *(r.read for r in m.results)])
    unlike = (reads != reads[0]).any(axis=0)
    moved = np.max([np.abs(r.moved).max(axis=1) for r in m.results], axis=0)
    return np.lexsort((-moved, ~unlike))


def draw_misread(found: Sequence[Measured]) -> Drawing:
    """Draw the digits that machines read differently, if any; then those whose logits are moved most."""
    figure, axes = style.lines(len(found), SHOWN, height=2.8)
    counts = []
    for line, m in zip(axes, found, strict=True):
        reads = {"float32": m.logits.argmax(axis=1)} | {r.variant.name: r.read for r in m.results}
        counts.append(int((np.stack(list(reads.values())) != reads["float32"]).any(axis=0).sum()))
        for ax, i in zip(line, disputed(m), strict=False):
            label = m.test.labels[i]
            _picture(ax, m.test.images[i, 0], "gray_r", 0, 1)
            ax.set_title(f"a {label}", fontsize=9)
            for row, (name, read) in enumerate(reads.items()):
                wrong = read[i] != label
                how = {"color": "#b3261e", "weight": "bold"} if wrong else {"color": style.INK}
                ax.text(
                    0, -0.08 - 0.125 * row, f"{read[i]}  {name}", transform=ax.transAxes, va="top", fontsize=7.5, **how
                )
        line[0].set_ylabel(TITLES[m.kind])
    finding = "Read differently by some variant: {} of {} digits (plain), {} (contrast)"
    style.headline(
        figure,
        finding.format(counts[0], len(found[0].test.labels), counts[1]),
        "first in each row; then those whose logits are moved most. Bold: misread",
    )
    return figure


def _picture(axes: Axes, pixels: NDArray, colours: str, low: float, high: float) -> None:
    axes.imshow(pixels, cmap=colours, vmin=low, vmax=high, interpolation="nearest")
    axes.set(xticks=[], yticks=[], anchor="N")
    axes.grid(False)


FIGURES = {
    "network_filters": draw_filters,
    "network_results": draw_results,
    "network_layers": draw_layers,
    "network_saturation": draw_saturation,
    "network_logits": draw_logits,
    "network_misread": draw_misread,
}
