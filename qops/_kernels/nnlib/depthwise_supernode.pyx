"""The sums that nnlib's depthwise 3 x 3 kernel makes of the memory beside its result, which it watches."""

cimport numpy as cnp
from libc.stdint cimport int16_t, int32_t, uint8_t
from libc.string cimport memcpy, memset

from qops._kernels.machine.tiers cimport tier

import numpy as np

from qops._kernels.nnlib.node_sums import Watched

cnp.import_array()

cdef extern from "nnlib/depthwise_supernode.h":
    Py_ssize_t window_sums__simd(int, const uint8_t**, int32_t, const int16_t*, Py_ssize_t stride, Py_ssize_t n,
                                 int32_t*) nogil

cdef enum:
    VECTOR = 32  # channels
    COLUMNS = 4  # of a vector of an image, and of the zero code before the first pixel of a row
    TAPS = 3
    HIGHEST = 255


cdef struct ImageMemory:  # one image as it lies in memory: rows of slices of VECTOR channels, each of `line` columns
    const uint8_t* image
    Py_ssize_t top, height, width, channels, slices, line
    int zero
    uint8_t[VECTOR] zeros


cdef struct Beside:  # columns of windows beside the result: `before` them, then `after` the result's `width`
    Py_ssize_t before, after, width, left, down, across


cdef const uint8_t* pixel(const ImageMemory* m, Py_ssize_t row, Py_ssize_t part, Py_ssize_t column,
                          Py_ssize_t* known) noexcept nogil:
    """The codes of a column of a slice, VECTOR channels or `known` of them; NULL for the zero code.

    Columns go on in the next slice, or row. Channels that fill up a last vector are not set.
    """
    while column >= m.line:
        column, part = column - m.line, part + 1
        if part == m.slices:
            row, part = row + 1, 0
    row, column = row - m.top, column - COLUMNS
    known[0] = VECTOR
    if row < 0 or row >= m.height or column < 0 or column >= m.width:
        return NULL
    known[0] = min(<Py_ssize_t>VECTOR, m.channels - part * VECTOR)
    return m.image + (row * m.width + column) * m.channels + part * VECTOR


cdef Py_ssize_t start_of(const Beside* b, Py_ssize_t i) noexcept nogil:
    """The column of memory where the window of the column beside the result number i begins."""
    cdef Py_ssize_t place = i if i < b.before else i + b.width
    return (place - b.before) * b.across + COLUMNS - b.left


cdef void window_sums(const uint8_t** codes, int zero, const int16_t* w, Py_ssize_t stride, Py_ssize_t n,
                      int32_t* sums) noexcept nogil:
    """sums = (codes - zero) * w of n channels, added over the taps, whose weights lie `stride` apart."""
    cdef Py_ssize_t i, t, done = window_sums__simd(tier(), codes, zero, w, stride, n, sums)
    for i in range(done, n):
        sums[i] = 0
        for t in range(TAPS * TAPS):
            sums[i] += (codes[t][i] - zero) * w[t * stride + i]


