"""TensorFlow's QuantizeV2 and Dequantize: every mode as the numbers of one loop each way."""

cimport numpy as cnp
from libc.float cimport FLT_MAX, FLT_MIN
from libc.math cimport INFINITY, fabsf, rintf, truncf
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t

from qops._kernels.core.rounding cimport clamp_f32, half_away_f32, truncate_x86_s32
from qops._kernels.core.tiers cimport tier
from qops._kernels.tensorflow.formulas cimport (
    Codes,
    Line,
    Steps,
    codes_of,
    eigen_dequantize,
    eigen_quantize,
    larger,
    smaller,
)
from qops._kernels.core.walk cimport STREAM, blocks

cnp.import_array()

ctypedef fused code:
    uint8_t
    int8_t
    uint16_t
    int16_t
    int32_t


cdef extern from "tensorflow/quantize.h":
    ctypedef enum Rounding "tf_rounding":
        HALF_AWAY "TF_HALF_AWAY"
        HALF_EVEN "TF_HALF_EVEN"
        TRUNCATE "TF_TRUNCATE"
    ctypedef struct Quantizer "tf_quantizer":
        float min, max  # the range that is reported
        float lowest_x, highest_x  # x is cut to these first
        float minus, scale, plus, shift
        float lowest, highest  # the code is cut to these last
        Rounding rounding
    Py_ssize_t tf_quantize_8__simd(int, const float*, void*, Py_ssize_t, Quantizer, bint) nogil
    Py_ssize_t tf_quantize_32__simd(int, const float*, void*, Py_ssize_t, Quantizer, bint) nogil


cdef Quantizer reporting(float lo, float hi) noexcept nogil:
    """What leaves x as it is and reports (lo, hi)."""
    return Quantizer(lo, hi, -INFINITY, INFINITY, 0, 1, 0, 0, -INFINITY, INFINITY, HALF_AWAY)


cdef Quantizer min_first(float a, float b, Codes t) noexcept nogil:
    cdef Quantizer p = reporting(a, b)
    cdef Steps steps = eigen_quantize(a, b, t)
    p.scale, p.shift, p.lowest, p.highest = steps.scale, -steps.shift, steps.lowest, steps.highest
    return p


cdef Quantizer min_combined(float a, float b, Codes t) noexcept nogil:
    """Unsigned: half up; signed: half away from zero, once the lowest code is added."""
    cdef Quantizer p = reporting(a, b)
    p.lowest_x, p.highest_x, p.minus = a, b, a
    p.scale = <float>((t.count - 1) / <double>(b - a))
    p.rounding = HALF_AWAY if t.lowest else TRUNCATE
    p.plus = <float>t.lowest if t.lowest else <float>0.5
    return p


cdef float flush(float v) noexcept nogil:
    """A float32 too small to be normal is 0 to TensorFlow."""
    return v if fabsf(v) >= FLT_MIN else <float>0


cdef Quantizer scaled(float a, float b, Codes t, bint half_even, bint narrow) noexcept nogil:
    """Code 0 is 0; the end that allows the smaller scale decides, an end at 0 allows any."""
    cdef Quantizer p
    cdef float lowest = <float>(t.lowest + narrow), highest = <float>t.highest
    cdef float by_a = lowest / a if lowest * a > 0 else <float>FLT_MAX
    cdef float by_b = highest / b if highest * b > 0 else <float>FLT_MAX
    cdef float scale = smaller(by_a, by_b)
    p = reporting(flush(lowest / scale), flush(highest / scale))
    p.lowest_x, p.highest_x, p.scale = p.min, p.max, scale
    p.rounding = HALF_EVEN if half_even else HALF_AWAY
    return p


cdef Quantizer onednn_min_first(float a, float b) noexcept nogil:
    cdef Quantizer p = reporting(a, b)
    p.scale = <float>255 / (b - a)
    p.plus, p.lowest, p.highest, p.rounding = -a * p.scale, 0, 255, HALF_EVEN
    return p


cdef Quantizer onednn_single(float a, float b) noexcept nogil:
    """MIN_FIRST of a 0-d input: not rounded, not cut."""
    cdef Quantizer p = reporting(a, b)
    p.minus, p.scale, p.rounding = a, <float>255 / (b - a), TRUNCATE
    return p


cdef Quantizer onednn_scaled(float a, float b, Codes t) noexcept nogil:
    """255 steps over (0, widest) or (-widest, widest), half to even."""
    cdef float widest = larger(fabsf(a), fabsf(b))
    cdef Quantizer p = reporting(-widest if t.lowest else <float>0, widest)
    p.scale = (<float>127.5 if t.lowest else <float>255) / widest
    p.lowest, p.highest, p.rounding = <float>t.lowest, <float>t.highest, HALF_EVEN
    return p


cdef Codes codes_of_type(int typenum) noexcept nogil:
    if typenum == cnp.NPY_UINT8:
        return codes_of(0, 255)
    if typenum == cnp.NPY_INT8:
        return codes_of(-128, 127)
    if typenum == cnp.NPY_UINT16:
        return codes_of(0, 65535)
    if typenum == cnp.NPY_INT16:
        return codes_of(-32768, 32767)
    return codes_of(-2147483648, 2147483647)


cdef float adjusted_max(float a, float lo, float hi, float ensure_minimum_range) noexcept nogil:
    """Upper end of the range that starts at a <= 0, holds 0 and is not too narrow."""
    cdef float least = larger(<float>1, larger(fabsf(lo), fabsf(hi))) * ensure_minimum_range
    return larger(<float>0, larger(hi, a + least))


