cimport numpy as cnp

from qops._kernels.stage.maker cimport Maker


cdef class Codes:
    cdef object fill(self, cnp.ndarray x, cnp.ndarray out)
    cdef Maker maker(self, int typenum)
