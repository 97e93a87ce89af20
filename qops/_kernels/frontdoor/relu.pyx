"""Relu: clamps codes between the code nearest to 0 and the code nearest to the limit; ranges may be per channel."""

cimport numpy as cnp
from libc.math cimport INFINITY, rint
from libc.stdint cimport int64_t

import numpy as np

from qops._kernels.arrays.channels cimport reading, stretched
from qops._kernels.arrays.checks cimport Ends, output, real
from qops._kernels.stage.clamp cimport clamp
from qops._kernels.arrays.codes cimport CodeType, tensor
from qops._kernels.stage.rounding cimport clamp_f64
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef tuple CODES = (cnp.NPY_UINT8, cnp.NPY_INT8, cnp.NPY_UINT16, cnp.NPY_INT16, cnp.NPY_INT32)

cdef struct Kept:  # the codes that a relu keeps, first to last, and its range, which is (value, value) if one is left
    int64_t first, last
    double min, max


cdef int64_t next_to(double value, Ends ends, const CodeType* own) noexcept nogil:
    """The code nearest to a value, in a range that is not 0 wide."""
    cdef double start = 0 if own.symmetric else ends.min, first = 0 if own.symmetric else own.lowest
    cdef double position = (value - start) * own.steps / (ends.max - ends.min)  # in this order, ties are exact
    return <int64_t>clamp_f64(rint(position) + first, own.lowest, own.highest)


cdef Kept kept(Ends ends, double top, const CodeType* own) noexcept nogil:
    """Give the codes in the range `ends` whose values are from 0 to `top`."""
    cdef int64_t only = 0 if own.symmetric else own.lowest
    cdef double value
    if ends.max < 0 or ends.min > top or ends.min == ends.max:  # one value is left, so every code stands for it
        value = min(max(ends.min, 0.0), top)
        return Kept(only, only, value, value)
    return Kept(next_to(0, ends, own), next_to(top, ends, own), ends.min, ends.max)


def relu(type cls, t, limit, out):
    """Give the codes of min(max(0, value), limit). Without a limit, it is infinite."""
    cdef Ends ends
    cdef Kept k
    cdef CodeType found_type
    cdef cnp.ndarray codes, result
    cdef double top = INFINITY if limit is None else real(limit, "limit")
    if top < 0:
        raise bad_value("limit", f"expected at least 0, got {top}")
    found = reading(t, "t", &found_type, &ends, CODES)
    if type(found) is tuple:
        return relu_channels(cls, <tuple>found, top, &found_type, out)
    codes = found
    result = output(out, cnp.PyArray_TYPE(codes), codes)
    k = kept(ends, top, &found_type)
    clamp(codes, k.first, k.last, result)
    return tensor(cls, result, k.min, k.max)


cdef object relu_channels(type cls, tuple t, double top, const CodeType* own, out):
    """`relu` with ranges per channel, in numpy."""
    cdef Kept k
    codes, lo, hi = t
    result = output(out, codes.dtype.num, codes)
    rows = np.empty((4, *lo.shape))
    for i, (low, high) in enumerate(zip(lo.ravel().tolist(), hi.ravel().tolist())):
        k = kept(Ends(low, high), top, own)
        rows.reshape(4, -1)[:, i] = k.first, k.last, k.min, k.max
    first, last = [stretched(ends.astype(result.dtype), codes) for ends in rows[:2]]
    np.minimum(np.maximum(codes, first, out=result), last, out=result)
    lo, hi = rows[2:].astype(np.float32)
    return tensor(cls, result, lo, hi)
