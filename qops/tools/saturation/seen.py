"""What data do to the lanes of a layer: how often they are left, how far sums move, and which codes that changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.lanes.route import Route
from qops.models.lanes.sums import Sums

__all__ = ["Found", "Seen", "measured"]

_BLOCK = 2**22
"""Products that are held at a time."""


class Seen(NamedTuple):
    """What data did to a layer.

    Attributes
    ----------
    lanes : int
        How often a lane was left.
    per_channel : ndarray of int64, (outputs,)
        How often a lane was left in each output channel.
    sums, wrong : int
        How many sums there were, and how many of them are not exact.
    largest : int
        The largest loss of one sum.
    mean : float
        The mean loss of all sums, without sign.
    lowest, highest : int
        The ends of what the accumulator had to hold, the bias included.
    overflows : int
        How many of these did not fit the accumulator.
    codes : int or None
        How many codes of the result differ for the same input; None where the result has no codes, or is not known.
    code : int or None
        The largest of these differences.
    mean_code : float or None
        Their mean over all codes of the result.
    """

    lanes: int
    per_channel: NDArray[np.int64]
    sums: int
    wrong: int
    largest: int
    mean: float
    lowest: int
    highest: int
    overflows: int
    codes: int | None = None
    code: int | None = None
    mean_code: float | None = None


class Found(NamedTuple):
    """Sums of products and what each loses: (groups, sums of a channel, outputs of a group)."""

    acc: NDArray[np.int64]
    lost: NDArray[np.int64]
    seen: Seen


def measured(sums: Sums, how: Route, unsafe: NDArray[np.bool_], x: NDArray[Any], has: int) -> Found:
    """Run the lanes of a layer on data.

    Parameters
    ----------
    sums : Sums
        The layer.
    how : Route
        How it runs.
    unsafe : ndarray of bool, (outputs, lanes)
        The groups of products that can leave their lane; no others are looked at.
    x : ndarray
        Codes of its data.
    has : int
        The bits of the accumulator.

    Returns
    -------
    Found
    """
    rows, (groups, outputs) = sums.rows(x), sums.weights.shape[:2]
    there = sums.rows(x, 0) if how.is_padding_outside else rows
    w = how.laid(sums.weights, sums, how.w_shift)
    lost = np.zeros((groups, rows.shape[1], outputs), np.int64)
    counts = np.zeros((groups, outputs), np.int64)
    acc = np.empty_like(lost)
    each = max(1, _BLOCK // max(1, w.shape[-1]))
    can = unsafe.reshape(groups, outputs, -1)
    zeros = np.broadcast_to(np.asarray(sums.w_zero), groups * outputs).reshape(groups, outputs, 1, 1)
    centred = sums.weights.astype(np.float64) - zeros
    for g in range(groups):
        flat = centred[g].reshape(outputs, -1)
        for first in range(0, rows.shape[1], each):
            part = rows[g, first : first + each]
            here = slice(first, first + len(part))
            values = part.reshape(len(part), -1).astype(np.float64) - sums.x_zero
            acc[g, here] = np.rint(values @ flat.T).astype(np.int64)
            if can[g].any():
                counts[g] += _into(lost[g, here], how.laid(there[g, here], sums, how.x_shift), w[g], can[g], how)
    if sums.bias is not None:
        acc = acc + np.broadcast_to(np.asarray(sums.bias).reshape(-1), outputs * groups).reshape(groups, 1, outputs)
    half = 1 << has - 1
    seen = Seen(
        *(int(counts.sum()), counts.ravel(), lost.size, int(np.count_nonzero(lost))),
        *(int(np.abs(lost).max(initial=0)), float(np.abs(lost).mean()) if lost.size else 0.0),
        *((int(acc.min()), int(acc.max())) if acc.size else (0, 0)),
        int(np.count_nonzero((acc < -half) | (acc >= half))),
    )
    return Found(acc, lost, seen)


def _into(
    lost: NDArray[np.int64], x: NDArray[np.int64], w: NDArray[np.int64], unsafe: NDArray[np.bool_], how: Route
) -> NDArray[np.int64]:
    """Add to `lost`, (rows, outputs), what each sum loses, and give how often lanes of each output are left."""
    machine, counts = how.machine, np.zeros(len(w), np.int64)
    if machine.bits == machine.acc_bits:
        return _whole(lost, x, w, how)
    a, b = machine.groups(x), machine.groups(w)
    for lane in np.flatnonzero(unsafe.any(axis=0)):
        at = np.flatnonzero(unsafe[:, lane])
        exact = np.rint(a[:, lane].astype(np.float64) @ b[at, lane].T.astype(np.float64)).astype(np.int64)
        kept = machine.kept(exact)
        if machine.magnitudes:
            kept = machine.kept(machine.products(a[:, None, lane], b[None, at, lane]).sum(-1))
        gone = exact - kept
        counts[at] += np.count_nonzero(gone, axis=0)
        lost[:, at] += gone
    return counts


def _whole(lost: NDArray[np.int64], x: NDArray[np.int64], w: NDArray[np.int64], how: Route) -> NDArray[np.int64]:
    """Add up losses where the accumulator is its own lane: one sum at a time, as the machine adds it."""
    machine, counts = how.machine, np.zeros(len(w), np.int64)
    for o, row in enumerate(w):
        lanes = machine.groups(machine.products(x, row)).sum(-1)
        acc = np.zeros(len(x), np.int64)
        for i in range(lanes.shape[-1]):
            acc = machine.kept(acc + lanes[:, i])
        gone = lanes.sum(-1) - acc
        counts[o] += np.count_nonzero(gone)
        lost[:, o] += gone
    return counts
