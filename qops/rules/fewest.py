"""The fewest bits of a multiplier that still gives every code exactly, proved at the boundaries of the codes."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops._readable import shows_fields
from qops.checks import int32, integer, number, shown
from qops.codes import of_dtype

__all__ = ["FewestBits", "Tradeoff", "fewest_bits"]

_MOST_BITS = 31
_FITS = 45  # bits by which int64 holds codes of 17 bits, shifted to the left


@shows_fields
class Tradeoff(NamedTuple):
    """The best multiplier with a given number of bits: no other, with any right shift, gets fewer codes wrong.

    Attributes
    ----------
    bits : int
        How many bits the multiplier has.
    multiplier, right_shift : int
        ``y = (x * multiplier + 2**(right_shift - 1)) >> right_shift``.
    off : int
        How many accumulators of the range get another code than the exact rule gives them.
    """

    bits: int
    multiplier: int
    right_shift: int
    off: int


@shows_fields
class FewestBits(NamedTuple):
    """What `fewest_bits` found.

    Attributes
    ----------
    multiplier, right_shift, bits : int
        The smallest that give every code of the exact rule.
    pareto : list of Tradeoff
        The best multiplier for each number of bits, the exact one last. A number of bits is left out if fewer bits get
        no more codes wrong.
    """

    multiplier: int
    right_shift: int
    bits: int
    pareto: list[Tradeoff]


@refusing_unknown
def fewest_bits(
    scale: float, acc_range: tuple[int, int], zero_point: int = 0, *, dtype: DTypeLike = "int8", **unknown: Never
) -> FewestBits:
    """Find the smallest multiplier and right shift that equal the exact rule for every accumulator of a range.

    The exact rule is ``clamp(floor(x * scale + 1/2) + zero_point)``, with the real scale. Neither it nor
    ``(x * m + 2**(n - 1)) >> n`` falls as x rises. So they are equal everywhere if every code begins at the same
    accumulator. For each code this holds for an interval of m, and any m that lies in all the intervals may be used.

    If no m does, the best ratio ``m / 2**n`` is one of the two next to the scale. With a ratio further from the scale,
    every code begins further from where it should, so no accumulator becomes right again. A shift of 0 adds no half:
    then this holds above ``scale + 1/2`` and below ``scale - 1/2``. So few ratios have to be tried for a number of
    bits: m is next to ``scale * 2**n``, or, with a shift of 0 or 1, the largest number of so many bits.

    Parameters
    ----------
    scale : float
        Above 0: how many output steps an input step is.
    acc_range : (int, int)
        Lowest and highest accumulator.
    zero_point : int
        Code of real 0.
    dtype : data type
        Type of the codes: uint8, int8, uint16 or int16.

    Returns
    -------
    FewestBits

    Raises
    ------
    TypeError, ValueError
        A scale that is not above 0; an empty range; a type of 32 bits; no multiplier of up to 31 bits gives every code.

    Notes
    -----
    Source: none; the intervals are the proof.

    Examples
    --------
    >>> found = qops.rules.fewest_bits(0.3, (-400, 400))
    >>> found.multiplier, found.right_shift, found.bits
    (307, 10, 9)
    >>> found.pareto[-2]
    Tradeoff(bits=8, multiplier=153, right_shift=9, off=149)
    """
    if unknown:
        raise unknown_keyword(fewest_bits, unknown)
    value, codes = Fraction(number(scale, "scale")), of_dtype(dtype)
    if value <= 0:
        raise bad_value("scale", f"{scale} is not above 0")
    if codes.dtype.itemsize > 2:
        raise bad_type("dtype", f"expected codes of 8 or 16 bits, got {codes.dtype}")
    if not isinstance(acc_range, tuple | list) or len(acc_range) != 2:
        raise bad_type("acc_range", f"expected (lowest, highest), got {shown(acc_range)}")
    lo = int32(acc_range[0], "acc_range")
    hi = int32(acc_range[1], "acc_range", lo)
    zero = integer(zero_point, "zero_point", codes.lowest, codes.highest)
    steps = range(codes.lowest - zero + 1, codes.highest - zero + 1)
    p, q = value.as_integer_ratio()
    starts = [min(max(-((1 - 2 * c) * q // (2 * p)), lo), hi + 1) for c in steps]  # where each code begins
    begins = np.array(steps, np.int64), np.array(starts, np.int64)
    ratios = [_ratios(2 * begins[0] - half, begins[1], lo, hi) for half in (0, 1)]
    tried: dict[tuple[bool, Fraction], Tradeoff] = {}
    for n in range(63):
        exact, near = _exact(ratios[n > 0], n), _near(value, n)
        for m in [m for m in near if m < 2**_MOST_BITS] if n < 2 or not exact else ():
            ratio = n == 0, Fraction(m, 2**n)
            if ratio not in tried:
                tried[ratio] = Tradeoff(m.bit_length(), m, n, _off(m, n, *begins, lo, hi))
        if exact:
            return FewestBits(exact.multiplier, n, exact.bits, _front([*tried.values(), exact]))
        if near[-1].bit_length() > _MOST_BITS:
            break
    raise bad_value("scale", f"no multiplier of {_MOST_BITS} bits gives every code of {scale} in {acc_range}")


def _front(tried: list[Tradeoff]) -> list[Tradeoff]:
    """The best of each number of bits, where it gets fewer codes wrong than all with fewer bits."""
    found: list[Tradeoff] = []
    for t in sorted(tried, key=lambda t: (t.bits, t.off, t.right_shift)):
        if not found or t.off < found[-1].off:
            found.append(t)
    return found


_Ratio = tuple[int, int] | None


def _ratios(
    twice: NDArray[np.int64], starts: NDArray[np.int64], lo: int, hi: int
) -> tuple[list[_Ratio], list[_Ratio]] | None:
    """Give bounds of the ratio m / 2**n between which every code begins where it should; None if no ratio will do.

    A code begins at accumulator `first` if ``first * ratio >= need`` and ``(first - 1) * ratio < need``; `twice` has
    2 * need of each code. Given are the largest lower bounds, one that the ratio may equal and one that it must exceed,
    then the smallest upper bounds in the same way. None stands for a bound that there is not.
    """
    least: list[_Ratio] = []
    most: list[_Ratio] = []
    for x, is_first in ((starts, True), (starts - 1, False)):
        counts = x <= hi if is_first else x >= lo
        if (counts & (x == 0) & ((twice > 0) == is_first)).any():
            return None
        p, q = np.where(x > 0, twice, -twice), 2 * np.abs(x)
        for bounds, is_positive in ((least, is_first), (most, not is_first)):
            some = counts & (x > 0 if is_positive else x < 0)
            bounds.append(_extreme(p[some], q[some], bounds is least))
    reached = least[0]
    return [reached if reached and reached[0] > 0 else (0, 1), least[1]], most


def _extreme(p: NDArray[np.int64], q: NDArray[np.int64], is_largest: bool) -> _Ratio:
    """Give the largest of the ratios p / q, or the smallest. Fractions decide where float64 does not tell two apart."""
    if not p.size:
        return None
    near = p / q
    best = near.max() if is_largest else near.min()
    some = np.abs(near - best) <= 2.0**-50 * abs(best)
    shared = np.gcd(p[some], q[some])
    ratios = {*zip((p[some] // shared).tolist(), (q[some] // shared).tolist(), strict=True)}
    return (max if is_largest else min)(ratios, key=lambda ratio: Fraction(*ratio))


def _exact(ratios: tuple[list[_Ratio], list[_Ratio]] | None, n: int) -> Tradeoff | None:
    """The smallest multiplier with a right shift of n that gives every code."""
    if ratios is None:
        return None
    (reached, above), (up_to, below) = ratios
    least = max(-(-(r[0] << n) // r[1]) if r is reached else (r[0] << n) // r[1] + 1 for r in (reached, above) if r)
    most = [2**_MOST_BITS]
    most += [(r[0] << n) // r[1] if r is up_to else -(-(r[0] << n) // r[1]) - 1 for r in (up_to, below) if r]
    return Tradeoff(least.bit_length(), least, n, 0) if least <= min(most) else None


def _near(scale: Fraction, n: int) -> list[int]:
    """The multipliers with a right shift of n that may be the best with their number of bits."""
    beyond = Fraction(1, 2) if n == 0 else Fraction(0)
    near = range(max(0, floor(scale * 2**n - beyond)), ceil(scale * 2**n + beyond) + 1)
    return [*(2**bits - 1 for bits in range(near[0].bit_length()) if n < 2), *near]


def _off(m: int, n: int, steps: NDArray[np.int64], starts: NDArray[np.int64], lo: int, hi: int) -> int:
    """How many accumulators get another code: those between where a code should begin and where it does."""
    wide = steps if n < _FITS else steps.astype(object)
    need = wide * 2**n - (2**n >> 1)
    begins = -(-need // m) if m else np.where(need <= 0, lo, hi + 1)
    begins = np.clip(begins, lo, hi + 1).astype(np.int64)
    first, last = np.minimum(starts, begins), np.maximum(starts, begins)  # these spans may overlap: count each x once
    done = np.concatenate([[lo], last[:-1]])
    return int(np.maximum(last - np.maximum(first, done), 0).sum())
