cimport numpy as cnp

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.frontdoor.layer_tables cimport LayerStage

cdef enum:
    MIDDLE = 128  # how far the middle code lies above the lowest

cdef struct OperandRange:  # the value of a code is (code - zero) * step + base; codes count from the lowest
    double step, zero, base, farthest, bias  # farthest: the largest absolute value; bias: of a column of weights

# a position is a code before it is rounded: value * each - first, clamped to whole numbers lowest..highest
cdef struct Positions:
    double each, first, lowest, highest

cdef int zero_in(cnp.ndarray codes, const OperandRange* x) noexcept

cdef class Epilogue:
    cdef Py_ssize_t k, n
    cdef Py_ssize_t kinds  # how many columns may differ: 1 with one range and no bias, because all are like the first
    cdef bint has_ranges  # whether each column of weights has a range of its own
    cdef bint in_steps
    cdef bint is_centred  # whether the middle code of the weights has the value 0 in every column
    cdef int typenum
    cdef Ends clip
    cdef tuple kept, guess
    cdef str names  # of both operands, for error texts
    cdef cnp.ndarray memory
    cdef OperandRange* columns
    cpdef OperandRange left(self, double lo, double hi) noexcept
    cdef inline double bias_of(self, const OperandRange* w, double step) noexcept nogil
    cdef double farthest(self, Py_ssize_t j, const OperandRange* x) noexcept
    cdef double farthest_of_all(self, const OperandRange* x) noexcept
    cdef Positions positions(self, double each, double first, double lowest, double highest) noexcept nogil
    cdef int set_columns(self, LayerStage stage, const OperandRange* x, const double* tops, Positions p) except -1
    cpdef object tops(self, OperandRange x)
    cpdef object kept_for(self, OperandRange x)
    cpdef LayerStage watch(self, OperandRange x, cnp.ndarray rows, object terms, Py_ssize_t m)
    cpdef tuple watched_range(self, LayerStage watched, OperandRange x)
    cpdef LayerStage stage(self, OperandRange x, cnp.ndarray rows, object terms, object ends)
