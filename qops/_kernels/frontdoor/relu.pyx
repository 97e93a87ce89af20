"""Relu: clamps codes between the code nearest to 0 and the code nearest to the limit."""

cimport numpy as cnp
from libc.math cimport INFINITY, rint
from libc.stdint cimport int64_t

from qops._kernels.arrays.checks cimport Ends, codes_of, output, real
from qops._kernels.stage.clamp cimport clamp
from qops._kernels.arrays.codes cimport CodeType, tensor
from qops._kernels.stage.rounding cimport clamp_f64

cnp.import_array()


cdef int64_t next_to(double value, Ends ends, CodeType row) noexcept nogil:
    """The code nearest to a value, in a range that is not 0 wide."""
    cdef double start = 0 if row.symmetric else ends.min, first = 0 if row.symmetric else row.lowest
    cdef double position = (value - start) * row.steps / (ends.max - ends.min)  # in this order, ties are exact
    return <int64_t>clamp_f64(rint(position) + first, row.lowest, row.highest)


def relu(type cls, t, limit, out):
    """Give the codes of min(max(0, value), limit). Without a limit, it is infinite."""
    cdef Ends ends
    cdef CodeType row
    cdef cnp.ndarray codes, result
    cdef double top = INFINITY if limit is None else real(limit, "limit")
    if top < 0:
        raise ValueError(f"limit: expected at least 0, got {top}")
    codes = codes_of(t, "t", &row, &ends)
    result = output(out, cnp.PyArray_TYPE(codes), codes)
    if ends.max < 0 or ends.min > top or ends.min == ends.max:  # one value is left, so every code stands for it
        ends.min = ends.max = min(max(ends.min, 0.0), top)
        (<object>result).fill(0 if row.symmetric else row.lowest)
    else:
        clamp(codes, next_to(0, ends, row), next_to(top, ends, row), result)
    return tensor(cls, result, ends.min, ends.max)
