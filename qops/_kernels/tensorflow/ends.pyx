"""The commonest operand, an array and two floats that are fit, checked at once: that is done on every call."""

cimport numpy as cnp
from libc.math cimport fabs, isfinite

cnp.import_array()

NORMAL = 2.0 ** -126  # the smallest normal float32
WIDEST = 2.0 ** 128 - 2.0 ** 103  # from here on, float32 is infinite
cdef double normal = NORMAL, widest = WIDEST


def fit(t, double steps, tuple typenums):
    """The triple `t`, its range as float32 values; None unless its data is an array of one of the dtypes of these
    numbers, and its range two floats, finite, neither too wide nor too narrow for `steps`.
    """
    cdef float low, high
    cdef double width
    if not isinstance(t, tuple) or len(<tuple>t) != 3:
        return None
    x, lo, hi = <tuple>t
    if type(lo) is not float or type(hi) is not float or not cnp.PyArray_CheckExact(x):
        return None
    low, high = lo, hi
    width = fabs(<double>high - <double>low)
    if not (isfinite(low) and isfinite(high)) or width >= widest or 0 < width < steps * normal:
        return None
    return (x, low, high) if cnp.PyArray_TYPE(x) in typenums else None
