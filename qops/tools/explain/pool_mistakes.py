"""Mistakes in average pools: axes in another order, and taps on padding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from qops._kernels.arrays.window import Window
from qops.tools.explain.mistake import Mistake
from qops.tools.explain.op_dump import Dump
from qops.window import padding_of, pair

__all__ = ["in_pools"]


def in_pools(dump: Dump) -> Iterator[Mistake]:
    """Give each mistake, and the dump without it."""
    if dump.x.ndim != 4:
        return
    seen = replace(dump, x=np.ascontiguousarray(dump.x.transpose(0, 2, 3, 1)))
    yield Mistake("x is NCHW, y NHWC", seen)
    if dump.y.ndim == 4:
        yield Mistake("x and y are NCHW", replace(seen, y=dump.y.transpose(0, 2, 3, 1)))
    yield from _paddings(dump)


def _paddings(dump: Dump) -> Iterator[Mistake]:
    """Taps on padding that were counted, or not, or read as another code than that of real 0."""
    n = dump.numbers
    sides = padding_of(n.get("padding", "valid"))
    if isinstance(sides, str):
        sides = Window.named(sides, dump.x.shape[1:3], n["kernel"], pair(n.get("stride", 1), "stride", 1)).padding
    if not np.any(sides):
        return
    for counts, words in ((True, "taps on padding counted"), (False, "taps on padding not counted")):
        if n.get("count_padding") is not counts:
            yield Mistake(words, dump.but(count_padding=counts))
    if n["zero_point"]:
        padded = np.pad(dump.x, ((0, 0), *sides, (0, 0)))
        whole = replace(dump.but(padding=0, count_padding=None), x=padded)
        yield Mistake("padded with code 0 instead of the zero point", whole)
