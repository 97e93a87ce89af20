cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.nnlib.node_range cimport Gain, NodeRange
from qops._kernels.nnlib.ranges cimport FloatEnds

cdef struct FarSums:  # the extremes of sums, or of results in output steps before they saturate
    int64_t lowest, highest

cdef class Watched:
    cdef readonly cnp.ndarray far  # the lowest sum of each channel, then the highest
    cdef list sums  # arrays
    cdef cnp.ndarray channels, words, less, more
    cdef bint is_shifted_twice, needs_shift

    cdef int add(self, cnp.ndarray sums) except -1
    cdef FarSums found(self, cnp.ndarray words, const Gain* gain)
    cdef FarSums results(self, cnp.ndarray far_sums, cnp.ndarray words, const Gain* gain, int shift)
    cdef FarSums worded(self, cnp.ndarray words)
    cdef cnp.ndarray wrapped(self, cnp.ndarray words, int shift)

cpdef Watched watched(cnp.ndarray sums)
cdef bint next_range(NodeRange ends, list seen, cnp.ndarray words, const Gain* gain, bint keeps_given,
                     FloatEnds* found) except -1
