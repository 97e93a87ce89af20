"""What all pages of the tools share: one style, the frame of a page, a table. A page needs no other file."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["STYLE", "in_notebook", "table", "whole_page"]

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #66727f; --line: #d5dbe1; --bar: #2f6f9f; --good: #24704a;
  --bad: #a8442a; --page: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --soft: #9aa6b2; --line: #37424d; --bar: #6cb0e0;
  --good: #6cc79a; --bad: #e88f78; --page: #14191f; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 68rem;
  margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem } h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem }
h3 { font-size: 1rem; margin: 1.4rem 0 .2rem } p { margin: .3rem 0; max-width: 52rem } .good { color: var(--good) }
.bad { color: var(--bad) } .soft { color: var(--soft) } code { font: .92em ui-monospace, monospace }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100% } th { font-weight: 600; color: var(--soft) }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.pictures { display: flex; flex-wrap: wrap; gap: 1.2rem } svg { max-width: 100%; height: auto; overflow: visible }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft) } svg .bar { fill: var(--bar) }
svg .axis { stroke: var(--line) }
"""
"""The style of every page, light and dark."""

_NOTEBOOK = """
.qops { max-width: 68rem } .qops .wide { overflow-x: auto } .qops td, .qops th { text-align: left }
.qops td.number, .qops th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.qops svg .bar { fill: #3b82b4 } .qops svg .axis { stroke: #808a94 }
.qops svg text { font: 11px sans-serif; fill: currentColor }
"""


def whole_page(title: str, parts: Iterable[str], style: str = "") -> str:
    """Give a page.

    Parameters
    ----------
    title : str
        Its title.
    parts : iterable of str
        HTML.
    style : str
        What this page adds to the style.

    Returns
    -------
    str
    """
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return "\n".join([f"{head}{view}<style>{STYLE}{style}</style></head><body>", *parts, "</body></html>", ""])


def in_notebook(*parts: str) -> str:
    """Give what a notebook shows of a result. Its style reaches nothing else of the page.

    Parameters
    ----------
    *parts : str
        HTML.

    Returns
    -------
    str
    """
    return f'<div class="qops"><style>{_NOTEBOOK}</style>{"".join(parts)}</div>'


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], ids: Sequence[str] = ()) -> str:
    """Give a table. Columns whose head begins with # hold numbers.

    Parameters
    ----------
    heads : sequence of str
        The heads of columns.
    rows : sequence of sequence of str
        Cells, as text.
    ids : sequence of str
        The id of each row, to which links lead.

    Returns
    -------
    str
    """
    kinds = [' class="number"' if head.startswith("#") else "" for head in heads]
    top = "".join(f"<th{kind}>{escape(head.removeprefix('#'))}</th>" for kind, head in zip(kinds, heads, strict=True))
    body = ["".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) for row in rows]
    names = [f' id="{escape(name)}"' for name in ids] or [""] * len(body)
    lines = "".join(f"<tr{name}>{cells}</tr>" for name, cells in zip(names, body, strict=True))
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>'
