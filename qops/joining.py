"""What prepared concatenations of codes share: the shape of the result, and what becomes of each tensor's codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.stage.lookup import look_up_bytes
from qops.checks import integer

__all__ = ["joined_shape", "listed", "looked_up"]


def listed(tensors: Any) -> Sequence[Any]:
    """Give a list of tensors as it is.

    Parameters
    ----------
    tensors : object
        What the caller gave.

    Returns
    -------
    list or tuple

    Raises
    ------
    TypeError
        It is no list, or has no tensor.

    Examples
    --------
    >>> from qops.joining import listed
    >>> listed((1, 2))
    (1, 2)
    """
    if not isinstance(tensors, (list, tuple)) or not tensors:
        got = "an empty one" if isinstance(tensors, (list, tuple)) else type(tensors).__name__
        raise bad_type("tensors", f"expected a list of arrays, got {got}")
    return tensors


def joined_shape(shapes: Sequence[tuple[int, ...]], axis: int) -> tuple[int, ...]:
    """Give the shape of the concatenation of tensors.

    Parameters
    ----------
    shapes : sequence of tuple of int
        The shape of each tensor, at least one.
    axis : int
        The axis along which they are concatenated; it may be negative.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        The tensors have no such axis, or their shapes differ along another axis.

    Examples
    --------
    >>> from qops.joining import joined_shape
    >>> joined_shape([(2, 3), (2, 5)], -1)
    (2, 8)
    """
    first = tuple(shapes[0])
    at = integer(axis, "axis", -len(first), len(first) - 1) % len(first) if first else 0
    if not first or len({(*one[:at], -1, *one[at + 1 :]) for one in shapes}) > 1:
        raise bad_value("tensors", f"expected shapes that differ along axis {at}, got {shapes!r:.80}")
    return (*first[:at], sum(one[at] for one in shapes), *first[at + 1 :])


def looked_up(codes: NDArray[Any], table: NDArray[Any] | None) -> NDArray[Any]:
    """Take 8-bit codes to other codes by a table.

    Parameters
    ----------
    codes : ndarray of uint8 or int8
        Codes of a tensor.
    table : ndarray of 256 codes, or None
        table[code], where a code of int8 is read as uint8. None: codes stay as they are.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        A table or codes of another type.

    Examples
    --------
    >>> from qops.joining import looked_up
    >>> looked_up(np.array([0, 255], np.uint8), np.arange(256, dtype=np.uint8)[::-1].copy())
    array([255,   0], dtype=uint8)
    """
    if table is None:
        return codes
    made = np.empty(codes.shape, codes.dtype)
    look_up_bytes(codes, table, made)
    return made
