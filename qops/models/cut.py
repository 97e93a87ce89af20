"""What operators of both formats that are cut down to one element share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.axis import Axis

__all__ = ["Index", "inside_window", "needed", "readers", "sized", "under_window"]

Index = tuple[int, ...]


def under_window(x: NDArray[Any], axes: Sequence[Axis], place: Index, first: int, fill: Any) -> NDArray[Any]:
    """Give what lies under a window at one place.

    Parameters
    ----------
    x : ndarray
        One image.
    axes : sequence of Axis
        How the window moves along the axes of the image from `first` on.
    place : tuple of int
        The place along each of them.
    first : int
        The first axis of `x` that the window moves along.
    fill : code
        What stands on the padding.

    Returns
    -------
    ndarray
        `x` with one element for each tap along these axes.
    """
    for i, (axis, at) in enumerate(zip(axes, place, strict=True), first):
        pixels, size = axis.pixels(at), x.shape[i]
        inside = ((pixels >= 0) & (pixels < size)).reshape([-1 if n == i else 1 for n in range(x.ndim)])
        x = np.where(inside, np.take(x, np.clip(pixels, 0, size - 1), i), np.asarray(fill, x.dtype))
    return x


def inside_window(x: NDArray[Any], axes: Sequence[Axis], place: Index) -> NDArray[Any]:
    """Give what lies under a window at one place, without the padding; `axes` are the first of `x`."""
    for i, (axis, at) in enumerate(zip(axes, place, strict=True)):
        pixels = axis.pixels(at)
        x = x.take(pixels[(pixels >= 0) & (pixels < x.shape[i])], i)
    return x


def readers(axis: Axis, pixel: int) -> list[tuple[int, int]]:
    """Give each place at which a window reads a pixel along one axis, and with which tap."""
    found = []
    for tap in range(axis.kernel):
        places, pixels = axis.seen(tap)
        each = range(pixels.start, pixels.stop, pixels.step)
        if pixel in each:
            found.append((places.start + each.index(pixel), tap))
    return found


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
