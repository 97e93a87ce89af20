"""A pool, row by row of the result.

A window is combined first down (vertically), then across (horizontally). So each loop reads contiguous memory: whole
rows of the image, and then the channels of pixels.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from qops._kernels.arrays.axis cimport TapRange, taps_on_image
from qops._kernels.arrays.concat cimport copy_rows
from qops._kernels.machine.tiers cimport tier
from qops._kernels.pool.means cimport STAGE, VALUES, means_of_sums, means_of_values

cdef extern from "pool/taps.h" nogil:
    Py_ssize_t pool_combine__simd(int, const void *, Taps, void *, PoolKind)

cdef enum:
    LONGEST = 64  # the bytes of the longest vector, to which scratch memory is aligned
    SHORT_ROWS_BYTES = 8192  # short rows are made together, up to so many bytes, a part of L1

ctypedef fused code:
    uint8_t
    int8_t

ctypedef fused value:
    uint8_t
    int8_t
    uint16_t
    int16_t
    int32_t

ctypedef fused total:
    int16_t
    int32_t


cdef inline void largest(const code *x, Taps p, code *y) noexcept nogil:
    """Make the largest code of each channel of each window."""
    cdef Py_ssize_t _i, t, c
    for _i in range(p.pixels):
        for c in range(p.channels):
            y[c] = x[c]
        for t in range(1, p.taps):
            for c in range(p.channels):
                y[c] = max(y[c], x[t * p.tap_stride + c])
        x += p.stride
        y += p.pitch


cdef inline void summed(const value *x, Taps p, total *y) noexcept nogil:
    """Make the sum of each channel of each window in the type of y. The sums wrap."""
    cdef Py_ssize_t _i, t, c
    for _i in range(p.pixels):
        for c in range(p.channels):
            y[c] = <total>p.start
        for t in range(p.taps):
            for c in range(p.channels):
                y[c] = <total>(<uint32_t>y[c] + <uint32_t>x[t * p.tap_stride + c])
        x += p.stride
        y += p.pitch


cdef void combine(PoolKind kind, const void *x, Taps p, void *y) noexcept nogil:
    """Combine windows of at least one tap, with vectors if the tier has a loop for that. taps.h explains `p`."""
    if pool_combine__simd(tier(), x, p, y, kind):
        return
    if kind == MAX_U8:
        largest(<const uint8_t *>x, p, <uint8_t *>y)
    elif kind == MAX_S8:
        largest(<const int8_t *>x, p, <int8_t *>y)
    elif kind == SUM_U8_S16:
        summed(<const uint8_t *>x, p, <int16_t *>y)
    elif kind == SUM_S8_S16:
        summed(<const int8_t *>x, p, <int16_t *>y)
    elif kind == SUM_S16:
        summed(<const int16_t *>x, p, <int16_t *>y)
    elif kind == SUM_U16_S32:
        summed(<const uint16_t *>x, p, <int32_t *>y)
    elif kind == SUM_S16_S32:
        summed(<const int16_t *>x, p, <int32_t *>y)
    else:
        summed(<const int32_t *>x, p, <int32_t *>y)


cdef Py_ssize_t size_of(PoolKind kind) noexcept nogil:
    """Give the bytes of an element of the result of this kind."""
    if kind == MAX_U8 or kind == MAX_S8:
        return 1
    return 2 if kind == SUM_U8_S16 or kind == SUM_S8_S16 or kind == SUM_S16 else 4


cdef void find_whole(Pool *p) noexcept nogil:
    """Set the range of windows in a row whose taps all lie on the image."""
    p.whole_begin, p.whole_end = 0, p.ow
    while p.whole_begin < p.ow and taps_on_image(&p.columns, p.whole_begin).count < p.columns.kernel:
        p.whole_begin += 1
    while p.whole_end > p.whole_begin and taps_on_image(&p.columns, p.whole_end - 1).count < p.columns.kernel:
        p.whole_end -= 1


cdef void combine_down(const Pool *p, const char *image, TapRange taps, Py_ssize_t rows) noexcept nogil:
    """Combine taps vertically into `rows` rows of `combined`, between their padding; `taps`: those of the first row."""
    cdef Py_ssize_t n = p.columns.size * p.channels
    cdef char *combined = p.combined + p.before * p.channels * size_of(p.down)
    if taps.count:
        combine(p.down, image + taps.begin * n * p.image_bytes,
                Taps(rows, p.rows.stride * n if rows > 1 else 0, p.padded_width * p.channels, n, taps.count,
                     p.rows.dilation * n if taps.count > 1 else 0, p.down_start), combined)
    else:
        memset(combined, p.down_start & 0xFF, n * size_of(p.down))


cdef void combine_across(const Pool *p, Py_ssize_t rows, char *y) noexcept nogil:
    """Combine rows of `combined` horizontally.

    If the stride is above 1 and a pixel is shorter than a vector, a window is made at every pixel, and then those at
    multiples of the stride are copied.
    """
    cdef Py_ssize_t n = p.channels, stride = p.columns.stride if p.ow > 1 else 1, kw = p.columns.kernel, i
    cdef Py_ssize_t tap_stride = p.columns.dilation * n if kw > 1 else 0
    cdef Py_ssize_t pixels = ((p.ow - 1) * stride + 1) * n, size = n * p.combined_bytes
    if stride == 1:
        combine(p.across, p.combined, Taps(rows, p.padded_width * n, pixels, pixels, kw, tap_stride, p.across_start),
                y)
    elif n >= LONGEST:
        combine(p.across, p.combined, Taps(p.ow, stride * n, n, n, kw, tap_stride, p.across_start), y)
    else:
        combine(p.across, p.combined, Taps(rows, p.padded_width * n, pixels, pixels, kw, tap_stride, p.across_start),
                p.at_every_pixel)
        for i in range(rows):
            copy_rows(y + i * p.ow * size, size, p.at_every_pixel + i * pixels * p.combined_bytes, stride * size,
                      size, p.ow)


cdef void combine_each(const Pool *p, char *y) noexcept nogil:
    """Combine a row of `combined` horizontally, window by window, if the row has no padding in memory."""
    cdef Py_ssize_t n = p.channels, i
    cdef TapRange taps
    for i in range(p.ow):
        taps = taps_on_image(&p.columns, i)
        if taps.count:
            combine(p.across, p.combined + taps.begin * n * size_of(p.down),
                    Taps(1, 0, 0, n, taps.count, p.columns.dilation * n if taps.count > 1 else 0, p.across_start),
                    y + i * n * p.combined_bytes)
        else:
            memset(y + i * n * p.combined_bytes, p.across_start & 0xFF, n * p.combined_bytes)


cdef void mean_row(const Pool *p, Py_ssize_t rows, const char *sums, uint8_t *y) noexcept nogil:
    """Make the means of a row of sums, in one call for all windows whose taps lie on the image horizontally.

    `rows` is how many taps of a window lie on the image vertically.
    """
    cdef Py_ssize_t i = 0, end
    cdef int64_t count = <int64_t>p.rows.kernel * p.columns.kernel
    while i < p.ow:
        end = p.ow
        if not p.means.padding and p.means.rule != STAGE:
            end = max(i + 1, p.whole_end if i == p.whole_begin else 0)
            count = <int64_t>rows * taps_on_image(&p.columns, i).count
        means_of_sums(p.means, sums + i * p.channels * p.combined_bytes, (end - i) * p.channels, count,
                      y + i * p.channels * p.result_bytes)
        i = end


cdef Py_ssize_t whole_rows(const Pool *p, Py_ssize_t begin) noexcept nogil:
    """Give how many rows of results to make at once: several only if all their taps lie on the image vertically."""
    cdef Py_ssize_t rows = 0
    while rows < min(p.block, p.oh - begin) and taps_on_image(&p.rows, begin + rows).count == p.rows.kernel:
        rows += 1
    return max(1, rows)


cdef void one_image(const Pool *p, const char *x, char *y) noexcept nogil:
    """Make the results of one image."""
    cdef Py_ssize_t line = p.ow * p.channels, i = 0, rows, k
    cdef TapRange taps
    cdef char *to
    while i < p.oh:
        taps, rows = taps_on_image(&p.rows, i), whole_rows(p, i)
        to = y + i * line * p.result_bytes if p.means == NULL else p.sums
        combine_down(p, x, taps, rows)
        if p.is_padded:
            combine_across(p, rows, to)
        else:
            combine_each(p, to)
        for k in range(rows if p.means != NULL else 0):
            mean_row(p, taps.count, to + k * line * p.combined_bytes, <uint8_t *>y + (i + k) * line * p.result_bytes)
        i += rows


cdef void one_image_of_values(const Pool *p, const uint8_t *x, uint8_t *y) noexcept nogil:
    """Make the results of one image by the rule VALUES: means of real values."""
    cdef Py_ssize_t i
    for i in range(p.oh):
        means_of_values(p.means, x + i * p.rows.stride * p.columns.size * p.channels, p.ow * p.channels,
                        y + i * p.ow * p.channels)


cdef int run(Pool *p, const char *x, Py_ssize_t images, char *y) noexcept nogil:
    """Make the results of all images; -1 if there is not enough memory."""
    cdef Py_ssize_t image = p.rows.size * p.columns.size * p.channels * p.image_bytes, row, size, i
    cdef Py_ssize_t result = p.oh * p.ow * p.channels * p.result_bytes
    p.is_padded = max(p.columns.before, p.columns.after) <= p.columns.size  # wider padding would need too much memory
    p.before = p.columns.before if p.is_padded else 0
    p.padded_width = p.before + p.columns.size + (p.columns.after if p.is_padded else 0)
    if 3.0 * max(p.padded_width, p.ow) * p.channels * p.combined_bytes + SHORT_ROWS_BYTES * 4 >= <double>PY_SSIZE_T_MAX:
        return -1
    row = max(p.padded_width, p.ow) * p.channels * p.combined_bytes
    p.block = 1
    if p.is_padded and (p.channels < LONGEST or p.columns.stride == 1):
        p.block = max(1, SHORT_ROWS_BYTES // max(1, row))
    size = (p.block * row + LONGEST) // LONGEST * LONGEST
    cdef char *memory = <char *>PyMem_RawMalloc(3 * size + LONGEST)
    if memory == NULL:
        return -1
    find_whole(p)
    p.combined = memory + LONGEST - <size_t>memory % LONGEST
    p.at_every_pixel, p.sums = p.combined + size, p.combined + 2 * size
    memset(p.combined, p.down_start & 0xFF, p.block * p.padded_width * p.channels * size_of(p.down))
    for i in range(images):
        if p.means != NULL and p.means.rule == VALUES:
            one_image_of_values(p, <const uint8_t *>x + i * image, <uint8_t *>y + i * result)
        else:
            one_image(p, x + i * image, y + i * result)
    PyMem_RawFree(memory)
    return 0
