"""Pools over images of codes (N, H, W, C), uint8 or int8: the largest of each window, its sum, its mean.

A window is combined first down, then across: a row of the image, all its channels, is one stretch of memory, and so are
the channels of a pixel. Padding is no part of a window, but may be counted in a mean. Sums are of 16 bits where these
hold them. A mean is one of

    reciprocal    rint(f32(sum) * f32(1 / count))                               one rounding to float32 an operation
    quotient      rint(f32(sum) / f32(count))                                   the same
    truncate      sum / count, toward zero
    q15           saturate_u8((sum * min(2**15 / count, 2**15 - 1) + 2**14) >> 15), the sum wraps to 16 bits; uint8 only
"""
cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.math cimport rintf
from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t
from libc.string cimport memset

from qops._kernels.core.checks cimport apart, array, writable
from qops._kernels.core.rounding cimport saturate_u8
from qops._kernels.core.tiers cimport tier
from qops._kernels.product.pixels cimport Combination, Pixels, largest_codes, pick_pixels, sums_of, totals_of
from qops._kernels.product.places cimport Place, Pool, Taps, find_places, margin_of, taps_on, whole_rows, wide
from qops._kernels.product.tile cimport aligned
from qops._kernels.product.window cimport Window

import numpy as np

cnp.import_array()

cdef extern from "product/pooling.h" nogil:
    ctypedef enum Rule "pool_rule":
        RECIPROCAL "POOL_RECIPROCAL"
        QUOTIENT "POOL_QUOTIENT"
        TRUNCATE "POOL_TRUNCATE"
        Q15 "POOL_Q15"
    ctypedef struct Mean "pool_mean":
        Rule rule
        bint is_signed
        int32_t count, q15
        float part
    Py_ssize_t pool_means__simd(int, const int16_t *, Py_ssize_t, Mean, void *)

cdef enum:
    NARROW = 64  # codes of the longest vector
    BEHIND = 256  # bytes behind the sums, which vectors read
    BLOCK = 8192  # bytes of columns that are worked on at a time, a part of the nearest cache
    FEW = 255  # taps whose sum fits 16 bits, of u8 without sign, of s8 with it

RULES = {"reciprocal": RECIPROCAL, "quotient": QUOTIENT, "truncate": TRUNCATE, "q15": Q15}


cdef void whole_windows(const Pool *p, const char *columns, Py_ssize_t rows, Pixels pixels, char *scratch,
                        char *y) noexcept nogil:
    """Windows that lie on the columns whole, in each row those of `pixels`.

    Where a pixel is shorter than a vector, a window is made at every pixel, and those a stride apart are picked.
    """
    cdef Py_ssize_t size = p.channels * p.combine.size, stride = p.across.stride, i
    cdef Py_ssize_t pitch = wide(p) * p.channels, last = ((pixels.count - 1) * stride + 1) * p.channels
    if stride == 1:
        p.combine.across(columns, Pixels(rows, pitch, last, pixels.taps, pixels.step, p.ow * p.channels), y)
    elif p.channels < NARROW:
        p.combine.across(columns, Pixels(1, 0, (rows - 1) * pitch + last, pixels.taps, pixels.step, 0), scratch)
        for i in range(rows):
            pick_pixels(scratch + i * wide(p) * size, pixels.count, size, stride, y + i * p.ow * size)
    else:
        for i in range(rows):
            p.combine.across(columns + i * wide(p) * size, pixels, y + i * p.ow * size)


cdef void pool_rows(const Pool *p, const char *image, Taps taps, Py_ssize_t rows, char *columns,
                    char *y) noexcept nogil:
    """Rows of results, of the same number of taps. What lies one below the other in a window is combined first, into
    rows of `columns` with margins of padding; as much memory follows them."""
    cdef Py_ssize_t row = p.width * p.channels, pitch = wide(p) * p.channels, line = p.ow * p.channels, i = 0, end
    cdef Py_ssize_t pixel = p.channels * p.combine.size
    cdef const Place *place
    cdef Pixels pixels
    if p.has_gaps or not taps.count:
        memset(y, p.combine.nothing, rows * p.ow * pixel)
    if taps.count:
        pixels = Pixels(rows, p.down.stride * row, row, taps.count, p.down.dilation * row, pitch)
        p.combine.down(image + taps.begin * row * p.combine.given, pixels, columns + p.margin * pixel)
    while i < p.ow and taps.count:
        place = p.places + i
        end = place.read_end
        pixels = Pixels(end - i, p.across.stride * p.channels, p.channels, place.read.count,
                        p.across.dilation * p.channels, p.channels)
        if pixels.taps == p.kw:
            whole_windows(p, columns + place.read.begin * pixel, rows, pixels, columns + p.block * wide(p) * pixel,
                          y + i * pixel)
        elif pixels.taps:
            pixels.count, pixels.stride, pixels.pitch = rows, pitch, line
            for i in range(i, end):  # cut off by an edge: their first taps need not be a stride apart
                p.combine.across(columns + p.places[i].read.begin * pixel, pixels, y + i * pixel)
        i = end


