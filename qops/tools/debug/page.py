"""The result of `debug` as one HTML page: a strip of layers coloured by error, the worst layer, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from qops._pages.html import table, whole_page
from qops._pages.svg import bars, heat
from qops.tools.debug.case import Worst
from qops.tools.debug.columns import ColumnFound
from qops.tools.debug.layer_row import First, LayerRow, same

__all__ = ["hunt_page"]

_FAR = 6  # differences of 6 and more share one bar
_BARS = 64  # bars of channels; more are averaged
_SHARES, _STEPS = (0.0, 0.001, 0.01, 0.1), (1.0, 2.0, 4.0, 16.0)
"""Where a colour ends: shares of codes that differ, and steps from float."""
_NO_DUMP = "none"
_LETTERS = 15  # of an op's name in a box
_STYLE = """
:root { --c0: #2c7a51; --c1: #8a6500; --c2: #a8540f; --c3: #b3402a; --c4: #7d1d2b; --none: #5d6974; --on: #fff }
@media (prefers-color-scheme: dark) { :root { --c0: #55b183; --c1: #d3a83f; --c2: #e39150; --c3: #e5796a;
  --c4: #e2768a; --none: #8d99a4; --on: #10151a } }
.strip { display: flex; flex-wrap: wrap; gap: 6px; list-style: none; padding: 0; margin: .8rem 0 .4rem }
.strip a { display: block; border-radius: 5px; color: var(--on); text-decoration: none; outline-offset: 2px }
.strip svg { display: block; max-width: none } .strip svg text { fill: var(--on); font-weight: 600 }
.strip svg .small { font-weight: 400; font-size: 10px } .first a { outline: 3px solid var(--ink) }
.c0 { fill: var(--c0) } .c1 { fill: var(--c1) } .c2 { fill: var(--c2) } .c3 { fill: var(--c3) } .c4 { fill: var(--c4) }
.none { fill: var(--none) } .legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: 13px }
.legend svg { vertical-align: -2px; margin-right: .35rem } svg .cell { fill: var(--bad) }
svg .frame { fill: none; stroke: var(--line) } tr:target { background: color-mix(in srgb, var(--bar) 22%, transparent) }
.pictures { align-items: flex-start } a { color: var(--bar) } p, h1, h2 { overflow-wrap: anywhere }
.wide table { min-width: 60rem } td:not(.number) { max-width: 16rem; overflow-wrap: anywhere }
tr { scroll-margin-top: 1rem }
@media (max-width: 42rem) { .wide table { min-width: 0 } /* no room for op, result and rule */
  .wide :is(th, td):is(:nth-child(3), :nth-child(4), :nth-child(5)) { display: none }
  .wide td:nth-child(2) { min-width: 9rem } }
.why { border-left: 4px solid var(--bad); padding: .1rem 0 .1rem .9rem; margin: .8rem 0 }
"""


def hunt_page(
    model: str,
    layers: Sequence[LayerRow],
    first: First | None,
    notes: Sequence[str],
    worst: Worst | None,
    differing: Worst | None = None,
    column: ColumnFound | None = None,
) -> str:
    """Write the page.

    Parameters
    ----------
    model : str
        The name of the file.
    layers : sequence of LayerRow
        In the order in which they run.
    first : First or None
        The first layer that differs.
    notes : sequence of str
        What the reader should know.
    worst, differing : Worst or None
        The layers of which there are pictures: the worst, and the first that differs.
    column : ColumnFound or None
        Another runtime that gives every tensor of the device.

    Returns
    -------
    str
        HTML.
    """
    parts = [*_head(model, layers, first, notes, column), *_strip(layers, first)]
    if differing is not None and (worst is None or differing.layer != worst.layer):
        parts += _drawn(layers, differing, "The first layer that differs")
    both = differing is not None and worst is not None and differing.layer == worst.layer
    parts += _drawn(layers, worst, "The worst layer, and the first that differs" if both else "The worst layer")
    return whole_page(model, [*parts, *_table(layers)], _STYLE)


def _has_dump(layers: Sequence[LayerRow]) -> bool:
    return any(row.differ is not None for row in layers)


def _head(
    model: str, layers: Sequence[LayerRow], first: First | None, notes: Sequence[str], column: ColumnFound | None
) -> Iterator[str]:
    yield f'<p class="soft"><code>{escape(model)}</code>: {len(layers)} layers</p>'
    if column is not None:
        yield f'<h1 class="bad">{escape(column.words[:1].upper() + column.words[1:])}</h1>'
    if first is not None:
        level = "h1" if column is None else "h2"
        yield f'<{level} class="bad"><code>{escape(first.layer)}</code> differs first</{level}>'
        cause = escape(first.cause[:1].upper() + first.cause[1:])
        yield f'<div class="why"><p>{cause}.</p>{_told(layers, first)}</div>'
    elif _has_dump(layers):
        said = same(layers)
        yield f'<h1 class="good">{said[:1].upper()}{said[1:]}</h1>'
    else:
        yield "<h1>No dump of a device: how far each layer is from float</h1>"
    for note in notes:
        yield f'<p class="soft">{escape(note[:1].upper() + note[1:])}.</p>'


def _told(layers: Sequence[LayerRow], first: First) -> str:
    """The first layer that differs, in sentences."""
    rows = {row.name: row for row in layers}
    said = [f"The result is <code>{escape(first.output)}</code>."]
    row = rows.get(first.layer)
    if row is not None and row.differ:
        codes = f"{row.differ:,} of its codes ({_percent(row.share or 0.0)})"
        said.append(f"Fed what the device fed it, {codes} differ, by at most {row.largest:g}.")
    if first.where:
        said.append(escape(f"Where: {'; '.join(first.where)}."))
    others = [row.name for row in layers if row.differ and row.name != first.layer]
    if others:
        one = len(others) == 1
        said.append(
            "One other layer differs by itself." if one else f"{len(others)} other layers differ by themselves."
        )
    elif row is not None:
        said.append("No other layer differs by itself; what follows inherits the difference.")
    rules = ", ".join(f"<code>{escape(rule)}</code>" for rule in first.rules)
    fits = f"<p>Rules that then give every integer: {rules}.</p>" if rules else ""
    return f"<p>{' '.join(said)}</p>{fits}"


def _strip(layers: Sequence[LayerRow], first: First | None) -> Iterator[str]:
    """A box a layer, which leads to its row: coloured by error, with the number in it."""
    has_dump = _has_dump(layers)
    yield "<h2>The network</h2>"
    boxes = []
    for i, row in enumerate(layers):
        kind, told = _colour(row, has_dump), _measured(row, has_dump)
        label = escape(f"{i + 1}. {row.name}, {row.op}: {told}")
        lines = (
            f'<text x="8" y="17">{escape(_short(row.op))}</text>'
            f'<text class="small" x="8" y="34">{i + 1} \u00b7 {escape(told)}</text>'
        )
        frame = f'<rect class="{kind}" width="112" height="44" rx="5"/>'
        box = f'<svg width="112" height="44" aria-hidden="true">{frame}{lines}</svg>'
        mark = ' class="first"' if first is not None and row.name == first.layer else ""
        boxes.append(f'<li{mark}><a href="#layer-{i + 1}" title="{label}" aria-label="{label}">{box}</a></li>')
    yield f'<ol class="strip">{"".join(boxes)}</ol>'
    if has_dump:
        words = ["no code differs", "up to 0.1 %", "up to 1 %", "up to 10 %", "more", "not in the dump, or not checked"]
    else:
        words = ["up to 1 step from float", "up to 2", "up to 4", "up to 16", "more", "no scale, or not checked"]
    keys = ['<svg width="12" height="12"><rect class="{}" width="12" height="12" rx="2"/></svg>{}'] * len(words)
    kinds = ("c0", "c1", "c2", "c3", "c4", _NO_DUMP)
    legend = "".join(f"<span>{k.format(kind, word)}</span>" for k, kind, word in zip(keys, kinds, words, strict=True))
    yield f'<p class="legend soft">{legend}</p>'


def _colour(row: LayerRow, has_dump: bool) -> str:
    value, ends = (row.share, _SHARES) if has_dump else (row.lsb, _STEPS)
    return _NO_DUMP if value is None else f"c{sum(value > end for end in ends)}"


def _measured(row: LayerRow, has_dump: bool) -> str:
    if row.unchecked:
        return "not checked"
    if not has_dump:
        return "no scale" if row.lsb is None else f"{row.lsb:.3g} steps"
    if row.differ is None:
        return "not dumped"
    return f"{_percent(row.share or 0.0)} differ" if row.differ else "same"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def _short(kind: str) -> str:
    """Give the kind of an op in few letters: "depthwise conv" for DEPTHWISE_CONV_2D."""
    plain = kind.lower().removesuffix("_2d").replace("_", " ") if kind.isupper() else kind
    return plain if len(plain) <= _LETTERS else f"{plain[: _LETTERS - 1]}\u2026"


def _drawn(layers: Sequence[LayerRow], worst: Worst | None, title: str) -> Iterator[str]:
    if worst is None or not worst.off.size:
        return
    where = next(i for i, row in enumerate(layers, 1) if row.name == worst.layer)
    yield f'<h2>{title}: <a href="#layer-{where}"><code>{escape(worst.layer)}</code></a></h2>'
    which = "from the model fed the same" if worst.unit == "codes" else "from the float network"
    yield f"<p>How far its results are {which}, in {worst.unit}; where they are; and in which channels.</p>"
    far = np.abs(worst.off)
    form = "{:.3g}" if worst.unit != "codes" else "{:,.3g}"
    parts = [_histogram(worst.off, worst.unit)]
    if far.ndim > 2:
        channels = np.moveaxis(far, worst.channel, -1)
        spatial = channels.mean(-1).mean(0)
        parts.append(heat("rows and columns, mean of channels", spatial.reshape(len(spatial), -1), form))
    else:
        channels = far.reshape(-1, far.shape[-1]) if far.ndim else far.reshape(1, 1)
    each = channels.reshape(-1, channels.shape[-1]).mean(0)
    step = -(-each.size // _BARS)
    means = [(str(i), float(each[i : i + step].mean())) for i in range(0, each.size, step)]
    parts.append(bars("channel, mean", means, form, every=max(1, len(means) // 4)))
    yield f'<div class="pictures">{"".join(parts)}</div>'


def _histogram(off: NDArray[np.float64], unit: str) -> str:
    """Differences that are not 0, by size and sign."""
    flat = off.reshape(-1)
    step = 1.0 if unit == "codes" else max(float(np.abs(flat).max()), 1e-9) / _FAR
    bins = np.clip(np.rint(flat / step), -_FAR, _FAR).astype(np.intp)
    counts = np.bincount(bins + _FAR, minlength=2 * _FAR + 1)
    names = [f"{k * step:+.2g}" for k in range(-_FAR, _FAR + 1)]
    if unit == "codes":
        names[0], names[-1] = f"\u2264-{_FAR}", f"\u2265+{_FAR}"
    kept = [k for k in range(2 * _FAR + 1) if k != _FAR or unit != "codes"]
    return bars(
        f"difference in {unit}",
        [(names[k], float(counts[k])) for k in kept],
        "{:,.0f}",
        every=1 if unit == "codes" else 3,
    )


def _table(layers: Sequence[LayerRow]) -> Iterator[str]:
    yield "<h2>All layers</h2>"
    yield (
        "<p>Differ, largest and share: the layer fed what the device fed it. Whole: the network as a whole, where "
        "differences add up. Saturated: codes at an end of their type. LSB and SQNR: the codes beside the float "
        "network.</p>"
    )
    heads = (
        "#",
        "layer",
        "op",
        "result",
        "rule",
        "#differ",
        "#largest",
        "#share",
        "#whole",
        "#saturated",
        "#LSB",
        "#SQNR dB",
    )
    rows = []
    for i, row in enumerate(layers, 1):
        numbers = (
            *(_count(row.differ), "" if not row.largest else f"{row.largest:g}"),
            *("" if row.share is None else _percent(row.share), _count(row.whole)),
            *("" if row.saturated is None else _percent(row.saturated), _float(row.lsb), _float(row.sqnr)),
        )
        rule = row.unchecked or row.rule
        rows.append((str(i), row.name, row.op, row.output, rule, *numbers))
    yield table(heads, rows, [f"layer-{i}" for i in range(1, len(rows) + 1)])


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _float(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
