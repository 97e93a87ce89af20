from libc.stdint cimport int64_t

from qops._kernels.stage.float_stage cimport Beyond
from qops._kernels.stage.multipliers cimport Multiplier, MultiplierKind
from qops._kernels.stage.prepared cimport PreparedStage, IntegerRule

cdef tuple NO_SCALES

cdef class Words:
    cdef readonly object rule
    cdef readonly str name
    cdef MultiplierKind kind
    cdef IntegerRule integer_rule  # its zero point and ends are not set
    cdef bint is_inside  # whether the zero point is added before the rounding
    cdef bint is_in_sum  # whether it is added to the accumulator, in steps of that
    cdef Beyond beyond
    cdef int multiplier_of(self, double scale, Multiplier* p) except -1

cdef Words as_words(rule)

cdef class Numbers:
    cdef readonly object factor
    cdef readonly tuple before_after
    cdef readonly int zero_point, lo, hi
    cdef readonly bint has_integers  # whether `factor` is a multiplier and a right shift, not a real scale
    cdef readonly bint can_wrap  # whether the sum with the zero point wraps for int64 accumulators only
    cdef readonly Words words
    cdef MultiplierKind kind
    cdef Py_ssize_t count  # of scales: one for each channel, or one for all
    cdef bint by_channel
    # `factor` in C: the scales, or the multipliers and the right shifts
    cdef const double* scales
    cdef const int64_t* multipliers
    cdef const int64_t* right_shifts
    cdef double scale_of_all
    cdef Multiplier multiplier_of_all
    cdef int set(self, rule, factor, int zero_point, int lo, int hi, tuple before_after) except -1
    cdef int set_channels(self, factor) except -1
    cdef int at(self, Py_ssize_t channel, Multiplier* p) except -1
    cdef int in_sum(self, Py_ssize_t channel, const Multiplier* p) except? -1
    cdef int loop_at(self, Py_ssize_t channel, Multiplier* p) except -1
    cdef tuple pair(self, bint for_loop)
    cpdef PreparedStage stage(self, bint is_wide=*)
    cdef PreparedStage short_stage(self, IntegerRule s)
    cdef PreparedStage real_stage(self)
    cdef double real_at(self, Py_ssize_t channel) except? -1
