cimport numpy as cnp
from libc.stdint cimport uint8_t

from qops._kernels.product.blocks cimport Product
from qops._kernels.product.tile cimport gemm_kernel

cdef class PackedB:
    cdef readonly Py_ssize_t k, n
    cdef readonly bint saturating
    cdef readonly str tier
    cdef readonly cnp.ndarray colsum  # int32, one a column; wraps mod 2^32
    cdef const gemm_kernel *kernel
    cdef cnp.ndarray runs, memory, sums
    cdef Py_ssize_t quads
    cdef uint8_t *panels

cdef cnp.ndarray result(out, cnp.npy_intp m, cnp.npy_intp n, cnp.ndarray a, cnp.ndarray b)
cdef void set_a(Product *p, cnp.ndarray a) noexcept
cdef void set_packed(Product *p, PackedB packed) noexcept
cdef void set_row_major(Product *p, cnp.ndarray b, bint saturating) noexcept
cdef int set_runs(Product *p, cnp.ndarray runs) except -1
cdef void set_c(Product *p, cnp.ndarray c, bint accumulate) noexcept
