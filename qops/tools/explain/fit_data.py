"""What a fit reads of a dump: for each channel, the first and the last accumulator of each code, which tell all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.rules.fitted import FittedRule, codes_of
from qops.tools.explain.op_dump import Dump

__all__ = ["Falling", "FitData", "channels_of", "parts_of", "scale_seen"]

_SAMPLES = 24, 512, 8192  # points on which a rule is tried before all
_ENOUGH = 1 << 61  # a product that int64 holds
_LEAST = 16  # codes that are not clamped: fewer fit anything


class Falling(ValueError):
    """Codes that fall where the accumulators rise: no rule with a scale above 0 gives them."""


class FitData(NamedTuple):
    """Accumulators in rising order and their codes.

    Attributes
    ----------
    x, y : ndarray of int64
        Accumulators less their zero point, and codes.
    zero_point : int
        Code of real 0.
    ends, own : (int, int)
        What codes are clamped to; the ends of their type.
    """

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    zero_point: int
    ends: tuple[int, int]
    own: tuple[int, int]

    def takes(self, m: int, n: int) -> bool:
        """Whether int64 holds all products."""
        return 0 <= n <= 62 and int(np.abs(self.x).max(initial=0)) * m < _ENOUGH

    def codes(self, rule: FittedRule, m: Any, n: Any) -> NDArray[np.int64]:
        """Give the codes of a rule."""
        return codes_of(rule, self.x, m, n, self.zero_point, self.ends, self.own)

    def gives(self, rule: FittedRule, m: int, n: int) -> bool:
        """Whether a rule gives every code."""
        return self.takes(m, n) and bool((self.codes(rule, m, n) == self.y).all())


def channels_of(dump: Dump) -> list[FitData]:
    """Give the data of each channel that has a scale of its own, or all in one.

    A rule with a scale above 0 never falls, so it gives every code if it gives those of the first and the last
    accumulator of each code.

    Parameters
    ----------
    dump : Dump
        Of kind "requantize".

    Returns
    -------
    list of FitData

    Raises
    ------
    Falling
        Codes fall where accumulators rise.
    """
    info = np.iinfo(dump.y.dtype)
    sums, y = dump.acc, dump.y.reshape(dump.acc.shape)
    zero, own = dump.numbers.get("zero_point") or 0, (int(info.min), int(info.max))
    if dump.is_by_channel:
        axis = dump.numbers.get("axis", -1)
        rows = [np.moveaxis(v, axis, 0).reshape(v.shape[axis], -1) for v in (sums, y)]
    else:
        rows = [v.reshape(1, -1) for v in (sums, y)]
    minus = dump.numbers.get("in_zero_point") or 0
    steps = [_steps(x.astype(np.int64) - minus, codes) for x, codes in zip(*rows, strict=True)]
    return [FitData(x, codes, zero, dump.ends, own) for x, codes in steps]


def _steps(x: NDArray[np.int64], y: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order].astype(np.int64)
    at = np.flatnonzero(np.diff(y))
    falls = (y[at + 1] < y[at]) | (x[at + 1] == x[at])
    if falls.any():
        i = int(at[falls.argmax()])
        raise Falling(f"acc {x[i]} gave {y[i]}, and {x[i + 1]} gave {y[i + 1]}")
    kept = np.unique(np.concatenate([at, at + 1, [0, y.size - 1]])) if y.size else at
    return x[kept], y[kept]


def parts_of(data: FitData) -> list[FitData]:
    """Give smaller and larger parts of the data, and all last; the smallest has codes that are not clamped."""
    is_inside = (data.y > data.ends[0]) & (data.y < data.ends[1])
    found = []
    for most in _SAMPLES:
        if data.x.size > 2 * most:
            at = [_spread(np.flatnonzero(is_inside), most), _spread(np.flatnonzero(~is_inside), most // 8)]
            found.append(data._replace(x=data.x[np.concatenate(at)], y=data.y[np.concatenate(at)]))
    return [*found, data]


def _spread(at: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    return at if at.size <= most else at[np.linspace(0, at.size - 1, most).astype(np.intp)]


def scale_seen(x: NDArray[Any], y: NDArray[Any], zero_point: int) -> float:
    """Give the scale that the codes show which are not clamped.

    Parameters
    ----------
    x, y : ndarray
        Accumulators less their zero point, and codes of as many elements.
    zero_point : int
        Code of real 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Too few codes that are not clamped, or codes that do not rise.
    """
    info = np.iinfo(y.dtype)
    inside = (y > max(info.min, y.min())) & (y < min(info.max, y.max())) & (x.reshape(y.shape) != 0)
    if np.count_nonzero(inside) < _LEAST:
        raise bad_value(
            "scale", f"missing, and {np.count_nonzero(inside)} codes between the ends are too few to see it"
        )
    value = x.reshape(y.shape)[inside].astype(np.float64)
    scale = float((value * (y[inside].astype(np.float64) - zero_point)).sum() / (value * value).sum())
    if scale <= 0:
        raise bad_value("scale", "missing, and the codes do not rise with the accumulators")
    return scale
