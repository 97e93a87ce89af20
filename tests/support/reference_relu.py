"""The slow twin of relu; see `reference`."""

from fractions import Fraction

import numpy as np
from exact import exact32

ROWS = {"uint8": (0, 255), "int8": (-128, 255), "uint16": (0, 65535), "int16": (-32768, 65535)}


def values_of(codes, lo, hi):
    """(float64 values of codes of any type, step), the values good to 2**-50 of the range."""
    if codes.dtype == np.int32:
        return codes * (2 * hi / 2**32), 2 * hi / 2**32
    lowest, steps = ROWS[codes.dtype.name]
    step = (hi - lo) / steps
    return lo + (codes.astype(np.int64) - lowest) * step, step


def relu(codes, lo, hi, limit=None):
    """(codes, min, max): each end the code that is next to it, by exact fractions."""
    top = np.inf if limit is None else exact32(limit)
    lowest, steps = ROWS.get(codes.dtype.name, (0, 2**32))
    if hi < 0 or lo > top or lo == hi:
        value = float(min(max(exact32(lo), 0), top))
        return np.full_like(codes, lowest), value, value
    start = Fraction(0) if codes.dtype == np.int32 else exact32(lo)
    step = (exact32(hi) - exact32(lo)) / steps
    first, last = (lowest + round((Fraction(end) - start) / step) if end != np.inf else 2**40 for end in (0, top))
    kept = [min(max(q, first), last) for q in codes.tolist()]
    limits = np.iinfo(codes.dtype)
    return np.clip(kept, limits.min, limits.max).astype(codes.dtype), lo, hi
