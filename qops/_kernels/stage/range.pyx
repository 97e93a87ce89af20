"""The extremes of a tensor, and the range that is made of them and of the caller's ends."""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t

from qops._kernels.arrays.checks cimport real, span_of
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef extern from "stage/range.h":
    Py_ssize_t range_s32__simd(int, const int32_t*, Py_ssize_t, int32_t*, int32_t*) nogil
    Py_ssize_t range_f32__simd(int, const float*, Py_ssize_t, float*, float*, float*) nogil
    Py_ssize_t magnitude_f32__simd(int, const float*, Py_ssize_t, int32_t*) nogil


cdef void range_s32(const int32_t* x, Py_ssize_t n, int32_t* lowest, int32_t* highest) noexcept nogil:
    """Widens lowest..highest to hold every x."""
    cdef Py_ssize_t i = range_s32__simd(tier(), x, n, lowest, highest)
    cdef int32_t low = lowest[0], high = highest[0]
    for i in range(i, n):
        low = min(low, x[i])
        high = max(high, x[i])
    lowest[0], highest[0] = low, high


cdef void range_f32(const float* x, Py_ssize_t n, float* lowest, float* highest, float* nonfinite) noexcept nogil:
    """Widens lowest..highest to hold every x; nonfinite becomes NaN if one is infinite or NaN (then x - x is not 0)."""
    cdef Py_ssize_t i = range_f32__simd(tier(), x, n, lowest, highest, nonfinite)
    cdef float low = lowest[0], high = highest[0], strange = nonfinite[0]
    for i in range(i, n):
        low = x[i] if x[i] < low else low
        high = x[i] if x[i] > high else high
        strange += x[i] - x[i]
    lowest[0], highest[0], nonfinite[0] = low, high, strange


cdef bint has_nan(const float* x, Py_ssize_t n) noexcept nogil:
    """Whether some x is NaN."""
    cdef int32_t largest = 0
    cdef Py_ssize_t i = magnitude_f32__simd(tier(), x, n, &largest)
    cdef bint found = largest > 0x7F800000  # an infinity
    for i in range(i, n):
        found = found or x[i] != x[i]
    return found


cdef struct Extremes32:
    int32_t lowest, highest


cdef struct ExtremesF32:
    float lowest, highest, nonfinite


cdef void range_s32_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    range_s32(<int32_t*>data[0], n, &(<Extremes32*>using).lowest, &(<Extremes32*>using).highest)


cdef void range_f32_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef ExtremesF32* r = <ExtremesF32*>using
    range_f32(<float*>data[0], n, &r.lowest, &r.highest, &r.nonfinite)


cdef int range_32_into(cnp.ndarray codes, int32_t* lowest, int32_t* highest) except -1:
    """Sets the lowest and highest of int32 codes; 2**31 - 1 and -2**31 of none."""
    cdef Extremes32 r = Extremes32(INT32_MAX, INT32_MIN)
    walk(range_s32_loop, &r, codes)
    lowest[0], highest[0] = r.lowest, r.highest
    return 0


def range_32(cnp.ndarray codes):
    """Lowest and highest of int32 codes; (2**31 - 1, -2**31) of none."""
    cdef int32_t lowest, highest
    range_32_into(codes, &lowest, &highest)
    return lowest, highest


cpdef tuple range_float(cnp.ndarray values):
    """Lowest and highest of float32 values, (inf, -inf) of none, and whether all are finite."""
    cdef ExtremesF32 r = ExtremesF32(INFINITY, -INFINITY, 0)
    walk(range_f32_loop, &r, values)
    return r.lowest, r.highest, r.nonfinite == 0


cdef int completed(lo, hi, double lowest, double highest, Ends* ends) except -1:
    """Sets `ends` to the range (lo, hi), an end that is None from the data; if only one is, it is on its side of 0."""
    if lo is None and hi is None:
        ends.min, ends.max = lowest, highest
    elif lo is None:
        ends.min, ends.max = min(lowest, 0.0), real(hi, "max")
    elif hi is None:
        ends.min, ends.max = real(lo, "min"), max(highest, 0.0)
    else:
        return span_of(lo, hi, "min, max", ends)
    if ends.min > ends.max:
        zero = 0.0  # makes 0.0 of -0.0, as tiers differ in which of the two they find
        raise bad_value("min, max", f"min {ends.min + zero} > max {ends.max + zero}; one of them comes from the data")
    return 0
