"""The graph of a model that a caller gave: a graph, or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from qops.checks import choice, renamed, shown
from qops.models.graph import Graph
from qops.models.load import load

__all__ = ["graph_of"]


def graph_of(model: Any, name: str, runtime: str | None = None) -> Graph:
    """Give the graph of a model, or of a file.

    Parameters
    ----------
    model : str, Path or Graph
        The model that the caller gave.
    name : str
        The caller's name of that argument.
    runtime : str, optional
        The runtime whose bits the model is expected to give.

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
        raise TypeError(f"{name}: expected a file or a graph, got {shown(model)}")
    try:
        return load(model, runtime=runtime)
    except (ValueError, TypeError) as why:  # by the name that the caller gave
        if not str(why).startswith("path:"):
            raise
        raise renamed(why, name) from None
