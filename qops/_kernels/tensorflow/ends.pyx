"""The commonest operands, an array and two floats that are fit, checked at once: that is done on every call."""

cimport numpy as cnp
from libc.math cimport fabs, isfinite

cnp.import_array()

NORMAL = 2.0 ** -126  # the smallest normal float32
WIDEST = 2.0 ** 128 - 2.0 ** 103  # from here on, float32 is infinite
cdef double normal = NORMAL, widest = WIDEST


cdef tuple fit_one(t, double steps, tuple typenums):
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


def fit(double steps, tuple typenums, *tensors):
    """The triples `tensors`, their ranges as float32 values; None unless the data of each is an array of one of the
    dtypes of these numbers, and its range two floats, finite, neither too wide nor too narrow for `steps`.
    """
    cdef list found = []
    for t in tensors:
        one = fit_one(t, steps, typenums)
        if one is None:
            return None
        found.append(one)
    return found


def in_order(**tensors):
    """ValueError, in TensorFlow's words, of a checked tensor whose max is not above its min."""
    for name, (_, lo, hi) in tensors.items():
        if not lo < hi:
            raise ValueError(f"{name}: max_{name} must be larger than min_{name}, got min {lo}, max {hi}")
