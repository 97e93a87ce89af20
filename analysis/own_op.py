"""An op of the user's own: its error on all codes, over many ranges, and on a picture."""

import sys
from argparse import Namespace
from collections.abc import Callable
from html import escape
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.pyplot import subplots

from analysis import pictures, report, style, summary, sweeps
from analysis.options import BadOption
from analysis.ranges import holding_zero, many_ranges
from analysis.systems import all_pairs
from qops import QTensor, Sweep, SweepRow, error, plot, quantize, range_of, signed_error, sweep, values

HEAD = ("ranges", "result", "max LSB", "mean LSB", "bias LSB", "SQNR dB", "worst case")
COUNTS = {1: "one operand", 2: "two operands"}
SHOWN = 12  # rows of the table of a page
Ranges = tuple[tuple[float, float], ...]


class Own(NamedTuple):
    """An op and what is right."""

    name: str
    op: Callable[..., Any]
    exact: Callable[..., Any]
    operands: int


def read(options: Namespace) -> Own:
    """Import both functions, also from the folder that Python was started in."""
    sys.path.insert(0, str(Path.cwd()))
    op, exact = _function(options.op, "--op"), _function(options.exact, "--exact")
    counts = [count for count in COUNTS if _takes(exact, count)]
    if not counts:
        raise BadOption(f"--exact {options.exact}: expected a function of one or two operands")
    found = [count for count in counts if _takes(op, count)]
    if not found:
        words = " or ".join(COUNTS[count] for count in counts)
        raise BadOption(f"--op {options.op}: expected a function of {words}, as --exact is")
    return Own(options.op.rpartition(":")[2], op, exact, found[0])


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether the function can be called with so many operands, as far as it says."""
    if isinstance(function, np.ufunc):
        return function.nin == count
    try:
        signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # some functions of C have no signature
        return True
    return True


def _function(text: str, option: str) -> Callable[..., Any]:
    module, _, name = text.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as why:
        raise BadOption(f"{option} {text}: expected MODULE:FUNCTION, {why}") from why
    if not callable(found):
        raise BadOption(f"{option} {text}: expected a function, got {found!r:.80}")
    return found


def ranges_of(own: Own, count: int, one_range: bool) -> list[Ranges]:
    """Give ranges of all kinds, without 0 and with it; both operands may have to have one."""
    drawn = many_ranges(max(count, 100))
    pairs = [pair for p in drawn for pair in (tuple(p), tuple(map(holding_zero, p)))]
    if own.operands == 1 or one_range:
        pairs = [(ends,) * own.operands for pair in pairs for ends in pair]
    return list(dict.fromkeys(pairs))[:count]


def draw(own: Own, tensors: list[QTensor], what: str) -> Figure:
    """Draw the error on these tensors: as a map, or along the value of the only operand; and its histogram."""
    exact = own.exact(*map(values, tensors))
    off = signed_error(own.op(*tensors), exact)
    figure, axes = subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    if off.ndim == 2:
        plot.error_map(off, ax=axes[0]).set_aspect("equal")
    else:
        plot.error_curve(values(tensors[0]), off, ax=axes[0]).set_xlabel("value of the operand")
    plot.error_histogram(off, ax=axes[1])
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.86))
    style.headline(figure, f"{own.name}: within {style.short(np.abs(off).max())} LSB", what)
    return figure


def all_codes(ranges: Ranges) -> list[QTensor]:
    """All codes of one range, or all pairs of codes of two."""
    return [QTensor(np.arange(256, dtype=np.uint8), *ranges[0])] if len(ranges) == 1 else [*all_pairs(*ranges)]


def cells(row: SweepRow) -> list[str]:
    """Write a row of the table."""
    ranges = ", ".join(f"[{lo:.4g}, {hi:.4g}]" for lo, hi in row.ranges)
    if row.refused:
        return [ranges, "-", "-", "-", "-", "-", f"refused: {row.refused}"]
    worst = f"codes {', '.join(map(str, row.codes))}: {row.value:.7g} for {row.exact:.7g}"
    bias = ("-" if row.bias_lsb < 0 else "+") + summary.size(abs(row.bias_lsb))
    errors = (summary.size(row.max_lsb), summary.size(row.mean_lsb), bias, f"{row.sqnr_db:.1f}")
    return [ranges, f"[{float(row.min):.4g}, {float(row.max):.4g}]", *errors, worst]


def table(own: Own, found: Sweep) -> report.Table:
    """Show the worst ranges first."""
    rows = sorted(found, key=lambda row: -np.inf if row.refused else row.max_lsb, reverse=True)
    title = f"{own.name} on {len(found)} choices of ranges, all codes; the worst {min(SHOWN, len(rows))} first"
    return report.Table(title, HEAD, [cells(row) for row in rows[:SHOWN]], words=2)


def on_picture(own: Own, options: Namespace) -> tuple[list[QTensor], str]:
    """Give the operands that are made of the picture, and what they are."""
    scene = pictures.scenes(pictures.read(options.image).luma)[0]
    shown = (scene.a, scene.b)[: own.operands]
    ends = range_of(np.stack(shown)) if options.one_range else ()
    return [quantize(x, *ends) for x in shown], f"{options.image.name}: {', '.join(scene.names[: own.operands])}"


def show(options: Namespace, where: sweeps.Pool, out: Path) -> int:
    """Measure, print the table, write the page and the table of the sweep."""
    own = read(options)
    found = sweep(own.op, own.exact, ranges_of(own, options.ranges, options.one_range), executor=where.open)
    if all(row.refused for row in found):
        raise BadOption(f"--op {options.op}: it refuses every choice of ranges, such as by {found[0].refused!r}")
    out.mkdir(parents=True, exist_ok=True)
    found.to_csv(out / "sweep.csv")
    worst, shown = found.worst.ranges, table(own, found)
    axes = ("",) if own.operands == 1 else (" down", " across")
    which = ", ".join(f"[{lo:.4g}, {hi:.4g}]{axis}" for (lo, hi), axis in zip(worst, axes, strict=True))
    figures = [("worst", all_codes(worst), f"all codes of {which}")]
    if options.image:
        tensors, what = on_picture(own, options)
        figures.append(("picture", tensors, what))
        print(f"{own.name} on {what}", error(own.op(*tensors), own.exact(*map(values, tensors))), "", sep="\n")
    with report.packing() as later:
        body = [
            report.drawn(stem, lambda t=t, w=w: draw(own, t, w), out, later, f"{own.name}, {w}.")
            for stem, t, w in figures
        ]
    verdict = f"On {len(found)} choices of ranges, {own.name} is at most {summary.size(found.worst.max_lsb)} LSB off."
    title = f'<h1>{escape(own.name)}</h1><p class="verdict">{escape(verdict)}</p>'
    page = report.write(out, "index", [title, report.as_html(shown), *body], [])
    print(report.as_text(shown))
    print(f"Open {page} in a browser; {out / 'sweep.csv'} has all rows.")
    return 0
