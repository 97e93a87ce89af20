"""nnlib's QuantizedLRN_8 over windows of channels."""

cimport numpy as cnp
from libc.math cimport log2, pow, sqrtf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.nnlib.fractions cimport Row, fraction_16, fraction_32, segment_16
from qops._kernels.nnlib.ranges cimport FloatEnds, Moved, adjust_minmax, steps
from qops._kernels.stage.rounding cimport plus_half_dsp_s32, saturate_u8, wrap_s16, wrap_s32

cnp.import_array()

cdef Row[3] LOG2 = [  # log2(1 + x) of [0, 1) in 16 segments, in units of 2**-15; of places in steps of 2**-14
    [0, 2866, 5568, 8124, 10549, 12856, 15055, 17156, 19168, 21098, 22952, 24736, 26455, 28114, 29717, 31267],
    [23622, 22233, 20999, 19895, 18901, 18002, 17184, 16438, 15753, 15123, 14542, 14004, 13504, 13038, 12604, 12198],
    [-5561, -4942, -4422, -3980, -3601, -3274, -2989, -2740, -2521, -2327, -2155, -2001, -1863, -1739, -1626, -1525],
]
cdef Row[3] POWER = [  # 2**-x of [0, 1) in 16 segments, in units of 2**-15
    [32767, 31379, 30048, 28774, 27554, 26386, 25268, 24196, 23170, 22188, 21247, 20347, 19484, 18658, 17867, 17109],
    [-22709, -21746, -20824, -19941, -19096, -18286, -17511, -16769, -16058, -15377, -14725, -14101, -13503, -12930,
     -12382, -11857],
    [7703, 7377, 7064, 6765, 6478, 6203, 5940, 5688, 5447, 5216, 4995, 4783, 4580, 4386, 4200, 4022],
]


cdef struct ResponseScale:
    float min, max  # of the result
    bint copies  # the codes, as the sum of squares would not fit in 32 bits beside the bias
    int zero, out_zero, radius
    uint32_t bias  # in squares of a code step, divided by alpha
    int32_t shift  # a logarithm, in units of 2**-15
    int beta  # minus beta, in units of 2**-15


cdef inline float squeezed(float x, float bias, float alpha, float beta) noexcept nogil:
    """x / (bias + alpha * x**2)**beta, without neighbours."""
    return x * <float>pow(<double>(bias + alpha * x * x), <double>-beta)


cdef FloatEnds range_of(FloatEnds t, float bias, float alpha, float beta) noexcept nogil:
    """The range of the result. Above a beta of 1/2 the function falls from its peak on."""
    cdef float peak = <float>9e30, slope = alpha * (<float>2 * beta - <float>1)
    cdef int32_t largest = <int32_t>max(t.max, -t.min)
    cdef FloatEnds found
    cdef Moved moved
    if beta > <float>0.5 and <float>(<uint32_t>largest * <uint32_t>largest) * slope > bias:
        peak = sqrtf(bias / slope)
    found.min, found.max = 0, squeezed(min(t.max, peak), bias, alpha, beta)
    if t.min < 0:
        moved = adjust_minmax(
            FloatEnds(squeezed(max(t.min, -peak), bias, alpha, beta), found.max), 0, <float>1e-6)
        found.min, found.max = moved.min, moved.max
    return found


cdef inline float log2_f32(float v) noexcept nogil:
    return <float>log2(<double>v)


cdef ResponseScale prepare(FloatEnds t, int window, float bias, float alpha, float beta) noexcept nogil:
    cdef ResponseScale p
    cdef FloatEnds c = range_of(t, bias, alpha, beta)
    cdef float step = (t.max - t.min) / steps(), log_step = log2_f32(t.max - t.min) - <float>7.99435344
    cdef float logarithm = log2_f32(alpha) + <float>2 * log_step, squares = bias / (alpha * step * step), scale
    cdef int64_t farthest
    p.bias = p.shift = p.beta = p.out_zero = 0
    p.zero, p.radius = plus_half_dsp_s32(-t.min * steps() / (t.max - t.min)), (window - 1) >> 1
    farthest = max(-p.zero, 255 - p.zero)
    p.copies = squares >= <float>4294967296.0
    if not p.copies:
        p.bias = <uint32_t>(squares + <float>0.5)
        p.copies = p.bias + farthest * farthest * p.radius >= 1LL << 32
    if p.copies:
        scale = <float>pow(<double>bias, <double>-beta)
        p.min, p.max = t.min * scale, t.max * scale
        return p
    scale = steps() / (c.max - c.min)
    p.min, p.max, p.out_zero = c.min, c.max, saturate_u8(plus_half_dsp_s32(-c.min * scale))
    p.shift = plus_half_dsp_s32((beta * logarithm - log_step - log2_f32(scale)) * <float>32768.0)
    p.beta = plus_half_dsp_s32(beta * <float>-2147483648.0) >> 16
    return p


def integers(float lo, float hi, int window, float bias, float alpha, float beta):
    """The numbers of the loop, as a dict."""
    return prepare(FloatEnds(lo, hi), window, bias, alpha, beta)


cdef int32_t logarithm(uint32_t v) noexcept nogil:
    """log2(v) in units of 2**-15; that of 0 is -1."""
    cdef int whole = 31, x
    while whole >= 0 and not v >> whole:
        whole -= 1
    x = 0 if whole < 0 else <int>(v << (31 - whole) >> 16)
    return <int32_t>(<uint32_t>whole << 15) | (segment_16(LOG2, x >> 11 & 15, (x & 0x7FF) * 2) & 0xFFFF)


cdef uint8_t normalized(int distance, uint32_t total, ResponseScale p) noexcept nogil:
    """The code of a distance from the zero times 2**(shift + beta * log2(total))."""
    cdef int32_t x = wrap_s32(<int64_t>p.shift - fraction_32(logarithm(total), p.beta))
    cdef int32_t product = segment_16(POWER, x >> 11 & 15, x & 0x7FF) * distance
    cdef int right_shift = ((x >> 15) + 12 + 32 & 63) - 32  # as the DSP reads six bits
    if right_shift >= 0:
        product = product >> min(right_shift, 31)
    else:
        product = 0 if right_shift == -32 else <int32_t>(<uint32_t>product << -right_shift)
    return saturate_u8(wrap_s16(fraction_16(wrap_s16(product), 4096) + p.out_zero))


cdef void lrn_row(const uint8_t* x, uint8_t* y, Py_ssize_t channels, ResponseScale p) noexcept nogil:
    cdef Py_ssize_t c, k
    cdef uint32_t total
    cdef int distance
    for c in range(channels):
        total = p.bias
        for k in range(max(<Py_ssize_t>0, c - p.radius), min(channels, c + p.radius + 1)):
            distance = x[k] - p.zero
            total += <uint32_t>(distance * distance)
        y[c] = normalized(x[c] - p.zero, total, p)


def lrn(cnp.ndarray x not None, dict p not None, cnp.ndarray out not None):
    """Write the normalized codes of contiguous x, channels last, to `out`, which is contiguous too."""
    cdef ResponseScale numbers = p
    cdef Py_ssize_t i, channels = x.shape[x.ndim - 1], rows = cnp.PyArray_SIZE(x) // channels
    cdef const uint8_t* codes = <uint8_t*>cnp.PyArray_DATA(x)
    cdef uint8_t* results = <uint8_t*>cnp.PyArray_DATA(out)
    with nogil:
        for i in range(rows):
            lrn_row(codes + i * channels, results + i * channels, channels, numbers)
