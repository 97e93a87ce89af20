from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t


cdef struct Ends:
    float min, max


cdef struct Adjusted:
    float min, max, step, recip_step


cdef struct Moved:
    int code  # -1 no range, 0 left alone, 1 min moved, 2 max moved, 3 both
    float min, max


cdef struct Level:
    int zero
    float step


cdef inline int32_t chop(float v) noexcept nogil:
    """The DSP's float -> int32: toward zero, saturating, NaN to -1."""
    if v != v:
        return -1
    if v >= <float>2147483648.0:
        return 2147483647
    if v <= <float>-2147483648.0:
        return -2147483648
    return <int32_t>v


cdef inline int32_t half_away(float v) noexcept nogil:
    """Rounds by adding 0.5 in float32, which is inexact from 2**23 on."""
    return chop(v + (<float>-0.5 if v < 0 else <float>0.5))


cdef inline int wrap16(int64_t v) noexcept nogil:
    return <int16_t>(v & 0xFFFF)


cdef inline int32_t wrap32(int64_t v) noexcept nogil:
    return <int32_t><uint32_t>(v & 0xFFFFFFFFLL)


cdef inline int64_t clamp(int64_t v, int64_t lo, int64_t hi) noexcept nogil:
    return lo if v < lo else hi if v > hi else v


cdef inline int sat8(int64_t v) noexcept nogil:
    return <int>clamp(v, 0, 255)


cdef inline int sat16(int64_t v) noexcept nogil:
    return <int>clamp(v, -32768, 32767)


cdef inline int32_t sat32(int64_t v) noexcept nogil:
    return <int32_t>clamp(v, -2147483648LL, 2147483647)


cdef uint32_t bits(float v) noexcept nogil
cdef int exponent(float v) noexcept nogil
cdef float power2(int n) noexcept nogil
cdef int quantize_int(float x, Ends r) noexcept nogil
cdef Level level_zero(Ends r) noexcept nogil
cdef Adjusted adjust_range(Ends r) noexcept nogil
cdef Moved adjust_minmax(Ends r, int fixed, float narrowest) noexcept nogil
