"""Codes and ends of codes that a caller gave."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, int32, shown

__all__ = ["codes_of", "ends_of"]

_CODES = ("uint8", "int8", "int16")


def codes_of(x: Any, name: str) -> NDArray[Any]:
    """Check that these are codes.

    Parameters
    ----------
    x : array_like or QTensor
    name : str
        The caller's name of it.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        Another type.
    """
    found = as_array(getattr(x, "data", x) if hasattr(x, "zero_point") else x, name)
    if found.dtype.name not in _CODES:
        raise bad_type(name, f"expected codes of {', '.join(_CODES)}, got {found.dtype}")
    return found


def ends_of(ends: Any, x_type: str) -> tuple[int, int]:
    """Check the lowest and the highest code of data.

    Parameters
    ----------
    ends : object
        What the caller gave.
    x_type : str
        The type of the data.

    Returns
    -------
    tuple of int

    Raises
    ------
    TypeError, ValueError
        No two codes of this type, in order.
    """
    row = codes.TABLE[x_type]
    try:
        lo, hi = ends
    except (TypeError, ValueError):
        raise bad_type("ends", f"expected two codes, got {shown(ends)}") from None
    lo, hi = (int32(end, "ends", row.lowest, row.highest) for end in (lo, hi))
    if lo > hi:
        raise bad_value("ends", f"{lo} > {hi}")
    return lo, hi
