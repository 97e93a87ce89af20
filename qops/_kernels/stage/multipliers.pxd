"""How a rule makes an integer multiplier of a real scale, or what it takes instead."""

from libc.stdint cimport int64_t

cdef enum MultiplierKind:
    BITS_31
    BELOW_30
    HALF_DOWN
    REDUCED_LATER  # 31 bits, of which the loop takes 16
    REDUCED
    MANTISSA_24
    MANTISSA_31
    MANTISSA_15
    BITS_7
    BITS_8
    GIVEN  # no multiplier is made of a scale
    FLOAT_32  # from here on the scale stays real
    FLOAT_32_OF_31
    FLOAT_64
    FLOAT_64_OF_32

cdef struct Multiplier:
    int64_t m, right_shift

cdef dict KINDS
cdef int64_t reduced(int64_t m) noexcept nogil
cdef Multiplier multiplier(double scale, MultiplierKind kind) noexcept nogil
cdef bint fits(Multiplier p) noexcept nogil
