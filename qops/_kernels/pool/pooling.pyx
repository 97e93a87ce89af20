"""Pools over images of codes (N, H, W, C), uint8 or int8: the largest code of each window, its sum, its mean.

A window is combined first down, then across, because a row of the image with all its channels is contiguous in memory,
and so are the channels of a pixel. Padding is not part of a window, but may count in a mean. Sums have 16 bits if that
is enough. A mean is one of

    reciprocal    rint(f32(sum) * f32(1 / count))                               one rounding to float32 an operation
    quotient      rint(f32(sum) / f32(count))                                   the same
    truncate      sum / count, toward zero
    q15           saturate_u8((sum * min(2**15 / count, 2**15 - 1) + 2**14) >> 15), the sum wraps to 16 bits; uint8 only

or a stage makes it of the sum, or of the mean of real values.
"""
cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport uint8_t
from libc.string cimport memset

from qops._kernels.arrays.checks cimport apart, array, writable
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.pool.means cimport CODED, Q15, QUOTIENT, RECIPROCAL, TRUNCATE, VALUES, Means
from qops._kernels.pool.means cimport means_row, value_row
from qops._kernels.pool.pixels cimport Combination, Pixels, largest_codes, pick_pixels, sums_of, totals_of
from qops._kernels.pool.places cimport Place, Pool, Taps, find_places, margin_of, taps_on, whole_rows, wide
from qops._kernels.gemm.tile cimport aligned
from qops._kernels.arrays.window cimport Window

import numpy as np

cnp.import_array()

cdef enum:
    NARROW = 64  # how many codes the longest vector holds
    BEHIND = 256  # bytes behind the sums that vectors may read
    BLOCK = 8192  # bytes of columns that are worked on at a time, a part of L1
    FEW = 255  # up to so many taps, a sum of u8 fits uint16, and a sum of s8 fits int16

RULES = {"reciprocal": RECIPROCAL, "quotient": QUOTIENT, "truncate": TRUNCATE, "q15": Q15}


