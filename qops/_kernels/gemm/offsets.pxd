cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t

cdef void subtract_row(uint32_t *c, const uint32_t *of_columns, const uint32_t *offsets, uint32_t sum,
                       Py_ssize_t n) noexcept nogil
cdef object subtract_terms(cnp.ndarray c, cnp.ndarray columns, a_offset, cnp.ndarray rows, b_offset, Py_ssize_t k)
cdef cnp.ndarray row_sums(cnp.ndarray a)
cdef cnp.ndarray words(x, cnp.npy_intp n)
cdef uint32_t sum_row(const uint8_t *x, bint is_signed, Py_ssize_t n) noexcept nogil
