"""nnlib's QuantizedBatchNorm_8x8p8to8 and _8x8p32to8: x * scale + bias, by channels."""

cimport numpy as cnp
from libc.math cimport ldexpf
from libc.stdint cimport INT32_MAX, INT32_MIN, int16_t, int32_t, int64_t, uint8_t

from qops._kernels.nnlib.fractions cimport fraction_16, fraction_32, shifted, shifted_left
from qops._kernels.nnlib.ranges cimport FloatEnds, exponent, level_32, steps
from qops._kernels.stage.rounding cimport (
    clamp_s64, plus_half_dsp_s32, saturate_s16, saturate_u8, wrap_s16, wrap_s32,
)

cnp.import_array()


cdef struct NormInput:
    int zero, scale_zero, bias_zero
    float unit  # of products: the steps of data and scale / 128
    int bias_factor, bias_left_shift, bias_right_shift
    bint wide  # the bias has 32 bits
    bint fits  # the bias is not too coarse


cdef struct NormOutput:
    bint fits  # the gain is one that the original takes
    int factor, right_shift, last_shift  # half_up only in the last shift
    int32_t offset  # minus min, in units of products
    float step, zero  # of a code times 2**-(both shifts)
    int64_t lowest, highest  # what does not become a code beyond 0..255


cdef struct AffineChannel:
    int gain
    int32_t offset


cdef inline int zero_of(float lo, float step) noexcept nogil:
    return saturate_u8(plus_half_dsp_s32(-lo / step))


cdef NormInput prepare_input(FloatEnds x, FloatEnds scale, FloatEnds bias, bint wide) noexcept nogil:
    cdef NormInput p
    cdef float step = (x.max - x.min) / steps(), scale_step = (scale.max - scale.min) / steps(), bias_step, ratio
    cdef int bits
    p.zero, p.scale_zero, p.wide = zero_of(x.min, step), zero_of(scale.min, scale_step), wide
    p.unit = step * scale_step * <float>0.0078125
    bias_step = level_32(bias.max - bias.min) if wide else (bias.max - bias.min) / steps()
    p.bias_zero = 0 if wide else zero_of(bias.min, bias_step)
    ratio = bias_step / p.unit
    bits = exponent(ratio * <float>1.00001831) - 15
    p.fits = bits <= (1 if wide else 6)
    bits = max(bits, -46 if wide else -31)
    p.bias_left_shift = 0 if wide else max(bits, 0)
    p.bias_right_shift = -15 - bits if wide else max(-bits, 0)
    p.bias_factor = saturate_s16(plus_half_dsp_s32(ldexpf(ratio, -bits)))
    return p


cdef NormOutput prepare_output(float unit, FloatEnds c) noexcept nogil:
    cdef NormOutput p
    cdef float codes = steps() / (c.max - c.min), gain = codes * unit
    cdef int bits = -exponent(gain * <float>1.00001831)
    p.fits = 1 <= bits <= 29
    bits = max(1, min(bits, 22))
    p.offset, p.zero = 0, 0
    if c.min != 0:
        p.offset, p.zero = plus_half_dsp_s32(-c.min / unit), ldexpf(-c.min * codes, bits)
    p.factor = saturate_s16(plus_half_dsp_s32(ldexpf(gain, 15 + bits)))
    p.step = ldexpf((c.max - c.min) / steps(), -bits)
    p.last_shift = max(1, bits - 15)
    p.right_shift = bits - p.last_shift
    p.lowest, p.highest = -(1 << bits >> 1), (255 << bits) + (1 << bits >> 1)
    return p


def input_integers(tuple x not None, tuple scale not None, tuple bias not None, bint wide):
    """The numbers that do not depend on the range of the result, as a dict."""
    return prepare_input(FloatEnds(x[0], x[1]), FloatEnds(scale[0], scale[1]), FloatEnds(bias[0], bias[1]), wide)


def output_integers(float unit, float lo, float hi):
    """The numbers of a range of the result, as a dict."""
    return prepare_output(unit, FloatEnds(lo, hi))


cdef int32_t bias_in_products(int32_t bias, NormInput p) noexcept nogil:
    """The bias in units of products."""
    cdef int32_t v
    if not p.wide:
        v = wrap_s16(shifted_left(bias - p.bias_zero, p.bias_left_shift)) * p.bias_factor
        return <int32_t>(wrap_s32(v + (1LL << p.bias_right_shift >> 1)) >> p.bias_right_shift)
    v = fraction_32(bias, p.bias_factor)
    if p.bias_right_shift < 0:
        return wrap_s32(shifted_left(v, -p.bias_right_shift))
    return <int32_t>(wrap_s32(v + (1LL << p.bias_right_shift >> 1)) >> p.bias_right_shift)


