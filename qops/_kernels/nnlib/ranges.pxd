from libc.stdint cimport uint32_t

cdef enum:
    STEPS = 255  # from the lowest to the highest uint8 code


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


cdef inline float divisible(float width) noexcept nogil:
    """The width of a range, or 1e-18 if it is narrower: what the original divides by."""
    return max(width, <float>1e-18)


cdef uint32_t bits(float v) noexcept nogil
cdef int exponent(float v) noexcept nogil
cdef float power2(int n) noexcept nogil
cdef int quantize_int(float x, Ends r) noexcept nogil
cdef Level level_of(float lo, float width) noexcept nogil
cdef Level level_zero(Ends r) noexcept nogil
cdef Adjusted adjust_range(Ends r) noexcept nogil
cdef Moved adjust_minmax(Ends r, int fixed, float narrowest) noexcept nogil
