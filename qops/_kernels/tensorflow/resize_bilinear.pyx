"""TensorFlow's QuantizedResizeBilinear: interpolates across, then down, in integers with 7 or 30 fractional bits."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

cnp.import_array()

ctypedef fused work:  # the types in which pixels of uint8, int32 and float32 are computed
    int32_t
    int64_t
    float


cdef inline work pixel(const void* row, Py_ssize_t i, work one) noexcept nogil:
    """One pixel. An int32 code is rounded to float32 first."""
    if work is int32_t:
        return (<const uint8_t*>row)[i]
    elif work is int64_t:
        return <int64_t><float>(<const int32_t*>row)[i]
    else:
        return (<const float*>row)[i]


cdef struct Moves:  # for each output row or column: its two neighbours, and the weight of the upper one
    const int64_t* lower
    const int64_t* upper
    const void* weights


cdef struct Resizing:
    Py_ssize_t images, height, width, channels, out_height, out_width
    const void* pixels
    void* out
    void* rows  # room for two interpolated rows, of an even and an odd input row, kept while in use
    Moves down, across


cdef void across(const Resizing* r, Py_ssize_t first, work* y, work one) noexcept nogil:
    """y = left * one + (right - left) * weight, for each pixel of the row that begins at `first`."""
    cdef Moves moves = r.across
    cdef const work* weights = <const work*>moves.weights
    cdef const void* row = r.pixels
    cdef Py_ssize_t i, c, lower, upper, width = r.out_width, channels = r.channels
    cdef work left
    for i in range(width):
        lower, upper = first + moves.lower[i] * channels, first + moves.upper[i] * channels
        for c in range(channels):
            left = pixel(row, lower + c, one)
            y[i * channels + c] = left * one + (pixel(row, upper + c, one) - left) * weights[i]


cdef void down(const work* top, const work* bottom, void* out, Py_ssize_t first, Py_ssize_t n, work weight,
               work one) noexcept nogil:
    """out = (top + (bottom - top) / one * weight + one / 2) / one. Divisions truncate; floats are not divided."""
    cdef Py_ssize_t i
    for i in range(n):
        if work is float:
            (<float*>out)[first + i] = top[i] + (bottom[i] - top[i]) * weight
        elif work is int32_t:
            (<uint8_t*>out)[first + i] = <uint8_t>((top[i] + (bottom[i] - top[i]) // one * weight + one // 2) // one)
        else:
            (<int32_t*>out)[first + i] = <int32_t>((top[i] + (bottom[i] - top[i]) // one * weight + one // 2) // one)


cdef void resized(const Resizing* r, work one) noexcept nogil:
    cdef Py_ssize_t n, y, i, length = r.out_width * r.channels, row_size = r.width * r.channels
    cdef Py_ssize_t[2] kept, wanted
    cdef work* rows = <work*>r.rows
    for n in range(r.images):
        kept[0] = kept[1] = -1
        for y in range(r.out_height):
            wanted[0], wanted[1] = r.down.lower[y], r.down.upper[y]
            for i in range(2):
                if kept[wanted[i] & 1] != wanted[i]:
                    kept[wanted[i] & 1] = wanted[i]
                    across(r, (n * r.height + wanted[i]) * row_size, rows + (wanted[i] & 1) * length, one)
            down(rows + (wanted[0] & 1) * length, rows + (wanted[1] & 1) * length, r.out,
                 (n * r.out_height + y) * length, length, (<const work*>r.down.weights)[y], one)


cdef Moves moves_of(tuple moves):
    cdef cnp.ndarray lower = moves[0], upper = moves[1], weights = moves[2]
    return Moves(<int64_t*>cnp.PyArray_DATA(lower), <int64_t*>cnp.PyArray_DATA(upper), cnp.PyArray_DATA(weights))


def resize(cnp.ndarray images, tuple down_moves, tuple across_moves, cnp.ndarray out):
    """Resize contiguous images (N, H, W, C) of uint8, int32 or float32 into `out`.

    Moves are three arrays with an element for each output row or column: the lower and the upper neighbour (int64), and
    the weight of the upper one (int32, int64 or float32).
    """
    cdef Resizing r
    cdef int typenum = cnp.PyArray_TYPE(images)
    r.images, r.height, r.width, r.channels = images.shape[0], images.shape[1], images.shape[2], images.shape[3]
    r.out_height, r.out_width = out.shape[1], out.shape[2]
    cdef cnp.ndarray rows = np.empty(2 * r.out_width * r.channels, across_moves[2].dtype)
    r.pixels, r.out, r.rows = cnp.PyArray_DATA(images), cnp.PyArray_DATA(out), cnp.PyArray_DATA(rows)
    r.down, r.across = moves_of(down_moves), moves_of(across_moves)
    with nogil:
        if typenum == cnp.NPY_UINT8:
            resized(&r, <int32_t>128)
        elif typenum == cnp.NPY_INT32:
            resized(&r, <int64_t>1 << 30)
        else:
            resized(&r, <float>1)
