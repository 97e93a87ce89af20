"""What the report answers first: one sentence, a chart, the pages; and the same in some ten lines for the terminal."""

from collections.abc import Mapping, Sequence
from html import escape
from math import log10

from analysis import report, summary
from analysis.summary import Claim, Line, far_off, size

FIRST, LAST = 0.1, 1000.0  # LSB at the ends of the axis; what is beyond stands at its end
TICKS = {0.1: "0.1", 1: "1", 10: "10", 100: "100", 1000: "1000"}
COLOURS = {"qops": "qops", "front": "qops", "nnlib": "nnlib", "TensorFlow": "tensorflow"}


def verdict(lines: Sequence[Line], checked: Sequence[Claim]) -> str:
    """One sentence: how far the front door's ops are off at most, and whether all claims hold."""
    bounded = [x for x in lines if x.bound is not None]
    coarse = [x for x in bounded if x.op.startswith("multiply and shift")]
    once = max((x for x in bounded if x not in coarse), key=lambda x: x.anywhere)
    shifted = max(coarse, key=lambda x: x.anywhere)
    over = [f"{x.system}, {x.op}" for x in bounded if x.anywhere > x.bound]
    broken = sum(not c.holds for c in checked)
    within = f"beyond its bound: {'; '.join(over)}" if over else "none is beyond its bound"
    held = f"{broken} of {len(checked)} claims are BROKEN" if broken else f"all {len(checked)} claims hold"
    return (
        "Over all data and ranges tried, where the range holds the result, the ops of qops are at most "
        f"{size(once.anywhere)} LSB off ({once.op}; multiply_shift with a factor of 7 bits: {size(shifted.anywhere)}), "
        f"{within}, and {held}."
    )


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


def overview(lines: Sequence[Line], checked: Sequence[Claim], links: Mapping[str, str]) -> report.Table:
    """Every op and system in a table; ops lead to their pages, counts of claims to the claims."""
    table = summary.table("The same in numbers", lines, checked)
    counts = {row[table.head.index("claims held")] for row in table.rows} - {"-"}
    return table._replace(links={**links, **dict.fromkeys(counts, "claims.html")})


def claim_table(found: Sequence[Claim]) -> report.Table:
    """Every claim beside what was measured."""
    limits = [(">= " if c.at_least else "<= ") + f"{c.limit:.8g}" for c in found]
    rows = [
        ["held" if c.holds else "BROKEN", c.op, c.text, f"{c.measured:.6g}", limit]
        for c, limit in zip(found, limits, strict=True)
    ]
    return report.Table("What qops claims, measured anew", ("", "op", "claim", "measured", "limit"), rows, words=3)


def body(lines: Sequence[Line], checked: Sequence[Claim], links: Mapping[str, str], cards: str) -> list[str]:
    """The first page: the sentence, the chart, what leads to the pages, and the table."""
    table = report.paragraph("index", "summary") + report.as_html(overview(lines, checked, links))
    return [
        report.heading("index", "h1", f'<p class="verdict">{verdict(lines, checked)}</p>'),
        report.paragraph("index", "chart") + chart(lines, links),
        f'<div class="cards">{cards}</div>',
        table,
    ]


def brief(pages: Mapping[str, Sequence[Line]], checked: Sequence[Claim]) -> report.Table:
    """A row a page: how many ops of qops it has, and the one that is nearest to its bound."""
    rows = []
    for page, lines in pages.items():
        ops = {x.op for x in lines}
        claims = [c.holds for c in checked if c.op in ops]
        if not claims:
            continue
        bounded = [x for x in lines if x.bound is not None]
        near = max(bounded, key=lambda x: x.anywhere / x.bound if x.bound else 0) if bounded else None
        named = (
            ("-", "-", "-") if near is None else (f"{near.op}, {near.system}", size(near.anywhere), size(near.bound))
        )
        rows.append([report.WORDS["pages"][page], *named, f"{sum(claims)} of {len(claims)}"])
    head = ("page", "nearest to its bound", "max LSB", "bound LSB", "claims held")
    return report.Table("Largest errors of qops, over everything that was tried", head, rows, words=2)
