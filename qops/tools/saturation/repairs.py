"""All repairs of a model file, tried on data: what each changes, its error, and its accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._pages.html import in_notebook, table
from qops._readable import fitted, shows_fields
from qops.checks import as_array
from qops.models.graph import Graph
from qops.models.loader import load
from qops.tools.saturation.repair import EXACT, REPAIRS, Repair
from qops.tools.saturation.written import repaired_file

__all__ = ["RepairTried", "Repairs", "tried"]

_TRIED = [(how, False) for how in REPAIRS]
_TRIED[4:4] = [("widen", True)]
_TRIED[6:6] = [("reduce_range", True)]
_HEADS = ("repair", "changes", "largest error", "mean error", "accuracy")


@shows_fields
class RepairTried(NamedTuple):
    """One way to run a model, beside the one whose sums are exact.

    Attributes
    ----------
    name : str
        The repair; "as it is" for the model without one, and "exact" for it on a machine with exact sums.
    changes : str
        What the repair changes, in words.
    error, mean : float
        The largest and the mean difference of the results from the exact ones, in real numbers where the results have
        a scale or are real.
    accuracy : float or None
        The share of items that are read right; None without labels.
    refused : str
        Why the model cannot have the repair; "" if it can.
    """

    name: str
    changes: str = ""
    error: float = 0.0
    mean: float = 0.0
    accuracy: float | None = None
    refused: str = ""


@dataclass(frozen=True, repr=False)
class Repairs:
    """What each repair of a model costs. Printed, it is a table.

    Attributes
    ----------
    model, machine : str
        The file, and where it runs.
    tried : tuple of RepairTried
        The exact machine, the model as it is, and all repairs.
    """

    model: str
    machine: str
    tried: tuple[RepairTried, ...]

    def __getitem__(self, name: str) -> RepairTried:
        """Give a repair by its name."""
        return {one.name: one for one in self.tried}[name]

    @property
    def worse(self) -> tuple[str, ...]:
        """The repairs that move results farther than saturation does."""
        bound = self["as it is"].error
        return tuple(one.name for one in self.tried[2:] if not one.refused and one.error > bound)

    def as_dict(self) -> dict[str, Any]:
        """Give all of it as plain numbers and words.

        Returns
        -------
        dict
            ``json.dumps`` takes it.
        """
        return {"model": self.model, "machine": self.machine, "tried": [one._asdict() for one in self.tried]}

    def __str__(self) -> str:
        rows = [_HEADS, *map(_cells, self.tried)]
        wide = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
        lines = [f"repairs of {self.model} on {self.machine}, results beside the exact ones"]
        for row in rows:
            cells = (c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(row, wide, strict=True)))
            lines.append(("  " + "  ".join(cells)).rstrip())
        lines += [f"  {one.name} is refused: {one.refused}"[:160] for one in self.tried if one.refused]
        if self.worse:
            lines.append(f"  farther from exact than the saturation itself: {', '.join(self.worse)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return fitted(f"<Repairs: {self}>")

    def _repr_html_(self) -> str:
        rows = [_cells(one) for one in self.tried]
        why = [f"{one.name} is refused: {one.refused}" for one in self.tried if one.refused]
        said = "".join(f"<p>{escape(words)}</p>" for words in why)
        heads = [f"#{head}" if i > 1 else head for i, head in enumerate(_HEADS)]
        return in_notebook(said, table(heads, rows))


def _cells(one: RepairTried) -> tuple[str, ...]:
    if one.refused:
        return one.name, "refused", "", "", ""
    accuracy = "" if one.accuracy is None else f"{one.accuracy:.2%}"
    return one.name, one.changes, f"{one.error:.4g}", f"{one.mean:.4g}", accuracy


def tried(report: Any, labels: ArrayLike | None) -> Repairs:
    """Try all repairs.

    Parameters
    ----------
    report : Saturation
        The report of a model file with data.
    labels : array_like of integers or None
        The right results.

    Returns
    -------
    Repairs

    Raises
    ------
    ValueError
        No file or no data; nothing to repair; labels that do not fit.
    """
    file = report._file
    if file is None or file.data is None:
        raise bad_value("data", "repairs are compared on data, and need the report of a model file with them")
    if not any(layer.unsafe_groups for layer in report.layers):
        raise bad_value("what", f"no lane of {report.name} can be left, there is nothing to repair")
    judge = _Judge(load(file.path, runtime=file.exact), report.exact, labels)
    rows = [judge.row("exact", "", report.exact), judge.row("as it is", "", report.outputs)]
    for how, seen in _TRIED:
        name = f"{how}, seen" if seen else how
        try:
            made = repaired_file(report, how, seen)
        except ValueError as why:
            rows.append(RepairTried(name, refused=getattr(why, "reason", str(why))))
            continue
        rows.append(judge.row(name, _changes(how, made.made, report), made.found.outputs))
    return Repairs(report.name, f"{report.machine}, {report.runtime}", tuple(rows))


class _Judge:
    """What the exact results are, and the right ones."""

    def __init__(self, graph: Graph, exact: dict[str, NDArray[Any]], labels: ArrayLike | None) -> None:
        self._graph = graph
        self._exact = {name: self._real(name, value) for name, value in exact.items()}
        self._labels = None if labels is None else as_array(labels, "labels")
        if self._labels is not None:
            if self._labels.dtype.kind not in "iu":
                raise bad_type("labels", f"expected integers, got {self._labels.dtype}")
            count = len(next(iter(self._exact.values())))
            if self._labels.shape != (count,):
                raise bad_value("labels", f"expected one for each of {count} items, got shape {self._labels.shape}")

    def _real(self, name: str, value: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(self._graph.tensors[name].values(value), np.float64)

    def row(self, name: str, changes: str, outputs: dict[str, NDArray[Any]]) -> RepairTried:
        """Compare results with the exact ones."""
        real = {key: self._real(key, value) for key, value in outputs.items()}
        off = np.concatenate([np.abs(value - self._exact[key]).ravel() for key, value in real.items()])
        first = next(iter(real.values()))
        accuracy = None
        if self._labels is not None:
            accuracy = float(np.mean(first.reshape(len(first), -1).argmax(axis=1) == self._labels))
        return RepairTried(name, changes, float(off.max(initial=0)), float(off.mean()) if off.size else 0.0, accuracy)


def _changes(how: str, made: dict[str, Repair], report: Any) -> str:
    """Say in words what a repair changes."""
    if how == "pairs":
        sizes = [(x._sums.weights, made[x.name].channels) for x in report.layers if x.name in made]
        said = [f"{w.shape[0] * w.shape[2]} > {0 if channels is None else len(channels)}" for w, channels in sizes]
        return f"channels {', '.join(said[:4])}{', ..' if len(said) > 4 else ''}"
    if how in EXACT:
        return "types of weights" if how == "types" else "types of data"
    if how == "data_7_bits":
        return f"data of {len(made)} layer{'s' * (len(made) != 1)}"
    rows = sum(layer._sums.outputs for layer in report.layers)
    return f"{sum(one.rows for one in made.values())} of {rows} rows"
