cimport numpy as cnp
from libc.stdint cimport uint8_t

from qops._kernels.gemm.tile cimport gemm_kernel

cdef class PackedWeights:
    cdef readonly tuple shape  # OIHW
    cdef readonly Py_ssize_t groups
    cdef readonly bint saturating
    cdef readonly str tier
    cdef readonly cnp.ndarray sums  # int32, of what is packed of each output channel; wraps mod 2^32
    cdef const gemm_kernel *kernel
    cdef bint is_shifted  # the weights were u8: 128 less are packed
    cdef bint depthwise
    cdef cnp.ndarray quads  # of depthwise weights, or None
    cdef cnp.ndarray memory, padded_sums
    cdef uint8_t *panels
