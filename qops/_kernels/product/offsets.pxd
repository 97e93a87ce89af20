cimport numpy as cnp

cdef object subtract_terms(cnp.ndarray c, cnp.ndarray columns, a_offset, cnp.ndarray rows, b_offset, Py_ssize_t k)
cdef cnp.ndarray row_sums(cnp.ndarray a)
