from qops._kernels.gemm_product cimport Product

cdef run_product(const Product *p, Py_ssize_t num_threads, arrays)
