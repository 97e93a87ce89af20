"""The kinds of multipliers: how a rule makes an integer multiplier of a real scale, or which float it keeps."""

from libc.stdint cimport int64_t

cdef enum MultiplierKind:
    BITS_31
    BELOW_30
    BELOW_1  # a scale of 1 or more gives the multiplier 0
    HALF_DOWN
    REDUCED_LATER  # the rule names 31 bits, but its loop rounds them to 16
    REDUCED
    MANTISSA_24
    MANTISSA_31
    MANTISSA_15
    BITS_7
    BITS_8
    FRACTION_31
    GIVEN  # the caller gives the integers; the rule makes none of a scale
    FLOAT_32  # this kind and all below keep the scale as a float
    FLOAT_32_OF_31
    FLOAT_64
    FLOAT_64_OF_32

cdef struct Multiplier:
    int64_t m, right_shift

cdef struct SumMultipliers:  # of the operands a and b of a sum, and of the result
    Multiplier a, b, y

cdef enum:
    MOST_SHIFT = 62  # the largest right shift that the loops take

cdef dict KINDS
cdef int64_t reduced(int64_t m) noexcept nogil
cdef Multiplier multiplier(double scale, MultiplierKind kind) noexcept nogil
cdef bint fits(Multiplier p) noexcept nogil
cdef SumMultipliers relative_multipliers(double a_scale, double b_scale, double y_scale, int left_shift,
                                         MultiplierKind kind) except *
cdef SumMultipliers ratio_multipliers(double a_scale, double b_scale, double y_scale, int bits) except *
cdef double derived_scale(str derive, double a, double b, double y) noexcept
cpdef tuple formed(tuple scales, str derive)
