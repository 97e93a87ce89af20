"""Tables for the terminal and the page, and the page: one index.html that needs nothing beside it."""

import tomllib
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.pyplot import close

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
SENTENCE = 48  # letters; a longer text takes several lines


class Table(NamedTuple):
    """Rows of text; the first `words` columns are text, the others numbers. Rows named in `front` are qops' own."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


Figures = dict[str, Callable[[], Figure]]
"""The stem of each figure's file, and how to draw it."""


def as_text(table: Table) -> str:
    """Lay the table out for a terminal."""
    widths = [max(map(len, column)) for column in zip(table.head, *table.rows, strict=True)]

    def line(cells: Iterable[str]) -> str:
        placed = (
            c.ljust(w) if i < table.words else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(placed).rstrip()

    return "\n".join([table.title, line(table.head), line("-" * w for w in widths), *map(line, table.rows), ""])


def text_class(text: str) -> str:
    """How a cell of text looks: a verdict is coloured, a long one takes several lines."""
    return text.lower() if text in ("held", "BROKEN") else "words wrap" if len(text) > SENTENCE else "words"


def as_html(table: Table) -> str:
    """Lay the table out for the page; the front door's rows tinted."""

    def row(cells: Sequence[str], tag: str) -> str:
        kinds = (text_class(c) if i < table.words else "" for i, c in enumerate(cells))
        parts = (f'<{tag} class="{kind}">' if kind else f"<{tag}>" for kind in kinds)
        front = ' class="front"' if tag == "td" and any(c.startswith("qops") for c in cells[: table.words]) else ""
        return (
            f"<tr{front}>" + "".join(p + escape(c) + f"</{tag}>" for p, c in zip(parts, cells, strict=True)) + "</tr>"
        )

    body = "\n".join(row(r, "td") for r in table.rows)
    title = f"<caption>{escape(table.title)}</caption>"
    return (
        f'<div class="scroll"><table>{title}<thead>{row(table.head, "th")}</thead><tbody>{body}</tbody></table></div>'
    )


def drawn(stem: str, draw: Callable[[], Figure], folder: Path) -> str:
    """Draw into folder/stem.png; return the figure for the page, the picture inside it."""
    figure = draw()
    file = folder / f"{stem}.png"
    figure.savefig(file)
    width, height = (round(100 * inches) for inches in figure.get_size_inches())
    close(figure)
    data, caption = (
        b64encode(file.read_bytes()).decode(),
        escape(next(w[stem] for w in WORDS.values() if stem in w).strip()),
    )
    picture = f'<img width="{width}" height="{height}" alt="{caption}" src="data:image/png;base64,{data}">'
    return f'<figure id="{stem}">{picture}<figcaption>{caption}</figcaption></figure>'


def section(stem: str, figures: Iterable[str], tables: Iterable[Table]) -> str:
    """One view: heading, text, figures, tables."""
    parts = [f'<h2 id="{stem}">{escape(WORDS[stem]["title"])}</h2>', f"<p>{escape(WORDS[stem]['text'].strip())}</p>"]
    return "\n".join([*parts, *figures, *map(as_html, tables)])


def page(sections: Mapping[str, str]) -> str:
    """Put index.html together from sections by their stem."""
    title, text = (escape(WORDS["page"][key].strip()) for key in ("title", "text"))
    contents = "".join(f'<li><a href="#{stem}">{escape(WORDS[stem]["title"])}</a></li>' for stem in sections)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    top = f'<!doctype html>\n<html lang="en"><head>{head}<title>{title}</title><style>{STYLE}</style></head>'
    body = [
        f"<h1>{title}</h1><p>{text}</p>",
        f"<nav><strong>Contents</strong><ol>{contents}</ol></nav>",
        *sections.values(),
    ]
    return "\n".join([top, "<body><main>", *body, "</main></body></html>\n"])
