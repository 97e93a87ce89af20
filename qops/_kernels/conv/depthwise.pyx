"""Rows of a depthwise convolution: its groups have one channel in and one out.

The rows that a row of windows reads are woven into quads, and these are multiplied: see gemm/depthwise.h. Rows are read
from the image itself if the channels of a pixel, and the pixels of a row, lie side by side; padding is woven with them.

An image of one pixel a row, such as a sequence in time, is a *column*. Its rows lie side by side too, so that many of
them are woven at once, each with those below it, and all their windows are one run.
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memset

from qops._kernels.conv.image cimport row_bytes
from qops._kernels.conv.rows cimport Convolution
from qops._kernels.gemm.tile cimport aligned, gemm_depthwise
from qops._kernels.stage.stage cimport SPARE, period_of


cdef inline const uint8_t *row_read(const Convolution *p, const Woven *d, const uint8_t *x, Py_ssize_t number,
                                    Py_ssize_t first, Py_ssize_t row) noexcept nogil:
    """Give a row of the padded image, counted from row `first` on, which is copied to x unless it is in place."""
    cdef Py_ssize_t y = first + row - p.image.top
    if not p.image.in_place:
        return x + row * row_bytes(&p.image)
    return p.image.x + number * p.image.image + y * p.image.row if 0 <= y < p.image.height else d.padding


cdef void depthwise_row(const Convolution *p, const Woven *d, const uint8_t *x, Py_ssize_t number, Py_ssize_t first,
                        int32_t *y) noexcept nogil:
    """Make a row of the output of a depthwise convolution, whose windows begin at row `first` of the padded image."""
    cdef const uint8_t *rows[4]
    cdef Py_ssize_t depth = depth_of(p), i, j
    cdef uint32_t flip = flip_of(p)
    for i from 0 <= i < p.kh by depth:
        for j in range(depth):
            rows[j] = row_read(p, d, x, number, first, min(i + j, p.kh - 1) * p.dh)
        p.kernel.weave(rows, d.inside, flip, d.quads + i // depth * d.plane + d.left)
    p.kernel.dots(&d.row, d.quads, y)


cdef inline Py_ssize_t depth_of(const Convolution *p) noexcept nogil:
    """Give how many rows are woven into quads."""
    return 2 if p.kernel.widens else 4


cdef inline uint32_t flip_of(const Convolution *p) noexcept nogil:
    """Give the quad that shifts codes of s8 by 128, if they are not shifted yet."""
    if not (p.image.in_place and p.image.x_signed):
        return 0
    return 0x800080 if p.kernel.widens else 0x80808080


cdef Py_ssize_t planes_of(const Convolution *p) noexcept nogil:
    """Give how many quads of rows a depthwise convolution reads."""
    return (p.kh + depth_of(p) - 1) // depth_of(p)


cdef bint is_column(const Convolution *p) noexcept nogil:
    """Whether images are columns, and windows move down them row by row."""
    return (p.image.in_place and p.image.pixels == 1 and p.image.left == 0 and p.image.row == p.groups and p.sh == 1
            and 1 < p.kh and (p.kh - 1) * p.dh < p.image.height)


cdef Py_ssize_t rows_in_column(const Convolution *p, Py_ssize_t row, Py_ssize_t end) noexcept nogil:
    """Give how many rows of the output, from one on and before another, to make at once: 1 if a window has padding."""
    cdef Py_ssize_t y = row - p.image.top
    if not is_column(p) or y < 0:
        return 1
    return max(<Py_ssize_t>1, min(min(end - row, <Py_ssize_t>COLUMN), p.image.height - y - (p.kh - 1) * p.dh))


cdef void depthwise_column(const Convolution *p, const Woven *d, Py_ssize_t number, Py_ssize_t first, Py_ssize_t rows,
                           int32_t *y) noexcept nogil:
    """Make rows of the output of a column. The last rows that are read have too few below them, whose weights are 0."""
    cdef const uint8_t *below[4]
    cdef Py_ssize_t read = rows + (p.kh - 1) * p.dh, whole = max(0, read - (depth_of(p) - 1) * p.dh), i, j
    cdef const uint8_t *x = row_read(p, d, NULL, number, first, 0)
    cdef gemm_depthwise run = d.row
    for j in range(depth_of(p)):
        below[j] = x + j * p.dh * p.groups
    p.kernel.weave(below, whole * p.groups, flip_of(p), d.quads)
    for i in range(whole, read):
        for j in range(depth_of(p)):
            below[j] = x + min(i + j * p.dh, read - 1) * p.groups
        p.kernel.weave(below, p.groups, flip_of(p), d.quads + i * p.groups)
    run.n, run.runs = rows * p.groups, 1
    p.kernel.dots(&run, d.quads, y)


cdef Py_ssize_t plane_of(const Convolution *p) noexcept nogil:
    """Give how many quads lie from the first tap of a quad of rows to that of the next."""
    return depth_of(p) * p.dh * p.groups if is_column(p) else p.image.pixels * p.groups


cdef Py_ssize_t quads_for(const Convolution *p) noexcept nogil:
    """Give the quads that are woven for a row, or for the rows of a column that are made at once."""
    return planes_of(p) * plane_of(p) + SPARE + (COLUMN * p.groups if is_column(p) else 0)


cdef Py_ssize_t woven_bytes(const Convolution *p) noexcept nogil:
    """Give the bytes that `weave_for` needs; 0 for a convolution that is not depthwise."""
    if p.depthwise == NULL:
        return 0
    return 4 * quads_for(p) + planes_of(p) * p.kw * sizeof(Py_ssize_t) + p.image.pixels * p.groups + 128


cdef Woven weave_for(const Convolution *p, void *memory) noexcept nogil:
    """Lay out memory of `woven_bytes`, and fill the taps and the padding, which all rows share."""
    cdef Woven d
    cdef Py_ssize_t channels = p.groups, bytes = p.image.pixels * channels, planes = planes_of(p), i, j
    cdef Py_ssize_t *tap
    cdef uint8_t shift = 0x80 if p.image.x_signed else 0
    cdef uint32_t each = 0x10001 if p.kernel.widens else 0x1010101
    d.plane, d.left, d.inside = plane_of(p), 0, bytes
    if p.image.in_place:
        d.left = min(p.image.left, p.image.pixels) * channels
        d.inside = max(0, min(p.image.width, p.image.pixels - p.image.left)) * channels
    d.row.period = period_of(channels)
    d.row.w_stride, d.row.taps = d.row.period + SPARE, planes * p.kw
    d.row.n, d.row.runs, d.row.run_stride = channels, p.ow, p.sw * channels
    if p.sw == 1:
        d.row.n, d.row.runs = p.ow * channels, 1
    d.quads = <uint32_t *>aligned(memory)
    for i in range(planes):
        for j in range(d.left):
            d.quads[i * d.plane + j] = each * (p.image.pad ^ shift)
        for j in range(d.left + d.inside, bytes):
            d.quads[i * d.plane + j] = each * (p.image.pad ^ shift)
    tap = <Py_ssize_t *>aligned(d.quads + quads_for(p))
    for i in range(planes):
        for j in range(p.kw):
            tap[i * p.kw + j] = i * d.plane + j * p.dw * channels
    d.row.tap, d.row.w, d.row.starts = tap, p.depthwise, p.sums
    d.padding = <uint8_t *>(tap + d.row.taps)
    memset(<void *>d.padding, p.image.pad, bytes)
    return d


cdef void depthwise_rows(const Convolution *p, const Woven *d, const uint8_t *x, Py_ssize_t number, Py_ssize_t first,
                         Py_ssize_t rows, int32_t *y) noexcept nogil:
    """Make some rows of the output of a depthwise convolution, from row `first` of image `number` on."""
    cdef Py_ssize_t i = first, some
    while i < first + rows:
        some = rows_in_column(p, i, first + rows)
        if some > 1:
            depthwise_column(p, d, number, i, some, y)
        else:
            depthwise_row(p, d, x, number, i * p.sh, y)
        i += some
        x += some * p.sh * row_bytes(&p.image)
        y += some * p.ow * p.groups
