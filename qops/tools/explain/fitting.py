"""Fits a rule by its parts to integers that no rule of a table gives: bits, shifts, roundings, zero point, clamps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.rules.fitted import codes_of, multiplier_of
from qops.tools.explain.fit_bias import of_any_bias, of_any_scale_and_bias, of_given_bias
from qops.tools.explain.fit_data import Falling, FitData, channels_of
from qops.tools.explain.fit_search import ROUNDINGS, Fitted, of_any_scale, of_scales
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.probes import boundaries, distinct, edges, separating

__all__ = ["Fit", "Fitted", "fit"]

_LEAST = 16  # codes that are not clamped: fewer fit anything
_MOST = 64  # functions that are kept
_POINTS = 1 << 16  # accumulators near the ends of codes that are tried
_BIASED = 16  # rules with a bias whose ends of codes are looked for
_ROUGH = 0.02  # by how much a scale that is roughly known may be away
_NONE = np.zeros(0, np.int32)


class Fit(NamedTuple):
    """What was fitted.

    Attributes
    ----------
    found : list of Fitted
        Rules that give every integer, at most 64, the simplest first: one for each function, as far as accumulators
        near the ends of codes tell, of which 65,536 are tried.
    probe : ndarray
        Accumulators to run on the device that tell every two of `found` apart which differ at any of these;
        where each channel has a scale, on the first one.
    words : str
        What the fit says in a sentence.
    """

    found: list[Fitted]
    probe: NDArray[np.int32]
    words: str

    def __str__(self) -> str:
        return "\n".join([self.words, *(f"  {one}" for one in self.found[:6])])


def fit(
    dump: Dump, progress: Callable[[str], None], is_scale_known: bool = True, is_mistake_known: bool = False
) -> Fit:
    """Search the space that the rules of requantize span for points that give every integer.

    Parameters
    ----------
    dump : Dump
        What the device gave, of kind "requantize", with a real scale.
    progress : callable
        Called with words that say what is tried next.
    is_scale_known : bool
        Whether the scale of the dump is the caller's.
    is_mistake_known : bool
        Whether a mistake explains all integers. Then no bias is looked for that was not given.

    Returns
    -------
    Fit
    """
    lo, hi = dump.ends
    inside = int(np.count_nonzero((dump.y > lo) & (dump.y < hi)))
    if inside < _LEAST:
        return Fit([], _NONE, f"too few data to fit: {inside} integers are not clamped, {_LEAST} are needed at least")
    try:
        channels = channels_of(dump)
    except Falling as why:
        return Fit([], _NONE, f"no rule with a scale above 0 gives these integers, as they fall: {why}")
    about = np.reshape(np.asarray(dump.scale(), np.float64), -1)
    found: list[Fitted] = []
    if is_scale_known and "integers" not in dump.numbers:
        found = list(of_scales(channels, _scales(dump), progress))
    if not found and (about > 0).all():
        found = list(of_any_scale(channels, about, progress, _ROUGH if is_scale_known else 4 * _ROUGH))
    if not found:
        return _with_bias(dump, progress, is_scale_known, is_mistake_known)
    return _told(dump, channels[0], sorted(found, key=_simplicity))


def _with_bias(dump: Dump, progress: Callable[[str], None], is_scale_known: bool, is_mistake_known: bool) -> Fit:
    """Search for rules that add a real bias to the product: the one that is given, or any, one for each channel."""
    plain = replace(dump, numbers={name: v for name, v in dump.numbers.items() if name != "bias"})
    channels, scales = channels_of(plain), _scales(plain) if is_scale_known else {}
    found: list[Fitted] = []
    if "bias" in dump.numbers:
        steps = np.asarray(dump.numbers["bias"], np.float64) / dump.numbers["out_scale"]
        found = list(of_given_bias(channels, scales, np.broadcast_to(steps, len(channels)), progress))
    if not found and not is_mistake_known:
        if is_scale_known and "integers" not in dump.numbers:
            found = list(of_any_bias(channels, scales, progress))
        about = np.array([_slope(data) for data in channels])
        if not found and (about > 0).all():
            found = list(of_any_scale_and_bias(channels, about, progress, 4 * _ROUGH))
    if not found:
        return Fit(
            [], _NONE, "no rule of the space that was searched gives these integers, with a real bias or without"
        )
    return _told(plain, channels[0], sorted(found, key=_simplicity))


def _slope(data: FitData) -> float:
    """Give the scale that the codes show which are not clamped, whatever is added to all of them."""
    is_inside = (data.y > data.ends[0]) & (data.y < data.ends[1])
    x, y = data.x[is_inside].astype(np.float64), data.y[is_inside].astype(np.float64)
    if x.size < _LEAST // 2 or np.ptp(x) == 0:  # two of each code
        return 0.0
    return float(((x - x.mean()) * (y - y.mean())).sum() / np.square(x - x.mean()).sum())


def _told(dump: Dump, first: FitData, found: list[Fitted]) -> Fit:
    """Give the simplest rule of each function, and the inputs that tell these apart."""
    points = _probe_points(dump, first, found)
    functions: dict[bytes, tuple[Fitted, NDArray[np.int64]]] = {}
    for one in found:
        codes = _codes_at(points, dump, first, one)
        functions.setdefault(codes.tobytes(), (one, codes))
        if len(functions) == _MOST:
            break
    kept = [one for one, _ in functions.values()]
    probe = points[separating([codes for _, codes in functions.values()])].astype(np.int32)
    alike = "" if len(found) == len(kept) else f" ({len(found)} ways to say {'it' if len(kept) == 1 else 'them'})"
    biased = " with a real bias" if found[0].bias is not None else ""
    if len(kept) == 1:
        told = "no input as large as the data that was tried tells it from others that fit"
        words = f"one rule{biased} was fitted{alike}; {told}"
        return Fit(kept, probe, words)
    more = f"{probe.size} more {'input' if probe.size == 1 else 'inputs'} would decide"
    return Fit(kept, probe, f"{len(kept)} rules{biased} were fitted{alike}: {more}")


def _scales(dump: Dump) -> dict[Any, Any]:
    """Give the scale in each way that systems form it, each once."""
    scales = dump.scales if "in_scale" in dump.numbers else {"double": dump.scale()}
    found = {np.asarray(scale).tobytes(): (formed, scale) for formed, scale in reversed(scales.items())}
    return dict(reversed(found.values()))


def _simplicity(one: Fitted) -> tuple[Any, ...]:
    r = one.rule
    usual = (r.zero_point != "outside") + (r.clamp != "after") + (r.source != "double") + (r.made != "half_up")
    return r.split != "once", usual, ROUNDINGS.index(r.second), r.bits


def _integers_of(dump: Dump, one: Fitted) -> tuple[int, int]:
    """Give the multiplier and the shift of a rule for the first channel."""
    pair = one.integers or multiplier_of(one.rule, dump.scales[one.rule.scales])
    m, n = (int(np.reshape(v, -1)[0]) for v in pair)
    return m, n


def _codes_at(x: NDArray[Any], dump: Dump, first: FitData, one: Fitted) -> NDArray[np.int64]:
    """Give the codes of the first channel."""
    added = one.rule.added[0] if isinstance(one.rule.added, tuple) else one.rule.added
    m, n = _integers_of(dump, one)
    most = ((1 << 61) - abs(added)) // max(m, 1)
    near = np.clip(x.astype(np.int64), -most, most)  # accumulators that 62 bits hold
    return codes_of(one.rule, near, m, n, first.zero_point, first.ends, first.own, added)


def _probe_points(dump: Dump, first: FitData, found: list[Fitted]) -> NDArray[np.int64]:
    """Give accumulators near every code's end, as far as the device was seen, of the scales that were found."""
    scales = [float(np.reshape(dump.scale(), -1)[0])]
    own = sorted(m / 2**n for m, n in (_integers_of(dump, one) for one in found if one.integers is not None))
    scales = [own[0], own[len(own) // 2], own[-1]] if own else scales
    most = int(np.abs(first.x).max(initial=1))
    zero = dump.numbers.get("zero_point") or 0
    x = distinct([boundaries(scale, *dump.ends, zero) for scale in dict.fromkeys(scales)]).astype(np.int64)
    biased = [one for one in found if one.bias is not None]
    for one in biased[:: len(biased) // _BIASED + 1]:  # whose codes do not begin at multiples of half a step
        at = edges(partial(_codes_at, dump=dump, first=first, one=one), *dump.ends)
        x = distinct([x, at.astype(np.int64)])
    x = x[np.abs(x) <= most]
    return x if x.size <= _POINTS else x[np.linspace(0, x.size - 1, _POINTS).astype(np.intp)]