cdef void whole_windows(const Pool *p, const char *columns, Py_ssize_t rows, Pixels pixels, char *scratch,
                        char *y) noexcept nogil:
    """Combine windows that lie wholly on the columns, those of `pixels` in each row.

    If a pixel is shorter than a vector, a window is made at every pixel, and those a stride apart are picked.
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
    """Make rows of results with the same number of taps. Each window is combined downwards first, into rows of
    `columns` with margins of padding. As much memory again follows these rows."""
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
            for i in range(i, end):  # windows cut off by an edge, whose first taps need not be a stride apart
                p.combine.across(columns + p.places[i].read.begin * pixel, pixels, y + i * pixel)
        i = end


cdef void image_rows(const Pool *p, const char *x, char *columns, char *sums, const Means *means,
                     char *y) noexcept nogil:
    """Make the results of one image, as many rows at a time as can be made together."""
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


cdef void value_rows(const Pool *p, const char *x, Py_ssize_t images, char *y, const Means *means) noexcept nogil:
    """Make the results of all images from the means of real values."""
    cdef Py_ssize_t i, j
    for i in range(images):
        for j in range(p.oh):
            value_row(p, means, x + (i * p.height + j) * p.width * p.channels,
                      <uint8_t *>y + (i * p.oh + j) * p.ow * p.channels)


cdef int run(Pool *p, const char *x, Py_ssize_t images, char *y, const Means *means) noexcept nogil:
    """Make the results of all images; not 0 if memory is lacking. means: NULL if there are none to be made."""
    cdef Py_ssize_t pixel = p.channels * p.combine.size, columns, sums, i
    cdef Py_ssize_t result = p.oh * p.ow * p.channels * (p.combine.size if means == NULL else 1)
    if means != NULL and means.rule == VALUES:
        value_rows(p, x, images, y, means)
        return 0
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
    """Give images of codes as contiguous NHWC; they are not copied if they are that already."""
    cdef cnp.ndarray x = array(image, "image", cnp.NPY_UINT8, cnp.NPY_INT8)
    if cnp.PyArray_NDIM(x) != 4:
        raise ValueError(f"image: expected 4 dimensions, got shape {(<object>x).shape}")
    return x


cdef cnp.ndarray pooled(cnp.ndarray image, tuple kernel, Window window, Combination combine, int typenum, out,
                        const Means *means):
    """Make results of the dtype number `typenum`, in `out` if there is one."""
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
        apart(out, image, None)
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
    """Give the largest code of each window; a window on padding alone gives the lowest code."""
    cdef cnp.ndarray x = checked(image)
    cdef int typenum = cnp.PyArray_TYPE(x)
    return pooled(x, kernel, window, largest_codes(typenum == cnp.NPY_INT8), typenum, out, NULL)


def sums(image, tuple kernel, Window window, out=None):
    """Give the sum of each window, int32."""
    cdef cnp.ndarray x = checked(image)
    cdef Combination combine = sums_of(cnp.PyArray_TYPE(x) == cnp.NPY_INT8, 4)
    return pooled(x, kernel, window, combine, cnp.NPY_INT32, out, NULL)


def totals(cnp.ndarray image, tuple kernel, Window window):
    """Give the sum of each window of int32 images, modulo 2**32."""
    return pooled(image, kernel, window, totals_of(), cnp.NPY_INT32, None, NULL)


def means(image, tuple kernel, Window window, str rule, *, bint padding=False, out=None):
    """Give the mean of each window, a code, by one of the RULES.

    With ``padding`` all taps count, else only those on the image. A window on padding alone gives 0.
    """
    cdef cnp.ndarray x = checked(image)
    cdef bint is_signed = cnp.PyArray_TYPE(x) == cnp.NPY_INT8
    cdef Means how
    if rule not in RULES or rule == "q15" and is_signed:
        raise ValueError(f"rule: expected one of {', '.join(RULES)}, the last for uint8 only, got {rule!r}")
    how.rule, how.is_signed, how.padding = RULES[rule], is_signed, padding
    how.size = 2 if rule == "q15" or kernel[0] * kernel[1] <= FEW else 4
    return pooled(x, kernel, window, sums_of(is_signed, how.size), cnp.PyArray_TYPE(x), out, &how)


def coded(image, tuple kernel, PreparedStage stage, int zero, float scale=0, out=None):
    """Give the codes that a stage makes of windows with a stride of 1 and no padding.

    Without a `scale` the stage takes int32: the sum of the codes of a window, less `zero`. With a `scale` it takes
    float32: the mean of the values ``(code - zero) * scale``, which are added tap after tap, each sum rounded.
    """
    cdef cnp.ndarray x = checked(image)
    cdef Means how
    how.rule, how.is_signed = VALUES if scale else CODED, cnp.PyArray_TYPE(x) == cnp.NPY_INT8
    how.size = 2 if kernel[0] * kernel[1] <= FEW else 4
    how.zero, how.scale, how.stage, how.typenum = zero, scale, stage.stage, cnp.PyArray_TYPE(x)
    return pooled(x, kernel, Window(), sums_of(how.is_signed, how.size), cnp.PyArray_TYPE(x), out, &how)


def counts(size, kernel, Window window, *, bint padding=False):
    """Give how many taps of each window lie on an image of this size, or all taps with ``padding``: (OH, OW)."""
    cdef Py_ssize_t i
    oh, ow = window.out_size(size, kernel)
    if padding:
        return np.full((oh, ow), kernel[0] * kernel[1], np.int32)
    down = [taps_on(&window.down, i, size[0], kernel[0]).count for i in range(oh)]
    across = [taps_on(&window.across, i, size[1], kernel[1]).count for i in range(ow)]
    return np.multiply.outer(np.int32(down), np.int32(across))
