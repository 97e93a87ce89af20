"""TensorFlow's QuantizedResizeBilinear: rows are interpolated across, then down, in integers of 7 or 30 bits more."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

cnp.import_array()

ctypedef fused work:  # what pixels of uint8, int32 and float32 are computed in
    int32_t
    int64_t
    float


cdef inline work pixel(const void* row, Py_ssize_t i, work one) noexcept nogil:
    """A pixel; an int32 code is read as a float32."""
    if work is int32_t:
        return (<const uint8_t*>row)[i]
    elif work is int64_t:
        return <int64_t><float>(<const int32_t*>row)[i]
    else:
        return (<const float*>row)[i]


cdef void across(const void* images, Py_ssize_t first, work* y, Py_ssize_t width, Py_ssize_t channels,
                 const int64_t* lower, const int64_t* upper, const work* weights, work one) noexcept nogil:
    """y = left * one + (right - left) * weight, for each pixel of the row that begins at `first`."""
    cdef Py_ssize_t i, c, l, r
    cdef work left
    for i in range(width):
        l, r = first + lower[i] * channels, first + upper[i] * channels
        for c in range(channels):
            left = pixel(images, l + c, one)
            y[i * channels + c] = left * one + (pixel(images, r + c, one) - left) * weights[i]


cdef void down(const work* top, const work* bottom, void* out, Py_ssize_t first, Py_ssize_t n, work weight,
               work one) noexcept nogil:
    """out = (top + (bottom - top) / one * weight + one / 2) / one; divisions go toward zero, floats need none."""
    cdef Py_ssize_t i
    for i in range(n):
        if work is float:
            (<float*>out)[first + i] = top[i] + (bottom[i] - top[i]) * weight
        elif work is int32_t:
            (<uint8_t*>out)[first + i] = <uint8_t>((top[i] + (bottom[i] - top[i]) // one * weight + one // 2) // one)
        else:
            (<int32_t*>out)[first + i] = <int32_t>((top[i] + (bottom[i] - top[i]) // one * weight + one // 2) // one)


cdef struct Shape:
    Py_ssize_t images, height, width, channels, out_height, out_width


cdef void resized(const void* images, void* out, Shape s, const int64_t* y_lower, const int64_t* y_upper,
                  const work* y_weights, const int64_t* x_lower, const int64_t* x_upper, const work* x_weights,
                  work* rows, work one) noexcept nogil:
    """`rows` has room for two rows of the result: an even and an odd one of an image, each kept while it is used."""
    cdef Py_ssize_t n, y, i, length = s.out_width * s.channels, row_size = s.width * s.channels
    cdef Py_ssize_t[2] kept, wanted
    for n in range(s.images):
        kept[0] = kept[1] = -1
        for y in range(s.out_height):
            wanted[0], wanted[1] = y_lower[y], y_upper[y]
            for i in range(2):
                if kept[wanted[i] & 1] != wanted[i]:
                    kept[wanted[i] & 1] = wanted[i]
                    across(images, (n * s.height + wanted[i]) * row_size, rows + (wanted[i] & 1) * length, s.out_width,
                           s.channels, x_lower, x_upper, x_weights, one)
            down(rows + (wanted[0] & 1) * length, rows + (wanted[1] & 1) * length, out,
                 (n * s.out_height + y) * length, length, y_weights[y], one)


def resize(cnp.ndarray images, tuple down_moves, tuple across_moves, cnp.ndarray out):
    """out = contiguous images (N, H, W, C) of uint8, int32 or float32, resized.

    Moves: lower and upper pixel, int64, and the weight of the upper one, for each row or column of the result: int32,
    int64 or float32.
    """
    cdef cnp.ndarray y_lower = down_moves[0], y_upper = down_moves[1], y_weights = down_moves[2]
    cdef cnp.ndarray x_lower = across_moves[0], x_upper = across_moves[1], x_weights = across_moves[2]
    cdef Shape s = Shape(images.shape[0], images.shape[1], images.shape[2], images.shape[3], out.shape[1], out.shape[2])
    cdef cnp.ndarray rows = np.empty(2 * s.out_width * s.channels, x_weights.dtype)
    cdef int64_t* yl = <int64_t*>cnp.PyArray_DATA(y_lower)
    cdef int64_t* yu = <int64_t*>cnp.PyArray_DATA(y_upper)
    cdef int64_t* xl = <int64_t*>cnp.PyArray_DATA(x_lower)
    cdef int64_t* xu = <int64_t*>cnp.PyArray_DATA(x_upper)
    cdef void* yw = cnp.PyArray_DATA(y_weights)
    cdef void* xw = cnp.PyArray_DATA(x_weights)
    cdef void* x = cnp.PyArray_DATA(images)
    cdef void* y = cnp.PyArray_DATA(out)
    cdef void* kept = cnp.PyArray_DATA(rows)
    cdef int typenum = cnp.PyArray_TYPE(images)
    with nogil:
        if typenum == cnp.NPY_UINT8:
            resized(x, y, s, yl, yu, <int32_t*>yw, xl, xu, <int32_t*>xw, <int32_t*>kept, <int32_t>128)
        elif typenum == cnp.NPY_INT32:
            resized(x, y, s, yl, yu, <int64_t*>yw, xl, xu, <int64_t*>xw, <int64_t*>kept, <int64_t>1 << 30)
        else:
            resized(x, y, s, yl, yu, <float*>yw, xl, xu, <float*>xw, <float*>kept, <float>1)
