"""Every rounding, saturation, clamp and wrap, once: the tie rule in the name, the type of the result behind it."""

from libc.math cimport copysignf, floor, floorf, rint, rintf, round, trunc, truncf
from libc.stdint cimport INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, INT64_MIN, UINT8_MAX, int16_t, int32_t, int64_t
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy


cdef extern from "stage/rounding.h":
    ctypedef enum Rounding "qops_rounding":
        FLOOR "QOPS_FLOOR"
        TRUNCATE "QOPS_TRUNCATE"
        HALF_UP "QOPS_HALF_UP"
        HALF_AWAY "QOPS_HALF_AWAY"
        HALF_EVEN "QOPS_HALF_EVEN"


cdef inline int64_t clamp_s64(int64_t v, int64_t lo, int64_t hi) noexcept nogil:
    return lo if v < lo else hi if v > hi else v


cdef inline float clamp_f32(float v, float lo, float hi) noexcept nogil:
    """NaN becomes lo."""
    v = v if v > lo else lo
    return v if v < hi else hi


cdef inline double clamp_f64(double v, double lo, double hi) noexcept nogil:
    """NaN becomes lo."""
    v = v if v > lo else lo
    return v if v < hi else hi


cdef inline uint8_t saturate_u8(int64_t v) noexcept nogil:
    return <uint8_t>clamp_s64(v, 0, UINT8_MAX)


cdef inline int16_t saturate_s16(int64_t v) noexcept nogil:
    return <int16_t>clamp_s64(v, INT16_MIN, INT16_MAX)


cdef inline int16_t wrap_s16(int64_t v) noexcept nogil:
    return <int16_t>(v & 0xFFFF)


cdef inline int32_t wrap_s32(int64_t v) noexcept nogil:
    return <int32_t><uint32_t>(v & 0xFFFFFFFFLL)


cdef inline int64_t half_up_high_s32(int64_t a, int64_t b) noexcept nogil:
    """half_up(a * b / 2**31) of int32, which saturates: gemmlowp's SaturatingRoundingDoublingHighMul."""
    cdef int64_t high = (a * b + (<int64_t>1 << 30)) >> 31
    return high if high < INT32_MAX else INT32_MAX


cdef inline int64_t shifted_half_away(int64_t v, int right_shift) noexcept nogil:
    """half_away(v / 2**right_shift): gemmlowp's RoundingDivideByPOT."""
    cdef int64_t half = (<int64_t>1 << right_shift) >> 1
    return (v + half - (v < 0 and right_shift > 0)) >> right_shift


cdef inline float fma_f32(float a, float b, float c) noexcept nogil:
    """a * b + c, rounded once. Not C's fmaf, which rounds twice in mingw's library.

    The product is exact in double. A sum that is not exact there gets an odd last bit, so that it is no tie of floats
    and lies on the right side of it.
    """
    cdef double product = <double>a * b
    cdef double total = product + c
    cdef double back = total - product
    cdef double rest = (product - (total - back)) + (c - back)
    cdef int64_t bits
    if rest < 0 or rest > 0:  # not NaN, which infinities leave
        memcpy(&bits, &total, sizeof(bits))
        if not bits & 1:
            bits += 1 if (rest > 0) == (total > 0) else -1
            memcpy(&total, &bits, sizeof(bits))
    return <float>total


cdef inline float half_away_f32(float v) noexcept nogil:
    """C's roundf, without its branches; the literal is the float32 before 0.5."""
    return truncf(v + copysignf(<float>0.49999997, v))


cdef inline float rounded_f32(float v, Rounding rounding) noexcept nogil:
    if rounding == FLOOR:
        return floorf(v)
    if rounding == TRUNCATE:
        return truncf(v)
    if rounding == HALF_UP:
        return floorf(v + <float>0.5)
    return half_away_f32(v) if rounding == HALF_AWAY else rintf(v)


cdef inline double rounded_f64(double v, Rounding rounding) noexcept nogil:
    if rounding == FLOOR:
        return floor(v)
    if rounding == TRUNCATE:
        return trunc(v)
    if rounding == HALF_UP:
        return floor(v + 0.5)
    return round(v) if rounding == HALF_AWAY else rint(v)


cdef inline int32_t truncate_x86_s32(float v) noexcept nogil:
    """Toward zero; what int32 does not hold, and NaN, give the lowest integer, as on x86."""
    return <int32_t>v if -<float>2147483648.0 <= v < <float>2147483648.0 else INT32_MIN


cdef inline int64_t truncate_x86_s64(double v) noexcept nogil:
    """Toward zero; what int64 does not hold, and NaN, give the lowest integer, as on x86."""
    return <int64_t>v if -9223372036854775808.0 <= v < 9223372036854775808.0 else INT64_MIN


cdef inline int32_t truncate_dsp_s32(float v) noexcept nogil:
    """Toward zero, saturating, NaN to -1, as on the Hexagon DSP."""
    if v != v:
        return -1
    if v >= <float>2147483648.0:
        return INT32_MAX
    return INT32_MIN if v <= <float>-2147483648.0 else <int32_t>v


cdef inline int32_t plus_half_dsp_s32(float v) noexcept nogil:
    """Half away from zero by adding 0.5 in float32, which is not exact for 0.49999997 and from 2**23 on."""
    return truncate_dsp_s32(v + (<float>-0.5 if v < 0 else <float>0.5))
