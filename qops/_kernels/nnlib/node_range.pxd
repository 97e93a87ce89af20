cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from qops._kernels.nnlib.ranges cimport FloatEnds

cdef struct Steepness:  # how steep the fraction multiply is in an output range
    float step, gain  # the step of the output, and how many of them a step of the sums is, at most

cdef class Gain:
    cdef readonly float step
    cdef readonly cnp.ndarray multipliers  # int32, one, or one for each channel
    cdef readonly int left_shift

cdef class Scales:
    cdef readonly float largest
    cdef cnp.ndarray each  # float32, or None

cdef class NodeRange:
    cdef FloatEnds now, given
    cdef readonly int fixed
    cdef bint is_guess
    cdef Gain guess
    cdef object guess_of

    cdef NodeRange copy(self)
    cdef FloatEnds adjusted(self, FloatEnds r)
    cdef Gain gain(self, float product, Scales scales, images, bint widens)
    cdef Steepness widen(self, float steep)
    cdef Steepness steepness(self, float steep)
    cdef bint retried(self, float step, int64_t lowest, int64_t highest, bint keeps_given, FloatEnds* found)
