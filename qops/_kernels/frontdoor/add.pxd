cimport numpy as cnp


cdef class Span:
    cdef readonly bint fits
    cdef readonly float min, max


cpdef Span add_8p8to8(cnp.ndarray x, double a_min, double a_max, cnp.ndarray y, double b_min, double b_max,
                      double c_min, double c_max, cnp.ndarray out)
cpdef double add_8p8to32(cnp.ndarray x, float a_min, float a_max, cnp.ndarray y, float b_min, float b_max,
                         cnp.ndarray out) except? -1
