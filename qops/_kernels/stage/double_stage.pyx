"""The loops of the double stage: int32 to codes."""

from libc.stdint cimport int32_t

from qops._kernels.arrays.walk cimport STREAM
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.rounding cimport clamp_f64, rounded_f64

cdef extern from "stage/double_stage.h":
    Py_ssize_t double_codes__simd(int, const int32_t*, int32_t*, Py_ssize_t, DoubleParams) nogil
    Py_ssize_t double_codes_8__simd(int, const int32_t*, void*, bint, Py_ssize_t, DoubleParams, bint) nogil
    Py_ssize_t double_each__simd(int, const int32_t*, int32_t*, Py_ssize_t, DoubleParams, const double*, Py_ssize_t,
                                 Py_ssize_t) nogil


cdef inline int32_t coded(int32_t x, double scale, DoubleParams p) noexcept nogil:
    """The formula of the stage, for one element."""
    return <int32_t>clamp_f64(rounded_f64(x * scale + p.plus, p.rounding) + p.shift, p.lowest, p.highest)


cdef void double_codes(DoubleParams p, const int32_t* x, int32_t* c, Py_ssize_t n) noexcept nogil:
    """c = the int32 codes of int32 accumulators."""
    cdef Py_ssize_t i = double_codes__simd(tier(), x, c, n, p)
    for i in range(i, n):
        c[i] = coded(x[i], p.scale, p)


cdef Py_ssize_t double_codes_8(DoubleParams p, const int32_t* x, void* c, bint is_signed, Py_ssize_t n) noexcept nogil:
    """Make the first codes of 8 bits, all or none; return how many."""
    return double_codes_8__simd(tier(), x, c, is_signed, n, p, n >= STREAM)


cdef void double_each(DoubleParams p, const double* scales, Py_ssize_t period, const int32_t* x, int32_t* c,
                      Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """c = the int32 codes of elements with a scale each: element i has scales[(first + i) % period]."""
    cdef Py_ssize_t at = first % period
    cdef Py_ssize_t i = double_each__simd(tier(), x, c, n, p, scales, period, at)
    at = (at + i) % period
    for i in range(i, n):
        c[i] = coded(x[i], scales[at], p)
        at = at + 1 if at + 1 < period else 0
