"""TensorFlow's Requantize, int32 to uint8 or int8, and the range that int32 codes really span."""

cimport numpy as cnp
from libc.math cimport round
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from qops._kernels.core.rounding cimport saturate_u8, truncate_x86_s64
from qops._kernels.tensorflow.formulas cimport (
    Line,
    Steps,
    codes_of,
    eigen_code,
    eigen_dequantize,
    eigen_quantize,
    quantized_to_float,
)
from qops._kernels.core.walk cimport blocks

cnp.import_array()


cdef struct FixedPoint:
    # all in 1/65536 output steps
    int64_t range_scale  # the whole input range
    int64_t input_offset  # the middle of the input range
    int64_t output_offset  # the lower end of the output range


cdef FixedPoint prepare(float in_min, float in_max, float out_min, float out_max) noexcept nogil:
    cdef FixedPoint p = FixedPoint(0, 0, 0)
    cdef float in_range = in_max - in_min, out_range = out_max - out_min
    cdef float middle = (in_min + in_max) / <float>2
    if out_range != 0:
        p.range_scale = truncate_x86_s64(255.0 * 65536.0 * in_range / out_range)
        p.input_offset = truncate_x86_s64((middle * (<float>255 / out_range)) * <float>65536)
        p.output_offset = truncate_x86_s64(round(65536.0 * (out_min * 255.0) / out_range))
    return p


def requantize_integers(float in_min, float in_max, float out_min, float out_max):
    """What requantize_s32_u8 uses for these ranges, as a dict."""
    return prepare(in_min, in_max, out_min, out_max)


cdef void requantize_s32_u8(const int32_t* q, uint8_t* c, Py_ssize_t n, FixedPoint p) noexcept nogil:
    """c = sat_u8((((q * range_scale) >> 32) + input_offset - output_offset + 32768) >> 16); 64 bits, which wrap."""
    cdef uint64_t offset = <uint64_t>p.input_offset - <uint64_t>p.output_offset + 32768
    cdef Py_ssize_t i
    cdef int64_t near, product
    for i in range(n):
        near = <int64_t><float>q[i]
        product = <int64_t>(<uint64_t>near * <uint64_t>p.range_scale)
        c[i] = saturate_u8(<int64_t>(<uint64_t>(product >> 32) + offset) >> 16)


cdef void requantize_s32_s8(const int32_t* q, int8_t* c, Py_ssize_t n, Line value, Steps steps) noexcept nogil:
    """c = clamp(round_half_away((base + q * scale) * per_step) - shift), in float32, one rounding an operation."""
    cdef Py_ssize_t i
    for i in range(n):
        c[i] = <int8_t>eigen_code(value.base + <float>q[i] * value.scale, steps)


def requantize(cnp.ndarray q, float in_min, float in_max, float out_min, float out_max, cnp.ndarray out):
    """out = the uint8 or int8 codes, in the range (out_min, out_max), of int32 codes."""
    cdef FixedPoint p = prepare(in_min, in_max, out_min, out_max)
    cdef Line value = eigen_dequantize(in_min, in_max, codes_of(-2147483648, 2147483647))
    cdef Steps steps = eigen_quantize(out_min, out_max, codes_of(-128, 127))
    cdef bint signed = cnp.PyArray_TYPE(out) == cnp.NPY_INT8
    cdef cnp.ndarray a, c
    for a, c in blocks((q, out)):
        with nogil:
            if signed:
                requantize_s32_s8(<int32_t*>cnp.PyArray_DATA(a), <int8_t*>cnp.PyArray_DATA(c), cnp.PyArray_SIZE(c),
                                  value, steps)
            else:
                requantize_s32_u8(<int32_t*>cnp.PyArray_DATA(a), <uint8_t*>cnp.PyArray_DATA(c), cnp.PyArray_SIZE(c), p)


def real_range(int32_t lowest, int32_t highest, float in_min, float in_max):
    """Values of the codes `lowest`, but at most 0, and `highest` of the range (in_min, in_max)."""
    cdef float lo = quantized_to_float(<float>lowest, in_min, in_max, codes_of(-2147483648, 2147483647))
    cdef float hi = quantized_to_float(<float>highest, in_min, in_max, codes_of(-2147483648, 2147483647))
    return lo if lo < 0 else <float>0, hi
