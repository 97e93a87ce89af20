"""What sums of 8 bits lose before they become codes, on 64-bit ARM: pairs of lowest codes, and bits shifted out.

Cores without dot products add the products of the codes k and k + 8 of a block of 16 in 16 bits (see
`qops.isa.MACHINES`). Twice the product of the two lowest codes, 2 * 128 * 128, becomes -2**15 there: the sum is 2**16
too small. The LSTM does so on all cores, in whole blocks; so do XNNPACK's depthwise kernels, with two taps that follow
each other in a column of the window. Multiplications that keep the high half shift a sum to the left first if the scale
is 1/2 or more; in int32 the shift wraps or saturates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.isa import MACHINES
from qops.tflite import _checks as check
from qops.tflite.arithmetic import quantized, wrap

__all__ = ["MOST_TAPS", "Losses", "Lossy", "lefts", "losses", "unsafe_pairs"]

NEON = MACHINES["neon"]
BLOCK = NEON.group * NEON.distance
MOST_TAPS = 25
"""Of the depthwise kernels of XNNPACK; convolutions of more taps have another kernel."""


class LanePairs(NamedTuple):
    """Which two codes under a window share a lane of 16 bits."""

    pairs: str
    """"window": k and k + 8 of its codes; "tap": of the codes of a tap; "whole": of those in whole blocks of 16 alone;
    "column": two taps, down its columns."""
    kernel: tuple[int, int] = (1, 1)
    """Height and width of the window."""


class Losses(NamedTuple):
    """What is lost of the sums of one layer."""

    pairs: NDArray[np.float32] | None
    """1 for each group, lane and output whose two weights are the lowest code; None if there are none."""
    lanes: NDArray[np.int64]
    """The lanes of `pairs` among those of a window."""
    form: LanePairs
    """Which codes share a lane."""
    x: tuple[np.dtype[Any], int]
    """The type of the data, and its zero point, which fills up the last block of a window."""
    left: NDArray[np.int64]
    """By how many bits the sums of each output, or of all, are shifted to the left."""
    saturates: bool
    """Whether that shift saturates; else it wraps."""

    def of(self, sums: NDArray[Any], taps: Callable[[], NDArray[Any]]) -> NDArray[np.int32]:
        """Give what is left of sums (..., outputs); `taps` gives the codes that they are of, (..., taps, channels)."""
        made = wrap(sums)
        if self.pairs is not None:
            dtype, zero = self.x
            found = taps()
            each = found.reshape(*found.shape[:-1], len(self.pairs), -1).swapaxes(-2, -3)
            codes = _in_lanes(each, self.form, check.ends(dtype)[0], zero)
            counts = codes[..., np.newaxis, self.lanes] @ self.pairs
            made = wrap(made - counts.reshape(made.shape).astype(np.int64) * 2**16)
        if self.saturates:
            made = np.clip(made, -(1 << 31 - self.left), (1 << 31 - self.left) - 1)
        return (wrap(made << self.left) >> self.left).astype(np.int32)


class Lossy(NamedTuple):
    """What sums of any weights may lose on one kernel: the arguments of `losses`, but for the weights."""

    w_zero: int
    x: tuple[np.dtype[Any], int]
    scale: Any
    left_shift: str
    form: LanePairs
    groups: int = 1


def lefts(scale: float | NDArray[np.float64]) -> NDArray[np.int64]:
    """Give by how many bits sums are shifted to the left before a product with 31 bits, whose high half is kept.

    Examples
    --------
    >>> from qops.tflite.losses import lefts
    >>> lefts(np.array([0.4, 0.5, 3.0])).tolist()
    [0, 1, 3]
    """
    return np.array([max(quantized(one)[1] + 1, 0) for one in np.ravel(scale).tolist()])


def losses(w: NDArray[Any], how: Lossy) -> Losses | None:
    """Give what a layer with weights (outputs, taps, channels of a group) may lose; None if nothing.

    Of `how`, `left_shift` is "wraps", "saturates", or "" if there is no such shift; `form.pairs` is "" if there are
    none.
    """
    w_zero, x, scale, left_shift, form, groups = how
    left = np.minimum(lefts(scale), 31) if left_shift else np.zeros(1, np.int64)
    lanes, both = np.zeros(0, np.int64), None
    if form.pairs:
        lowest = check.ends(w.dtype)[0]
        codes = _in_lanes(w, form, lowest, w_zero)
        lanes = np.flatnonzero(codes.any(0))
        of_groups = codes[:, lanes].reshape(groups, len(w) // groups, len(lanes))
        both = np.ascontiguousarray(of_groups.swapaxes(1, 2)) if lanes.size else None
    if both is None and not left.any():
        return None
    return Losses(both, lanes, form, x, left, left_shift == "saturates")


def unsafe_pairs(found: Losses | None, shape: tuple[int, ...], pairs: str) -> tuple[int, int]:
    """Count the pairs of weights of the lowest code, and all pairs, of weights of this shape.

    Parameters
    ----------
    found : Losses or None
        What `losses` gives of the weights.
    shape : tuple of int
        Theirs, (outputs, taps, channels of a group).
    pairs : str
        "tap" or "whole", as of `LanePairs`.

    Returns
    -------
    (int, int)
    """
    outputs, taps, channels = shape
    blocks = channels // BLOCK if pairs == "whole" else -(-channels // BLOCK)
    count = 0 if found is None or found.pairs is None else int(found.pairs.sum())
    return count, outputs * taps * blocks * NEON.distance


def _in_lanes(codes: NDArray[Any], form: LanePairs, lowest: int, zero: int) -> NDArray[np.float32]:
    """Give 1 for each lane whose two codes are the lowest one, of codes (..., taps, channels)."""
    *first, taps, channels = codes.shape
    in_taps = form.pairs == "tap"
    if form.pairs == "column":
        down = (codes == lowest).reshape(*first, *form.kernel).swapaxes(-1, -2).reshape(*first, taps)
        last = taps // 2 * 2  # the last one of an odd number is alone
        return (down[..., 0:last:2] & down[..., 1:last:2]).astype(np.float32)
    if form.pairs == "whole":
        codes = codes[..., : channels // BLOCK * BLOCK]
        channels, in_taps = codes.shape[-1], True
    rows = codes.reshape((*first, taps, channels) if in_taps else (*first, 1, taps * channels)) == lowest
    lacking = -rows.shape[-1] % BLOCK
    filled = np.full((*rows.shape[:-1], lacking), not in_taps and zero == lowest)
    both = NEON.groups(np.concatenate([rows, filled], -1)).all(-1)
    return both.reshape(*first, both.shape[-1] * both.shape[-2]).astype(np.float32)
