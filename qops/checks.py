"""The checks of arguments that all rooms share. Each error begins with the caller's name of the argument.

Those that run in every call are compiled (`qops._kernels.arrays`), windows too (`qops._kernels.arrays.window`). What
only one system takes stands in that room's `_checks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.checks import (
    F32,
    S32,
    U8,
    all_finite,
    array,
    as_array,
    broadcast_shape,
    check_out,
    float32s,
    int32s,
    into,
    operand,
    operands,
    output,
    put,
    span,
    unshared,
)
from qops._kernels.arrays.codes import parts
from qops._kernels.arrays.numbers import choice, flag, int32, integer, integers, number, real, shown, two_ends
from qops._kernels.arrays.refusal import bad_type

__all__ = [
    "F32",
    "S32",
    "U8",
    "all_finite",
    "array",
    "as_array",
    "both_ends",
    "broadcast_shape",
    "check_out",
    "choice",
    "dtype_among",
    "flag",
    "float32s",
    "int32",
    "int32s",
    "integer",
    "integers",
    "into",
    "native",
    "number",
    "operand",
    "operands",
    "output",
    "parts",
    "put",
    "real",
    "shown",
    "span",
    "two_ends",
    "unshared",
]


def both_ends(value: Any, name: str) -> tuple[float, float]:
    """Give the ends of a range ``(min, max)`` of float32 values, min <= max.

    Parameters
    ----------
    value : object
        What the caller gave.
    name : str
        The caller's name of it.

    Returns
    -------
    tuple of float

    Raises
    ------
    TypeError, ValueError
        `value` does not have two members, or they are no such range.

    Examples
    --------
    >>> from qops.checks import both_ends
    >>> both_ends((3, 1), "range")
    Traceback (most recent call last):
    ValueError: range: min 3 > max 1
    """
    lo, hi = span(*two_ends(value, name), name)
    return lo, hi


def native(x: ArrayLike, name: str, allowed: Iterable[str]) -> NDArray[Any]:
    """Give `x` as an array of one of some types, in native byte order.

    Parameters
    ----------
    x : array_like
        What the caller gave.
    name : str
        The caller's name of it.
    allowed : iterable of str
        Names of the types.

    Returns
    -------
    ndarray
        `x` itself if it is such an array.

    Raises
    ------
    TypeError
        The data have another type.

    Examples
    --------
    >>> from qops.checks import native
    >>> native(np.zeros(2), "x", ("uint8", "int8"))
    Traceback (most recent call last):
    TypeError: x: expected uint8, int8, got float64
    """
    data = as_array(x, name)
    if data.dtype.type.__name__ not in allowed and data.dtype.name not in allowed:
        raise bad_type(name, f"expected {', '.join(allowed)}, got {data.dtype}")
    return data if data.dtype.isnative else data.astype(data.dtype.newbyteorder("="))


def dtype_among(dtype: DTypeLike, name: str, allowed: Sequence[str]) -> np.dtype[Any]:
    """Give a type of codes, by its name or as a type, if it is one of some types.

    Parameters
    ----------
    dtype : dtype
        What the caller gave.
    name : str
        The caller's name of it.
    allowed : sequence of str
        Names of the types.

    Returns
    -------
    dtype
        In native byte order.

    Raises
    ------
    TypeError
        It is another type, or none.

    Examples
    --------
    >>> from qops.checks import dtype_among
    >>> dtype_among("float32", "dtype", ("int32", "uint8", "int8"))
    Traceback (most recent call last):
    TypeError: dtype: expected int32, uint8, int8, got 'float32'
    """
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):  # a text that has no bytes is a ValueError
        found = None
    if found is None or (found.type.__name__ not in allowed and found.name not in allowed):
        raise bad_type(name, f"expected {', '.join(allowed)}, got {shown(dtype)}")
    return found if found.isnative else found.newbyteorder("=")
