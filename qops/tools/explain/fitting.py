"""Fits a rule by its parts to integers that no rule of a table gives: bits, shifts, roundings, zero point, clamps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.rules.fitted import FittedRule, codes_of, multiplier_of
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.probes import boundaries, separating

__all__ = ["Fit", "Fitted", "fit", "scale_seen"]

_BITS = (*range(4, 33), 1)
_LEAST = 16  # codes that are not clamped: fewer fit anything
_SAMPLES = 24, 256, 4096  # elements that are not clamped, on which a rule is tried before all
_MOST = 64  # functions that are kept
_ROUNDINGS = ("half_up", "half_away", "half_even", "floor", "truncate")
_FIRST_SHIFTS = (15, 16, 31, 8, -1, -2, -8)
_FIRST_OF_ACC = (1, 2, 4, 6, 8, 10, 12, 16)
_OPTIONS = list(product(("outside", "inside"), ("after", "before")))
_ENOUGH = 1 << 61  # a product that int64 holds
_ROUGH = 0.02  # by how much a scale that is roughly known may be away


class Fitted(NamedTuple):
    """A rule that gives every integer.

    Attributes
    ----------
    rule : FittedRule
        What `qops.rules.requantize` takes as its rule.
    integers : (int, int) or None
        The multiplier and the right shift where the scale that was given is not the one of the device; else None.
    """

    rule: FittedRule
    integers: tuple[int, int] | None

    def __str__(self) -> str:
        own = "" if self.integers is None else f", integers {self.integers[0]}, {self.integers[1]}"
        return f"{self.rule}{own}"


class Fit(NamedTuple):
    """What was fitted.

    Attributes
    ----------
    found : list of Fitted
        Rules that give every integer, at most 64, the simplest first: one for each function near the ends of codes.
    probe : ndarray
        Accumulators to run on the device that tell every two of `found` apart which differ anywhere near a code's end.
    words : str
        What the fit says in a sentence.
    """

    found: list[Fitted]
    probe: NDArray[np.int32]
    words: str

    def __str__(self) -> str:
        return "\n".join([self.words, *(f"  {one}" for one in self.found[:6])])


def scale_seen(x: NDArray[Any], y: NDArray[Any], zero_point: int) -> float:
    """Give the scale that the codes show which are not clamped; ValueError if there are too few."""
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


def fit(dump: Dump, progress: Callable[[str], None], is_scale_known: bool = True) -> Fit:
    """Search the space that the rules of requantize span for points that give every integer.

    Parameters
    ----------
    dump : Dump
        What the device gave, of kind "requantize", with a real scale.
    progress : callable
        Called with words that say what is tried next.
    is_scale_known : bool
        Whether the scale of the dump is the caller's.

    Returns
    -------
    Fit
    """
    none = np.zeros(0, np.int32)
    lo, hi = dump.ends
    inside = int(np.count_nonzero((dump.y > lo) & (dump.y < hi)))
    if inside < _LEAST:
        return Fit([], none, f"too few data to fit: {inside} integers are not clamped, {_LEAST} are needed at least")
    parts = _parts(dump)
    found = list(_of_scale(dump, parts, progress)) if is_scale_known and "integers" not in dump.numbers else []
    if not found and not dump.is_by_channel:
        found = list(_of_any_scale(dump, parts, progress, _ROUGH if is_scale_known else 4 * _ROUGH))
    points = _probe_points(dump)
    functions = _functions(dump, points, sorted(found, key=_simplicity))
    kept = _confirmed(dump, parts[-1], functions)
    if not kept:
        return Fit([], none, "no rule of the space that was searched gives these integers")
    probe = points[separating(list(kept.values()))].astype(np.int32)
    alike = "" if len(found) == len(kept) else f" ({len(found)} ways to say {'it' if len(kept) == 1 else 'them'})"
    if len(kept) == 1:
        words = f"one rule was fitted{alike}; nothing as large as the data tells it from others that fit"
        return Fit(list(kept), none, words)
    more = f"{probe.size} more {'input' if probe.size == 1 else 'inputs'} would decide"
    return Fit(list(kept), probe, f"{len(kept)} rules were fitted{alike}: {more}")


def _confirmed(dump: Dump, whole: _Data, found: dict[Fitted, NDArray[np.int64]]) -> dict[Fitted, NDArray[np.int64]]:
    """Give the first rules that give every integer of all data."""
    confirmed = {}
    for one, codes in found.items():
        m, n = multiplier_of(one.rule, dump.scale()) if one.integers is None else np.array(one.integers)
        if whole.gives(one.rule, dump.along_axis(m), dump.along_axis(n)):
            confirmed[one] = codes
        if len(confirmed) == _MOST:
            break
    return confirmed


def _simplicity(one: Fitted) -> tuple[Any, ...]:
    r = one.rule
    usual = (r.zero_point != "outside") + (r.clamp != "after") + (r.source != "double") + (r.made != "half_up")
    return r.split != "once", usual, _ROUNDINGS.index(r.second), r.bits


def _structures() -> Iterator[FittedRule]:
    """Give the rules but for their multiplier, the usual ones first."""
    for second, (zero, clamp) in product(_ROUNDINGS, _OPTIONS):
        yield FittedRule(31, second=second, zero_point=zero, clamp=clamp)
    for split, shifts in (("after", _FIRST_SHIFTS), ("before", _FIRST_OF_ACC)):
        for k, first, second in product(shifts, _ROUNDINGS, _ROUNDINGS):
            yield FittedRule(31, split=split, first_shift=k, first=first, second=second)


class _Data(NamedTuple):
    """A dump as the loop reads it."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    zero_point: int
    ends: tuple[int, int]
    own: tuple[int, int]

    def gives(self, rule: FittedRule, m: Any, n: Any) -> bool:
        if np.min(n) < 0 or np.max(n) > 62 or int(np.abs(self.x).max(initial=0)) * int(np.max(m)) >= _ENOUGH:
            return False
        return bool((codes_of(rule, self.x, m, n, self.zero_point, self.ends, self.own) == self.y).all())


