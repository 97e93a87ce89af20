"""Bars and maps as SVG: plain text, no library."""

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

__all__ = ["bars", "heat"]

_WIDTH, _HEIGHT = 300, 130
_TOP, _BOTTOM = 22, 30
_MOST_CELLS = 64  # cells of a map along an axis; more are averaged


def bars(title: str, values: Sequence[tuple[str, float]], form: str, every: int = 1) -> str:
    """Draw bars with their labels.

    Parameters
    ----------
    title : str
        What is on the horizontal axis.
    values : sequence of (str, float)
        Label and height, not negative.
    form : str
        Format of a height, for the title and for what is shown when the pointer is on a bar.
    every : int
        Only one bar in `every` is labelled.

    Returns
    -------
    str
        An ``svg`` element.

    Examples
    --------
    >>> from qops._pages.svg import bars
    >>> drawn = bars("off by", [("-1", 3.0), ("+1", 0.0)], "{:.0f}")
    >>> drawn.count("<rect"), "<title>-1: 3</title>" in drawn
    (2, True)
    """
    top = max((height for _, height in values), default=0.0)
    step = _WIDTH / max(1, len(values))
    room = _HEIGHT - _TOP - _BOTTOM
    parts = [f'<text x="0" y="12">{escape(title)}; most: {escape(form.format(top))}</text>']
    for i, (label, height) in enumerate(values):
        tall = room * height / top if top else 0.0
        tall = max(tall, 1.0) if height else 0.0  # so that it can be seen
        x, y = i * step, _TOP + room - tall
        told = f"<title>{escape(label)}: {escape(form.format(height))}</title>"
        parts.append(
            f'<rect class="bar" x="{x + step * 0.08:.2f}" y="{y:.2f}" width="{step * 0.84:.2f}" height="{tall:.2f}">'
            f"{told}</rect>"
        )
        if i % every == 0:
            anchor = "start" if every > 1 else "middle"
            place = x if every > 1 else x + step / 2
            parts.append(f'<text x="{place:.2f}" y="{_HEIGHT - 14}" text-anchor="{anchor}">{escape(label)}</text>')
    base = _TOP + room
    parts.append(f'<line class="axis" x1="0" y1="{base}" x2="{_WIDTH}" y2="{base}"/>')
    inside = "".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img">{inside}</svg>'


def heat(title: str, values: NDArray[np.float64], form: str) -> str:
    """Draw a map: the darker a cell, the larger its value.

    Parameters
    ----------
    title : str
        What the cells are.
    values : ndarray of float64
        Two axes, not negative. Where there are more than 64 rows or columns, neighbours are averaged.
    form : str
        Format of a value, for the title and for what is shown when the pointer is on a cell.

    Returns
    -------
    str
        An ``svg`` element.

    Examples
    --------
    >>> from qops._pages.svg import heat
    >>> drawn = heat("rows and columns", np.array([[0.0, 1.0], [2.0, 0.0]]), "{:.0f}")
    >>> drawn.count("<rect"), "<title>1, 0: 2</title>" in drawn
    (3, True)
    """
    cells, rows, columns = _averaged(values)
    top = float(cells.max(initial=0.0))
    size = min(_WIDTH / max(1, len(columns)), (_WIDTH - _TOP) / max(1, len(rows)), _WIDTH / 8)
    wide, high = size * len(columns), size * len(rows)
    parts = [f'<text x="0" y="12">{escape(title)}; most: {escape(form.format(top))}</text>']
    parts.append(f'<rect class="frame" x="0" y="{_TOP}" width="{wide:.2f}" height="{high:.2f}"/>')
    for i, j in zip(*np.nonzero(cells), strict=True):
        told = f"<title>{rows[i]}, {columns[j]}: {escape(form.format(cells[i, j]))}</title>"
        place = f'x="{j * size:.2f}" y="{_TOP + i * size:.2f}" width="{size:.2f}" height="{size:.2f}"'
        parts.append(f'<rect class="cell" {place} fill-opacity="{0.15 + 0.85 * cells[i, j] / top:.2f}">{told}</rect>')
    box = f'viewBox="0 0 {_WIDTH} {_TOP + high + 2:.0f}" width="{_WIDTH}" height="{_TOP + high + 2:.0f}"'
    return f'<svg {box} role="img">{"".join(parts)}</svg>'


def _averaged(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[int], list[int]]:
    """Give cells, and the first row and column of each."""
    starts = []
    for axis in range(2):
        step = -(-values.shape[axis] // _MOST_CELLS) or 1
        first = np.arange(0, values.shape[axis], step)
        counts = np.diff(np.append(first, values.shape[axis]))
        sums = np.add.reduceat(values, first, axis) if first.size else values
        values = sums / (counts[:, None] if axis == 0 else counts)
        starts.append(first.tolist())
    return values, *starts
