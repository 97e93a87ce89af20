"""The sums that nnlib's depthwise 3 x 3 kernel makes of the memory beside its result, which it watches."""

cimport numpy as cnp
from libc.stdint cimport int16_t, int32_t, uint8_t
from libc.string cimport memcpy, memset

from qops._kernels.machine.tiers cimport tier
from qops._kernels.nnlib.node_sums cimport Watched, watched
from qops._kernels.nnlib.supernode cimport Place

import numpy as np

cnp.import_array()

cdef extern from "nnlib/depthwise_supernode.h":
    Py_ssize_t window_sums__simd(int, const uint8_t**, const int16_t**, int taps, int32_t, Py_ssize_t n, int32_t*) nogil

cdef enum:
    VECTOR = 32  # channels
    COLUMNS = 4  # of a vector of an image, and of the zero code before the first pixel of a row
    MOST = 7  # columns beside the result
    TAPS = 3
    HIGHEST = 255


cdef struct ImageMemory:  # one image as it lies in memory: rows of slices of VECTOR channels, each of `line` columns
    const uint8_t* image
    Py_ssize_t top, height, width, channels, slices, line
    int zero


cdef struct Beside:  # columns of windows beside the result: `before` them, then `after` the result's `width`
    Py_ssize_t before, after, width, left, down, across


cdef struct Seen:  # a column of the image that a tap across of a window reads, so many slices on
    Py_ssize_t tap, slices, column


cdef struct Column:  # a column of windows: some of their taps read the image, the others the zero code
    int count
    bint leaves  # whether a tap reads another slice
    Seen[TAPS] seen


cdef Column column_at(const ImageMemory* m, Py_ssize_t start) noexcept nogil:
    """Give what windows read that begin in a column of the memory. Columns go on in the next slice, or row."""
    cdef Column made
    cdef Py_ssize_t t, column = start - COLUMNS, slices = 0
    made.count, made.leaves = 0, False
    for t in range(TAPS):
        while column >= m.line - COLUMNS:  # rarely more than once, which is faster than to divide
            column, slices = column - m.line, slices + 1
        if 0 <= column < m.width:
            made.seen[made.count] = Seen(t, slices, column)
            made.count += 1
            made.leaves = made.leaves or slices > 0
        column += 1
    return made


cdef Py_ssize_t start_of(const Beside* b, Py_ssize_t i) noexcept nogil:
    """The column of memory where the window of the column beside the result number i begins."""
    cdef Py_ssize_t place = i if i < b.before else i + b.width
    return (place - b.before) * b.across + COLUMNS - b.left


cdef Py_ssize_t columns_beside(const ImageMemory* m, const Beside* b, Column* columns) noexcept nogil:
    """Set the columns of windows beside the result that read the image, and give how many they are."""
    cdef Py_ssize_t i, count = 0
    for i in range(b.before + b.after):
        columns[count] = column_at(m, start_of(b, i))
        count += columns[count].count > 0
    return count


cdef void window_sums(const uint8_t** codes, const int16_t** w, int taps, int zero, Py_ssize_t n,
                      int32_t* sums) noexcept nogil:
    """sums = (codes - zero) * w of n channels, added over the taps."""
    cdef Py_ssize_t i, t, done = window_sums__simd(tier(), codes, w, taps, zero, n, sums)
    for i in range(done, n):
        sums[i] = 0
        for t in range(taps):
            sums[i] += (codes[t][i] - zero) * w[t][i]


cdef void add_window(const ImageMemory* m, const int16_t* w, const Column* column, Py_ssize_t row, Py_ssize_t part,
                     Py_ssize_t n, int32_t* sums, int* unset) noexcept nogil:
    """Set the sums of a window in n channels from the slice `part` on: of this slice, or, if no tap leaves it, of all.

    Note taps whose last channels are not set; these add nothing.
    """
    cdef Py_ssize_t i, t, y, place, known
    cdef (const uint8_t*)[TAPS * TAPS] codes
    cdef (const int16_t*)[TAPS * TAPS] weights
    cdef uint8_t[TAPS * TAPS * VECTOR] room  # for taps some of whose channels are not set
    cdef int taps = 0
    for i in range(column.count):
        y, place = row - m.top, part + column.seen[i].slices
        while place >= m.slices:
            y, place = y + 1, place - m.slices
        known = m.channels - place * VECTOR
        for t from column.seen[i].tap <= t < TAPS * TAPS by TAPS:
            if 0 <= y < m.height:
                codes[taps] = m.image + (y * m.width + column.seen[i].column) * m.channels + place * VECTOR
                weights[taps] = w + t * m.channels
                if known < n:
                    memset(room + t * VECTOR, m.zero, VECTOR)
                    memcpy(room + t * VECTOR, codes[taps], known)
                    codes[taps] = room + t * VECTOR
                    unset[t] = True
                taps += 1
            y += 1
    window_sums(codes, weights, taps, m.zero, n, sums)


