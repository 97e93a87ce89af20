"""Checks of the errors that `qops.plot` draws, the end of their axis, and their words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, number

__all__ = ["end_of", "errors_of", "finite", "in_lsb", "largest"]

_SCALE = 1.25  # LSB: the end of the colours and of a histogram, unless an error or bound is larger or a scale is given


def errors_of(off: ArrayLike, ndim: int | None = None) -> NDArray[np.float64]:
    """Check errors: at least one, with `ndim` axes if that is given."""
    x = as_array(off, "off")
    if x.size == 0 or ndim not in (None, x.ndim):
        axes = "" if ndim is None else f" with {ndim} axes"
        raise bad_value("off", f"expected at least one error{axes}, got shape {x.shape}")
    return finite(x, "off")


def finite(x: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Check that all numbers are real and finite."""
    if x.dtype.kind not in "fiu":
        raise bad_type(name, f"expected real numbers, got {x.dtype}")
    if not np.isfinite(x).all():
        raise bad_value(name, "has numbers that are NaN or infinite")
    return x.astype(np.float64)


def end_of(scale: float | None, off: NDArray[np.float64], bound: float | None) -> float:
    """Give the end of an axis of errors or of the colours."""
    return max(_SCALE, 1.05 * max(np.abs(off).max(), bound or 0)) if scale is None else _above_0(scale, "scale")


def _above_0(value: float, name: str) -> float:
    found = number(value, name)
    if not found > 0:
        raise bad_value(name, f"expected a number of LSB above 0, got {found}")
    return found


def largest(off: NDArray[np.float64], bound: float | None) -> str:
    """Say the largest error, and the bound if there is one."""
    words = f"largest error {in_lsb(np.abs(off).max())} LSB"
    return words if bound is None else f"{words}, bound {_above_0(bound, 'bound'):.3g}"


def in_lsb(value: float, sign: str = "") -> str:
    """Give an error in words, in LSB."""
    return format(value, f"{sign}.3f" if abs(value) < 1e4 else f"{sign}.3g")
