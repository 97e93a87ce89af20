"""nnlib's requantizers: int32 or uint8 codes -> uint8 codes, and its multiply by a quantized multiplier."""

cimport numpy as cnp
from libc.math cimport fabsf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.core.rounding cimport (
    plus_half_dsp_s32, saturate_s16, saturate_s32, saturate_u8, truncate_dsp_s32, wrap_s16,
)
from qops._kernels.core.tiers cimport tier
from qops._kernels.nnlib.ranges cimport bits, exponent, power2
from qops._kernels.core.walk cimport STREAM, blocks

cnp.import_array()

cdef extern from "nnlib/requantize.h":
    ctypedef struct requantize_vmpy:
        int32_t start, multiplier
        short offset
    Py_ssize_t requantize_vmpy__simd(int, const int32_t*, uint8_t*, Py_ssize_t, requantize_vmpy, bint) nogil
    Py_ssize_t requantize_real__simd(int, const int32_t*, uint8_t*, Py_ssize_t, float, float, bint) nogil

cdef enum Rule:
    REAL  # gain >= 1: float32
    SCALAR  # the 64-bit product is rounded once
    WHOLE_VECTORS  # the offset is subtracted before the product
    SHORT  # the offset is added after it

cdef enum:
    VECTOR = 128  # from so many elements on, and from a multiplier of
    SMALLEST = 1024  # on, the rule is WHOLE_VECTORS


cdef struct requantize_32:
    int rule
    float gain, bias  # output steps an input step; 0.5 - min / output step
    int32_t multiplier  # gain * 2**31
    int32_t start  # min in input steps
    int32_t offset  # the bias, truncated


cdef struct requantize_8:
    int in_zero, out_zero
    int multiplier, right_shift  # gain = multiplier / 2**right_shift
    int same_step  # gain 1 or all but: the codes only move from one zero to the other


cdef inline int32_t fractional(int32_t x, int32_t m) noexcept nogil:
    """x * m / 2**31 as the DSP's vmpye and vmpyo:<<1:rnd:sat make it: two floors before the rounding."""
    cdef int64_t low = (<int64_t>x * <uint32_t>(m & 0xFFFF)) >> 16
    cdef int64_t acc = low + <int64_t>x * (m >> 16)
    return saturate_s32(((acc >> 14) + 1) >> 1)


cdef inline int32_t divide_by_pot(int32_t x, int n) noexcept nogil:
    """(x + 2**(n-1)) >> n, the sum saturating: half up; past 31 the sign alone."""
    return saturate_s32(<int64_t>x + (1LL << n >> 1 if n <= 31 else 0)) >> min(n, 31)


cdef requantize_32 prepare_32(float level, float lo, float hi, Py_ssize_t n, bint scalar) noexcept nogil:
    cdef requantize_32 p
    cdef float per_unit = <float>255 / (hi - lo)
    p.gain = level * per_unit
    p.bias = <float>0.5 - lo * per_unit
    p.multiplier = plus_half_dsp_s32(p.gain * <float>2147483648.0)
    p.start = plus_half_dsp_s32(lo / level)
    p.offset = truncate_dsp_s32(p.bias)
    if p.gain >= 1:
        p.rule = REAL
    elif scalar:
        p.rule = SCALAR
    else:
        p.rule = WHOLE_VECTORS if n >= VECTOR and p.multiplier >= SMALLEST else SHORT
    return p


def requantize_32_integers(float level, float lo, float hi, Py_ssize_t n, bint scalar):
    """What the loop uses for n int32 codes of step `level` and the output range (lo, hi), as a dict."""
    p = prepare_32(level, lo, hi, n, scalar)
    return {**p, "rule": ("real", "scalar", "whole_vectors", "short")[p.rule]}


cdef void requantize_s32_u8(const int32_t* x, uint8_t* c, Py_ssize_t n, requantize_32 p) noexcept nogil:
    """By the four rules; all but REAL in integers."""
    cdef Py_ssize_t i
    cdef int short_offset = saturate_s16(p.offset)
    if p.rule == REAL:
        i = requantize_real__simd(tier(), x, c, n, p.gain, p.bias, n >= STREAM)
        for i in range(i, n):
            c[i] = saturate_u8(truncate_dsp_s32(<float>x[i] * p.gain + p.bias))
    elif p.rule == SCALAR:
        for i in range(n):
            c[i] = saturate_u8(((<int64_t>x[i] * p.multiplier >> 30) + 1 >> 1) + p.offset)
    elif p.rule == WHOLE_VECTORS:
        i = requantize_vmpy__simd(tier(), x, c, n, requantize_vmpy(p.start, p.multiplier, 0), n >= STREAM)
        for i in range(i, n):
            c[i] = saturate_u8(fractional(saturate_s32(<int64_t>x[i] - p.start), p.multiplier))
    else:
        i = requantize_vmpy__simd(tier(), x, c, n, requantize_vmpy(0, p.multiplier, <short>short_offset), n >= STREAM)
        for i in range(i, n):
            c[i] = saturate_u8(saturate_s16(fractional(x[i], p.multiplier)) + short_offset)


