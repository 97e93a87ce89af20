from qops._kernels.gemm.blocks cimport Product

cdef int run_product(const Product *p, Py_ssize_t num_threads) except -1
