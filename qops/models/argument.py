"""The graph of a model that a caller gave: a graph, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qops._kernels.arrays.refusal import bad_type, renamed
from qops.checks import choice, shown
from qops.models.graph import Graph
from qops.models.loader import load

__all__ = ["graph_of"]


def graph_of(model: Any, name: str, runtime: str | None = None, *, gaps: bool = False) -> Graph:
    """Give the graph of a model, or of a file.

    Parameters
    ----------
    model : str, Path or Graph
        The model that the caller gave.
    name : str
        The caller's name of that argument.
    runtime : str, optional
        The runtime whose bits the model is expected to give.
    gaps : bool
        As in `load`.

    Returns
    -------
    Graph

    Raises
    ------
    TypeError, ValueError, OSError
        Another thing, a file that cannot be read, another runtime than the graph has.
    """
    if isinstance(model, Graph):
        if runtime is not None:
            choice(runtime, "runtime", [model.runtime])
        return model
    if not isinstance(model, str | Path):
        raise bad_type(name, f"expected a file or a graph, got {shown(model)}")
    try:
        return load(model, runtime=runtime, gaps=gaps)
    except (ValueError, TypeError) as why:  # by the name that the caller gave
        if getattr(why, "argument", None) != "path":
            raise
        raise renamed(why, name) from None
