cimport numpy as cnp
from libc.stdint cimport uint8_t

from qops._kernels.gemm.tile cimport gemm_kernel

cdef class PackedB:
    cdef readonly Py_ssize_t k, n
    cdef readonly bint saturating
    cdef readonly str tier
    cdef readonly cnp.ndarray colsum  # int32: the sum of each packed column, modulo 2^32
    cdef const gemm_kernel *kernel
    cdef bint is_shifted  # whether B was u8 and is packed as B - 128
    cdef cnp.ndarray runs  # see `runs_of`
    cdef cnp.ndarray memory  # holds the panels
    cdef cnp.ndarray sums  # colsum, padded to whole vectors
    cdef Py_ssize_t quads  # of all runs
    cdef uint8_t *panels  # the first cache line in memory

cdef cnp.ndarray matrix(x, str name)
cdef inline cnp.ndarray by_rows(cnp.ndarray a):
    """Give the matrix a, or a copy if its rows are not contiguous."""
    if cnp.PyArray_STRIDE(a, 1) != 1 and cnp.PyArray_DIM(a, 1) > 1:
        return cnp.PyArray_GETCONTIGUOUS(a)
    return a
cdef cnp.ndarray signed_codes(cnp.ndarray b)
cdef cnp.ndarray panels_for(int quad, Py_ssize_t columns, Py_ssize_t quads)
cdef cnp.ndarray runs_of(const gemm_kernel *kernel, Py_ssize_t k, pairs)
