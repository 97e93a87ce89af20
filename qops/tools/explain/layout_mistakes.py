"""Mistakes in the order of axes and of operands."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from qops.tools.explain.mistake import Mistake
from qops.tools.explain.op_dump import Dump

__all__ = ["in_axes", "in_layouts", "in_operands"]

_LAYOUTS: dict[tuple[int, ...], str] = {  # which axes of x are the axes of y, in their order
    (0, 2, 3, 1): "x is NCHW, y NHWC (or OIHW, OHWI)",
    (0, 3, 1, 2): "x is NHWC, y NCHW (or OHWI, OIHW)",
    (1, 2, 3, 0): "x is OHWI, y HWIO",
    (3, 0, 1, 2): "x is HWIO, y OHWI",
    (2, 3, 1, 0): "x is OIHW, y HWIO",
    (3, 2, 0, 1): "x is HWIO, y OIHW",
}
_MOST_AXES = 4


def in_layouts(dump: Dump, is_moved: bool) -> Iterator[Mistake]:
    """Give other orders of axes in which the result may have been written."""
    x, y = dump.x, dump.y
    if not 2 <= x.ndim <= _MOST_AXES:
        return
    for order in _orders(x.shape):
        shape = tuple(x.shape[i] for i in order)
        if y.shape in (shape, x.shape) or y.ndim != x.ndim:
            words = _LAYOUTS.get(order, f"y has the axes of x in the order {list(order)}")
            back = np.argsort(order)
            if is_moved:
                yield Mistake(words, replace(dump, y=y.reshape(shape).transpose(back)))
            if dump.b is not None and dump.b.shape in (shape, x.shape):
                b = dump.b.reshape(shape).transpose(back)
                yield Mistake(f"of b, {words.replace(', y', ', b')}", replace(dump, b=b))


def _orders(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Orders of the axes that move elements: first the orders with a name; no two move them in the same way."""
    rest = [order for order in permutations(range(len(shape))) if order not in _LAYOUTS]
    named = [order for order in _LAYOUTS if len(order) == len(shape)]
    long = [i for i, n in enumerate(shape) if n > 1]
    seen = {tuple(long)}
    for order in named + rest:
        moved = tuple(i for i in order if i in long)
        if moved not in seen:
            seen.add(moved)
            yield order


def in_operands(dump: Dump) -> Iterator[Mistake]:
    """Give operands of add and mul that were exchanged, or their scales."""
    if dump.b is not None:
        n = dump.numbers
        if "integers" not in n:
            seen = dump.but(a_scale=n["b_scale"], b_scale=n["a_scale"])
        else:  # those of a product are of both operands
            seen = dump.but(integers=(*n["integers"][1::-1], n["integers"][2])) if dump.kind == "add" else dump
        yield Mistake("a and b exchanged", seen.but(a_zero_point=n["b_zero_point"], b_zero_point=n["a_zero_point"]))
        yield Mistake("scales of a and b exchanged", seen)


def in_axes(dump: Dump) -> Iterator[Mistake]:
    """Give other axes that have as many elements as there are scales of channels."""
    if dump.is_by_channel:
        axis = dump.numbers.get("axis", -1) % dump.x.ndim
        channels = dump.x.shape[axis]
        for other in range(dump.x.ndim):
            if other != axis and dump.x.shape[other] == channels:
                yield Mistake(f"scales along axis {other}", dump.but(axis=other))
