from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t

from qops._kernels.gemm.tile cimport Run, gemm_kernel, shifts
from qops._kernels.machine.caches cimport Caches

cdef enum:
    STACK_BYTES = 1 << 14  # scratch memory up to this size is on the stack

ctypedef struct Product:  # C (+)= A x B, see gemm.pyx
    const gemm_kernel *kernel
    Caches caches  # their sizes when the op began, see `take_caches`
    Py_ssize_t m, n, k
    const uint8_t *a  # u8 or s8, row-major
    Py_ssize_t lda
    bint a_signed
    uint32_t a_offset  # the zero point that is subtracted from A; 0 if B is not packed
    int *set_up  # see gemm_tile; NULL unless the matrix unit multiplies
    const int8_t *b  # row-major B; NULL if B is packed
    Py_ssize_t ldb
    const uint8_t *panels  # packed B; NULL if B is row-major
    const int32_t *sums  # the column sums of packed B
    bint exceeds_l2  # whether packed B does not fit in L2
    const Run *runs  # the runs of k; NULL if all of k is one run
    Py_ssize_t n_runs
    Py_ssize_t quads  # the quads of all runs
    int32_t *c
    Py_ssize_t ldc  # in elements; lda and ldb are in bytes
    bint accumulate
    bint spare  # see gemm_tile; C has memory for a vector behind its end

cdef void take_caches(Product *p) noexcept nogil
cdef Product some_columns(const Product *p, Py_ssize_t first, Py_ssize_t n) noexcept nogil
cdef Product some_terms(const Product *p, Py_ssize_t first, Py_ssize_t k) noexcept nogil
cdef int blocked_product(const Product *p) noexcept nogil

cdef inline bint shifted(const Product *p) noexcept nogil:
    """Whether A is signed and the kernel takes it as a + 128, so that the product must be corrected."""
    return p.a_signed and shifts(p.kernel, p.set_up != NULL)

cdef inline bint in_place(const Product *p) noexcept nogil:
    """Whether rows of A have the form of quads in memory, so that they need no packing."""
    return not p.kernel.widens and p.runs == NULL and p.k % 4 == 0
