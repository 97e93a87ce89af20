"""nnlib's QuantizedTanh_8 and QuantizedSigmoid_8: tables of the results of all 256 codes."""

cimport numpy as cnp
from libc.stdint cimport uint8_t

import numpy as np

from qops._kernels.nnlib.fractions cimport Row, fraction_16, shifted
from qops._kernels.nnlib.ranges cimport exponent, power2, steps
from qops._kernels.stage.rounding cimport plus_half_dsp_s32, saturate_s16, saturate_u8, wrap_s16

cnp.import_array()

cdef Row[3] TANH = [  # of [0, 3.2) in 16 segments, in units of 2**-15 * 255 / 256; c0, c1 / 4, c2
    [0, 6418, 12354, 17462, 21590, 24761, 27104, 28784, 29965, 30782, 31342, 31723, 31981, 32155, 32272, 32351],
    [26172, 25098, 22283, 18480, 14485, 10862, 7879, 5579, 3883, 2671, 1822, 1236, 835, 563, 378, 254],
    [-7994, -21652, -29653, -31481, -28797, -23876, -18511, -13703, -9826, -6894, -4766, -3262, -2217, -1500, -1011,
     -677],
]
cdef Row[3] SIGMOID = [
    [0, 6443, 12403, 17531, 21675, 24859, 27210, 28898, 30083, 30904, 31466, 31848, 32107, 32282, 32399, 32479],
    [26275, 25197, 22371, 18553, 14542, 10905, 7910, 5601, 3899, 2681, 1829, 1240, 838, 565, 380, 255],
    [-8026, -21738, -29770, -31605, -28910, -23970, -18584, -13757, -9865, -6921, -4785, -3275, -2226, -1506, -1015,
     -680],
]


cdef struct SigmoidScale:
    int zero, multiplier, right_shift


cdef SigmoidScale prepare(float lo, float hi, bint halved) noexcept nogil:
    """The zero of a range, and the factor from its codes to 2**13 * 1.25 steps for 1.0, or half as many."""
    cdef SigmoidScale p
    cdef float width = hi - lo, gain = width / steps() * <float>10240.0
    p.zero = saturate_u8(plus_half_dsp_s32(-steps() * lo / width))
    if halved:
        gain = gain * <float>0.5
    p.right_shift = 15 - max(exponent(gain), 0)
    if p.right_shift < 0:
        p.multiplier, p.right_shift = 32767, 0
    else:
        p.multiplier = saturate_s16(plus_half_dsp_s32(gain * power2(p.right_shift)))
    return p


cdef int curve(const Row* c, int x) noexcept nogil:
    """The polynomial at x, of 15 bits: four for the segment, eleven for the place in it."""
    cdef int segment = x >> 11, place = x & 2047
    cdef int slope = wrap_s16(fraction_16(place, c[2][segment]) + c[1][segment])
    return saturate_s16(fraction_16(4 * place, slope) + c[0][segment])


cdef uint8_t result(int code, SigmoidScale p, const Row* c, int middle) noexcept nogil:
    """The code of the result, the mean of `middle` and the curve at the distance from the zero, with its sign."""
    cdef int distance = code - p.zero
    cdef int x = saturate_s16(shifted(p.multiplier * abs(distance), p.right_shift))
    cdef int y = curve(c, x)
    if distance < 0:
        y = ~y
    return saturate_u8(shifted((y + middle + 1) >> 1, 7))


def table(float lo, float hi, bint sigmoid):
    """Give the results of the 256 codes of a range."""
    cdef SigmoidScale p = prepare(lo, hi, sigmoid)
    cdef const Row* c = TANH
    cdef int q, middle = 254 * 128
    cdef cnp.ndarray made = np.empty(256, np.uint8)
    cdef uint8_t* codes = <uint8_t*>cnp.PyArray_DATA(made)
    if sigmoid:
        c, middle = SIGMOID, 255 * 128
    for q in range(256):
        codes[q] = result(q, p, c, middle)
    return made


def integers(float lo, float hi, bint sigmoid):
    """The numbers of the table, as a dict."""
    return prepare(lo, hi, sigmoid)
