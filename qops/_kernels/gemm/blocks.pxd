from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t

from qops._kernels.gemm.tile cimport Run, gemm_kernel, shifts
from qops._kernels.machine.caches cimport Caches

cdef enum:
    NEAR_BYTES = 1 << 14  # the most packed bytes that are kept on the stack

ctypedef struct Product:
    const gemm_kernel *kernel
    Caches caches  # as they were when the op began, see run_product
    Py_ssize_t m, n, k
    const uint8_t *a  # u8 or s8, row-major
    Py_ssize_t lda
    bint a_signed
    uint32_t a_offset  # subtracted from each value of A; 0 if B is not packed
    int *set_up  # see gemm_tile
    const int8_t *b  # row-major B, or NULL and
    Py_ssize_t ldb
    const uint8_t *panels  # packed B
    const int32_t *sums  # and its column sums
    bint far  # packed B does not fit L2
    const Run *runs  # the runs of k, or NULL if there is one
    Py_ssize_t n_runs
    Py_ssize_t quads  # the quads of all runs
    int32_t *c
    Py_ssize_t ldc  # in elements; lda and ldb are in bytes
    bint accumulate

cdef Product some_columns(const Product *p, Py_ssize_t first, Py_ssize_t n) noexcept nogil
cdef Product some_terms(const Product *p, Py_ssize_t first, Py_ssize_t k) noexcept nogil
cdef bint packs_on_the_way(const Product *p) noexcept nogil
cdef int blocked_product(const Product *p) noexcept nogil

cdef inline bint shifted(const Product *p) noexcept nogil:
    """Whether A is signed, and the kernel takes it as a + 128."""
    return p.a_signed and shifts(p.kernel, p.set_up != NULL)
