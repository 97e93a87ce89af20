"""Tables for the terminal and the page, and the page: one index.html that needs nothing beside it."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure as Drawing
from matplotlib.pyplot import close

STYLE = Path(__file__).with_name("page.css").read_text()


class Table(NamedTuple):
    """Rows of text; the first `words` columns are text, the others numbers. Rows named in `front` are qops' own."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


class Figure(NamedTuple):
    """A figure: the stem of its file, what one sees and why, and how to draw it."""

    stem: str
    caption: str
    draw: Callable[[], Drawing]


class Section(NamedTuple):
    """One view of the analysis, as the page shows it."""

    stem: str
    title: str
    text: str
    tables: Sequence[Table]
    figures: Sequence[Figure]


def as_text(table: Table) -> str:
    """The table for a terminal."""
    widths = [max(map(len, column)) for column in zip(table.head, *table.rows, strict=True)]

    def line(cells: Iterable[str]) -> str:
        placed = (c.ljust(w) if i < table.words else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True)))
        return "  ".join(placed).rstrip()

    return "\n".join([table.title, line(table.head), line("-" * w for w in widths), *map(line, table.rows), ""])


def as_html(table: Table) -> str:
    """The table for the page; the front door's rows tinted."""

    def row(cells: Sequence[str], tag: str) -> str:
        kinds = ((c.lower() if c in ("held", "BROKEN") else "words") if i < table.words else "" for i, c in enumerate(cells))
        parts = (f'<{tag} class="{kind}">' if kind else f"<{tag}>" for kind in kinds)
        front = ' class="front"' if tag == "td" and any(c.startswith("qops") for c in cells[: table.words]) else ""
        return f"<tr{front}>" + "".join(p + escape(c) + f"</{tag}>" for p, c in zip(parts, cells, strict=True)) + "</tr>"

    body = "\n".join(row(r, "td") for r in table.rows)
    title = f"<caption>{escape(table.title)}</caption>"
    return f'<div class="scroll"><table>{title}<thead>{row(table.head, "th")}</thead><tbody>{body}</tbody></table></div>'


def draw(figure: Figure, folder: Path) -> str:
    """Draw into folder/stem.png; the figure for the page, the picture inside it."""
    drawing = figure.draw()
    file = folder / f"{figure.stem}.png"
    drawing.savefig(file)
    width, height = (round(100 * inches) for inches in drawing.get_size_inches())
    close(drawing)
    data = b64encode(file.read_bytes()).decode()
    size = f'width="{width}" height="{height}"'
    picture = f'<img {size} loading="lazy" alt="{escape(figure.caption)}" src="data:image/png;base64,{data}">'
    return f'<figure id="{figure.stem}">{picture}<figcaption>{escape(figure.caption)}</figcaption></figure>'


def section(view: Section, pictures: Iterable[str]) -> str:
    """One view: heading, text, pictures, tables."""
    parts = [f'<h2 id="{view.stem}">{escape(view.title)}</h2>', f"<p>{escape(view.text)}</p>"]
    return "\n".join([*parts, *pictures, *map(as_html, view.tables)])


def page(title: str, introduction: str, views: Sequence[Section], bodies: Iterable[str]) -> str:
    """The whole index.html."""
    contents = "".join(f'<li><a href="#{v.stem}">{escape(v.title)}</a></li>' for v in views)
    nav = f"<nav><strong>Contents</strong><ol>{contents}</ol></nav>"
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    top = f"<!doctype html>\n<html lang='en'><head>{head}<title>{escape(title)}</title><style>{STYLE}</style></head>"
    return "\n".join([top, "<body><main>", f"<h1>{escape(title)}</h1>", f"<p>{escape(introduction)}</p>", nav, *bodies, "</main></body></html>\n"])
