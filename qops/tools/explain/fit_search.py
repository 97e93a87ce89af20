"""Searches the space that the rules of requantize span: each structure with each multiplier of a scale, or with any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.rules.fitted import FittedRule, multiplier_of
from qops.tools.explain.fit_data import FitData, parts_of

__all__ = ["ROUNDINGS", "Fitted", "multipliers_of", "of_any_scale", "of_scales", "with_multiplier_of"]

_BITS = (*range(4, 33), 1)
ROUNDINGS = ("half_up", "half_away", "half_even", "floor", "truncate")
_FIRST_SHIFTS = (15, 16, 31, 32, 8, -1, -2, -8)
_FIRST_OF_ACC = (1, 2, 4, 6, 8, 10, 12, 16)
_OPTIONS = list(product(("outside", "inside"), ("after", "before")))
_MOST_BITS = 60  # of a product


class Fitted(NamedTuple):
    """A rule that gives every integer.

    Attributes
    ----------
    rule : FittedRule
        What `qops.rules.requantize` takes as its rule.
    integers : (int, int) or None
        The multiplier and the right shift where the scale that was given is not the one of the device, or arrays of
        them, one for each channel; else None.
    bias : float, ndarray of float64 or None
        What `FittedRule.added` is in output steps, if the rule adds a bias; one for each channel.
    """

    rule: FittedRule
    integers: tuple[Any, Any] | None
    bias: float | NDArray[np.float64] | None = None

    def __str__(self) -> str:
        own = ""
        if self.integers is not None:
            m, n = self.integers
            own = f", integers {f'{m}, {n}' if np.ndim(m) == 0 else f'one pair for each of {np.size(m)} channels'}"
        of = "" if self.bias is None or np.ndim(self.bias) else f", a bias of {self.bias:.6g} output steps"
        return f"{self.rule}{own}{of}"


def _structures() -> Iterator[FittedRule]:
    """Give the rules but for their multiplier, the usual ones first."""
    for second, (zero, clamp) in product(ROUNDINGS, _OPTIONS):
        yield FittedRule(31, second=second, zero_point=zero, clamp=clamp)
    for split, shifts in (("after", _FIRST_SHIFTS), ("before", _FIRST_OF_ACC)):
        for k, first, second in product(shifts, ROUNDINGS, ROUNDINGS):
            yield FittedRule(31, split=split, first_shift=k, first=first, second=second)


def multipliers_of(scales: Mapping[Any, Any], data: FitData) -> tuple[list[FittedRule], NDArray[Any], NDArray[Any]]:
    """Give each multiplier of the first channel once, with the rule that makes it.

    Parameters
    ----------
    scales : dict
        The scale, or those of channels, by how it was formed.
    data : FitData
        Of the first channel.

    Returns
    -------
    (list of FittedRule, ndarray, ndarray)
        The rules, and the multiplier and right shift of each.
    """
    found: dict[tuple[int, int], FittedRule] = {}
    for formed, scale in scales.items():
        first = float(np.reshape(scale, -1)[0])
        for bits, source, made in product(_BITS, ("double", "float32"), ("half_up", "floor")):
            rule = FittedRule(bits, source, made, scales=formed)
            m, n = (int(v) for v in multiplier_of(rule, first))
            if data.takes(m, n):
                found.setdefault((m, n), rule)
    numbers = np.array(list(found), np.int64).reshape(-1, 2)
    return list(found.values()), numbers[:, 0], numbers[:, 1]


def with_multiplier_of(rule: FittedRule, structure: FittedRule) -> FittedRule:
    """Give a structure with how another rule makes its multiplier."""
    return structure._replace(bits=rule.bits, source=rule.source, made=rule.made, scales=rule.scales)


def of_scales(channels: list[FitData], scales: Mapping[Any, Any], progress: Callable[[str], None]) -> Iterator[Fitted]:
    """Try each multiplier that is made of the scale with each structure.

    Parameters
    ----------
    channels : list of FitData
        Data of each channel.
    scales : dict
        The scale, or those of channels, by how it was formed.
    progress : callable
        Called with words that say what is tried next.

    Yields
    ------
    Fitted
    """
    first, *others = parts_of(channels[0])
    rules, m, n = multipliers_of(scales, channels[0])
    for structure in _structures():
        progress(str(structure))
        codes = first.codes(structure, m[:, None], n[:, None])
        for i in np.flatnonzero((codes == first.y).all(axis=1)):
            one = with_multiplier_of(rules[i], structure)
            if all(part.gives(one, m[i], n[i]) for part in others) and _all_give(channels, one, scales[one.scales]):
                yield Fitted(one, None)


def _all_give(channels: list[FitData], rule: FittedRule, scale: Any) -> bool:
    if len(channels) == 1:
        return True
    m, n = multiplier_of(rule, scale)
    return all(data.gives(rule, int(m[i]), int(n[i])) for i, data in enumerate(channels))


def of_any_scale(
    channels: list[FitData], scale: NDArray[Any], progress: Callable[[str], None], about: float
) -> Iterator[Fitted]:
    """Find multipliers near a scale that is roughly known, or that the codes show.

    Parameters
    ----------
    channels : list of FitData
        Data of each channel.
    scale : ndarray of float64
        About the scale of each channel.
    progress : callable
        Called with words that say what is tried next.
    about : float
        By which share of itself it may be away.

    Yields
    ------
    Fitted
        With the fewest bits of the multiplier; then the smallest and the largest multiplier.
    """
    cut = [parts_of(data) for data in channels]
    ends: dict[int, list[tuple[float, float]]] = {}
    for structure in _structures():
        progress(f"a scale for {structure}")
        lost = structure.first_shift if structure.split == "before" else 0
        if lost not in ends:
            ends[lost] = [_ends_of(data, by, about, lost) for data, by in zip(channels, scale.tolist(), strict=True)]
        has_bits = (
            structure.split == "after" and structure.first_shift > 0
        )  # what the first shift leaves depends on them
        most = max(int(np.abs(data.x).max(initial=0)) for data in channels)
        for bits in _BITS[:-1] if has_bits else (min(31, _MOST_BITS - most.bit_length()),):
            found = _of_bits(cut, structure._replace(bits=bits), scale, ends[lost])
            if found:
                yield from _fewest(channels, structure._replace(bits=bits), found, has_bits)
                break  # more bits give the same codes in many ways


def _ends_of(data: FitData, scale: float, about: float, lost: int) -> tuple[float, float]:
    """Give the ends that the codes themselves leave to a scale: two roundings move a code by 2 at most.

    Accumulators that lose bits before the product, so many as `lost`, move it by more. Codes that were clamped, before
    or after the zero point, tell nothing here.
    """
    low, high = scale * (1 - about), scale * (1 + about)
    off = 2 + 2.0**lost * high
    clamped = (*data.ends, *(end + data.zero_point for end in data.own))
    is_inside = (data.x != 0) & ~np.isin(data.y, clamped)
    x, steps = np.abs(data.x[is_inside]), (data.y[is_inside] - data.zero_point) * np.sign(data.x[is_inside])
    return max(low, ((steps - off) / x).max(initial=low)), min(high, ((steps + off) / x).min(initial=high))


def _of_bits(
    cut: list[list[FitData]], rule: FittedRule, scales: NDArray[Any], ends: list[tuple[float, float]]
) -> list[tuple[int, int, int]]:
    """Give the smallest and the largest multiplier of each channel and its shift; empty if a channel has none."""
    found = []
    for parts, scale, (least, most) in zip(cut, scales.tolist(), ends, strict=True):
        n = int(rule.bits - np.frexp(scale)[1])
        low, high = max(int(np.ceil(np.ldexp(least, n))), 1), int(np.floor(np.ldexp(most, n)))
        if low > high:
            return []
        for part in parts:
            if not part.takes(high, n):
                return []
            low, high = _between(part, rule, low, high, n)
            if low > high:
                return []
        found.append((low, high, n))
    return found


def _between(data: FitData, rule: FittedRule, low: int, high: int, n: int) -> tuple[int, int]:
    """Give the smallest and the largest multiplier that give every code; the first is above the second if none does."""
    sign = np.sign(data.x)

    def off(m: int) -> tuple[bool, bool]:
        """Whether a code wants a larger multiplier, and whether one wants a smaller one."""
        apart = data.y - data.codes(rule, m, n)
        toward = apart * sign
        return bool((toward > 0).any()), bool((toward < 0).any() or apart[sign == 0].any())

    start, stop = low, high  # the first multiplier that is large enough
    while start < stop:
        m = (start + stop) // 2
        more, less = off(m)
        if more and less:
            return 1, 0
        start, stop = (m + 1, stop) if more else (start, m)
    least, stop = start, high  # the last multiplier that is small enough
    if any(off(least)):
        return 1, 0
    while start < stop:
        m = (start + stop + 1) // 2
        start, stop = (start, m - 1) if off(m)[1] else (m, stop)
    return least, start


def _fewest(
    channels: list[FitData], rule: FittedRule, found: list[tuple[int, int, int]], has_bits: bool
) -> Iterator[Fitted]:
    """Give the multipliers of the fewest bits, then the smallest and the largest ones."""
    short = [(low, n) if has_bits else _short(low, high, n) for low, high, n in found]
    if not all(data.gives(rule, *pair) for data, pair in zip(channels, short, strict=True)):
        short = [(low, n) for low, _, n in found]
    for integers in (short, [(low, n) for low, _, n in found], [(high, n) for _, high, n in found]):
        bits = max(m.bit_length() for m, _ in integers)
        if len(integers) == 1:
            yield Fitted(rule._replace(bits=bits), integers[0])
        else:
            m, n = np.array(integers, np.int64).T
            yield Fitted(rule._replace(bits=bits), (m, n))
            break


def _short(low: int, high: int, n: int) -> tuple[int, int]:
    """Give the multiplier of the fewest bits between two, and its right shift."""
    for k in range(min(high.bit_length() - 1, n), 0, -1):
        m = -(-low >> k)
        if m << k <= high:
            zeros = min((m & -m).bit_length() - 1, n - k)
            return m >> zeros, n - k - zeros
    return low, n
