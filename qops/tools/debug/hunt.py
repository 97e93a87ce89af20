"""The result of `debug`: a row a layer, the first layer that differs and why, and how they print."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from qops._pages.html import in_notebook, table
from qops._readable import fitted
from qops.tools.debug.case import Case, Worst
from qops.tools.debug.columns import ColumnFound
from qops.tools.debug.layer_row import First, LayerRow, same
from qops.tools.debug.page import hunt_page
from qops.tools.debug.reduce import reduced

__all__ = ["Hunt"]

_HEADS = ("layer", "op", "differ", "largest", "share", "whole", "saturated", "LSB", "SQNR dB")
_ROWS = 16  # of the table in a `repr`
_NAMES = 24  # characters of a name in the table
_ANSWERS, _NO_ANSWER = ("first: ", "no layer differs"), "nothing is compared"


@dataclass(frozen=True)
class Hunt:
    """What `debug` found. Printed, it is the runtime that fits, a table, and lines on the first layer that differs.

    Attributes
    ----------
    model : str
        The name of the file.
    layers : list of LayerRow
        In the order in which they run.
    first : First or None
        The first layer that differs; None if none does.
    notes : list of str
        What the reader should know: seeded noise, tensors without a dump.
    case : Case or None
        The first layer that differs, with what it read and gave.
    worst : Worst or None
        The layer with the largest share of codes that differ; if none does, the one that is farthest from float.
    differing : Worst or None
        The first layer that differs, as `worst` has the worst one.
    column : ColumnFound or None
        Another runtime that gives every tensor of the device: a library on another kind of CPU.
    """

    model: str
    layers: list[LayerRow]
    first: First | None
    notes: list[str] = field(default_factory=list)
    case: Case | None = field(default=None, repr=False)
    worst: Worst | None = field(default=None, repr=False)
    differing: Worst | None = field(default=None, repr=False)
    column: ColumnFound | None = None

    @property
    def differs(self) -> bool:
        """Whether the device differs from the graph anywhere."""
        return self.first is not None

    def as_dict(self) -> dict[str, Any]:
        """Give what ``python -m qops debug --json`` prints.

        Returns
        -------
        dict
            ``column``, ``model``, ``layers`` and ``first``.
        """
        fields = [name for name in LayerRow._fields if name != "whole"]
        layers = [{name: getattr(row, name) for name in fields} for row in self.layers]
        first = None if self.first is None else {**self.first._asdict(), "where": list(self.first.where)}
        column = None if self.column is None else self.column._asdict()
        return {"column": column, "model": self.model, "layers": layers, "first": first}

    def page(self) -> str:
        """Give the result as an HTML page that needs no other file.

        Returns
        -------
        str
            HTML: the runtime that fits, the explanation, a strip of layers coloured by error, pictures of the first
            layer that differs and of the worst, a table.
        """
        return hunt_page(self.model, self.layers, self.first, self.notes, self.worst, self.differing, self.column)

    def reduce(self, folder: str | Path) -> list[Path]:
        """Write the first layer that differs as files for its vendor.

        ``layer.tflite`` is a model of this layer alone. ``device.npz`` and ``expected.npz`` are what it read and gave,
        by the names of tensors. ``smallest.tflite`` and ``smallest_device.npz`` make one element that differs of as few
        inputs as it takes. ``test.c`` is a test in C99 that fails on the device's numbers, and ``issue.md`` a report.

        Parameters
        ----------
        folder : str or Path
            Made if it is missing.

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        ValueError
            No layer differs by itself, or it cannot be written as a model of its own.
        OSError
            One of the files is there already; a folder that cannot be written to. Then nothing is written.
        """
        if self.first is None:
            raise ValueError(f"{self.model}: no layer differs; nothing to reduce")
        if self.case is None:
            raise ValueError(f"{self.first.layer}: {self.first.cause}; no layer differs by itself, nothing to reduce")
        return reduced(self.case, self.first, folder, self.column)

    def __repr__(self) -> str:
        """Show the runtime that fits or the first layer that differs, the rows around it, and what else is known."""
        table, rest = self._table(), self._told()
        answer = self.column.words if self.column else next((x for x in rest if x.startswith(_ANSWERS)), _NO_ANSWER)
        hidden = len(self.layers) - _ROWS
        if hidden > 0:
            at = next((i for i, row in enumerate(self.layers) if self.first and row.name == self.first.layer), 0)
            start = 2 + max(0, min(at - _ROWS // 2, hidden))
            table = [*table[:2], *table[start : start + _ROWS], f"  and {hidden} more layers"]
        return fitted("\n".join([f"<Hunt: {answer}>", *table, *(line for line in rest if line != answer)]))

    def _repr_html_(self) -> str:
        """Show a row for each layer in a notebook."""
        heads = [head if i < 2 else f"#{head}" for i, head in enumerate(_HEADS)]
        words = "".join(f"<p>{escape(line)}</p>" for line in (*self._head(), self.model, *self._told()))
        return in_notebook(words, table(heads, [*map(_cells, self.layers)]))

    def __str__(self) -> str:
        return "\n".join([*self._head(), *self._table(), *self._told()])

    def _head(self) -> list[str]:
        return [] if self.column is None else [self.column.words]

    def _table(self) -> list[str]:
        """Give the name of the model, and a line for each layer below the heads."""
        rows = [_HEADS, *(_cells(row) for row in self.layers)]
        wide = [max(len(row[i]) for row in rows if len(row) == len(_HEADS) or i < 2) for i in range(len(_HEADS))]
        lines = [self.model]
        for row in rows:
            if len(row) < len(_HEADS):  # not checked: words behind the two names
                lines.append("  " + "  ".join([row[0].ljust(wide[0]), row[1].ljust(wide[1]), row[2]]))
                continue
            cells = (c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(row, wide, strict=True)))
            lines.append("  " + "  ".join(cells).rstrip())
        return lines

    def _told(self) -> list[str]:
        """Give the notes, and lines on the first layer that differs."""
        lines = [f"  {note}" for note in self.notes]
        if self.first is not None:
            lines.append(f"first: {self.first.layer} ({self.first.output}): {self.first.cause}")
            if self.first.where:
                lines.append(f"  where: {'; '.join(self.first.where)}")
            if self.first.rules:
                lines.append(f"  rules that then give every integer: {', '.join(self.first.rules)}")
        elif any(row.differ is not None for row in self.layers):
            lines.append(same(self.layers))
        return lines


def _cells(row: LayerRow) -> tuple[str, ...]:
    name = row.name if len(row.name) <= _NAMES else f"{row.name[: _NAMES - 1]}…"
    if row.unchecked:
        return name, row.op, row.unchecked
    return (
        *(name, row.op, _count(row.differ), "" if not row.largest else f"{row.largest:g}", _share(row.share)),
        *(_count(row.whole), _share(row.saturated)),
        *("" if v is None or not math.isfinite(v) else f"{v:.2f}" for v in (row.lsb, row.sqnr)),
    )


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.2%}"
