from qops._kernels.product.blocks cimport Product

cdef run_product(const Product *p, Py_ssize_t num_threads, arrays)
