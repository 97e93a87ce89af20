"""Mistakes that people make beside the rounding: for each of them, the dump as it would be without it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from math import ceil, floor
from typing import Any

import numpy as np

from qops.tools.explain.op_dump import Dump
from qops.tools.explain.pool_mistakes import of_pools

__all__ = ["may_touch_one", "tails", "undone", "without_tail"]

_LAYOUTS: dict[tuple[int, ...], str] = {  # which axes of x are the axes of y, in their order
    (0, 2, 3, 1): "x is NCHW, y NHWC (or OIHW, OHWI)",
    (0, 3, 1, 2): "x is NHWC, y NCHW (or OHWI, OIHW)",
    (1, 2, 3, 0): "x is OHWI, y HWIO",
    (3, 0, 1, 2): "x is HWIO, y OHWI",
    (2, 3, 1, 0): "x is OIHW, y HWIO",
    (3, 2, 0, 1): "x is HWIO, y OIHW",
}
_STEPS = {  # (given, meant): how many code steps the largest value, or the whole range, was divided into
    (127.0, 127.5): "of 127 steps instead of 127.5",
    (127.5, 127.0): "of 127.5 steps instead of 127",
    (127.0, 128.0): "of 127 steps instead of 128",
    (128.0, 127.0): "of 128 steps instead of 127",
    (255.0, 256.0): "of 255 steps instead of 256, or of 127.5 instead of 128",
    (256.0, 255.0): "of 256 steps instead of 255, or of 128 instead of 127.5",
}
_MOST_AXES = 4
_WIDTHS = (8, 16, 32, 64)  # how many elements a vector may have; the last elements may be computed in another way
_SEEN = 4096  # how many results a zero point is read from
_MANY = 8  # how many results it takes to tell an end or a zero point, as fewer may fit by chance


def undone(dump: Dump, is_moved: bool) -> Iterator[tuple[str, Dump]]:
    """Give each mistake, and the dump without it.

    Parameters
    ----------
    dump : Dump
        What the device gave.
    is_moved : bool
        Whether the device may have stored its codes in another order: the sum of its codes is that of the rule's codes.

    Yields
    ------
    (str, Dump)
    """
    if dump.kind == "requantize" and dump.x.dtype == np.int64:  # what int32 does not hold
        yield "acc not wrapped to 32 bits", replace(dump, x=dump.x.astype(np.int32))
    if dump.is_by_element:
        yield from _of_spread_numbers(dump)
        return
    if dump.kind == "average_pool":
        yield from of_pools(dump)
    yield from _zero_points(dump)
    yield from _several_zero_points(dump)
    yield from _signs(dump)
    yield from _clamps(dump)
    yield from _other_steps(dump)
    yield from _other_factors(dump)
    yield from _biases(dump)
    if dump.kind != "average_pool":
        yield from _layouts(dump, is_moved)
    yield from _operands(dump)
    yield from _axes(dump)


def may_touch_one(words: str) -> bool:
    """Whether a mistake may well change one integer alone; one integer shows no other mistake.

    Parameters
    ----------
    words : str
        What `undone` says of it.

    Returns
    -------
    bool
    """
    return words.startswith(("clamped", "qmin and qmax left out", "acc not wrapped"))


def _of_spread_numbers(dump: Dump) -> Iterator[tuple[str, Dump]]:
    """Mistakes of a quantizer whose channels, rows or blocks have scales, or zero points, of their own."""
    scale, zero = (np.asarray(dump.numbers[name]) for name in ("scale", "zero_point"))
    info = np.iinfo(dump.y.dtype)
    if zero.any():
        yield "zero_point left out", dump.but(zero_point=0)
        if info.min <= -zero.max() and -zero.min() <= info.max:
            yield "zero_point of the other sign", dump.but(zero_point=-zero)
    if scale.ndim:
        for of, words in (
            (scale[0], "that of the first"),
            (scale.max(), "the largest"),
            (scale[-1], "that of the last"),
        ):
            yield f"one scale for all: {words}", dump.but(scale=float(of))
        yield "scales in reverse order", dump.but(scale=scale[::-1])
    yield from _other_steps(dump)


def _zero_points(dump: Dump) -> Iterator[tuple[str, Dump]]:
    info = np.iinfo(dump.y.dtype)
    for name in ("zero_point", "in_zero_point", "y_zero_point", "a_zero_point", "b_zero_point"):
        zero = dump.numbers.get(name)
        if zero and dump.kind != "average_pool":
            yield f"{name} left out", dump.but(**{name: 0})
            if name == "in_zero_point" or info.min <= -zero <= info.max:
                yield f"{name} of the other sign", dump.but(**{name: -zero})
    name = "y_zero_point" if dump.b is not None else "zero_point"
    zero = dump.numbers.get(name) or 0
    for found in _zero_points_seen(dump):
        if found not in (zero, 0, -zero):
            yield f"{name} {found} instead of {zero}", dump.but(**{name: found})
    if zero and dump.kind == "requantize" and not dump.numbers.get("in_zero_point"):
        yield "zero_point subtracted from acc", dump.but(zero_point=0, in_zero_point=zero)


def _several_zero_points(dump: Dump) -> Iterator[tuple[str, Dump]]:
    """Zero points of several tensors that are wrong at once, as where a port forgets that offsets are negated."""
    if dump.b is None:
        return
    every = ("a_zero_point", "b_zero_point", "y_zero_point")
    for names in (every[:2], every[::2], every[1:], every):
        zeros = {name: dump.numbers[name] for name in names}
        if not all(zeros.values()):
            continue
        several = " and ".join(names)
        yield f"{several} left out", dump.but(**dict.fromkeys(names, 0))
        info = np.iinfo(dump.y.dtype)
        if all(info.min <= -zero <= info.max for zero in zeros.values()):
            yield f"{several} of the other sign", dump.but(**{name: -zero for name, zero in zeros.items()})


def _zero_points_seen(dump: Dump) -> list[int]:
    """The zero points that results near 0 show: one, or the two next to it where all were rounded to one side."""
    y, (lo, hi) = dump.y.reshape(-1).astype(np.int64), dump.ends
    where = np.flatnonzero((y > lo) & (y < hi))[:_SEEN]
    real = dump.real(where) if where.size >= _MANY and dump.x.size == dump.y.size else None
    if real is None or not np.isfinite(real).all():
        return []
    nearest = np.argsort(np.abs(real), kind="stable")[:_MANY]
    zero = float(np.median(y[where][nearest] - real[nearest]))
    return [z for z in sorted({floor(zero), ceil(zero)}) if lo <= z <= hi]


def _signs(dump: Dump) -> Iterator[tuple[str, Dump]]:
    """Codes that are 128 off, or bytes read with the other sign, because u8 and s8 were mistaken for each other."""
    if dump.y.dtype.itemsize != 1 or dump.kind not in ("requantize", "quantize"):
        return
    other = np.int8 if dump.y.dtype == np.uint8 else np.uint8
    seen = replace(dump, y=(dump.y ^ np.array(128, np.uint8).view(dump.y.dtype)).view(other))
    zero, ends = dump.numbers.get("zero_point") or 0, np.iinfo(other)
    if ends.min <= zero <= ends.max:
        yield "a sign offset of 128", seen.but(qmin=None, qmax=None)
    own, info = replace(dump, y=dump.y.view(other)), np.iinfo(dump.y.dtype)
    words, by = f"bytes of {np.dtype(other)} read as {dump.y.dtype}", int(ends.min) - int(info.min)
    if ends.min <= zero <= ends.max and dump.ends == (info.min, info.max):
        yield words, own.but(qmin=None, qmax=None)
    if dump.kind == "requantize" or "zero_point" in dump.numbers:
        lo, hi = (end + by for end in dump.ends)
        yield f"{words}, with the zero point of that type", own.but(zero_point=zero + by, qmin=lo, qmax=hi)


def _clamps(dump: Dump) -> Iterator[tuple[str, Dump]]:
    name = "y_zero_point" if "y_zero_point" in dump.numbers else "zero_point"
    zero, (lo, hi), info = dump.numbers.get(name) or 0, dump.ends, np.iinfo(dump.y.dtype)
    if lo < zero < hi:
        yield f"clamped at {name}, a fused ReLU", dump.but(qmin=zero)
    if (lo, hi) != (info.min, info.max):
        yield "qmin and qmax left out", dump.but(qmin=None, qmax=None)
    if lo == info.min < 0:
        yield "clamped to a symmetric range", dump.but(qmin=lo + 1)
    least, most = _ends_seen(dump)
    if (least, most) not in ((lo, hi), (zero, hi), (lo + 1, hi)):
        yield f"clamped to codes {least} to {most}", dump.but(qmin=least, qmax=most)


def _ends_seen(dump: Dump) -> tuple[int, int]:
    """The lowest and highest result, if many results are on them and many between; else the ends of the codes."""
    (lo, hi), y = dump.ends, dump.y
    least, most = int(y.min()), int(y.max())
    least = lo if np.count_nonzero(y == least) < _MANY else least
    most = hi if np.count_nonzero(y == most) < _MANY else most
    return (least, most) if np.count_nonzero((y > least) & (y < most)) >= _MANY else (lo, hi)


def _other_steps(dump: Dump) -> Iterator[tuple[str, Dump]]:
    """Scales that were made with another number of steps in a range: 127, 127.5, 128, 255 or 256."""
    if dump.kind not in ("requantize", "quantize"):
        return
    name = "scale" if dump.numbers.get("scale") is not None else "w_scale"
    if dump.numbers.get(name) is not None:
        for (given, meant), words in _STEPS.items():
            yield f"{name} {words}", dump.but(**{name: dump.numbers[name] * given / meant})


def _other_factors(dump: Dump) -> Iterator[tuple[str, Dump]]:
    """Shifts that are off by one, scales of channels in another order, one scale for all channels, exchanged scales."""
    n = dump.numbers
    if "integers" in n and dump.kind in ("requantize", "mul", "add"):
        *multipliers, right_shift = n["integers"]
        if np.ndim(right_shift) == 0 or dump.kind == "requantize":
            for by, words in ((1, "large"), (-1, "small")):
                yield f"right shift too {words} by one", dump.but(integers=(*multipliers, _added(right_shift, by)))
        return
    names = [name for name in ("out_scale", "scale", "y_scale") if n.get(name) is not None]
    if names and dump.kind != "average_pool":
        name = names[0]
        for times, words in ((2.0, "large"), (0.5, "small")):
            factor = 1 / times if name == "scale" and dump.kind == "requantize" else times
            yield f"right shift too {words} by one", dump.but(**{name: n[name] * factor})
    if dump.is_by_channel:
        yield from _of_channels(dump)
    if "out_scale" in n and np.ndim(n["w_scale"]) == 0:
        yield "in_scale left out", dump.but(in_scale=1.0)
        yield "w_scale left out", dump.but(w_scale=1.0)
        yield "out_scale left out", dump.but(out_scale=1.0)


def _added(right_shift: Any, by: int) -> Any:
    return right_shift + by if np.ndim(right_shift) else int(right_shift) + by


def _of_channels(dump: Dump) -> Iterator[tuple[str, Dump]]:
    """One scale for all channels, or scales in another order."""
    name = "scale" if np.ndim(dump.numbers.get("scale", 0)) else "w_scale"
    scale = np.asarray(dump.numbers[name], np.float64)
    if scale.size < 2 or np.ptp(scale) == 0:
        return
    chosen = {"that of the first": scale[0], "that of the last": scale[-1], "the largest": scale.max()}
    for words, one in {**chosen, "the smallest": scale.min(), "their mean": scale.mean()}.items():
        yield f"one scale for all channels: {words}", dump.but(**{name: np.full_like(scale, one)})
    for by, which in ((1, "before"), (-1, "after")):
        words = f"scales of channels shifted by one: each channel has that of the channel {which}"
        yield words, dump.but(**{name: np.roll(scale, by)})
    yield "scales of channels in reverse order", dump.but(**{name: scale[::-1].copy()})


def _biases(dump: Dump) -> Iterator[tuple[str, Dump]]:
    """A real bias that was left out, added twice or subtracted."""
    if "bias" in dump.numbers:
        bias = np.asarray(dump.numbers["bias"], np.float64)
        for factor, words in ((0, "bias left out"), (2, "bias added twice"), (-1, "bias subtracted")):
            other = bias * factor
            yield words, dump.but(bias=other if other.ndim else float(other))


def _layouts(dump: Dump, is_moved: bool) -> Iterator[tuple[str, Dump]]:
    """The result with the axes in the order of the input, for each other order in which it may have been written."""
    x, y = dump.x, dump.y
    if not 2 <= x.ndim <= _MOST_AXES:
        return
    for order in _orders(x.shape):
        shape = tuple(x.shape[i] for i in order)
        if y.shape in (shape, x.shape) or y.ndim != x.ndim:
            words = _LAYOUTS.get(order, f"y has the axes of x in the order {list(order)}")
            back = np.argsort(order)
            if is_moved:
                yield words, replace(dump, y=y.reshape(shape).transpose(back))
            if dump.b is not None and dump.b.shape in (shape, x.shape):
                yield f"of b, {words.replace(', y', ', b')}", replace(dump, b=dump.b.reshape(shape).transpose(back))


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


def _operands(dump: Dump) -> Iterator[tuple[str, Dump]]:
    if dump.b is not None:
        n = dump.numbers
        if "integers" not in n:
            seen = dump.but(a_scale=n["b_scale"], b_scale=n["a_scale"])
        else:  # those of a product are of both operands
            seen = dump.but(integers=(*n["integers"][1::-1], n["integers"][2])) if dump.kind == "add" else dump
        yield "a and b exchanged", seen.but(a_zero_point=n["b_zero_point"], b_zero_point=n["a_zero_point"])
        yield "scales of a and b exchanged", seen


def _axes(dump: Dump) -> Iterator[tuple[str, Dump]]:
    if dump.is_by_channel:
        axis = dump.numbers.get("axis", -1) % dump.x.ndim
        channels = dump.x.shape[axis]
        for other in range(dump.x.ndim):
            if other != axis and dump.x.shape[other] == channels:
                yield f"scales along axis {other}", dump.but(axis=other)


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
    >>> from qops.tools.explain.mistakes import tails
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
