"""The order of axes in which a device's images lie."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Wrong", "as_wanted"]

_IMAGE = 4  # axes of images
_ORDERS = (("NCHW", "NHWC", (0, 3, 1, 2), (0, 2, 3, 1)), ("NHWC", "NCHW", (0, 2, 3, 1), (0, 3, 1, 2)))
"""What a dump and the model may have; the axes of the model in the order of the dump, and the way back."""


class Wrong(NamedTuple):
    """How a tensor was dumped otherwise than it should be, in words, and how many codes differ as it was dumped."""

    words: str
    differ: int


def as_wanted(array: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[Any], Wrong | None]:
    """Bring a tensor of a device into the order of axes that the graph has.

    Parameters
    ----------
    array : ndarray
        The tensor of the device, which may be flat.
    wanted : ndarray
        What the graph gives for it.

    Returns
    -------
    ndarray
        The tensor, in the shape of `wanted`; `wanted` itself if the sizes differ.
    Wrong or None
        What is wrong with it; None if nothing is.
    """
    if array.size != wanted.size:
        sizes = f"{array.size:,} elements, shape {array.shape}; the model {wanted.size:,}, {wanted.shape}"
        return wanted, Wrong(f"the dump has {sizes}", wanted.size)
    plain = array.reshape(wanted.shape)
    if wanted.ndim != _IMAGE or array.ndim not in (1, _IMAGE):
        return plain, None
    apart = _distance(plain, wanted)
    for there, here, order, back in _ORDERS:
        shape = tuple(wanted.shape[i] for i in order)
        if array.ndim == _IMAGE and array.shape not in (shape, wanted.shape):
            continue
        read = np.ascontiguousarray(array.reshape(shape).transpose(back))
        by_shape = array.ndim == _IMAGE and array.shape != wanted.shape
        if (by_shape and (read != plain).any()) or _distance(read, wanted) < apart / 2:
            return read, Wrong(f"the dump is {there}, the model {here}", int(np.count_nonzero(plain != wanted)))
    return plain, None


def _distance(a: NDArray[Any], b: NDArray[Any]) -> float:
    return float(np.abs(a.astype(np.float64) - b.astype(np.float64)).sum())
