cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.stage.float_stage cimport DoubleParams, FloatParams
from qops._kernels.stage.integer_stage cimport IntegerParams
from qops._kernels.stage.rounding cimport Rounding
from qops._kernels.stage.stage cimport Kind, Stage

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
    cdef bytes table  # the numbers of channels, if there are several
    cdef PreparedStage first  # the stage before, if there is one
    # room for the numbers of channels, which the caller writes; then it calls `ready`
    cdef IntegerParams* integers(self, Py_ssize_t count) except NULL
    cdef float* reals(self, FloatParams p, Py_ssize_t count) except NULL
    cdef double* doubles(self, DoubleParams p, Py_ssize_t count) except NULL
    cdef void ready(self) noexcept
    cdef char* room(self, Kind kind, Py_ssize_t count, int own, int repeated) except NULL
    cpdef object run(self, cnp.ndarray x, cnp.ndarray out, Py_ssize_t inner=*)
    cdef object make(self, cnp.ndarray x, int x_type, cnp.ndarray out, int c_type, Py_ssize_t inner)
    cdef int check_input(self, cnp.ndarray x) except -1

cdef PreparedStage two_stages(PreparedStage first, PreparedStage last)

cdef class FloatStage(PreparedStage):
    pass
