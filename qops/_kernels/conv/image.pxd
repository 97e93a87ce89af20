from libc.stdint cimport uint8_t

from qops._kernels.gemm.tile cimport gemm_kernel

ctypedef struct Image:  # images, and how they are read
    const gemm_kernel *kernel  # says what quads hold
    Py_ssize_t groups, channels  # groups of channels; channels of one group
    Py_ssize_t height, width, top, left  # sizes of an image; pixels of padding above it and left of it
    const uint8_t *x  # u8 or s8
    Py_ssize_t image, row, column, channel  # strides in bytes
    bint x_signed
    uint8_t pad  # the code that the padding holds
    bint in_place  # whether the pixels of x have the form of quads already, and there is no padding
    bint merges  # whether the pixels of a row lie side by side, so that a window's row is one run of quads
    Py_ssize_t pixels  # pixels of one row that windows read, padding included

cdef Py_ssize_t group_bytes(const Image *p) noexcept nogil
cdef Py_ssize_t pixel_bytes(const Image *p) noexcept nogil
cdef Py_ssize_t row_bytes(const Image *p) noexcept nogil
cdef const uint8_t *image_rows(const Image *p, Py_ssize_t number, Py_ssize_t first, Py_ssize_t rows,
                               uint8_t *buffer) noexcept nogil
