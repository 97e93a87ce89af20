"""nnlib's range helpers. They compute in float32, where each operation rounds."""

from libc.math cimport floorf, ldexpf, roundf
from libc.string cimport memcpy

from qops._kernels.stage.rounding cimport plus_half_dsp_s32, saturate_u8, truncate_dsp_s32

cdef enum:
    MIN_FIXED = 1
    MAX_FIXED = 2


cdef uint32_t bits(float v) noexcept nogil:
    """The bits of a float32, as an integer."""
    cdef uint32_t result
    memcpy(&result, &v, 4)
    return result


cdef int exponent(float v) noexcept nogil:
    """The exponent that frexp gives, read from the exponent field: 129 for infinity and NaN, -126 for 0."""
    return <int>(bits(v) >> 23 & 0xFF) - 126


cdef float power2(int n) noexcept nogil:
    return ldexpf(<float>1, n)


cdef int quantize_int(float x, FloatEnds r) noexcept nogil:
    """round_half_away((x - min) * (255 / range)), not cut to any code range."""
    return truncate_dsp_s32(roundf((x - r.min) * (steps() / divisible(r.max - r.min))))


cdef Level level_of(float lo, float width) noexcept nogil:
    """The step and zero of a range that begins at lo: width / 255 and sat_u8(round_half_away(-lo / step))."""
    cdef Level p
    p.step = width / steps()
    p.zero = saturate_u8(plus_half_dsp_s32(-lo / p.step))
    return p


cdef Level level_zero(FloatEnds r) noexcept nogil:
    """The step of uint8 codes in a range, and the code of 0."""
    return level_of(r.min, r.max - r.min)


cdef bint near_integer(float fraction) noexcept nogil:
    """Whether a fraction is within 2**-14 of 0 or of 1. nnlib writes the latter as a decimal constant."""
    return fraction <= <float>6.103515625e-05 or fraction >= <float>0.999938965


cdef Adjusted adjust_range(FloatEnds r) noexcept nogil:
    """The range widened to hold 0, then one end moved outward until 0 is on a code."""
    cdef Adjusted p
    cdef float width, zero, whole, fraction
    p.min = r.min if r.min <= 0 else <float>0
    p.max = r.max if r.max > 0 else <float>0
    width = divisible(p.max - p.min)
    p.recip_step = steps() / width
    zero = -p.min * p.recip_step
    whole = floorf(zero)
    fraction = zero - whole
    if p.min < 0 and not near_integer(fraction):
        if whole > 0 and (whole > 253 or (fraction - <float>1) * p.min >= fraction * p.max):
            width = -steps() * p.min / whole
            p.max = p.min + width
        else:
            p.min = p.max * (whole + <float>1) / (whole - <float>254)
            width = p.max - p.min
        p.recip_step = steps() / width
    p.step = width / steps()
    return p


cdef bint max_moves(int fixed, float zero, float whole, float min_cost, float max_cost) noexcept nogil:
    """Whether max moves, not min: the cheaper end does, or the free end unless it costs 8 times as much.

    `zero` is the position of 0 in codes, `whole` its whole part.
    """
    if fixed == MIN_FIXED:
        return whole >= 1 and (zero >= <float>192.25 or min_cost * <float>8 > max_cost)
    if fixed == MAX_FIXED:
        return zero >= <float>63.75 and (whole >= 254 or min_cost > max_cost * <float>8)
    if fixed:
        return zero >= <float>192.25
    return whole >= 1 and (whole >= 254 or min_cost >= max_cost)


cdef Moved adjust_minmax(FloatEnds r, int fixed, float narrowest) noexcept nogil:
    """Move an end until 0 is on a code: a free end outward, a fixed end to the nearest code, two fixed ends equally."""
    cdef Moved p = Moved(-1, r.min, r.max)
    cdef float width = r.max - r.min, zero, whole, fraction, nearest, shift
    if not width > 0 or width < narrowest:
        return p
    p.code = 0
    zero = -steps() * r.min / width
    whole = floorf(zero)
    fraction = zero - whole
    if r.min == 0 or near_integer(fraction):
        return p
    nearest = whole + <float>1 if fraction >= <float>0.5 else whole
    if fixed == MIN_FIXED + MAX_FIXED and <float>63.75 < zero < <float>192.25:
        shift = (zero - nearest) * width * <float>(1.0 / steps())
        return Moved(3, r.min + shift, r.max + shift)
    if max_moves(fixed, zero, whole, (fraction - <float>1) * r.min, fraction * r.max):
        p.code = 2
        p.max = r.min - steps() * r.min / (nearest if fixed & MAX_FIXED else whole)
    else:
        p.code = 1
        nearest = nearest if fixed & MIN_FIXED else whole + <float>1
        p.min = r.max * nearest / (nearest - steps())
    return p


def f32(float v):
    """Round to float32."""
    return v


def quantized(float x, float lo, float hi):
    """round_half_away((x - min) * (255 / range)) of one number."""
    return quantize_int(x, FloatEnds(lo, hi))


def level(float lo, float hi):
    """Give (zero, step)."""
    cdef Level p = level_zero(FloatEnds(lo, hi))
    return p.zero, p.step


def step_32(float lo, float hi):
    """The step of int32 codes."""
    return level_32(hi - lo)


def adjusted(float lo, float hi):
    """Give (min, max, step, recip_step)."""
    cdef Adjusted p = adjust_range(FloatEnds(lo, hi))
    return p.min, p.max, p.step, p.recip_step


def moved(float lo, float hi, int fixed, float narrowest):
    """Give (code, min, max)."""
    cdef Moved p = adjust_minmax(FloatEnds(lo, hi), fixed, narrowest)
    return p.code, p.min, p.max
