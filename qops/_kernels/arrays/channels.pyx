"""Reading tensors that have one range (min, max), or a range per channel: float32 arrays that broadcast to the data."""

cimport numpy as cnp

from qops._kernels.arrays.checks cimport (
    Ends, array_of, check_ends, end_names, float32s, has_axes, refuse_ends, span_of,
)
from qops._kernels.arrays.codes cimport CodeType, Tensor, read_code_type, tensor_of

import numpy as np

cnp.import_array()


cdef bint fits(tuple shape, tuple whole):
    """Whether an array of this shape broadcasts to the shape `whole`."""
    return len(shape) <= len(whole) and all([n == 1 or n == m for n, m in zip(shape[::-1], whole[::-1])])


cdef tuple spans(cnp.ndarray data, lo, hi, str name):
    """Give the ends of ranges per channel, checked, as two float32 arrays of one shape that broadcasts to the data."""
    low_name, high_name = end_names(name)
    cdef object low = float32s(lo, low_name)
    cdef object high = float32s(hi, high_name)
    shape = (<object>data).shape
    if not (fits(low.shape, shape) and fits(high.shape, shape)):
        raise ValueError(f"{name}: shapes {low.shape} and {high.shape} of min and max do not fit the data's {shape}")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(f"{name}: has a range that is not finite in float32")
    if not (low <= high).all():
        raise ValueError(f"{name}: has a range with min > max")
    return tuple(np.broadcast_arrays(low, high))


cdef object reading(t, str name, CodeType* found_type, Ends* ends):
    """Give the codes of any tensor, checked, and set `found_type` to their code type.

    With one range it sets `ends` to that. With ranges per channel it gives (codes, mins, maxs) instead.
    """
    cdef bint has_channels
    cdef Tensor read = tensor_of(t, name)
    data, lo, hi = read.data, read.min, read.max
    has_channels = not (type(lo) is float and type(hi) is float) and (has_axes(lo) or has_axes(hi))
    if not has_channels:
        span_of(lo, hi, name, ends)
    data = array_of(data, name)
    read_code_type(read, data, name, found_type)
    if not has_channels:
        check_ends(found_type, ends[0], data, name)
        return data
    lo, hi = spans(data, lo, hi, name)
    if found_type.symmetric and not (lo == -hi).all():
        refuse_ends(lo, hi, data, name)
    return data, lo, hi


def read(t, str name):
    """Give (codes, min, max) of any tensor, checked. min and max are floats, or arrays if the range is per channel."""
    cdef CodeType found_type
    cdef Ends ends
    found = reading(t, name, &found_type, &ends)
    return found if type(found) is tuple else (found, ends.min, ends.max)
