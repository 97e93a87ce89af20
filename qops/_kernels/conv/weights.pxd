cimport numpy as cnp
from libc.stdint cimport uint8_t

from qops._kernels.gemm.tile cimport gemm_kernel

cdef class PackedWeights:
    cdef readonly tuple shape  # OIHW
    cdef readonly Py_ssize_t groups
    cdef Py_ssize_t oc, ic, kh, kw  # output channels of one group, and the rest of the shape
    cdef readonly bint saturating
    cdef readonly str tier
    cdef readonly cnp.ndarray sums  # int32: the sum of the packed weights of each output channel, modulo 2^32
    cdef const gemm_kernel *kernel
    cdef readonly bint is_shifted  # whether the weights were u8 and are packed as w - 128
    cdef bint depthwise
    cdef bint merged  # whether a row of taps is one run of quads, whose channels fill no quads by themselves
    cdef cnp.ndarray memory  # holds the panels, or depthwise weights as gemm/depthwise.h takes them
    # `sums`, with zeros that fill the last vector of each group; depthwise: repeated until a vector is full
    cdef cnp.ndarray padded_sums
    cdef uint8_t *panels  # the first cache line in memory
