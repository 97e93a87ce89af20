"""nnlib's range helpers. They compute in float32, where each operation rounds."""

from libc.math cimport floorf, ldexpf, roundf
from libc.string cimport memcpy

from qops._kernels.stage.rounding cimport plus_half_dsp_s32, saturate_u8, truncate_dsp_s32

cdef enum:
    MIN_FIXED = 1
    MAX_FIXED = 2


cdef uint32_t bits(float v) noexcept nogil:
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
    """step = width / 255, zero = sat_u8(round_half_away(-lo / step))."""
    cdef Level p
    p.step = width / steps()
    p.zero = saturate_u8(plus_half_dsp_s32(-lo / p.step))
    return p


cdef Level level_zero(FloatEnds r) noexcept nogil:
    return level_of(r.min, r.max - r.min)


cdef bint near_integer(float fraction) noexcept nogil:
    """Whether a fraction is within 2**-14 of 0 or of 1. nnlib writes the latter as a decimal constant."""
    return fraction <= <float>6.103515625e-05 or fraction >= <float>0.999938965


cdef Adjusted adjust_range(FloatEnds r) noexcept nogil:
    """The range widened to hold 0, then one end moved outward until 0 is on a code."""
    cdef Adjusted p
    cdef float range_, z, zi, zf
    p.min = r.min if r.min <= 0 else <float>0
    p.max = r.max if r.max > 0 else <float>0
    range_ = divisible(p.max - p.min)
    p.recip_step = steps() / range_
    z = -p.min * p.recip_step
    zi = floorf(z)
    zf = z - zi
    if p.min < 0 and not near_integer(zf):
        if zi > 0 and (zi > 253 or (zf - <float>1) * p.min >= zf * p.max):
            range_ = -steps() * p.min / zi
            p.max = p.min + range_
        else:
            p.min = p.max * (zi + <float>1) / (zi - <float>254)
            range_ = p.max - p.min
        p.recip_step = steps() / range_
    p.step = range_ / steps()
    return p


cdef bint max_moves(int fixed, float z, float zi, float min_cost, float max_cost) noexcept nogil:
    """Whether max moves, not min: the cheaper end, or the free end unless it costs 8 times as much."""
    if fixed == MIN_FIXED:
        return zi >= 1 and (z >= <float>192.25 or min_cost * <float>8 > max_cost)
    if fixed == MAX_FIXED:
        return z >= <float>63.75 and (zi >= 254 or min_cost > max_cost * <float>8)
    if fixed:
        return z >= <float>192.25
    return zi >= 1 and (zi >= 254 or min_cost >= max_cost)


cdef Moved adjust_minmax(FloatEnds r, int fixed, float narrowest) noexcept nogil:
    """Move an end until 0 is on a code: a free end outward, a fixed end to the nearest code, two fixed ends equally."""
    cdef Moved p = Moved(-1, r.min, r.max)
    cdef float width = r.max - r.min, z, zi, zf, nearest, shift
    if not width > 0 or width < narrowest:
        return p
    p.code = 0
    z = -steps() * r.min / width
    zi = floorf(z)
    zf = z - zi
    if r.min == 0 or near_integer(zf):
        return p
    nearest = zi + <float>1 if zf >= <float>0.5 else zi
    if fixed == MIN_FIXED + MAX_FIXED and <float>63.75 < z < <float>192.25:
        shift = (z - nearest) * width * <float>(1.0 / steps())
        return Moved(3, r.min + shift, r.max + shift)
    if max_moves(fixed, z, zi, (zf - <float>1) * r.min, zf * r.max):
        p.code = 2
        p.max = r.min - steps() * r.min / (nearest if fixed & MAX_FIXED else zi)
    else:
        p.code = 1
        nearest = nearest if fixed & MIN_FIXED else zi + <float>1
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