def quantize_numbers(float lo, float hi, int typenum, str way, bint narrow, float ensure_minimum_range):
    """The numbers of the quantize loop, as a dict. `way`: a mode, or one of oneDNN's, and a rounding if it has two."""
    cdef Codes t = codes_of_type(typenum)
    cdef float a = smaller(<float>0, lo), b = adjusted_max(a, lo, hi, ensure_minimum_range)
    if way == "MIN_FIRST":
        return min_first(a, b, t)
    if way == "MIN_COMBINED":
        return min_combined(a, b, t)
    if way == "oneDNN MIN_FIRST":
        return onednn_min_first(a, b)
    if way == "oneDNN MIN_FIRST 0-d":
        return onednn_single(a, b)
    if way == "oneDNN SCALED":
        return onednn_scaled(a, b, t)
    return scaled(a, b, t, way == "SCALED HALF_TO_EVEN", narrow)


cdef inline float rounded(float v, Rounding rounding) noexcept nogil:
    if rounding == HALF_AWAY:
        return half_away_f32(v)
    return rintf(v) if rounding == HALF_EVEN else truncf(v)


cdef void quantize_f32(const float* x, code* q, Py_ssize_t n, Quantizer p) noexcept nogil:
    """q = clamp(round((cut(x) - minus) * scale + plus) + shift), in float32, one rounding an operation."""
    cdef Py_ssize_t i = 0
    cdef float near, steps
    if code is uint8_t or code is int8_t:
        i = tf_quantize_8__simd(tier(), x, q, n, p, n >= STREAM)
    elif code is int32_t:
        i = tf_quantize_32__simd(tier(), x, q, n, p, n >= STREAM)
    for i in range(i, n):
        near = clamp_f32(x[i], p.lowest_x, p.highest_x)
        steps = rounded((near - p.minus) * p.scale + p.plus, p.rounding)
        q[i] = <code>truncate_x86_s32(clamp_f32(steps + p.shift, p.lowest, p.highest))


def quantize(cnp.ndarray x, Quantizer numbers, cnp.ndarray out):
    """out = the codes of x, by the numbers of `quantize_numbers`."""
    cdef int typenum = cnp.PyArray_TYPE(out)
    cdef cnp.ndarray a, c
    cdef float* values
    cdef void* codes
    cdef Py_ssize_t n
    for a, c in blocks((x, out)):
        values, codes, n = <float*>cnp.PyArray_DATA(a), cnp.PyArray_DATA(c), cnp.PyArray_SIZE(c)
        with nogil:
            if typenum == cnp.NPY_UINT8:
                quantize_f32(values, <uint8_t*>codes, n, numbers)
            elif typenum == cnp.NPY_INT8:
                quantize_f32(values, <int8_t*>codes, n, numbers)
            elif typenum == cnp.NPY_UINT16:
                quantize_f32(values, <uint16_t*>codes, n, numbers)
            elif typenum == cnp.NPY_INT16:
                quantize_f32(values, <int16_t*>codes, n, numbers)
            else:
                quantize_f32(values, <int32_t*>codes, n, numbers)


cdef struct Dequantizer:
    float plus, scale, base
    bint through_int32  # codes beyond 2**31 - 64 go the way float32 -> int32, which makes them -2**31


def dequantize_numbers(float lo, float hi, int typenum, str mode, bint narrow, bint is_slice):
    """The numbers of the dequantize loop, as a dict; `is_slice`: one of several slices."""
    cdef Codes t = codes_of_type(typenum)
    cdef Dequantizer p = Dequantizer(0, 0, -0.0, False)
    cdef Line line
    if mode == "MIN_FIRST":
        line = eigen_dequantize(lo, hi, t)
        p.scale, p.base = line.scale, line.base
    elif mode == "MIN_COMBINED":
        p.plus, p.scale, p.base = -<float>t.lowest, (hi - lo) / <float>(t.highest - t.lowest), lo
    else:
        p.scale = hi / <float>t.highest
        if t.lowest:
            p.scale = larger(lo / <float>(t.lowest + narrow), p.scale)
        p.through_int32 = typenum == cnp.NPY_INT32 and not is_slice
    return p


cdef void dequantize_f32(const code* q, float* x, Py_ssize_t n, Dequantizer p) noexcept nogil:
    """x = (q + plus) * scale + base, in float32, one rounding an operation."""
    cdef Py_ssize_t i
    cdef float near
    for i in range(n):
        near = <float>q[i]
        if code is int32_t:
            near = <float>truncate_x86_s32(near) if p.through_int32 else near
        x[i] = (near + p.plus) * p.scale + p.base


def dequantize(cnp.ndarray q, Dequantizer numbers, cnp.ndarray out):
    """out = the values of codes, by the numbers of `dequantize_numbers`."""
    cdef int typenum = cnp.PyArray_TYPE(q)
    cdef cnp.ndarray c, a
    cdef float* values
    cdef void* codes
    cdef Py_ssize_t n
    for c, a in blocks((q, out)):
        values, codes, n = <float*>cnp.PyArray_DATA(a), cnp.PyArray_DATA(c), cnp.PyArray_SIZE(c)
        with nogil:
            if typenum == cnp.NPY_UINT8:
                dequantize_f32(<uint8_t*>codes, values, n, numbers)
            elif typenum == cnp.NPY_INT8:
                dequantize_f32(<int8_t*>codes, values, n, numbers)
            elif typenum == cnp.NPY_UINT16:
                dequantize_f32(<uint16_t*>codes, values, n, numbers)
            elif typenum == cnp.NPY_INT16:
                dequantize_f32(<int16_t*>codes, values, n, numbers)
            else:
                dequantize_f32(<int32_t*>codes, values, n, numbers)
