"""The sum and the product of two tensors of codes by a rule."""

cimport numpy as cnp

from qops._kernels.stage.binary_stage cimport BinaryStage
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.rules cimport Words

cdef enum:  # places of a rule's words in its row
    MADE = 2
    RULE = 3
    SCALE = 4
    DERIVED = 5
    TAIL = 7
    BEYOND = 8

cdef class Operands:
    cdef readonly double a_scale, b_scale, y_scale
    cdef readonly int a_zero_point, b_zero_point, y_zero_point, qmin, qmax
    cdef readonly object given  # integers
    cdef int lowest, highest, typenum, left_shift  # of the codes
    cdef bint takes_any  # zero points of a and b that are no codes, scales that are any distance apart
    cdef bint have_codes  # zero points of a and b that are codes
    cdef bint is_difference  # b is subtracted
    cdef int set(self, cnp.dtype dtype, tuple scales, tuple zero_points, int qmin, int qmax, given) except -1
    cdef BinaryStage make(self, tuple row, Words rule)
    cpdef BinaryStage times(self, PreparedStage last)
