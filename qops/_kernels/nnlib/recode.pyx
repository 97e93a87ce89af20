"""uint8 codes to uint8 codes of another range, as in nnlib's Requantize_8to8, minimum, maximum and concat.

    c = sat_u8(sat_s16((q + offset) * multiplier >> right_shift, half up) + zero)
"""

cimport numpy as cnp
from libc.math cimport fabsf, roundf
from libc.stdint cimport int64_t, uint8_t

from qops._kernels.stage.lookup cimport look_up_1
from qops._kernels.stage.rounding cimport (
    plus_half_dsp_s32, saturate_s16, saturate_u8, truncate_dsp_s32, wrap_s16, wrap_s32,
)
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.nnlib.ranges cimport FloatEnds, Level, exponent, level_zero, power2, steps

cnp.import_array()

cdef extern from "nnlib/recode.h":
    Py_ssize_t recode_u8__simd(int, const uint8_t*, uint8_t*, Py_ssize_t, recode_params) nogil

cdef enum:
    FRACTION = 15  # lanes shift right by FRACTION; for a smaller shift they first shift q + offset left


cdef inline uint8_t recoded(int q, recode_params p) noexcept nogil:
    """The new code of q; (1 << right_shift >> 1) is the half that rounds half up."""
    cdef int64_t x = wrap_s16(q + <int64_t>p.offset) if p.wraps else wrap_s32(q + <int64_t>p.offset)
    return saturate_u8(saturate_s16((x * p.multiplier + (1 << p.right_shift >> 1)) >> p.right_shift) + p.zero)


cdef bint fits_lanes(recode_params p) noexcept nogil:
    """Whether 16-bit lanes hold all numbers, after the shift left too."""
    cdef int left = FRACTION - p.right_shift, highest = 32767 >> left
    return p.multiplier <= 32767 and (-highest <= p.offset <= highest - <int>steps() or p.wraps and left == 0)


cdef void set_recoder(Recoder* r, recode_params p) noexcept nogil:
    """Set r to these numbers, with a table of all codes if 16-bit lanes do not hold the numbers."""
    cdef int q
    r.p, r.in_lanes = p, fits_lanes(p)
    if not r.in_lanes:
        for q in range(256):
            r.table[q] = recoded(q, p)


cdef void recode_codes(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = the new codes of x, computed if 16-bit lanes hold all numbers, otherwise looked up."""
    cdef const uint8_t* x = <uint8_t*>data[0]
    cdef uint8_t* c = <uint8_t*>data[1]
    cdef Recoder* r = <Recoder*>using
    cdef Py_ssize_t i
    if not r.in_lanes:
        look_up_1(data, n, r.table)
        return
    for i in range(recode_u8__simd(tier(), x, c, n, r.p), n):
        c[i] = recoded(x[i], r.p)


cdef object recode(recode_params p, cnp.ndarray x, cnp.ndarray out):
    """out = the new codes of x."""
    cdef Recoder r
    set_recoder(&r, p)
    walk(recode_codes, &r, x, out)


cdef recode_params prepare_to_range(FloatEnds a, FloatEnds c) noexcept nogil:
    """The numbers that take codes of the range a to codes of the range c: nnlib's minimum and maximum."""
    cdef Level old = level_zero(a), new = level_zero(c)
    cdef int multiplier = truncate_dsp_s32(roundf(<float>4096 * (old.step / new.step)))
    return recode_params(-old.zero, False, multiplier & 0xFFFF, 12, new.zero)


def to_range_integers(tuple a not None, tuple c not None):
    """The numbers of the loop from the range a to the range c, as a dict."""
    return prepare_to_range(FloatEnds(a[0], a[1]), FloatEnds(c[0], c[1]))


def to_range(tuple a not None, tuple c not None, cnp.ndarray out not None):
    """Write the codes of a in the range c to `out`."""
    recode(prepare_to_range(FloatEnds(a[1], a[2]), FloatEnds(c[0], c[1])), a[0], out)


cdef recode_params prepare_to_hull(FloatEnds a, FloatEnds c, bint vector) noexcept nogil:
    """The numbers that take codes of the range a to codes of a range c that holds it: nnlib's concat."""
    cdef float lo = a.min if a.min < 0 else <float>0, step = (a.max - lo) / steps()
    cdef int offset = max(0, plus_half_dsp_s32((lo - c.min) / step))
    cdef int gain = plus_half_dsp_s32(steps() / (c.max - c.min) * step * <float>32768)
    return recode_params(wrap_s16(offset) if vector else offset, vector, min(gain, 32767), FRACTION, 0)


def to_hull_integers(tuple a not None, tuple c not None, bint vector):
    """The numbers of the loop from the range a to a range c that holds it, as a dict. `vector`: 16-bit sums."""
    return prepare_to_hull(FloatEnds(a[0], a[1]), FloatEnds(c[0], c[1]), vector)


cdef recode_params prepare_8to8(float gain, int in_zero, int out_zero) noexcept nogil:
    """The numbers of Requantize_8to8. An input step is `gain` output steps."""
    cdef int old = saturate_s16(in_zero), new = saturate_s16(out_zero), right_shift = FRACTION
    if fabsf(gain - <float>1) < <float>6.103515625e-05:  # 2**-14: only the zero point changes
        return recode_params(0, True, 1 << (FRACTION - 1), FRACTION - 1, saturate_s16(new - old))
    if gain > 1:
        right_shift -= exponent(gain)
    return recode_params(-old, True, saturate_s16(plus_half_dsp_s32(gain * power2(right_shift))), right_shift, new)


def requantize_8_integers(float gain, int in_zero, int out_zero):
    """The numbers of the loop for this gain and these zero points, as a dict."""
    return prepare_8to8(gain, in_zero, out_zero)


def requantize_8to8(cnp.ndarray x not None, float gain, int in_zero, int out_zero, cnp.ndarray out not None):
    """Write the new codes of x to `out`. An input step is `gain` output steps."""
    recode(prepare_8to8(gain, in_zero, out_zero), x, out)


def gain_8to8(float in_min, float in_max, float out_min, float out_max):
    """Give (gain, in_zero, out_zero) of two ranges for Requantize_8to8, where zero = round(-255 * min / range)."""
    cdef float in_range = in_max - in_min, out_range = out_max - out_min
    return (in_range / out_range, saturate_u8(plus_half_dsp_s32(-steps() * in_min / in_range)),
            saturate_u8(plus_half_dsp_s32(-steps() * out_min / out_range)))
