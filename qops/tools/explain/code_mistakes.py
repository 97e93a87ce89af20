"""Mistakes in zero points, in the sign of bytes and in the clamp."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, floor

import numpy as np

from qops.tools.explain.mistake import Mistake
from qops.tools.explain.op_dump import Dump

__all__ = ["in_clamps", "in_signs", "in_zero_points"]

_SEEN = 4096  # how many results a zero point is read from
_MANY = 8  # how many results it takes to tell an end or a zero point, as fewer may fit by chance


def in_zero_points(dump: Dump) -> Iterator[Mistake]:
    """Give mistakes in zero points: left out, negated, another one, on the wrong side, of several tensors at once."""
    info = np.iinfo(dump.y.dtype)
    for name in ("zero_point", "in_zero_point", "y_zero_point", "a_zero_point", "b_zero_point"):
        zero = dump.numbers.get(name)
        if zero and dump.kind != "average_pool":
            yield Mistake(f"{name} left out", dump.but(**{name: 0}))
            if name == "in_zero_point" or info.min <= -zero <= info.max:
                yield Mistake(f"{name} of the other sign", dump.but(**{name: -zero}))
    name = "y_zero_point" if dump.b is not None else "zero_point"
    zero = dump.numbers.get(name) or 0
    for found in _zero_points_seen(dump):
        if found not in (zero, 0, -zero):
            yield Mistake(f"{name} {found} instead of {zero}", dump.but(**{name: found}))
    if zero and dump.kind == "requantize" and not dump.numbers.get("in_zero_point"):
        yield Mistake("zero_point subtracted from acc", dump.but(zero_point=0, in_zero_point=zero))
    yield from _in_several_zero_points(dump)


def _in_several_zero_points(dump: Dump) -> Iterator[Mistake]:
    """Zero points of several tensors that are wrong at once, as where a port forgets that offsets are negated."""
    if dump.b is None:
        return
    every = ("a_zero_point", "b_zero_point", "y_zero_point")
    for names in (every[:2], every[::2], every[1:], every):
        zeros = {name: dump.numbers[name] for name in names}
        if not all(zeros.values()):
            continue
        several = " and ".join(names)
        yield Mistake(f"{several} left out", dump.but(**dict.fromkeys(names, 0)))
        info = np.iinfo(dump.y.dtype)
        if all(info.min <= -zero <= info.max for zero in zeros.values()):
            yield Mistake(f"{several} of the other sign", dump.but(**{name: -zero for name, zero in zeros.items()}))


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


def in_signs(dump: Dump) -> Iterator[Mistake]:
    """Give codes that are 128 off and bytes read with the other sign: u8 and s8 were mistaken for each other."""
    if dump.y.dtype.itemsize != 1 or dump.kind not in ("requantize", "quantize"):
        return
    other = np.int8 if dump.y.dtype == np.uint8 else np.uint8
    seen = replace(dump, y=(dump.y ^ np.array(128, np.uint8).view(dump.y.dtype)).view(other))
    zero, ends = dump.numbers.get("zero_point") or 0, np.iinfo(other)
    if ends.min <= zero <= ends.max:
        yield Mistake("a sign offset of 128", seen.but(qmin=None, qmax=None))
    own, info = replace(dump, y=dump.y.view(other)), np.iinfo(dump.y.dtype)
    words, by = f"bytes of {np.dtype(other)} read as {dump.y.dtype}", int(ends.min) - int(info.min)
    if ends.min <= zero <= ends.max and dump.ends == (info.min, info.max):
        yield Mistake(words, own.but(qmin=None, qmax=None))
    if dump.kind == "requantize" or "zero_point" in dump.numbers:
        lo, hi = (end + by for end in dump.ends)
        yield Mistake(f"{words}, with the zero point of that type", own.but(zero_point=zero + by, qmin=lo, qmax=hi))


def in_clamps(dump: Dump) -> Iterator[Mistake]:
    """Give clamps of other codes, and none."""
    name = "y_zero_point" if "y_zero_point" in dump.numbers else "zero_point"
    zero, (lo, hi), info = dump.numbers.get(name) or 0, dump.ends, np.iinfo(dump.y.dtype)
    if lo < zero < hi:
        yield Mistake(f"clamped at {name}, a fused ReLU", dump.but(qmin=zero), may_touch_one=True)
    if (lo, hi) != (info.min, info.max):
        yield Mistake("qmin and qmax left out", dump.but(qmin=None, qmax=None), may_touch_one=True)
    if lo == info.min < 0:
        yield Mistake("clamped to a symmetric range", dump.but(qmin=lo + 1), may_touch_one=True)
    least, most = _ends_seen(dump)
    if (least, most) not in ((lo, hi), (zero, hi), (lo + 1, hi)):
        yield Mistake(f"clamped to codes {least} to {most}", dump.but(qmin=least, qmax=most), may_touch_one=True)


def _ends_seen(dump: Dump) -> tuple[int, int]:
    """The lowest and highest result, if many results are on them and many between; else the ends of the codes."""
    (lo, hi), y = dump.ends, dump.y
    least, most = int(y.min()), int(y.max())
    least = lo if np.count_nonzero(y == least) < _MANY else least
    most = hi if np.count_nonzero(y == most) < _MANY else most
    return (least, most) if np.count_nonzero((y > least) & (y < most)) >= _MANY else (lo, hi)