cdef void add_window(const ImageMemory* m, const int16_t* w, Py_ssize_t row, Py_ssize_t part, Py_ssize_t column,
                     int32_t* sums, uint8_t* unset) noexcept nogil:
    """Set the sums of a window in a slice, and note taps whose last channels are not set; these add nothing."""
    cdef Py_ssize_t t, known, n = min(<Py_ssize_t>VECTOR, m.channels - part * VECTOR)
    cdef (const uint8_t*)[TAPS * TAPS] codes
    cdef uint8_t[TAPS * TAPS * VECTOR] room  # for taps of which not all channels are set
    for t in range(TAPS * TAPS):
        codes[t] = pixel(m, row + t // TAPS, part, column + t % TAPS, &known)
        if codes[t] == NULL:
            codes[t] = &m.zeros[0]
        elif known < n:
            memset(room + t * VECTOR, m.zero, VECTOR)
            memcpy(room + t * VECTOR, codes[t], known)
            codes[t] = room + t * VECTOR
            unset[t] = True
    window_sums(codes, m.zero, w, m.channels, n, sums)


cdef void add_windows(ImageMemory* m, const Beside* b, const int16_t* w, Py_ssize_t rows, int32_t* sums,
                      uint8_t* unset) noexcept nogil:
    """Set the sums (rows, columns, channels) of one image; unset: (columns, taps)."""
    cdef Py_ssize_t y, i, s
    for y in range(rows):
        for i in range(b.before + b.after):
            for s in range(m.slices):
                add_window(m, w + s * VECTOR, y * b.down, s, start_of(b, i), sums + s * VECTOR,
                           unset + i * TAPS * TAPS)
            sums += m.channels


cdef Beside beside(place, stride, bint is_valid):
    """Give the columns left and right of the result that fill up the vectors of its rows."""
    cdef Beside b
    b.down, b.across = stride
    b.left, b.width = place.before[1], place.size[1]
    b.before = COLUMNS // b.across if is_valid else (COLUMNS - b.left) // b.across
    b.after = -(b.width + b.before) & (COLUMNS - 1)
    return b


def watched_beside(place, stride, bint is_valid, cnp.ndarray w):
    """Give what is watched of the columns left and right of the result that fill up the vectors of its rows.

    They read the memory of the image as it lies: rows of slices of 32 channels, each slice with four columns of the
    zero code before the image and up to three after it. What is after a slice is the next one, or the next row.
    w: int16 (3, 3, C), less their zero.
    """
    cdef Beside b = beside(place, stride, is_valid)
    cdef cnp.ndarray x = np.ascontiguousarray(place.image)
    cdef ImageMemory m
    cdef Py_ssize_t i, rows = place.size[0], count = b.before + b.after
    cdef cnp.npy_intp[4] shape = [cnp.PyArray_DIM(x, 0), rows, count, cnp.PyArray_DIM(x, 3)]
    cdef cnp.ndarray sums = cnp.PyArray_EMPTY(4, shape, cnp.NPY_INT32, 0)
    cdef cnp.npy_intp[2] taps = [count, TAPS * TAPS]
    cdef cnp.ndarray unset = cnp.PyArray_ZEROS(2, taps, cnp.NPY_BOOL, 0)
    m.top, m.zero, m.channels = place.before[0], place.zero, shape[3]
    memset(m.zeros, m.zero, VECTOR)
    m.height, m.width = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    m.slices, m.line = (m.channels + VECTOR - 1) // VECTOR, COLUMNS + (m.width + COLUMNS - 1) // COLUMNS * COLUMNS
    for i in range(shape[0]):
        m.image = <const uint8_t*>cnp.PyArray_DATA(x) + i * m.height * m.width * m.channels
        add_windows(&m, &b, <const int16_t*>cnp.PyArray_DATA(w), rows,
                    <int32_t*>cnp.PyArray_DATA(sums) + i * rows * count * m.channels,
                    <uint8_t*>cnp.PyArray_DATA(unset))
    if m.channels <= VECTOR or m.channels % VECTOR == 0:
        return [Watched(sums)]
    return parted(sums, unset, w, place.zero)


cdef list parted(sums, unset, w, int zero):
    """Give sums of which some have unset pixels: those of the last channels of the last slice but one."""
    cdef Py_ssize_t channels = sums.shape[3], last = channels % VECTOR, first = channels - VECTOR
    loose = np.arange(first, first + VECTOR - last)
    others = np.delete(np.arange(channels), loose)
    is_known = ~unset.any(1)
    found = [Watched(sums[:, :, is_known]), Watched(np.ascontiguousarray(sums[..., others]), others, others)]
    for column in np.flatnonzero(~is_known):
        of = w.reshape(TAPS * TAPS, channels)[unset[column]][:, loose].astype(np.int64)
        dark, bright = of * (0 - zero), of * (HIGHEST - zero)
        spread = np.minimum(dark, bright).sum(0), np.maximum(dark, bright).sum(0)
        found.append(Watched(np.ascontiguousarray(sums[:, :, column:column + 1, first:loose[-1] + 1]), loose, loose,
                             spread))
    return found
