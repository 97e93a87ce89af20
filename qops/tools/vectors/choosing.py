"""Which inputs are kept: a few that tell a rule from each other one, ties, ends of codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops.tools.explain.probes import distinct

__all__ = ["MOST", "Run", "always", "telling"]

MOST = 256
_FEW = 4096  # about how many differences of one rule are looked at
Run: TypeAlias = Callable[[NDArray[np.int32]], NDArray[Any]]


def always(x: NDArray[Any], y: NDArray[Any], scale: float, ends: tuple[int, int]) -> list[int]:
    """Give where ties on both sides of 0, both ends of saturation, the extremes and 0 are.

    Parameters
    ----------
    x, y : ndarray
        Inputs in rising order, and their codes.
    scale : float
        How many code steps 1 of x is.
    ends : (int, int)
        Lowest and highest code.

    Returns
    -------
    list of int
    """
    with np.errstate(all="ignore"):  # what is beyond float64 is no tie
        halves = np.abs(x.astype(np.float64) * scale) % 1
    ties = np.flatnonzero(np.abs(halves - 0.5) < 2.0**-20)
    above, below = ties[x[ties] > 0], ties[x[ties] < 0]
    clamped = [np.flatnonzero(y == end) for end in ends]
    picked = [
        above[:4],
        below[-4:],
        np.array([0, x.size - 1]),
        np.flatnonzero(x == 0),
        *(e[[0, -1]] for e in clamped if e.size),
    ]
    return [int(i) for part in picked for i in part]


def telling(y: NDArray[Any], others: list[NDArray[Any]]) -> list[int]:
    """Give a few indices, so that each of the others that differs from y anywhere differs at one of them."""
    places = [where for other in others if (where := np.flatnonzero(other != y)).size]
    if not places:
        return []
    columns = distinct([p[:: p.size // _FEW + 1] for p in places])
    apart = np.array([other[columns] != y[columns] for other in others])
    apart = apart[apart.any(axis=1)]
    found: list[int] = []
    while len(apart):
        best = int(apart.sum(axis=0).argmax())
        found.append(int(columns[best]))
        apart = apart[~apart[:, best]]
    return found