cdef AffineChannel prepare_channel(int scale, int32_t bias, NormInput p, NormOutput q) noexcept nogil:
    """The gain and offset of a channel, from its code of the scale and of the bias."""
    cdef int product = (scale - p.scale_zero) * 128
    cdef int64_t offset = bias_in_products(bias, p) - <int64_t>product * p.zero
    cdef int32_t whole = wrap_s32(clamp_s64(offset, INT32_MIN, INT32_MAX) + q.offset)
    return AffineChannel(fraction_16(product, q.factor), fraction_32(whole, q.factor))


cdef inline int32_t accumulator(int code, AffineChannel c) noexcept nogil:
    return wrap_s32(c.offset + <int64_t>code * c.gain)


def channels(
    dict given not None, dict wanted not None, const uint8_t[::1] scale, const int32_t[::1] bias,
    cnp.ndarray out not None,
):
    """Write the gain and the offset of each channel to `out`, int32 (C, 2)."""
    cdef NormInput p = given
    cdef NormOutput q = wanted
    cdef AffineChannel c
    cdef int32_t* numbers = <int32_t*>cnp.PyArray_DATA(out)
    cdef Py_ssize_t i
    for i in range(scale.shape[0]):
        c = prepare_channel(scale[i], bias[i], p, q)
        numbers[2 * i], numbers[2 * i + 1] = c.gain, c.offset


def found(const int32_t[:, ::1] channels, const uint8_t[::1] lowest, const uint8_t[::1] highest, dict wanted not None):
    """Give the least and the greatest accumulator of the lowest and highest code of each channel.

    If the channels do not fill vectors of 32, the rest of the last counts as 0.
    """
    cdef NormOutput q = wanted
    cdef int64_t low = INT32_MAX, high = INT32_MIN, v
    cdef Py_ssize_t i, k
    for i in range(channels.shape[0]):
        for k in range(2):
            v = accumulator(highest[i] if k else lowest[i], AffineChannel(channels[i, 0], channels[i, 1]))
            low, high = min(low, v), max(high, v)
    if channels.shape[0] % 32:
        v = fraction_32(q.offset, q.factor)
        low, high = min(low, v), max(high, v)
    return low, high


def wider(int64_t low, int64_t high, dict wanted not None, float lo, float hi):
    """Give the ends to try next: an end that an accumulator passes moves to it, and a quarter of the width beyond."""
    cdef NormOutput q = wanted
    cdef float least = (<float>low - q.zero) * q.step, greatest = (<float>high - q.zero) * q.step
    cdef float more = max(<float>0, <float>0.25 * (greatest - least))
    return (min(<float>0, least) - more if low < q.lowest else lo,
            max(<float>0, greatest) + more if high > q.highest else hi)


def guess(tuple x not None, tuple scale not None, float bias_min, float bias_max, object lo, object hi):
    """Give the range to begin with: a fifth of that of the ranges' ends, except for ends that are given."""
    cdef float x_min = x[0], x_max = x[1], scale_min = scale[0], scale_max = scale[1], low, high
    low = <float>0.2 * min(<float>0, min(x_max * scale_min, x_min * scale_max) + bias_min) if lo is None else lo
    high = max(<float>0.2 * (max(x_max * scale_max, x_min * scale_min) + bias_max), low + <float>1e-4) \
        if hi is None else hi
    return low, high


def batch_norm(cnp.ndarray x not None, const int32_t[:, ::1] channels, dict wanted not None, cnp.ndarray out not None):
    """Write the codes of contiguous x, channels last, to `out`, which is contiguous too."""
    cdef NormOutput q = wanted
    cdef const uint8_t* codes = <uint8_t*>cnp.PyArray_DATA(x)
    cdef uint8_t* results = <uint8_t*>cnp.PyArray_DATA(out)
    cdef Py_ssize_t i, c = 0, n = cnp.PyArray_SIZE(x), depth = channels.shape[0]
    cdef int16_t y
    with nogil:
        for i in range(n):
            y = saturate_s16(accumulator(codes[i], AffineChannel(channels[c, 0], channels[c, 1])) >> q.right_shift)
            results[i] = saturate_u8(shifted(y, q.last_shift))
            c = c + 1 if c + 1 < depth else 0
