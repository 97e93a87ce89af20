"""Fits a rule by its parts to integers that no rule of a table gives: bits, shifts, roundings, zero point, clamps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.rules.fitted import codes_of, multiplier_of
from qops.tools.explain.fit_data import Falling, FitData, channels_of
from qops.tools.explain.fit_search import ROUNDINGS, Fitted, of_any_scale, of_scales
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.probes import boundaries, distinct, separating

__all__ = ["Fit", "Fitted", "fit"]

_LEAST = 16  # codes that are not clamped: fewer fit anything
_MOST = 64  # functions that are kept
_POINTS = 1 << 16  # accumulators near the ends of codes that are tried
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
        return Fit([], _NONE, "no rule of the space that was searched gives these integers")
    return _told(dump, channels[0], sorted(found, key=_simplicity))


def _told(dump: Dump, first: FitData, found: list[Fitted]) -> Fit:
    """Give the simplest rule of each function, and the inputs that tell these apart."""
    points = _probe_points(dump, first, found)
    functions: dict[bytes, tuple[Fitted, NDArray[np.int64]]] = {}
    for one in found:
        codes = codes_of(one.rule, points, *_integers_of(dump, one), first.zero_point, first.ends, first.own)
        functions.setdefault(codes.tobytes(), (one, codes))
        if len(functions) == _MOST:
            break
    kept = [one for one, _ in functions.values()]
    probe = points[separating([codes for _, codes in functions.values()])].astype(np.int32)
    alike = "" if len(found) == len(kept) else f" ({len(found)} ways to say {'it' if len(kept) == 1 else 'them'})"
    if len(kept) == 1:
        words = (
            f"one rule was fitted{alike}; no input as large as the data that was tried tells it from others that fit"
        )
        return Fit(kept, probe, words)
    more = f"{probe.size} more {'input' if probe.size == 1 else 'inputs'} would decide"
    return Fit(kept, probe, f"{len(kept)} rules were fitted{alike}: {more}")


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


def _probe_points(dump: Dump, first: FitData, found: list[Fitted]) -> NDArray[np.int64]:
    """Give accumulators near every code's end, as far as the device was seen, of the scales that were found."""
    scales = [float(np.reshape(dump.scale(), -1)[0])]
    own = sorted(m / 2**n for m, n in (_integers_of(dump, one) for one in found if one.integers is not None))
    scales = [own[0], own[len(own) // 2], own[-1]] if own else scales
    most = int(np.abs(first.x).max(initial=1))
    zero = dump.numbers.get("zero_point") or 0
    x = distinct([boundaries(scale, *dump.ends, zero) for scale in dict.fromkeys(scales)]).astype(np.int64)
    x = x[np.abs(x) <= most]
    return x if x.size <= _POINTS else x[np.linspace(0, x.size - 1, _POINTS).astype(np.intp)]