cdef Mean mean_of(Rule rule, bint is_signed, Py_ssize_t count) noexcept nogil:
    cdef int32_t n = <int32_t>max(count, 1)
    return Mean(rule, is_signed, n, min(32768 // n, 32767), <float>1 / <float>n)


cdef inline int32_t mean(int32_t sum, Mean p) noexcept nogil:
    if p.rule == RECIPROCAL:
        return <int32_t>rintf(<float>sum * p.part)
    if p.rule == QUOTIENT:
        return <int32_t>rintf(<float>sum / <float>p.count)
    return sum // p.count if p.rule == TRUNCATE else saturate_u8(sum * p.q15 + 0x4000 >> 15)


cdef void means_s16(const int16_t *sums, Py_ssize_t n, Mean p, uint8_t *y) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint wraps = p.is_signed or p.rule == Q15
    for i in range(pool_means__simd(tier(), sums, n, p, y), n):
        y[i] = <uint8_t>mean(<int32_t>sums[i] if wraps else <int32_t><uint16_t>sums[i], p)


cdef void means_s32(const int32_t *sums, Py_ssize_t n, Mean p, uint8_t *y) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        y[i] = <uint8_t>mean(sums[i], p)


cdef struct Means:
    Rule rule
    bint is_signed, padding  # padding: it is counted
    Py_ssize_t size  # bytes of a sum


cdef void means_row(const Pool *p, const Means *means, Taps rows, const char *sums, uint8_t *y) noexcept nogil:
    """The means of a row of sums, as many at a time as have the same count."""
    cdef Py_ssize_t i = 0, end, first, n
    cdef Mean mean
    while i < p.ow:
        end, first = p.ow if means.padding else p.places[i].count_end, i * p.channels
        n = (end - i) * p.channels
        mean = mean_of(means.rule, means.is_signed,
                       p.kh * p.kw if means.padding else rows.count * p.places[i].count)
        if means.size == 2:
            means_s16(<const int16_t *>sums + first, n, mean, y + first)
        else:
            means_s32(<const int32_t *>sums + first, n, mean, y + first)
        i = end


cdef void image_rows(const Pool *p, const char *x, char *columns, char *sums, const Means *means,
                     char *y) noexcept nogil:
    """The results of one image, as many rows at a time as are made together."""
    cdef Py_ssize_t line = p.ow * p.channels, row = line * p.combine.size, j = 0, i, rows
    cdef Taps taps
    while j < p.oh:
        taps = taps_on(&p.down, j, p.height, p.kh)
        rows = max(1, whole_rows(p, j))
        pool_rows(p, x, taps, rows, columns, y + j * row if means == NULL else sums)
        if means != NULL:
            for i in range(rows):
                means_row(p, means, taps, sums + i * row, <uint8_t *>y + (j + i) * line)
        j += rows


cdef int run(Pool *p, const char *x, Py_ssize_t images, char *y, const Means *means) noexcept nogil:
    """All images; not 0 if there is no memory for it. means: NULL if there are none to be made."""
    cdef Py_ssize_t pixel = p.channels * p.combine.size, columns, sums, i
    cdef Py_ssize_t result = p.oh * p.ow * p.channels * (p.combine.size if means == NULL else 1)
    p.block = max(1, min(p.oh, BLOCK // max(1, wide(p) * pixel)))
    columns, sums = 2 * p.block * wide(p) * pixel, 0 if means == NULL else p.block * p.ow * pixel
    cdef char *memory = <char *>PyMem_RawMalloc(64 + columns + sums + BEHIND + p.ow * <Py_ssize_t>sizeof(Place))
    cdef char *column = <char *>aligned(memory)
    if memory == NULL:
        return -1
    p.places = <Place *>aligned(column + columns + sums + BEHIND - 64)
    find_places(p)
    if p.margin:
        memset(column, p.combine.nothing, columns // 2)
    memset(column + columns + sums, 0, BEHIND - 64)
    for i in range(images):
        image_rows(p, x + i * p.height * p.width * p.channels * p.combine.given, column, column + columns, means,
                   y + i * result)
    PyMem_RawFree(memory)
    return 0


cdef cnp.ndarray checked(image):
    """Images of codes; in the order of NHWC in memory they are not copied."""
    cdef cnp.ndarray x = array(image, "image", cnp.NPY_UINT8, cnp.NPY_INT8)
    if cnp.PyArray_NDIM(x) != 4:
        raise ValueError(f"image: expected 4 dimensions, got shape {(<object>x).shape}")
    return x


cdef cnp.ndarray pooled(cnp.ndarray image, tuple kernel, Window window, Combination combine, int typenum, out,
                        const Means *means):
    """The results of the dtype number `typenum`, in `out` if there is one."""
    cdef cnp.ndarray x = image if cnp.PyArray_IS_C_CONTIGUOUS(image) else np.ascontiguousarray(image), y, made
    cdef Pool p
    cdef int failed
    p.down, p.across = window.down, window.across
    p.combine = combine
    p.kh, p.kw = kernel
    p.height, p.width, p.channels = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2), cnp.PyArray_DIM(x, 3)
    window.places(p.height, p.width, p.kh, p.kw, &p.oh, &p.ow)
    p.margin = margin_of(&p.across, p.width, p.kw)
    cdef cnp.npy_intp[4] shape = [cnp.PyArray_DIM(x, 0), p.oh, p.ow, p.channels]
    if out is None:
        y = cnp.PyArray_EMPTY(4, shape, typenum, 0)
    else:
        writable(out, typenum, 4, shape)
        apart(out, image)
        y = out
    made = y if cnp.PyArray_IS_C_CONTIGUOUS(y) else cnp.PyArray_EMPTY(4, shape, typenum, 0)
    with nogil:
        failed = run(&p, cnp.PyArray_BYTES(x), cnp.PyArray_DIM(x, 0), cnp.PyArray_BYTES(made), means)
    if failed:
        raise MemoryError
    if made is not y:
        np.copyto(y, made)
    return y


def largest(image, tuple kernel, Window window, out=None):
    """The largest code of each window; one that lies on padding only gives the lowest code."""
    cdef cnp.ndarray x = checked(image)
    cdef int typenum = cnp.PyArray_TYPE(x)
    return pooled(x, kernel, window, largest_codes(typenum == cnp.NPY_INT8), typenum, out, NULL)


def sums(image, tuple kernel, Window window, out=None):
    """The sum of each window, int32."""
    cdef cnp.ndarray x = checked(image)
    cdef Combination combine = sums_of(cnp.PyArray_TYPE(x) == cnp.NPY_INT8, 4)
    return pooled(x, kernel, window, combine, cnp.NPY_INT32, out, NULL)


def totals(cnp.ndarray image, tuple kernel, Window window):
    """The sum of each window of int32 images, modulo 2**32."""
    return pooled(image, kernel, window, totals_of(), cnp.NPY_INT32, None, NULL)


def means(image, tuple kernel, Window window, str rule, *, bint padding=False, out=None):
    """The mean of each window, a code, by one of the RULES; with ``padding`` all taps count, else those on the image.

    A window that lies on padding only gives 0.
    """
    cdef cnp.ndarray x = checked(image)
    cdef bint is_signed = cnp.PyArray_TYPE(x) == cnp.NPY_INT8
    cdef Means how
    if rule not in RULES or rule == "q15" and is_signed:
        raise ValueError(f"rule: expected one of {', '.join(RULES)}, the last for uint8 only, got {rule!r}")
    how = Means(RULES[rule], is_signed, padding, 2 if rule == "q15" or kernel[0] * kernel[1] <= FEW else 4)
    return pooled(x, kernel, window, sums_of(is_signed, how.size), cnp.PyArray_TYPE(x), out, &how)


def counts(size, kernel, Window window, *, bint padding=False):
    """How many taps of each window lie on an image of this size, or all of them with ``padding``: (OH, OW)."""
    cdef Py_ssize_t i
    oh, ow = window.out_size(size, kernel)
    if padding:
        return np.full((oh, ow), kernel[0] * kernel[1], np.int32)
    down = [taps_on(&window.down, i, size[0], kernel[0]).count for i in range(oh)]
    across = [taps_on(&window.across, i, size[1], kernel[1]).count for i in range(ow)]
    return np.multiply.outer(np.int32(down), np.int32(across))
