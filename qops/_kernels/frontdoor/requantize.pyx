"""Requantize: int32 codes of one range -> uint8 codes of another, rounded once."""

cimport numpy as cnp
from libc.math cimport ceil, floor, ldexp, rint
from libc.stdint cimport int32_t, int64_t, uint8_t

from qops._kernels.core.rounding cimport clamp_f64, clamp_s64, saturate_u8
from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport STREAM, walk

cnp.import_array()

cdef extern from "frontdoor/requantize.h":
    ctypedef struct requantize_32:
        int lowest, highest  # codes beyond these saturate; cutting them first keeps every product within 64 bits
        int centre  # the code subtracted first
        int left_shift, multiplier  # input step = multiplier * 2**(left_shift - 51) output steps
        int offset  # of the centre, in 2**-19 output steps, and half a step for the rounding
    Py_ssize_t requantize_s32_u8__simd(int, const int32_t*, uint8_t*, Py_ssize_t, requantize_32, bint) nogil

cdef enum:
    STEEPEST = 512  # output steps an input step: at more than this only one code does not saturate


cdef requantize_32 prepare(double step, double lo, double hi) noexcept nogil:
    """For int32 codes of this step, into the range (lo, hi), lo < hi."""
    cdef requantize_32 p
    cdef double out_step = (hi - lo) / 255, ratio = min(step / out_step, <double>STEEPEST)
    cdef double lowest = -2147483648.0, highest = 2147483647.0, centre, multiplier
    if step > 0:
        lowest = clamp_f64(floor((lo - out_step) / step), -2147483648.0, 2147483647.0)
        highest = clamp_f64(ceil((hi + out_step) / step), -2147483648.0, 2147483647.0)
    centre = floor((lowest + highest + 1) / 2)
    multiplier = ldexp(ratio, 51)
    p.left_shift = 0
    while multiplier > 2147483647.0:
        multiplier /= 2
        p.left_shift += 1
    p.lowest, p.highest, p.centre = <int>lowest, <int>highest, <int>centre
    p.multiplier = <int>min(rint(multiplier), 2147483647.0)
    p.offset = <int>rint(clamp_f64((centre * step - lo) / out_step, -256, 511) * (1 << 19)) + (1 << 18)
    return p


def requantize_integers(double step, double lo, double hi):
    """What the loop uses for int32 codes of this step and the output range (lo, hi), as a dict."""
    return prepare(step, lo, hi)


cdef void requantize_s32_u8(const int32_t* x, uint8_t* c, Py_ssize_t n, requantize_32 p) noexcept nogil:
    """c = sat_u8((((clamp(x) - centre) << left_shift) * multiplier + offset * 2**32) >> 51): one rounding, half up."""
    cdef Py_ssize_t i = requantize_s32_u8__simd(tier(), x, c, n, p, n >= STREAM)
    cdef int64_t near, scaled
    for i in range(i, n):
        near = clamp_s64(x[i], p.lowest, p.highest)
        scaled = (near - p.centre) * (<int64_t>1 << p.left_shift) * p.multiplier
        c[i] = saturate_u8((scaled + p.offset * (<int64_t>1 << 32)) >> 51)


cdef void requantize_s32_u8_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    requantize_s32_u8(<int32_t*>data[0], <uint8_t*>data[1], n, (<requantize_32*>using)[0])


cpdef object requantize_32to8(cnp.ndarray x, double step, double lo, double hi, cnp.ndarray out):
    """out = the uint8 codes, in the range (lo, hi), lo < hi, of int32 codes of this step."""
    cdef requantize_32 p = prepare(step, lo, hi)
    walk(requantize_s32_u8_loop, &p, x, out)
