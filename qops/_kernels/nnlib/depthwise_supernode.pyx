"""The sums that nnlib's depthwise 3 x 3 kernel makes of the memory beside its result, which it watches."""

cimport numpy as cnp
from libc.stdint cimport int16_t, int32_t, uint8_t

import numpy as np

cnp.import_array()

cdef enum:
    VECTOR = 32  # channels
    BEFORE = 4  # columns of the zero code before the first pixel of a row
    TAPS = 3


cdef struct ImageMemory:  # one image as it lies in memory: rows of slices of VECTOR channels, each of `line` columns
    const uint8_t* image
    Py_ssize_t top, height, width, channels, slices, line, length  # length: columns of all slices and rows


cdef const uint8_t* pixel(const ImageMemory* m, Py_ssize_t at, Py_ssize_t* known) noexcept nogil:
    """The codes of a column of memory, VECTOR channels or `known` of them; NULL for the zero code.

    The channels that fill up a last vector are not set, nor is what is behind the last row.
    """
    cdef Py_ssize_t row = at // (m.slices * m.line) - m.top, within = at % (m.slices * m.line)
    cdef Py_ssize_t part = within // m.line, column = within % m.line - BEFORE
    known[0] = 0 if at >= m.length else VECTOR
    if at >= m.length or row < 0 or row >= m.height or column < 0 or column >= m.width:
        return NULL
    known[0] = min(<Py_ssize_t>VECTOR, m.channels - part * VECTOR)
    return m.image + (row * m.width + column) * m.channels + part * VECTOR


cdef void add_tap(const uint8_t* codes, int zero, const int16_t* w, Py_ssize_t known, Py_ssize_t n, int32_t* sums,
                  uint8_t* unset) noexcept nogil:
    """Add the products of one tap to the sums of n channels, and note those whose codes are not known."""
    cdef Py_ssize_t i
    if codes != NULL:
        for i in range(min(n, known)):
            sums[i] += (codes[i] - zero) * w[i]
    for i in range(known, n):
        unset[i] = True


def sums_around(cnp.ndarray image, const int16_t[:, :, ::1] w, tuple size, Py_ssize_t top, Py_ssize_t rows,
                Py_ssize_t down, const Py_ssize_t[::1] columns, int zero):
    """Give the sums (N, OH, columns, C) of windows that begin at these columns of their slice.

    w: (3, 3, C), less their zero. size: rows and columns of the result. top: rows of padding above the image, of `rows`
    rows in all. down: the stride. Also (columns, 3, 3, C) is given, where codes are not set in some row; they add 0.
    """
    cdef cnp.ndarray x = np.ascontiguousarray(image), made, unset
    cdef ImageMemory m
    cdef Py_ssize_t i, y, s, j, t, known, n, start, count = len(columns), channels = cnp.PyArray_DIM(x, 3)
    cdef int32_t* sums
    m.top, m.height, m.width, m.channels = top, cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2), channels
    m.slices, m.line = (channels + VECTOR - 1) // VECTOR, BEFORE + (m.width + 3) // 4 * 4
    m.length = rows * m.slices * m.line
    made = np.zeros((cnp.PyArray_DIM(x, 0), size[0], count, channels), np.int32)
    unset = np.zeros((count, TAPS, TAPS, channels), np.uint8)
    sums = <int32_t*>cnp.PyArray_DATA(made)
    for i in range(cnp.PyArray_DIM(x, 0)):
        m.image = <const uint8_t*>cnp.PyArray_DATA(x) + i * m.height * m.width * channels
        for y in range(<Py_ssize_t>size[0]):
            for j in range(count):
                for s in range(m.slices):
                    n, start = min(<Py_ssize_t>VECTOR, channels - s * VECTOR), s * m.line + columns[j]
                    for t in range(TAPS * TAPS):
                        codes = pixel(&m, (y * down + t // TAPS) * m.slices * m.line + start + t % TAPS, &known)
                        add_tap(codes, zero, &w[t // TAPS, t % TAPS, s * VECTOR], known, n, sums + s * VECTOR,
                                <uint8_t*>cnp.PyArray_DATA(unset) + (j * TAPS * TAPS + t) * channels + s * VECTOR)
                sums += channels
    return made, unset.view(bool)
