cimport numpy as cnp

cdef object look_up(cnp.ndarray codes, void* table, cnp.ndarray out)
