cimport numpy as cnp

from qops._kernels.core.checks cimport Ends


cdef struct Affine:
    double scale
    int zero_point


cdef Affine holding_zero(double lo, double hi, Ends* ends) noexcept nogil
cpdef object quantize(cnp.ndarray x, double scale, int zero_point, cnp.ndarray out)
cpdef object dequantize_8(cnp.ndarray codes, double lo, double hi, cnp.ndarray out)
cpdef object dequantize_32(cnp.ndarray codes, double scale, cnp.ndarray out)