cdef int32_t* add_column(const ImageMemory* m, const Column* column, Py_ssize_t down, const int16_t* w,
                         Py_ssize_t rows, int32_t* sums, int* unset) noexcept nogil:
    """Set the sums (rows, channels) of a column of windows of one image, and give where they end."""
    cdef Py_ssize_t y, i, at_once = <Py_ssize_t>VECTOR if column.leaves else m.channels
    for y in range(rows):
        for i from 0 <= i < m.channels by at_once:
            add_window(m, w + i, column, y * down, i // VECTOR, min(at_once, m.channels - i), sums + i, unset)
        sums += m.channels
    return sums


cdef Beside beside(tuple moves, Py_ssize_t left, Py_ssize_t width) except *:
    """Give the columns left and right of the result that fill up the vectors of its rows."""
    cdef Beside b
    (b.down, b.across), padding = moves
    b.left, b.width = left, width
    b.before = COLUMNS // b.across if padding == "VALID" else (COLUMNS - b.left) // b.across
    b.after = -(b.width + b.before) & (COLUMNS - 1)
    return b


cdef ImageMemory memory_of(cnp.ndarray x, int zero, Py_ssize_t top):
    """Give how images lie in the memory of the original; the first one is set."""
    cdef ImageMemory m
    m.image, m.zero, m.top = <const uint8_t*>cnp.PyArray_DATA(x), zero, top
    m.height, m.width, m.channels = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2), cnp.PyArray_DIM(x, 3)
    m.slices, m.line = (m.channels + VECTOR - 1) // VECTOR, COLUMNS + (m.width + COLUMNS - 1) // COLUMNS * COLUMNS
    return m


def watched_beside(Place place, cnp.ndarray results, tuple moves, cnp.ndarray w):
    """Give what is watched: besides the results the columns left and right that fill up the vectors of their rows.

    They read the memory of the image as it lies: rows of slices of 32 channels, each slice with four columns of the
    zero code before the image and up to three after it. What is after a slice is the next one, or the next row. The
    first of the columns only reads the zero code, as others may: their sums are 0.
    moves: the stride and the padding. w: int16 (3, 3, C), less their zero.
    """
    cdef Beside b = beside(moves, place.window.across.before, cnp.PyArray_DIM(results, 2))
    cdef cnp.ndarray x = cnp.PyArray_GETCONTIGUOUS(place.image), sums
    cdef ImageMemory m = memory_of(x, place.zero, place.window.down.before)
    cdef Column[MOST] columns
    cdef int[MOST][TAPS * TAPS] unset
    cdef Py_ssize_t i, j, rows = cnp.PyArray_DIM(results, 1), images = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t count = columns_beside(&m, &b, columns)
    cdef cnp.npy_intp[4] shape = [1, 1, 1, m.channels]
    cdef int32_t* end
    cdef Watched known = watched(results)
    shape[2] += count * images * rows
    sums = cnp.PyArray_EMPTY(4, shape, cnp.NPY_INT32, 0)
    end = <int32_t*>cnp.PyArray_DATA(sums)
    memset(unset, False, sizeof(unset))
    for i in range(count):
        for j in range(images):
            m.image = <const uint8_t*>cnp.PyArray_DATA(x) + j * m.height * m.width * m.channels
            end = add_column(&m, &columns[i], b.down, <const int16_t*>cnp.PyArray_DATA(w), rows, end, unset[i])
    memset(end, 0, 4 * m.channels)
    for i in range(count * TAPS * TAPS):
        if (&unset[0][0])[i]:
            return [known, *parted(sums, np.array(unset, bool)[:count], w, m.zero)]
    known.add(sums)
    return [known]


cdef list parted(sums, unset, w, int zero):
    """Give sums of which some have unset pixels: those of the last channels of the last slice but one.

    sums: (1, 1, columns * windows + 1, channels), whose last ones are 0. unset: the taps (columns, 9).
    """
    cdef Py_ssize_t channels = sums.shape[3], last = channels % VECTOR, first = channels - VECTOR
    loose = np.arange(first, first + VECTOR - last)
    others = np.delete(np.arange(channels), loose)
    found = [Watched(sums[..., others], others, others), watched(sums[:, :, -1:])]
    for column, taps in zip(sums[0, 0, :-1].reshape(1, len(unset), -1, channels).swapaxes(0, 1), unset):
        if not taps.any():
            found.append(watched(column[None]))
            continue
        of = w.reshape(TAPS * TAPS, channels)[taps][:, loose].astype(np.int64)
        dark, bright = of * (0 - zero), of * (HIGHEST - zero)
        spread = np.minimum(dark, bright).sum(0), np.maximum(dark, bright).sum(0)
        found.append(Watched(column[None, :, :, first:loose[-1] + 1], loose, loose, spread))
    return found
