cimport numpy as cnp

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.window cimport Window
from qops._kernels.conv.convolution cimport Images

cdef class Place:
    cdef readonly cnp.ndarray image
    cdef readonly int zero
    cdef Window window
    cdef cnp.npy_intp[4] shape
    cdef float product  # the step of the sums
    cdef Ends ends
    cdef Py_ssize_t threads

    cdef Images images(self)
