"""nnlib's requantizers from int32 to uint8 codes, and its multiply by a quantized multiplier.

It multiplies 32-bit fractions with vmpye and vmpyo:<<1:rnd:sat. These floor twice and then round, which together is one
rounding of x * m / 2**31, half up.
"""

cimport numpy as cnp
from libc.stdint cimport INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, int32_t

from qops._kernels.stage.float_stage cimport FloatParams, float_params
from qops._kernels.stage.integer_stage cimport IntegerParams, Shift, integer_params, shift_by
from qops._kernels.stage.rounding cimport FLOOR, HALF_UP, TRUNCATE, plus_half_dsp_s32, saturate_s16, truncate_dsp_s32
from qops._kernels.stage.stage cimport Stage, float_stage, integer_stage, stage_over
from qops._kernels.nnlib.ranges cimport bits, exponent, level_32, steps

cnp.import_array()

cdef enum Rule:
    IN_FLOAT32  # gain >= 1
    SCALAR  # the 64-bit product is rounded once
    WHOLE_VECTORS  # the offset is subtracted before the product
    SHORT  # the offset is added after it

cdef enum:
    # The rule is WHOLE_VECTORS for VECTOR elements or more, if the multiplier is SMALLEST or more.
    VECTOR = 128
    SMALLEST = 1024


cdef struct requantize_32:
    int rule
    float gain, bias  # input step / output step; 0.5 - min / output step
    int32_t multiplier  # gain * 2**31
    int32_t start  # min in input steps
    int32_t offset  # the bias, truncated


cdef requantize_32 prepare_32(float level, float lo, float hi, Py_ssize_t n, bint scalar) noexcept nogil:
    """The numbers for n int32 codes of step `level` and the output range (lo, hi); `scalar`: for the scalar kernel."""
    cdef requantize_32 p
    cdef float per_unit = steps() / (hi - lo)
    p.gain = level * per_unit
    p.bias = <float>0.5 - lo * per_unit
    p.multiplier = plus_half_dsp_s32(p.gain * <float>2147483648.0)
    p.start = plus_half_dsp_s32(lo / level)
    p.offset = truncate_dsp_s32(p.bias)
    if p.gain >= 1:
        p.rule = IN_FLOAT32
    elif scalar:
        p.rule = SCALAR
    else:
        p.rule = WHOLE_VECTORS if n >= VECTOR and p.multiplier >= SMALLEST else SHORT
    return p


def requantize_32_integers(float level, float lo, float hi, Py_ssize_t n, bint scalar):
    """The numbers for n int32 codes of step `level` and the output range (lo, hi), as a dict."""
    p = prepare_32(level, lo, hi, n, scalar)
    return {**p, "rule": ("real", "scalar", "whole_vectors", "short")[p.rule]}


cdef IntegerParams params_32(requantize_32 p) noexcept nogil:
    """The parameters of the stage, where m = multiplier / 2**31 and each product is rounded half up.

        SCALAR          sat_u8(x * m + offset)
        WHOLE_VECTORS   sat_u8(sat_s32(x - start) * m)
        SHORT           sat_u8(sat_s16(x * m) + sat_s16(offset))
    """
    cdef IntegerParams r = integer_params(p.multiplier, shift_by(31, HALF_UP), 0, <int>steps())
    if p.rule == SCALAR:
        r.zero_point = p.offset
    elif p.rule == WHOLE_VECTORS:
        r.lowest, r.highest = INT32_MIN + max(p.start, 0), INT32_MAX + min(p.start, 0)
        r.centre = p.start
    else:
        r.least, r.most, r.zero_point = INT16_MIN, INT16_MAX, saturate_s16(p.offset)
    return r


def requantize_32to8(cnp.ndarray x, float level, float lo, float hi, bint scalar, cnp.ndarray out):
    """Requantize int32 codes of step `level` to uint8 codes in the range (lo, hi)."""
    cdef requantize_32 p = prepare_32(level, lo, hi, cnp.PyArray_SIZE(x), scalar)
    cdef FloatParams real
    cdef IntegerParams r
    cdef Stage s
    if p.rule == IN_FLOAT32:
        real = float_params(p.gain, TRUNCATE, 0, steps())
        real.plus = p.bias
        s = float_stage(&real)
    else:
        r = params_32(p)
        s = integer_stage(&r)
    stage_over(&s, x, out)


def spanned(float lo, float hi, int32_t lowest, int32_t highest):
    """Give the step of int32 codes in the range (lo, hi), and the range of the codes lowest..highest and 0."""
    cdef float level = level_32(hi - lo)
    return level, level * <float>min(lowest, 0), level * <float>max(highest, 0)


cdef Shift divide_by_pot(int n) noexcept nogil:
    """(x + 2**(n-1)) >> n, half up. Beyond n = 31 only the sign is left."""
    return shift_by(n, HALF_UP) if n <= 31 else shift_by(31, FLOOR)


def multiply(cnp.ndarray x, int32_t multiplier, int left_shift, int right_shift, cnp.ndarray out):
    """out = x * multiplier / 2**31 * 2**left_shift / 2**right_shift, on int32."""
    cdef IntegerParams p = integer_params(multiplier, shift_by(31, HALF_UP), INT32_MIN, INT32_MAX)
    cdef Stage s
    p.left_shift = left_shift
    p.second = divide_by_pot(right_shift)
    p.least, p.most = INT32_MIN, INT32_MAX  # the sum saturates
    s = integer_stage(&p)
    stage_over(&s, x, out)


def divide(cnp.ndarray x, int right_shift, cnp.ndarray out):
    """out = x / 2**right_shift, half up, on int32. The added half saturates."""
    cdef IntegerParams p = integer_params(1, shift_by(0, FLOOR), INT32_MIN, INT32_MAX)
    cdef Stage s
    p.second = divide_by_pot(right_shift)
    p.least, p.most = INT32_MIN, INT32_MAX
    s = integer_stage(&p)
    stage_over(&s, x, out)


def below_one(float x):
    """Give (code, multiplier, right_shift) of a factor; (-1, 0, 0) unless 0 < x < 1."""
    if not 0 < x < 1:
        return -1, 0, 0
    return 0, ((bits(x) & 0x7FFFFF) | 0x800000) << 7, -exponent(x)
