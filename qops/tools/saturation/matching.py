"""Channels in pairs: a matching in the graph of channels that fit beside each other."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pairs_of"]

_MOST = 200
"""Channels for which the largest matching is looked for; beyond, it takes long."""


def pairs_of(fits: NDArray[np.bool_], first: NDArray[np.intp]) -> list[int]:
    """Give the channels in pairs of which both fit one lane, -1 beside each that is left over.

    With networkx, and up to 200 channels, as few as possible are left over; else each channel, the largest first, takes
    the smallest that fits.

    Parameters
    ----------
    fits : ndarray of bool, (channels, channels)
        Which two channels fit one lane.
    first : ndarray of integers, (channels,)
        The channels, the largest first.

    Returns
    -------
    list of int
        At most twice as many as there are channels.

    Examples
    --------
    >>> from qops.tools.saturation.matching import pairs_of
    >>> fits = np.zeros((3, 3), bool)
    >>> fits[0, 2] = fits[2, 0] = True
    >>> pairs_of(fits, np.arange(3))
    [0, 2, 1, -1]
    """
    partner = _greedy(fits, first)
    if -1 in partner.values() and len(first) <= _MOST:
        partner = _largest(fits) or partner
    order: list[int] = []
    for channel in first.tolist():
        if channel not in order:
            order += [channel, partner.get(channel, -1)]
    return order


def _greedy(fits: NDArray[np.bool_], first: NDArray[np.intp]) -> dict[int, int]:
    left: list[int] = first.tolist()
    partner: dict[int, int] = {}
    while left:
        channel, *left = left
        place = next((i for i in range(len(left) - 1, -1, -1) if fits[channel, left[i]]), None)
        other = -1 if place is None else left.pop(place)
        partner |= {channel: other, other: channel} if other >= 0 else {channel: -1}
    return partner


def _largest(fits: NDArray[np.bool_]) -> dict[int, int] | None:
    """Give a largest matching; None without networkx."""
    try:
        networkx: Any = import_module("networkx")
    except ImportError:
        return None
    graph = networkx.Graph()
    graph.add_edges_from((int(a), int(b)) for a, b in np.argwhere(np.triu(fits, 1)))
    found = networkx.max_weight_matching(graph, maxcardinality=True)
    return {int(a): int(b) for pair in found for a, b in (pair, pair[::-1])}
