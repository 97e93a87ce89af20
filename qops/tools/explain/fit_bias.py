"""Fits a real bias: what is added to the product before one shift, given or not, beside a scale, known or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.rules.fitted import FittedRule, multiplier_of
from qops.tools.explain.fit_data import FitData, parts_of
from qops.tools.explain.fit_search import ROUNDINGS, Fitted, multipliers_of, with_multiplier_of

__all__ = ["of_any_bias", "of_any_scale_and_bias", "of_given_bias"]

_FAR = 1 << 61  # beyond every product
_MOST_BITS = 60  # of a product
Pair = tuple[int, int]


def _structures(has_zero: bool) -> Iterator[FittedRule]:
    """Give the rules of one shift, but for their multiplier and what they add."""
    for second, zero in product(ROUNDINGS, ("outside", "inside") if has_zero else ("outside",)):
        if zero == "outside" or second in ("half_even", "half_away", "truncate"):  # of others it is a part of the bias
            yield FittedRule(31, second=second, zero_point=zero)


def of_given_bias(
    channels: list[FitData], scales: Mapping[Any, Any], bias: NDArray[Any], progress: Callable[[str], None]
) -> Iterator[Fitted]:
    """Try each multiplier that is made of the scale, with the bias rounded to an integer of the product.

    `bias` is that of each channel, in output steps; for all else see `of_scales`.
    """
    rules, m, n = multipliers_of(scales, channels[0])
    for structure in _structures(channels[0].zero_point != 0):
        progress(f"a bias that is given: {structure}")
        for rule, first_m, first_n in zip(rules, m.tolist(), n.tolist(), strict=True):
            if not _gives(channels[0], structure, first_m, first_n, _rounded(bias[0], first_n)):
                continue
            every = [v.reshape(-1) for v in map(np.asarray, multiplier_of(rule, scales[rule.scales]))]
            factors = list(zip(*(v.tolist() for v in every), strict=True))
            added = [_rounded(one, shift) for one, (_, shift) in zip(bias.tolist(), factors, strict=True)]
            each = [(own_m, own_n, c) for (own_m, own_n), c in zip(factors, added, strict=True)]
            if all(_gives(d, structure, *one) for d, one in zip(channels, each, strict=True)):
                yield _fitted(with_multiplier_of(rule, structure), None, added, factors)


def _rounded(bias: float, n: int) -> int:
    return int(np.floor(np.ldexp(bias, n) + 0.5))


def _gives(data: FitData, rule: FittedRule, m: int, n: int, added: int) -> bool:
    return abs(added) < _FAR and data.gives(rule._replace(added=added), m, n)


def _fitted(rule: FittedRule, integers: Any, added: list[int], factors: list[Pair]) -> Fitted:
    steps = [c / 2**n for c, (_, n) in zip(added, factors, strict=True)]
    if len(added) == 1:
        return Fitted(rule._replace(added=added[0]), integers, steps[0])
    return Fitted(rule._replace(added=tuple(added)), integers, np.array(steps))


def _ends(data: FitData, rule: FittedRule, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the least and the largest sum, before the shift, that has each code."""
    is_inside = rule.zero_point == "inside"
    q, one = data.y - (0 if is_inside else data.zero_point), 1 << n
    half, whole = one >> 1, q * one
    sign, odd = np.sign(q), q & 1
    low, high = {
        "floor": (whole, whole + one - 1),
        "half_up": (whole - half, whole + one - 1 - half),
        "half_even": (whole - half + odd, whole + half - odd),
        "half_away": (whole - half + (sign <= 0), whole + half - (sign >= 0)),
        "truncate": (whole - (one - 1) * (sign <= 0), whole + (one - 1) * (sign >= 0)),
    }[rule.second if n else "floor"]
    moved = data.zero_point * one if is_inside else 0
    low, high = low - moved, high - moved
    return np.where(data.y <= data.ends[0], -_FAR, low), np.where(data.y >= data.ends[1], _FAR, high)


def _between(data: FitData, rule: FittedRule, m: int, n: int) -> tuple[int, int]:
    """Give the least and the largest number that may be added; the first is above the second if none gives all."""
    low, high = _ends(data, rule, n)
    x = data.x * m
    return int((low - np.where(low == -_FAR, 0, x)).max()), int((high - np.where(high == _FAR, 0, x)).min())


