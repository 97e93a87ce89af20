from qops._kernels.gemm.blocks cimport Product

cdef int product(const Product *p) noexcept nogil
