"""nnlib's own floats: value = mantissa * 2**-(15 + exponent), both of 16 bits, the mantissa normalized."""

from libc.stdint cimport int16_t, int64_t, uint64_t

from qops._kernels.nnlib.fractions cimport fraction_16, shifted_left
from qops._kernels.nnlib.ranges cimport bits as bits_of, power2
from qops._kernels.stage.rounding cimport wrap_s16


cdef struct ShortFloat:
    int16_t mantissa, exponent


cdef inline int sign_bits(int64_t v, int width) noexcept nogil:
    """How many bits behind the first of a number of `width` bits are equal to it."""
    cdef int n = 0
    if v < 0:
        v = ~v
    while n < width - 1 and not v >> (width - 2 - n) & 1:
        n += 1
    return n


cdef inline ShortFloat normalized(int64_t mantissa, int exponent) noexcept nogil:
    cdef int n = sign_bits(mantissa, 16)
    return ShortFloat(wrap_s16(shifted_left(mantissa, n)), wrap_s16(exponent + n))


cdef inline ShortFloat of_float(float v) noexcept nogil:
    """The mantissa is rounded half up; of 0 it is a half."""
    cdef int64_t word = bits_of(v), mantissa = (word << 7 | 0x40000000) & 0x7FFFFF80
    if word >> 31:
        mantissa = -mantissa
    return ShortFloat(wrap_s16((mantissa + (1 << 15)) >> 16), <int16_t>(126 - (word >> 23 & 0xFF)))


cdef inline ShortFloat of_integer(int64_t v) noexcept nogil:
    """An int32, rounded down."""
    cdef int n = sign_bits(v, 32)
    return ShortFloat(wrap_s16(shifted_left(v, n) >> 16), <int16_t>(n - 31))


cdef inline ShortFloat of_uint64(uint64_t v) noexcept nogil:
    """Rounded down."""
    cdef int length = 0
    while length < 64 and v >> length:
        length += 1
    return ShortFloat(<int16_t>((v >> (length - 15)) if length >= 15 else (v << (15 - length))), <int16_t>-length)


cdef inline float to_float(ShortFloat v) noexcept nogil:
    return <float>v.mantissa * power2(-15 - v.exponent)


cdef inline ShortFloat multiply(ShortFloat a, ShortFloat b) noexcept nogil:
    return normalized(fraction_16(a.mantissa, b.mantissa), wrap_s16(a.exponent + b.exponent))


cdef inline int64_t at(ShortFloat v, int exponent) noexcept nogil:
    """The mantissa of v at a smaller exponent, rounded down, after 15 bits at most."""
    return v.mantissa >> min(v.exponent - exponent, 15)


cdef inline ShortFloat add(ShortFloat a, ShortFloat b) noexcept nogil:
    """Half of the sum is rounded half up."""
    cdef int e = min(a.exponent, b.exponent)
    return normalized((at(a, e) + at(b, e) + 1) >> 1, wrap_s16(e - 1))


cdef inline ShortFloat subtract(ShortFloat a, ShortFloat b) noexcept nogil:
    """Half of the difference is rounded down."""
    cdef int e = min(a.exponent, b.exponent)
    return normalized((at(a, e) - at(b, e)) >> 1, wrap_s16(e - 1))


cdef inline ShortFloat flushed(ShortFloat v) noexcept nogil:
    """A 0 gets an exponent of 15."""
    return v if v.mantissa else ShortFloat(0, 15)


cdef inline bint greater(ShortFloat a, ShortFloat b) noexcept nogil:
    """Whether a > b, as mantissas at the smaller exponent, rounded down."""
    cdef int e
    a, b = flushed(a), flushed(b)
    e = min(a.exponent, b.exponent)
    return at(a, e) > at(b, e)
