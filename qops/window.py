"""How windows move over images, as arguments say it: strides, and padding by a word or by numbers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops.checks import int32, integers, shown

__all__ = ["Padding", "TwoInts", "padding_of", "pair"]

TwoInts: TypeAlias = tuple[int, int]
Padding: TypeAlias = int | str | tuple[int | TwoInts, int | TwoInts]


def pair(value: Any, name: str, least: int) -> TwoInts:
    """Check two integers, down and across, or one for both.

    Parameters
    ----------
    value : object
        What the caller gave.
    name : str
        The caller's name of it.
    least : int
        The smallest integer that is allowed.

    Returns
    -------
    tuple of int

    Raises
    ------
    TypeError, ValueError
        `value` is neither, or an integer is smaller.

    Examples
    --------
    >>> from qops.window import pair
    >>> pair(2, "stride", 1), pair(np.array([1, 3]), "stride", 1)
    ((2, 2), (1, 3))
    """
    value = _as_list(value)
    if not isinstance(value, (tuple, list)):
        both = int32(value, name, least)
        return both, both
    down, across = integers(value, name, 2, least)
    return down, across


def _as_list(value: Any) -> Any:
    """Give an array with axes as lists, and anything else as it is."""
    return value.tolist() if isinstance(value, np.ndarray) and value.ndim else value


def padding_of(padding: Any) -> str | tuple[TwoInts, TwoInts]:
    """Check the padding: "SAME" or "VALID" in any letters, or pixels: for all sides, two ways, or each side.

    Parameters
    ----------
    padding : object
        What the caller gave.

    Returns
    -------
    str or tuple
        The word in capitals, or ((top, bottom), (left, right)).

    Raises
    ------
    TypeError, ValueError
        `padding` is none of these, or a number of pixels is below 0.

    Examples
    --------
    >>> from qops.window import padding_of
    >>> padding_of("same"), padding_of((1, (0, 2)))
    ('SAME', ((1, 1), (0, 2)))
    """
    if isinstance(padding, str):
        word = padding.upper()
        if word not in ("SAME", "VALID"):
            raise bad_value("padding", f"expected 'same', 'valid' or numbers of pixels, got {shown(padding)}")
        return word
    padding = _as_list(padding)
    down, across = padding if isinstance(padding, (tuple, list)) and len(padding) == 2 else (padding, padding)
    return pair(down, "padding", 0), pair(across, "padding", 0)
