"""The type and the range of the codes that an op makes: what the caller asks for, or what holds all results."""

from __future__ import annotations

from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from qops._kernels.arrays.nearest import did_you_mean
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.stage.affine import range_holding_zero
from qops.checks import shown, span
from qops.codes import TABLE, CodeType

__all__ = ["OpenRange", "OpenRanges", "Range", "code_type", "range_of_all"]

Range: TypeAlias = tuple[float, float]

OpenRange: TypeAlias = tuple[float | None, float | None]
"""A range of which an end may be left open."""

OpenRanges: TypeAlias = tuple[float | ArrayLike | None, float | ArrayLike | None]
"""A range, or one for each channel, of which an end may be left open."""

_EIGHT_BITS = {row.dtype: row for row in (TABLE["u8"], TABLE["s8"])}


def code_type(dtype: DTypeLike) -> CodeType:
    """Give the code type of `dtype`, which is uint8 or int8; TypeError for another."""
    try:
        return _EIGHT_BITS[np.dtype(dtype)]
    except (TypeError, ValueError, KeyError):
        near = did_you_mean(dtype, [str(own) for own in _EIGHT_BITS])
        raise bad_type("dtype", f"expected uint8 or int8, got {shown(dtype)}{near}") from None


def range_of_all(lo: float, hi: float, row: CodeType, name: str) -> Range:
    """Give the smallest range that holds lo, hi and, on a code, 0. It is (lo, hi) where that does so already."""
    lo, hi = span(min(lo, 0.0), max(hi, 0.0), name)
    if row.line(lo, hi)[2] != 0:  # the value of the code next to 0
        lo, hi, _, _ = range_holding_zero(lo, hi, row)
        if not isfinite(lo) or not isfinite(hi):
            raise bad_value(name, "the range of all results, with 0 on a code, is beyond float32")
    return lo, hi
