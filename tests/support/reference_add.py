"""The slow twins of the adds and of the differences; see `reference`."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from exact import F32, holding_zero, outward, over_one_unit


def quantized_add_8p8to32(a, b):
    """(256 x 256 exact sums in output steps, max) of two ranges; the sums are float64, good to 2**-36."""
    (a_min, a_max), (b_min, b_max) = ((Fraction(lo), Fraction(hi)) for lo, hi in (a, b))
    top = 2**17 * max(abs(a_min), abs(a_max), abs(b_min), abs(b_max))
    step = 2 * top / 2**32 or Fraction(1)
    return np.add.outer(in_steps(a_min, a_max - a_min, step), in_steps(b_min, b_max - b_min, step)), float(top)


def positions(a, b, c):
    """256 x 256 exact sums of the ranges a and b, in steps of the range c above c's min (float64, good to 1e-12)."""
    (a_min, a_max), (b_min, b_max), (c_min, c_max) = ((Fraction(lo), Fraction(hi)) for lo, hi in (a, b, c))
    step = (c_max - c_min) / 255
    first = a_min + b_min - c_min
    return np.add.outer(in_steps(first, a_max - a_min, step), in_steps(Fraction(0), b_max - b_min, step))


def in_steps(first, width, step):
    """256 numbers from `first` to `first + width`, in steps, each rounded once."""
    (first, width, step), _ = over_one_unit(first, width, step)
    return [(255 * first + q * width) / (255 * step) for q in range(256)]


def add_narrow(a, b, c):
    """One pass of the 16-bit loop: (values before the shift, code of each, lowest and highest sum in output steps)."""
    (qa, a_step, a_min), (qb, b_step, b_min), (c_step, c_min) = a, b, c
    ka, kb = round(8192 * a_step / c_step), round(8192 * b_step / c_step)
    offset = round((a_min + b_min - c_min) / c_step * 32) + 17
    each = np.arange(256, dtype=np.int64) << 8
    x = np.int32(each * ka >> 16)[qa] + np.int32((each * kb >> 16) + offset)[qb]
    low, high = int(x.min()), int(x.max())
    assert 0 <= ka < 2**16
    assert 0 <= kb < 2**16
    assert -(2**15) <= low <= high < 2**15
    return x >> 5, (low - 16 - 3, high - 16 + 3), c_step / 32


def add_wide(a, b, c):
    """One pass with every term in 1/65536 output steps."""
    (qa, a_step, a_min), (qb, b_step, b_min), (c_step, c_min) = a, b, c
    unit = c_step / 65536
    ta = np.array([round(q * (a_step / unit)) for q in range(256)])
    tb = np.array([round(q * (b_step / unit) + (a_min + b_min - c_min) / unit) + 32768 for q in range(256)])
    x = ta[qa] + tb[qb]
    return x >> 16, (int(x.min()) - 32768 - 2, int(x.max()) - 32768 + 2), unit


def add_is_narrow(a, b, c):
    """Whether the 16-bit loop can hold it: multipliers of 16 bits, sums of 15 bits and a sign."""
    (a_min, a_max), (b_min, b_max), (c_min, c_max) = a, b, c
    step = (c_max - c_min) / 255
    ends = [(a_min + b_min - c_min) / step * 32, (a_max + b_max - c_min) / step * 32]
    slopes = [(a_max - a_min) / 255, (b_max - b_min) / 255]
    return ends[0] > -32700 and ends[1] < 32700 and all(slope < 7.99 * step for slope in slopes)


def add_pass(a, b, c):
    """One pass: codes, whether all fitted, the range found, which loop."""
    narrow = add_is_narrow(a[1:], b[1:], c)
    operands = [(np.ravel(q).astype(np.int64, copy=False), (hi - lo) / 255, lo) for q, lo, hi in (a, b)]
    step = (c[1] - c[0]) / 255
    codes, extremes, unit = (add_narrow if narrow else add_wide)(*operands, (step, c[0]))
    found = outward(c[0] + extremes[0] * unit, c[0] + extremes[1] * unit)
    fits = codes.min() >= 0 and codes.max() <= 255
    return SimpleNamespace(codes=np.clip(codes, 0, 255).astype(np.uint8), fits=fits, found=found, narrow=narrow)


def add_full_range(a, b):
    lo, hi = a[1] + b[1], a[2] + b[2]
    exact = [Fraction(x) + Fraction(y) for x, y in zip(a[1:], b[1:], strict=True)]
    if lo == hi and (lo, hi) != tuple(exact):
        lo, hi = math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf)
    return outward(lo, hi)


