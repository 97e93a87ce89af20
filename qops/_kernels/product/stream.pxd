from qops._kernels.product.blocks cimport Product

cdef int product(const Product *p) noexcept nogil
