"""A bar chart as SVG: plain text, no library."""

from collections.abc import Sequence
from html import escape

__all__ = ["bars"]

_WIDTH, _HEIGHT = 300, 130
_TOP, _BOTTOM = 22, 30


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
    >>> from qops.tools.svg import bars
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
