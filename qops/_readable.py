"""How results show themselves: text of at most 30 lines and 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from textwrap import wrap
from typing import Any, TypeVar

import numpy as np

__all__ = ["COLUMNS", "LINES", "fitted", "in_lines", "shown", "shows_fields"]

Kind = TypeVar("Kind", bound=type)

LINES, COLUMNS = 30, 100
"""The most that a `repr` takes."""
_SHOWN = 16
"""Elements up to which an array is shown whole."""
_MARGIN = "    "


def fitted(text: str) -> str:
    r"""Give a text in at most 30 lines of 100 columns: longer lines are wrapped, further ones counted.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> from qops._readable import fitted
    >>> fitted("one line")
    'one line'
    >>> fitted("\n".join("abc" for _ in range(100))).split("\n")[-1]
    '... and 71 more lines; print shows them'
    """
    lines = [part for line in text.split("\n") for part in _wrapped(line)]
    if len(lines) > LINES:
        lines[LINES - 1 :] = [f"... and {len(lines) - LINES + 1} more lines; print shows them"]
    return "\n".join(lines)


def _wrapped(line: str) -> list[str]:
    if len(line) <= COLUMNS:
        return [line]
    margin = line[: len(line) - len(line.lstrip())] + _MARGIN
    return wrap(line, COLUMNS, subsequent_indent=margin, break_on_hyphens=False)


def in_lines(start: str, parts: Sequence[str]) -> str:
    """Give ``start`` + parts with commas + ``)``, as it is typed: in one line if it fits, else in lines of 100 columns.

    Parameters
    ----------
    start : str
        The name of a class and a parenthesis.
    parts : sequence of str
        Its arguments, as they are typed.

    Returns
    -------
    str
    """
    whole = f"{start}{', '.join(parts)})"
    if len(whole) <= COLUMNS and "\n" not in whole:
        return whole
    lines = [*_packed(" ".join(", ".join(parts).split()))]
    if len(lines) > LINES - 2:
        lines[LINES - 3 :] = [f"{_MARGIN}...  # and {len(lines) - LINES + 3} more lines"]
    return "\n".join([start, *lines, ")"])


def _packed(text: str) -> Iterator[str]:
    """Break a text behind commas alone, so that it can be typed; a piece longer than a line loses its middle."""
    room, line = COLUMNS - len(_MARGIN) - 1, ""
    for part in text.split(", "):
        piece = part if len(part) <= room else f"{part[: room - 20]} ... {part[-15:]}"
        if line and len(line) + 2 + len(piece) > room:
            yield f"{_MARGIN}{line},"
            line = piece
        else:
            line = f"{line}, {piece}" if line else piece
    yield f"{_MARGIN}{line}"


def _tuple_names(value: Any) -> Sequence[str]:
    found: tuple[str, ...] = value._fields
    return found


def _dataclass_names(value: Any) -> Sequence[str]:
    return [one.name for one in fields(value) if one.repr or ("shown" in one.metadata and getattr(value, one.name))]


def shows_fields(kind: Kind) -> Kind:
    """Let a named tuple or a dataclass show itself as one would type it, long arrays as type and shape."""
    names: Callable[[Any], Sequence[str]] = _tuple_names if hasattr(kind, "_fields") else _dataclass_names

    def __repr__(self: Any) -> str:
        return in_lines(f"{type(self).__name__}(", [f"{name}={shown(getattr(self, name))}" for name in names(self)])

    kind.__repr__ = __repr__  # type: ignore[assignment]  # mypy lets no method be set
    return kind


def shown(value: Any) -> str:
    """Give an argument as it is typed; of a long array, also in a tensor, the type and the shape.

    Parameters
    ----------
    value : object
        Any argument of a prepared op, or field of a result.

    Returns
    -------
    str

    Examples
    --------
    >>> from qops._readable import shown
    >>> shown(np.array([0.1, 0.2])), shown(np.array([1, -2], np.int8)), shown(np.zeros((64, 32), np.uint8))
    ('[0.1, 0.2]', 'np.int8([1, -2])', '<uint8 (64, 32)>')
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))}{',' * (len(value) == 1)})"
    if isinstance(value, np.dtype):
        return repr(value.name)
    if isinstance(value, bytes) and len(value) > _SHOWN:
        return f"<{len(value)} bytes>"
    if isinstance(value, (list, dict)) and len(value) > _SHOWN:
        return f"<{type(value).__name__} of {len(value)}>"
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.size > _SHOWN or (value.size == 0 and value.ndim > 1):  # a list does not tell the shape of the latter
        return f"<{value.dtype} {value.shape}>"
    is_plain = value.dtype in (np.float64, np.int64)  # what lists of Python's numbers become
    return str(value.tolist()) if is_plain else f"np.{value.dtype.name}({value.tolist()})"
