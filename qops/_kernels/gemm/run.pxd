from qops._kernels.gemm.blocks cimport Product

cdef class Part:
    cdef object arrays  # what it reads and writes lives as long as it does, even if its caller is interrupted
    cdef int work(self) noexcept nogil

cdef int run_product(const Product *p, Py_ssize_t num_threads, arrays) except -1