def _short(low: int, high: int) -> int:
    """Give the number between two that has the most zeros at its end."""
    if low <= 0 <= high:
        return 0
    for k in range(62, -1, -1):
        c = -(-low >> k) << k
        if c <= high:
            return c
    return low


def of_any_bias(
    channels: list[FitData], scales: Mapping[Any, Any], progress: Callable[[str], None]
) -> Iterator[Fitted]:
    """Find what each multiplier that is made of the scale needs to be added to its products; see `of_scales`.

    Each rule comes with the shortest number that may be added, with the least and with the largest one.
    """
    rules, _, _ = multipliers_of(scales, channels[0])
    for structure in _structures(channels[0].zero_point != 0):
        progress(f"a bias for {structure}")
        for rule in rules:
            every = [v.reshape(-1).tolist() for v in map(np.asarray, multiplier_of(rule, scales[rule.scales]))]
            factors = list(zip(*every, strict=True))
            yield from _of_pairs(channels, with_multiplier_of(rule, structure), factors, None)


def _of_pairs(channels: list[FitData], rule: FittedRule, factors: list[Pair], integers: Any) -> Iterator[Fitted]:
    """Give the rule with what may be added for a multiplier and a shift of each channel."""
    found = []
    for data, (m, n) in zip(channels, factors, strict=True):
        if not data.takes(m, n):
            return
        for part in parts_of(data):
            low, high = _between(part, rule, m, n)
            if low > high:
                return
        found.append((low, high))
    for added in ([_short(low, high) for low, high in found], *map(list, zip(*found, strict=True))):
        if max(map(abs, added)) < _FAR:
            yield _fitted(rule, integers, added, factors)


def of_any_scale_and_bias(
    channels: list[FitData], scale: NDArray[Any], progress: Callable[[str], None], about: float
) -> Iterator[Fitted]:
    """Find multipliers near a scale that is roughly known, or that the codes show, and what is added to their products.

    How far apart the ends of what may be added are is a concave function of the multiplier, so its top is found by
    halving. For the arguments see `of_any_scale`.
    """
    most = max(int(np.abs(data.x).max(initial=1)) for data in channels)
    bits = min(31, _MOST_BITS - most.bit_length())
    for structure in _structures(channels[0].zero_point != 0):
        progress(f"a scale and a bias for {structure}")
        found = [_widest(d, structure, by, bits, about) for d, by in zip(channels, scale.tolist(), strict=True)]
        factors = [pair for pair in found if pair is not None]
        if len(factors) < len(channels):
            continue
        for some in (_fewest(channels, structure, factors), factors):
            m, n = np.array(some, np.int64).T
            integers = some[0] if len(some) == 1 else (m, n)
            own = structure._replace(bits=max(int(m.max()).bit_length(), 1))
            yield from _of_pairs(channels, own, some, integers)


def _widest(data: FitData, rule: FittedRule, scale: float, bits: int, about: float) -> Pair | None:
    """Give the multiplier that leaves the most to what is added, if it leaves any."""
    n = int(bits - np.frexp(scale)[1])
    low, high = max(int(np.ldexp(scale * (1 - about), n)), 1), int(np.ldexp(scale * (1 + about), n))
    if not data.takes(high, n):
        return None

    def room(m: int) -> int:
        least, largest = _between(data, rule, m, n)
        return largest - least

    while low < high:
        m = (low + high) // 2
        low, high = (m + 1, high) if room(m + 1) > room(m) else (low, m)
    return (low, n) if room(low) >= 0 else None


def _fewest(channels: list[FitData], rule: FittedRule, factors: list[Pair]) -> list[Pair]:
    """Give each channel the multiplier of the fewest bits to which anything can be added that gives all codes."""
    found = []
    for data, (m, n) in zip(channels, factors, strict=True):
        short = (m, n)
        for k in range(1, min(m.bit_length() - 1, n) + 1):
            near = [(m >> k) + up for up in (0, 1)]
            fit = [one for one in near if int.__le__(*_between(data, rule, one, n - k))]
            short = (fit[0], n - k) if fit else short
        found.append(short)
    return found
