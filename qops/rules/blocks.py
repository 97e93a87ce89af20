"""Tails of `qops.rules.requantize`: the last elements, or channels, that do not fill a block go by another rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.rules.numbers import Numbers
from qops.rules.table import TABLE, BlockRule

__all__ = ["Tail"]


class Tail:
    """What computes the tail of an array by the rule of a `BlockRule`, with the numbers of the whole blocks."""

    __slots__ = ("_blocks", "_stage")

    def __init__(self, blocks: BlockRule, numbers: Numbers):
        channels, steps = numbers.channels, numbers.steps
        if channels is not None and blocks.of == "elements":
            raise ValueError(f"scale, integers, scales: blocks of {blocks.size} elements have one, got {channels}")
        rest = (channels or 0) % blocks.size
        if rest:
            steps = tuple(x[-rest:] for x in steps) if numbers.has_integers else steps[-rest:]
        self._blocks = blocks
        own = Numbers(TABLE[blocks.tail], steps, numbers.zero_point, numbers.lo, numbers.hi)
        self._stage: Any = own.stage() if channels is None or rest else None

    def run(self, x: NDArray[Any], codes: NDArray[Any], axis: int, inner: int) -> None:
        """Set the codes of the tail of accumulators x, along an axis if the blocks are of channels."""
        if self._blocks.of == "elements":
            rest = x.size % self._blocks.size
            if rest:
                codes.flat[-rest:] = self._codes(x.reshape(-1)[-rest:], codes.dtype, 1)
        elif x.ndim and x.shape[axis] % self._blocks.size:
            last = np.s_[..., -(x.shape[axis] % self._blocks.size) :]
            part = np.moveaxis(np.moveaxis(x, axis, -1)[last], -1, axis)
            np.moveaxis(codes, axis, -1)[last] = np.moveaxis(self._codes(part, codes.dtype, inner), axis, -1)

    def _codes(self, x: NDArray[Any], dtype: np.dtype[Any], inner: int) -> NDArray[Any]:
        made = np.empty(x.shape, dtype)
        self._stage.run(np.ascontiguousarray(x), made, inner)
        return made
