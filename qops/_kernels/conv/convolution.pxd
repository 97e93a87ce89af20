cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.arrays.window cimport Window
from qops._kernels.conv.finish cimport Finish
from qops._kernels.conv.weights cimport PackedWeights

cdef class Images:
    cdef cnp.ndarray x
    cdef Window window
    cdef Py_ssize_t pad_value
    cdef int32_t zero_point

cdef Images images_of(cnp.ndarray x, Window window, int32_t zero)
cdef cnp.ndarray convolved(Images images, PackedWeights packed, out, Finish finish, Py_ssize_t num_threads)
