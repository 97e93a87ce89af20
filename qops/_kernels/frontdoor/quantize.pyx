"""quantize and dequantize: float32 <-> codes."""

cimport numpy as cnp
from libc.math cimport fabs, floor, rint
from libc.stdint cimport int32_t, uint8_t

from qops._kernels.core.checks cimport Ends
from qops._kernels.core.rounding cimport clamp_f32, clamp_f64
from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport STREAM, walk

cnp.import_array()

cdef extern from "frontdoor/quantize.h":
    ctypedef struct dequantize_u8:
        int zero_point
        float scale, base
    Py_ssize_t quantize_f32_u8__simd(int, const float*, uint8_t*, Py_ssize_t, float, int, bint) nogil
    Py_ssize_t dequantize_u8_f32__simd(int, const uint8_t*, float*, Py_ssize_t, dequantize_u8, bint) nogil

cdef enum:
    EXACT = 1 << 15  # a zero point this close to a code, 1/EXACT of a step, is on it

cdef float WHOLE = 12582912  # 1.5 * 2**23: a sum with it has no fraction bits, so it is rounded half to even
cdef double NARROWEST = 255 * 2.0**-125  # a narrower range has no finite 1 / scale in float32


cdef Affine hold_zero(double lo, double hi) noexcept nogil:
    """The smallest scale whose codes, one of them 0, reach from lo <= 0 to hi >= 0."""
    cdef double exact = -lo * 255 / (hi - lo), below = max(floor(exact), 1.0 if lo < 0 else 0.0)
    cdef double above = below + 1, scale_below, scale_above
    if exact <= below:  # already on a code, or all but one code above 0
        above = below
    if hi > 0 and above > 254:
        above = below = 254
    scale_below = max(-lo / below if below > 0 else 0.0, hi / (255 - below) if below < 255 else 0.0)
    scale_above = max(-lo / above if above > 0 else 0.0, hi / (255 - above) if above < 255 else 0.0)
    if scale_above < scale_below:
        return Affine(scale_above, <int>above)
    return Affine(scale_below, <int>below)


cdef Affine holding_zero(double lo, double hi, Ends* ends) noexcept nogil:
    """(scale, zero_point) of uint8 codes for a range that holds lo, hi and exactly 0; sets `ends` to it."""
    cdef Affine p
    lo, hi = min(0.0, lo), max(0.0, hi)
    if lo == hi:
        ends.min = ends.max = 0
        return Affine(0, 0)
    if hi - lo < NARROWEST:
        lo, hi = (lo, lo + NARROWEST) if hi > -lo else (hi - NARROWEST, hi)
    p = hold_zero(lo, hi)
    ends.min, ends.max = <float>(-p.zero_point * p.scale), <float>((255 - p.zero_point) * p.scale)
    return p


def range_holding_zero(double lo, double hi):
    """The range of uint8 codes that holds lo, hi and exactly 0, and its (scale, zero_point)."""
    cdef Ends ends
    cdef Affine p = holding_zero(lo, hi, &ends)
    return ends.min, ends.max, p.scale, p.zero_point


cdef void quantize_f32_u8(const float* x, uint8_t* c, Py_ssize_t n, float inv_scale, int zero_point) noexcept nogil:
    """c = sat_u8(round_half_even(x * inv_scale) + zero_point); NaN gives 0."""
    cdef Py_ssize_t i = quantize_f32_u8__simd(tier(), x, c, n, inv_scale, zero_point, n >= STREAM)
    cdef float near, whole, top = <float>(255 - zero_point), bottom = <float>-zero_point
    for i in range(i, n):
        near = clamp_f32(x[i] * inv_scale, bottom, top)
        whole = (near + WHOLE) - WHOLE
        c[i] = <uint8_t>(<int>whole + zero_point)


cdef struct quantize_u8:
    float inv_scale
    int zero_point


cdef void quantize_f32_u8_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef quantize_u8* p = <quantize_u8*>using
    quantize_f32_u8(<float*>data[0], <uint8_t*>data[1], n, p.inv_scale, p.zero_point)


cpdef object quantize(cnp.ndarray x, double scale, int zero_point, cnp.ndarray out):
    """out = the codes of x; scale 0 gives zero_point everywhere."""
    cdef quantize_u8 p = quantize_u8(<float>(1 / scale) if scale else <float>0, zero_point)
    walk(quantize_f32_u8_loop, &p, x, out)


cdef int nearest_zero(double lo, double step, double* base) noexcept nogil:
    """The code nearest to 0 of codes from lo on; sets `base` to its value: 0, if it is on the code."""
    cdef double zero = clamp_f64(rint(-lo / step), 0, 255) if step > 0 else 0
    base[0] = lo + zero * step
    if fabs(base[0]) * EXACT <= step:
        base[0] = 0
    return <int>zero


def zero_and_base(double lo, double hi):
    """The code nearest to 0 of uint8 codes in the range (lo, hi), and its value: exactly 0, if 0 is on the code."""
    cdef double base
    zero = nearest_zero(lo, (hi - lo) / 255, &base)
    return zero, base


cdef dequantize_u8 prepare_dequantize(double lo, double hi) noexcept nogil:
    """min + q * step as (q - zero_point) * scale + base, base 0 when 0 is on a code: then that code gives exactly 0."""
    cdef dequantize_u8 p
    cdef double step = (hi - lo) / 255, base
    p.zero_point = nearest_zero(lo, step, &base)
    p.scale = <float>step
    p.base = <float>base
    return p


def dequantize_integers(double lo, double hi):
    """What the dequantize loop uses for this range, as a dict: zero_point, scale, base."""
    return prepare_dequantize(lo, hi)


cdef void dequantize_u8_f32(const uint8_t* c, float* x, Py_ssize_t n, dequantize_u8 p) noexcept nogil:
    """x = (c - zero_point) * scale + base, in float32, one rounding an operation."""
    cdef Py_ssize_t i = dequantize_u8_f32__simd(tier(), c, x, n, p, 4 * n >= STREAM)
    for i in range(i, n):
        x[i] = <float>(c[i] - p.zero_point) * p.scale + p.base


cdef void dequantize_s32_f32(const int32_t* c, float* x, Py_ssize_t n, float top) noexcept nogil:
    """x = c / 2**31 * top, in float32: as c * scale, whose scale, top / 2**31, may be too small for float32."""
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = <float>c[i] * <float>4.656612873077393e-10 * top


cdef void dequantize_u8_f32_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    dequantize_u8_f32(<uint8_t*>data[0], <float*>data[1], n, (<dequantize_u8*>using)[0])


cdef void dequantize_s32_f32_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    dequantize_s32_f32(<int32_t*>data[0], <float*>data[1], n, (<float*>using)[0])


cpdef object dequantize_8(cnp.ndarray codes, double lo, double hi, cnp.ndarray out):
    """out = the values of uint8 codes in the range (lo, hi)."""
    cdef dequantize_u8 p = prepare_dequantize(lo, hi)
    walk(dequantize_u8_f32_loop, &p, codes, out)


cpdef object dequantize_32(cnp.ndarray codes, double scale, cnp.ndarray out):
    """out = the values of int32 codes of this scale."""
    cdef float top = <float>(scale * 2147483648.0)
    walk(dequantize_s32_f32_loop, &top, codes, out)
