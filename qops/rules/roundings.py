"""Roundings of real values by name, as systems that compute in floats have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROUNDINGS"]

Reals = NDArray[Any]


def _half_away(v: Reals) -> Reals:
    """C's round: the float before 0.5 is added, so that no sum rounds up to a whole number."""
    return np.trunc(v + np.copysign(np.nextafter(v.dtype.type(0.5), v.dtype.type(0)), v))


def _half_added(v: Reals) -> Reals:
    """The sum with 0.5 is rounded to the type of v: the float before 0.5 becomes 1, and so do odd numbers change."""
    return np.trunc(v + np.copysign(v.dtype.type(0.5), v))


def _half_even_or_up(v: Reals) -> Reals:
    """As the DPU of Vitis AI rounds: ties go to even, but those of negative values up."""
    return np.where((v < 0) & (v - np.floor(v) == 0.5), np.ceil(v), np.rint(v))


ROUNDINGS: dict[str, Callable[[Reals], Reals]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "truncate": np.trunc,
    "outward": lambda v: np.copysign(np.ceil(np.abs(v)), v),
    "half_up": lambda v: np.floor(v + v.dtype.type(0.5)),
    "half_down": lambda v: np.ceil(v - v.dtype.type(0.5)),
    "half_away": _half_away,
    "half_added": _half_added,
    "half_toward_zero": lambda v: np.copysign(np.ceil(np.abs(v) - v.dtype.type(0.5)), v),
    "half_even": np.rint,
    "half_even_or_up": _half_even_or_up,
}
"""Roundings of float arrays; sums with a half are rounded to the type of the array, as the systems round them.

half_up, half_down, half_away, half_toward_zero and half_even go to the nearest whole number, and say where a tie goes.
half_added is half_away with 0.5 added in floats. ceil goes up, outward goes away from 0.
"""
