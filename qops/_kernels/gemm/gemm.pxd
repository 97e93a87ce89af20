cimport numpy as cnp
from libc.stdint cimport uint32_t

from qops._kernels.gemm.blocks cimport Product
from qops._kernels.gemm.packed cimport PackedB

cdef cnp.ndarray result(out, cnp.npy_intp m, cnp.npy_intp n, cnp.ndarray a, cnp.ndarray b)
cdef void set_left(Product *p, cnp.ndarray a, uint32_t a_offset) noexcept
cdef int set_packed(Product *p, PackedB packed) except -1
cdef bint is_zero(x)
cdef int multiply(cnp.ndarray c, cnp.ndarray a, b, tuple pairs, bint accumulate, Py_ssize_t num_threads, int on,
                  uint32_t a_offset=*) except -1
cpdef cnp.ndarray product(a, b, out=*, tuple offsets=*, bias=*, pairs=*, bint accumulate=*, Py_ssize_t num_threads=*)
