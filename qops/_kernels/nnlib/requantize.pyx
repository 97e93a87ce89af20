"""nnlib's requantizers: int32 or uint8 codes -> uint8 codes, and its multiply by a quantized multiplier.

Its product of 32-bit fractions, vmpye and vmpyo:<<1:rnd:sat, floors twice before it rounds: together that is one
rounding, half up, of x * m / 2**31.
"""

cimport numpy as cnp
from libc.math cimport fabsf
from libc.stdint cimport INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, int32_t, uint8_t

from qops._kernels.core.float_stage cimport FloatRow, float_row, float_stage
from qops._kernels.core.integer_stage cimport IntegerRow, Shift, integer_code, integer_row, integer_stage, shift_by
from qops._kernels.core.lookup cimport look_up
from qops._kernels.core.rounding cimport (
    FLOOR, HALF_UP, TRUNCATE, plus_half_dsp_s32, saturate_s16, saturate_u8, truncate_dsp_s32,
)
from qops._kernels.nnlib.ranges cimport bits, exponent, power2

cnp.import_array()

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
    """The numbers of the row for n int32 codes of step `level` and the output range (lo, hi), as a dict."""
    p = prepare_32(level, lo, hi, n, scalar)
    return {**p, "rule": ("real", "scalar", "whole_vectors", "short")[p.rule]}


cdef IntegerRow row_32(requantize_32 p) noexcept nogil:
    """SCALAR: sat_u8(x * m + offset); WHOLE_VECTORS: sat_u8(sat_s32(x - start) * m); SHORT: sat_u8(sat_s16(x * m) +
    sat_s16(offset)); m = multiplier / 2**31, each product rounded half up."""
    cdef IntegerRow row = integer_row(p.multiplier, shift_by(31, HALF_UP), 0, 255)
    if p.rule == SCALAR:
        row.zero_point = p.offset
    elif p.rule == WHOLE_VECTORS:
        row.lowest, row.highest = INT32_MIN + max(p.start, 0), INT32_MAX + min(p.start, 0)
        row.centre = p.start
    else:
        row.least, row.most, row.zero_point = INT16_MIN, INT16_MAX, saturate_s16(p.offset)
    return row


def requantize_32to8(cnp.ndarray x, float level, float lo, float hi, bint scalar, cnp.ndarray out):
    """out = uint8 codes, in the range (lo, hi), of int32 codes of step `level`."""
    cdef requantize_32 p = prepare_32(level, lo, hi, cnp.PyArray_SIZE(x), scalar)
    cdef FloatRow real
    cdef IntegerRow row
    if p.rule == REAL:
        real = float_row(p.gain, TRUNCATE, 0, 255)
        real.plus = p.bias
        float_stage(&real, x, out)
    else:
        row = row_32(p)
        integer_stage(&row, x, out)


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
    """The numbers of the row for this gain, as a dict."""
    return prepare_8(gain, in_zero, out_zero)


cdef IntegerRow row_8(requantize_8 p) noexcept nogil:
    """sat_u8(sat_s16(wrap_s16(x - in_zero) * multiplier / 2**right_shift, half up) + out_zero)."""
    cdef IntegerRow row
    if p.same_step:
        row = integer_row(1, shift_by(0, FLOOR), 0, 255)
        row.zero_point = saturate_s16(p.out_zero - p.in_zero)
        return row
    row = integer_row(p.multiplier, shift_by(p.right_shift + 16, HALF_UP), 0, 255)
    row.centre, row.left_shift = p.in_zero, 16  # to the left end of 32 bits, past which 16 bits wrap
    row.least, row.most, row.zero_point = INT16_MIN, INT16_MAX, p.out_zero
    return row


def requantize_8to8(cnp.ndarray x, float gain, int in_zero, int out_zero, cnp.ndarray out):
    """out = uint8 codes of `gain` output steps an input step."""
    cdef IntegerRow row = row_8(prepare_8(gain, in_zero, out_zero))
    cdef uint8_t table[256]
    cdef int q
    for q in range(256):
        table[q] = <uint8_t>integer_code(q, &row)
    look_up(x, table, out)


def gain_8to8(float in_min, float in_max, float out_min, float out_max):
    """gain, in_zero and out_zero of two ranges, as Requantize_8to8 takes them; zero = round(-255 * min / range)."""
    cdef float in_range = in_max - in_min, out_range = out_max - out_min
    return (in_range / out_range, saturate_u8(plus_half_dsp_s32(<float>-255 * in_min / in_range)),
            saturate_u8(plus_half_dsp_s32(<float>-255 * out_min / out_range)))


cdef Shift divide_by_pot(int n) noexcept nogil:
    """(x + 2**(n-1)) >> n, half up; past 31 the sign alone."""
    return shift_by(n, HALF_UP) if n <= 31 else shift_by(31, FLOOR)


def multiply(cnp.ndarray x, int32_t multiplier, int left_shift, int right_shift, cnp.ndarray out):
    """out = x * multiplier / 2**31 * 2**left_shift / 2**right_shift, on int32."""
    cdef IntegerRow row = integer_row(multiplier, shift_by(31, HALF_UP), INT32_MIN, INT32_MAX)
    row.left_shift = left_shift
    row.second = divide_by_pot(right_shift)
    row.least, row.most = INT32_MIN, INT32_MAX  # the sum saturates
    integer_stage(&row, x, out)


def divide(cnp.ndarray x, int right_shift, cnp.ndarray out):
    """out = x / 2**right_shift, half up, the sum saturating, on int32."""
    cdef IntegerRow row = integer_row(1, shift_by(0, FLOOR), INT32_MIN, INT32_MAX)
    row.second = divide_by_pot(right_shift)
    row.least, row.most = INT32_MIN, INT32_MAX
    integer_stage(&row, x, out)


def below_one(float x):
    """code, multiplier and right_shift of a factor: (-1, 0, 0) unless 0 < x < 1."""
    if not 0 < x < 1:
        return -1, 0, 0
    return 0, ((bits(x) & 0x7FFFFF) | 0x800000) << 7, -exponent(x)
