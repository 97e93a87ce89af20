"""The DSP's products of 16-bit fractions, and the polynomials that it evaluates with them."""

from libc.stdint cimport INT32_MAX, INT32_MIN, int16_t, int32_t, int64_t, uint64_t

from qops._kernels.stage.rounding cimport clamp_s64, saturate_s16, wrap_s16

ctypedef int16_t[16] Row  # one coefficient of a polynomial of 16 segments


cdef inline int16_t fraction_16(int64_t a, int64_t b) noexcept nogil:
    """half_up(a * b / 2**15) of 16-bit numbers: vmpy(h, h):<<1:rnd:sat."""
    return saturate_s16((2 * a * b + 0x8000) >> 16)


cdef inline int32_t fraction_32(int64_t a, int64_t b) noexcept nogil:
    """half_up(a * b / 2**15) of a 32-bit and a 16-bit number: vmpyo(w, h):<<1:rnd:sat."""
    return <int32_t>clamp_s64(((a * b >> 14) + 1) >> 1, INT32_MIN, INT32_MAX)


cdef inline int64_t shifted(int64_t v, int bits) noexcept nogil:
    """The integer nearest to v / 2**bits, half up; v itself for bits == 0."""
    return (v + (1LL << bits >> 1)) >> bits


cdef inline int64_t shifted_left(int64_t v, int bits) noexcept nogil:
    """v * 2**bits, of which the lowest 64 bits stay: C does not define a shift of a negative number to the left."""
    return <int64_t>(<uint64_t>v << bits)


cdef inline int16_t segment_16(const Row* c, int segment, int x) noexcept nogil:
    """c[0] + (c[1] + c[2] * x) * x of one of 16 segments, in fractions; the sums wrap."""
    cdef int16_t slope = wrap_s16(fraction_16(c[2][segment], x) + c[1][segment])
    return wrap_s16(fraction_16(slope, x) + c[0][segment])


cdef inline int quarter(uint64_t four, int x) noexcept nogil:
    """The 16-bit constant of the quarter of 0..65535 in which x lies; the lowest quarter is in the lowest bits."""
    return <int>(four >> 16 * (x >> 14) & 0xFFFF)


cdef inline int16_t horner_16(int64_t p, int x, uint64_t four, int sign) noexcept nogil:
    """sat_s16((p * x +- c * 2**15) >> 16), c the constant of x's quarter: vmpa and vmps of V65."""
    return saturate_s16((p * x + sign * (<int64_t>quarter(four, x) << 15)) >> 16)
