"""The chart of the report's first page: every op and system on one logarithmic axis, in HTML that any screen shows."""

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

from analysis.summary import Line, far_off, size

FIRST, LAST = 0.1, 1000.0  # LSB at the ends of the axis; what is beyond stands at its end
TICKS = {0.1: "0.1", 1: "1", 10: "10", 100: "100", 1000: "1000"}
COLOURS = {"qops": "qops", "front": "qops", "nnlib": "nnlib", "TensorFlow": "tensorflow"}


def place(error: float) -> str:
    """Where an error stands, as a part of the axis."""
    part = log10(min(max(error, FIRST), LAST) / FIRST) / log10(LAST / FIRST)
    return f"left:{100 * part:.2f}%"


def row(line: Line) -> str:
    """One system: a dot for its largest error, a mark for its bound, both as numbers, and why it is far off."""
    kind = COLOURS.get(line.system.split(" ")[0], "other")
    kind += " over" if line.bound is not None and line.anywhere > line.bound else ""
    name = f'<span class="who">{escape(line.system)}</span>'
    bound = "" if line.bound is None else f'<b style="{place(line.bound)}"></b>'
    track = f'<span class="track">{bound}<i class="{kind}" style="{place(line.anywhere)}"></i></span>'
    of = "" if line.bound is None else f" <small>of {size(line.bound)}</small>"
    number = f'<span class="num">{size(line.anywhere)}{of}</span>'
    why = f'<span class="why">{escape(line.why)}</span>' if far_off(line) else ""
    return f'<div class="bar">{name}{track}{number}{why}</div>'


def chart(lines: Sequence[Line], links: Mapping[str, str]) -> str:
    """All systems below the op that they are of, each op with a link to its page."""
    ops: dict[str, list[Line]] = {}
    for line in lines:
        ops.setdefault(line.op, []).append(line)
    parts = [f'<h3><a href="{links[op]}">{escape(op)}</a></h3>' + "".join(map(row, own)) for op, own in ops.items()]
    ticks = "".join(f'<i style="{place(x)}">{text}</i>' for x, text in TICKS.items())
    axis = (
        f'<div class="bar axis"><span class="who">largest error in LSB</span><span class="track">{ticks}</span></div>'
    )
    return f'<div class="chart">{axis}{"".join(parts)}{axis}</div>'
