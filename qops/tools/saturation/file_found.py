"""The file of a report: what a repair of it needs to know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["FileFound"]


class FileFound(NamedTuple):
    """A model file that was looked at.

    Attributes
    ----------
    path : Path
    exact : str
        The runtime that computes as the report's does, but with exact sums.
    weights : dict of str to str
        The names of the tensors with the weights of each layer.
    data : array_like, dict of str to array_like, or None
        What the model was run on.
    look : callable
        ``look(path, data)`` gives the report of another file on the same machine.
    """

    path: Path
    exact: str
    weights: dict[str, str]
    data: Any
    look: Callable[[Path, Any], Any]
