"""nnlib's QuantizedSoftmax_8 over rows of codes."""

cimport numpy as cnp
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t

from qops._kernels.nnlib.fractions cimport fraction_16, horner_16, quarter, shifted, shifted_left
from qops._kernels.nnlib.ranges cimport exponent, power2, steps
from qops._kernels.stage.rounding cimport plus_half_dsp_s32, saturate_s16, saturate_u8, wrap_s32

cnp.import_array()


cdef struct Power:  # 2**-(a distance from the highest code)
    int32_t wide  # in units of 2**-(31 - guard)
    int16_t narrow  # in units of 2**-15


cdef struct SoftmaxScale:
    int multiplier, right_shift, guard


cdef inline int bit_length(int64_t v) noexcept nogil:
    cdef int n = 0
    while v >> n:
        n += 1
    return n


cdef float factor(float lo, float hi, float beta) noexcept nogil:
    """How many powers of two a code step is: the range times beta / (255 ln 2)."""
    return (hi - lo) * beta * <float>(1.0 / (255.0 * 0.69314718055994))


cdef SoftmaxScale prepare(float gain, Py_ssize_t depth) noexcept nogil:
    cdef SoftmaxScale p
    p.right_shift = min(31, 7 - exponent(gain))
    p.multiplier = saturate_s16(plus_half_dsp_s32(gain * power2(p.right_shift + 8)))
    p.guard = max(2, bit_length(depth - 1))
    return p


def integers(float lo, float hi, float beta, Py_ssize_t depth):
    """The numbers of the loop, as a dict. A right shift below 0 is one that the original refuses."""
    return prepare(factor(lo, hi, beta), depth)


cdef Power power(int distance, SoftmaxScale p) noexcept nogil:
    """2**-x, with x = distance * multiplier * 2**(8 - right_shift), 16 of whose bits are its fraction."""
    cdef Power y
    cdef int32_t x = 256 * distance * p.multiplier >> p.right_shift
    cdef int rest = ~x & 0xFFFF, whole = min(x >> 16, 31)
    cdef int mantissa = quarter(0x1C3E17C713FF10CCULL, rest)
    mantissa = horner_16(mantissa, rest, 0x40144D915538587CULL, 1)
    mantissa = horner_16(mantissa, rest, 0x8773825B806C8001ULL, 1)
    y.wide = <int32_t>((<int64_t>mantissa << (16 - p.guard)) >> whole)
    y.narrow = saturate_s16(shifted(y.wide, 16 - p.guard))
    return y


cdef int reciprocal(int d) noexcept nogil:
    """2**29 / d for d in 2**14..2**15 - 1: a polynomial, and one step of Newton's method."""
    cdef int x = d << 2 & 0xFFFF, y, rest
    y = quarter(0x09E20F69199B2E12ULL, x)
    y = horner_16(y, x, 0x472E57516AB67D56ULL, -1)
    y = horner_16(y, x, 0x736C794E7DE88001ULL, 1)
    y = saturate_s16(2 * y)
    rest = saturate_s16(fraction_16(d, y) - (1 << 14))
    return saturate_s16(y - fraction_16(saturate_s16(2 * rest), y))


cdef void softmax_row(const uint8_t* x, uint8_t* y, Py_ssize_t depth, const Power* powers, int guard) noexcept nogil:
    """y = powers of the distances from the highest code, times 255 / their sum."""
    cdef Py_ssize_t i
    cdef int highest = 0, left_shift, right_shift, factor
    cdef int64_t total = 0
    for i in range(depth):
        highest = max(highest, x[i])
    for i in range(depth):
        total = wrap_s32(total + powers[highest - x[i]].wide)
    left_shift = 31 - bit_length(total)
    factor = fraction_16(reciprocal(<int>(shifted_left(total, left_shift) >> 16)), 255 << 7)
    right_shift = guard + 3 - left_shift
    for i in range(depth):
        y[i] = saturate_u8(shifted(saturate_s16(powers[highest - x[i]].narrow * factor >> right_shift >> 12), 6))


cdef void softmax_rows(const uint8_t* x, uint8_t* y, Py_ssize_t rows, Py_ssize_t depth, SoftmaxScale p) noexcept nogil:
    cdef Power[256] powers
    cdef Py_ssize_t row
    cdef int distance
    for distance in range(256):
        powers[distance] = power(distance, p)
    for row in range(rows):
        softmax_row(x + row * depth, y + row * depth, depth, powers, p.guard)


cdef float exponential(float x) noexcept nogil:
    """exp(x): a cubic polynomial for the fraction of x / ln 2, which has 14 bits."""
    cdef int32_t whole = plus_half_dsp_s32(x * <float>(16384.0 / 0.69314718056))
    cdef float rest = (whole & 0x3FFF) * <float>(1.0 / 16384.0), cubic = <float>0.07154756
    cubic = <float>0.23793659 + rest * cubic
    cubic = <float>0.69051585 + rest * cubic
    return power2(whole >> 14) * (<float>1 + rest * cubic)


cdef void softmax_pairs(const uint8_t* x, uint8_t* y, Py_ssize_t rows, float scale) noexcept nogil:
    """y = (255 / (1 + exp(-scale * d)), 255 less that), d the distance of the two codes; the higher code is first."""
    cdef uint8_t[256] table
    cdef int distance, code = 128
    cdef Py_ssize_t row
    for distance in range(256):
        if 0 < distance and code < 255 or distance == 1:
            code = plus_half_dsp_s32(<float>255 / (<float>1 + exponential(-scale * <float>distance)))
        table[distance] = <uint8_t>code
    for row in range(rows):
        distance = x[2 * row] - x[2 * row + 1]
        code = table[abs(distance)] if distance >= 0 else 255 - table[abs(distance)]
        y[2 * row], y[2 * row + 1] = <uint8_t>code, <uint8_t>(255 - code)


def softmax(cnp.ndarray x not None, float lo, float hi, float beta, cnp.ndarray out not None):
    """Write the softmax along the last axis of contiguous codes to `out`, which is contiguous too."""
    cdef Py_ssize_t depth = x.shape[x.ndim - 1], rows = cnp.PyArray_SIZE(x) // depth
    cdef const uint8_t* codes = <uint8_t*>cnp.PyArray_DATA(x)
    cdef uint8_t* results = <uint8_t*>cnp.PyArray_DATA(out)
    cdef float scale = beta * (hi - lo) / steps()
    with nogil:
        if depth == 2:
            softmax_pairs(codes, results, rows, scale)
        else:
            softmax_rows(codes, results, rows, depth, prepare(factor(lo, hi, beta), depth))
