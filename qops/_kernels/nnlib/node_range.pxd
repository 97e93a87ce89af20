cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.nnlib.ranges cimport FloatEnds
from qops._kernels.stage.integer_stage cimport IntegerParams

cdef struct Steepness:  # how steep the fraction multiply is in an output range
    float step, gain  # the step of the output, and how many of them a step of the sums is, at most

cdef struct Gain:  # the numbers of the fraction multiply in one output range
    float step
    int left_shift
    IntegerParams* channels  # one, or one for each channel, which have the same shift
    Py_ssize_t count

cdef class Scales:
    cdef readonly float largest
    cdef cnp.ndarray each  # float32, or None
    cdef Py_ssize_t count(self)

cdef class NodeRange:
    cdef FloatEnds now, given
    cdef readonly int fixed
    cdef bint is_guess
    # the numbers of a first guess that was widened, and the range and shape of the images that they hold for; or None
    cdef Steepness guess
    cdef Ends guess_range
    cdef tuple guess_shape

    cdef NodeRange copy(self)
    cdef FloatEnds adjusted(self, FloatEnds r)
    cdef Steepness gain(self, float product, float largest, Ends x, cnp.ndarray image, bint widens) except *
    cdef Steepness widen(self, float steep)
    cdef Steepness steepness(self, float steep)
    cdef bint retried(self, float step, int64_t lowest, int64_t highest, bint keeps_given, FloatEnds* found)

cdef void set_gain(Gain* made, Steepness found, float product, Scales scales)
