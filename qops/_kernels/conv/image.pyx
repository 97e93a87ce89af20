"""Rows of an image in the form of quads, which a convolution reads as its matrix A.

A pixel is one run of quads for each group of channels. Where windows read neighbours and there is one group, the pixels
of a row have no gaps, and the row of a window is one run. A few rows at a time are copied into this form, with their
padding, unless they have the form already.
"""
from libc.stdint cimport int8_t, int16_t, uint8_t
from libc.string cimport memset

from qops._kernels.gemm.tile cimport pack_quads, quads_of
from qops._kernels.gemm.transpose cimport transpose_bytes

cdef enum:
    PIXELS = 64  # how many pixels are transposed at a time: a cache line of each channel's plane


cdef Py_ssize_t group_bytes(const Image *p) noexcept nogil:
    """Give the bytes of one group of a pixel in the form of quads."""
    if p.merges:
        return p.channels * (2 if p.kernel.widens else 1)
    return p.channels if p.in_place else 4 * quads_of(p.kernel, p.channels)


cdef Py_ssize_t pixel_bytes(const Image *p) noexcept nogil:
    """Give the bytes from one pixel of that form to the next."""
    return p.column if p.in_place else p.groups * group_bytes(p)


cdef Py_ssize_t row_bytes(const Image *p) noexcept nogil:
    """Give the bytes from one row of that form to the next."""
    return p.row if p.in_place else p.pixels * pixel_bytes(p)


cdef inline int16_t widened(const Image *p, uint8_t x) noexcept nogil:
    """Give a code, u8 or s8, as int16."""
    return <int16_t><int8_t>x if p.x_signed else <int16_t>x


cdef inline uint8_t shifted(const Image *p, uint8_t x) noexcept nogil:
    """Give a code as the kernel takes it: s8 codes are shifted by 128 unless the kernel takes signed codes."""
    return x ^ 0x80 if p.x_signed and not p.kernel.takes_signed else x


cdef void pad_pixels(const Image *p, Py_ssize_t pixels, uint8_t *out) noexcept nogil:
    """Write pixels of padding."""
    cdef Py_ssize_t i, size = pixels * pixel_bytes(p)
    if not p.kernel.widens:
        memset(out, shifted(p, p.pad), size)
        return
    for i in range(size // 2):
        (<int16_t *>out)[i] = widened(p, p.pad)


cdef void copy_some_planes(const Image *p, const uint8_t *x, Py_ssize_t planes, Py_ssize_t pixels,
                           uint8_t *out) noexcept nogil:
    """Copy some channels of a row with any strides of channels and pixels."""
    cdef Py_ssize_t _i, j, column = p.column, channel = p.channel, pixel = pixel_bytes(p)
    cdef uint8_t shift = shifted(p, 0)
    for _i in range(pixels):
        if p.kernel.widens:
            for j in range(planes):
                (<int16_t *>out)[j] = widened(p, x[j * channel])
        else:
            for j in range(planes):
                out[j] = x[j * channel] ^ shift
        x += column
        out += pixel


cdef void copy_planes(const Image *p, const uint8_t *x, Py_ssize_t pixels, uint8_t *out) noexcept nogil:
    """Copy a row with any strides, 8 channels at a time: L1 holds only 8 cache lines at a stride of 4096 bytes."""
    cdef Py_ssize_t _i, j, size = 2 if p.kernel.widens else 1
    if group_bytes(p) != size * p.channels:
        memset(out, 0, pixels * pixel_bytes(p))
    for _i in range(p.groups):
        for j in range(0, p.channels, 8):
            copy_some_planes(p, x + j * p.channel, min(8, p.channels - j), pixels, out + j * size)
        x += p.channels * p.channel
        out += group_bytes(p)


cdef void transpose_planes(const Image *p, const uint8_t *x, Py_ssize_t pixels, uint8_t *out) noexcept nogil:
    """Copy a row of planes, in which the pixels of a channel are neighbours. It is not for kernels that widen."""
    cdef Py_ssize_t[PIXELS] to
    cdef Py_ssize_t i, j, pixel = pixel_bytes(p), group = group_bytes(p)
    if group != p.channels:
        memset(out, 0, pixels * pixel)
    for i in range(PIXELS):
        to[i] = i * pixel
    for i from 0 <= i < pixels by PIXELS:
        for j in range(p.groups):
            transpose_bytes(<const int8_t *>x + j * p.channels * p.channel + i, p.channel, p.channels,
                            min(PIXELS, pixels - i), <int8_t *>out + i * pixel + j * group, to)
    if shifted(p, 0):
        for i in range(pixels * pixel):
            out[i] = shifted(p, out[i])


cdef void copy_pixels(const Image *p, const uint8_t *x, Py_ssize_t pixels, uint8_t *out) noexcept nogil:
    """Copy a row in which the channels of a pixel are neighbours; in one piece if that is possible."""
    cdef Py_ssize_t i, j, group = group_bytes(p), size = 2 if p.kernel.widens else 1
    if p.column == p.groups * p.channels and group == size * p.channels:
        pack_quads(p.kernel, x, pixels * p.column, p.x_signed, out)
        return
    for i in range(pixels):
        for j in range(p.groups):
            pack_quads(p.kernel, x + i * p.column + j * p.channels, p.channels, p.x_signed, out)
            out += group


cdef void copy_row(const Image *p, const uint8_t *x, uint8_t *out) noexcept nogil:
    """Copy one row of the image that begins at x, with its padding on both sides."""
    cdef Py_ssize_t inside = max(0, min(p.width, p.pixels - p.left)), left = min(p.left, p.pixels)
    pad_pixels(p, left, out)
    out += left * pixel_bytes(p)
    if p.channel == 1 and (p.channels >= 8 or p.merges and p.column == p.channels):
        copy_pixels(p, x, inside, out)
    elif p.column == 1 and p.channels >= 8 and not p.kernel.widens:
        transpose_planes(p, x, inside, out)
    else:
        copy_planes(p, x, inside, out)
    pad_pixels(p, p.pixels - left - inside, out + inside * pixel_bytes(p))


cdef const uint8_t *image_rows(const Image *p, Py_ssize_t number, Py_ssize_t first, Py_ssize_t rows,
                               uint8_t *buffer) noexcept nogil:
    """Give rows of image `number` in the form of quads, in the buffer if they must be copied.

    `first` counts from the top of the padding.
    """
    cdef const uint8_t *x = p.x + number * p.image
    cdef Py_ssize_t i, y
    if p.in_place:
        return x + first * p.row
    for i in range(rows):
        y = first + i - p.top
        if 0 <= y < p.height:
            copy_row(p, x + y * p.row, buffer + i * row_bytes(p))
        else:
            pad_pixels(p, p.pixels, buffer + i * row_bytes(p))
    return buffer
