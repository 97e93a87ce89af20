"""What operators of both formats that are cut down to one element share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Index", "needed", "sized"]

Index = tuple[int, ...]


def needed(x: NDArray[Any], x_zero: int, w: NDArray[Any], w_zero: int) -> tuple[NDArray[np.intp], ...]:
    """Give, of each axis, the places at which not all products are 0; one at least."""
    counts = (x != x_zero) & (w != w_zero)
    found = []
    for axis in range(x.ndim):
        some = np.flatnonzero(counts.any(tuple(i for i in range(x.ndim) if i != axis)))
        found.append(some if some.size else np.array([0]))
    return np.ix_(*found)


def sized(what: str, before: Index, after: Index) -> str:
    """Give in words what one element is made of, of the shapes before and after the cut."""
    had, has = (" x ".join(map(str, shape)) for shape in (before, after))
    return f"one {what}: of {had} inputs those {has} remain whose products with the weights are not all 0"
