cimport numpy as cnp

from qops._kernels.arrays.walk cimport Loop

cdef struct Part:
    Loop loop
    void* using
    char* data  # one row after the other
    Py_ssize_t size  # bytes of a row, of the data and of what the loop makes of them

cdef Part* new_parts(Py_ssize_t count) except NULL
cdef cnp.ndarray plain(cnp.ndarray x)
cdef object side_by_side(const Part* parts, Py_ssize_t count, Py_ssize_t itemsize, cnp.ndarray out)
