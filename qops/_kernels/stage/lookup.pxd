cimport numpy as cnp

cdef object look_up(cnp.ndarray codes, void* table, cnp.ndarray out)
cdef void look_up_1(char** data, Py_ssize_t n, void* using) noexcept nogil
