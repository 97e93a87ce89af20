cimport numpy as cnp

from qops._kernels.arrays.walk cimport Loop

cdef struct Part:
    Loop loop  # makes the codes of the result from those of an array
    void* using
    char* data  # the array, which `concat` sets; so is the next
    Py_ssize_t size  # bytes of a row of the array, from the axis of the concatenation on

cdef cnp.ndarray plain(cnp.ndarray x)
cdef tuple joined(list arrays, axis)
cdef cnp.ndarray concat(list arrays, int axis, Part* parts, tuple shape, out)
