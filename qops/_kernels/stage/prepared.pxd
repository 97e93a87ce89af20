cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.stage.double_stage cimport DoubleParams
from qops._kernels.stage.float_stage cimport FloatParams
from qops._kernels.stage.integer_stage cimport IntegerParams
from qops._kernels.stage.rounding cimport Rounding
from qops._kernels.stage.stage cimport Stage

cdef enum Split:  # where a right shift is split, to be rounded twice
    ONCE  # nowhere: it is rounded once
    AT_31  # 31 bits, then the rest; of a shorter shift, the accumulator is shifted to the left first
    PAST_31  # the same, but a shift of up to 31 bits is rounded once
    LAST_BIT  # all bits but one, then that one
    INTO_16  # there are two stages: the first shifts the accumulator into 16 bits

cdef enum Wraps:  # what wraps in 32 bits, see integer_stage.pxd; the left shift of a split at 31 always does
    NOTHING
    PRODUCT
    HIGH
    CODE

cdef struct IntegerRule:  # the numbers of an integer stage besides the multiplier and the right shift
    Rounding first, second
    int split, wraps, shifted, zero_point, lowest, highest

# the words of a rule, and their numbers
cdef dict ROUNDINGS, FORMS, BEYONDS, SPLITS, WRAPS

cdef IntegerParams params_of(int64_t multiplier, int n, const IntegerRule* r) noexcept nogil

cdef class PreparedStage:
    cdef Stage stage  # its holders copy it; they keep this object, whose memory it points into
    cdef int check_input(self, cnp.ndarray x) except -1

cdef class IntegerStage(PreparedStage):
    cdef bytearray params, lanes
    cdef void set_one(self, int64_t multiplier, int right_shift, const IntegerRule* r) noexcept
    cdef int set_channels(self, cnp.ndarray multipliers, cnp.ndarray right_shifts, const IntegerRule* r) except -1
    cdef int set_params(self, bytearray memory) except -1

cdef class TwoStages(PreparedStage):
    cdef PreparedStage first, last

cdef class FloatStage(PreparedStage):
    cdef cnp.ndarray scales
    cdef int set_numbers(self, scales, FloatParams p) except -1

cdef class DoubleStage(PreparedStage):
    cdef cnp.ndarray scales
    cdef int set_numbers(self, scales, DoubleParams p) except -1

cdef PreparedStage stage_of_params(bytearray params)
