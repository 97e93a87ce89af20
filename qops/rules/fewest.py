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
    """The best multiplier of one right shift.

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
        Fewer bits, and how many accumulators each of them costs.
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
    Tradeoff(bits=7, multiplier=77, right_shift=8, off=166)
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
    tried: list[Tradeoff] = []
    for n in range(63):
        best = _best(value, starts, lo, hi, n)
        if best.bits > _MOST_BITS:
            break
        if not tried or best.off < tried[-1].off:
            tried.append(best)
        if best.off == 0:
            return FewestBits(best.multiplier, best.right_shift, best.bits, tried)
    raise ValueError(f"scale: no multiplier of {_MOST_BITS} bits gives every code of {scale} in {acc_range}")


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


def _best(scale: Fraction, starts: list[tuple[int, int]], lo: int, hi: int, n: int) -> Tradeoff:
    """The multiplier of a right shift that is exact, the smallest of them; else the nearest one."""
    intervals = [_interval(code, first, lo, hi, n) for code, first in starts]
    least, most = max((i[0] for i in intervals), default=0), min((i[1] for i in intervals), default=2**_MOST_BITS)
    m = least if least <= most else floor(scale * 2**n + Fraction(1, 2))
    return Tradeoff(m.bit_length(), m, n, 0 if least <= most else _off(m, n, starts, lo, hi))


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
