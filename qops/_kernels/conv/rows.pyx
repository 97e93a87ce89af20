"""An integer convolution, row by row of the output and over threads. It knows no numpy arrays: see convolution.pyx.

A convolution is a product whose k is (kh, kw, ic). No matrix of windows (im2col) is made: a tile reads its rows of A
from the image itself, once for each tap (kh, kw), or for each row of taps that are neighbours. Depthwise convolutions
have loops of their own: see depthwise.pyx. A *sum* here is an accumulator of the output.
"""
cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.conv.depthwise cimport COLUMN, Woven, depthwise_rows, weave_for, woven_bytes
from qops._kernels.conv.image cimport group_bytes, image_rows, pixel_bytes, row_bytes
from qops._kernels.gemm.matmul cimport SUMS_AT_ONCE, WEIGHTS_PER_SUM
from qops._kernels.gemm.offsets cimport subtract_row
from qops._kernels.gemm.tile cimport (
    aligned, block_bytes, gemm_tile, most_quads, padded_columns, panel_bytes, panel_rows,
    quad_bytes, release,
)
from qops._kernels.gemm.transpose cimport transpose_bytes
from qops._kernels.machine.caches cimport caches
from qops._kernels.machine.threads cimport run_parts
from qops._kernels.stage.stage cimport stage_run

cdef enum:
    CHANNELS_AT_ONCE = 16  # channels that put_words copies at a time: a cache line of sums


cdef inline bint uses_scratch(const Convolution *p) noexcept nogil:
    """Whether sums are made in scratch memory, not in y."""
    return p.has_stage or p.y_is_strided


