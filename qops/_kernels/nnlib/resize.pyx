"""nnlib's QuantizedResizeBilinear_8 in its three arithmetics: halves, 7 and 15 bits of weight, and float32."""

cimport numpy as cnp
from libc.math cimport floorf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.nnlib.fractions cimport fraction_16, shifted
from qops._kernels.stage.rounding cimport saturate_u8

cnp.import_array()


cdef struct ResizedImages:
    Py_ssize_t count, height, width, channels, out_height, out_width
    const uint8_t* x
    uint8_t* y


cdef struct Position:  # the sample of an output row or column, between two of the input
    Py_ssize_t lower, upper
    int weight
    float fraction


cdef struct Neighbours:  # the channels of four pixels
    const uint8_t* upper_left
    const uint8_t* upper_right
    const uint8_t* lower_left
    const uint8_t* lower_right


cdef const uint8_t* pixel(const ResizedImages* p, Py_ssize_t n, Py_ssize_t row, Py_ssize_t column) noexcept nogil:
    return p.x + ((n * p.height + row) * p.width + column) * p.channels


cdef Neighbours around(const ResizedImages* p, Py_ssize_t n, Position v, Position h) noexcept nogil:
    cdef Neighbours x
    x.upper_left, x.upper_right = pixel(p, n, v.lower, h.lower), pixel(p, n, v.lower, h.upper)
    x.lower_left, x.lower_right = pixel(p, n, v.upper, h.lower), pixel(p, n, v.upper, h.upper)
    return x


cdef ResizedImages images_of(cnp.ndarray x, cnp.ndarray out):
    cdef const uint8_t* codes = <uint8_t*>cnp.PyArray_DATA(x)
    cdef uint8_t* results = <uint8_t*>cnp.PyArray_DATA(out)
    return ResizedImages(
        x.shape[0], x.shape[1], x.shape[2], x.shape[3], out.shape[1], out.shape[2], codes, results)


# makes the pixel at (row, column) of image n: (images, n, row, column, align_corners, the pixel)
ctypedef void (*Pixel)(const ResizedImages*, Py_ssize_t, Py_ssize_t, Py_ssize_t, bint, uint8_t*) noexcept nogil


