"""The sum and the product of two tensors of codes by a rule."""

cimport numpy as cnp
from libc.stdint cimport int64_t

from qops._kernels.stage.multipliers cimport Multiplier, MultiplierKind
from qops._kernels.stage.binary_stage cimport BinaryForm, BinaryStage, Operand
from qops._kernels.stage.prepared cimport IntegerRule, PreparedStage
from qops._kernels.stage.rounding cimport Rounding
from qops._kernels.stage.rules cimport Words

cdef enum Made:
    SHIFT
    SHIFT_S8
    SHIFT_U8
    RATIOS
    ORT
    TORCH
    TORCH_TAIL
    TORCH_TAIL_OUTSIDE
    PRODUCT_OF_INTEGERS
    PRODUCT_IN_16_BITS
    PRODUCT_OF_REALS

cdef struct Integers:  # the integers of a port of a sum
    Multiplier a, b, y

cdef class Operands:
    cdef readonly double a_scale, b_scale, y_scale
    cdef readonly int a_zero_point, b_zero_point, y_zero_point, qmin, qmax
    cdef readonly object given  # integers
    cdef int lowest, highest, typenum, left_shift  # of the codes
    cdef int set(self, cnp.dtype dtype, tuple scales, tuple zero_points, int qmin, int qmax, given) except -1
    cdef Integers integers_of(self, tuple row, Words rule) except *
    cdef double real_scale(self, tuple row) except? -1
    cdef Integers relative(self, MultiplierKind kind) except *
    cdef Integers ratios(self, int bits) except *
    cdef PreparedStage last(self, Words rule, Multiplier p)
    cdef PreparedStage last_float(self, tuple row, float scale, float plus, int shift)
    cdef PreparedStage in_16_bits(self, Multiplier p, int64_t lo, int64_t hi, int wraps)
    cdef BinaryStage make(self, tuple row, Words rule)
    cdef BinaryStage shifted(self, Integers p, int a_left, int b_left, Rounding second, bint once, PreparedStage last)
    cdef int spare(self, Multiplier p) noexcept
    cdef PreparedStage rounded(self, Multiplier p, Rounding second, bint once)
    cdef BinaryStage optimised(self, Words rule, Integers p, bint is_signed)
    cdef BinaryStage by_ratios(self, Words rule, Integers p)
    cdef BinaryStage ort(self, tuple row)
    cdef BinaryStage torch(self, tuple row, Made made)
    cdef BinaryStage in_float32(self, BinaryForm form, Operand a, Operand b, PreparedStage last)
    cdef BinaryStage product(self, tuple row, Words rule, bint in_16_bits)
    cdef Multiplier factor_of(self, tuple row, Words rule) except *
    cdef BinaryStage float_product(self, tuple row, Words rule)
    cpdef BinaryStage times(self, PreparedStage last)
