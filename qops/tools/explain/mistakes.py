"""Mistakes that people make beside the rounding: for each of them, the dump as it would be without it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from qops.tools.explain.code_mistakes import in_clamps, in_signs, in_zero_points
from qops.tools.explain.layout_mistakes import in_axes, in_layouts, in_operands
from qops.tools.explain.mistake import Mistake
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.pool_mistakes import in_pools
from qops.tools.explain.scale_mistakes import in_biases, in_scales, in_spread_numbers, in_steps

__all__ = ["undone"]


def undone(dump: Dump, is_moved: bool) -> Iterator[Mistake]:
    """Give each mistake, and the dump without it.

    Parameters
    ----------
    dump : Dump
        What the device gave.
    is_moved : bool
        Whether the device may have stored its codes in another order: the sum of its codes is that of the rule's codes.

    Yields
    ------
    Mistake
    """
    if dump.kind == "requantize" and dump.x.dtype == np.int64:  # what int32 does not hold
        yield Mistake("acc not wrapped to 32 bits", replace(dump, x=dump.x.astype(np.int32)), may_touch_one=True)
    if dump.is_by_element:
        yield from in_spread_numbers(dump)
        return
    if dump.kind == "average_pool":
        yield from in_pools(dump)
    yield from in_zero_points(dump)
    yield from in_signs(dump)
    yield from in_clamps(dump)
    yield from in_steps(dump)
    yield from in_scales(dump)
    yield from in_biases(dump)
    if dump.kind != "average_pool":
        yield from in_layouts(dump, is_moved)
    yield from in_operands(dump)
    yield from in_axes(dump)