cdef int64_t scale_of(Py_ssize_t size, Py_ssize_t wanted, bint align) noexcept nogil:
    """size / wanted, or from the first pixel to the last, in units of 2**-32."""
    if align and wanted > 1:
        size, wanted = size - 1, wanted - 1
    return ((<int64_t>size << 32) + wanted // 2) // wanted


cdef Position at(Py_ssize_t i, Py_ssize_t size, Py_ssize_t wanted, bint align, int bits) noexcept nogil:
    """The sample i, with a weight of `bits` bits, rounded half up."""
    cdef int64_t place = (1LL << (31 - bits)) + i * scale_of(size, wanted, align)
    cdef Py_ssize_t lower = <Py_ssize_t>(place >> 32)
    if lower >= size - 1:
        return Position(size - 1, size - 1, 0, 0)
    return Position(lower, lower + 1, <int>(<uint32_t>place >> (32 - bits)), 0)


cdef void weighted(
    const ResizedImages* p, Py_ssize_t n, Py_ssize_t i, Py_ssize_t j, bint align, uint8_t* y,
) noexcept nogil:
    """Rows by 7 bits of weight, exact; then columns by 15 bits, rounded half up; then half_up(v / 128)."""
    cdef Position v = at(i, p.height, p.out_height, align, 7), h = at(j, p.width, p.out_width, align, 15)
    cdef Neighbours x = around(p, n, v, h)
    cdef int left, right
    cdef Py_ssize_t c
    for c in range(p.channels):
        left = (128 - v.weight) * x.upper_left[c] + v.weight * x.lower_left[c]
        right = (128 - v.weight) * x.upper_right[c] + v.weight * x.lower_right[c]
        y[c] = saturate_u8(shifted(left + fraction_16(right - left, h.weight), 7))


cdef inline int halved(int a, int b, bint up) noexcept nogil:
    return (a + b + up) >> 1


cdef void doubled(
    const ResizedImages* p, Py_ssize_t n, Py_ssize_t i, Py_ssize_t j, bint align, uint8_t* y,
) noexcept nogil:
    """Halves between columns are rounded down, then those between rows too, but up from the last vector of a row on."""
    cdef Position v = Position(i >> 1, min((i + 1) >> 1, p.height - 1), 0, 0)
    cdef Position h = Position(j >> 1, min((j + 1) >> 1, p.width - 1), 0, 0)
    cdef Neighbours x = around(p, n, v, h)
    cdef bint up = i & 1 and j >= 8 * ((p.width - 1) // 4)
    cdef int upper, lower
    cdef Py_ssize_t c
    for c in range(p.channels):
        upper = halved(x.upper_left[c], x.upper_right[c], False)
        lower = halved(x.lower_left[c], x.lower_right[c], False)
        y[c] = <uint8_t>halved(upper, lower, up)


cdef void exact(
    const ResizedImages* p, Py_ssize_t n, Py_ssize_t i, Py_ssize_t j, bint align, uint8_t* y,
) noexcept nogil:
    """The four neighbours by exact weights, for 2 or 4 times the size, rounded half up once."""
    cdef int times = <int>(p.out_height // p.height), down = <int>(i % times), across = <int>(j % times)
    cdef Position v = Position(i // times, min(i // times + 1, p.height - 1), 0, 0)
    cdef Position h = Position(j // times, min(j // times + 1, p.width - 1), 0, 0)
    cdef Neighbours x = around(p, n, v, h)
    cdef int upper, lower
    cdef Py_ssize_t c
    for c in range(p.channels):
        upper = (times - across) * x.upper_left[c] + across * x.upper_right[c]
        lower = (times - across) * x.lower_left[c] + across * x.lower_right[c]
        y[c] = <uint8_t>(((times - down) * upper + down * lower + times * times // 2) // (times * times))


cdef Position float_at(Py_ssize_t i, Py_ssize_t size, Py_ssize_t wanted, bint align) noexcept nogil:
    """The sample i at i * scale in float32."""
    cdef float scale = <float>(size - 1) / <float>(wanted - 1) if align else <float>size / <float>wanted
    cdef float place = <float>i * scale, fraction = place - floorf(place)
    cdef Py_ssize_t lower = <Py_ssize_t>(place - fraction)
    return Position(min(lower, size - 1), min(lower + 1, size - 1), 0, fraction)


cdef inline float between(float a, float b, float fraction) noexcept nogil:
    return a + (b - a) * fraction


cdef void in_float(
    const ResizedImages* p, Py_ssize_t n, Py_ssize_t i, Py_ssize_t j, bint align, uint8_t* y,
) noexcept nogil:
    """Columns, then rows, in float32; plus 0.5, truncated."""
    cdef Position v = float_at(i, p.height, p.out_height, align), h = float_at(j, p.width, p.out_width, align)
    cdef Neighbours x = around(p, n, v, h)
    cdef float upper, lower
    cdef Py_ssize_t c
    for c in range(p.channels):
        upper = between(<float>x.upper_left[c], <float>x.upper_right[c], h.fraction)
        lower = between(<float>x.lower_left[c], <float>x.lower_right[c], h.fraction)
        y[c] = saturate_u8(<int32_t>(between(upper, lower, v.fraction) + <float>0.5))


def resize(cnp.ndarray x not None, str arithmetic, bint align, cnp.ndarray out not None):
    """Write the resized images (N, H, W, C), all contiguous, to `out`, in the arithmetic of that name."""
    cdef ResizedImages p = images_of(x, out)
    cdef Pixel run = weighted
    cdef Py_ssize_t n, i, j
    if arithmetic == "doubled":
        run = doubled
    elif arithmetic == "exact":
        run = exact
    elif arithmetic == "float":
        run = in_float
    with nogil:
        for n in range(p.count):
            for i in range(p.out_height):
                for j in range(p.out_width):
                    run(&p, n, i, j, align, p.y + ((n * p.out_height + i) * p.out_width + j) * p.channels)


def nearest(Py_ssize_t size, Py_ssize_t wanted, bint align, bint to_last, Py_ssize_t[::1] out):
    """Set out to the pixel for each of `wanted`: at i * scale in float32, rounded down, or half away if `align`."""
    cdef float scale = <float>(size - 1) / (<float>wanted - <float>1) if to_last else <float>size / <float>wanted
    cdef Py_ssize_t i
    cdef double place
    for i in range(wanted):
        place = <float>i * scale
        out[i] = min(<Py_ssize_t>(place + 0.5 if align else place), size - 1)
