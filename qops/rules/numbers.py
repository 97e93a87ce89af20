"""What accumulators are requantized by: real scales and integers of the caller, checked."""

from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.stage.rules import Numbers
from qops.checks import as_array, shown
from qops.rules.names import row_named
from qops.rules.table import TABLE, Rule

__all__ = [
    "BELOW_INFINITY",
    "FLOATS",
    "SINGLES",
    "Numbers",
    "Steps",
    "given_integers",
    "given_scales",
    "rule_of",
]

Steps: TypeAlias = Any
"""A real scale, or a multiplier and a right shift: one, or an array with one a channel."""
SINGLES = {"float32", "31 bits as a float32"}
"""Multipliers of rules that compute in float32."""
FLOATS = {*SINGLES, "float64", "float64 of a float32"}
"""Multipliers of rules that compute in floats."""
BELOW_INFINITY = 2.0**128 - 2.0**103
"""Where float32 begins to round to infinity."""


def rule_of(rule: object) -> Rule:
    """The row of a name; ValueError if there is none."""
    return row_named(rule, TABLE)


def _fits(multiplier: Any, right_shift: Any) -> Any:
    return (multiplier >= -(2**31)) & (multiplier < 2**31) & (right_shift >= 0) & (right_shift <= 62)


def given_integers(integers: Any) -> Steps:
    """The multiplier and right shift, checked: numbers, or int64 arrays with one a channel."""
    if isinstance(integers, tuple) and [type(x) for x in integers] == [int, int] and _fits(*integers):
        return integers
    try:
        multiplier, right_shift = (np.asarray(x) for x in integers)
        if multiplier.shape != right_shift.shape:
            multiplier, right_shift = np.broadcast_arrays(multiplier, right_shift)
    except (TypeError, ValueError):
        raise TypeError(f"integers: expected (multiplier, right_shift), got {shown(integers)}") from None
    if multiplier.dtype.kind not in "iu" or right_shift.dtype.kind not in "iu" or multiplier.ndim > 1:
        raise TypeError(f"integers: expected integers, one pair or one a channel, got {shown(integers)}")
    fits = _fits(multiplier, right_shift)
    if not fits.all():
        m, n = (x[~fits].flat[0] for x in (multiplier, right_shift))
        raise ValueError(f"integers: expected a multiplier of 32 bits and a right shift in 0..62, got ({m}, {n})")
    if multiplier.size == 1:
        return int(multiplier.reshape(())), int(right_shift.reshape(()))
    return _own(multiplier, np.int64), _own(right_shift, np.int64)


def given_scales(scale: Any) -> Steps:
    """The scales, checked: a number, or an array with one a channel."""
    if type(scale) is float and 0 <= scale < inf:
        return scale + 0.0  # of -0.0 rules would make other integers
    values = as_array(scale, "scale")
    if values.dtype.kind not in "fiu":
        raise TypeError(f"scale: expected numbers, got {values.dtype}")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"scale: expected finite numbers, not negative, got {shown(scale)}")
    if values.ndim > 1:
        raise ValueError(f"scale: expected one number or one a channel, got shape {values.shape}")
    return _own(values, np.float64, 0.0) if values.size != 1 else float(values.reshape(())) + 0.0


def _own(values: NDArray[Any], dtype: Any, plus: float = 0) -> NDArray[Any]:
    """A copy that nobody else can write to."""
    copy = values.astype(dtype) + dtype(plus)
    copy.flags.writeable = False
    return copy
