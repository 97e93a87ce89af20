"""Tensors whose range is one (min, max), or one a channel: float32 arrays that broadcast against the data."""

cimport numpy as cnp

from qops._kernels.core.checks cimport Ends, as_array, float32s, span_of
from qops._kernels.core.codes cimport named

import numpy as np

cnp.import_array()


cdef bint has_axes(end):
    return cnp.PyArray_Check(end) and end.ndim > 0


cdef bint fits(tuple shape, tuple whole):
    """Whether an array of this shape broadcasts to the `whole`, which stays as it is."""
    return len(shape) <= len(whole) and all([n == 1 or n == m for n, m in zip(shape[::-1], whole[::-1])])


cdef tuple spans(cnp.ndarray data, lo, hi, str name):
    """The ends of ranges per channel, checked, as float32 arrays of one shape."""
    cdef object low = float32s(as_array(lo, name + " min"), name + " min")
    cdef object high = float32s(as_array(hi, name + " max"), name + " max")
    shape = (<object>data).shape
    if not (fits(low.shape, shape) and fits(high.shape, shape)):
        raise ValueError(f"{name}: min and max, shapes {low.shape} and {high.shape}, do not fit the data's {shape}")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(f"{name}: has a range that is not finite in float32")
    if not (low <= high).all():
        raise ValueError(f"{name}: has a range with min > max")
    return tuple(np.broadcast_arrays(low, high))


def new_tensor(type kind, data, lo, hi):
    """The tensor of class `kind` (data, lo, hi), checked."""
    cdef Ends ends
    if has_axes(lo) or has_axes(hi):
        data = as_array(data, "data")
        lo, hi = spans(data, lo, hi, "range")
        return named(kind, data, lo, hi)
    span_of(lo, hi, "range", &ends)
    return named(kind, as_array(data, "data"), ends.min, ends.max)
