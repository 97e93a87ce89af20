cimport numpy as cnp
from libc.stdint cimport uint8_t, uint32_t

from qops._kernels.gemm.blocks cimport Product

cdef void subtract_row(uint32_t *c, const uint32_t *offsets, uint32_t sum, Py_ssize_t n) noexcept nogil
cdef void subtract_offsets(const Product *p, uint32_t a_offset, const uint32_t *a_offsets, const uint32_t *columns,
                           const uint32_t *b_offsets) noexcept nogil
cdef const uint32_t *numbers(cnp.ndarray x) noexcept
cdef cnp.ndarray row_sums(cnp.ndarray a)
cdef cnp.ndarray words(x, cnp.npy_intp n)
cdef uint32_t sum_row(const uint8_t *x, bint is_signed, Py_ssize_t n) noexcept nogil
