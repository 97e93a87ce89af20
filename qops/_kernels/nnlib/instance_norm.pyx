"""nnlib's QuantizedInstanceNorm_8: statistics of each channel in short floats, then a table of codes for each."""

cimport numpy as cnp
from libc.stdint cimport int16_t, int64_t, uint8_t, uint64_t

cimport qops._kernels.nnlib.short_float as short
from qops._kernels.nnlib.fractions cimport Row, fraction_16, segment_16, shifted_left
from qops._kernels.nnlib.ranges cimport FloatEnds, steps
from qops._kernels.nnlib.short_float cimport ShortFloat
from qops._kernels.stage.rounding cimport saturate_u8, wrap_s16

cnp.import_array()

cdef enum:
    LANES = 32  # channels of a vector
    PADDING = 128  # the code that fills up rows and columns

cdef Row[3] ROOT = [  # 1 / (2 * sqrt(x)) of [1, 2) in 16 segments of 2**11
    [23170, 22479, 21845, 21263, 20724, 20225, 19760, 19325, 18919, 18536, 18176, 17837, 17515, 17211, 16921, 16646],
    [-11570, -10565, -9698, -8944, -8282, -7698, -7180, -6717, -6302, -5927, -5589, -5282, -5001, -4745, -4510, -4293],
    [8052, 6950, 6048, 5302, 4679, 4153, 3707, 3325, 2996, 2711, 2462, 2244, 2052, 1883, 1732, 1598],
]


cdef struct ChannelSums:  # of one channel, with the padding
    int64_t codes, squares
    int lowest, highest


cdef struct NormalizedChannel:  # a code becomes code * factor - mean
    ShortFloat factor, mean
    ShortFloat lowest, highest  # results


cdef ShortFloat inverse_root(ShortFloat v) noexcept nogil:
    """1 / sqrt(v); that of 0 and less is a constant."""
    cdef int y
    if v.mantissa <= 0:
        v = ShortFloat(0x4000, 0x1D)
    y = segment_16(ROOT, v.mantissa >> 10 & 15, 2 * v.mantissa & 0x7FF)
    if v.exponent & 1:
        y = fraction_16(y, 0x5A83)  # 1 / sqrt(2)
    return ShortFloat(<int16_t>y, <int16_t>((-v.exponent >> 1) - 1))


cdef NormalizedChannel prepare(ChannelSums s, int64_t count, int64_t padding) noexcept nogil:
    """The channel's factor 1 / sigma and its mean / sigma, from `count` pixels and `padding` more of the code 128."""
    cdef NormalizedChannel p
    cdef ShortFloat number = short.of_float(<float>count), total, square, spread, epsilon
    cdef float smallest = <float>count * <float>1e-5
    epsilon = short.of_float(smallest * smallest)
    total = short.subtract(short.of_integer(s.codes), short.of_integer(PADDING * padding))
    square = short.subtract(short.of_uint64(<uint64_t>s.squares), short.of_integer(PADDING * PADDING * padding))
    p.mean = short.multiply(total, short.of_float(<float>1 / <float>count))
    spread = short.subtract(short.multiply(square, number), short.multiply(total, total))
    p.factor = short.multiply(inverse_root(spread), number)
    if short.greater(epsilon, spread):
        p.factor = ShortFloat(0, 0)
    p.mean = short.multiply(p.mean, p.factor)
    p.highest = short.subtract(short.multiply(short.of_integer(s.highest), p.factor), p.mean)
    p.lowest = short.subtract(short.multiply(short.of_integer(s.lowest), p.factor), p.mean)
    return p


cdef ChannelSums sums_of(const uint8_t* x, int64_t pixels, Py_ssize_t stride, int64_t padding) noexcept nogil:
    cdef ChannelSums s = ChannelSums(PADDING * padding, PADDING * PADDING * padding, 255, 0)
    cdef int64_t i
    cdef int q
    if padding:
        s.lowest = s.highest = PADDING
    for i in range(pixels):
        q = x[i * stride]
        s.codes += q
        s.squares += q * q
        s.lowest, s.highest = min(s.lowest, q), max(s.highest, q)
    if s.lowest == s.highest:
        s.lowest = 0
    return s


