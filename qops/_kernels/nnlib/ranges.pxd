from libc.stdint cimport uint32_t

from qops._kernels.arrays.codes cimport code_type_of


cdef struct FloatEnds:
    float min, max


cdef struct Adjusted:
    float min, max, step, recip_step


cdef struct Moved:
    int code  # -1: no range, 0: nothing moved, 1: min moved, 2: max moved, 3: both moved
    float min, max


cdef struct Level:
    int zero
    float step


cdef inline float steps() noexcept nogil:
    """The number of uint8 code steps of a range."""
    return <float>code_type_of(False, 1).steps


cdef inline float level_32(float width) noexcept nogil:
    """The step of int32 codes."""
    return width / <float>code_type_of(True, 4).steps


cdef inline float divisible(float width) noexcept nogil:
    """The width of a range, but at least 1e-18, so that one can divide by it."""
    return max(width, <float>1e-18)


cdef uint32_t bits(float v) noexcept nogil
cdef int exponent(float v) noexcept nogil
cdef float power2(int n) noexcept nogil
cdef int quantize_int(float x, FloatEnds r) noexcept nogil
cdef Level level_of(float lo, float width) noexcept nogil
cdef Level level_zero(FloatEnds r) noexcept nogil
cdef Adjusted adjust_range(FloatEnds r) noexcept nogil
cdef Moved adjust_minmax(FloatEnds r, int fixed, float narrowest) noexcept nogil