def _data(dump: Dump) -> _Data:
    info = np.iinfo(dump.y.dtype)
    x = dump.acc.astype(np.int64) - (dump.numbers.get("in_zero_point") or 0)
    own = int(info.min), int(info.max)
    return _Data(x, dump.y.reshape(x.shape).astype(np.int64), dump.numbers.get("zero_point") or 0, dump.ends, own)


def _parts(dump: Dump) -> list[_Data]:
    """Give smaller and larger parts of the data, of one channel where each has a scale, and all of it last."""
    one = _data(_first_channel(dump))
    return [*(_telling(one, most) for most in _SAMPLES), _data(dump)]


def _first_channel(dump: Dump) -> Dump:
    if not dump.is_by_channel:
        return dump
    axis = dump.numbers.get("axis", -1)
    x, y = (v.take(0, axis).reshape(-1) for v in (dump.x, dump.y.reshape(dump.x.shape)))
    return replace(dump.of_some(0).but(axis=-1), x=x, y=y)


def _telling(data: _Data, most: int) -> _Data:
    """Choose elements that are not clamped, and a few that are."""
    x, y = data.x.reshape(-1), data.y.reshape(-1)
    is_inside = (y > data.ends[0]) & (y < data.ends[1])
    at = np.concatenate([_spread(np.flatnonzero(is_inside), most), _spread(np.flatnonzero(~is_inside), most // 8)])
    return data._replace(x=x[at], y=y[at])


def _spread(at: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    return at if at.size <= most else at[np.linspace(0, at.size - 1, most).astype(np.intp)]


def _multipliers(dump: Dump, most: int) -> tuple[list[FittedRule], NDArray[np.int64], NDArray[np.int64]]:
    """Give each multiplier of the first channel once, with the rule that makes it, for accumulators up to `most`."""
    found: dict[tuple[int, int], FittedRule] = {}
    scale = float(np.reshape(dump.scale(), -1)[0])
    for bits, source, made in product(_BITS, ("double", "float32"), ("half_up", "floor")):
        rule = FittedRule(bits, source, made)
        m, n = (int(v) for v in multiplier_of(rule, scale))
        if 0 <= n <= 62 and most * m < _ENOUGH:
            found.setdefault((m, n), rule)
    numbers = np.array(list(found), np.int64).reshape(-1, 2)
    return list(found.values()), numbers[:, 0], numbers[:, 1]


def _of_scale(dump: Dump, parts: list[_Data], progress: Callable[[str], None]) -> Iterator[Fitted]:
    """Try each multiplier of the scale with each structure, on the parts of the data that are of one channel."""
    first, *others = parts[:-1]
    rules, m, n = _multipliers(dump, int(np.abs(parts[-1].x).max(initial=0)))
    for structure in _structures():
        progress(str(structure))
        codes = codes_of(structure, first.x, m[:, None], n[:, None], first.zero_point, first.ends, first.own)
        for i in np.flatnonzero((codes == first.y).all(axis=1)):
            one = structure._replace(bits=rules[i].bits, source=rules[i].source, made=rules[i].made)
            if all(part.gives(one, m[i], n[i]) for part in others):
                yield Fitted(one, None)


def _of_any_scale(dump: Dump, parts: list[_Data], progress: Callable[[str], None], about: float) -> Iterator[Fitted]:
    """Find a multiplier by halving, near the scale that is roughly known, or that the codes show."""
    scale = float(dump.scale())
    for structure in _structures():
        progress(f"a scale for {structure}")
        for bits in _BITS[-2::-1] if structure.split == "after" and structure.first_shift > 0 else (31, 16):
            n = int(bits - np.frexp(scale)[1])
            low, high = (int(np.floor(np.ldexp(scale * by, n))) for by in (1 - about, 1 + about))
            one = structure._replace(bits=bits)
            m: int | None = None
            for part in parts:
                m = _halved(part, one, max(low, 1), high + 1, n)
                if m is None:
                    break
            if m is not None:
                yield Fitted(one, (m, n))
                break  # more bits give the same codes in many ways


def _halved(data: _Data, rule: FittedRule, low: int, high: int, n: int) -> int | None:
    """Halve a range of multipliers until every code is right; None if some codes want more and others less."""
    if not 0 <= n <= 62 or int(np.abs(data.x).max(initial=0)) * high >= _ENOUGH:
        return None
    while low <= high:
        m = (low + high) // 2
        off = (data.y - codes_of(rule, data.x, m, n, data.zero_point, data.ends, data.own)) * np.sign(data.x)
        more, less = bool((off > 0).any()), bool((off < 0).any())
        if more == less:
            return None if more else m
        low, high = (m + 1, high) if more else (low, m - 1)
    return None


def _probe_points(dump: Dump) -> NDArray[np.int64]:
    """Give accumulators near every code's end, as far as the device was seen."""
    scale, most = float(np.reshape(dump.scale(), -1)[0]), int(np.abs(dump.acc).max(initial=1))
    x = boundaries(scale, *dump.ends, dump.numbers.get("zero_point") or 0).astype(np.int64)
    return x[np.abs(x) <= most]


def _functions(dump: Dump, x: NDArray[np.int64], found: list[Fitted]) -> dict[Fitted, NDArray[np.int64]]:
    """Give the simplest rule of each function, and its codes for these accumulators."""
    data = _data(dump)
    results: dict[bytes, tuple[Fitted, NDArray[np.int64]]] = {}
    scale = float(np.reshape(dump.scale(), -1)[0])
    for one in found:
        m, n = one.integers or multiplier_of(one.rule, scale)
        codes = codes_of(one.rule, x, m, n, data.zero_point, data.ends, data.own)
        results.setdefault(codes.tobytes(), (one, codes))
    return dict(results.values())
