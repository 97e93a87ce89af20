"""Tables for the terminal and for pages, and the pages: plain HTML that needs no files but the figures beside it."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.pyplot import close
from PIL import Image

from analysis.reasons import LEAD

STYLE = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


class Table(NamedTuple):
    """Rows of text; the first `words` columns are text, the others numbers, a last one named `worst case` text again.

    `notes` explain rows that are far off; cells whose text is in `links` lead there.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    notes: Sequence[str] = ()
    links: Mapping[str, str] = {}


Later = Callable[..., None]
"""Calls a function with arguments, not at once."""


def as_text(table: Table) -> str:
    """Lay the table out for a terminal."""
    widths = [max(map(len, column)) for column in zip(table.head, *table.rows, strict=True)]
    placed = [str.ljust if is_text(table, i) else str.rjust for i in range(len(widths))]

    def line(cells: Iterable[str]) -> str:
        return "  ".join(put(c, w) for put, c, w in zip(placed, cells, widths, strict=True)).rstrip()

    notes = [LEAD] * bool(table.notes) + [f"  * {note}" for note in table.notes]
    return "\n".join([table.title, line(table.head), line("-" * w for w in widths), *map(line, table.rows), *notes, ""])


def is_text(table: Table, column: int) -> bool:
    """Whether a column holds words."""
    return column < table.words or table.head[column].startswith("worst")


def as_html(table: Table) -> str:
    """Lay the table out for a page: rows on a wide screen, cards on a narrow one; the front door's rows tinted."""

    def cell(i: int, text: str) -> str:
        kind = "words" if is_text(table, i) else "none" if text == "-" else ""
        kind = text.lower() if text in ("held", "BROKEN") else kind
        shown = escape(text)
        shown = f'<a href="{table.links[text]}">{shown}</a>' if text in table.links else shown
        return f'<td class="{kind}" data-head="{escape(table.head[i])}">{shown}</td>'

    def row(cells: Sequence[str]) -> str:
        front = ' class="front"' if any(c.startswith("qops") for c in cells[: table.words]) else ""
        return f"<tr{front}>" + "".join(cell(i, c) for i, c in enumerate(cells)) + "</tr>"

    heads = "".join(f'<th class="{"words" * is_text(table, i)}">{escape(h)}</th>' for i, h in enumerate(table.head))
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    return "\n".join(
        [
            f"<table><caption>{escape(table.title)}</caption><thead><tr>{heads}</tr></thead><tbody>",
            *map(row, table.rows),
            "</tbody></table>" + (f'<p class="notes">{LEAD}</p><ul class="notes">{notes}</ul>' if notes else ""),
        ]
    )


@contextmanager
def packing() -> Iterator[Later]:
    """A thread that packs the files of pictures while others are drawn; all are written when it ends, or it raises."""
    begun: list[Future[None]] = []

    def later(work: Callable[..., None], *args: Any, **options: Any) -> None:
        begun.append(thread.submit(work, *args, **options))

    with ThreadPoolExecutor(1) as thread:
        yield later
    for file in begun:
        file.result()


PREVIEW = 400_000
"""Bytes up to which a page shows all pixels of a figure; a larger one is shown at half its size, as pages are wide."""
CARD = (640, 352)
"""Pixels of a picture on a card: two for each that a card of the first page has."""


def packed(pixels: Image.Image) -> bytes:
    """The picture as a page loads it, small."""
    file = BytesIO()
    pixels.save(file, "WEBP", quality=80, method=0)
    return file.getvalue()


def save(pixels: Image.Image, folder: Path, stem: str) -> None:
    """Write a figure: all its pixels, what a page shows of it, and the upper part of it for a card."""
    # without a level, packing takes three times as long
    pixels.save(folder / f"{stem}.png", compress_level=1)
    preview = packed(pixels)
    (folder / f"{stem}.webp").write_bytes(preview if len(preview) <= PREVIEW else packed(pixels.reduce(2)))
    wide, high = CARD
    small = pixels.resize((wide, round(pixels.height * wide / pixels.width)), Image.Resampling.LANCZOS)
    (folder / f"{stem}_card.webp").write_bytes(packed(small.crop((0, 0, wide, min(high, small.height)))))


def drawn(stem: str, draw: Callable[[], Figure], folder: Path, later: Later, caption: str = "") -> str:
    """Draw into folder/stem.png; return the figure for a page, a link from a smaller file to the one of all pixels.

    The file is packed later. Without a caption the figure has the one that WORDS has for it.
    """
    figure = draw()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # matplotlib's own savefig draws twice, once to lay the figure out
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    later(save, pixels, folder, stem)
    size = " ".join(
        f'{side}="{round(100 * inches)}"'
        for side, inches in zip(("width", "height"), figure.get_size_inches(), strict=True)
    )
    close(figure)
    caption = escape(caption or sentences(stem))
    picture = f'<a href="{stem}.png"><img {size} loading="lazy" alt="{caption}" src="{stem}.webp"></a>'
    return f'<figure id="{stem}">{picture}<figcaption>{caption}</figcaption></figure>'


def sentences(stem: str) -> str:
    """The caption of a figure."""
    return next(w[stem] for name, w in WORDS.items() if name != "pages" and stem in w).strip()


def section(stem: str, figures: Iterable[str], tables: Iterable[Table], tag: str = "h2") -> str:
    """One view: heading, text, figures, tables; the first one of a page has its title, h1."""
    return "\n".join([heading(stem, tag), *figures, *map(as_html, tables)])


def heading(stem: str, tag: str, answer: str = "") -> str:
    """Title and text of a view or page, and between them its answer."""
    return f'<{tag} id="{stem}">{escape(WORDS[stem]["title"])}</{tag}>{answer}{paragraph(stem, "text")}'


def paragraph(stem: str, key: str) -> str:
    """Some of the words of a view or page."""
    return f"<p>{escape(WORDS[stem][key].strip())}</p>"


def card(page: str, view: str, figure: str) -> str:
    """What leads from the index to a page: its title, one of its figures, and what its first view is about."""
    title, text = escape(WORDS["pages"][page]), escape(WORDS[view]["text"].strip())
    return (
        f'<a class="card" href="{page}.html"><strong>{title}</strong><img alt="" src="{figure}_card.webp"><br>'
        f"<span>{text}</span></a>"
    )


def write(folder: Path, page: str, body: Iterable[str], pages: Iterable[str]) -> Path:
    """Write folder/page.html, with links to the other pages at its top."""
    title = WORDS["pages"].get(page, WORDS["index"]["title"])
    here = ' aria-current="page"'
    names = {"index": "Summary", **{name: WORDS["pages"][name] for name in pages}}
    links = "".join(
        f'<a href="{name}.html"{here if name == page else ""}>{escape(text)}</a>' for name, text in names.items()
    )
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    top = f'<!doctype html>\n<html lang="en"><head>{head}<title>{escape(title)}</title><style>{STYLE}</style></head>'
    file = folder / f"{page}.html"
    text = "\n".join([top, f"<body><nav>{links}</nav><main>", *body, "</main></body></html>\n"])
    file.write_text(text, encoding="utf-8")
    return file
