cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport CodeType


cdef struct Affine:
    double scale
    int64_t zero_point


cdef struct Line:
    double step
    int64_t zero
    double base


cdef Affine holding_zero(double lo, double hi, const CodeType* t, Ends* ends) noexcept nogil
cdef Line line_of(double lo, double hi, const CodeType* t) noexcept nogil
cdef tuple all_holding_zero(lo, hi, CodeType t)
cdef Ends mirrored(Ends given, double steps) noexcept nogil
cdef tuple all_mirrored(lo, hi, double steps)
cdef tuple lines(lo, hi, CodeType t)
cdef object dequantize_32(cnp.ndarray codes, Line line, cnp.ndarray out)
