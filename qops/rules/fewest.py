"""The fewest bits of a multiplier that still gives every code exactly, proved at the boundaries of the codes."""

from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from qops.codes import of_dtype
from qops.qtensor import integer, number

__all__ = ["FewestBits", "Tradeoff", "fewest_bits"]

_MOST_BITS = 31


class Tradeoff(NamedTuple):
    """The best multiplier of so many bits: no other, with any right shift, leaves fewer accumulators off.

    Attributes
    ----------
    bits : int
        Of the multiplier.
    multiplier, right_shift : int
        ``y = (x * multiplier + 2**(right_shift - 1)) >> right_shift``.
    off : int
        Accumulators in the range whose code is another one than the exact rule's.
    """

    bits: int
    multiplier: int
    right_shift: int
    off: int


class FewestBits(NamedTuple):
    """What `fewest_bits` found.

    Attributes
    ----------
    multiplier, right_shift, bits : int
        The smallest that give every code of the exact rule.
    pareto : list of Tradeoff
        The best of fewer bits, and last the exact one; bits that leave no fewer off than one bit less are left out.
    """

    multiplier: int
    right_shift: int
    bits: int
    pareto: list[Tradeoff]


def fewest_bits(
    scale: float, acc_range: tuple[int, int], zero_point: int = 0, *, dtype: DTypeLike = np.int8
) -> FewestBits:
    """The smallest multiplier and right shift that equal the exact rule for every accumulator of a range.

    The exact rule is ``clamp(floor(x * scale + 1/2) + zero_point)``, of the real scale. It and
    ``(x * m + 2**(n - 1)) >> n`` never fall as x rises, so they are equal everywhere if every code begins at the same
    accumulator: that holds for an interval of m for each code, and any m that is in all of them may be used.

    Where there is none, the best ratio ``m / 2**n`` is one next to the scale: further up, and further down, every code
    begins further from where it should, so no accumulator becomes right again. Without a shift, which has no half to
    add, that holds from ``scale + 1/2`` up and from ``scale - 1/2`` down. Of so many bits these ratios are few: m is
    next to ``scale * 2**n``, or the largest of its bits with no shift or one.

    Parameters
    ----------
    scale : float
        Above 0: real output steps an input step.
    acc_range : (int, int)
        Lowest and highest accumulator.
    zero_point : int
        Code of real 0.
    dtype : data type
        Of the codes: uint8 or int8, uint16 or int16.

    Returns
    -------
    FewestBits

    Raises
    ------
    TypeError, ValueError
        A scale that is not above 0, an empty range, a type of 32 bits, no multiplier of up to 31 bits that does.

    Notes
    -----
    Source: none, the proof is the intervals.

    Examples
    --------
    >>> found = fewest_bits(0.3, (-400, 400))
    >>> found.multiplier, found.right_shift, found.bits
    (307, 10, 9)
    >>> found.pareto[-2]
    Tradeoff(bits=8, multiplier=153, right_shift=9, off=149)
    """
    value, codes = Fraction(number(scale, "scale")), of_dtype(dtype)
    if value <= 0:
        raise ValueError(f"scale: {scale} is not above 0")
    if codes.dtype.itemsize > 2:
        raise TypeError(f"dtype: expected codes of 8 or 16 bits, got {codes.dtype}")
    if not isinstance(acc_range, tuple | list) or len(acc_range) != 2:
        raise TypeError(f"acc_range: expected (lowest, highest), got {acc_range!r:.80}")
    lo = integer(acc_range[0], "acc_range", -(2**31), 2**31 - 1)
    hi = integer(acc_range[1], "acc_range", lo, 2**31 - 1)
    zero = integer(zero_point, "zero_point", codes.lowest, codes.highest)
    steps = range(codes.lowest - zero + 1, codes.highest - zero + 1)
    starts = [(c, min(max(ceil((c - Fraction(1, 2)) / value), lo), hi + 1)) for c in steps]  # code, where it begins
    tried: dict[tuple[bool, Fraction], Tradeoff] = {}
    for n in range(63):
        exact, near = _exact(starts, (lo, hi), n), _near(value, n)
        for m in near if n < 2 or not exact else ():
            ratio = n == 0, Fraction(m, 2**n)
            if ratio not in tried:
                tried[ratio] = Tradeoff(m.bit_length(), m, n, _off(m, n, starts, lo, hi))
        if exact:
            return FewestBits(exact.multiplier, n, exact.bits, _front([*tried.values(), exact]))
        if near[-1].bit_length() > _MOST_BITS:
            break
    raise ValueError(f"scale: no multiplier of {_MOST_BITS} bits gives every code of {scale} in {acc_range}")


def _front(tried: list[Tradeoff]) -> list[Tradeoff]:
    """The best of each number of bits that leaves fewer off than fewer bits."""
    found: list[Tradeoff] = []
    for t in sorted(tried, key=lambda t: (t.bits, t.off, t.right_shift)):
        if not found or t.off < found[-1].off:
            found.append(t)
    return found


def _interval(code: int, first: int, lo: int, hi: int, n: int) -> tuple[int, int]:
    """Multipliers with which the code begins at `first`: x * m + half >= code * 2**n there, and not before."""
    need = code * 2**n - (2**n >> 1)
    least, most = 0, 2**_MOST_BITS
    if first <= hi:  # first * m >= need
        if first > 0:
            least = max(least, -(-need // first))
        elif first < 0:
            most = min(most, need // first)
        elif need > 0:
            return 1, 0
    before = first - 1
    if before >= lo:  # before * m < need
        if before > 0:
            most = min(most, -(-need // before) - 1)
        elif before < 0:
            least = max(least, need // before + 1)
        elif need <= 0:
            return 1, 0
    return least, most


def _exact(starts: list[tuple[int, int]], ends: tuple[int, int], n: int) -> Tradeoff | None:
    """The smallest multiplier of a right shift that gives every code."""
    intervals = [_interval(code, first, *ends, n) for code, first in starts]
    least, most = max((i[0] for i in intervals), default=0), min((i[1] for i in intervals), default=2**_MOST_BITS)
    return Tradeoff(least.bit_length(), least, n, 0) if least <= most else None


def _near(scale: Fraction, n: int) -> list[int]:
    """The multipliers of a right shift that may be the best of their bits."""
    beyond = Fraction(1, 2) if n == 0 else Fraction(0)
    near = range(max(0, floor(scale * 2**n - beyond)), ceil(scale * 2**n + beyond) + 1)
    return [*(2**bits - 1 for bits in range(near[0].bit_length()) if n < 2), *near]


def _begin(code: int, m: int, n: int, lo: int, hi: int) -> int:
    """The first accumulator of lo..hi that a multiplier gives the code or a higher one, hi + 1 if there is none."""
    need: int = code * 2**n - (2**n >> 1)
    if m == 0:
        return lo if need <= 0 else hi + 1
    return min(max(-(-need // m), lo), hi + 1)


def _off(m: int, n: int, starts: list[tuple[int, int]], lo: int, hi: int) -> int:
    """How many accumulators get another code: those between where a code should begin and where it does."""
    begins = [_begin(code, m, n, lo, hi) for code, _ in starts]
    wrong = sorted((min(a, b), max(a, b)) for (_, a), b in zip(starts, begins, strict=True) if a != b)
    total, end = 0, lo
    for first, last in wrong:  # at one accumulator several codes may be wrong
        total += max(0, last - max(first, end))
        end = max(end, last)
    return total