cdef float extreme(ShortFloat* v, bint highest) noexcept nogil:
    """The least or the greatest of 32, each half compared with the other; of equal ones the later is taken."""
    cdef int k, half = LANES
    for k in range(LANES):
        v[k] = short.flushed(v[k])
    while half > 1:
        half //= 2
        for k in range(half):
            if not (short.greater(v[k], v[k + half]) if highest else short.greater(v[k + half], v[k])):
                v[k] = v[k + half]
    return short.to_float(v[0])


cdef FloatEnds vector_range(const NormalizedChannel* channels, Py_ssize_t count, FloatEnds c) noexcept nogil:
    """The range c, widened by the results of up to 32 channels; absent ones count as 0."""
    cdef ShortFloat[LANES] lowest, highest
    cdef int k
    for k in range(LANES):
        lowest[k] = channels[k].lowest if k < count else ShortFloat(0, 0)
        highest[k] = channels[k].highest if k < count else ShortFloat(0, 0)
    return FloatEnds(min(c.min, extreme(lowest, False)), max(c.max, extreme(highest, True)))


cdef inline int moved(int v, int right_shift) noexcept nogil:
    """v >> right_shift in 16 bits; the DSP reads five bits of the shift, and moves to the left below 0."""
    cdef int n = (right_shift + 16 & 31) - 16
    return v >> n if n >= 0 else wrap_s16(shifted_left(v, -n))


cdef void fill(uint8_t* table, NormalizedChannel p, int gain, float lo) noexcept nogil:
    """The results of the 256 codes of a channel, in steps of 1 / gain from lo on."""
    cdef ShortFloat factor = short.multiply(p.factor, short.of_float(<float>gain))
    cdef ShortFloat mean = short.add(
        short.multiply(p.mean, short.of_float(<float>gain)), short.of_float(lo * <float>gain))
    cdef int q, whole, mean_shift = wrap_s16(mean.exponent + 14), shift = min(wrap_s16(factor.exponent + 6), 15)
    whole = 0 if mean_shift > 15 else wrap_s16(-moved(mean.mantissa, mean_shift))
    for q in range(256):
        table[q] = saturate_u8((wrap_s16(whole - moved(fraction_16(factor.mantissa, -128 * q), shift)) + 1) >> 1)


def instance_norm(cnp.ndarray x not None, cnp.ndarray memory not None, cnp.ndarray out not None):
    """Write the normalized codes of contiguous images (N, H, W, C) to `out`; give its range.

    `memory` has room for a `NormalizedChannel` for each channel of each image.
    """
    cdef Py_ssize_t images = x.shape[0], pixels = x.shape[1] * x.shape[2], depth = x.shape[3], n, c, i
    cdef int64_t padding = (x.shape[1] + 1 & ~1) * (x.shape[2] + 3 & ~3) - pixels
    cdef const uint8_t* codes = <uint8_t*>cnp.PyArray_DATA(x)
    cdef uint8_t* results = <uint8_t*>cnp.PyArray_DATA(out)
    cdef NormalizedChannel* channels = <NormalizedChannel*>cnp.PyArray_DATA(memory)
    cdef uint8_t[256] row
    cdef FloatEnds found = FloatEnds(9999, -9999)
    cdef int gain
    with nogil:
        for n in range(images):
            for c in range(depth):
                channels[n * depth + c] = prepare(
                    sums_of(codes + n * pixels * depth + c, pixels, depth, padding), pixels, padding)
            for c in range((depth + LANES - 1) // LANES):
                found = vector_range(channels + n * depth + c * LANES, min(depth - c * LANES, <Py_ssize_t>LANES), found)
        if not found.max > 0:
            found.min = found.max = 0
        gain = <int>(steps() / (found.max - found.min)) if found.max > 0 else 0
        for n in range(images):
            for c in range(depth):
                fill(row, channels[n * depth + c], gain, found.min)
                for i in range(n * pixels, (n + 1) * pixels):
                    results[i * depth + c] = row[codes[i * depth + c]]
    return found.min, found.max


def channel_size():
    """The bytes of a `NormalizedChannel`."""
    return sizeof(NormalizedChannel)
