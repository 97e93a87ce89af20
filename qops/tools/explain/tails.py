"""The last elements of data, after whole vectors: a device may compute them in another way."""

from collections.abc import Iterator
from dataclasses import replace

from qops.tools.explain.op_dump import Dump

__all__ = ["tails", "without_tail"]

_WIDTHS = (8, 16, 32, 64)  # how many elements a vector may have; the last elements may be computed in another way


def tails(size: int) -> list[tuple[int, int]]:
    """Give the widths that vectors may have, and how many elements are left after the last whole vector.

    Parameters
    ----------
    size : int
        How many elements there are.

    Returns
    -------
    list of (int, int)
        Width and elements left. A number of elements left is given once, with the narrowest width. A width is left out
        if no element is left, or if there is not one whole vector.

    Examples
    --------
    >>> from qops.tools.explain.tails import tails
    >>> tails(35), tails(28), tails(64)
    ([(8, 3)], [(8, 4), (16, 12)], [])
    """
    found = {size % width: width for width in reversed(_WIDTHS) if size > width and size % width}
    return sorted((width, left) for left, width in found.items())


def without_tail(dump: Dump) -> Iterator[tuple[str, Dump, Dump]]:
    """Give the elements of whole vectors, and the last elements, which may have been made by another rule.

    Parameters
    ----------
    dump : Dump
        What the device gave.

    Yields
    ------
    (str, Dump, Dump)
        Words for that; the elements of whole vectors; the last ones.
    """
    if dump.kind == "average_pool" or dump.is_by_channel or dump.is_by_element:
        return
    x, y, b = (None if v is None else v.reshape(-1) for v in (dump.x, dump.y, dump.b))
    assert x is not None
    assert y is not None
    plain = dump.but(axis=None)
    for width, left in tails(x.size):
        first, last = slice(None, -left), slice(-left, None)
        body = replace(plain, x=x[first], y=y[first], b=None if b is None else b[first])
        tail = replace(plain, x=x[last], y=y[last], b=None if b is None else b[last])
        yield f"the last {left} made in another way, after vectors of {width}", body, tail
