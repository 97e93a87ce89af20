from qops._kernels.gemm.blocks cimport Product

cdef enum:
    BRIEF = 1 << 18  # a product of at most so many multiplications, about 1 us with vectors, keeps the GIL

cdef int product(const Product *p) noexcept nogil
cdef int run_product(const Product *p, Py_ssize_t num_threads) except -1
