"""Rows of a depthwise convolution: its groups have one channel in and one out.

The rows that a row of windows reads are woven into quads, and these are multiplied: see gemm/depthwise.h. Rows are read
from the image itself if the channels of a pixel, and the pixels of a row, lie side by side; padding is woven with them.
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memset

from qops._kernels.conv.image cimport row_bytes
from qops._kernels.conv.rows cimport Convolution
from qops._kernels.gemm.tile cimport aligned
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
    cdef Py_ssize_t depth = 2 if p.kernel.widens else 4, i, j
    cdef uint32_t flip = 0
    if p.image.in_place and p.image.x_signed:
        flip = 0x800080 if p.kernel.widens else 0x80808080
    for i from 0 <= i < p.kh by depth:
        for j in range(depth):
            rows[j] = row_read(p, d, x, number, first, min(i + j, p.kh - 1) * p.dh)
        p.kernel.weave(rows, d.inside, flip, d.quads + i // depth * d.plane + d.left)
    p.kernel.dots(&d.row, d.quads, y)


cdef Py_ssize_t planes_of(const Convolution *p) noexcept nogil:
    """Give how many quads of rows a depthwise convolution reads."""
    return (p.kh + 1) // 2 if p.kernel.widens else (p.kh + 3) // 4


cdef Py_ssize_t woven_bytes(const Convolution *p) noexcept nogil:
    """Give the bytes that `weave_for` needs; 0 for a convolution that is not depthwise."""
    if p.depthwise == NULL:
        return 0
    return (4 * (planes_of(p) * p.image.pixels * p.groups + SPARE)
            + planes_of(p) * p.kw * sizeof(Py_ssize_t) + p.image.pixels * p.groups + 128)


cdef Woven weave_for(const Convolution *p, void *memory) noexcept nogil:
    """Lay out memory of `woven_bytes`, and fill the taps and the padding, which all rows share."""
    cdef Woven d
    cdef Py_ssize_t channels = p.groups, bytes = p.image.pixels * channels, planes = planes_of(p), i, j
    cdef Py_ssize_t *tap
    cdef uint8_t shift = 0x80 if p.image.x_signed else 0
    cdef uint32_t each = 0x10001 if p.kernel.widens else 0x1010101
    d.plane, d.left, d.inside = bytes, 0, bytes
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
            d.quads[i * bytes + j] = each * (p.image.pad ^ shift)
        for j in range(d.left + d.inside, bytes):
            d.quads[i * bytes + j] = each * (p.image.pad ^ shift)
    tap = <Py_ssize_t *>aligned(d.quads + planes * bytes + SPARE)
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
    cdef Py_ssize_t i
    for i in range(first, first + rows):
        depthwise_row(p, d, x, number, i * p.sh, y)
        x += p.sh * row_bytes(&p.image)
        y += p.ow * p.groups
