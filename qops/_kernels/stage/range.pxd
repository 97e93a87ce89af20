cimport numpy as cnp
from libc.math cimport INFINITY, nextafterf
from libc.stdint cimport int32_t

from qops._kernels.arrays.checks cimport Ends


cdef inline float below(double v) noexcept nogil:
    """The largest float32 <= v."""
    cdef float near = <float>v
    return nextafterf(near, -INFINITY) if near > v else near


cdef inline float above(double v) noexcept nogil:
    """The smallest float32 >= v."""
    cdef float near = <float>v
    return nextafterf(near, INFINITY) if near < v else near


cdef bint has_nan(const float* x, Py_ssize_t n) noexcept nogil
cdef int range_32_into(cnp.ndarray codes, int32_t* lowest, int32_t* highest) except -1
cpdef tuple range_float(cnp.ndarray values)
cdef int completed(lo, hi, double lowest, double highest, Ends* ends) except -1
