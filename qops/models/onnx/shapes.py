"""Sizes of results, and lists of integers, of numbers that a file may hold anything in."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

__all__ = ["bounded", "shape_of_data", "shape_of_pair", "whole"]


_MOST = 2**28
"""Elements of a result that its inputs need not have."""


def bounded(shape: Sequence[int]) -> tuple[int, ...]:
    """Give a shape; ValueError if it is that of a result too large to be meant.

    Raises
    ------
    ValueError
        A negative size, more than 2**28 elements.
    """
    found = tuple(int(n) for n in shape)
    if any(n < 0 for n in found) or prod(found) > _MOST:
        raise ValueError(f"a result of shape {found!s:.80} is too large")
    return found


def whole(values: Any) -> list[int]:
    """Give numbers as integers; None is an empty list.

    Raises
    ------
    ValueError, OverflowError
        What is no number.
    """
    return [] if values is None else [int(n) for n in np.ravel(values)]


def shape_of_data(node: Any, x: tuple[int, ...], *more: Any) -> tuple[int, ...]:
    """Give the shape of a result that has that of the data."""
    return tuple(x)


def shape_of_pair(node: Any, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Give the shape of a result of two tensors, which are broadcast."""
    return np.broadcast_shapes(a, b)