def requantize_32to8(cnp.ndarray x, float level, float lo, float hi, bint scalar, cnp.ndarray out):
    """out = uint8 codes, in the range (lo, hi), of int32 codes of step `level`."""
    cdef requantize_32 p = prepare_32(level, lo, hi, cnp.PyArray_SIZE(x), scalar)
    cdef cnp.ndarray a, c
    for a, c in blocks((x, out)):
        with nogil:
            requantize_s32_u8(<int32_t*>cnp.PyArray_DATA(a), <uint8_t*>cnp.PyArray_DATA(c), cnp.PyArray_SIZE(c), p)


def spanned(float lo, float hi, int32_t lowest, int32_t highest):
    """The step of int32 codes of the range (lo, hi), and the values that the codes lowest..highest and 0 span."""
    cdef float level = (hi - lo) * <float>2.3283064365386963e-10
    return level, level * <float>min(lowest, 0), level * <float>max(highest, 0)


cdef requantize_8 prepare_8(float gain, int in_zero, int out_zero) noexcept nogil:
    cdef requantize_8 p
    p.in_zero, p.out_zero = saturate_s16(in_zero), saturate_s16(out_zero)
    p.right_shift = 15 - exponent(gain) if gain > 1 else 15
    p.multiplier = saturate_s16(plus_half_dsp_s32(gain * power2(p.right_shift)))
    p.same_step = fabsf(gain - <float>1) < <float>6.103515625e-05
    return p


def requantize_8_integers(float gain, int in_zero, int out_zero):
    """What the loop uses for this gain, as a dict."""
    return prepare_8(gain, in_zero, out_zero)


cdef void requantize_u8_u8(const uint8_t* x, uint8_t* c, Py_ssize_t n, requantize_8 p) noexcept nogil:
    """c = sat_u8(sat_s16((x - in_zero) * multiplier >> right_shift, half up) + out_zero)."""
    cdef Py_ssize_t i
    cdef int half = 1 << p.right_shift >> 1, move = saturate_s16(p.out_zero - p.in_zero), scaled
    if p.same_step:
        for i in range(n):
            c[i] = saturate_u8(x[i] + move)
        return
    for i in range(n):
        scaled = saturate_s16((<int64_t>wrap_s16(x[i] - p.in_zero) * p.multiplier + half) >> p.right_shift)
        c[i] = saturate_u8(scaled + p.out_zero)


def requantize_8to8(cnp.ndarray x, float gain, int in_zero, int out_zero, cnp.ndarray out):
    """out = uint8 codes of `gain` output steps an input step."""
    cdef requantize_8 p = prepare_8(gain, in_zero, out_zero)
    cdef cnp.ndarray a, c
    for a, c in blocks((x, out)):
        with nogil:
            requantize_u8_u8(<uint8_t*>cnp.PyArray_DATA(a), <uint8_t*>cnp.PyArray_DATA(c), cnp.PyArray_SIZE(c), p)


def gain_8to8(float in_min, float in_max, float out_min, float out_max):
    """gain, in_zero and out_zero of two ranges, as Requantize_8to8 takes them; zero = round(-255 * min / range)."""
    cdef float in_range = in_max - in_min, out_range = out_max - out_min
    return (in_range / out_range, saturate_u8(plus_half_dsp_s32(<float>-255 * in_min / in_range)),
            saturate_u8(plus_half_dsp_s32(<float>-255 * out_min / out_range)))


cdef void multiply_s32(const int32_t* x, int32_t* c, Py_ssize_t n, int32_t m, int left, int right) noexcept nogil:
    """c = fractional(wrap32(x << left), m) / 2**right, half up."""
    cdef Py_ssize_t i
    for i in range(n):
        c[i] = divide_by_pot(fractional(<int32_t>(<uint32_t>x[i] << left), m), right)


def multiply(cnp.ndarray x, int32_t multiplier, int left_shift, int right_shift, cnp.ndarray out):
    """out = x * multiplier / 2**31 * 2**left_shift / 2**right_shift, on int32."""
    cdef cnp.ndarray a, c
    for a, c in blocks((x, out)):
        with nogil:
            multiply_s32(<int32_t*>cnp.PyArray_DATA(a), <int32_t*>cnp.PyArray_DATA(c), cnp.PyArray_SIZE(c),
                         multiplier, left_shift, right_shift)


def divide(cnp.ndarray x, int right_shift, cnp.ndarray out):
    """out = x / 2**right_shift, half up, on int32."""
    cdef cnp.ndarray a, c
    cdef const int32_t* values
    cdef int32_t* results
    cdef Py_ssize_t i
    for a, c in blocks((x, out)):
        values, results = <int32_t*>cnp.PyArray_DATA(a), <int32_t*>cnp.PyArray_DATA(c)
        with nogil:
            for i in range(cnp.PyArray_SIZE(c)):
                results[i] = divide_by_pot(values[i], right_shift)


def below_one(float x):
    """code, multiplier and right_shift of a factor: (-1, 0, 0) unless 0 < x < 1."""
    if not 0 < x < 1:
        return -1, 0, 0
    return 0, ((bits(x) & 0x7FFFFF) | 0x800000) << 7, -exponent(x)