def quantized_add_8p8to8(a, b, guess=None):
    """Codes, range, passes, range found, and which loop each pass took."""
    return in_passes(add_full_range, add_pass, a, b, guess)


def zero_on_a_code(lo, hi):
    """The smallest range that holds lo..hi and, on a code, 0."""
    scale, zero_point = holding_zero(lo, hi)
    return float(F32(-zero_point * scale)), float(F32((255 - zero_point) * scale))


def in_passes(full_range, one_pass, a, b, guess, widened=lambda lo, hi: (lo, hi)):
    """Guess, watch, write at most once more, for any binary op; what is not the caller's range is `widened`.

    The constants are the op's own, so this tells only that it does what it says; the bound checks it from outside.
    """
    a, b = ((q, float(F32(lo)), float(F32(hi))) for q, lo, hi in (a, b))
    full = full_range(a, b)
    ends = [None if end is None else float(F32(end)) for end in guess or (None, None)]
    lo, hi = (limit if end is None else end for end, limit in zip(ends, full, strict=True))
    if hi - lo <= (max(hi, full[1]) - min(lo, full[0])) / 2**32:
        (lo, hi), ends = full, (None, None)
    if None in ends:
        lo, hi = widened(lo, hi)
    if lo == hi:
        return SimpleNamespace(codes=np.zeros(a[0].size, np.uint8), range=(lo, hi), passes=1, found=full, narrow=[])
    first = one_pass(a, b, (lo, hi))
    found = max(first.found[0], full[0]), min(first.found[1], full[1])
    better_lo = ends[0] if ends[0] is not None and ends[0] <= found[0] else found[0]
    better_hi = ends[1] if ends[1] is not None and ends[1] >= found[1] else found[1]
    least = (full[1] - full[0]) / 2**31
    if better_hi - better_lo < least:
        better_lo, better_hi = outward(better_lo, better_lo + least)
    better_lo, better_hi = widened(better_lo, better_hi)
    if first.fits and better_hi - better_lo > (hi - lo) * 15 / 16:
        return SimpleNamespace(codes=first.codes, range=(lo, hi), passes=1, found=found, narrow=[first.narrow])
    second = one_pass(a, b, (better_lo, better_hi))
    return SimpleNamespace(
        codes=second.codes, range=(better_lo, better_hi), passes=2, found=found, narrow=[first.narrow, second.narrow]
    )


def quantized_sub_8p8to32(a, b):
    """(256 x 256 exact differences in output steps, max): the sums of a and -b, whose codes run backwards."""
    sums, top = quantized_add_8p8to32(a, (-b[1], -b[0]))
    return sums[:, ::-1], top


def turned(b):
    """The codes and the range of -b, exactly."""
    q, lo, hi = b
    return 255 - q, 0.0 - hi, 0.0 - lo


def quantized_sub_8p8to8(a, b, guess=None):
    """As `quantized_add_8p8to8`, of a and of what -b is."""
    return quantized_add_8p8to8(a, turned(b), guess)


def from_0(t):
    """The tensor with the codes counted from the lowest: 0 to 255, whatever their type."""
    q, lo, hi = t
    return np.ravel(q).astype(np.int64) - np.iinfo(q.dtype).min, float(F32(lo)), float(F32(hi))


def into_8_bits(full_range, one_pass, a, b, dtype, guess, kept):
    """Codes of uint8 or int8, range, passes, range found."""
    a, b = from_0(a), from_0(b)
    if kept is None:
        found = in_passes(full_range, one_pass, a, b, guess, zero_on_a_code)
    else:
        kept, full = tuple(float(F32(end)) for end in kept), full_range(a, b)
        found = one_pass(a, b, kept)
        found.range, found.passes = kept, 1
        found.found = max(found.found[0], full[0]), min(found.found[1], full[1])
    found.codes = (found.codes.astype(np.int64) + np.iinfo(dtype).min).astype(dtype)
    return found


def add(a, b, dtype="uint8", guess=None, kept=None):
    """Codes of 8 bits, range, passes, range found."""
    return into_8_bits(add_full_range, add_pass, a, b, dtype, guess, kept)


def sub(a, b, dtype="uint8", guess=None, kept=None):
    """As `add`, of a and of what -b is."""
    q, lo, hi = from_0(b)
    return add(a, turned((np.uint8(q), lo, hi)), dtype, guess, kept)
