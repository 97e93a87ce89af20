"""A fast check of the most common operands: an array and two floats whose range float32 holds."""

cimport numpy as cnp
from libc.math cimport fabs, isfinite

from qops._kernels.arrays.codes cimport Tensor
from qops._kernels.machine.host cimport check_rounding
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

NORMAL = 2.0 ** -126  # the smallest normal float32
WIDEST = 2.0 ** 128 - 2.0 ** 103  # from here on, float32 is infinite
cdef double normal = NORMAL, widest = WIDEST


cdef inline bint fits(double width, double steps):
    return width < widest and not 0 < width < steps * normal


cpdef tuple checked(double low, double high, str names, double steps=0):
    """Check the range (low, high), whose ends may be in any order, and give it.

    ValueError if it is wider than float32, or if its `steps` are smaller than the normal float32: TensorFlow flushes
    such a step to 0 and divides by it.
    """
    cdef double width = fabs(high - low)
    if not fits(width, steps):
        why = "is wider than float32" if width >= widest else "has steps too small for float32"
        raise bad_value(names, f"the range ({low}, {high}) {why}")
    return low, high


cdef tuple fit_one(t, double steps, tuple typenums):
    cdef float low, high
    check_rounding()
    if isinstance(t, Tensor):
        x, lo, hi = (<Tensor>t).data, (<Tensor>t).min, (<Tensor>t).max
    elif isinstance(t, tuple) and len(<tuple>t) == 3:
        x, lo, hi = <tuple>t
    else:
        return None
    if type(lo) is not float or type(hi) is not float or not cnp.PyArray_CheckExact(x):
        return None
    low, high = lo, hi
    if not (isfinite(low) and isfinite(high) and fits(fabs(<double>high - <double>low), steps)):
        return None
    return (x, low, high) if cnp.PyArray_TYPE(x) in typenums else None


def fit(double steps, tuple typenums, *tensors):
    """Give the triples `tensors` with the ends of their ranges rounded to float32.

    None if the data of one is not an array of one of the `typenums`, or its range is not two finite floats that are
    neither too far apart nor too close for `steps`.
    """
    cdef list found = []
    for t in tensors:
        one = fit_one(t, steps, typenums)
        if one is None:
            return None
        found.append(one)
    return found


cdef double flush(double end) noexcept:
    return end if fabs(end) >= normal else 0.0


def flushed(list tensors):
    """Give checked tensors with subnormal ends of ranges replaced by 0, as TensorFlow reads them."""
    return [(x, flush(lo), flush(hi)) for x, lo, hi in tensors]


def in_order(**tensors):
    """Raise ValueError, in TensorFlow's words, if the max of a checked tensor is not above its min."""
    for name, (_, lo, hi) in tensors.items():
        if not lo < hi:
            raise bad_value(name, f"max_{name} must be larger than min_{name}, got min {lo}, max {hi}")
