cimport numpy as cnp

from qops._kernels.arrays.walk cimport Loop

cdef struct Part:  # one input of a concatenation
    Loop loop  # makes codes of the result from codes of the input
    void* using  # the last argument of the loop
    char* data  # the memory of the input; `concat` sets this and the size
    Py_ssize_t size  # bytes of the input for one index of the axes before that of the concatenation

cdef void copy_rows(char* to, Py_ssize_t pitch, const char* x, Py_ssize_t stride, Py_ssize_t size,
                    Py_ssize_t rows) noexcept nogil
cdef cnp.ndarray plain(cnp.ndarray x)
cdef tuple joined(list arrays, axis)
cdef void copy_bytes(char** data, Py_ssize_t n, void* using) noexcept nogil
cdef cnp.ndarray concat(list arrays, int axis, Part* parts, tuple shape, int typenum, out)
