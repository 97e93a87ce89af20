"""The commonest range, two floats that are fit, checked at once: it is looked at on every call."""

from libc.math cimport fabs, isfinite

NORMAL = 2.0 ** -126  # the smallest normal float32
WIDEST = 2.0 ** 128 - 2.0 ** 103  # from here on, float32 is infinite
cdef double normal = NORMAL, widest = WIDEST


def fit(lo, hi, double steps):
    """(lo, hi) as float32 values; None unless both are floats, finite, neither too wide nor too narrow for `steps`."""
    cdef float low, high
    cdef double width
    if type(lo) is not float or type(hi) is not float:
        return None
    low, high = lo, hi
    width = fabs(<double>high - <double>low)
    if not (isfinite(low) and isfinite(high)) or width >= widest or 0 < width < steps * normal:
        return None
    return low, high
