"""nnlib's QuantizedPRelu_8: a table of the results of all 256 codes for each channel."""

cimport numpy as cnp
from libc.stdint cimport uint8_t

import numpy as np

from qops._kernels.nnlib.fractions cimport fraction_16, shifted, shifted_left
from qops._kernels.nnlib.ranges cimport FloatEnds, Moved, adjust_minmax, exponent, power2, steps
from qops._kernels.stage.rounding cimport plus_half_dsp_s32, saturate_s16, saturate_u8

cnp.import_array()


cdef struct SlopeScale:
    float min, max  # of the result
    int zero, out_zero, right_shift
    int gain  # of codes from the zero on
    int alpha_shift, prescale, pre_shift  # gain of lower codes = half_up(prescale * alpha / 2**pre_shift)


cdef inline int fixed(float v, int bits) noexcept nogil:
    """v * 2**bits, rounded to 16 bits."""
    return saturate_s16(plus_half_dsp_s32(v * power2(bits)))


cdef inline int zero_of(float lo, float width) noexcept nogil:
    return saturate_u8(plus_half_dsp_s32(-steps() * lo / width))


cdef SlopeScale prepare(FloatEnds t, FloatEnds alpha) noexcept nogil:
    """`alpha` holds the least of 0 and every alpha, and the greatest."""
    cdef SlopeScale p
    cdef float largest = max(alpha.max, -alpha.min), width = t.max - t.min, gain
    cdef Moved wide = adjust_minmax(FloatEnds(t.min * alpha.max, max(t.max, t.min * alpha.min)), 0, <float>1e-6)
    cdef int bits
    p.min, p.max = wide.min, wide.max
    p.zero, p.out_zero = zero_of(t.min, width), zero_of(p.min, p.max - p.min)
    gain = width / (p.max - p.min)
    bits = max(0, exponent(gain * max(<float>1, largest)))
    p.right_shift = 7 - bits
    p.gain = fixed(gain, 15 - bits)
    p.alpha_shift = exponent(largest) if largest > 1 else 0
    p.prescale = fixed(gain, 15 - exponent(gain))
    p.pre_shift = (15 + bits - exponent(gain) - p.alpha_shift) & 15
    return p


cdef void fill(uint8_t* table, float alpha, SlopeScale p) noexcept nogil:
    """table = sat_u8(half_up((q15(128 * (q - zero), gain) + out_zero * 2**right_shift) / 2**right_shift))."""
    cdef int q, y, negative
    negative = saturate_s16(shifted(fixed(alpha, 15 - p.alpha_shift) * p.prescale, p.pre_shift))
    for q in range(256):
        y = fraction_16(128 * (q - p.zero), negative if q < p.zero else p.gain)
        table[q] = saturate_u8(shifted(saturate_s16(y + shifted_left(p.out_zero, p.right_shift)), p.right_shift))


def integers(float lo, float hi, float alpha_min, float alpha_max):
    """The numbers of the tables, as a dict; a right shift below 0, or an alpha shift above 7, is refused."""
    return prepare(FloatEnds(lo, hi), FloatEnds(min(alpha_min, <float>0), max(alpha_max, <float>0)))


def tables(dict p not None, cnp.ndarray alphas not None):
    """Give the table of each channel, (C, 256)."""
    cdef SlopeScale numbers = p
    cdef Py_ssize_t c, channels = cnp.PyArray_SIZE(alphas)
    cdef const float* values = <float*>cnp.PyArray_DATA(alphas)
    cdef cnp.ndarray made = np.empty((channels, 256), np.uint8)
    cdef uint8_t* codes = <uint8_t*>cnp.PyArray_DATA(made)
    for c in range(channels):
        fill(codes + 256 * c, values[c], numbers)
    return made
