cimport numpy as cnp
from libc.stdint cimport uint32_t

cdef cnp.ndarray result(out, cnp.npy_intp m, cnp.npy_intp n, cnp.ndarray a, cnp.ndarray b)
cdef int multiply(cnp.ndarray c, cnp.ndarray a, b, tuple pairs, bint accumulate, Py_ssize_t num_threads,
                  uint32_t a_offset=*, int on=*) except -1
