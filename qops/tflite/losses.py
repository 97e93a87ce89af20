"""What sums of 8 bits lose before they become codes, on 64-bit ARM: pairs of lowest codes, and bits shifted out.

Cores without dot products add the products of the codes k and k + 8 of a block of 16 in 16 bits (see
`qops.isa.MACHINES`). Twice the product of the two lowest codes, 2 * 128 * 128, becomes -2**15 there: the sum is 2**16
too small. Multiplications that keep the high half shift a sum to the left first if the scale is 1/2 or more; in int32
the shift wraps or saturates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.isa import MACHINES
from qops.tflite import _checks as check
from qops.tflite.arithmetic import quantized, wrap

__all__ = ["Losses", "Lossy", "lefts", "losses"]

NEON = MACHINES["neon"]
BLOCK = NEON.group * NEON.distance


class Losses(NamedTuple):
    """What is lost of the sums of one layer."""

    pairs: NDArray[np.float32] | None
    """1 for each lane and output whose two weights are the lowest code; None if there are none."""
    lanes: NDArray[np.int64]
    """The lanes of `pairs` among those of a window."""
    in_taps: bool
    """Whether lanes hold codes of one tap, without any filling up; else of the whole window."""
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
            codes = _in_lanes(taps(), self.in_taps, check.ends(dtype)[0], zero)
            made = wrap(made - (codes[..., self.lanes] @ self.pairs).astype(np.int64) * 2**16)
        if self.saturates:
            made = np.clip(made, -(1 << 31 - self.left), (1 << 31 - self.left) - 1)
        return (wrap(made << self.left) >> self.left).astype(np.int32)


class Lossy(NamedTuple):
    """What sums of any weights may lose on one kernel: the arguments of `losses`, but for the weights."""

    w_zero: int
    x: tuple[np.dtype[Any], int]
    scale: Any
    left_shift: str
    pairs: str


def lefts(scale: float | NDArray[np.float64]) -> NDArray[np.int64]:
    """Give by how many bits sums are shifted to the left before a product with 31 bits, whose high half is kept.

    Examples
    --------
    >>> from qops.tflite.losses import lefts
    >>> lefts(np.array([0.4, 0.5, 3.0])).tolist()
    [0, 1, 3]
    """
    return np.array([max(quantized(one)[1] + 1, 0) for one in np.ravel(scale).tolist()])


def losses(
    w: NDArray[Any], w_zero: int, x: tuple[np.dtype[Any], int], scale: Any, left_shift: str, pairs: str
) -> Losses | None:
    """Give what a layer with weights (outputs, taps, channels) may lose; None if nothing.

    `left_shift`: "wraps", "saturates", or "" if there is no such shift. `pairs`: those of a "window" or of a "tap", or
    "" if there are none.
    """
    left = np.minimum(lefts(scale), 31) if left_shift else np.zeros(1, np.int64)
    lanes, both = np.zeros(0, np.int64), None
    if pairs:
        lowest = check.ends(w.dtype)[0]
        codes = _in_lanes(w, pairs == "tap", lowest, w_zero)
        lanes = np.flatnonzero(codes.any(0))
        both = np.ascontiguousarray(codes[:, lanes].T) if lanes.size else None
    if both is None and not left.any():
        return None
    return Losses(both, lanes, pairs == "tap", x, left, left_shift == "saturates")


def _in_lanes(codes: NDArray[Any], in_taps: bool, lowest: int, zero: int) -> NDArray[np.float32]:
    """Give 1 for each lane whose two codes are the lowest one, of codes (..., taps, channels)."""
    *first, taps, channels = codes.shape
    rows = codes.reshape((*first, taps, channels) if in_taps else (*first, 1, taps * channels)) == lowest
    lacking = -rows.shape[-1] % BLOCK
    filled = np.full((*rows.shape[:-1], lacking), not in_taps and zero == lowest)
    both = NEON.groups(np.concatenate([rows, filled], -1)).all(-1)
    return both.reshape(*first, both.shape[-1] * both.shape[-2]).astype(np.float32)