cdef void group_rows(const Convolution *p, gemm_tile *t, const Py_ssize_t *tap, Py_ssize_t group, Py_ssize_t rows,
                     const uint8_t *x, int32_t *y) noexcept nogil:
    """Make some rows of the output for one group, panel by panel, in K blocks of up to most_quads."""
    cdef Py_ssize_t width = p.kernel.lanes * p.kernel.vectors
    cdef Py_ssize_t at_once = max(1, most_quads(&p.caches) // max(1, t.quads))
    cdef Py_ssize_t j, i, row, used
    cdef const uint8_t *panel
    # backwards, as the last panel may write beyond its columns; without any column there is no panel
    for j from (p.oc + width - 1) // width * width - width >= j >= 0 by width:
        used = min(width, p.oc - j)
        panel = p.panels + panel_bytes(p.kernel, group * padded_columns(p.kernel, p.oc) + j, t.quads * p.taps)
        for i from 0 <= i < p.taps by at_once:
            t.tap = tap + i
            t.taps = min(at_once, p.taps - i)
            t.b = panel + t.quads * i * quad_bytes(p.kernel, used)
            t.sums = p.sums + group * padded_columns(p.kernel, p.oc) + j
            t.times = 0 if i else p.times
            t.accumulate = i > 0
            for row in range(rows):
                t.a = x + row * p.sh * row_bytes(&p.image)
                t.c = y + row * p.ow * t.ldc + j
                panel_rows(p.kernel, t, p.ow, used)


cdef void dense_rows(const Convolution *p, const Py_ssize_t *tap, Py_ssize_t rows, const uint8_t *x,
                     int32_t *y) noexcept nogil:
    """Make some rows of the output of a convolution that is not depthwise."""
    cdef Py_ssize_t group
    cdef int set_up = 0
    cdef gemm_tile t
    t.prefetch, t.spare = False, p.groups == 1 and uses_scratch(p)
    t.is_signed = p.image.x_signed and (p.image.in_place or p.kernel.takes_signed)
    t.is_unsigned = p.kernel.is_unsigned
    t.set_up = &set_up if p.amx else NULL
    t.lda = p.sw * pixel_bytes(&p.image)
    t.ldc = p.groups * p.oc
    t.quads = p.quads
    t.vector_stride = 4 * p.kernel.lanes * p.quads * p.taps
    for group in range(p.groups):
        group_rows(p, &t, tap, group, rows, x + group * group_bytes(&p.image), y + group * p.oc)
    release(set_up)


cdef Py_ssize_t rows_read(const Convolution *p, Py_ssize_t rows) noexcept nogil:
    """Give how many rows of the padded image are read for so many rows of the output."""
    return (rows - 1) * p.sh + (p.kh - 1) * p.dh + 1


cdef bint beyond_memory(const Convolution *p) noexcept nogil:
    """Whether scratch memory for one row of the output, and for what it reads, would exceed any address space."""
    cdef double read = ((p.kh - 1) * <double>p.dh + 1) * p.image.pixels * pixel_bytes(&p.image)
    cdef double made = 8.0 * p.ow * p.groups * p.oc
    cdef double across = <double>p.image.pixels + min(p.dh, p.image.height) + COLUMN
    cdef double woven = 0 if p.depthwise == NULL else 4.0 * (p.kh + 4) * across * p.groups
    return (0 if p.image.in_place else read) + woven + (made if uses_scratch(p) else 0) > <double>(PY_SSIZE_T_MAX // 2)


cdef Py_ssize_t block_rows(const Convolution *p) noexcept nogil:
    """Give how many rows of the output to make at a time: what they read is within block_bytes if possible."""
    cdef Py_ssize_t read = block_bytes(&p.caches) // max(1, p.image.pixels * pixel_bytes(&p.image))
    cdef Py_ssize_t most = max(1, (read - rows_read(p, 1)) // p.sh + 1), blocks
    blocks = (p.oh + most - 1) // most
    return (p.oh + blocks - 1) // blocks


cdef void subtract_w_zero_points(const Convolution *p, Py_ssize_t first, Py_ssize_t pixels, int32_t *y) noexcept nogil:
    # y[pixel][group][c] -= w_zero_points[group][c] * window_sums[first + pixel][group]
    cdef Py_ssize_t _i, g
    cdef const uint32_t *sums = p.window_sums + first * p.groups
    for _i in range(pixels):
        if p.oc == 1:
            for g in range(p.groups):
                y[g] = <int32_t>(<uint32_t>y[g] - sums[g] * p.w_zero_points[g])
        else:
            for g in range(p.groups):
                subtract_row(<uint32_t *>y + g * p.oc, p.w_zero_points + g * p.oc, sums[g], p.oc)
        y += p.groups * p.oc
        sums += p.groups


cdef void put_bytes(const Convolution *p, const char *made, Py_ssize_t pixels, char *y) noexcept nogil:
    """Copy 8-bit codes of pixels from NHWC to the strides of y."""
    cdef Py_ssize_t channels = p.groups * p.oc, c, j
    cdef Py_ssize_t[64] to
    for c in range(64):
        to[c] = c * p.y_channel
    if p.y_column == 1:
        for c from 0 <= c < channels by 64:
            transpose_bytes(<const int8_t *>made + c, channels, pixels, min(64, channels - c),
                            <int8_t *>y + c * p.y_channel, to)
        return
    for j in range(pixels):
        for c in range(channels):
            y[j * p.y_column + c * p.y_channel] = made[j * channels + c]


cdef void put_words(const Convolution *p, const int32_t *made, Py_ssize_t pixels, char *y) noexcept nogil:
    """Copy 32-bit numbers of pixels from NHWC to the strides of y."""
    cdef Py_ssize_t channels = p.groups * p.oc, first, j, c
    for first from 0 <= first < channels by CHANNELS_AT_ONCE:
        for j in range(pixels):
            for c in range(first, min(first + CHANNELS_AT_ONCE, channels)):
                (<int32_t *>(y + j * p.y_column + c * p.y_channel))[0] = made[j * channels + c]


cdef void put_rows(const Convolution *p, int32_t *made, Py_ssize_t number, Py_ssize_t first,
                   Py_ssize_t rows, char *scratch) noexcept nogil:
    """Put some rows of image `number` into y, from row `first` on: the sums `made`, or their codes if there is a stage.

    `scratch` has room for the codes, in case y is strided.
    """
    cdef Py_ssize_t _i, pixels = p.ow, row = p.ow * p.groups * p.oc
    cdef char *y = p.y + number * p.y_image + first * p.y_row
    if p.has_stage:
        stage_run(&p.stage, made, cnp.NPY_INT32, scratch if p.y_is_strided else y, p.y_type,
                  (number * p.oh + first) * row, rows * row)
    else:
        scratch = <char *>made
    if not p.y_is_strided:
        return
    if p.y_row == p.ow * p.y_column:
        pixels, rows = pixels * rows, 1
    for _i in range(rows):
        if p.y_size == 1:
            put_bytes(p, scratch, pixels, y)
        else:
            put_words(p, <int32_t *>scratch, pixels, y)
        scratch += row * p.y_size
        y += p.y_row


cdef Py_ssize_t rows_at_once(const Convolution *p) noexcept nogil:
    """Give how many rows of sums to make before they are corrected, made codes, or copied."""
    cdef Py_ssize_t scratch = max(<Py_ssize_t>SUMS_AT_ONCE, p.image.channels * p.kh * p.kw * p.oc // WEIGHTS_PER_SUM)
    if not uses_scratch(p) and p.w_zero_points == NULL:
        return p.oh
    return min(p.oh, max(1, scratch // max(1, p.ow * p.groups * p.oc)))


cdef void convolve_block(const Convolution *p, const Py_ssize_t *tap, const Woven *woven, Py_ssize_t number,
                         Py_ssize_t first, Py_ssize_t rows, uint8_t *buffer, int32_t *scratch) noexcept nogil:
    """Make a block of rows of image `number`, from row `first` on, completely."""
    cdef const uint8_t *x = image_rows(&p.image, number, first * p.sh, rows_read(p, rows), buffer)
    cdef Py_ssize_t i, some, most = rows_at_once(p)
    cdef int32_t *made = scratch
    for i from 0 <= i < rows by most:
        some = min(most, rows - i)
        if not uses_scratch(p):
            made = <int32_t *>(p.y + number * p.y_image + (first + i) * p.y_row)
        if p.depthwise == NULL:
            dense_rows(p, tap, some, x, made)
        else:
            depthwise_rows(p, woven, x, number, first + i, some, made)
        x += some * p.sh * row_bytes(&p.image)
        if p.w_zero_points != NULL:
            subtract_w_zero_points(p, (number * p.oh + first + i) * p.ow, some * p.ow, made)
        if uses_scratch(p):
            put_rows(p, scratch, number, first + i, some, <char *>(scratch + most * p.ow * p.groups * p.oc))


cdef int convolve_rows(const Convolution *p, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """Make rows `first` to `end` - 1 of the output, counted over all images; -1 if there is not enough memory."""
    if beyond_memory(p):
        return -1
    cdef Py_ssize_t most = block_rows(p), across = p.taps // p.kh  # taps in a row
    cdef Py_ssize_t size = 0 if p.image.in_place else rows_read(p, most) * row_bytes(&p.image)
    cdef Py_ssize_t scratch = rows_at_once(p) * p.ow * p.groups * p.oc * 8 if uses_scratch(p) else 0  # sums and codes
    cdef Py_ssize_t kept = p.taps * sizeof(Py_ssize_t) + woven_bytes(p)
    cdef void *memory = PyMem_RawMalloc(192 + kept + size + scratch)
    cdef Py_ssize_t *tap = <Py_ssize_t *>memory
    cdef uint8_t *buffer = <uint8_t *>aligned(<char *>memory + kept)
    cdef Py_ssize_t i, rows
    cdef Woven woven
    if memory == NULL:
        return -1
    if p.depthwise != NULL:
        woven = weave_for(p, memory)
    else:
        for i in range(p.taps):
            tap[i] = i // across * p.dh * row_bytes(&p.image) + i % across * p.dw * pixel_bytes(&p.image)
    while first < end:
        rows = min(most, min(end - first, p.oh - first % p.oh))
        convolve_block(p, tap, &woven, first // p.oh, first % p.oh, rows, buffer, <int32_t *>aligned(buffer + size))
        first += rows
    PyMem_RawFree(memory)
    return 0


ctypedef struct Divided:  # a convolution in parts
    Convolution whole
    Py_ssize_t rows, parts  # rows of the output over all images


cdef int convolve_part(const void *op, Py_ssize_t i) noexcept nogil:
    """Make part i of a divided convolution, for `run_parts`."""
    cdef const Divided *d = <const Divided *>op
    cdef int64_t rows = d.rows  # in 64 bits, because Py_ssize_t may have 32
    return convolve_rows(&d.whole, <Py_ssize_t>(rows * i // d.parts), <Py_ssize_t>(rows * (i + 1) // d.parts))


cdef int run_convolution(const Convolution *p, Py_ssize_t images, Py_ssize_t num_threads) except -1:
    """Make all rows of all images on up to `num_threads` threads; MemoryError if there is not enough memory."""
    cdef Divided d
    d.whole, d.rows = p[0], images * p.oh
    d.whole.caches = caches
    d.parts = max(<Py_ssize_t>1, min(num_threads, d.rows))
    return run_parts(convolve_part, &d, d.parts)
