"""Where two arrays differ, in words: one channel, the last elements of rows, the border of an image, every 8th."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["where"]

_MOST_ALIKE = 3  # indices that a sentence names one by one
_FEW = 64  # the longest period that is looked for
_LEAST = 6  # differences that a pattern needs: fewer lie anywhere by chance


def where(got: NDArray[Any], wanted: NDArray[Any], names: Mapping[int, str] | None = None) -> list[str]:
    """Say where two arrays differ: what all differences have in common, and nothing else has.

    Parameters
    ----------
    got, wanted : ndarray
        Arrays of one shape.
    names : mapping of int to str, optional
        What an index of an axis is called, such as ``{3: "channel"}``; else it is an index of axis 3.

    Returns
    -------
    list of str
        Sentences without their full stop; empty where the differences are spread over everything, or are none.

    Examples
    --------
    >>> from qops.tools.where import where
    >>> wanted = np.zeros((4, 6), np.int8)
    >>> got = wanted.copy()
    >>> got[:, 2] = 1
    >>> where(got, wanted, {1: "channel"})
    ['only channel 2, and all of it', 'each is 1 more']
    """
    differs = np.asarray(got != wanted)
    count = int(np.count_nonzero(differs))
    if not count:
        return []
    return [*_regions(differs, count, names or {}), *_offset(got[differs], wanted[differs])]


def _regions(differs: NDArray[np.bool_], count: int, names: Mapping[int, str]) -> list[str]:
    """Name the indices of each axis to which the differences are confined; of flat data, a tail or a period."""
    if count == differs.size:
        return ["everywhere"]
    said = []
    confined = np.ones_like(differs)
    for axis, length in enumerate(differs.shape):
        rest = tuple(i for i in range(differs.ndim) if i != axis)
        here = np.flatnonzero(differs.any(axis=rest))
        text = _indices(here, length, _label(axis, differs.ndim, names))
        if text and (count >= _LEAST or len(here) == 1):
            said.append(text)
            within = np.zeros(length, np.bool_)
            within[here] = True
            confined &= within.reshape([-1 if i == axis else 1 for i in range(differs.ndim)])
    if not said:
        return _flat(differs.reshape(-1), count)
    region = int(np.count_nonzero(confined))
    share = "all of it" if region == count else f"{count} of its {region} elements"
    return [f"only {' and '.join(said)}, and {share}" if region == count else f"only {' and '.join(said)}: {share}"]


class _Label(NamedTuple):
    """What an index of an axis is called: one, several, and what follows the number."""

    one: str
    several: str
    behind: str = ""


def _label(axis: int, ndim: int, names: Mapping[int, str]) -> _Label:
    if axis in names:
        return _Label(names[axis], f"{names[axis]}s")
    return _Label("element", "elements") if ndim == 1 else _Label("index", "indices", f" of axis {axis}")


def _indices(here: NDArray[np.intp], length: int, label: _Label) -> str:
    """Describe the indices of an axis where something differs; "" if they are all, or have no form."""
    count = len(here)
    if count == length or length < 2:
        return ""
    one, several, behind = label
    first, last = here[0], here[-1]
    if count == 1:
        return f"{one} {first}{behind}" + (", the last one" if first == length - 1 and length > 2 else "")
    if last - first == count - 1:
        end = f", the last {count}" if last == length - 1 else f", the first {count}" if first == 0 else ""
        return f"{several} {first} to {last}{behind}{end}"
    step = int(here[1] - first)
    if count > 2 and (np.diff(here) == step).all() and first < step and last + step >= length:
        return f"every {_ordinal(step)} {one}{behind} from {first} on"
    if count == 2 and (first, last) == (0, length - 1):
        return f"{several} 0 and {last}{behind}, the border"
    return f"{several} {', '.join(map(str, here))}{behind}" if count <= _MOST_ALIKE and count * 4 <= length else ""


def _ordinal(n: int) -> str:
    """Spell 2 as 2nd."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def _flat(differs: NDArray[np.bool_], count: int) -> list[str]:
    """Describe the places of differences in memory order: behind some place, or with a period."""
    here = np.flatnonzero(differs)
    if count < _LEAST:
        return []
    if here[0] * 2 >= differs.size:
        return [f"only from element {here[0]} of {differs.size} on, in the order of memory"]
    if here[-1] * 2 < differs.size:
        return [f"only up to element {here[-1]} of {differs.size}, in the order of memory"]
    steps = np.diff(here)
    period = int(np.gcd.reduce(steps))
    if 1 < period <= _FEW:
        return [f"only every {_ordinal(period)} element from {here[0]} on, in the order of memory"]
    return []


def _offset(got: NDArray[Any], wanted: NDArray[Any]) -> list[str]:
    """Say by how much all differ, if they differ by the same."""
    if got.dtype.kind not in "iu" or len(got) < 2:
        return []
    off = got.astype(np.int64) - wanted.astype(np.int64)
    if not (off == off[0]).all():
        return []
    return [f"each is {abs(off[0])} {'more' if off[0] > 0 else 'less'}"]
